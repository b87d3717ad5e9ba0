/* builtin_types.h - stands in for the toolkit's when the C++ compiler reads a kernel file. */
#include <cuferry/cpu/prelude.cuh>
