/* inspect.h - checks external images, and lists their targets. */
#ifndef CF__INSPECT_H
#define CF__INSPECT_H

#include <stddef.h>

#include "program/image_part.h"

/* Checks an image and lists its targets before the driver sees it, because the driver trusts the sizes in it. Returns
 * CF_OK, or CF_EIMAGE with a message that names `function`. */
int cf__inspect_image(const char *function, const unsigned char *data, size_t size, struct cf__targets *targets);

/* Returns the bytes of an image, without zeros at the end of a text. */
size_t cf__image_bytes(const char *image, size_t size);

/* Kinds of a link's inputs, with nvJitLink's numbers. */
enum cf__input_kind {
    CF__INPUT_CUBIN = 1,
    CF__INPUT_PTX,
    CF__INPUT_LTO,
    CF__INPUT_FATBIN,
    CF__INPUT_OBJECT,
    CF__INPUT_ARCHIVE
};

/* Target of a link. */
struct cf__link_target {
    unsigned int sm; /* target, encoded as in cf_image */
    int is_lto;
};

/* Checks an input of a link before nvJitLink sees it, because nvJitLink silently skips code for other targets. Writes
 * its kind, and collects its symbols. Returns CF_OK, or CF_EIMAGE, CF_ENOCODE or CF_EINVAL with a message that names
 * `function`. */
int cf__inspect_input(const char *function, const unsigned char *data, size_t size,
                      const struct cf__link_target *target, struct cf__definitions *definitions,
                      enum cf__input_kind *kind);

#endif
