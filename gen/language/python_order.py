"""The part of a generated module, of Python or of Cython, that brings arguments into the order of C. It follows the
imports there."""

import functools

# ---- The order of arguments


def _in_order(names, results):
    """Decorates a function whose results stand before other arguments: arguments by position are in the order of C, all
    of them or all but the results."""
    def decorate(function):
        @functools.wraps(function)
        def call(*values, **named):
            free = [name for name in names if name not in named]
            others = [name for name in free if name not in results]
            taken = free if len(values) == len(free) else others
            if len(values) != len(taken):
                raise TypeError(f'{call.__name__} takes {", ".join(free)}, or without results {", ".join(others)}; '
                                f'{len(values)} arguments are given by position')
            return function(**{**dict.fromkeys(results), **dict(zip(taken, values)), **named})
        return call
    return decorate
