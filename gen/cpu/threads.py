"""Evaluates expressions of GPU code for each thread of a block, if threadIdx and constants determine the value."""

from declare.statements import end_of_name
from expr.cxxtypes import WORDS
from tokens.brackets import is_update, matching, split_at
from tokens.lexer import integer_of

_QUALIFIERS = {'const', 'volatile', 'unsigned', 'signed', 'struct', 'typename', '*', '&', '__restrict__', '__restrict'}
LEVELS = {operator: level for level, operators in enumerate(
    ('||', '&&', '|', '^', '&', '== !=', '< > <= >=', '<< >>', '+ -', '* / %')) for operator in operators.split()}
_OPERATORS = {
    '|': lambda a, b: a | b, '^': lambda a, b: a ^ b, '&': lambda a, b: a & b, '+': lambda a, b: a + b,
    '-': lambda a, b: a - b, '*': lambda a, b: a * b, '==': lambda a, b: int(a == b), '!=': lambda a, b: int(a != b),
    '<': lambda a, b: int(a < b), '>': lambda a, b: int(a > b), '<=': lambda a, b: int(a <= b),
    '>=': lambda a, b: int(a >= b), '&&': lambda a, b: int(a != 0 and b != 0),
    '||': lambda a, b: int(a != 0 or b != 0),
    'min': min, 'max': max}
_BIG = 1 << 63


class Unread(Exception):
    """Raised for an expression that the Reader does not understand."""


class Values:
    """A number for each thread, None for an unknown number. `is_known`: no number depends on a guess of an argument."""
    __slots__ = ('of', 'is_known', 'is_unsigned')

    def __init__(self, of, is_known, is_unsigned=False):
        self.of, self.is_known, self.is_unsigned = of, is_known, is_unsigned

    def is_uniform(self):
        """True if all threads with a known number have the same one."""
        return len({number for number in self.of if number is not None}) == 1


class Place:
    """An element of memory that threads share, or a pointer into such memory if `dims` is not 0. `path`: indices and
    names of members; `offset`: the number that was added to the pointer."""
    __slots__ = ('name', 'type', 'path', 'offset', 'dims', 'tokens')

    def __init__(self, name, kind, dims, path=(), offset=None):
        self.name, self.type, self.dims, self.path, self.offset, self.tokens = name, kind, dims, path, offset, ()

    def at(self, index):
        """Returns the Place of the element at an index. The element may be a row of a matrix, or be in an array of a
        struct."""
        index = index if isinstance(index, Values) else None
        if self.offset is not None:
            index = combine('+', self.offset, index)
        return Place(self.name, self.type, max(self.dims - 1, 0), (*self.path, index), None)

    def moved(self, sign, index, zero):
        """Returns the Place of this pointer after `index` is added (+) or subtracted (-). `zero`: the offset of an
        unmoved pointer."""
        return Place(self.name, self.type, self.dims, self.path, combine(sign, self.offset or zero, index) or 'unknown')

    def address(self):
        """Returns a pointer to this element; None if the element is in no array."""
        if not self.path or isinstance(self.path[-1], str):
            return None
        return Place(self.name, self.type, self.dims + 1, self.path[:-1], self.path[-1])


def combine(operator, left, right):
    """Returns the Values of a binary operator; None if they are unknown."""
    if not isinstance(left, Values) or not isinstance(right, Values):
        return None
    is_known = left.is_known and right.is_known
    if not is_known and not (left.is_uniform() and right.is_uniform()) and (
            operator == '==' or operator in ('&', '<<', '>>') and not right.is_known):
        return None     # the result depends on a guess
    calculate = _OPERATORS.get(operator) or _CAREFUL[operator]
    found = [None if a is None or b is None else calculate(a, b) for a, b in zip(left.of, right.of)]
    is_unsigned = left.is_unsigned or right.is_unsigned
    least = 0 if is_unsigned else 1 - _BIG      # least result that does not wrap around
    return Values([None if a is None or not least <= a < _BIG else a for a in found], is_known, is_unsigned)


def _divide(left, right):
    return None if right == 0 else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left, right):
    return None if right == 0 else left - right * _divide(left, right)


_CAREFUL = {'/': _divide, '%': _remainder, '<<': lambda a, b: a << b if 0 <= b < 63 else None,
            '>>': lambda a, b: a >> b if 0 <= b < 63 else None}


