// Text in strings, comments and code that is left out never becomes a kernel, whatever it looks like. \
#pragma cf kernel grid(n) out(y[n])
const char *raw = R"(
#pragma cf kernel grid(n) out(y[n])
__global__ void in_raw_string(float *y, int n) {}
#define LAST 2
# 7 "other.cu"
#include "other.h"
)";
const wchar_t *wide = LR"end(
   #pragma cf kernel grid(n) out(y[n])
)" __global__ void in_wide_string(float *y, int n) {}
)end" L"R\"(";
const char *plain = "R\"(", quote = '"', *pieces[] = {u8R"(")", R"()"};
/* R"(
#pragma cf kernel grid(n) out(y[n])
__global__ void in_comment(float *y, int n) {}
*/
#if 0
#pragma cf kernel grid(n) out(y[n])
__global__ void in_dead_code(float *y, int n) {}
#endif
#define TEXT R"(#pragma cf kernel grid(n))"
const char *of_macro = TEXT;
#define LAST 3

/* The number in the message: %d. */
#pragma cf kernel grid(n) out(y[n]) check(n > LAST)
__global__ void after_strings(float *y, int n)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1'000;
}
