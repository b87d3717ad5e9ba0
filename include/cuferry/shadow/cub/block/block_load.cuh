/* block_load.cuh - stands in for the toolkit's cub/block/block_load.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
