// first_kernel.cu - the kernel of `peers-first loaded` and `peers-first compiled`.
extern "C" __global__ void gather(const float *source, const int *index, float *res, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        res[i] = source[index[i]];
}
