/* surface_indirect_functions.h - stands in for the toolkit's surface_indirect_functions.h when the C++ compiler reads a kernel file, and has nothing: kernels
 * on the CPU do not use it, and host code is left out. */
