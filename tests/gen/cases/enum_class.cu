/* enum_class - scoped enumerations and underlying types: C has integers with the names of the values. */
enum class Direction : int { Forward, Backward };
enum Level : unsigned char { LOW, HIGH = 255 };
namespace fft
{
enum class Order { Natural = -2, Bits };
enum class Wide : long long { Small = 1, Large = 1ll << 40 };
} // namespace fft

#pragma cf kernel grid(n) inout(x[n]) in(levels[n]) check(direction <= Direction::Backward)
__global__ void transform(float2 *x, const Level *levels, int n, Direction direction, fft::Order order, fft::Wide wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && direction == Direction::Backward && levels[i] == HIGH && order == fft::Order::Bits)
        x[i].y = -x[i].y;
}
