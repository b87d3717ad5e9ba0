"""Reads the values of a kernel's expressions: sums over parameters and variables, and pointers into arrays."""

from expr.cxxtypes import builtin
from expr.plain import spell_tree
from suggest.ranges import AXES, Range
from suggest.sums import constant, factor, read_sum, replace_factors
from suggest.terms import CASTS, is_type, named
from tokens.brackets import matching, split_at


class Pointer:
    """A pointer to an element of an array parameter. `width`: the number of these elements that it points to, as after
    a cast; None if it is unknown."""

    def __init__(self, array, offset, width=1):
        self.array, self.offset, self.width = array, offset, width

    def moved(self, index):
        """Returns the pointer to another element."""
        return Pointer(self.array, self.offset + index * constant(self.width or 1), self.width)


class Names(dict):
    """Maps the names of a block and of the blocks around it to values; None hides an outer name. A name of an outer
    block that this block changes has no known value after this block."""

    def __init__(self, outer=None):
        super().__init__()
        self._outer = outer

    def get(self, name, default=None):
        return next((block[name] for block in self._blocks() if dict.__contains__(block, name)), default)

    def lose(self, name):
        """Marks the value of a name as unknown from here on, in the block that has the name, too."""
        for block in self._blocks():
            if dict.__contains__(block, name):
                block[name] = None

    def __contains__(self, name):
        return any(dict.__contains__(block, name) for block in self._blocks())

    def _blocks(self):
        block = self
        while block is not None:
            yield block
            block = block._outer


