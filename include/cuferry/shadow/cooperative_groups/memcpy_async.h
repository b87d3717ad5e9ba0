/* memcpy_async.h - replaces the toolkit's cooperative_groups/memcpy_async.h when the C++ compiler reads a kernel file.
 * Copies are made immediately; the group's threads meet in wait(), as on a GPU. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUFERRY_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

#if !defined CF__SCAN
#include <cuferry/cpu/groups/group_copy.cuh>
#endif

#endif
