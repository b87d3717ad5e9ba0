"""Images of GPU code that other compilers made: their targets and kernels."""
