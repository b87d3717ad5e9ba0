/* tex_obj_input_iterator.cuh - has nothing: kernels on the CPU cannot use these parts of CUB. */
#include <cub/config.cuh>
