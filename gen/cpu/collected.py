"""Finds the arrays of integers to which the threads of a kernel only add, such as the counts of a histogram.

No thread reads such an array before the launch ends. So each CPU thread may add to sums of its own, which are added to
the array at the end."""

from cpu.loops import is_behind_condition
from cpu.sharedmem import find_changed
from tokens.brackets import matching

_ADD = 'atomicAdd'
_TYPES = {('int',), ('uint',), ('unsigned',), ('unsigned', 'int'), ('int32_t',), ('uint32_t',),
          ('unsigned', 'long', 'long'), ('unsigned', 'long', 'long', 'int')}
_QUALIFIERS = {'const', '__restrict__', '__restrict'}


def find_sums(kernels, declarations):
    """Returns the positions of the parameters that are arrays to which a kernel only adds integers. `kernels`: the
    declarations of one kernel, of which one has a body."""
    kernel = next(d for d in kernels if d.body is not None)
    body = kernel.body
    if any(d.name == _ADD for d in declarations) or len({len(d.parameters) for d in kernels}) > 1:
        return ()
    places = {}
    for at, token in enumerate(body):
        places.setdefault(token.text, []).append(at)
    if _ADD not in places:
        return ()
    changed = {find_changed(body, at) for at in list_adds(body)}
    found = []
    for number, parameter in enumerate(kernel.parameters):
        used = places.get(parameter[-1].text)
        if used and changed.issuperset(used) and all(_is_array(d.parameters[number]) for d in kernels):
            found.append(number)
    return tuple(found)


def edit_parameters(kernel, numbers):
    """Yields the edits (token, text) that turn a kernel's parameters at the positions `numbers` into collected sums."""
    for number in numbers:
        tokens = kernel.parameters[number]
        star = next(at for at, t in enumerate(tokens) if t.text == '*')
        yield tokens[0], f'cf__collected<{tokens[0].text}'
        yield tokens[star], '>'
        yield from ((t, '') for t in tokens[star + 1:-1])


def adds(tokens):
    """True if the tokens contain the name of an atomic function that adds to memory."""
    return any(t.text == _ADD for t in tokens)


def _is_array(parameter):
    texts = [t.text for t in parameter]
    return '*' in texts and tuple(texts[:texts.index('*')]) in _TYPES and parameter[-1].kind == 'identifier' and \
        _QUALIFIERS.issuperset(texts[texts.index('*') + 1:-1])


def list_adds(body):
    """Yields the places of the calls of atomicAdd() that are statements, so that nothing uses the value of the call."""
    depth = 0       # number of open parentheses and subscripts
    for at, token in enumerate(body):
        if token.kind == 'punctuation':
            depth += (token.text in '([') - (token.text in ')]')
        if token.text != _ADD or depth or body[at + 1].text != '(':
            continue
        before = body[at - 1].text if at else '{'
        end = matching(body, at + 1, '(', ')')
        if body[end].text == ';' and (before in (';', '{', '}', 'else', 'do') or
                                      before == ')' and is_behind_condition(body, at - 1)):
            yield at
