/* levels.cu - one level of a sparse triangular solve, a warp per row; the host finds the levels. */
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

typedef long long offset_t;
using row_t = int32_t;

class Schedule
{
  public:
    using Visit = std::function<void(int level, const std::vector<row_t> &rows)>;

    Schedule(row_t n, const offset_t *row_ptr, const row_t *columns)
    {
        if (n < 0 || row_ptr == nullptr)
            throw std::invalid_argument("no matrix");
        std::vector<int> level(n, 0);
        for (row_t i = 0; i < n; ++i) {
            for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
                if (columns[k] < i)
                    level[i] = std::max(level[i], level[columns[k]] + 1);
            levels_[level[i]].push_back(i);
        }
    }
    void for_each(const Visit &visit) const
    {
        for (const auto &[level, rows] : levels_)
            visit(level, rows);
    }

  private:
    std::map<int, std::vector<row_t>> levels_;
};

template <typename T> __device__ __forceinline__ T warp_sum(T value)
{
#pragma unroll
    for (unsigned offset = 16u; offset; offset >>= 1)
        value += __shfl_down_sync(~0u, value, offset);
    return value;
}

/* x[row] = (b[row] - sum of the other terms) / diagonal, for the rows of a list. */
#pragma cf kernel blocks(count) block(32) in(rows[count], row_ptr[n + 1], columns[nonzeros], values[nonzeros], b[n]) \
    inout(x[n]) check(0 <= rows[:] < n, 0 <= row_ptr[:] <= nonzeros, ascending(row_ptr), 0 <= columns[:] < n) \
    param(int n, offset_t nonzeros) tolerance(1e-9)
__global__ void solve_level(const row_t *rows, const row_t count, const offset_t *row_ptr, const row_t *columns,
                            const double *values, const double *b, double *x)
{
    const row_t row = rows[blockIdx.x];
    const offset_t begin = row_ptr[row], end = row_ptr[row + 1];
    double sum = 0, diagonal = 0;
    for (offset_t k = begin + threadIdx.x; k < end; k += warpSize) {
        const row_t column = columns[k];
        if (column == row)
            diagonal = values[k];
        else
            sum += values[k] * x[column];
    }
    sum = warp_sum(sum);
    diagonal = warp_sum(diagonal);
    if (threadIdx.x == 0)
        x[row] = (b[row] - sum) / diagonal;
}

void solve(row_t n, const offset_t *row_ptr, const row_t *columns, const double *values, const double *b, double *x)
{
    const Schedule schedule(n, row_ptr, columns);
    schedule.for_each([&](int, const std::vector<row_t> &rows) {
        const dim3 gridDim(rows.size()), blockDim(32);
        solve_level<<<gridDim, blockDim>>>(rows.data(), (row_t)rows.size(), row_ptr, columns, values, b, x);
    });
}
