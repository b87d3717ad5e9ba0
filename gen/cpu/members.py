"""Separates a class's member functions that only host code can call from the rest of the class."""

import functools

from declare.declarations import Declaration
from tokens.brackets import ATTRIBUTES, matching, split_at

_ACCESS = ('public', 'private', 'protected')


@functools.lru_cache(maxsize=None)
def host_members(declaration):
    """Returns the ranges of a class's body that are functions for host code alone: (first index, index after)."""
    body = declaration.body
    if not declaration.is_class or declaration.has('enum') or not any(t.text == '(' for t in body):
        return ()
    return tuple((first, end) for first, end, is_host in _find_members(body, 0, len(body)) if is_host)


def device_tokens(declaration):
    """Yields the tokens of a declaration without such functions."""
    yield from declaration.head
    yield from body_tokens(declaration)
    yield from declaration.tail


def body_tokens(declaration):
    """Returns the tokens between a declaration's braces without such functions."""
    body, found = declaration.body or (), host_members(declaration)
    if not found:
        return body
    return [t for (_, at), (end, _) in zip([(0, 0), *found], [*found, (len(body), 0)]) for t in body[at:end]]


def _find_members(body, at, limit):
    """Yields the members between two indices: (first index, index after, True if only host code can call it). Members
    of nested classes are yielded like those of the class."""
    first = at
    while at < limit:
        text = body[at].text if body[at].kind == 'punctuation' else ''
        if text in ('(', '['):
            at = matching(body, at, text, ')' if text == '(' else ']')
            continue
        if text == ':' and at == first + 1 and body[first].text in _ACCESS:
            first = at + 1
        elif text == '{':
            end = matching(body, at, '{', '}')
            member = Declaration(body[first:at] or [body[at]], (), True)
            if _is_function(member):
                if _is_initializer(body, first, at):
                    at = end
                    continue
                yield first, end, not member.is_on_device
                first = end
            else:
                member.body = body[at + 1:end - 1]
                if member.is_class:
                    yield from _find_members(body, at + 1, end - 1)
            at = end
            continue
        elif text == ';':
            if at > first:
                member = Declaration(body[first:at], (), True)
                yield first, at + 1, _is_function(member) and not member.is_on_device and not _is_given(member)
            first = at + 1
        at += 1


def _is_function(member):
    """True for functions, also for constructors, which have no type."""
    first, after = (member.head + member.head)[:2]
    is_constructor = first.kind == 'identifier' and after.text == '(' and first.text not in ATTRIBUTES
    return member.function is not None or is_constructor


def _is_initializer(body, first, at):
    """True if a brace opens the value of a member in a constructor."""
    before = body[at - 1]
    if before.kind != 'identifier' and before.text != '>':
        return False
    depth = 0
    for token, after in zip(body[first:at], body[first + 1:at]):
        depth += (token.text == '(') - (token.text == ')')
        if token.text == ')' and depth == 0 and after.text == ':':
            return True
    return False


def _is_given(member):
    """True for functions that the compiler defines, or that have no definition."""
    return [t.text for t in member.head[-2:]] in (['=', 'default'], ['=', 'delete'], ['=', '0'])


def mark_definitions(declarations):
    """Marks functions that are declared with __device__ and defined without it: for nvcc, they are device functions."""
    known = {(d.scope, d.name, _list_parameters(d.head, d.function)) for d in declarations
             if d.function is not None and d.body is None and d.has('__device__')}
    for declaration in declarations:
        if declaration.function is None or declaration.body is None or declaration.is_on_device:
            continue
        front = [t.text for t in declaration.head[:declaration.function]]
        parameters = _list_parameters(declaration.head, declaration.function)
        if front[-1:] == ['::']:
            owners = [d for d in declarations if d.is_class and front[-2] in d.names]
            declaration.is_on_device = any(_declares_on_device(d.body, declaration.name, parameters) for d in owners)
        else:
            declaration.is_on_device = (declaration.scope, declaration.name, parameters) in known


def _list_parameters(tokens, at):
    """Returns the types of a function's parameters as they are written; its name is at `at`."""
    types = []
    for parameter in split_at(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1], ','):
        texts = [t.text for t in parameter]
        texts = texts[:texts.index('=')] if '=' in texts else texts
        is_named = len(texts) > 1 and parameter[len(texts) - 1].kind == 'identifier'
        types.append(tuple(texts[:-1] if is_named else texts))
    return tuple(types)


def _declares_on_device(body, name, parameters):
    """True if a class declares such a member with __device__."""
    begin = 0
    for at, token in enumerate(body):
        if token.text in (';', '{', '}'):
            begin = at + 1
        elif token.text == name and body[at + 1:at + 2] and body[at + 1].text == '(':
            if '__device__' in [t.text for t in body[begin:at]] and _list_parameters(body, at) == parameters:
                return True
    return False
