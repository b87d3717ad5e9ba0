/* util_vsmem.cuh - has nothing for kernels on the CPU, where host code is left out. */
#include <cub/config.cuh>
