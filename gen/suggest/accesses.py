"""Records the elements of array parameters that a kernel's expressions access."""

from dataclasses import dataclass
from typing import List

from declare.statements import assigned, end_of_name
from expr.plain import spell_tree
from suggest.ranges import has_single_steps, is_index, larger, split_dimensions
from suggest.sums import constant, replace_factors, Sum
from suggest.terms import is_step, parameter_names, template_names
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
    function. `changed`: the names that the present function assigns."""

    def __init__(self, values, conditions, walk_block):
        self._values, self._conditions, self._walk_block = values, conditions, walk_block
        self._ranges, self._extents, self.changed = values.ranges, {}, set()

    def extent(self, array):
        """Returns the Extent of an array parameter; None if its accesses are not understood."""
        return None if array in self._values.unknown else self._extents.get(array)

    def least(self, array):
        """Returns the number of elements that the understood accesses to an array reach; None if there are none."""
        return self._extents[array].elements if array in self._extents else None

    def note_all(self, tokens, names, facts, depth):
        """Records the accesses to arrays in an expression."""
        for splitter in ('?', '&&', '||'):
            parts = split_at(tokens, splitter)
            if len(parts) > 1 and all(parts):
                head, rest = parts[0], tokens[len(parts[0]) + 1:]
                equals = split_at(head, '=')
                condition = equals[-1]
                (self.note_condition if len(equals) == 1 else self.note_all)(head, names, facts, depth)
                more = self._conditions.learn(condition, names, splitter != '||', facts)
                self._conditions.note_guards(more, facts)
                if splitter == '?':
                    yes, *no = split_at(rest, ':')
                    self.note_all(yes, names, facts + more, depth)
                    less = self._conditions.learn(condition, names, False, facts) if no else []
                    self._conditions.note_guards(less, facts)
                    for part in no:
                        self.note_all(part, names, facts + less, depth)
                else:
                    self.note_condition(rest, names, facts + more, depth)
                return
        at = 0
        while at < len(tokens):
            at = self._access(tokens, at, names, facts, depth)

    def note_condition(self, tokens, names, facts, depth):
        """Records the accesses in a condition. A pointer alone is compared with nullptr."""
        plain = tokens[1:] if tokens[:1] and tokens[0].text == '!' else tokens
        if len(plain) != 1 or not isinstance(names.get(plain[0].text), Pointer):
            self.note_all(tokens, names, facts, depth)

    def _access(self, tokens, at, names, facts, depth):
        """Records the access that begins at a token, and returns the index after it."""
        token = tokens[at]
        is_first = at == 0 or _is_unary(tokens[at - 1])
        if token.text == '*' and token.kind == 'punctuation' and is_first:
            found = self._values.primary(tokens, at + 1, names)
            if found and [t.text for t in tokens[found[1]:found[1] + 1]] not in (['['], ['.'], ['->']):
                self.note_offset(tokens[at + 1:found[1]], names, facts, depth)
                self._note(found[0], constant(0), facts)
                if is_step(tokens, found[1]):
                    self._values.unknown.add(found[0].array)
                return found[1]
            return at + 1
        if token.text == '[' and is_first and token.kind == 'punctuation':
            return self._lambda(tokens, at, names, facts, depth)
        found = self._values.primary(tokens, at, names) if is_first else None
        if found:
            return self._element(tokens, at, *found, names, facts, depth)
        if token.text in ('(', '[', '{') and token.kind == 'punctuation':
            end = matching(tokens, at, token.text, {'(': ')', '[': ']', '{': '}'}[token.text])
            for part in split_at(tokens[at + 1:end - 1], ','):
                self.note_all(part, names, facts, depth)
            return end
        if token.kind != 'identifier' or (at and tokens[at - 1].text in ('.', '->')):
            return at + 1
        if isinstance(names.get(token.text), Pointer):      # `type *name` and the like are not understood
            return self._element(tokens, at, names.get(token.text), at + 1, names, facts, depth)
        behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
        end, given = end_of_name(tokens, at), []
        if end < len(tokens) and tokens[end].text == '<':
            closing = matching(tokens, end, '<', '>')
            if closing < len(tokens) and tokens[closing].text == '(':
                given, end = split_at(tokens[end + 1:closing - 1], ',', '([{<', ')]}>'), closing
        if end < len(tokens) and tokens[end].text == '(' and behind != '=':
            closing = matching(tokens, end, '(', ')')
            called = next((t.text for t in reversed(tokens[at:end_of_name(tokens, at)]) if t.kind == 'identifier'), '')
            if called in ('asm', '__asm__'):
                self.note_all(tokens[end + 1:closing - 1], names, facts, depth)
            elif called != 'sizeof':
                self._call(called, split_at(tokens[end + 1:closing - 1], ','), given, names, facts, depth)
            return closing
        return at + 1

    def lose_arrays(self, tokens, names):
        """Marks the arrays to which the pointers among the tokens point as not understood."""
        found = [names.get(t.text) for t in tokens if t.kind == 'identifier']
        self._values.unknown.update(p.array for p in found if isinstance(p, Pointer))

    def _lambda(self, tokens, at, names, facts, depth):
        """Records the accesses in the body of a lambda, which may run at any later time with any arguments."""
        begin = matching(tokens, at, '[', ']')
        opening = next((i for i in range(begin, len(tokens)) if tokens[i].text == '{'), len(tokens))
        end = matching(tokens, opening, '{', '}') if opening < len(tokens) else opening
        body, inner, used = tokens[opening + 1:end - 1], Names(names), set(self._ranges.used)
        if tokens[begin:begin + 1] and tokens[begin].text == '(':
            for part in split_at(tokens[begin + 1:matching(tokens, begin, '(', ')') - 1], ','):
                inner.update({t.text: None for t in part if t.kind == 'identifier'})
        for name in assigned(body):
            if isinstance(names.get(name), Pointer):
                self.lose_arrays(body, names)
            names.lose(name)
        inner.update({name: None for name in self.changed})
        is_paused, self._conditions.is_paused = self._conditions.is_paused, True
        self._walk_block(body, inner, facts, depth)
        self._conditions.is_paused = is_paused
        if self._ranges.used != used:       # only the caller's conditions tell which threads call the lambda
            self._ranges.used = used
            self.lose_arrays(body, names)
        return end

    def _element(self, tokens, at, pointer, end, names, facts, depth):
        """Records the access by a pointer that tokens[at:end] spell, and returns the index after it."""
        behind = tokens[end].text if end < len(tokens) else ''
        before = tokens[at - 1].text if at else ''
        self.note_offset(tokens[at:end], names, facts, depth)
        if behind == '[':
            closing = matching(tokens, end, '[', ']')
            inside = tokens[end + 1:closing - 1]
            self.note_all(inside, names, facts, depth)
            self._note(pointer, self._values.sum(inside, names), facts)
            if before == '&' and (at == 1 or _is_unary(tokens[at - 2])):
                self._values.unknown.add(pointer.array)
            return closing
        if behind == '->':
            self._note(pointer, constant(0), facts)
        elif behind not in ('==', '!=') and before not in ('==', '!=', '!'):    # no comparison with nullptr
            self._values.unknown.add(pointer.array)
        return end

    def _call(self, called, arguments, given, names, facts, depth):
        pointers = [self._values.pointer(a, names) for a in arguments]
        function = self._values.terms.function(called)
        if not any(pointers):
            for argument in arguments:
                self.note_all(argument, names, facts, depth)
            return
        params = parameter_names(function) if function else None
        words = {t.text for t in function.body} if function else {}
        constants = template_names(function.head) if function else []
        if 'goto' in words or constants and 'sizeof' in words:
            params = None
        is_one = called.startswith(_ONE_ELEMENT)
        can_follow = params is not None and len(params) == len(arguments) and depth < MAX_DEPTH
        inner = Names()
        inner.update({name: None for name in [*self._values.params, *constants]})
        for name, value in zip(constants, given):
            inner[name] = self._values.sum(value, names)
        for number, (argument, pointer) in enumerate(zip(arguments, pointers)):
            if pointer is None:
                self.note_all(argument, names, facts, depth)
                if can_follow and params[number]:
                    value = self._values.sum(argument, names)
                    inner[params[number]] = value if value is not None else self._values.add_variable(params[number])
                continue
            self.note_offset(argument, names, facts, depth)
            if can_follow and params[number] and number not in self._values.terms.changed_by(called):
                inner[params[number]] = pointer
            elif is_one and number == 0:
                self._note(pointer, constant(0), facts)
            else:
                self._values.unknown.add(pointer.array)
        if can_follow:
            outer, self.changed = self.changed, set(assigned(function.body))
            self._walk_block(function.body, inner, facts, depth + 1)
            self.changed = outer

    def note_offset(self, tokens, names, facts, depth):
        """Records the accesses in the offset of a pointer, such as x + index[i] or &x[index[i]]."""
        found = self._values.split(tokens, names)
        if found is None:
            return
        _, begin, end, rest = found
        self.note_all(rest, names, facts, depth)
        if tokens[begin].text == '(':
            inner = matching(tokens, begin, '(', ')')
            self.note_offset(tokens[begin + 1:inner - 1] if inner == end else tokens[inner:end], names, facts, depth)
        elif tokens[begin].text == '&':
            opening = next((i for i in range(end) if tokens[i].text == '[' and
                            matching(tokens, i, '[', ']') == end), end)
            self.note_offset(tokens[begin + 1:opening], names, facts, depth)
            self.note_all(tokens[opening + 1:end - 1], names, facts, depth)
        elif end - begin > 1:
            opening = matching(tokens, begin + 1, '<', '>')
            self.note_offset(tokens[opening + 1:end - 1], names, facts, depth)

    def _note(self, pointer, index, facts):
        """Adds the access to pointer[index] to the extent of an array."""
        array = pointer.array
        index = None if index is None or pointer.width is None else pointer.moved(index).offset
        if index is not None:
            self._conditions.note_access(index, facts)
            index = self._ranges.last_of(index, pointer.width, facts)
        if array in self._values.unknown:
            return
        used = set(self._ranges.used)
        is_inside = index is not None and self._ranges.is_natural(index, facts)
        top = self._ranges.greatest(index, facts) if is_inside else None
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
