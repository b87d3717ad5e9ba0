/* inplace.h - the ways in which arrays of an inplace(...) list can be one array: what cf-run tries for each. */
#ifndef INPLACE_H
#define INPLACE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* An array that is written, in place of one that is read alone, or of all such of its list. Where two are written, one
 * result is lost, and there is nothing to compare. */
struct inplace {
    uint32_t written, read;
};
#define INPLACE_ALL UINT32_MAX

/* The way number k; -1 past the last. */
int inplace_at(const cf_kernel *kernel, uint32_t k, struct inplace *which);

/* Whether parameter i is that array. */
int inplace_has(const cf_kernel *kernel, const struct inplace *which, uint32_t i);

/* Adds "y is x", "w is x and y". */
void inplace_add(const cf_kernel *kernel, const struct inplace *which, struct message *message);

#endif
