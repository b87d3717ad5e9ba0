/* cuda_runtime.h - stands in for the toolkit's when the C++ compiler reads a kernel file; on the include path of those
 * compilations alone. */
#include <cuferry/cpu/prelude.cuh>
