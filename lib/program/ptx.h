/* ptx.h - checks PTX. */
#ifndef CF__PTX_H
#define CF__PTX_H

#include "program/image_part.h"

/* Checks PTX, and lists its target and, for a link, its symbols. */
int cf__ptx_check(const struct cf__image_part *ptx);

#endif
