"""Reads the launch rule of one instance from grid, blocks, block, items and shared."""

import math

from base.bounds import DEFAULT_BLOCK, MAX_BLOCK, MAX_BLOCK_Z
from base.model import Expr, Launch
from expr.evaluate import evaluate_exact
from expr.tree import parse_expr
from tokens.brackets import matching, split_at
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError

MAX_CLUSTER = 16    # blocks, which GPUs of compute capability 9.0 can have


def read_launch(clauses, heads, exact):
    """Returns the launch rule of one instance; `heads` as in _read_cluster(); `exact` compiles an expression."""
    if clauses.is_operation:
        return Launch(False, False, False, (), (), None, None)
    block = () if clauses.block == [] else tuple(exact(e) for e in clauses.block) if clauses.block else (
        Expr(str(DEFAULT_BLOCK), (('CONST', DEFAULT_BLOCK), ('END', 0))),)
    _check_block(clauses, block)
    return Launch(clauses.counts_blocks, bool(clauses.cooperative), clauses.block == [],
                  tuple(exact(e) for e in clauses.grid), block, exact(clauses.items), exact(clauses.shared),
                  _read_cluster(clauses, heads, exact))


def _read_cluster(clauses, heads, exact):
    """Returns the sizes that __cluster_dims__ gives; () for a kernel without it. `heads`: tokens before the kernel's
    body, one list for each declaration."""
    runs_on_cpu = clauses.host is None
    for head in heads:
        for token, *inside in _find_attributes(head):
            word = token.text.strip('_')
            if word not in ('cluster_dims', 'block_size'):
                continue
            parts = split_at(inside[1:-1], ',')
            if word == 'block_size':
                if runs_on_cpu and len(parts) > 1:
                    raise TokenError(token, 'the CPU needs the size of a cluster as __cluster_dims__(...); its grid '
                                            'counts blocks')
                continue
            if runs_on_cpu and clauses.cooperative:
                raise TokenError(clauses.cooperative, 'the CPU runs no cooperative kernel with __cluster_dims__; leave '
                                                      'one of them out, or add host(none)')
            sizes = [_read_size(part, exact) for part in parts]
            if None in sizes and not runs_on_cpu:
                return ()
            if None in sizes or len(sizes) > 3 or min(sizes) < 1 or math.prod(sizes) > MAX_CLUSTER:
                raise TokenError(token, f'__cluster_dims__ takes up to three constants; a cluster has 1 to '
                                        f'{MAX_CLUSTER} blocks')
            return tuple(sizes)
    return ()


def _find_attributes(head):
    """Yields the tokens of each attribute that CUDA has a word for: __cluster_dims__(2), or the same as
    __attribute__((cluster_dims(2)))."""
    for at, token in enumerate(head):
        if token.text in ('__cluster_dims__', '__block_size__'):
            yield head[at:matching(head, at + 1, '(', ')')]
        elif token.text in ('__attribute__', '__attribute'):
            yield from filter(None, split_at(head[at + 3:matching(head, at + 1, '(', ')') - 2], ','))


def _read_size(tokens, exact):
    """Returns the value of a constant; None if it is none."""
    if not tokens:
        return None
    last = tokens[-1]
    end = Token('end', '', last.file, last.line, last.column)
    return evaluate_exact(exact((parse_expr(Cursor(tokens + [end])), spell_tokens(tokens))))


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
