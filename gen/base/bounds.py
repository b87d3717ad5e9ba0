"""Limits of annotations, kernels and launches."""

INT64_MAX = 2**63 - 1
INT64_MIN = -2**63
INT32_MAX = 2**31 - 1

# As the library has them.
CF_EXPR_DEPTH = 16          # values at once in an expression
MAX_NESTED = 4              # operations within operations
MAX_BLOCK, MAX_BLOCK_Z = 1024, 64   # threads of a block, and along z
MAX_GRID = (INT32_MAX, 65535, 65535)    # blocks along x, y and z
MAX_GRID_DIMS = 3
DEFAULT_BLOCK = 256         # threads of a block where an annotation has none

MAX_ARRAY_DIMS = 8
MAX_SHARED = 227 * 1024     # bytes of a block, on request, where there are most: compute capability 9.0, 10.0
MAX_NESTING = 64            # of parentheses and unary operators in an expression; with the next, bounds the recursion
MAX_OPERATORS = 200         # of one clause
