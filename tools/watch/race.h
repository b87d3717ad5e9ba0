/* race.h - finds data races of a kernel's threads. */
#ifndef RACE_H
#define RACE_H

#include "watch/check.h"

extern const struct check_ops race_check;

#endif
