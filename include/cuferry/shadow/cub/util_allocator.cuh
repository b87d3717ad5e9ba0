/* util_allocator.cuh - stands in for the toolkit's cub/util_allocator.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
