/* poison.h - finds reads of unwritten memory, and outputs that stay unwritten. */
#ifndef POISON_H
#define POISON_H

#include "watch/check.h"

extern const struct check_ops poison_check;

#endif
