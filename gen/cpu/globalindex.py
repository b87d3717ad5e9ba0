"""Reads the usual global index of a thread: block index * block size + thread index along one axis, in any order.

An operand may have a cast, or be a variable that holds only this operand. The block size may be the constant that the
kernel's annotation names."""

import re
from dataclasses import dataclass
from typing import FrozenSet

from tokens.brackets import is_update, matching

INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}
AXES = {'x': 0, 'y': 1, 'z': 2}
TYPES = {'bool', 'char', 'short', 'int', 'long', 'unsigned', 'signed', 'float', 'double', 'size_t', 'ptrdiff_t'} | {
    f'{u}int{n}_t' for u in ('', 'u') for n in (8, 16, 32, 64)}
# The words of types that can hold every global index.
WIDE = {'int', 'unsigned', 'signed', 'long', 'auto', 'const', 'size_t', 'ptrdiff_t', 'int32_t', 'uint32_t', 'int64_t',
        'uint64_t'}
_LONG = {'long', 'size_t', 'ptrdiff_t', 'int64_t', 'uint64_t'}
# The words after which a name is used and not declared.
_BEFORE_VALUES = {'return', 'else', 'case', 'and', 'or', 'not', 'sizeof', 'do'}
# The functions and keywords that do not change a variable in their parentheses.
_HARMLESS = {'min', 'max', 'if', 'while', 'for', 'switch', 'return', 'sizeof', 'int', 'float', 'double'}
_BINARY = ('+', '-', '*', '/', '%', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '|', '^', '&', '<<')
# The tokens after which a name is only read. They lack >>, because an operator >> of a class may write to it.
_BEFORE_READS = {*_BINARY, '!', '~', '=', '+=', '-=', '*=', '/=', '%=', '|=', '&=', '^=', '[', '(', ',', ';', '}'}
_AFTER_VALUES = [[text] for text in (*_BINARY, '>>', '?', ')', ']', ',', ';')]
_LITERAL = re.compile(r'(0[xX][\da-fA-F]+|[1-9]\d*)[uUlL]*')


@dataclass(frozen=True)
class Alias:
    """A variable whose only value is an index of its thread or block."""
    word: str                   # threadIdx, blockIdx or blockDim
    axis: str
    ctype: str                  # '' for unsigned int, the type of the index
    declared: FrozenSet[int]    # indices of the tokens in the declaration


@dataclass(frozen=True)
class _Factor:
    end: int                    # index of the token after the operand
    axis: str
    ctype: str                  # type of a cast or a variable; '' for unsigned int
    is_own: bool                # the operand is a variable; False for blockIdx.x and the like


@dataclass(frozen=True)
class Index:
    """A global index in the source."""
    end: int                    # index of the token after the global index
    axis: str
    ctype: str                  # type of the product; '' for unsigned int
    result: str = ''            # type of the sum if it differs from the product's type, else ''


def _value_of(text):
    """Returns the value of an integer literal; other text is returned unchanged."""
    found = _LITERAL.fullmatch(text)
    return int(found.group(1), 0) if found else text


