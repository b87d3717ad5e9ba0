/* texture_indirect_functions.h - stands in for the toolkit's texture_indirect_functions.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
