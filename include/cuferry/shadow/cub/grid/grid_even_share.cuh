/* grid_even_share.cuh - stands in for the toolkit's cub/grid/grid_even_share.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
