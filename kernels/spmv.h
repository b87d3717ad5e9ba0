/* spmv.h - what the kernels of spmv.cu, their scratch memory and spmv.c have to agree about. */
#ifndef CF__SPMV_H
#define CF__SPMV_H

#define SPMV_THREADS 128

/* Fewer rows than this fill no device 32 to a warp. */
#ifndef SPMV_FEW_ROWS
#define SPMV_FEW_ROWS 131072
#endif

/* Rows of as many elements are long ones, and fewer are where a warp's 32 rows have twice as many. */
#ifndef SPMV_LONG
#define SPMV_LONG 1024
#endif

/* Elements of a part of a long row; a row of more than so many parts has larger ones. */
#ifndef SPMV_PART
#define SPMV_PART 1024
#define SPMV_PARTS_OF_A_ROW 8192
#endif

/* How many parts there is room for, of less than a MiB but for large matrices. As many as there may be, where rows of
 * an eighth of SPMV_LONG are long ones, would be too many to keep at hand for a matrix that has few. */
#ifndef SPMV_ROOM
#define SPMV_ROOM(nnz) ((nnz) / 4096 > 32768 ? (nnz) / 4096 : 32768)
#endif
#define SPMV_MOST(nnz) ((nnz) < SPMV_LONG ? 0 : (nnz) / (SPMV_LONG / 8) + (nnz) / SPMV_PART)
#define SPMV_PARTS(nnz) (SPMV_MOST(nnz) < SPMV_ROOM(nnz) ? SPMV_MOST(nnz) : SPMV_ROOM(nnz))

/* Eight-byte words of scratch memory, for so many parts. */
#define SPMV_COUNTS 2
#define SPMV_WORDS(room) ((room) ? SPMV_COUNTS + 2 * (room) + ((room) + 1) / 2 : 0)
#define SPMV_WORK(nnz) SPMV_WORDS(SPMV_PARTS(nnz))

#endif
