"""Limits of annotations, kernels and launches. <cuferry/registry.h> defines those that the library shares."""

import os
import re

from base.folders import INCLUDE

INT64_MAX = 2**63 - 1
INT64_MIN = -2**63
INT32_MAX = 2**31 - 1


def _read_limits():
    with open(os.path.join(INCLUDE, 'cuferry', 'registry.h'), encoding='utf-8') as file:
        return {name: int(value) for name, value in re.findall(r'^#define CF_(\w+) (\d+)$', file.read(), re.MULTILINE)}


_LIMITS = _read_limits()
MAX_GRID_DIMS, MAX_ARRAY_DIMS = _LIMITS['GRID_DIMS'], _LIMITS['ARRAY_DIMS']
MAX_EXPR_DEPTH = _LIMITS['EXPR_DEPTH']      # values at once in an expression
MAX_NESTED = _LIMITS['OPERATION_DEPTH']     # operations within operations
MAX_BLOCK, MAX_BLOCK_Z = _LIMITS['BLOCK_SIZE'], _LIMITS['BLOCK_SIZE_Z']     # threads, and along z
MAX_GRID = (_LIMITS['GRID_SIZE_X'], _LIMITS['GRID_SIZE_YZ'], _LIMITS['GRID_SIZE_YZ'])       # blocks along x, y and z

DEFAULT_BLOCK = 256         # threads of a block where an annotation has none
MAX_SHARED = 227 * 1024     # bytes of a block, on request, where there are most: compute capability 9.0, 10.0
MAX_NESTING = 64            # of parentheses and unary operators in an expression; with the next, bounds the recursion
MAX_OPERATORS = 200         # of one clause
