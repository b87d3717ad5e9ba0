/* memcpy_async.h - stands in for the toolkit's cooperative_groups/memcpy_async.h when the C++ compiler reads a kernel
 * file. Copies are made at once; wait() is where the group's threads meet, as there. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUFERRY_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

#if !defined CF__SCAN
#include <cuferry/cpu/groups/group_copy.cuh>
#endif

#endif
