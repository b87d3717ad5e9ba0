/* block_run_length_decode.cuh - has nothing for kernels on the CPU, where host code is left out. */
#include <cub/config.cuh>
