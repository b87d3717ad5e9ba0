/* symbol.h - symbols. */
#ifndef CF__SYMBOL_H
#define CF__SYMBOL_H

#include <stddef.h>

#include <cuferry/registry.h>

/* Its bytes; CF_EOVERFLOW where they are too many. */
int cf__symbol_size(const cf_symbol *symbol, size_t *bytes);

#endif
