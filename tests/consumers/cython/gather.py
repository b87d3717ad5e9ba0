"""Gathers N of M floats through Cython, and compares them with NumPy's result. usage: gather.py [M [N]]"""

import sys

import numpy as np
from gather_wrapper import cuda_gather

M, N = (int(word) for word in (sys.argv[1:] + [2**27, 2**20][len(sys.argv) - 1:]))
draw = np.random.default_rng(1)
x, idx = draw.random(M, np.float32), draw.integers(0, M, N, np.int32)
res = cuda_gather(x, idx)
print(f'{np.count_nonzero(res == x[idx])} of {N} match')
sys.exit(0 if (res == x[idx]).all() else 1)
