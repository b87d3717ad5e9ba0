/* cuda_runtime.h - replaces the toolkit's header when the C++ compiler reads a kernel file. Only those compilations
 * have this folder on their include path. */
#include <cuferry/cpu/prelude.cuh>
