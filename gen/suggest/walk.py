"""Walks over a kernel's statements and notes the elements that it accesses, with the guards and loops around them."""

from dataclasses import dataclass
from typing import List

from expr.cxxtypes import WORDS
from expr.plain import spell_tree
from suggest.ranges import AXES, has_single_steps, is_index, larger, Range, split_dimensions
from suggest.sums import constant, read_sum, replace_factors, Sum
from suggest.terms import end_of_name, named, parameter_names
from tokens.brackets import matching, split_at

MAX_DEPTH = 4           # nesting of device functions
_LEAVES = {'return', 'break', 'continue', 'goto'}
# Functions that access the one element that their first argument points to.
_ONE_ELEMENT = ('atomic', '__ldg', '__ldc', '__ldl', '__stc', '__stw')
_SPECIFIERS = {'const', 'static', 'volatile', 'register', 'constexpr', '__shared__', 'extern', 'unsigned', 'signed',
               '__restrict__', '__restrict', 'struct', 'typename', 'inline', 'long', 'short', 'alignas', '__device__'}
_NEGATED = {'<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '=='}
_MIRRORED = {'<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!='}


class Pointer:
    """A pointer to an element of an array parameter."""

    def __init__(self, array, offset):
        self.array, self.offset = array, offset


@dataclass(eq=True)
class Extent:
    """The number of elements, the dimensions, outermost first, and the pitches, innermost first."""
    elements: Sum
    dimensions: List[Sum]
    pitches: List[Sum]


class Walk:
    """`guards`: axis to the sum that bounds its index."""

    def __init__(self, terms, ranges, kernel):
        self._terms, self._ranges = terms, ranges
        self.guards = {}
        self._extents = {}
        self._unknown = set()
        self._count = 0
        names = {}
        for param in kernel.params:
            name = param.token.text
            names[name] = Pointer(name, constant(0)) if param.pointer else named(name)
        self._block(kernel.declaration.body, names, [], 0)

    def extent(self, array):
        """Returns the Extent of an array parameter; None if its accesses are not understood."""
        return None if array in self._unknown else self._extents.get(array)

    # ---- Statements

    def _block(self, tokens, names, facts, depth):
        """Walks over statements; returns True if they always leave the function or the turn of the loop."""
        names, facts, at, leaves = _Names(names), list(facts), 0, False
        while at < len(tokens):
            at, leaves = self._statement(tokens, at, names, facts, depth)
        return leaves

    def _statement(self, tokens, at, names, facts, depth):
        """Walks over one statement and returns the index after it, and True if it leaves."""
        text = tokens[at].text
        if text == '{':
            end = matching(tokens, at, '{', '}')
            leaves = self._block(tokens[at + 1:end - 1], names, facts, depth)
            self._forget(tokens[at:end], names)
            return end, leaves
        if text == 'if':
            return self._if(tokens, at, names, facts, depth)
        if text in ('for', 'while', 'switch'):
            return self._loop(tokens, at, names, facts, depth), False
        if text == 'do':
            end = _end_of_statement(tokens, at + 1)
            self._forget(tokens[at:end], names)
            self._block(tokens[at + 1:end], names, facts, depth)
            return _end_of_statement(tokens, end), False
        end = _end_of_statement(tokens, at)
        part = tokens[at:end]
        if text in ('case', 'default') and any(t.text == ':' for t in part):
            return at + next(i for i, t in enumerate(part) if t.text == ':') + 1, False
        self._simple([t for t in part if t.text != ';'], names, facts, depth)
        return end, text in _LEAVES

    def _if(self, tokens, at, names, facts, depth):
        opening = next((i for i in range(at, len(tokens)) if tokens[i].text == '('), len(tokens) - 1)
        begin = matching(tokens, opening, '(', ')')
        condition = tokens[opening + 1:begin - 1]
        self._accesses(condition, names, facts, depth)
        end = _end_of_statement(tokens, begin)
        yes, no = self._facts(condition, names, True), self._facts(condition, names, False)
        leaves = self._block(tokens[begin:end], names, facts + yes, depth)
        last, leaves_too = end, False
        if end < len(tokens) and tokens[end].text == 'else':
            last = _end_of_statement(tokens, end + 1)
            leaves_too = self._block(tokens[end + 1:last], names, facts + no, depth)
        self._forget(tokens[begin:last], names)
        if leaves and not leaves_too:
            facts += no
        elif leaves_too and not leaves:
            facts += yes
        return last, leaves and leaves_too

    def _loop(self, tokens, at, names, facts, depth):
        begin = matching(tokens, at + 1, '(', ')')
        header, end = tokens[at + 2:begin - 1], _end_of_statement(tokens, begin)
        inner, more = _Names(names), []
        if tokens[at].text == 'for':
            parts = split_at(header, ';')
            if len(parts) == 3:
                first, condition, step = parts
                self._simple(first, inner, facts, depth)
                starts = {n: inner.get(n) for n in _assigned(step)}
                self._forget(tokens[begin:end] + step, inner)
                for name, start in starts.items():
                    more += self._range_of_loop(name, start, step, inner)
                more = self._facts(condition, inner, True) + more
                self._note_stride_loops(starts, inner, more)
                self._accesses(condition, inner, facts + more, depth)
        else:
            self._forget(tokens[at:end], inner)
            self._accesses(header, inner, facts, depth)
            more = self._facts(header, inner, True) if tokens[at].text == 'while' else []
        self._block(tokens[begin:end], inner, facts + more, depth)
        self._forget(tokens[at:end], names)
        return end

    def _range_of_loop(self, name, start, step, names):
        """A counter that steps up begins with its smallest value; one that steps down, with its largest."""
        variable = names.get(name)
        if isinstance(start, Pointer) or isinstance(variable, Pointer) or start is None or variable is None:
            return []
        start = self._expanded(start)
        texts = [t.text for t in step]
        place = texts.index(name)
        is_down = texts[place + 1:place + 2] in (['-'], ['/']) or '>' in texts or '>=' in texts or texts[:1] == ['-']
        if is_down:
            self._ranges.variables[str(variable)].least = constant(0)
            return [(variable, start + constant(1))]
        self._ranges.variables[str(variable)].least = start if not self._ranges.has_index(start) else constant(0)
        return []

    def _forget(self, tokens, names):
        """Variables that these tokens assign have unknown values from here on."""
        for name in _assigned(tokens):
            if isinstance(names.get(name), Pointer):
                self._unknown.add(names.get(name).array)
            elif names.get(name) is not None:
                names.assign(name, self._variable(name))

    def _variable(self, name, value=None):
        self._count += 1
        text = f'{name}#{self._count}'
        self._ranges.variables[text] = Range(value)
        return named(text)

    def _simple(self, tokens, names, facts, depth):
        if not tokens:
            return
        begin = _begin_of_declarators(tokens)
        if begin is None:
            self._accesses(tokens, names, facts, depth)
            if tokens[0].kind == 'identifier' and len(tokens) > 2 and tokens[1].text == '=' and names.get(tokens[0].text):
                self._set(tokens[0].text, tokens[2:], names)
            elif tokens[0].kind == 'identifier' and [t.text for t in tokens[1:3]] == ['+', '='] and isinstance(
                    names.get(tokens[0].text), Pointer):
                pointer, offset = names.get(tokens[0].text), self._sum(tokens[3:], names)
                if offset is None:
                    self._unknown.add(pointer.array)
                else:
                    names.assign(tokens[0].text, Pointer(pointer.array, pointer.offset + offset))
            else:
                self._forget(tokens, names)
            return
        for part in split_at(tokens[begin:], ','):
            self._declare(part, names, facts, depth)

    def _declare(self, part, names, facts, depth):
        """Reads one declarator with its value."""
        stars = [t for t in part if t.text not in ('*', '&', 'const', '__restrict__', '__restrict')]
        if not stars or stars[0].kind != 'identifier':
            self._accesses(part, names, facts, depth)
            return
        name, rest = stars[0].text, stars[1:]
        value = part[part.index(rest[0]):] if rest else []
        names[name] = self._variable(name)
        if value and value[0].text in ('=', '(', '{'):
            value = value[1:] if value[0].text == '=' else value[1:-1]
            self._set(name, value, names, is_pointer=any(t.text == '*' for t in part[:part.index(stars[0])]))
            pointer = self._pointer(value, names)
            if pointer is None:
                self._accesses(value, names, facts, depth)
            else:
                self._accesses_of_pointer(value, names, facts, depth)
        elif value and value[0].text == '[':
            names[name] = None      # an array of the thread or of the block
            self._accesses(value, names, facts, depth)

    def _set(self, name, tokens, names, is_pointer=False):
        pointer = self._pointer(tokens, names)
        if pointer is not None:
            names.assign(name, pointer)
            return
        if is_pointer:
            names.assign(name, None)
            return
        old = names.get(name)
        if isinstance(old, Pointer):
            self._unknown.add(old.array)
        total = self._sum(tokens, names)
        if total is not None and total.product and len(total.product) == 1 and self._ranges.has_index(total):
            names.assign(name, total)       # another name of a variable or of threadIdx.x
            return
        variable = self._variable(name, total)
        self._ranges.variables[str(variable)].facts = self._facts(tokens, names, True)
        names.assign(name, variable)

    # ---- Conditions

    def _facts(self, condition, names, is_true):
        """Returns the facts that follow from a condition: (sum, limit), which means that the sum is less."""
        while condition and condition[0].text == '(' and matching(condition, 0, '(', ')') == len(condition):
            condition = condition[1:-1]
        if condition[:1] and condition[0].text == '!' and len(condition) > 1:
            return self._facts(condition[1:], names, not is_true) if condition[1].text == '(' or len(condition) == 2 else []
        for splitter, holds in (('||', False), ('&&', True)):
            parts = split_at(condition, splitter)
            if len(parts) > 1 and is_true and splitter == '||':     # a switch for cases that need no guard
                parts = [p for p in parts if len(p) > 1]
                return self._facts(parts[0], names, True) if len(parts) == 1 else []
            if len(parts) > 1:
                return [f for p in parts for f in self._facts(p, names, is_true)] if is_true == holds else []
        for text in _NEGATED:
            sides = split_at(condition, text)
            if len(sides) == 2 and all(sides):
                return self._relation(*sides, text if is_true else _NEGATED[text], names)
        if len(condition) == 1 and is_true and names.get(condition[0].text) is not None:
            variable = self._ranges.variables.get(str(names.get(condition[0].text)))
            return variable.facts if variable else []
        return []

    def _relation(self, left, right, relation, names):
        one, other = self._sum(left, names), self._sum(right, names)
        if one is None or other is None:
            return []
        facts = []
        for smaller, limit, text in ((one, other, relation), (other, one, _MIRRORED[relation])):
            if not self._ranges.has_index(smaller):
                continue
            if text in ('<', '<=', '!='):
                fact = smaller, limit + constant(1) if text == '<=' else limit
                if text != '!=' or not self._ranges.has_index(limit) and limit.value is None:
                    facts.append(fact)
                    self._note_guard(*fact)
            elif text == '==':
                facts.append((smaller, limit + constant(1)))
            if text == '!=' and limit.value == 0 and str(smaller) in self._ranges.variables:
                self._ranges.variables[str(smaller)].least = constant(1)
            elif text in ('>', '>=') and not self._ranges.has_index(limit):
                variable = self._ranges.variables.get(str(smaller))
                if variable:
                    variable.least = limit + constant(1) if text == '>' else limit
        return facts

    def _note_guard(self, value, limit):
        """A guard of a thread's own index tells the size of the grid."""
        if self._ranges.has_index(limit):
            return
        plain = self._expanded(value)
        for axis in AXES:
            rest = plain - self._axis_index(axis)
            if rest.value is not None:
                self.guards.setdefault(axis, limit - rest)

    def _note_stride_loops(self, starts, names, facts):
        """A loop that begins at a thread's own index guards like a condition."""
        for name, start in starts.items():
            if isinstance(start, Sum):
                for _, limit in [f for f in facts if f[0] == names.get(name)]:
                    self._note_guard(start, limit)

    def _is_axis(self, value):
        """True for the index of a thread along an axis."""
        plain = self._expanded(value)
        return any((plain - self._axis_index(axis)).value is not None for axis in AXES)

    def _axis_index(self, axis):
        block = self._ranges.size.block.get(axis) or named(f'blockDim.{axis}')
        return named(f'blockIdx.{axis}') * block + named(f'threadIdx.{axis}')

    def _expanded(self, total):
        """Returns the sum with variables replaced by their values."""
        for _ in range(20):
            values = {text: self._ranges.variables[text].value for text in total.factors
                      if text in self._ranges.variables and self._ranges.variables[text].value is not None}
            if not values:
                break
            total = replace_factors(total, lambda tree, values=values: values.get(spell_tree(tree)))
        return total

    # ---- Accesses

    def _accesses(self, tokens, names, facts, depth):
        """Notes the accesses in an expression."""
        for splitter in ('?', '&&', '||'):
            parts = split_at(tokens, splitter)
            if len(parts) > 1 and all(parts):
                head, rest = parts[0], tokens[len(parts[0]) + 1:]
                equals = split_at(head, '=')
                self._accesses(head, names, facts, depth)
                condition = equals[-1]
                more = self._facts(condition, names, splitter != '||')
                if splitter == '?':
                    yes, *no = split_at(rest, ':')
                    self._accesses(yes, names, facts + more, depth)
                    for part in no:
                        self._accesses(part, names, facts + self._facts(condition, names, False), depth)
                else:
                    self._accesses(rest, names, facts + more, depth)
                return
        at = 0
        while at < len(tokens):
            at = self._access(tokens, at, names, facts, depth)

    def _access(self, tokens, at, names, facts, depth):
        """Reads the access that begins at a token and returns the index after it."""
        token = tokens[at]
        if token.text == '*' and token.kind == 'punctuation' and (at == 0 or _is_unary(tokens[at - 1])):
            end = self._dereference(tokens, at, names, facts, depth)
            if end:
                return end
        if token.text in ('(', '[', '{') and token.kind == 'punctuation':
            end = matching(tokens, at, token.text, {'(': ')', '[': ']', '{': '}'}[token.text])
            pointer = self._pointer(tokens[at + 1:end - 1], names) if tokens[end:] and tokens[end].text == '[' else None
            if pointer is not None:
                return self._element(tokens, end - 1, pointer, names, facts, depth)
            for part in split_at(tokens[at + 1:end - 1], ','):
                self._accesses(part, names, facts, depth)
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
        """*(x + i), or *x"""
        if at + 1 >= len(tokens):
            return None
        if tokens[at + 1].text == '(':
            end = matching(tokens, at + 1, '(', ')')
            pointer = self._pointer(tokens[at + 2:end - 1], names)
            if pointer is not None and (end == len(tokens) or tokens[end].text not in ('[', '.', '->')):
                self._note(pointer.array, pointer.offset, facts)
                return end
            return None
        pointer = names.get(tokens[at + 1].text)
        behind = [t.text for t in tokens[at + 2:at + 3]]
        if isinstance(pointer, Pointer) and behind not in (['['], ['.'], ['->']):
            self._note(pointer.array, pointer.offset, facts)
            if [t.text for t in tokens[at + 2:at + 4]] in (['+', '+'], ['-', '-']):
                self._unknown.add(pointer.array)
            return at + 2
        return None

    def _element(self, tokens, at, pointer, names, facts, depth):
        behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
        before = tokens[at - 1].text if at else ''
        if behind == '[':
            end = matching(tokens, at + 1, '[', ']')
            inside = tokens[at + 2:end - 1]
            self._accesses(inside, names, facts, depth)
            index = self._sum(inside, names)
            self._note(pointer.array, None if index is None else pointer.offset + index, facts)
            return end
        if behind == '->':
            self._note(pointer.array, pointer.offset, facts)
        elif behind in ('==', '!=') or before in ('==', '!=', '!') or len(tokens) == 1 or behind == '=':
            pass                # a comparison with nullptr, or a new value of the pointer
        else:
            self._unknown.add(pointer.array)
        return at + 1

    def _call(self, called, arguments, names, facts, depth):
        pointers = [self._pointer(a, names) for a in arguments]
        function = self._terms.function(called)
        if not any(pointers):
            for argument in arguments:
                self._accesses(argument, names, facts, depth)
            return
        params = parameter_names(function) if function else None
        is_one = called.startswith(_ONE_ELEMENT)
        can_follow = params is not None and len(params) == len(arguments) and depth < MAX_DEPTH
        inner = _Names()
        for number, (argument, pointer) in enumerate(zip(arguments, pointers)):
            if pointer is None:
                self._accesses(argument, names, facts, depth)
                if can_follow and params[number]:
                    value = self._sum(argument, names)
                    inner[params[number]] = value if value is not None else self._variable(params[number])
                continue
            self._accesses_of_pointer(argument, names, facts, depth)
            if can_follow and params[number]:
                inner[params[number]] = pointer
            elif is_one and number == 0:
                self._note(pointer.array, pointer.offset, facts)
            elif not can_follow:
                self._unknown.add(pointer.array)
        if can_follow:
            self._block(function.body, inner, facts, depth + 1)

    def _accesses_of_pointer(self, tokens, names, facts, depth):
        """Notes the accesses in the offset of x + index[i] or &x[index[i]]."""
        for at, token in enumerate(tokens):
            if token.text == '[' and tokens[0].text == '&' and at == 2:
                self._accesses(tokens[3:-1], names, facts, depth)
                return
            found = names.get(token.text)
            if isinstance(found, Pointer) and tokens[at + 1:] and tokens[at + 1].text == '[' and tokens[0].text != '&':
                self._element(tokens, at, found, names, facts, depth)

    def _pointer(self, tokens, names):
        """Returns the pointer that x, x + i or &x[i] means; None for other expressions."""
        while tokens and tokens[0].text == '(' and matching(tokens, 0, '(', ')') == len(tokens):
            tokens = tokens[1:-1]
        if not tokens:
            return None
        if tokens[0].text == '&' and len(tokens) > 2:
            pointer = names.get(tokens[1].text)
            if isinstance(pointer, Pointer) and tokens[2].text == '[' and matching(tokens, 2, '[', ']') == len(tokens):
                offset = self._sum(tokens[3:-1], names)
                return Pointer(pointer.array, pointer.offset + offset) if offset is not None else self._lose(pointer)
            return None
        for at, token in enumerate(tokens):
            pointer = names.get(token.text)
            if not isinstance(pointer, Pointer):
                continue
            is_sum = (at == 0 or tokens[at - 1].text == '+') and (
                at + 1 == len(tokens) or tokens[at + 1].text in ('+', '-')) and all(
                    len(split_at(tokens, c)) == 1 for c in ('?', ',', '=', '<', '>', '==', '!='))
            if not is_sum:
                return None
            rest = tokens[:max(at - 1, 0)] + tokens[at + 1:]
            rest = rest[1:] if rest and rest[0].text == '+' and at == 0 else rest
            offset = self._sum(rest, names) if rest else constant(0)
            return Pointer(pointer.array, pointer.offset + offset) if offset is not None else self._lose(pointer)
        return None

    def _lose(self, pointer):
        self._unknown.add(pointer.array)
        return Pointer(pointer.array, self._variable('lost'))

    def _sum(self, tokens, names):
        """Returns the sum of an expression, over parameters and variables."""
        total = self._terms.sum(tokens)
        if total is None:
            return None

        def rename(tree):
            if tree.kind in ('NAME', 'MEMBER'):
                text = spell_tree(tree)
                size = self._ranges.size.replace(text)
                if size is not None:
                    return size
                found = names.get(text)
                if found is None and not text.startswith(('threadIdx.', 'blockIdx.', 'blockDim.', 'gridDim.')):
                    root = names.get(tree.parts[0])
                    if '[' in text or '(' in text or '->' in text or root is None and tree.parts[0] in names:
                        return self._variable('value')      # an element, or the result of a call
                    if tree.kind == 'MEMBER' and root is not None and str(root) != tree.parts[0]:
                        return self._variable('value')
                return found if not isinstance(found, Pointer) else self._variable('pointer')
            if tree.kind in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL', 'CHAIN'):
                return None
            parts = [replace_factors(read_sum(part), rename).tree() for part in tree.parts]
            return read_sum(type(tree)(tree.kind, tree.token, *parts))
        return replace_factors(total, rename)

    def _note(self, array, index, facts):
        """Adds an access to the extent of an array."""
        if array in self._unknown:
            return
        top = None if index is None else self._ranges.greatest(index, facts)
        plain = top and self._without_offset(self._shaped(index, facts))
        wide = self._ranges.greatest(plain, facts, is_wide=True) if top and has_single_steps(plain) else None
        if top is None or any('Idx.' in t or 'Dim.' in t or '#' in t for t in top.factors):
            self._unknown.add(array)
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
            self._unknown.add(array)
        elif before is None or most != before.elements:
            self._extents[array] = found
        elif extent == before.elements and found != before:
            self._extents[array] = Extent(extent, [extent], [])

    def _shaped(self, index, facts):
        """Returns the index with variables replaced by their values, unless a fact bounds them."""
        for _ in range(20):
            values = {}
            for text in index.factors:
                variable = self._ranges.variables.get(text)
                if variable and variable.value is not None and not self._is_axis(variable.value) and not any(
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


class _Names(dict):
    """Names of a block, and of the blocks around it. None hides a name."""

    def __init__(self, outer=None):
        super().__init__()
        self._outer = outer

    def get(self, name, default=None):
        return self[name] if dict.__contains__(self, name) else self._outer.get(name) if self._outer else default

    def __contains__(self, name):
        return dict.__contains__(self, name) or bool(self._outer) and name in self._outer

    def __bool__(self):
        return True

    def assign(self, name, value):
        """Sets a name where it is declared. A change in a block holds until the end of the block, which forgets it."""
        self[name] = value


def _is_unary(token):
    return token.kind == 'punctuation' and token.text not in (')', ']') or token.text == 'return'


def _end_of_statement(tokens, at):
    """Returns the index after a statement."""
    if at >= len(tokens):
        return at
    text = tokens[at].text
    if text == '{':
        return matching(tokens, at, '{', '}')
    if text in ('if', 'for', 'while', 'switch'):
        opening = next((i for i in range(at, len(tokens)) if tokens[i].text == '('), len(tokens) - 1)
        end = _end_of_statement(tokens, matching(tokens, opening, '(', ')'))
        if text == 'if' and end < len(tokens) and tokens[end].text == 'else':
            return _end_of_statement(tokens, end + 1)
        return end
    if text == 'do':
        return _end_of_statement(tokens, _end_of_statement(tokens, at + 1))
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == 'punctuation':
            depth += (token.text in ('(', '[', '{')) - (token.text in (')', ']', '}'))
            if token.text == ';' and depth <= 0:
                return at + 1
        at += 1
    return at


def _assigned(tokens):
    """Returns the names that tokens assign or step."""
    found = []
    for at, token in enumerate(tokens):
        if token.kind != 'identifier' or (at and tokens[at - 1].text in ('.', '->')):
            continue
        behind = [t.text for t in tokens[at + 1:at + 4]]
        before = [t.text for t in tokens[max(at - 2, 0):at]]
        if (behind[:1] == ['='] and not _is_declared(tokens, at) or behind[:2] in (['+', '+'], ['-', '-']) or
                before in (['+', '+'], ['-', '-']) or len(behind) > 1 and behind[0] in ('+', '-', '*', '/', '%', '&', '|', '^')
                and behind[1] == '=' or behind[:2] in (['<', '<='], ['>', '>='])):
            found.append(token.text)
    return found


def _is_declared(tokens, at):
    before = tokens[at - 1] if at else None
    return before is not None and (before.kind == 'identifier' and before.text not in ('else', 'do', 'return') or
                                   before.text in ('*', '&', '>'))


def _begin_of_declarators(tokens):
    """Returns the index of the first declarator if tokens are a declaration; else None."""
    at = 0
    while at < len(tokens) and tokens[at].text in _SPECIFIERS:
        at += 1
    has_type = at > 0 and any(t.text in WORDS for t in tokens[:at])
    if at < len(tokens) and tokens[at].kind == 'identifier' and not (has_type and tokens[at].text not in WORDS):
        if tokens[at].text in _LEAVES or tokens[at].text in ('delete', 'throw', 'asm', 'else'):
            return None
        end = end_of_name(tokens, at)
        if end < len(tokens) and tokens[end].text == '<':
            end = matching(tokens, end, '<', '>')
        while end < len(tokens) and tokens[end].text == '::' or end < len(tokens) and tokens[end - 1].text == '::':
            end += 1
        at = end
    elif not has_type:
        return None
    while at < len(tokens) and tokens[at].text in _SPECIFIERS | set(WORDS):
        at += 1
    begin = at
    while at < len(tokens) and tokens[at].text in ('*', '&', 'const', '__restrict__', '__restrict'):
        at += 1
    if at >= len(tokens) or tokens[at].kind != 'identifier':
        return None
    behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
    return begin if behind in ('', '=', ',', '[', '(', '{') else None
