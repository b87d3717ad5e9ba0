/* cuda_awbarrier_primitives.h - stands in for the toolkit's cuda_awbarrier_primitives.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
