/* block_exchange.cuh - stands in for the toolkit's cub/block/block_exchange.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
