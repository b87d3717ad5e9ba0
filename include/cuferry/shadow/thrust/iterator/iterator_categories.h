/* iterator_categories.h - stands in for the toolkit's thrust/iterator/iterator_categories.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
