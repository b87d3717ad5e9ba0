/* address.h - accesses outside arrays and outside declared sections, found by AddressSanitizer. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "watch/check.h"

/* Start of the report's file name, which ends with the process's number; the file is in the module's folder. */
#define ADDRESS_REPORT "asan"

extern const struct check_ops address_check;

#endif
