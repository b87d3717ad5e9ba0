/* radix_rank_sort_operations.cuh - stands in for the toolkit's cub/block/radix_rank_sort_operations.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
