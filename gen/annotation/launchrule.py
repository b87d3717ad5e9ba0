"""Reads the launch rule of one instance from grid, blocks, block, items and shared."""

import math

from base.bounds import DEFAULT_BLOCK, MAX_BLOCK, MAX_BLOCK_Z
from base.model import Expr, Launch
from expr.evaluate import evaluate_exact
from expr.tree import parse_expr
from tokens.brackets import matching, split_at
from tokens.cursor import Cursor
from tokens.lexer import spell_tokens, Token, TokenError

MAX_CLUSTER = 16    # most blocks of a cluster on any GPU (compute capability 9.0)


def read_launch(clauses, heads, exact, ask):
    """Returns the launch rule of one instance. `heads`: as in _find_cluster(); `exact` compiles an expression; `ask`
    asks the C++ compiler for the value of an expression."""
    if clauses.is_operation:
        return Launch(False, False, False, (), (), None, None)
    block = () if clauses.block == [] else tuple(exact(e) for e in clauses.block) if clauses.block else (
        Expr(str(DEFAULT_BLOCK), ('CONST', DEFAULT_BLOCK)),)
    bound = _read_bound(heads, exact, ask)
    _check_block(clauses, block, bound)
    grid = tuple(exact(e) for e in clauses.grid)
    return Launch(clauses.counts_blocks, bool(clauses.cooperative), clauses.block == [], grid, block,
                  exact(clauses.items), exact(clauses.shared), _read_cluster(clauses, heads, grid, exact),
                  bool(clauses.cluster), bool(clauses.dependent), bound)


def _read_cluster(clauses, heads, grid, exact):
    """Returns the size of a kernel's clusters; () if it has none. `heads`: as in _find_cluster()."""
    runs_on_cpu = clauses.host is None
    token, sizes = _find_cluster(clauses, heads, exact, runs_on_cpu)
    if clauses.cluster:
        if token:
            raise TokenError(clauses.cluster[0], f'cluster(...) and {token.text} both give the size of clusters; leave '
                                                 'one of the two out')
        token, sizes = clauses.cluster[0], [evaluate_exact(exact(e)) for e in clauses.cluster[1]]
    if not sizes or (None in sizes and not runs_on_cpu and not clauses.cluster):
        return ()
    name = 'cluster' if clauses.cluster else '__cluster_dims__'
    if runs_on_cpu and clauses.cooperative:
        raise TokenError(clauses.cooperative, f'the CPU runs no cooperative kernel with {name}; leave one of them out, '
                                              'or add host(none)')
    if None in sizes or len(sizes) > 3 or min(sizes) < 1 or math.prod(sizes) > MAX_CLUSTER:
        raise TokenError(token, f'{name} takes up to three constants; a cluster has 1 to {MAX_CLUSTER} blocks')
    for axis, size, blocks in zip('xyz', sizes, [*grid, None, None]):
        count = 1 if blocks is None else evaluate_exact(blocks) if clauses.counts_blocks else None
        if count is not None and count % size:
            raise TokenError(token, f'the grid has {count} block{"" if count == 1 else "s"} along {axis}, which is no '
                                    f'multiple of the {size} blocks of a cluster')
    return tuple(sizes)


def _find_cluster(clauses, heads, exact, runs_on_cpu):
    """Returns the attribute that gives a kernel's cluster size, and the sizes along the axes, None for a size that is
    no constant; (None, ()) without an attribute. `heads`: the tokens before the body in each declaration of the
    kernel."""
    for head in heads:
        for token, *inside in _find_attributes(head):
            word = token.text.strip('_')
            parts = split_at(inside[1:-1], ',')
            if word == 'cluster_dims':
                return token, [_read_size(part, exact) for part in parts]
            if word == 'block_size' and len(parts) > 1 and clauses.cluster:
                return token, []        # the caller refuses an attribute together with cluster(...)
            if word == 'block_size' and len(parts) > 1 and runs_on_cpu:
                raise TokenError(token, 'the CPU needs the size of a cluster as __cluster_dims__(...); its grid counts '
                                        'blocks')
    return None, ()


def _find_attributes(head):
    """Yields the tokens of each CUDA attribute, in either spelling: __cluster_dims__(2) or
    __attribute__((cluster_dims(2)))."""
    for at, token in enumerate(head):
        if token.text in ('__cluster_dims__', '__block_size__', '__launch_bounds__'):
            yield head[at:matching(head, at + 1, '(', ')')]
        elif token.text in ('__attribute__', '__attribute'):
            yield from filter(None, split_at(head[at + 3:matching(head, at + 1, '(', ')') - 2], ','))


def _read_size(tokens, exact):
    """Returns the value of an expression; None if it is no constant."""
    if not tokens:
        return None
    last = tokens[-1]
    cursor = Cursor(tokens + [Token('end', '', last.file, last.line, last.column)])
    tree = parse_expr(cursor)
    return evaluate_exact(exact((tree, spell_tokens(tokens)))) if cursor.token.kind == 'end' else None


def _read_bound(heads, exact, ask):
    """Returns the largest block that the last __launch_bounds__ allows; 0 if there is no such attribute, or if only
    nvcc can evaluate it."""
    bound = None
    for token, *inside in (attribute for head in heads for attribute in _find_attributes(head)):
        if token.text.strip('_') == 'launch_bounds':
            tokens = split_at(inside[1:-1], ',')[0]
            try:
                bound = _read_size(tokens, exact)
            except TokenError:
                bound = None
            if bound is None and tokens:
                bound = ask(spell_tokens(tokens))
    return bound if bound and 1 <= bound < MAX_BLOCK else 0


def _check_block(clauses, block, bound):
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
    if bound and threads > bound:
        raise TokenError(clauses.block[0][0].token if clauses.block else clauses.token,
                         f'{"the block" if clauses.block else "a block without block(...)"} has {threads} threads, and '
                         f'the kernel has __launch_bounds__({bound}); write a smaller block or a larger bound')
