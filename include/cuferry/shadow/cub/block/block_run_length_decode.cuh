/* block_run_length_decode.cuh - stands in for the toolkit's cub/block/block_run_length_decode.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
