/* block_scan.cuh - stands in for the toolkit's cub/block/block_scan.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
