#!/usr/bin/env python3
"""mpi_model.py - the cost model of kernels/SCALING.md: fits it to measured points, and predicts larger machines.

usage: mpi_model.py [POINTS...]

A line of a file of points has the number of messages and of bytes that a rank sends, and the microseconds that this
takes; `mpiexec -n 4 peers-mpi-jacobi points` writes such lines. Without files, nothing is fitted, and only the
predictions are printed, which use published figures of links and the latency below.
"""

import math
import sys

# Published figures in bytes per second: HBM3e of an H200; NVLink 4 in each direction; InfiniBand NDR with one port per
# GPU.
MEMORY, NVLINK, NETWORK = 4.8e12, 450e9, 50e9
NODE = 8            # number of GPUs that NVLink connects
LATENCY = 7e-6      # seconds per message, fitted to NCCL between two and four H200s
MPI_LATENCY = 2e-6  # assumed: seconds per message of the reductions that agree on errors
LAUNCH = 3e-6       # assumed: seconds per kernel that waits for the one before
GPUS = (64, 4096)


def fit(points):
    """Returns seconds per message and bytes per second by least squares of relative errors: the weights make an error
    of 10 % count the same for short and long messages."""
    rows = [(messages / seconds, size / seconds) for messages, size, seconds in points]
    aa, ab, bb = (sum(x[i] * x[j] for x in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(x[i] for x in rows) for i in (0, 1))
    scale = aa * bb - ab * ab
    if len(points) < 2 or scale <= 1e-9 * aa * bb:
        raise ValueError('the points need different ratios of bytes to messages')
    return (a * bb - b * ab) / scale, scale / (b * aa - a * ab)


def worst_error(points, latency, bandwidth):
    return max(abs((messages * latency + size / bandwidth) / seconds - 1) for messages, size, seconds in points)


def read_points(paths):
    points = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            for line in file:
                messages, size, microseconds = line.split()
                points.append((int(messages), int(size), float(microseconds) * 1e-6))
    return points


def travel(messages, near, far):
    """Returns the seconds of messages that send `near` bytes over NVLink and at the same time `far` bytes over the
    network."""
    return messages * LATENCY + max(near / NVLINK, far / NETWORK)


def reduce_time(gpus, latency=LATENCY):
    """Returns the seconds of a sum over all GPUs, including its distribution to all."""
    return 2 * math.log2(gpus) * latency


def gather(gpus, count, size):
    """Returns the seconds of work and of messages for a gather by `count` random indices per GPU, of elements of `size`
    bytes."""
    near, far = min(NODE, gpus) - 1, max(gpus - NODE, 0)
    # Packing and unpacking read and write each element and an index of 8 bytes.
    work = 2 * count * (2 * size + 8) / MEMORY + 3 * LAUNCH
    messages = travel(near + far, count * size * near / gpus, count * size * far / gpus)
    return work, messages + 2 * reduce_time(gpus, MPI_LATENCY)


def jacobi(side):
    """Returns the seconds of the inside, the messages and the outer layers, for a block of side^3 doubles per GPU. A
    node has 2 x 2 x 2 blocks, so that three faces of each cross the network."""
    inside, face = 16 * side**3 / MEMORY + LAUNCH, 8 * side**2
    sides = 6 * (16 * side**2 / MEMORY + LAUNCH)
    return inside, travel(6, 3 * face, 3 * face) + 2 * LAUNCH, sides


def conjugate_gradients(gpus, side, is_cut_in_blocks):
    """Returns the seconds for side^3 rows per GPU. A slab of the grid needs two whole planes of other GPUs, a block six
    faces."""
    # Bytes per row: 7 values, 7 columns, x, y and row_ptr for the product; then two axpy, a waxpy and two inner
    # products.
    work = side**3 * (7 * 12 + 8 + 8 + 4 + 2 * 24 + 24 + 16 + 8) / MEMORY + 6 * LAUNCH
    whole = side * round(gpus**(1 / 3))
    if is_cut_in_blocks:
        messages = travel(6, 3 * 8 * side**2, 3 * 8 * side**2)
    else:
        messages = travel(2, 0, 2 * 8 * whole**2)
    return work, messages + 2 * reduce_time(gpus)


def row(name, gpus, work, messages, total):
    print(f'| {name} | {gpus} | {work * 1e6:.0f} | {messages * 1e6:.0f} | {total * 1e6:.0f} | '
          f'{work / total:.2f} |')


def predict():
    print('| prediction | GPUs | work, us | messages, us | both, us | efficiency |')
    print('| --- | --- | --- | --- | --- | --- |')
    for gpus in GPUS:
        work, messages = gather(gpus, 2**20, 4)
        row('gather, 2^20 floats per GPU', gpus, work, messages, work + messages)
        work, messages = gather(gpus, 2**26, 4)
        row('gather, 2^26 floats per GPU', gpus, work, messages, work + messages)
    for gpus in GPUS:
        for name, side in (('512^3 per GPU', 512), ('2048^3 in all', round(2048 / gpus**(1 / 3)))):
            inside, messages, sides = jacobi(side)
            total = max(inside, messages, reduce_time(gpus, MPI_LATENCY)) + sides
            row(f'Jacobi, {name}', gpus, inside + 16 * 6 * side**2 / MEMORY, messages, total)
    for gpus in GPUS:
        for name, is_cut in (('rows in order', False), ('rows in blocks', True)):
            work, messages = conjugate_gradients(gpus, 512, is_cut)
            row(f'CG, 512^3 per GPU, {name}', gpus, work, messages, work + messages)


def main():
    points = read_points(sys.argv[1:])
    if points:
        latency, bandwidth = fit(points)
        print(f'fitted to {len(points)} points: {latency * 1e6:.2f} us per message, {bandwidth / 1e9:.2f} GB/s; '
              f'worst error {worst_error(points, latency, bandwidth):.0%}\n')
    predict()


if __name__ == '__main__':
    main()
