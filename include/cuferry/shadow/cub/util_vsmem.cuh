/* util_vsmem.cuh - stands in for the toolkit's cub/util_vsmem.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
