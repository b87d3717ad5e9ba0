/* offset_iterator.h - stands in for the toolkit's thrust/iterator/offset_iterator.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