class Reader:
    """Reads an expression from left to right for the threads in `mask`, in which None means an unknown thread. `frame`:
    holds variables, and is told of accesses and calls."""

    def __init__(self, tokens, frame, mask):
        self._tokens, self._frame, self._mask, self._at = tokens, frame, mask, 0
        self._target, self._changed = None, None    # tokens left of an assignment, and the threads that it changes

    def read(self):
        """Returns the value of an expression, which is its last operand if it has comma operators."""
        value = self._load(self._assignment())
        while self._text() == ',':
            self._at += 1
            value = self._load(self._assignment())
        if self._at < len(self._tokens):
            raise Unread
        return value

    def _text(self, ahead=0):
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ''

    def _load(self, found):
        if isinstance(found, str):
            return self._frame.value(found)
        if isinstance(found, Place) and not found.dims:
            self._frame.access(found, self._mask, False)
            return None
        return found

    def _assignment(self):
        self._frame.enter()
        begin = self._at
        found = self._choice()
        texts = [self._text(), self._text(1)]
        if texts[0] != '=' and not (is_update(texts) and texts[1] in ('=', '<=', '>=')):
            self._frame.leave()
            return found
        target = [t.text for t in self._tokens[begin:self._at]]
        self._at += 1 if texts[0] == '=' else 2
        self._target, self._changed = target if texts[0] == '=' else ['0'] if texts[0] in '+-|^' else None, self._mask
        value = self._load(self._assignment())
        if texts[0] != '=':
            operator = texts[0] * 2 if texts[0] in '<>' else texts[0]
            value = self._combine(operator, self._load(found), value)
        self._store(found, value)
        self._frame.leave()
        return value

    def _store(self, found, value):
        if isinstance(found, str):
            self._frame.assign(found, value, self._mask)
        elif isinstance(found, Place) and not found.dims:
            self._frame.access(found, self._changed if self._target else self._mask, True)

    def _choice(self):
        found = self._binary(0)
        if self._text() != '?':
            return found
        self._at += 1
        mask = self._mask
        yes, no, _ = self._frame.split(self._load(found), mask)
        target, changed = self._target, []
        self._mask, self._target, begin = yes, None, self._at
        first = self._load(self._assignment())
        changed += [] if [t.text for t in self._tokens[begin:self._at]] == target else [yes]
        if self._text() != ':':
            raise Unread
        self._at += 1
        self._mask, begin = no, self._at
        second = self._load(self._assignment())
        changed += [] if [t.text for t in self._tokens[begin:self._at]] == target else [no]
        self._mask, self._target = mask, target
        if target and len(changed) == 1:
            self._changed = changed[0]
        return self._frame.merge(first, second, yes, no)

    def _operator(self):
        text, after = self._text(), self._text(1)
        if text and text in '<>' and after in (text, text + '='):
            return text * 2 if after == text else ''
        return '' if text and text in '+-*/%&|^' and after == '=' else text

    def _binary(self, least):
        """Reads binary operators whose level is at least `least`, with their operands, and returns the value."""
        found = self._unary()
        operator = self._operator()
        while LEVELS.get(operator, -1) >= least:
            self._at += 2 if operator in ('<<', '>>') else 1
            left, mask = self._load(found), self._mask
            if operator in ('&&', '||'):
                self._mask = self._frame.split(left, mask)[operator == '||']
            right = self._load(self._binary(LEVELS[operator] + 1))
            self._mask = mask
            found = self._combine(operator, left, right)
            operator = self._operator()
        return found

    def _combine(self, operator, left, right):
        if isinstance(left, Place) and operator in ('+', '-'):
            return left.moved(operator, right, self._frame.constant(0))
        if isinstance(right, Place) and operator == '+':
            return right.moved(operator, left, self._frame.constant(0))
        if operator in ('&&', '||') and isinstance(left, Values) and isinstance(right, Values):
            # An unknown argument is taken for true in && and for false in ||, so that the other operand decides.
            for one, other in ((left, right), (right, left)):
                if one.is_uniform() and not one.is_known:
                    return Values(other.of, False)
        return combine(operator, left, right)

    def _unary(self):
        self._frame.enter()
        found = self._signed()
        self._frame.leave()
        return found

    def _signed(self):
        text, begin = self._text(), self._at
        if text in ('+', '-') and self._text(1) == text:
            self._at += 2
            found = self._unary()
            self._step(found, text)
            return self._load(found)
        if text in ('+', '-', '!', '~', '*', '&'):
            self._at += 1
            found = self._unary()
            if text == '&':
                if isinstance(found, str):
                    self._frame.assign(found, None, None)       # a function may write the variable
                return found.address() if isinstance(found, Place) and not found.dims else None
            value = self._load(found)
            if text == '*':
                return self._marked(value.at(self._frame.constant(0)), begin) if isinstance(value, Place) else \
                    None
            if text == '!':
                return combine('==', value, self._frame.constant(0)) if isinstance(value, Values) and (
                    value.is_known or value.is_uniform()) else None
            zero = self._frame.constant(-1 if text == '~' else 0)
            return value if text == '+' else combine('-', zero, value)
        return self._postfix()

    def _step(self, found, sign):
        self._store(found, self._combine(sign, self._load(found), self._frame.constant(1)))

    def _marked(self, found, begin):
        found.tokens = self._tokens[begin:self._at]
        return found

    def _postfix(self):
        begin = self._at
        found = self._primary()
        while True:
            text = self._text()
            if text == '[':
                index = self._inner('[', ']')
                pointer = self._load(found) if not isinstance(found, Place) else found
                if isinstance(pointer, Place):
                    found = self._marked(pointer.at(index), begin)
                else:
                    found = self._frame.load(found, index)
            elif text in ('.', '->'):
                member = self._text(1)
                self._at += 2
                if self._text() == '(' or self._text() == '<' and self._is_template():
                    return self._call_member()
                pointer = self._load(found) if text == '->' and not isinstance(found, Place) else found
                if isinstance(pointer, Place):
                    if text == '->':
                        pointer = pointer.at(self._frame.constant(0))
                    found = self._marked(Place(pointer.name, pointer.type, 0, (*pointer.path, member)), begin)
                else:
                    found = self._frame.member(found, member)
            elif text in ('+', '-') and self._text(1) == text:
                self._at += 2
                value = self._load(found)
                self._step(found, text)
                return value
            else:
                return found

    def _is_template(self):
        """True if the < at the current place begins the template arguments of a call."""
        end = matching(self._tokens, self._at, '<', '>')
        inside = self._tokens[self._at + 1:end - 1]
        return [t.text for t in self._tokens[end:end + 1]] == ['('] and all(
            t.kind in ('identifier', 'number') or t.text in (',', '::', '*') for t in inside)

    def _call_member(self):
        if self._text() == '<':
            self._at = matching(self._tokens, self._at, '<', '>')
        self._arguments()
        self._frame.wait()      # a member function may contain a barrier
        while self._text() in ('[', '.', '->', '('):
            if self._text() in ('[', '('):
                self._at = matching(self._tokens, self._at, self._text(), ']' if self._text() == '[' else ')')
            else:
                self._at += 2
        return None

    def _inner(self, opening, closing):
        end = matching(self._tokens, self._at, opening, closing)
        value = Reader(self._tokens[self._at + 1:end - 1], self._frame, self._mask).read()
        self._at = end
        return value

    def _arguments(self):
        end = matching(self._tokens, self._at, '(', ')')
        parts = [part for part in split_at(self._tokens[self._at + 1:end - 1], ',') if part]
        self._at = end
        return parts, [Reader(part, self._frame, self._mask).read() for part in parts]

    def _primary(self):
        if self._at >= len(self._tokens):
            raise Unread
        token, text = self._tokens[self._at], self._text()
        if token.kind == 'number':
            self._at += 1
            return self._frame.constant(integer_of(text))
        if token.kind == 'string':
            self._at += 1
            return None
        if text == '(':
            return self._parentheses()
        if text == '{':
            self._at = matching(self._tokens, self._at, '{', '}')
            return None
        if text == 'sizeof' and self._text(1) == '(':
            self._at = matching(self._tokens, self._at + 1, '(', ')')
            return None
        if token.kind != 'identifier' and text != '::' or text in ('new', 'delete', 'throw', 'sizeof'):
            raise Unread
        end = end_of_name(self._tokens, self._at) if text != '::' else end_of_name(self._tokens, self._at + 1)
        end = min(end, len(self._tokens))
        name, self._at = self._tokens[end - 1].text, end
        is_cast = text in ('static_cast', 'reinterpret_cast', 'const_cast')
        if self._text() == '<' and (is_cast or self._frame.is_function(name) and self._is_template()):
            behind = matching(self._tokens, end, '<', '>')
            kind, self._at = self._tokens[end + 1:behind - 1], behind
            if is_cast:
                return self._cast(kind, self._inner('(', ')'))
        if self._text() != '(':
            return name
        if text in WORDS:
            return self._inner('(', ')')
        parts, values = self._arguments()
        if name in ('min', 'max') and len(values) == 2:
            return combine(name, *values)
        return self._frame.call(name, parts, values, self._mask)

    def _parentheses(self):
        end = matching(self._tokens, self._at, '(', ')')
        inside = self._tokens[self._at + 1:end - 1]
        after = self._tokens[end] if end < len(self._tokens) else None
        texts = [t.text for t in inside]
        is_type = bool(inside) and all(t.kind == 'identifier' or t.text in ('*', '::') for t in inside) and (
            texts[-1] == '*' or any(text in WORDS or text in _QUALIFIERS for text in texts) or
            len(inside) == 1 and after is not None and (after.kind in ('identifier', 'number') or after.text == '('))
        if is_type:
            self._at = end
            return self._cast(inside, self._load(self._unary()))
        self._at = end
        inner = Reader(inside, self._frame, self._mask)
        found = inner._assignment()
        while inner._text() == ',':
            inner._load(found)
            inner._at += 1
            found = inner._assignment()
        if inner._at < len(inside):
            raise Unread
        return found

    def _cast(self, kind, value):
        """Returns a value after a cast. The result of a cast to another pointer type gets a new name, since its
        elements have another size."""
        value = self._load(value)
        words = ' '.join(plain_type(kind))
        if not isinstance(value, Place) or words == value.type or '*' not in [t.text for t in kind]:
            return value
        offset = value.offset or self._frame.constant(0)
        if not isinstance(offset, Values) or not offset.is_uniform() or not value.dims:
            return None
        return Place((value.name, words, offset.of[0]), words, 1, value.path)


def plain_type(tokens):
    """Returns the words of a type as text, without qualifiers and pointers."""
    return [t.text for t in tokens if t.text not in _QUALIFIERS and t.text not in (
        '__shared__', 'extern', 'static', 'constexpr', '__device__')]