class IndexReader:
    """Reads the global indices in a function's body. `blocks`: the block size along each axis: a number, the name of a
    constant, or ''."""

    def __init__(self, body, blocks=()):
        self._body = body
        self._blocks = dict(zip('xyz', (_value_of(b) for b in blocks)))
        self._aliases = {}
        self._ends = self._match()
        if body:
            self._find_aliases()
        # A variable of the kernel may hide the constant that gives the block size.
        for axis, size in list(self._blocks.items()):
            if isinstance(size, str) and any(self._is_declared(at) for at, t in enumerate(body) if t.text == size):
                del self._blocks[axis]
        # Results of _read_size() by axis, and of _read_product(); the keys are indices of first tokens.
        self._sizes, self._products = {axis: {} for axis in AXES}, {}

    def _match(self):
        """Returns a map from the index of each opening parenthesis to the index after the closing one."""
        opened, ends = [], {}
        for at, token in enumerate(self._body):
            if token.text == '(':
                opened.append(at)
            elif token.text == ')' and opened:
                ends[opened.pop()] = at + 1
        return ends

    def _text_at(self, at):
        return self._body[at].text if 0 <= at < len(self._body) else ''

    # ---- Variables

    def _is_declared(self, at):
        """True if the name at `at` may be declared there, since a word or the end of a type precedes it."""
        before = self._text_at(at - 1)
        return (at > 0 and self._body[at - 1].kind == 'identifier' and before not in _BEFORE_VALUES or
                before in ('*', '&', '&&') and self._text_at(at - 2) in WIDE | TYPES)

    def _find_aliases(self):
        found, again, depth, outer = {}, set(), 0, self._text_at(0) == '{'
        for at, token in enumerate(self._body):
            depth += (token.text in ('{', '(')) - (token.text in ('}', ')'))
            # In an inner block, the same name may mean another variable.
            if depth == outer and token.text in WIDE and (at == 0 or self._text_at(at - 1) in (';', '{', '}')):
                for name, alias in self._read_aliases(at):
                    again |= found.keys() & {name}
                    found[name] = alias
        self._aliases = {name: alias for name, alias in found.items()
                         if name not in again and self._keeps_value(name, alias)}

    def _read_aliases(self, at):
        """Yields each Alias in a statement that begins with a wide type: const int i = threadIdx.x, j = ...;"""
        words = []
        while self._text_at(at) in WIDE:
            words.append(self._text_at(at))
            at += 1
        ctype = ' '.join(w for w in words if w != 'const')
        while ctype and self._text_at(at + 1) == '=':
            cast = self._read_cast(at + 2)
            cast = cast if cast and set(cast[1].split()) <= WIDE - {'auto'} else (at + 2, '', False)
            component = next(filter(None, (self._read_component(cast[0], word)
                                           for word in ('threadIdx', 'blockIdx', 'blockDim'))), None)
            is_closed = component and (not cast[2] or self._text_at(component[0]) == ')')
            end = component[0] + cast[2] if is_closed else 0
            if is_closed and self._text_at(end) in (',', ';'):
                own = ctype if ctype != 'auto' else cast[1]
                yield self._text_at(at), Alias(self._text_at(component[0] - 3), component[1], own,
                                               frozenset(range(at, end)))
            at += 2
            while self._text_at(at) not in ('', ',', ';'):
                closing = {'(': ')', '[': ']', '{': '}'}.get(self._text_at(at))
                at = matching(self._body, at, self._text_at(at), closing) if closing else at + 1
            if self._text_at(at) != ',':
                return
            at += 1

    def _keeps_value(self, name, alias):
        """True if a variable is declared once and all other uses only read it: they stand beside arithmetic operators,
        or in the parentheses of functions and keywords that change nothing."""
        for at, token in enumerate(self._body):
            if token.text != name or at in alias.declared or self._text_at(at - 1) in ('.', '->'):
                continue
            before, after = self._text_at(at - 1), [t.text for t in self._body[at + 1:at + 3]]
            if self._is_declared(at) or after[:1] not in _AFTER_VALUES or is_update(after) or \
                    before not in _BEFORE_READS or before in ('+', '-') and self._text_at(at - 2) == before:
                return False
            if before == '&' and not (self._body[at - 2].kind in ('identifier', 'number') or
                                      self._text_at(at - 2) in (')', ']')):
                return False
            # A reference may change the variable. After > or before a bracket, the name may be declared again.
            if before == '=' and self._text_at(at - 3) in ('&', '&&') or before == '>' and after[0] in (';', ',') or \
                    before == ',' and after[0] in (';', ']') or before == '[' and after[0] == ',':
                return False
            if before in ('(', ',') and after[0] in (',', ')') and not self._is_harmless(at):
                return False
        return True

    def _is_harmless(self, at):
        """True if the parentheses around the operand at `at` follow a word in _HARMLESS."""
        depth = 0
        while at >= 0:
            depth += (self._text_at(at) in (')', ']', '}')) - (self._text_at(at) in ('(', '[', '{'))
            if depth < 0:
                break
            at -= 1
        return self._text_at(at) == '(' and self._text_at(at - 1) in _HARMLESS

    # ---- Indices

    def _read_component(self, at, name):
        """Returns (index after, axis) of a component of the variable `name` at `at`, such as blockIdx.x; None for
        others."""
        if self._text_at(at) == name and self._text_at(at + 1) == '.' and self._text_at(at + 2) in AXES:
            return at + 3, self._text_at(at + 2)
        return None

    def _read_cast(self, at):
        """Returns (index after, text of the type, True if a parenthesis closes after the operand) of the cast at
        `at`."""
        if self._text_at(at) == '(':
            end = self._ends.get(at, len(self._body))
            inside = self._body[at + 1:end - 1]
        elif self._text_at(at) == 'static_cast' and self._text_at(at + 1) == '<':
            end = matching(self._body, at + 1, '<', '>')
            inside = self._body[at + 2:end - 1]
            if self._text_at(end) != '(':
                return None
        else:
            return None
        if not inside or not all(t.kind == 'identifier' or t.text == '::' for t in inside) or \
                INDICES.union(self._aliases).intersection(t.text for t in inside):
            return None
        is_closed = self._text_at(at) != '('
        return end + is_closed, ' '.join(t.text for t in inside), is_closed

    def _read_factor(self, at, name):
        """Returns the _Factor of blockIdx.x or the like, perhaps with a cast, or of a variable with this value."""
        cast = self._read_cast(at)
        begin = cast[0] if cast else at
        found, alias = self._read_component(begin, name), self._aliases.get(self._text_at(begin))
        if found:
            end, axis = found
        elif alias and alias.word == name and begin > max(alias.declared):
            end, axis = begin + 1, alias.axis
        else:
            return None
        if cast and cast[2]:
            if self._text_at(end) != ')':
                return None
            end += 1
        ctype = cast[1] if cast else alias.ctype if alias else ''
        return _Factor(end, axis, ctype, not found)

    def _read_nested(self, found, at, read):
        """Returns the result of `read` for the index `at`, which is computed at most once. `found`: maps an index to
        its result; nested parentheses are read from the inside."""
        end = at
        while end not in found and self._text_at(end) == '(':
            end += 1
        for begin in range(end, at - 1, -1):
            if begin not in found:
                found[begin] = read(begin)
        return found[at]

    def _read_size(self, at, axis):
        """Returns the _Factor of the block size along an axis that begins at `at`; None for others."""
        return self._read_nested(self._sizes[axis], at, lambda begin: self._find_size(begin, axis))

    def _find_size(self, at, axis):
        found = self._read_factor(at, 'blockDim')
        if found:
            return found if found.axis == axis else None
        token = self._body[at] if at < len(self._body) else None
        if token is not None and token.kind in ('number', 'identifier') and \
                _value_of(token.text) == self._blocks.get(axis, ''):
            return _Factor(at + 1, axis, '', True)
        if self._text_at(at) == '(':
            inside = self._sizes[axis][at + 1]
            if inside and self._text_at(inside.end) == ')':
                return _Factor(inside.end + 1, axis, inside.ctype, inside.is_own)
        return None

    def _read_product(self, at):
        """Returns (index after, axis, factors) of a product of block index and block size, in either order; None for
        others."""
        return self._read_nested(self._products, at, self._find_product)

    def _find_product(self, at):
        if self._text_at(at) == '(' and self._read_cast(at) is None:
            inside = self._products[at + 1]
            if inside and self._text_at(inside[0]) == ')':
                return (inside[0] + 1, *inside[1:])
        block = self._read_factor(at, 'blockIdx')
        if block:
            size = self._text_at(block.end) == '*' and self._read_size(block.end + 1, block.axis)
            return (size.end, block.axis, [block, size]) if size else None
        for axis in AXES:
            size = self._read_size(at, axis)
            block = size and self._text_at(size.end) == '*' and self._read_factor(size.end + 1, 'blockIdx')
            if block and block.axis == axis:
                return block.end, axis, [block, size]
        return None

    def index(self, at):
        """Returns the Index that begins at `at`, in either order of its summands; None if there is none. Its type is
        that of a cast of the block index or the block size. With several casts or variables, `ctype` is the type of the
        product and `result` the type of the sum."""
        product = self._read_product(at)
        if product:
            thread = self._text_at(product[0]) == '+' and self._read_factor(product[0] + 1, 'threadIdx')
            first, end = at, thread.end if thread else 0
        else:
            thread = self._read_factor(at, 'threadIdx')
            first = thread.end + 1 if thread and self._text_at(thread.end) == '+' else 0
            product = first and self._read_product(first)
            end = product[0] if product else 0
        if not product or not thread or thread.axis != product[1]:
            return None
        factors = [*product[2], thread]
        types = [f.ctype for f in factors]
        if not any(f.is_own for f in factors) and not thread.ctype and not (types[0] and types[1]):
            return Index(end, thread.axis, types[0] or types[1])
        if not all(set(ctype.split()) <= WIDE - {'auto'} for ctype in types):
            return None
        # A wide type of the thread index alone makes the sum wide; the product has a narrow type.
        if _LONG.intersection(types[2].split()) and not _LONG.intersection(' '.join(types[:2]).split()):
            return None
        return Index(end, thread.axis, self._spell_type(first, product[0]), self._spell_type(at, end))

    def _spell_type(self, begin, end):
        """Returns the type of an expression as text without names of variables, since the text may stand before their
        declarations."""
        texts = []
        for at in range(begin, end):
            alias = self._aliases.get(self._text_at(at)) if self._text_at(at - 1) != '.' else None
            texts.append(f'({alias.ctype or "unsigned"})0' if alias else self._text_at(at))
        return f"decltype({' '.join(texts)})"
