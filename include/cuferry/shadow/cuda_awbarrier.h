/* cuda_awbarrier.h - stands in for the toolkit's cuda_awbarrier.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
