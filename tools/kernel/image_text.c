/* image_text.c - writes the targets and the toolkit's version of an image as text. */
#include "kernel/image_text.h"

#include <inttypes.h>
#include <stdio.h>

static size_t count_targets(const uint16_t *list)
{
    size_t count = 0;
    while (list[count])
        count++;
    return count;
}

int image_target(const cf_image *image, size_t i, char text[IMAGE_TEXT])
{
    size_t machine = count_targets(image->sm);
    unsigned int target = i < machine ? image->sm[i] : 0;
    if (i >= machine && i - machine < count_targets(image->ptx))
        target = image->ptx[i - machine];
    snprintf(text, IMAGE_TEXT, "%s_%u%s", i < machine ? "sm" : "compute", CF_TARGET_CAPABILITY(target),
             CF_TARGET_SUFFIX(target));
    return target != 0;
}

void image_toolkit(const cf_image *image, char text[IMAGE_TEXT])
{
    *text = 0;
    if (image->toolkit)
        snprintf(text, IMAGE_TEXT, "%" PRIu32 ".%" PRIu32, image->toolkit / 1000, image->toolkit % 1000 / 10);
}
