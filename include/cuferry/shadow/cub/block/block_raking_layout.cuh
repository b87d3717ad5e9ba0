/* block_raking_layout.cuh - stands in for the toolkit's cub/block/block_raking_layout.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
