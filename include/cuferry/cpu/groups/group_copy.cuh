/* group_copy.cuh - cooperative_groups: copies that all threads of a group share. */
#ifndef CUFERRY_CPU_GROUP_COPY_CUH
#define CUFERRY_CPU_GROUP_COPY_CUH

#include <stddef.h>

#include <cuferry/cpu/sync/async_copy.cuh>
#include <cuferry/cpu/types/aligned_size.cuh>

#include "groups.cuh"

namespace cooperative_groups
{
template <typename Group, typename T, typename Size>
CF__FN void memcpy_async(const Group &group, T *to, const T *from, const Size &bytes)
{
    cf__copy_part(group, to, from, (size_t)bytes);
}

template <typename Group, typename T, typename To, typename From>
CF__FN void memcpy_async(const Group &group, T *to, const To &to_count, const T *from, const From &from_count)
{
    const size_t count = (size_t)to_count < (size_t)from_count ? (size_t)to_count : (size_t)from_count;
    cf__copy_part(group, to, from, count * sizeof(T));
}

template <typename Group> CF__FN void wait(const Group &group, CF__WHERE)
{
    group.sync(file, line);
}

template <unsigned int Stage, typename Group> CF__FN void wait_prior(const Group &group, CF__WHERE)
{
    group.sync(file, line);
}

} /* namespace cooperative_groups */

#endif
