/* cooperative_groups.h - stands in for the toolkit's when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_COOPERATIVE_GROUPS_H
#define CUFERRY_COOPERATIVE_GROUPS_H

#include "host.cuh"

#if !defined CF__SCAN
#include "host/groups.cuh"
#include "host/tiles.cuh"
#endif

#endif
