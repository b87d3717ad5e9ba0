/* spmv.h - what the kernels of spmv.cu, their scratch memory and spmv.c have to agree about. */
#ifndef KERNELS_SPMV_H
#define KERNELS_SPMV_H

#define SPMV_THREADS 128

/* Fewer rows than this fill no device 32 to a warp. */
#ifndef SPMV_FEW_ROWS
#define SPMV_FEW_ROWS 131072
#endif

/* Rows of as many elements are long ones. */
#ifndef SPMV_LONG
#define SPMV_LONG 2048
#endif

/* Elements of a part of a long row at least, which has one fewer than twice as many at most: 512, or as many as keep
 * the list of the parts that a matrix may have within 2 MiB. A row that has many parts has larger ones. */
#ifndef SPMV_PART
#define SPMV_PART(T, nnz) (512 * ((1 + sizeof(T) / 4) * (nnz) / (512 * ((1 << 18) - 2048)) + 1))
#endif
#ifndef SPMV_PARTS_OF_A_ROW
#define SPMV_PARTS_OF_A_ROW 8192
#endif

/* Blocks for parts: what a device has at once. */
#ifndef SPMV_PART_BLOCKS
#define SPMV_PART_BLOCKS 1056
#endif
#define SPMV_BLOCKS(room) (((room) + 3) / 4 < SPMV_PART_BLOCKS ? ((room) + 3) / 4 : SPMV_PART_BLOCKS)

/* Eight-byte words of scratch memory: counts, in places so far from one another, and for each part its word and its
 * sum. */
#define SPMV_LANES 32
#define SPMV_LINE 32
#define SPMV_COUNTS (2 + SPMV_LANES * SPMV_LINE)
#define SPMV_WORDS(T, room) ((room) ? SPMV_COUNTS + (1 + sizeof(T) / 4) * (room) : 0)
#define SPMV_WORK(T, nnz) SPMV_WORDS(T, (nnz) / SPMV_PART(T, nnz))

#endif
