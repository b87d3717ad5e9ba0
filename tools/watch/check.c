/* check.c - tells which kind of check runs in this process. */
#include "watch/check.h"

const struct check_ops *check_current;
