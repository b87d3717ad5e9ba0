/* for_each.h - stands in for the toolkit's thrust/for_each.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
