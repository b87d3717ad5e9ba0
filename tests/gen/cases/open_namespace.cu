/* open_namespace - two scopes that are never closed, one of them from a macro. */
#include <math.h>
#define BEGIN namespace inner {

namespace outer {
BEGIN

#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    x[threadIdx.x] = NAN;
}
