/* device_segmented_reduce.cuh - stands in for the toolkit's cub/device/device_segmented_reduce.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
