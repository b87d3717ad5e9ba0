/* cache_modified_input_iterator.cuh - stands in for the toolkit's cub/iterator/cache_modified_input_iterator.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
