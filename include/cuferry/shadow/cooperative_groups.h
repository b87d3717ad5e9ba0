/* cooperative_groups.h - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_H
#define CUFERRY_COOPERATIVE_GROUPS_H

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
#include <cuferry/cpu/groups/cluster.cuh>
#include <cuferry/cpu/groups/groups.cuh>
#include <cuferry/cpu/groups/tiles.cuh>
#endif

#endif
