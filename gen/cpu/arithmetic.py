"""Replaces shifts, integer divisions and conversions of floats to integers by functions of the library, because C++
leaves some of their results undefined that a GPU defines.

    i = (int)x / n << s;    i = (int)(cf__to<int>)x * cf__over / n >> cf__left << s;

Edits only add tokens, so that precedence and types stay the same; include/cuferry/cpu/math/operators.cuh explains them.
A conversion without a cast is replaced where names of the same file say that its result is an integer."""

from cpu.names import (IN_FRONT, NAMES, OPERATORS, VECTORS, WORDS, find_bit_fields, find_changing, find_constants,
                       find_fields, find_initializers, find_members, find_types, read_types, read_variables,
                       returns_integer, takes_integer)
from declare.classdecl import split_members
from tokens.brackets import matching, split_at
from tokens.lexer import Token, integer_of, is_floating

_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}
_INTEGERS = _INDICES | {'warpSize', 'sizeof', 'static_cast'} | WORDS | NAMES
# Words that may follow the parenthesis that closes a list of parameters.
_BEHIND_PARAMETERS = OPERATORS - {'not', 'compl'} | {
    'const', 'noexcept', 'override', 'final', 'volatile', 'mutable', 'throw'}
_SHIFTS = {'<': 'cf__left', '>': 'cf__right'}
_DIVISIONS = {'/': 'cf__over', '%': 'cf__modulo'}
_PLAIN_TYPES = {'float', 'double', 'void', 'bool'}
_TYPES_OF = ('decltype', '__typeof__', '__typeof', 'typeof')
# A * after one of these tokens dereferences a pointer. The empty text stands for the beginning of a body.
_BEFORE_STATEMENT = {'', ';', '{', '}', ')', ':', '(', ',', '=', '?', 'else', 'do'}
_CONTROLS = {'if', 'for', 'while', 'switch', 'constexpr'}


class Arithmetic:
    """The types that the declarations of one file name, and the edits of its functions and classes."""

    def __init__(self, declarations):
        self._types = set(NAMES)
        self._bit_fields, self._functions, self.kinds = set(), {}, {}
        self.members, self.globals, self._parameters = {}, {}, {}
        is_packed = False
        for declaration in declarations:
            if declaration.words.isdisjoint(('template', 'typedef', 'using', 'class', 'struct', 'union')) and \
                    declaration.function is None:
                if declaration.body is None:
                    read_variables([*declaration.head, Token('punctuation', ';', '', 0, 0)], self.globals, self.kinds)
                continue
            tokens = [*declaration.head, *(declaration.body or ()), *declaration.tail]
            self._types.update(find_types(tokens))
            self._bit_fields.update(find_bit_fields(tokens))
            if declaration.function is None:
                self.kinds = read_types(tokens, self.kinds)
            if declaration.is_class and not declaration.has('enum'):
                is_packed = is_packed or any('packed' in t.text for t in tokens)
                for fields in find_fields(declaration.body):
                    read_variables(fields, self.members, self.kinds)
            elif declaration.function is not None:
                self._functions.setdefault(declaration.name, []).append(declaration)
        self._has_packed = is_packed
        classes = VECTORS.union(*(d.names for d in declarations if d.is_class))
        self.changing = {op for d in declarations for op in find_changing([*d.head, *(d.body or ())], classes)}

    def edits(self, declaration):
        """Yields (token, text before it, text in its place, text after it) for a function or a class."""
        if declaration.body is None or declaration.has('enum') and declaration.is_class:
            return
        if declaration.is_class:
            yield from self._edits_of_class(declaration.body)
        elif declaration.function is not None:
            yield from self._edits_of_function(declaration, {}, set())

    def _edits_of_class(self, body):
        """Yields the edits of all functions in a class and in the classes that it contains."""
        fields = {}
        for tokens in find_fields(body, False):
            read_variables(tokens, fields, read_types(body, self.kinds))
        for _, _, member in split_members(body):
            if member.function is not None and member.body is not None:
                yield from self._edits_of_function(member, fields, find_bit_fields(body))
            elif member.body is not None and member.is_class and not member.has('enum'):
                yield from self._edits_of_class(member.body)

    def _edits_of_function(self, declaration, fields, widths):
        """Yields the edits of a function. `fields`: maps its class's members to kinds; `widths`: its bit-fields."""
        own, kinds = {}, read_types(declaration.body, self.kinds)
        read_variables(declaration.head, own, kinds)
        read_variables(declaration.body, own, kinds)
        variables, widths = {**fields, **own}, widths - own.keys()
        yield from _Body(self, find_initializers(declaration), variables, declaration, widths, True).edits()
        yield from _Body(self, declaration.body, variables, declaration, widths).edits()

    def is_type(self, tokens):
        """True if the tokens name a type that may be an integer type."""
        texts = [t.text for t in tokens]
        if not texts:
            return False
        if any(t.kind != 'identifier' and t.text != '::' for t in tokens):
            return texts[0] == 'typename' and texts[-1] not in ('*', '&', '&&', ')', ']')
        plain = [t for t in texts if t not in ('const', 'volatile')]
        return bool(plain) and (set(plain) <= WORDS or plain[0] == 'typename' or
                                plain[-1] in self._types and (len(plain) == 1 or plain[-2] == '::'))

    def is_bit_field(self, body, at):
        """True if the variable whose name ends before `at` may be a bit-field, to which no reference can be bound."""
        before = body[at - 2].text if at > 1 else ''
        return self.has_width(body, at - 1) or (self._has_packed and before in ('.', '->'))

    def has_width(self, body, at):
        """True if the name at `at` may be the name of a bit-field."""
        return body[at].text in self._bit_fields and (at == 0 or body[at - 1].text != '::')

    def is_member(self, name, levels):
        return self.members.get(name) == {('integer', levels)}

    def parameters(self, name):
        """Returns for each parameter of a function if it is an integer; None if functions with this name differ."""
        if name not in self._parameters:
            found = self._functions.get(name, [])
            kinds = {tuple(takes_integer(p, self.kinds) for p in d.parameters) for d in found}
            is_plain = len(kinds) == 1 and all(d.head[0].text != 'template' for d in found)
            self._parameters[name] = kinds.pop() if is_plain else None
        return self._parameters[name]

    def is_in(self, name, space):
        """True if a namespace contains a function of this name."""
        return any(space in d.scope for d in self._functions.get(name, ()))


