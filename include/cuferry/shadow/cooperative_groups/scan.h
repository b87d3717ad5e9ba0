/* scan.h - replaces the toolkit's cooperative_groups/scan.h when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_SCAN_H
#define CUFERRY_COOPERATIVE_GROUPS_SCAN_H

#include "../cooperative_groups.h"

#if !defined CF__SCAN
#include <cuferry/cpu/groups/group_scan.cuh>
#endif

#endif
