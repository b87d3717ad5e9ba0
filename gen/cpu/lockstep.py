"""Finds steps in which lanes of a warp read what other lanes have written, without a barrier in between.

Only the usual forms count: s[i] += s[i + 16]; s[i] += s[i + 8]; or such a step in a loop that halves or doubles its
distance, where i comes from threadIdx and s is __shared__ or volatile."""

import re

from cpu.collective import find_reached
from tokens.brackets import matching

_BARRIER = re.compile(r'\w*(?:sync|wait|arrive|barrier)\w*', re.IGNORECASE)
# Changes of a distance in a loop: halving and doubling.
_CHANGES = {'>>', '>>=', '<<', '<<=', '/=', '*=', '/2', '*2'}
_ADVICE = ('reads what another lane wrote in the step before; GPUs since Volta do not promise lockstep, and the CPU '
           'has none: write __syncwarp() between the steps')


def find_lockstep(kernel, everything):
    """Yields (token, message) for each such step in a kernel or a function that it calls, one per function."""
    shared = {name for d in everything if d.has('__shared__') for name in d.names}
    functions = {d.name for d in everything if d.function is not None}
    for declaration in find_reached(kernel, everything):
        if declaration.function is not None and declaration.body:
            step = _Function(declaration, shared, functions).find()
            if step:
                rows = ''.join(t.text for t in step[1])
                yield step[0], f'{step[0].text}{rows}[{" ".join(t.text for t in step[2])}] {_ADVICE}'


class _Function:
    def __init__(self, declaration, shared, functions):
        self._body, self._functions = declaration.body, functions
        head = declaration.head
        self._shared = shared | _volatile_pointers(head) | _volatile_pointers(self._body)
        # In a function for volatile memory, every parameter may be a lane.
        self._lanes = {'threadIdx'} | ({t.text for t in head[declaration.function + 1:]} if _volatile_pointers(head)
                                       else set())
        for statement in _statements(self._body):
            texts = [t.text for t in statement]
            if '__shared__' in texts:
                self._shared |= {a.text for a, b in zip(statement, statement[1:])
                                 if b.text == '[' and a.kind == 'identifier'}
            if '=' in texts and texts.index('=') > 0:
                name, value = texts[texts.index('=') - 1], set(texts[texts.index('='):])
                if self._lanes & value:
                    self._lanes.add(name)
                if '*' in texts[:texts.index('=')] and self._shared & value and '[' not in texts:
                    self._shared.add(name)

    def find(self):
        """Returns the first step, as (array, its outer indices, index that is read); None if there is none."""
        last = None
        for statement in _statements(self._body):
            if self._is_barrier(statement):
                last = None
            step = self._read_step(statement)
            if step and last and step[0].text == last[0].text and _is_nearer(last[3], step[3]):
                return step[:3]
            last = step or last
        return self._find_in_loops()

    def _find_in_loops(self):
        for at, token in enumerate(self._body):
            if token.text not in ('for', 'while') or at + 1 == len(self._body):
                continue
            begin = matching(self._body, at + 1, '(', ')')
            header = [t.text for t in self._body[at:begin]]
            is_block = begin < len(self._body) and self._body[begin].text == '{'
            end = matching(self._body, begin, '{', '}') if is_block else next(
                (i for i in range(begin, len(self._body)) if self._body[i].text == ';'), len(self._body))
            body = self._body[begin:end]
            changing = header if token.text == 'for' else [t.text for t in body]
            changes = {a + b for a, b in zip(changing, changing[1:])} & _CHANGES
            step = next(filter(None, map(self._read_step, _statements(body))), None)
            if changes and step and not self._is_barrier(body) and {t.text for t in step[3]} & set(header):
                return step[:3]
        return None

    def _is_barrier(self, tokens):
        return any(t.kind == 'identifier' and (_BARRIER.fullmatch(t.text) or
                                               t.text in self._functions and after.text == '(')
                   for t, after in zip(tokens, [*tokens[1:], tokens[-1]]))

    def _read_step(self, statement):
        """Returns (array, tokens of its outer indices, index, distance with its sign) if a statement writes s[i] and
        reads s[i + distance]; the outer indices of a matrix are the same."""
        accesses = []
        for at, token in enumerate(statement[:-1]):
            if token.text in self._shared and statement[at + 1].text == '[' and \
                    (at == 0 or statement[at - 1].text not in ('.', '->')):
                begin, end = at + 1, matching(statement, at + 1, '[', ']')
                while [t.text for t in statement[end:end + 1]] == ['[']:
                    begin, end = end, matching(statement, end, '[', ']')
                accesses.append((token, statement[at + 1:begin], statement[begin + 1:end - 1], statement[end:end + 2]))
        for array, rows, index, after in accesses:
            texts, following = [t.text for t in index], [t.text for t in after]
            is_written = following[:1] == ['='] or following in (['+', '='], ['*', '='], ['|', '='], ['&', '='])
            if not is_written or not self._lanes & set(texts):
                continue
            for other, others, read, _ in accesses:
                distance = read[len(index):]
                if (other.text == array.text and [t.text for t in others] == [t.text for t in rows] and
                        [t.text for t in read[:len(index)]] == texts and distance and distance[0].text in '+-^'):
                    return other, others, read, distance
        return None


def _volatile_pointers(tokens):
    """Returns names of pointers to volatile memory, and of volatile arrays."""
    found = set()
    for at, token in enumerate(tokens):
        if token.text == 'volatile':
            end = next((i for i in range(at, len(tokens)) if tokens[i].text in ('=', ';', ',', ')', '[')), len(tokens))
            if end < len(tokens) and ('*' in [t.text for t in tokens[at:end]] or tokens[end].text == '['):
                found.add(tokens[end - 1].text)
    return found


def _statements(body):
    """Yields the tokens between semicolons and braces."""
    begin = 0
    for at, token in enumerate(body):
        if token.text in (';', '{', '}'):
            if at > begin:
                yield body[begin:at]
            begin = at + 1
    if begin < len(body):
        yield body[begin:]


def _is_nearer(first, second):
    """True if the second step reads an element that the first one wrote for another lane: sums of distances that grow,
    such as 32 and 64, read others."""
    texts = [t.text for t in first], [t.text for t in second]
    if not all(len(t) == 2 and t[1].isdigit() for t in texts) or texts[0][0] != texts[1][0]:
        return False
    return texts[0][0] != '+' or int(texts[1][1]) < int(texts[0][1])
