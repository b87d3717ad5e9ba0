/* radix_rank_sort_operations.cuh - has nothing: kernels on the CPU cannot use these parts of CUB. */
#include <cub/config.cuh>
