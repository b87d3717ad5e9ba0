/* per_device_resource.h - stands in for the toolkit's thrust/per_device_resource.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
