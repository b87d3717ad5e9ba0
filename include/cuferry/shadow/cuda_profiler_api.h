/* cuda_profiler_api.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>
