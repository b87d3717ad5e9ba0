/* curand_kernel.h - stands in for the toolkit's curand_kernel.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
