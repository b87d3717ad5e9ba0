/* permutation_iterator.h - stands in for the toolkit's thrust/iterator/permutation_iterator.h when the C++ compiler reads a kernel file, and has nothing: kernels
 * on the CPU do not use it, and host code is left out. */
