"""Limits of annotations, kernels and launches. <cuferry/registry.h> defines the limits that the library shares."""

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
MAX_EXPR_DEPTH = _LIMITS['EXPR_DEPTH']      # values on the stack that evaluates an expression
MAX_NESTED = _LIMITS['OPERATION_DEPTH']     # nesting of operations
MAX_BLOCK, MAX_BLOCK_Z = _LIMITS['BLOCK_SIZE'], _LIMITS['BLOCK_SIZE_Z']     # threads in all, and along z
MAX_GRID = (_LIMITS['GRID_SIZE_X'], _LIMITS['GRID_SIZE_YZ'], _LIMITS['GRID_SIZE_YZ'])       # blocks along x, y and z

DEFAULT_BLOCK = 256         # threads of a block without a block clause
MAX_SHARED = 227 * 1024     # most bytes of a block on any GPU (compute capability 9.0 and 10.0)
MAX_NESTING = 64            # nested parentheses and unary operators; with MAX_OPERATORS it bounds the recursion
MAX_BRACKETS = 256          # nested brackets of a file, as many as Clang takes
MAX_STRUCTS = 64            # nested structs
MAX_OPERATORS = 200         # operators in one clause
MAX_PARAMETERS = 2000       # parameters of a function; compilers take a minute for a few thousand
MAX_REGISTERS = 65536       # registers of one declaration, as in .reg .u32 r<65536>
MAX_STATEMENTS = 200        # nested statements of a function; the search for missing barriers gives up on more
