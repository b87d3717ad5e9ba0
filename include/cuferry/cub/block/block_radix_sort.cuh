/* block_radix_sort.cuh - stands in for the toolkit's cub/block/block_radix_sort.cuh when the C++ compiler reads a kernel file, and has nothing: kernels
 * on the CPU do not use it, and host code is left out. */
