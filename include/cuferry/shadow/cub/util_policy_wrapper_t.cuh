/* util_policy_wrapper_t.cuh - empty: CPU kernels do not use the toolkit's header, and host code is left out. */
