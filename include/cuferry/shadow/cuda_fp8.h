/* cuda_fp8.h - stands in for the toolkit's cuda_fp8.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
