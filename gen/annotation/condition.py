"""Reads the conditions of check(...): over scalars, over every element of an array, or over the order of its
elements."""

import re

from base.model import Check
from expr.compile import compile_expr, reads_real
from tokens.lexer import TokenError

_CHECKED = ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64')


def read_condition(item, names, params, is_aligned):
    """Reads one condition of check(...) for one instance. `is_aligned(type, path)`: a member is aligned in every
    element of an array."""
    tree, text = item
    # In the text, values replace the names of the template, which callers of the C function do not know.
    values = {n: t.c for n, t in names.types.items()}
    values.update({n: str(v) if v >= 0 else f'({v})' for n, v in names.constants.items()})
    text = re.sub(r'(?<![\w.:])[A-Za-z_]\w*(?!\w|::)', lambda m: values.get(m.group(), m.group()), text)
    if tree.kind == 'ORDER':
        token, order = tree.parts[0], tree.token.text
        array = _find_checked(token, names, params)
        if order == 'ascending' and len(params[array].dims) > 1:
            raise TokenError(token, f'{token.text} has {len(params[array].dims)} dimensions; elements ascend in '
                                    'arrays of one')
        return Check(text, array=array, order=order)
    bounds = _find_bounds(tree)
    if bounds is None:
        is_real = reads_real(tree, names)
        return Check(text, condition=compile_expr(tree, text, names, is_real), is_real=is_real)
    node, lower, lower_open, upper, upper_open = bounds
    array, member, member_type = _find_member(node, names, params)
    if member and not is_aligned(params[array].type, member):
        name = f'{node.token.text}[:].{member}'
        raise TokenError(node.token, f'{name} is misaligned in some elements, as in a packed struct, so it cannot be '
                                     f'checked; align it, or pass {member.split(".")[-1]} as an array of its own')
    return Check(text, array=array, member=member, member_type=member_type,
                 lower=compile_expr(lower, lower.text, names) if lower else None, lower_open=lower_open,
                 upper=compile_expr(upper, upper.text, names) if upper else None, upper_open=upper_open)


def _find_checked(token, names, params):
    """Returns the parameter number of the array at a token, whose elements the condition checks."""
    array = _find_input(token, names, params)
    ctype = params[array].type
    if not _is_checked(ctype):
        raise TokenError(token, f'{token.text} has {ctype.cxx} elements; those of integer arrays can be checked')
    return array


def _find_member(node, names, params):
    """Returns the parameter number of the array whose elements are bounded, and the path and type of the bounded
    member; '' and None if the elements themselves are bounded."""
    token, (path, indices) = node.token, node.parts
    if not path:
        array = _find_input(token, names, params)
        ctype = params[array].type
        if ctype.kind in ('struct', 'vector'):
            raise TokenError(token, f'{token.text} has {ctype.cxx} elements; write {token.text}[:].'
                                    f'{next(iter(ctype.members or ("x",)))} to check one of their members')
        return _find_checked(token, names, params), '', None
    array = _find_input(token, names, params)
    path, ctype = names.find_checked_member(token, array, path, indices)
    if ctype is None or ctype.kind == 'integer' and not ctype.c:
        raise TokenError(token, f'the type of {token.text}[:].{path} cannot be told here; declare each type on the '
                                'way by itself and with a name')
    if ctype.kind == 'array':
        raise TokenError(token, f'{token.text}[:].{path} is an array; write {token.text}[:].{path}[0]')
    if not _is_checked(ctype):
        raise TokenError(token, f'{token.text}[:].{path} is {ctype.cxx}; integers can be checked')
    return array, path, ctype


def _find_input(token, names, params):
    array = names.find_number(token, token.text)
    if params[array].direction not in ('CF_IN', 'CF_INOUT'):
        raise TokenError(token, f'{token.text} is not declared by in(...) or inout(...), so its elements cannot be '
                                'checked')
    return array


def _is_checked(ctype):
    return ctype.kind == 'integer' and ctype.short in _CHECKED


def _find_bounds(node):
    """Returns (array's node, lower, lower open, upper, upper open) if the tree bounds every element of an array, else
    None. Bounds are trees or None."""
    if node.kind != 'CHAIN' or not any(t.kind == 'ELEMENTS' for t in node.parts[0]):
        return None
    terms, relations = node.parts
    if len([t for t in terms if t.kind == 'ELEMENTS']) > 1 or len(terms) > 3:
        raise TokenError(node.token, 'a check bounds one array: write check(lower <= a[:] < upper)')
    at = next(i for i, t in enumerate(terms) if t.kind == 'ELEMENTS')
    if len(terms) == 3 and at != 1:
        raise TokenError(terms[at].token, 'the array stands between its bounds: write check(lower <= a[:] < upper)')
    bounds = {'lower': (None, False), 'upper': (None, False)}
    for i, relation in enumerate(relations):
        if relation.text in ('==', '!='):
            raise TokenError(relation, 'elements are bounded by <, <=, > and >=')
        other = terms[i] if i + 1 == at else terms[i + 1]
        # The term on the smaller side of the relation, if it is not the array, is a lower bound.
        small = terms[i] if relation.text in ('<', '<=') else terms[i + 1]
        which = 'lower' if small is other else 'upper'
        if bounds[which][0] is not None:
            raise TokenError(relation, f'two {which} bounds for one array')
        bounds[which] = (other, relation.text in ('<', '>'))
    return (terms[at], *bounds['lower'], *bounds['upper'])
