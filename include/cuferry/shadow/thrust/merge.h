/* merge.h - stands in for the toolkit's thrust/merge.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
