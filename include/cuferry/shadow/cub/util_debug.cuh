/* util_debug.cuh - stands in for the toolkit's cub/util_debug.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
