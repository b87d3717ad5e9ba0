/* address.h - accesses outside of arrays and of the sections that an annotation declares: AddressSanitizer finds them. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "watch/check.h"

/* AddressSanitizer's report is in the module's folder, in a file of this name and the process's number. */
#define ADDRESS_REPORT "asan"

extern const struct check_ops address_check;

#endif
