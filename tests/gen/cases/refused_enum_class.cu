/* refused_enum_class - a scoped enumeration; expected: C has no such type, so no header can declare it. */
enum class Direction : int { Forward, Backward };

#pragma cf kernel grid(n) inout(x[n])
__global__ void transform(float2 *x, int n, Direction direction)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && direction == Direction::Backward)
        x[i].y = -x[i].y;
}
