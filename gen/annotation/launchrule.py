"""Reads the launch rule of one instance from grid, blocks, block, items and shared."""

from base.bounds import DEFAULT_BLOCK, MAX_BLOCK, MAX_BLOCK_Z
from base.model import Expr, Launch
from expr.evaluate import evaluate_exact
from tokens.lexer import TokenError


def read_launch(clauses, exact):
    """Returns the launch rule of one instance; `exact` compiles an expression."""
    if clauses.is_operation:
        return Launch(False, False, False, (), (), None, None)
    block = () if clauses.block == [] else tuple(exact(e) for e in clauses.block) if clauses.block else (
        Expr(str(DEFAULT_BLOCK), (('CONST', DEFAULT_BLOCK), ('END', 0))),)
    _check_block(clauses, block)
    return Launch(clauses.counts_blocks, bool(clauses.cooperative), clauses.block == [],
                  tuple(exact(e) for e in clauses.grid), block, exact(clauses.items), exact(clauses.shared))


def _check_block(clauses, block):
    """Checks the constant parts of a block's size; the library checks the rest."""
    threads = 1
    for number, e in enumerate(block):
        size = evaluate_exact(e)
        if size is None:
            continue
        threads *= max(size, 0)
        limit = MAX_BLOCK_Z if number == 2 else MAX_BLOCK
        if not 1 <= size <= limit or threads > MAX_BLOCK:
            token = clauses.block[number][0].token if clauses.block else clauses.token
            raise TokenError(token, f'a block has 1 to {MAX_BLOCK} threads, and at most {MAX_BLOCK_Z} along z; '
                                    f'this is {size if size < 1 or number == 2 else threads}')
