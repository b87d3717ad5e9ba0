/* device_free.h - stands in for the toolkit's thrust/device_free.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
