/* inplace.h - the ways in which arrays of an inplace(...) list can be one array; cf-run tries each. */
#ifndef INPLACE_H
#define INPLACE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* A written array that takes the place of one read-only array of its list, or of all of them. Two written arrays never
 * share memory: one result would be lost. */
struct inplace {
    uint32_t written, read;
};
#define INPLACE_ALL UINT32_MAX

/* Way number k; -1 after the last. */
int inplace_at(const cf_kernel *kernel, uint32_t k, struct inplace *which);

/* 1 if parameter i is that array. */
int inplace_has(const cf_kernel *kernel, const struct inplace *which, uint32_t i);

/* Appends "y is x", "w is x and y". */
void inplace_add(const cf_kernel *kernel, const struct inplace *which, struct message *message);

#endif
