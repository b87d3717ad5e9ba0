"""Reads the launch rule of one instance from grid, blocks, block, items and shared."""

from base.bounds import DEFAULT_BLOCK, MAX_BLOCK, MAX_BLOCK_Z
from base.model import Expr, Launch
from expr.evaluate import evaluate_exact
from expr.tree import parse_expr
from tokens.brackets import matching, split_at
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError

MAX_CLUSTER = 16    # blocks, which GPUs of compute capability 9.0 can have


def read_launch(clauses, declaration, exact):
    """Returns the launch rule of one instance; `exact` compiles an expression."""
    if clauses.is_operation:
        return Launch(False, False, False, (), (), None, None)
    block = () if clauses.block == [] else tuple(exact(e) for e in clauses.block) if clauses.block else (
        Expr(str(DEFAULT_BLOCK), (('CONST', DEFAULT_BLOCK), ('END', 0))),)
    _check_block(clauses, block)
    return Launch(clauses.counts_blocks, bool(clauses.cooperative), clauses.block == [],
                  tuple(exact(e) for e in clauses.grid), block, exact(clauses.items), exact(clauses.shared),
                  tuple(_read_cluster(clauses, declaration, exact)))


def _read_cluster(clauses, declaration, exact):
    """Yields the sizes that __cluster_dims__ gives, for a kernel that has it."""
    head = declaration.declaration.head
    at = next((i for i, t in enumerate(head) if t.text == '__cluster_dims__'), None)
    if at is None:
        return
    if clauses.cooperative:
        raise TokenError(clauses.cooperative, 'a cooperative kernel has no __cluster_dims__ here; leave one of them out')
    for part in split_at(head[at + 2:matching(head, at + 1, '(', ')') - 1], ','):
        last = part[-1]
        end = Token('end', '', last.file, last.line, last.column)
        size = evaluate_exact(exact((parse_expr(Cursor(part + [end])), spell_tokens(part))))
        if size is None or not 1 <= size <= MAX_CLUSTER:
            raise TokenError(part[0], f'__cluster_dims__ takes constants from 1 to {MAX_CLUSTER}, found '
                                      f"'{spell_tokens(part)}'")
        yield size


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
