/* spmv.h - what the kernels of spmv.cu, their scratch memory and spmv.c have to agree about. */
#ifndef CF__SPMV_H
#define CF__SPMV_H

#define SPMV_THREADS 128

/* Rows of fewer elements are left to no other kernel, but for those of blocks that have as many as four such. */
#ifndef SPMV_LONG
#define SPMV_LONG 1024
#endif

/* Elements of a part of a long row; a row of more than so many parts has larger ones. */
#ifndef SPMV_PART
#define SPMV_PART 4096
#define SPMV_PARTS_OF_A_ROW 4096
#endif

/* The most parts that there are where rows of an eighth of SPMV_LONG are long. */
#define SPMV_PARTS (nnz >= SPMV_LONG ? nnz / (SPMV_LONG / 8) + nnz / SPMV_PART : 0)

#endif
