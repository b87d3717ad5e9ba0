/* poison.h - reads of memory that nobody wrote, and outputs that nobody wrote. */
#ifndef POISON_H
#define POISON_H

#include "watch/check.h"

extern const struct check_ops poison_check;

#endif
