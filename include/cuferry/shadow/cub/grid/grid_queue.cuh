/* grid_queue.cuh - stands in for the toolkit's cub/grid/grid_queue.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
