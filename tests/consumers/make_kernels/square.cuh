// square.cuh - a device function that kernel files share.
template <typename T> __device__ T square(T x)
{
    return x * x;
}
