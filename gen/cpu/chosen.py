"""Replaces a choice between two objects of a class by a choice between their values.

    MD larger = a.m > b.m ? a : b;      MD larger = cf__choose<MD>(a.m > b.m ? true : false, a, b);

Compilers would choose between the addresses of the objects, and could not keep their members in registers."""

from cpu.names import FLOAT_VECTORS, IN_FRONT, VECTORS
from declare.classdecl import split_members


def find_choices(declaration, classes):
    """Yields the edits of the choices in a function, or in all functions of a class, as (token, (text before it, text
    in its place, text after it)). `classes`: names of the file's classes."""
    body = declaration.body
    if declaration.is_class and body is not None and not declaration.has('enum'):
        for _, _, member in split_members(body):
            yield from find_choices(member, classes)
    if declaration.function is None or body is None or all(t.text != '?' for t in body) or any(
            t.text == 'decltype' for t in body):
        return
    types = _read_types([*declaration.head, *body], classes | VECTORS | FLOAT_VECTORS)
    head = [t.text for t in declaration.head]
    result = head[declaration.function - 1] if '->' not in head and not _has_lambda(body) else None
    for at, token in enumerate(body):
        texts = [t.text for t in body[at:at + 5]]
        if texts[0] != '?' or texts[2:5:2] != [':', ';'] or body[at - 1].text == '?':
            continue
        kind = types.get(texts[1])
        begin = _find_begin(body, at)
        if kind is None or types.get(texts[3]) != kind or begin is None or \
                kind != (result if body[begin].text == 'return' else types.get(body[begin - 1].text)):
            continue
        yield body[begin], ('', body[begin].text, f' cf__choose<{kind}>(')
        yield token, ('', '? true : false,', '')
        yield body[at + 2], ('', ',', '')
        yield body[at + 3], ('', texts[3], ')')


def _read_types(tokens, classes):
    """Returns a map from the name of each variable to its class, or to None if the tokens may declare the name with
    another type, too."""
    found = {}
    for at, token in enumerate(tokens):
        before = [t.text for t in tokens[max(0, at - 3):at]]
        if token.kind != 'identifier' or not before or at + 1 >= len(tokens):
            continue
        is_reference = before[-1] == '&' and len(before) > 1
        kind = before[-2] if is_reference else before[-1]
        is_plain = kind in classes and before[-2 - is_reference:-1 - is_reference] != ['::']
        if is_plain and tokens[at + 1].text in (',', ';', '=', ')', '{'):
            found[token.text] = kind if found.get(token.text, kind) == kind else None
        elif tokens[at - 1].kind == 'identifier' and before[-1] not in IN_FRONT or \
                before[-1] in ('*', '>', '&', ',') and tokens[at + 1].text in ('=', ';'):
            found[token.text] = None        # another type, or an expression in the form of a declaration
    return found


def _find_begin(body, at):
    """Returns the place of the `=` or the `return` before the condition that ends at `at`; None if the condition is not
    the beginning of a value."""
    depth = 0
    while at > 0:
        at -= 1
        text = body[at].text
        depth += (text in (')', ']')) - (text in ('(', '['))
        if depth < 0 or text in (';', '{', '}', '?', ':') or depth == 0 and text == ',':
            return None
        if depth == 0 and text in ('=', 'return'):
            is_value = at > 1 and body[at - 1].kind == 'identifier' and body[at - 2].text not in ('&', '&&')
            return at if text == 'return' or is_value else None
    return None


def _has_lambda(body):
    return any(t.text == ']' and after.text in ('(', '{') for t, after in zip(body, body[1:]))
