/* execution_policy.h - stands in for the toolkit's thrust/system/cuda/execution_policy.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
