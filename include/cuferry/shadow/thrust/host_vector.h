/* host_vector.h - stands in for the toolkit's thrust/host_vector.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
