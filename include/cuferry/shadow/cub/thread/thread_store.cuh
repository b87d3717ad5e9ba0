/* thread_store.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_THREAD_STORE_CUH
#define CUFERRY_CUB_THREAD_STORE_CUH

#include "../config.cuh"

#if !defined CF__SCAN
namespace cub
{
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheStoreModifier modifier, typename Iterator, typename T> CF__FN void ThreadStore(Iterator to, T value)
{
    *to = value;
}
} /* namespace cub */
#endif

#endif
