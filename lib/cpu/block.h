/* block.h - the blocks of a launch. */
#ifndef CF__BLOCK_H
#define CF__BLOCK_H

#include <cuferry/cpu/abi.h>

/* The functions that CPU bodies of kernels call. */
extern const cf_host_ops cf__block_ops;

#endif
