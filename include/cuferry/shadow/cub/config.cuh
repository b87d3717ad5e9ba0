/* config.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_CONFIG_CUH
#define CUFERRY_CUB_CONFIG_CUH

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
/* A file may name the namespace even if only its host code calls functions in it. */
namespace cub
{
}
#endif

#endif
