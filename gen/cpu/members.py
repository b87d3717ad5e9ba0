"""Finds the functions of a class that only host code can call, and leaves them out of the class."""

import functools

from declare.classdecl import split_members


@functools.lru_cache(maxsize=None)
def host_members(declaration):
    """Returns (first index, index after) of each function in a class's body that only host code can call."""
    body = declaration.body
    if not declaration.is_class or declaration.has('enum') or not any(t.text == '(' for t in body):
        return ()
    return tuple(_find_members(body, 0))


def device_tokens(declaration):
    """Yields the tokens of a declaration, without a class's functions that only host code can call."""
    yield from declaration.head
    yield from body_tokens(declaration)
    yield from declaration.tail


def body_tokens(declaration):
    """Returns the tokens of a declaration's body, without a class's functions that only host code can call."""
    body, found = declaration.body or (), host_members(declaration)
    if not found:
        return body
    return [t for (_, at), (end, _) in zip([(0, 0), *found], [*found, (len(body), 0)]) for t in body[at:end]]


def _find_members(body, offset):
    """Yields (first index, index after) of each function in a class, or in a class within it, that only host code can
    call. `offset`: number that is added to both indices."""
    for first, end, member in split_members(body):
        if member.function is not None:
            if not member.is_on_device and (member.body is not None or not _is_given(member)):
                yield offset + first, offset + end
        elif member.is_class:
            yield from _find_members(member.body, offset + first + len(member.head) + 1)


def _is_given(member):
    """True for a member function that is defaulted, deleted or pure virtual."""
    return [t.text for t in member.head[-2:]] in (['=', 'default'], ['=', 'delete'], ['=', '0'])


def mark_definitions(declarations):
    """Sets `is_on_device` of functions that are declared with __device__ and defined without it, since nvcc takes these
    for device functions."""
    known = {(d.scope, d.name, list_parameters(d)) for d in declarations
             if d.function is not None and d.body is None and d.has('__device__')}
    for declaration in declarations:
        if declaration.function is None or declaration.body is None or declaration.is_on_device:
            continue
        front = [t.text for t in declaration.head[:declaration.function]]
        parameters = list_parameters(declaration)
        if front[-1:] == ['::']:
            owners = [d for d in declarations if d.is_class and front[-2] in d.names]
            declaration.is_on_device = any(_declares_on_device(d.body, declaration.name, parameters) for d in owners)
        else:
            declaration.is_on_device = (declaration.scope, declaration.name, parameters) in known


def list_parameters(function):
    """Returns the type of each parameter of a function as the source spells it."""
    types = []
    for parameter in function.parameters:
        texts = [t.text for t in parameter]
        texts = texts[:texts.index('=')] if '=' in texts else texts
        is_named = len(texts) > 1 and parameter[len(texts) - 1].kind == 'identifier'
        types.append(tuple(texts[:-1] if is_named else texts))
    return tuple(types)


def _declares_on_device(body, name, parameters):
    """True if a class declares a member function with this name and these parameters with __device__."""
    return any(member.function is not None and member.name == name and member.has('__device__') and
               list_parameters(member) == parameters for _, _, member in split_members(body))
