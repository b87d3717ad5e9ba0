/* spmv.h - what the kernels of spmv.cu, their scratch memory and spmv.c have to agree about. */
#ifndef CF__SPMV_H
#define CF__SPMV_H

/* Products of elements of A and x that a block has at a time, in shared memory. */
#define SPMV_THREADS 256
#define SPMV_TILE_BYTES 8192
#define SPMV_TILE(bytes) (SPMV_TILE_BYTES / (bytes))

/* Elements that a block has in all: tiles, more than one where there are elements for many blocks. */
#ifndef SPMV_BLOCKS
#define SPMV_BLOCKS 4096
#endif
#define SPMV_TILES(tile) \
    (nnz / (tile) < 2 * SPMV_BLOCKS ? 1 : nnz / (tile) < 16 * SPMV_BLOCKS ? nnz / (tile) / SPMV_BLOCKS : 16)
#define SPMV_PART(tile) ((tile)*SPMV_TILES(tile))
#define SPMV_PARTS(tile) (nnz / SPMV_PART(tile) + (nnz % SPMV_PART(tile) > 0))

/* Matrices of fewer rows, or of fewer elements, are not looked at. */
#ifndef SPMV_LOOKED_ROWS
#define SPMV_LOOKED_ROWS 4096
#endif
#ifndef SPMV_LOOKED_ELEMENTS
#define SPMV_LOOKED_ELEMENTS 262144
#endif
#define SPMV_IS_LOOKED_AT (nrows >= SPMV_LOOKED_ROWS && nnz >= SPMV_LOOKED_ELEMENTS)

#endif
