"""Records the elements of array parameters that a kernel's expressions access."""

from dataclasses import dataclass
from typing import List

from declare.statements import end_of_name
from expr.plain import spell_tree
from suggest.ranges import has_single_steps, is_index, larger, split_dimensions
from suggest.sums import constant, replace_factors, Sum
from suggest.terms import parameter_names
from suggest.values import Names, Pointer
from tokens.brackets import matching, split_at

MAX_DEPTH = 4           # most nested calls of device functions
# Prefixes of functions that access only the element to which their first argument points.
_ONE_ELEMENT = ('atomic', '__ldg', '__ldc', '__ldl', '__stc', '__stw')


@dataclass(eq=True)
class Extent:
    """The number of elements of an array, its dimensions, outermost first, and its pitches, innermost first."""
    elements: Sum
    dimensions: List[Sum]
    pitches: List[Sum]


class Accesses:
    """Records the accesses of one kernel. `walk_block(tokens, names, facts, depth)` walks over the body of a called
    function."""

    def __init__(self, values, conditions, walk_block):
        self._values, self._conditions, self._walk_block = values, conditions, walk_block
        self._ranges, self._extents = values.ranges, {}

    def extent(self, array):
        """Returns the Extent of an array parameter; None if its accesses are not understood."""
        return None if array in self._values.unknown else self._extents.get(array)

    def note_all(self, tokens, names, facts, depth):
        """Records the accesses to arrays in an expression."""
        for splitter in ('?', '&&', '||'):
            parts = split_at(tokens, splitter)
            if len(parts) > 1 and all(parts):
                head, rest = parts[0], tokens[len(parts[0]) + 1:]
                equals = split_at(head, '=')
                self.note_all(head, names, facts, depth)
                condition = equals[-1]
                more = self._conditions.learn(condition, names, splitter != '||')
                self._conditions.note_guards(more, facts)
                if splitter == '?':
                    yes, *no = split_at(rest, ':')
                    self.note_all(yes, names, facts + more, depth)
                    less = self._conditions.learn(condition, names, False) if no else []
                    self._conditions.note_guards(less, facts)
                    for part in no:
                        self.note_all(part, names, facts + less, depth)
                else:
                    self.note_all(rest, names, facts + more, depth)
                return
        at = 0
        while at < len(tokens):
            at = self._access(tokens, at, names, facts, depth)

    def _access(self, tokens, at, names, facts, depth):
        """Records the access that begins at a token, and returns the index after it."""
        token = tokens[at]
        if token.text == '*' and token.kind == 'punctuation' and (at == 0 or _is_unary(tokens[at - 1])):
            end = self._dereference(tokens, at, names, facts, depth)
            if end:
                return end
        if token.text in ('(', '[', '{') and token.kind == 'punctuation':
            end = matching(tokens, at, token.text, {'(': ')', '[': ']', '{': '}'}[token.text])
            is_base = [t.text for t in tokens[end:end + 1]] == ['[']
            pointer = self._values.pointer(tokens[at + 1:end - 1], names) if is_base else None
            if pointer is not None:
                return self._element(tokens, end - 1, pointer, names, facts, depth)
            for part in split_at(tokens[at + 1:end - 1], ','):
                self.note_all(part, names, facts, depth)
            return end
        if token.kind != 'identifier' or (at and tokens[at - 1].text in ('.', '->')):
            return at + 1
        found = names.get(token.text)
        behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
        if isinstance(found, Pointer):
            return self._element(tokens, at, found, names, facts, depth)
        end = end_of_name(tokens, at)
        if end < len(tokens) and tokens[end].text == '<':
            closing = matching(tokens, end, '<', '>')
            end = closing if closing < len(tokens) and tokens[closing].text == '(' else end
        if end < len(tokens) and tokens[end].text == '(' and behind != '=':
            closing = matching(tokens, end, '(', ')')
            called = next((t.text for t in reversed(tokens[at:end_of_name(tokens, at)]) if t.kind == 'identifier'), '')
            if called != 'sizeof':
                self._call(called, split_at(tokens[end + 1:closing - 1], ','), names, facts, depth)
            return closing
        return at + 1

    def _dereference(self, tokens, at, names, facts, depth):
        """Records the access *(x + i) or *x that begins at a token, and returns the index after it."""
        if at + 1 >= len(tokens):
            return None
        if tokens[at + 1].text == '(':
            end = matching(tokens, at + 1, '(', ')')
            pointer = self._values.pointer(tokens[at + 2:end - 1], names)
            if pointer is not None and (end == len(tokens) or tokens[end].text not in ('[', '.', '->')):
                self._note(pointer.array, pointer.offset, facts)
                return end
            return None
        pointer = names.get(tokens[at + 1].text)
        behind = [t.text for t in tokens[at + 2:at + 3]]
        if isinstance(pointer, Pointer) and behind not in (['['], ['.'], ['->']):
            self._note(pointer.array, pointer.offset, facts)
            if [t.text for t in tokens[at + 2:at + 4]] in (['+', '+'], ['-', '-']):
                self._values.unknown.add(pointer.array)
            return at + 2
        return None

    def _element(self, tokens, at, pointer, names, facts, depth):
        behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
        before = tokens[at - 1].text if at else ''
        if behind == '[':
            end = matching(tokens, at + 1, '[', ']')
            inside = tokens[at + 2:end - 1]
            self.note_all(inside, names, facts, depth)
            index = self._values.sum(inside, names)
            self._note(pointer.array, None if index is None else pointer.offset + index, facts)
            return end
        if behind == '->':
            self._note(pointer.array, pointer.offset, facts)
        elif behind in ('==', '!=') or before in ('==', '!=', '!') or len(tokens) == 1 or behind == '=':
            pass                # no access: the pointer is compared with nullptr, or assigned
        else:
            self._values.unknown.add(pointer.array)
        return at + 1

    def _call(self, called, arguments, names, facts, depth):
        pointers = [self._values.pointer(a, names) for a in arguments]
        function = self._values.terms.function(called)
        if not any(pointers):
            for argument in arguments:
                self.note_all(argument, names, facts, depth)
            return
        params = parameter_names(function) if function else None
        is_one = called.startswith(_ONE_ELEMENT)
        can_follow = params is not None and len(params) == len(arguments) and depth < MAX_DEPTH
        inner = Names()
        for number, (argument, pointer) in enumerate(zip(arguments, pointers)):
            if pointer is None:
                self.note_all(argument, names, facts, depth)
                if can_follow and params[number]:
                    value = self._values.sum(argument, names)
                    inner[params[number]] = value if value is not None else self._values.add_variable(params[number])
                continue
            self.note_offset(argument, names, facts, depth)
            if can_follow and params[number]:
                inner[params[number]] = pointer
            elif is_one and number == 0:
                self._note(pointer.array, pointer.offset, facts)
            elif not can_follow:
                self._values.unknown.add(pointer.array)
        if can_follow:
            self._walk_block(function.body, inner, facts, depth + 1)

    def note_offset(self, tokens, names, facts, depth):
        """Records the accesses in the offset of x + index[i] or &x[index[i]]."""
        for at, token in enumerate(tokens):
            if token.text == '[' and tokens[0].text == '&' and at == 2:
                self.note_all(tokens[3:-1], names, facts, depth)
                return
            found = names.get(token.text)
            if isinstance(found, Pointer) and tokens[at + 1:] and tokens[at + 1].text == '[' and tokens[0].text != '&':
                self._element(tokens, at, found, names, facts, depth)

    def _note(self, array, index, facts):
        """Adds an access to the extent of an array."""
        if index is not None:
            self._conditions.note_access(index, facts)
        if array in self._values.unknown:
            return
        used = set(self._ranges.used)
        top = None if index is None else self._ranges.greatest(index, facts)
        plain = top and self._without_offset(self._shaped(index, facts))
        wide = self._ranges.greatest(plain, facts, is_wide=True) if top and has_single_steps(plain) else None
        if top is None or any('Idx.' in t or 'Dim.' in t or '#' in t for t in top.factors):
            self._ranges.used = used        # an extent that stays unknown needs no check of whole blocks
            self._values.unknown.add(array)
            return
        extent = top + constant(1)
        wide = extent if wide is None else wide + constant(1)
        extent = larger(extent, wide) or extent
        groups, bounds = self._ranges.grouped(plain, facts)
        found = Extent(extent, *split_dimensions(
            groups, extent, lambda part: self._ranges.greatest(part, bounds, is_wide=True)))
        before = self._extents.get(array)
        most = larger(before.elements, extent) if before else extent
        if most is None:
            self._values.unknown.add(array)
        elif before is None or most != before.elements:
            self._extents[array] = found
        elif extent == before.elements and found != before:
            self._extents[array] = Extent(extent, [extent], [])

    def _shaped(self, index, facts):
        """Returns the index in which each variable that no fact bounds is replaced by its value."""
        for _ in range(20):
            values = {}
            for text in index.factors:
                variable = self._ranges.variables.get(text)
                if variable and variable.value is not None and not self._values.is_axis(variable.value) and not any(
                        text in value.factors for value, _ in facts):
                    values[text] = variable.value
            if not values:
                break
            index = replace_factors(index, lambda tree, values=values: values.get(spell_tree(tree)))
        return index

    def _without_offset(self, index):
        """Returns the index without the terms that are the same for all threads."""
        result = constant(0)
        for key, term in index.terms.items():
            if any(map(is_index, term[1])):
                result += Sum({key: term})
        return result


def _is_unary(token):
    return token.kind == 'punctuation' and token.text not in (')', ']') or token.text == 'return'
