/* cuda_std.cuh - the namespace cuda::std: the declarations of the C++ library's headers. */
#ifndef CUFERRY_CPU_CUDA_STD_CUH
#define CUFERRY_CPU_CUDA_STD_CUH

namespace std
{
}

namespace cuda
{
namespace std
{
using namespace ::std;
} /* namespace std */
} /* namespace cuda */

#endif
