/* spmv.h - shapes that the kernels of spmv.cu, their scratch memory and spmv.c share */
#ifndef KERNELS_SPMV_H
#define KERNELS_SPMV_H

#define SPMV_THREADS 128

/* Fewer rows than this do not fill a device with 32 rows to a warp. */
#ifndef SPMV_FEW_ROWS
#define SPMV_FEW_ROWS 131072
#endif

/* A row of this many elements is long. */
#ifndef SPMV_LONG
#define SPMV_LONG 2048
#endif

/* The fewest elements of a part of a long row; a part has fewer than twice as many. The size keeps the list of all
 * parts that a matrix may have within 2 MiB. A row that would have too many parts has larger ones. */
#ifndef SPMV_PART
#define SPMV_PART(T, nnz) (512 * ((1 + sizeof(T) / 4) * (nnz) / (512 * ((1 << 18) - 2048)) + 1))
#endif
#ifndef SPMV_PARTS_OF_A_ROW
#define SPMV_PARTS_OF_A_ROW 8192
#endif

/* Blocks that add parts: as many as a device holds at once. */
#ifndef SPMV_PART_BLOCKS
#define SPMV_PART_BLOCKS 1056
#endif
#define SPMV_BLOCKS(room) (((room) + 3) / 4 < SPMV_PART_BLOCKS ? ((room) + 3) / 4 : SPMV_PART_BLOCKS)

/* Eight-byte words of scratch memory: counts, SPMV_LINE words apart, and a word and a sum for each part. */
#define SPMV_LANES 32
#define SPMV_LINE 32
#define SPMV_COUNTS (2 + SPMV_LANES * SPMV_LINE)
#define SPMV_WORDS(T, room) ((room) ? SPMV_COUNTS + (1 + sizeof(T) / 4) * (room) : 0)
#define SPMV_WORK(T, nnz) SPMV_WORDS(T, (nnz) / SPMV_PART(T, nnz))

#endif
