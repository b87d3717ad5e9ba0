/* address.h - reports accesses outside arrays and outside declared sections, which AddressSanitizer finds. */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "watch/check.h"

/* Beginning of the name of the report's file; the process id follows. The file is in the module's folder. */
#define ADDRESS_REPORT "asan"

extern const struct check_ops address_check;

#endif