class _Body:
    """The body of one function. `widths`: the bit-fields that the body names without an object."""

    def __init__(self, file, body, variables, declaration, widths, is_list=False):
        self._file, self._body, self._declaration = file, body, declaration
        self._variables = {name: next(iter(kinds)) for name, kinds in variables.items() if len(kinds) == 1}
        self._constants = find_constants([*declaration.head, *body])
        self._members = find_members(body, file.members, file.kinds)
        self._is_list = is_list     # the body is the list of a constructor's initialisers
        self._widths = widths
        self._found = {}        # maps the index of a token to the texts before it, in its place and after it
        self._pairs = {}        # maps the index of a bracket to the index of its partner
        self._read = -1         # last token of the last operator that was edited
        self._closing = set()   # each > that may end template arguments

    def edits(self):
        self._match()
        opened, brackets = [], []
        returns = returns_integer(self._declaration, self._file.kinds)
        angles = [[0, 0]]       # for each open bracket, the number of unclosed < in it, and since its last condition
        for at, token in enumerate(self._body):
            text = token.text
            if token.kind == 'punctuation' and text in '([{':
                opened.append(text == '{' and not self._is_block(at))
                angles.append([0, 0])
                brackets.append(text)
            elif token.kind == 'punctuation' and text in ')]}' and opened:
                opened.pop()
                angles.pop()
                brackets.pop()
            elif text in (';', '||', '?') or text == '&&' and self._text(at + 1) not in ('>', ',', ')'):
                angles[-1] = [0 if text == ';' else angles[-1][0], 0]
            if token.kind == 'punctuation':
                at_operator = self._edit_operator(at, angles)
                if not at_operator and text == '=' and '[' not in brackets[-1:]:
                    self._edit_assignment(at)
                if text == '(':
                    self._edit_cast(at)
            elif text == 'return' and returns and not any(opened) and self._text(at + 1) not in (';', '{'):
                self._edit_return(at)
            elif text == 'static_cast' and self._text(at + 1) == '<':
                self._edit_named_cast(at)
            elif token.kind == 'identifier' and self._text(at + 1) == '(':
                if self._is_list and not brackets:
                    self._edit_initializer(at)
                else:
                    self._edit_call(at)
        for at in sorted(self._found):
            yield self._body[at], self._found[at]

    # ---- Tokens

    def _text(self, at):
        return self._body[at].text if 0 <= at < len(self._body) else ''

    def _add(self, at, before='', place=None, after=''):
        old = self._found.setdefault(at, ['', self._text(at), ''])
        self._found[at] = [before + old[0], old[1] if place is None else place, old[2] + after]

    def _match(self):
        opened = []
        for at, token in enumerate(self._body):
            if token.kind == 'punctuation' and token.text in '([{':
                opened.append(at)
            elif token.kind == 'punctuation' and token.text in ')]}' and opened:
                self._pairs[at] = opened.pop()
                self._pairs[self._pairs[at]] = at

    def _is_block(self, at):
        """True if the brace at `at` opens the block of a statement; False for the body of a lambda or a class."""
        before, front = self._text(at - 1), self._pairs.get(at - 1, 0)
        if before == ')':
            return self._text(front - 1) in _CONTROLS
        if before == ']':       # the end of an attribute, as in [[likely]] {
            return self._text(front + 1) == '['
        return before in ('', 'else', 'do', ';', '{', '}', ':', 'try')

    def _is_joined(self, at):
        """True if the tokens at `at` and `at + 1` are one operator, since the lexer yields single characters."""
        return self._body[at + 1].joined

    def _is_operand(self, at):
        """True if the token at `at`, which precedes an operator, ends a value, so that the operator is binary."""
        return self._text(at) not in ('', '...', '(', ',')

    def _end_of_value(self, at):
        """Returns the index of the comma, semicolon or closing bracket that ends the value at `at`."""
        while at < len(self._body):
            text = self._text(at) if self._body[at].kind == 'punctuation' else ''
            if text in (',', ';', ')', ']', '}'):
                return at
            at = self._pairs.get(at, at) + 1
        return at

    def _is_integer(self, at):
        """True if the value that begins at `at` is surely an integer."""
        for i in range(at, self._end_of_value(at)):
            token = self._body[i]
            if token.kind == 'number':
                if is_floating(token.text):
                    return False
            elif token.kind == 'identifier' and not self._names_integer(i):
                return False
        return True

    def _names_integer(self, at):
        name = self._text(at)
        if self._text(at - 1) in ('.', '->'):
            return self._text(at - 2) in _INDICES
        return self._variables[name][0] == 'integer' if name in self._variables else name in _INTEGERS

    # ---- Operators

    def _edit_operator(self, at, angles):
        """Edits the operator at `at`; returns True if the token belongs to an operator of several tokens."""
        text, after = self._text(at), self._text(at + 1)
        if self._text(at - 1) == 'operator' or self._text(at - 2) == 'operator':
            return True
        if text in _DIVISIONS and self._is_operand(at - 1):
            if after == '=' and self._is_joined(at):
                self._edit_update(at, at + 1, _DIVISIONS[text])
                return True
            if after != '...' and not self._is_known(at + 1, False):
                self._promote_left(at)
                self._add(at, place=f'* {self._tag(at, _DIVISIONS[text])} {text}')
                self._promote_right(at + 1)
            return False
        if at != self._read and text in _SHIFTS and after in (text, text + '=') and self._is_joined(at):
            if text == '<' or not self._ends_types(at, *angles[-1]):
                if after == text + '=':
                    self._edit_update(at, at + 1, _SHIFTS[text])
                elif self._is_operand(at - 1) and self._text(at + 2) != '...' and not self._is_known(at + 2, True):
                    other = '<' if text == '>' else '>'
                    self._promote_left(at)
                    self._add(at, place=other)
                    self._add(at + 1, place=f'{other} {self._tag(at, _SHIFTS[text])} {text}{text}')
                    self._promote_right(at + 2)
                self._read = at + 1
                return True
        if at == self._read:
            return True
        if text == '<' and self._may_open(at):
            angles[-1] = [n + 1 for n in angles[-1]]
        elif text == '>':
            self._closing.update([at] if angles[-1][0] else [])
            angles[-1] = [max(n - 1, 0) for n in angles[-1]]
        return text == '=' and self._is_update(at)

    def _tag(self, at, name):
        """Returns the library's operand for the operator at `at`. If a class's operator may change its left operand,
        the library takes it by reference, except a constant, which may have no address."""
        is_kept = self._text(at) in self._file.changing and self._text(at - 1) not in self._constants and \
            self._text(at - 2) != '::' and not self._file.is_bit_field(self._body, at)
        return name + '_kept' * is_kept

    def _is_update(self, at):
        """True if the = at `at` ends a longer operator: +=, or an operator that _edit_operator() has edited."""
        before = self._text(at - 1)
        if self._is_step(at - 1):
            return False
        if before in ('+', '-', '*') and self._is_joined(at - 1):
            if self._is_target(at - 1) and self._has_reference(at - 1):
                self._set(at)
            elif self._is_target(at - 1) and self._text(at + 1) != '{' and not self._is_integer(at + 1):
                self._edit_bit_field_update(at - 1, at, before)
            return True
        return before in ('/', '%', '&', '|', '^') and self._is_joined(at - 1)

    def _may_open(self, at):
        """True if the < at `at` may open template arguments: it stands after no variable, or before a type."""
        before, after = self._body[at - 1] if at else None, self._text(at + 1)
        if before is None or after == '=' and self._is_joined(at):
            return False
        is_member = self._text(at - 2) in ('.', '->')
        is_known = before.text in self._members if is_member else \
            before.text in self._variables or before.text in self._file.globals
        is_type = after in WORDS or after in _PLAIN_TYPES or after in ('typename', 'const')
        return before.kind == 'identifier' and (is_type or not is_known) or self._text(at - 3) == 'operator'

    def _ends_types(self, at, opened, near):
        """True if the >> at `at` may end template arguments. `opened`: the number of unclosed <; `near`: the number of
        those after the last condition. The name of a variable ends no template argument."""
        before = self._text(at - 1)
        is_variable = before in self._variables and before not in self._constants and self._text(at - 2) != '::'
        return opened > 1 and not is_variable and (
            near > 1 or self._text(at + 2) in ('::', ',', ')', ';', '>', '{', '...') or before in _PLAIN_TYPES or
            before in WORDS or self._file.is_type([self._body[at - 1]]))

    # No reference can be bound to a bit-field, and the type to which a bit-field is promoted depends on its width.

    def _promote_right(self, at):
        """Changes x / s.y to x / +s.y if y may be a bit-field."""
        if self._text(at) != '(' and self._body[at].kind != 'identifier':
            return
        end = self._pairs.get(at, at)
        while True:
            if self._text(end + 1) in ('.', '->', '::'):
                end += 2
            elif self._text(end + 1) in ('(', '['):
                end = self._pairs.get(end + 1, len(self._body))
            else:
                break
        if end < len(self._body) and self._may_lack_reference(at, end, self._file.is_bit_field):
            self._add(at, before=' +')

    def _promote_left(self, at):
        """Changes s.x / y to +s.x / y if x may be a bit-field."""
        end = begin = at - 1
        while True:
            if self._text(begin) in (')', ']') and begin in self._pairs:
                begin = self._pairs[begin]
                before = self._body[begin - 1] if begin else None
                if before is None or before.text not in (')', ']') and (
                        before.kind != 'identifier' or before.text in IN_FRONT):
                    break
                begin -= 1
            elif self._text(begin - 1) in ('.', '->', '::'):
                begin -= 2
            else:
                break
        if begin >= 0 and not self._is_step(begin - 1) and self._text(begin - 1) != '>' and \
                self._may_lack_reference(begin, end, lambda body, end: self._file.has_width(body, end - 1)):
            self._add(begin, before=' +')

    def _may_lack_reference(self, at, end, judge):
        """True if the value from `at` to `end` has the form s.x, x or (s.x), and judge(body, end) is true for it."""
        if self._text(end) == ')' and self._pairs.get(end) == at:
            while self._text(end) == ')':
                end -= 1
            return self._text(at + 1) != ')' and self._file.has_width(self._body, end)
        return judge(self._body, end + 1) and (end > at or self._is_own_width(at))

    def _is_own_width(self, at):
        """True if the name at `at`, without an object before it, may be a bit-field: no variable has this name."""
        return self._text(at) not in self._variables or self._text(at) in self._widths

    def _is_known(self, at, is_count):
        """True if the operand at `at` is a number for which C++ defines the operator's result."""
        token = self._body[at] if at < len(self._body) else None
        is_whole = not is_count or self._text(at + 1) not in ('+', '-', '*', '/', '%')      # as in x << 30 + n
        return token is not None and token.kind == 'number' and is_whole and _is_defined(token.text, is_count)

    def _edit_update(self, at, equals, name):
        if self._text(equals + 1) == '{':
            return
        is_alone = self._end_of_value(equals + 1) == equals + 2
        is_known = is_alone and self._is_known(equals + 1, name in _SHIFTS.values())
        if is_known and (self._is_integer(equals + 1) or not self._is_target(at)):
            return
        if self._has_reference(at):
            self._add(at, before=f'->* {name} ')
            self._promote_right(equals + 1)
        else:
            op = self._text(at)
            first_op, last_op = ('*', op) if op in _DIVISIONS else ('<<' if op == '>' else '>>', 2 * op)
            self._edit_bit_field_update(at, equals, f'{first_op} {name} {last_op}')

    def _has_reference(self, at):
        """True unless the operand that ends before `at` may be a bit-field."""
        return self._text(at - 2) not in ('.', '->') and not self._is_own_width(at - 1) or \
            not self._file.is_bit_field(self._body, at)

    def _edit_bit_field_update(self, at, equals, operator):
        """Changes s.x /= y to s.x = cf__set = s.x * cf__over / (y), since bit-fields have no references."""
        first, end = at - 1, self._end_of_value(equals + 1)
        while self._text(first - 1) in ('.', '->') and self._body[first - 2].kind == 'identifier':
            first -= 2
        if self._text(first - 1) not in (';', '{', '}', '') or self._text(end) != ';':
            return
        variable = ''.join(t.text for t in self._body[first:at])
        self._add(at, place=f'= cf__set = {variable} {operator}')
        self._add(equals, place='(')
        self._add(end - 1, after=')')

    # ---- Conversions without a cast

    def _edit_assignment(self, at):
        is_operator = self._text(at - 1) in ('<', '>', '=', '!', '+', '-', '*', '/', '%', '&', '|', '^')
        if (not is_operator or self._is_step(at - 1)) and self._is_target(at):
            self._set(at)

    def _set(self, at):
        if self._text(at + 1) != '{' and not self._is_integer(at + 1):
            self._add(at, after=' cf__set =')

    def _edit_return(self, at):
        """Converts the value of a `return`, which is the last operand if the value contains comma operators."""
        first = at + 1
        end = self._end_of_value(first)
        while self._text(end) == ',' and not self._may_be_template(at, self._end_of_value(end + 1)):
            first, end = end + 1, self._end_of_value(end + 1)
        if not self._is_integer(first):
            self._add(first - 1, after=' cf__set =')

    def _edit_initializer(self, at):
        """Converts the value of an integer member in the initialisers of a constructor."""
        close = self._pairs.get(at + 1)
        if close is not None and close > at + 2 and self._end_of_value(at + 2) == close and \
                self._text(at + 2) != '{' and self._text(close - 1) != '...' and \
                self._file.is_member(self._text(at), 0) and not self._is_integer(at + 2):
            self._add(at + 1, after='cf__set = ')

    def _is_step(self, at):
        """True if the token at `at` ends the operator ++ or --."""
        return self._text(at) in ('+', '-') and self._text(at - 1) == self._text(at) and self._is_joined(at - 1)

    def _is_target(self, at):
        """True if an integer variable ends before `at`: x, x[i], *x, *x++, *--x, *(x + i), s.x, s.x[i]."""
        end, extents = at - 1, 0
        while self._text(end) == ']' and end in self._pairs:
            extents += 1
            end = self._pairs[end] - 1
        first = end
        if self._is_step(end):
            first = end = end - 2
        elif self._text(end) == ')' and end in self._pairs:
            first = self._pairs[end]
            if self._text(first - 1) != '*':
                return not extents and self._is_free(first) and self._is_target(end)
            end = first + 1
            if self._text(end + 1) not in ('+', '-') or self._end_of_value(end) != self._pairs[first] or \
                    any(t.text == '?' for t in self._body[end:self._pairs[first]]):
                return False
        elif self._is_step(end - 1):
            first = end - 2
        if end < 0 or self._body[end].kind != 'identifier' or self._text(end - 2) + self._text(end - 1) == '>::':
            return False
        name, is_qualified = self._text(end), self._text(end - 1) == '::'
        while self._text(end - 1) == '::':      # a name with its class or namespace
            first = end = end - 2 if end > 1 and self._body[end - 2].kind == 'identifier' else end - 1
        before = self._text(first - 1)
        if before in ('&', '&&'):       # a reference is bound to the object itself
            return False
        if before in ('.', '->'):
            return self._members.get(name) == {('integer', extents)} or \
                not extents and name in ('x', 'y', 'z', 'w') and self._is_vector(end - 2)
        stars = 0
        while self._text(first - 1 - stars) == '*':
            stars += 1
        if self._text(first - 1 - stars) not in _BEFORE_STATEMENT:
            stars = 0           # a * in a declaration dereferences nothing
        if name not in self._variables or is_qualified:     # a member, or a variable of the file
            return {('integer', extents + stars)} in (self._members.get(name), self._file.globals.get(name))
        return self._variables[name] == ('integer', extents + stars)

    def _is_free(self, at):
        """True if neither a name nor a value precedes the parenthesis at `at`, so that it belongs to no call."""
        before = self._body[at - 1] if at else None
        return before is None or before.text not in (')', ']', '}', '>') and (
            before.kind != 'identifier' or before.text in IN_FRONT)

    def _is_vector(self, end):
        """True if the token at `end` ends an object of a vector type of integers."""
        extents = 0
        while self._text(end) == ']' and end in self._pairs:
            extents += 1
            end = self._pairs[end] - 1
        if self._text(end) == ')' and self._pairs.get(end) == end - 3 and self._text(end - 2) == '*':
            return self._variables.get(self._text(end - 1)) == ('vector', 1)
        if self._text(end - 1) in ('.', '->', '::'):
            return False
        levels = self._variables.get(self._text(end), ('other', 0))
        return levels == ('vector', extents) or levels == ('vector', 1) and self._text(end + 1) == '->'

    def _edit_call(self, at):
        """Converts the arguments for integer parameters of a call, and the value in T(x) for a type T."""
        close = self._pairs.get(at + 1)
        if close is None or close == at + 2:
            return
        name, before = self._text(at), self._body[at - 1] if at else None
        first = at
        while self._text(first - 1) == '::':
            first -= 2 if first > 1 and self._body[first - 2].kind == 'identifier' and \
                self._text(first - 2) not in IN_FRONT else 1
        if self._file.is_type([self._body[at]]):
            if self._begins_value(first, at) and self._is_one_value(at + 2, close):
                if first == at or name in NAMES:
                    self._wrap(at + 1, close, ' ' * (first < at) + ''.join(t.text for t in self._body[first:at + 1]))
                else:
                    self._add(at + 1, after='cf__set = ')
            return
        if before is not None and (before.text in ('.', '->', '~') or before.kind == 'identifier' and
                                   before.text not in IN_FRONT):
            return
        if first < at - 2 or first == at - 2 and not self._file.is_in(name, self._text(first)):
            return
        parameters = self._file.parameters(name)
        if not parameters or first == at and name in self._variables or self._may_be_template(at + 2, close):
            return
        first = at + 2
        for argument, is_integer in zip(split_at(self._body[first:close], ','), parameters):
            if argument and is_integer and argument[0].text != '{' and not self._is_integer(first):
                self._add(first, before='cf__set = ')
            first += len(argument) + 1

    def _may_be_template(self, at, close):
        """True if a comma among the arguments from `at` to `close` may separate template arguments, as in f(g<a,
        b>(c)). Only a name that is no variable has template arguments."""
        names = (i for i in range(at + 1, close) if self._text(i) == '<' and self._body[i - 1].kind == 'identifier' and
                 self._text(i - 1) not in self._variables)
        opening = next(names, close)
        texts = [self._text(i) for i in range(opening, close)]
        return ',' in texts and '>' in texts[texts.index(','):]

    # ---- Casts

    def _begins_value(self, at, name):
        """True if T(x) is a value, and declares no x. The type T has the tokens from `at` to `name`."""
        before = self._body[at - 1] if at else None
        if before is None or before.text in (';', '}', '.', '->', ']') or \
                self._text(self._pairs[name + 1] + 1) in ('[', '('):        # int (*p)[4]
            return False
        if before.text == '{':
            first = at - 1
            while self._text(first - 1) == '{':
                first -= 1
            return not self._is_block(first)
        if before.text == ')':
            return self._text(self._pairs.get(at - 1, 0) - 1) not in _CONTROLS
        if before.text == '>':
            return self._text(name) in WORDS or self._text(name) in NAMES or at - 1 not in self._closing
        return before.kind != 'identifier' or before.text in IN_FRONT or before.text == 'typename' and name > at

    def _is_one_value(self, at, end):
        """True if the tokens between two indices are one value; False for types of parameters, a list or a pack."""
        tokens = self._body[at:end]
        if tokens[0].text == '{' or len(split_at(tokens, ',')) > 1 or tokens[-1].text == '...':
            return False
        return not all(t.kind == 'identifier' and self._file.is_type([t]) or t.text in WORDS or
                       t.text in ('*', '&', '&&', 'const') or t.text in _PLAIN_TYPES for t in tokens)

    def _wrap(self, opening, closing, name):
        self._add(opening, after=f'(cf__to<{name}>)(')
        self._add(closing, before=')')

    def _edit_cast(self, at):
        """Changes (T)x to (T)(cf__to<T>)x."""
        close = self._pairs.get(at)
        inside = self._body[at + 1:close] if close is not None else []
        if not inside or close + 1 >= len(self._body):
            return
        before, after = self._body[at - 1] if at else None, self._body[close + 1]
        is_only = after.kind == 'number' or after.kind == 'identifier' and after.text not in _BEHIND_PARAMETERS
        if not self._file.is_type(inside) and not self._is_other_type(inside, is_only):
            return
        is_variable = len(inside) == 1 and inside[0].text in self._variables and inside[0].text not in WORDS
        is_behind = before is not None and (before.text == ']' or
                                            before.kind == 'identifier' and before.text not in IN_FRONT)
        begins_value = after.text in ('(', '-', '+', '~', '!', '*', '&', '::') if after.kind == 'punctuation' else \
            after.text not in _BEHIND_PARAMETERS
        if is_variable or is_behind or not begins_value or after.text == '(' and self._text(close + 2) == ')':
            return
        self._add(close, after=f'(cf__to<{" ".join(t.text for t in inside)}>)')

    def _is_other_type(self, tokens, is_cast):
        """True if only the compiler knows the kind of the type that the tokens name. Such a type is decltype(x), or in
        a cast any type except pointers and floats."""
        if tokens[0].text in _TYPES_OF:
            return matching(tokens, 1, '(', ')') == len(tokens) > 2
        ends = {tokens[0].text, tokens[-1].text}
        return is_cast and tokens[0].kind == 'identifier' and ends.isdisjoint({*_PLAIN_TYPES, 'auto'}) and all(
            t.kind in ('identifier', 'number') or t.text in ('::', '<', '>', ',') for t in tokens)

    def _edit_named_cast(self, at):
        end = matching(self._body, at + 1, '<', '>')
        inside = self._body[at + 2:end - 1]
        close = self._pairs.get(end)
        if self._text(end) == '(' and close and close > end + 1 and (
                self._file.is_type(inside) or self._is_other_type(inside, True)):
            self._wrap(end, close, ' '.join(t.text for t in inside))


def _is_defined(number, is_count):
    """True if C++ defines a division by a number, or a shift by it if `is_count`."""
    value = integer_of(number)
    return is_floating(number) or value is not None and (value < 32 if is_count else value != 0)
