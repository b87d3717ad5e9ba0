/* config.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_CONFIG_CUH
#define CUFERRY_CUB_CONFIG_CUH

#include <cuferry/cpu/prelude.cuh>

#if !defined CF__SCAN
/* A file may use the namespace of functions that only its host code calls. */
namespace cub
{
}
#endif

#endif
