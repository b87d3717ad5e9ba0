/* allocate_unique.h - stands in for the toolkit's thrust/allocate_unique.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
