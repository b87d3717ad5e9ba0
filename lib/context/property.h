/* property.h - reads properties of devices. */
#ifndef CF__PROPERTY_H
#define CF__PROPERTY_H

struct cf__scope;

/* Stores whether the scope's device, number `device`, accesses pageable host memory directly. Queries the driver once
 * for each context. Returns a status, whose message names `function`. */
int cf__property_pageable_access(const struct cf__scope *scope, const char *function, int device, int *has_access);

#endif
