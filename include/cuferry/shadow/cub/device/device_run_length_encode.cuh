/* device_run_length_encode.cuh - stands in for the toolkit's cub/device/device_run_length_encode.cuh, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
