/* never - checks that no call passes, and a check that each call passes: compilers do not warn of the compiled sizes. */
#pragma cf kernel grid(n) out(y[n]) check(n > 5, n < 5)
__global__ void in_two(int *y, int n)
{
}

#pragma cf kernel grid(n) out(y[n]) check(n > 5 && n < 5)
__global__ void in_one(int *y, int n)
{
}

#pragma cf kernel grid(n) out(y[n]) check(m >= 0)
__global__ void always(int *y, int n, unsigned m)
{
}
