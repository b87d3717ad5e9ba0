/* image_text.h - writes the targets and the toolkit's version of an image as text. */
#ifndef IMAGE_TEXT_H
#define IMAGE_TEXT_H

#include <stddef.h>

#include <cuferry/registry.h>

#define IMAGE_TEXT 32 /* bytes of a text */

/* Writes target number `i`, as sm_90a or compute_80. Returns 0 after the last one. */
int image_target(const cf_image *image, size_t i, char text[IMAGE_TEXT]);

/* Writes the version of the toolkit that made the image, as 13.0; an empty text if it is not known. */
void image_toolkit(const cf_image *image, char text[IMAGE_TEXT]);

#endif
