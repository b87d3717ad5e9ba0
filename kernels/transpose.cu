/* transpose - out[j][i] = in[i][j] */
#include <stdint.h>
#include <string.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* A block has a square tile with sides of 256 bytes, and a thread a small square tile with sides of 16 bytes. A matrix
 * is thin if one of its sides is less than half a tile's. A block takes the whole of this side and so much of
 * the other as a tile has room for, with less than half a side left over; a CPU thread has TRANSPOSE_ALONG of the
 * other. `size` is the size of an element. */
#define TRANSPOSE_PIECES(n, length) ((n) / (length) + ((n) % (length) > 0))
#define TRANSPOSE_IS_THIN(size) (rows < 128 / (size) || cols < 128 / (size))
#define TRANSPOSE_TILES(size) (TRANSPOSE_PIECES(rows, 256 / (size)) * TRANSPOSE_PIECES(cols, 256 / (size)))
#define TRANSPOSE_BLOCKS(size) \
    (TRANSPOSE_IS_THIN(size) ? TRANSPOSE_PIECES(rows * cols, 256 / (size) * (256 / (size)) - 128 / (size)) \
     : TRANSPOSE_TILES(size))
#define TRANSPOSE_ALONG 1024
#define TRANSPOSE_PARTS(size) \
    (TRANSPOSE_IS_THIN(size) ? TRANSPOSE_PIECES(rows < cols ? cols : rows, TRANSPOSE_ALONG) : TRANSPOSE_TILES(size))

#ifdef __CUDA_ARCH__

#define TRANSPOSE_THREADS 256

template <typename T> struct alignas(16) transpose_word {
    T at[16 / sizeof(T)];
};

template <typename T> __device__ __forceinline__ transpose_word<T> transpose_load(const T *address)
{
    const uint4 bits = *reinterpret_cast<const uint4 *>(address);
    transpose_word<T> word;
    memcpy(&word, &bits, sizeof word);
    return word;
}

template <typename T> __device__ __forceinline__ void transpose_store(T *address, const transpose_word<T> &word)
{
    uint4 bits;
    memcpy(&bits, &word, sizeof bits);
    __stcs(reinterpret_cast<uint4 *>(address), bits);
}

/* A tile in shared memory, in the order in which it is written to the result. The words of a small tile's rows lie
 * apart, so that accesses of 16 bytes cause no bank conflicts. */
template <typename T> struct transpose_tile {
    static constexpr int N = 16 / (int)sizeof(T), side = 16 * N;
    transpose_word<T> words[N][16][17];

    __device__ __forceinline__ T &at(int j, int i)
    {
        return words[j % N][j / N][i / N].at[i % N];
    }
};

/* Reads the tile whose first element is in[0]; `height` and `width` are the rest of the matrix from there on. */
template <typename T>
__device__ __forceinline__ void transpose_read(transpose_tile<T> &tile, const T *in, int64_t cols, int64_t height,
                                               int64_t width, bool is_aligned)
{
    constexpr int N = transpose_tile<T>::N, side = transpose_tile<T>::side;
    const int thread = threadIdx.x;
    if (is_aligned) {
        const int x = thread % 16, y = thread / 16;
        transpose_word<T> row[N];
        if (x * N < width) {
#pragma unroll
            for (int k = 0; k < N; k++)
                if (y * N + k < height)
                    row[k] = transpose_load(in + (y * N + k) * cols + x * N);
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            transpose_word<T> column;
#pragma unroll
            for (int e = 0; e < N; e++)
                column.at[e] = row[e].at[k];
            tile.words[k][x][y] = column;
        }
    } else {
        constexpr int step = TRANSPOSE_THREADS / side, together = side / step < 8 ? side / step : 8;
        const int j = thread % side, first = thread / side, last = height < side ? (int)height : side;
        const T *from = in + j;
        if (j < width) {
#pragma unroll 1
            for (int i = first; i < last; i += together * step) {
                T element[together];
#pragma unroll
                for (int k = 0; k < together; k++)
                    if (i + k * step < last)
                        element[k] = from[(i + k * step) * cols];
#pragma unroll
                for (int k = 0; k < together; k++)
                    if (i + k * step < last)
                        tile.at(j, i + k * step) = element[k];
            }
        }
    }
}

template <typename T>
__device__ __forceinline__ void transpose_write(transpose_tile<T> &tile, T *out, int64_t rows, int64_t height,
                                                int64_t width, bool is_aligned)
{
    constexpr int N = transpose_tile<T>::N, side = transpose_tile<T>::side;
    const int thread = threadIdx.x;
    if (is_aligned) {
        const int y = thread % 16, x = thread / 16;
        if (y * N < height) {
#pragma unroll
            for (int k = 0; k < N; k++)
                if (x * N + k < width)
                    transpose_store(out + (x * N + k) * rows + y * N, tile.words[k][x][y]);
        }
    } else {
        constexpr int step = TRANSPOSE_THREADS / side;
        const int i = thread % side, last = width < side ? (int)width : side;
        if (i < height) {
#pragma unroll 4
            for (int j = thread / side; j < last; j += step)
                out[j * rows + i] = tile.at(j, i); /* these fill parts of sectors, whose rest the next block writes */
        }
    }
}

/* Returns e divided by a number whose reciprocal is given. The quotient is exact for indices in a tile, which are far
 * below 2^21. */