class Values:
    """The values of one kernel. `elements`: maps the names of its arrays to the words of their types; `constants`: the
    names of its template parameters. `unknown`: arrays whose accesses are not understood."""

    def __init__(self, terms, ranges, kernel):
        self.terms, self.ranges = terms, ranges
        self.elements = {p.token.text: p.words for p in kernel.params if p.pointer}
        self.constants = {p.name for p in kernel.template}
        self.params = [p.token.text for p in kernel.params]
        self.unknown = set()
        self._count = 0

    def add_variable(self, name, value=None):
        self._count += 1
        text = f'{name}#{self._count}'
        self.ranges.variables[text] = Range(value)
        return named(text)

    def block(self, axis):
        return self.ranges.size.block.get(axis) or named(f'blockDim.{axis}')

    def axis_index(self, axis):
        return named(f'blockIdx.{axis}') * self.block(axis) + named(f'threadIdx.{axis}')

    def is_axis(self, value):
        """True for the index of a thread along an axis."""
        plain = self.ranges.expand(value)
        return any((plain - self.axis_index(axis)).value is not None for axis in AXES)

    def sum(self, tokens, names):
        """Returns the sum of an expression, over parameters and variables."""
        total = self.terms.sum(tokens)
        if total is None:
            return None

        def rename(tree):
            if tree.kind in ('NAME', 'MEMBER'):
                text = spell_tree(tree)
                size = self.ranges.size.replace(text)
                if size is not None:
                    return size
                found = names.get(text)
                if found is None and not text.startswith(('threadIdx.', 'blockIdx.', 'blockDim.', 'gridDim.')):
                    root = names.get(tree.parts[0])
                    if '[' in text or '(' in text or '->' in text or root is None and tree.parts[0] in names:
                        return self.add_variable('value')      # the tree is an element, or the result of a call
                    if tree.kind == 'MEMBER' and root is not None and str(root) != tree.parts[0]:
                        return self.add_variable('value')
                return found if not isinstance(found, Pointer) else self.add_variable('pointer')
            if tree.kind in ('NUMBER', 'SIZEOF', 'IS_INTEGRAL'):
                return None
            if tree.kind == 'CHAIN':
                terms = [replace_factors(read_sum(part), rename).tree() for part in tree.parts[0]]
                return factor(type(tree)('CHAIN', tree.token, terms, tree.parts[1]))
            parts = [replace_factors(read_sum(part), rename).tree() for part in tree.parts]
            return read_sum(type(tree)(tree.kind, tree.token, *parts))
        return replace_factors(total, rename)

    def pointer(self, tokens, names):
        """Returns the Pointer for x, x + i, &x[i], or a cast of one of them; None for other expressions."""
        found = self.split(tokens, names)
        if found is None:
            return None
        pointer, _, _, rest = found
        offset = self.sum(rest, names) if rest else constant(0)
        return pointer.moved(offset) if offset is not None else self._lose(pointer)

    def split(self, tokens, names):
        """Returns (Pointer, index of the first token that spells it, index after these, other tokens) if an expression
        is the sum of a pointer and an offset; else None."""
        depth = 0
        for at, token in enumerate(tokens):
            if depth == 0 and (at == 0 or tokens[at - 1].text == '+'):
                found = self.primary(tokens, at, names)
                if found:
                    pointer, end = found
                    rest = tokens[:max(at - 1, 0)] + tokens[end:]
                    rest = rest[1:] if at == 0 and rest[:1] and rest[0].text == '+' else rest
                    is_sum = end == len(tokens) or tokens[end].text in ('+', '-')
                    return (pointer, at, end, rest) if is_sum and not any(
                        len(split_at(rest, c)) > 1 for c in ('?', ',', '=', '<', '>', '&', '|', '!')) else None
            depth += (token.text in ('(', '[', '{')) - (token.text in (')', ']', '}'))
        return None

    def primary(self, tokens, at, names):
        """Returns (Pointer, index after it) for a pointer's name, a cast of a pointer, a pointer in parentheses, or the
        address of an element, that begins at a token; None for others."""
        text = tokens[at].text if at < len(tokens) else ''
        if text == '(' and tokens[at].kind == 'punctuation':
            end = matching(tokens, at, '(', ')')
            inside = tokens[at + 1:end - 1]
            if is_type(inside) and inside[-1].text in ('*', '__restrict__'):
                found = self.primary(tokens, end, names)
                return found and (self._cast(found[0], inside), found[1])
            pointer = self.pointer(inside, names) if inside else None
            return pointer and (pointer, end)
        if text == '&':
            found = self.primary(tokens, at + 1, names)
            if found and [t.text for t in tokens[found[1]:found[1] + 1]] == ['[']:
                end = matching(tokens, found[1], '[', ']')
                index = self.sum(tokens[found[1] + 1:end - 1], names)
                if [t.text for t in tokens[end:end + 1]] not in (['['], ['.'], ['->']):
                    return found[0].moved(index) if index is not None else self._lose(found[0]), end
            return None
        if text in CASTS and [t.text for t in tokens[at + 1:at + 2]] == ['<']:
            opening = matching(tokens, at + 1, '<', '>')
            end = matching(tokens, opening, '(', ')')
            pointer = self.pointer(tokens[opening + 1:end - 1], names)
            return pointer and (self._cast(pointer, tokens[at + 2:opening - 1]), end)
        found = names.get(text) if tokens[at:] and tokens[at].kind == 'identifier' else None
        is_member = at and tokens[at - 1].text in ('.', '->', '::')
        return (found, at + 1) if isinstance(found, Pointer) and not is_member else None

    def _cast(self, pointer, tokens):
        """Returns a pointer to another type, whose elements are whole numbers of the array's elements."""
        words = [t.text for t in tokens if t.text not in ('const', 'volatile', '__restrict__', '*')]
        own, other = self.elements[pointer.array], builtin(words)
        is_one = [t.text for t in tokens].count('*') == 1
        one = builtin(own)
        width = 1 if words == own else other.bytes // one.bytes if (
            one and other and one.bytes and other.bytes % one.bytes == 0) else None
        return Pointer(pointer.array, pointer.offset, width or None if is_one else None)

    def _lose(self, pointer):
        self.unknown.add(pointer.array)
        return Pointer(pointer.array, self.add_variable('lost'))
