"""Checks the clause split(n): the kernel may process its elements all at once or in parts, with the same result."""

from tokens.lexer import TokenError


def check_split(token, params, checks, zeros):
    """Returns the number of the parameter that split(...) names at `token`, after checking that arrays can be split by
    it."""
    name = token.text
    number = next(i for i, p in enumerate(params) if p.name == name)
    if not params[number].type.integer:
        raise TokenError(token, f'{name} is {params[number].type.cxx}; split takes the integer that counts elements')
    parts = [p for p in params if p.dims and p.dims[0].extent.tree == ('PARAM', number)]
    if not any(p.direction != 'CF_SCRATCH' for p in parts):
        raise TokenError(token, f'no array has {name} elements or rows, as in in(x[{name}]); split({name}) would take '
                                'none apart')
    for param in params:
        if param.direction == 'CF_SCRATCH':
            continue
        own = param.dims[1:] if param in parts else param.dims
        if any(_reads_param(e, number) for d in own for e in (d.extent, d.lower, d.pitch)):
            raise TokenError(token, f'{name} stands in the section of {param.name} otherwise than as its outermost '
                                    f'extent alone; split({name}) takes {param.name}[{name}], or rows, as '
                                    f'{param.name}[{name}][2], and arrays that it does not stand in')
        if param.direction == 'CF_OUT' and param not in parts:
            raise TokenError(token, f'{param.name} is out(...), all of which each part would write; write inout where '
                                    'they add to it')
        if param in parts and any(d.lower or d.pitch for d in param.dims):
            raise TokenError(token, f'{param.name} has a section or a pitch; split takes arrays whose elements lie '
                                    'side by side, from the first on')
    moving = next((c for c in checks if c.array is not None and
                   (_reads_param(c.lower, number) or _reads_param(c.upper, number))), None)
    if moving:
        raise TokenError(token, f'the range of {params[moving.array].name} reads {name}, and would be another one for '
                                'each part')
    written = next((params[z.array] for z in zeros if params[z.array].direction != 'CF_SCRATCH'), None)
    if written:
        raise TokenError(token, f'{written.name} is in zero(...), and would be cleared again for each part')
    return number


def _reads_param(expression, number):
    return expression is not None and any(operand == number if code == 'PARAM' else operand[0] == number
                                          for code, operand in expression.reads())
