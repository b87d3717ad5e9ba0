/* warp_merge_sort.cuh - stands in for the toolkit's cub/warp/warp_merge_sort.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
