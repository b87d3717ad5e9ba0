/* thread_operators.cuh - stands in for the toolkit's cub/thread/thread_operators.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
