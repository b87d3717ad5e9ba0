/* thread_load.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_THREAD_LOAD_CUH
#define CUFERRY_CUB_THREAD_LOAD_CUH

#include "../config.cuh"

#if !defined CF__SCAN
namespace cub
{
/* The CPU's caches ignore hints. */
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

template <CacheLoadModifier modifier, typename Iterator> CF__FN auto ThreadLoad(Iterator from)
{
    return *from;
}
} /* namespace cub */
#endif

#endif
