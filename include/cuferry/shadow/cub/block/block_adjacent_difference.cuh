/* block_adjacent_difference.cuh - stands in for the toolkit's cub/block/block_adjacent_difference.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
