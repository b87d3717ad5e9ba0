/* binary_search.h - stands in for the toolkit's thrust/binary_search.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
