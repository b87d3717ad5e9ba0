/* image_check.h - checks that images are intact before the driver sees them, and that they have code for the device. */
#ifndef CF__IMAGE_CHECK_H
#define CF__IMAGE_CHECK_H

#include <cuferry/registry.h>

#include "driver/driver.h"

/* Compares an image with its checksum; returns CF_EIMAGE if it is damaged. */
int cf__image_check_intact(const char *function, const cf_image *image);

/* Returns CF_EDRIVER if the driver is older than the image's toolkit, and CF_ENOCODE if the image has no code for the
 * current device. */
int cf__image_check_device(const char *function, const cf_image *image, const struct cf__driver *driver);

/* Queries the current device and its compute capability times ten. */
int cf__query_capability(const char *function, const struct cf__driver *driver, CUdevice *device, int *capability);

#endif
