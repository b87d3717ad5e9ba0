/* symbol.h - sets symbols. */
#ifndef CF__SYMBOL_H
#define CF__SYMBOL_H

#include <stddef.h>

#include <cuferry/registry.h>

struct cf__scope;

/* Stores the address of a symbol of `bytes` bytes on the scope's device. Returns a status. */
int cf__symbol_locate(const cf_symbol *symbol, const struct cf__scope *scope, size_t bytes, void **target);

#endif
