/* iterator_adaptor.h - stands in for the toolkit's thrust/iterator/iterator_adaptor.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
