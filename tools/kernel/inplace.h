/* inplace.h - lists the ways in which arrays of an inplace(...) list can share memory; cf-run tries each. */
#ifndef INPLACE_H
#define INPLACE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Parameter numbers of a written array, and of the read-only array of its list that shares its memory; INPLACE_ALL: all
 * read-only arrays of the list do. Two written arrays never share memory, since one result would be lost. */
struct inplace {
    uint32_t written, read;
};
#define INPLACE_ALL UINT32_MAX

/* Stores way number k. Returns -1 after the last. */
int inplace_at(const cf_kernel *kernel, uint32_t k, struct inplace *which);

/* Returns 1 if parameter i is the written array or shares its memory. */
int inplace_has(const cf_kernel *kernel, const struct inplace *which, uint32_t i);

/* Appends a text such as "y is x" or "w is x and y". */
void inplace_add(const cf_kernel *kernel, const struct inplace *which, struct message *message);

#endif
