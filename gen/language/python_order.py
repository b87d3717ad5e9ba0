"""The part of a generated Python or Cython module that puts arguments into the order of C. It follows the imports
there."""

import functools

# ---- The order of arguments


def _in_order(names, results):
    """Decorates a function in whose C form results stand before other arguments. Arguments passed by position are in
    C's order, either all of them or all without the results."""
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
