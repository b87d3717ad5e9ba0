/* block_run_length_decode.cuh - has nothing: kernels on the CPU cannot use these parts of CUB. */
#include <cub/config.cuh>
