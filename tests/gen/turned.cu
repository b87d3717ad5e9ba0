// turned.cu - kernels whose neighbours along y are neighbours in memory, for test_turned.c and test_loops.py. The CPU
// exchanges x and y in those of the first part.
#define ROWS 5
#define COLUMNS 12

#pragma cf kernel grid(rows, columns, layers) block(4, 8, 2) in(in[layers][rows][columns]) \
    out(out[layers][rows][columns])
__global__ void guarded(const int *in, int *out, int rows, int columns, int layers)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    int layer = blockIdx.z * blockDim.z + threadIdx.z;
    if (row < rows && column < columns && layer < layers) {
        int i = (layer * rows + row) * columns + column;
        out[i] = in[i] + 1000 * (threadIdx.x + 4 * threadIdx.y) + 100000 * (gridDim.x + 8 * gridDim.y);
    }
}

#pragma cf kernel grid(rows, columns) block(4, 16) in(a[rows][inner], b[inner][columns]) out(out[rows][columns])
__global__ void product(const int *a, const int *b, int *out, int rows, int columns, int inner)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    int sum = 0;
    for (int k = 0; k < inner; k++)
        sum += a[row * inner + k] * b[k * columns + column];
    out[row * columns + column] = sum;
}

#pragma cf kernel blocks(rows / ROWS, columns / COLUMNS) block(ROWS, COLUMNS) in(in[rows][columns]) \
    out(out[rows][columns]) check(rows % ROWS == 0) check(columns % COLUMNS == 0)
__global__ void tile(const int *in, int *out, int rows, int columns)
{
    __shared__ int own[ROWS][COLUMNS];
    int x = threadIdx.x, y = threadIdx.y;
    int i = (blockIdx.x * ROWS + x) * columns + blockIdx.y * COLUMNS + y;
    own[x][y] = in[i];
    __syncthreads();
    int sum = own[ROWS - 1 - x][y];
    for (int k = 0; k < COLUMNS; k++)
        sum += own[x][k] * k;
    __syncthreads();
    own[x][y] = sum;
    __syncthreads();
    out[i] = own[x][COLUMNS - 1 - y] + 1000000 * blockDim.x;
}

// This kernel becomes fibers, for which x and y are exchanged, too.
#pragma cf kernel blocks(rows / ROWS, columns / COLUMNS) block(ROWS, COLUMNS) in(in[rows][columns]) \
    out(out[rows][columns]) check(rows % ROWS == 0) check(columns % COLUMNS == 0)
__global__ void by_turns(const int *in, int *out, int rows, int columns)
{
    __shared__ int own[ROWS][COLUMNS];
    int x = threadIdx.x, y = threadIdx.y;
    int i = (blockIdx.x * ROWS + x) * columns + blockIdx.y * COLUMNS + y;
    own[x][y] = in[i];
    if (in[i] > 0)
        __syncthreads();
    else
        __syncthreads();
    out[i] = own[ROWS - 1 - x][y] + in[(blockIdx.x * ROWS + x) * columns + blockIdx.y * COLUMNS + y];
}

// The CPU must not exchange x and y in these kernels.

__device__ int own_row()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#pragma cf kernel grid(rows, columns) block(4, 8) in(in[rows][columns]) out(out[rows][columns])
__global__ void by_function(const int *in, int *out, int rows, int columns)
{
    int column = blockIdx.y * blockDim.y + threadIdx.y, row = own_row();
    if (row < rows && column < columns)
        out[row * columns + column] = in[row * columns + column] + 1;
}

#pragma cf kernel blocks(rows, columns / 32) block(2, 32) in(in[rows][columns]) out(out[rows][columns]) \
    check(columns % 32 == 0)
__global__ void by_lanes(const int *in, int *out, int rows, int columns)
{
    int column = blockIdx.y * 32 + threadIdx.y, row = blockIdx.x;
    int other = __shfl_down_sync(~0u, in[row * columns + column], 1);
    if (threadIdx.x == 0)
        out[row * columns + column] = other;
}

__device__ int next(int value)
{
    return __shfl_down_sync(~0u, value, 1);
}

#pragma cf kernel blocks(rows / 2, columns / 32) block(2, 32) in(in[rows][columns]) out(out[rows][columns]) \
    check(columns % 32 == 0) check(rows % 2 == 0)
__global__ void by_lanes_of_function(const int *in, int *out, int rows, int columns)
{
    int column = blockIdx.y * 32 + threadIdx.y, row = 2 * blockIdx.x + threadIdx.x;
    int other = next(in[row * columns + column]);
    out[row * columns + column] = threadIdx.x == 0 ? other : -1;
}

#pragma cf kernel blocks(rows / 2, columns / 32) block(2, 32) in(in[rows][columns]) out(out[rows][columns]) \
    check(columns % 32 == 0) check(rows % 2 == 0)
__global__ void by_matching(const int *in, int *out, int rows, int columns)
{
    int column = blockIdx.y * 32 + threadIdx.y, row = 2 * blockIdx.x + threadIdx.x;
    out[row * columns + column] = __popc(__match_any_sync(~0u, in[row * columns + column] % 3));
}

#pragma cf kernel grid(columns, rows) block(8, 4) in(in[rows][columns]) out(out[rows][columns])
__global__ void along_x(const int *in, int *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        out[row * columns + column] = in[row * columns + column] + 1;
}

// In either order of the threads, neighbours are adjacent in memory in one of the two arrays.
#pragma cf kernel grid(rows, columns) block(4, 8) in(in[rows][columns]) out(out[columns][rows])
__global__ void transposed(const int *in, int *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        out[column * rows + row] = in[row * columns + column];
}
