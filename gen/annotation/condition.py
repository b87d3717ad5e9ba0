"""Reads the conditions of check(...): over scalars, over every element of an array, or over the order of its
elements."""

import re

from base.model import Check
from expr.compile import compile_expr, reads_real
from tokens.lexer import TokenError

_CHECKED = ('i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64')


def read_condition(item, names, params):
    """Reads one condition of check(...) for one instance."""
    tree, text = item
    # Callers of the C function do not know the template's names.
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
    token, lower, lower_open, upper, upper_open = bounds
    return Check(text, array=_find_checked(token, names, params),
                 lower=compile_expr(lower, lower.text, names) if lower else None, lower_open=lower_open,
                 upper=compile_expr(upper, upper.text, names) if upper else None, upper_open=upper_open)


def _find_checked(token, names, params):
    """Returns the number of the array at a token whose elements are checked."""
    array = names.find_number(token, token.text)
    ctype = params[array].type
    if params[array].direction not in ('CF_IN', 'CF_INOUT'):
        raise TokenError(token, f'{token.text} is not declared by in(...) or inout(...), so its elements cannot be '
                                'checked')
    if ctype.kind != 'integer' or ctype.short not in _CHECKED:
        raise TokenError(token, f'{token.text} has {ctype.cxx} elements; those of integer arrays can be checked')
    return array


def _find_bounds(node):
    """Returns (array token, lower, lower open, upper, upper open) if the tree bounds every element of an array, else
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
    return (terms[at].token, *bounds['lower'], *bounds['upper'])
