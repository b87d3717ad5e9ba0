/* device_segmented_reduce.cuh - empty: CPU kernels do not use the toolkit's header, and host code is left out. */
