/* device_new.h - stands in for the toolkit's thrust/device_new.h, and has nothing: no kernel on the CPU uses it, and host code is
 * left out. */
