/* check.c - the kind of check of this process. */
#include "watch/check.h"

const struct check_ops *check_current;
