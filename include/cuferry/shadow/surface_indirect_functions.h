/* surface_indirect_functions.h - stands in for the toolkit's surface_indirect_functions.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
