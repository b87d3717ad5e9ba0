/* closed - balanced brackets, beside unbalanced ones in strings and comments. */
#include <assert.h>
#include <math.h>

#define BEGIN(name) namespace name {
#define END }

/* { ( [ */
BEGIN(inner)
static const char text[] = "{([", raw[] = R"(}} {{{{)", letters[] = {'{', '\'', '"', '['}; // {{
END

#if 0
{
#endif

#pragma cf kernel grid(n) inout(x[n])
__global__ void first(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n > 0 && "{");
    if (i < n && sizeof inner::text + sizeof inner::raw + sizeof inner::letters > 1) {
        x[i] = isnan(x[i]) ? NAN : 1'0.0f;
    }
}
