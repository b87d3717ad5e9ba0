/* device_segmented_sort.cuh - stands in for the toolkit's cub/device/device_segmented_sort.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
