"""Finds steps in which lanes of a warp read what other lanes write, without a barrier in between.

Only the usual forms count: s[i] += s[i + 16]; s[i] += s[i + 8]; or such a step in a loop that halves or doubles its
distance, where i comes from threadIdx and s is __shared__ or volatile. A barrier between two such steps is not enough:
within the second, some lanes write what others read, unless the lanes that write are fewer than the distance."""

import bisect
import re

from cpu.collective import find_reached
from tokens.brackets import matching

_BARRIER = re.compile(r'\w*(?:sync|wait|arrive|barrier)\w*', re.IGNORECASE)
# Changes of a distance in a loop: halving and doubling.
_CHANGES = {'>>', '>>=', '<<', '<<=', '/=', '*=', '/2', '*2'}
_ADVICE = ('reads what another lane writes in this step or the one before; GPUs since Volta do not promise lockstep, '
           'and the CPU has none: make each step a read, __syncwarp(), the write, __syncwarp()')
_UPDATES = {'+', '-', '*', '/', '|', '&', '^'}    # before =
_EXITS = {'return', 'break', 'continue', 'goto'}


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
        self._lanes = {'threadIdx'} | ({t.text for t in head[declaration.function + 1:] if t.kind == 'identifier'}
                                       if _volatile_pointers(head) else set())
        self._scaled = {'*'}    # lanes whose indices may have gaps; the sign itself in an index
        for _, statement, _, _ in self._walk():
            texts = [t.text for t in statement]
            if '__shared__' in texts:
                self._shared |= {a.text for a, b in zip(statement, statement[1:])
                                 if b.text == '[' and a.kind == 'identifier'}
            places = [at for at, text in enumerate(texts) if text == '=' and at > 0]
            for place, end in zip(places, [*places[1:], len(texts)]):
                name = texts[place - 1 - (place > 1 and texts[place - 1] in _UPDATES)]
                value = set(texts[place:end])
                if self._lanes & value and name.isidentifier():
                    self._lanes.add(name)
                    if {'<', '/'} & value or self._scaled & value:
                        self._scaled.add(name)
                if '*' in texts[:place] and self._shared & value and '[' not in texts:
                    self._shared.add(name)

    def find(self):
        """Returns the first step, as (array, its outer indices, index that is read); None if there is none."""
        last, is_ordered, steps = None, False, []
        for end, statement, heads, is_after_exit in self._walk():
            is_ordered = is_ordered or self._is_barrier(statement)
            step = self._read_step(statement)
            if not step:
                continue
            overlaps = not is_after_exit and self._overlaps(step, heads, statement)
            if last and step[0].text == last[0].text and _is_nearer(last[3], step[3]) and (
                    overlaps or not is_ordered):
                return step[:3]
            last, is_ordered = step, False
            steps.append((end, step, overlaps))
        return self._find_in_loops(steps) if steps else None

    def _find_in_loops(self, steps):
        """Looks for a loop whose first step, one of `steps`, changes its distance."""
        places = [end for end, _, _ in steps]
        for at, token in enumerate(self._body):
            if token.text not in ('for', 'while') or at + 1 == len(self._body):
                continue
            begin = matching(self._body, at + 1, '(', ')')
            number = bisect.bisect_right(places, begin)
            if number == len(steps):
                break
            is_block = begin < len(self._body) and self._body[begin].text == '{'
            end = matching(self._body, begin, '{', '}') if is_block else next(
                (i for i in range(begin, len(self._body)) if self._body[i].text == ';'), len(self._body))
            _, step, overlaps = steps[number]
            if places[number] > end:
                continue
            header, body = [t.text for t in self._body[at:begin]], self._body[begin:end]
            changing = header if token.text == 'for' else [t.text for t in body]
            if {a + b for a, b in zip(changing, changing[1:])} & _CHANGES and {t.text for t in step[3]} & set(header) \
                    and (overlaps or not self._is_barrier(body)):
                return step[:3]
        return None

    def _walk(self):
        """Yields each statement as (index of its end, tokens, heads of the blocks around it, True behind an exit of
        some lanes). A statement includes conditions without braces; the list of heads changes."""
        begin, heads, is_after_exit = 0, [], False
        for at, token in enumerate([*self._body, None]):
            if token and token.text not in (';', '{', '}'):
                continue
            part = self._body[begin:at]
            if part:
                yield at, part, heads, is_after_exit
            if token and token.text == '{':
                heads.append(part)
            elif token and token.text == '}' and heads:
                heads.pop()
            elif _EXITS & {t.text for t in part}:
                is_after_exit = is_after_exit or any(self._lanes & {t.text for t in head} for head in (*heads, part))
            begin = at + 1

    def _overlaps(self, step, heads, statement):
        """True if lanes that run a step, under the conditions around it, write elements that others read in it."""
        _, _, read, distance = step
        at = _end_of_head(statement)
        guards = [[t.text for t in guard] for guard in [*heads, statement[:at]]]
        if self._scaled & {t.text for t in read} or '?' in [t.text for t in statement[at:]]:
            return False
        return all(
            _is_wider(guard, [t.text for t in read[:-len(distance)]], [t.text for t in distance])
            for guard in guards if self._lanes & set(guard) or 'else' in guard)

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
            is_written = following[:1] == ['='] or following[1:] == ['='] and following[0] in _UPDATES
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


def _end_of_head(statement):
    """Returns the index behind the condition before a statement without braces: of an if, or the end of a for's."""
    depth = 0
    for at, token in enumerate(statement):
        depth += (token.text == '(') - (token.text == ')')
        if at == 1 and statement[0].text == 'else' and token.text != 'if':
            return 1
        if depth < 0 or depth == 0 and token.text == ')' and statement[0].text in ('if', 'else', 'while'):
            return at + 1
    return 0


def _is_wider(guard, index, distance):
    """True if a condition on lanes lets through more of them than the distance of a step: i < 32 for i + 16, or i >= 1
    for i - 2. `guard`: texts of an if."""
    if guard[:2] != ['if', '('] or guard[2:-3] != index:
        return False
    relation, bound = guard[-3:-1]
    if distance[0] == '-':
        return relation in ('>', '>=')
    # In a loop, the distance is 1 in some round.
    least = int(distance[1]) if distance[1].isdigit() else 1
    return relation in ('<', '<=') and bound.isdigit() and int(bound) + (relation == '<=') > least


def _is_nearer(first, second):
    """True if the second step reads an element that the first one wrote for another lane: sums of distances that grow,
    such as 32 and 64, read others."""
    texts = [t.text for t in first], [t.text for t in second]
    if not all(len(t) == 2 and t[1].isdigit() for t in texts) or texts[0][0] != texts[1][0]:
        return False
    return texts[0][0] != '+' or int(texts[1][1]) < int(texts[0][1])