__device__ __forceinline__ int transpose_quotient(int e, float reciprocal)
{
    return (int)(((float)e + 0.5f) * reciprocal);
}

/* Transposes `along` elements of all `across` rows or columns of a thin matrix: they are contiguous in one of the
 * matrices, and in `across` pieces in the other. */
template <typename T>
__device__ __forceinline__ void transpose_thin(T *tile, const T *in, T *out, int64_t rows, int64_t cols, int along)
{
    const bool has_rows = rows < cols; /* the matrix has few rows, otherwise few columns */
    constexpr int together = 8;
    const int across = (int)(has_rows ? rows : cols), pitch = along | 1, count = across * along;
    const int read_width = has_rows ? along : across, write_width = has_rows ? across : along;
    const float per_read = 1.0f / (float)read_width, per_write = 1.0f / (float)write_width;
#pragma unroll 1
    for (int first = threadIdx.x; first < count; first += together * TRANSPOSE_THREADS) {
        T element[together];
#pragma unroll
        for (int k = 0; k < together; k++) {
            const int e = first + k * TRANSPOSE_THREADS, i = transpose_quotient(e, per_read), j = e - i * read_width;
            if (e < count)
                element[k] = in[i * cols + j];
        }
#pragma unroll
        for (int k = 0; k < together; k++) {
            const int e = first + k * TRANSPOSE_THREADS, i = transpose_quotient(e, per_read), j = e - i * read_width;
            if (e < count)
                tile[has_rows ? i * pitch + j : j * pitch + i] = element[k];
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int e = threadIdx.x; e < count; e += TRANSPOSE_THREADS) {
        const int j = transpose_quotient(e, per_write), i = e - j * write_width;
        out[j * rows + i] = tile[has_rows ? i * pitch + j : j * pitch + i];
    }
}

#else

/* Transposes a tile on the CPU by way of a copy, because rows of a large matrix are far apart, often by a power of two,
 * and a cache can hold few such rows. */
template <typename T, int side>
__device__ __forceinline__ void transpose_block(const T *in, T *out, int64_t rows, int64_t cols, int height, int width)
{
    T tile[side][side + 16 / sizeof(T)];
    for (int i = 0; i < height; i++)
        memcpy(tile[i], in + i * cols, (size_t)width * sizeof(T));
    for (int j = 0; j < width; j++)
        for (int i = 0; i < height; i++)
            out[j * rows + i] = tile[i][j];
}

#endif

/* Writes the columns of a matrix as rows: out[j][i] = in[i][j] for rows times cols elements. in and out must not
 * overlap; the plain call checks it. */
#pragma cf kernel blocks(TRANSPOSE_BLOCKS(sizeof(T))) block(256) host(grid(TRANSPOSE_PARTS(sizeof(T)))) \
    in(in[rows][cols]) out(out[cols][rows]) bytes(2.0 * rows * cols * sizeof(T)) flops(0)
#pragma cf instances(f32: float; f64: double; i32: int32_t; i64: int64_t; f16: __half; bf16: __nv_bfloat16)
template <typename T>
__global__ void __launch_bounds__(256)
    transpose(const T *__restrict__ in, T *__restrict__ out, int64_t rows, int64_t cols)
{
    constexpr int64_t size = sizeof(T), side = 256 / size;
#ifdef __CUDA_ARCH__
    const int64_t high = TRANSPOSE_PIECES(rows, side);
    const unsigned int block = blockIdx.x;
    __shared__ transpose_tile<T> tile;
    if (TRANSPOSE_IS_THIN(size)) {
        const int64_t length = side * side / (int)(rows < cols ? rows : cols), first = block * length;
        const int64_t left = (rows < cols ? cols : rows) - first;
        if (left > 0)
            transpose_thin(&tile.words[0][0][0].at[0], in + first * (rows < cols ? 1 : cols),
                           out + first * (rows < cols ? rows : 1), rows, cols, (int)(left < length ? left : length));
        return;
    }
    /* Neighbouring blocks share sectors of the rows that they write. */
    const int64_t i = block % (unsigned int)high * side, j = block / (unsigned int)high * side;
    transpose_read(tile, in + i * cols + j, cols, rows - i, cols - j,
                   ((uintptr_t)in | (uintptr_t)(cols * size)) % 16 == 0);
    __syncthreads();
    transpose_write(tile, out + j * rows + i, rows, rows - i, cols - j,
                    ((uintptr_t)out | (uintptr_t)(rows * size)) % 16 == 0);
#else
    const int64_t wide = TRANSPOSE_PIECES(cols, side), part = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (part >= TRANSPOSE_PARTS(size))
        return;
    if (TRANSPOSE_IS_THIN(size)) {
        const int64_t first = part * TRANSPOSE_ALONG, left = (rows < cols ? cols : rows) - first;
        const int64_t behind = first + (left < TRANSPOSE_ALONG ? left : TRANSPOSE_ALONG);
        for (int64_t j = rows < cols ? first : 0; j < (rows < cols ? behind : cols); j++)
            for (int64_t i = rows < cols ? 0 : first; i < (rows < cols ? rows : behind); i++)
                out[j * rows + i] = in[i * cols + j];
    } else {
        const int64_t i = part / wide * side, j = part % wide * side;
        const int height = (int)(rows - i < side ? rows - i : side), width = (int)(cols - j < side ? cols - j : side);
        transpose_block<T, (int)side>(in + i * cols + j, out + j * rows + i, rows, cols, height, width);
    }
#endif
}
