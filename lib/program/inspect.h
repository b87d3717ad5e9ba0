/* inspect.h - checks of images that come from outside, and their targets. */
#ifndef CF__INSPECT_H
#define CF__INSPECT_H

#include <stddef.h>
#include <stdint.h>

/* Targets of an image, in the form of cf_image. */
enum { CF__INSPECTED_TARGETS = 64 };
struct cf__targets {
    uint16_t sm[CF__INSPECTED_TARGETS + 1], ptx[CF__INSPECTED_TARGETS + 1]; /* each ends with 0 */
};

/* Checks an image before the driver sees it, because the driver trusts the sizes in it, and lists its targets. Returns
 * CF_OK, or CF_EIMAGE with a message that names `function`. */
int cf__inspect_image(const char *function, const unsigned char *data, size_t size, struct cf__targets *targets);

#endif
