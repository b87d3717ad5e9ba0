/* reduce.h - replaces the toolkit's cooperative_groups/reduce.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_REDUCE_H
#define CUFERRY_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#if !defined CF__SCAN
#include <cuferry/cpu/groups/group_reduce.cuh>
#endif

#endif
