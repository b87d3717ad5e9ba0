/* adjacent_difference.h - stands in for the toolkit's thrust/adjacent_difference.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
