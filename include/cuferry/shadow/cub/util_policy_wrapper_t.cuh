/* util_policy_wrapper_t.cuh - stands in for the toolkit's cub/util_policy_wrapper_t.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
