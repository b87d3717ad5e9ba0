# cuferry.gdb - commands for gdb -x: lets gdb stop in kernels that run on the CPU, and defines CUDA's index names. See
# kernels/CHECKS.md.

set breakpoint pending on
# One CPU thread runs all blocks in order.
set environment CF_DRIVER host
set environment CF_THREADS 1
macro define threadIdx cf__index.cf__thread
macro define blockIdx cf__index.cf__block
macro define blockDim cf__index.cf__block_size
macro define gridDim cf__index.cf__grid_size
