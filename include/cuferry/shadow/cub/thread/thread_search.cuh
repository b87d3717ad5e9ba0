/* thread_search.cuh - stands in for the toolkit's cub/thread/thread_search.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
