/* cuda_awbarrier_primitives.h - stands in for the toolkit's cuda_awbarrier_primitives.h when the C++ compiler reads a kernel file, and has nothing: kernels
 * on the CPU do not use it, and host code is left out. */
