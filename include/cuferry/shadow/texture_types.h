/* texture_types.h - stands in for the toolkit's texture_types.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
