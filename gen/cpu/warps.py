"""Finds values that are the same for all lanes of a warp.

    int warp = threadIdx.x / 32;        the same for all lanes
    int lane = threadIdx.x % 32;        the lane's number: it grows by 1 from thread to thread

Both hold for an index that is not negative, grows by 1 from lane to lane, and is a multiple of 32 in the first lane of
each warp. In blocks whose warps do not follow the rows, only the number of a thread in its block is such an index."""

import re

from tokens.brackets import matching

_NUMBER = re.compile(r'(0[xX][\da-fA-F]+|\d{1,9})[uU]?')
_WIDE = {'int', 'unsigned', 'uint', 'const', 'long', 'auto', 'int32_t', 'uint32_t', 'int64_t', 'uint64_t', 'size_t'}
_WORDS = {'threadIdx', 'blockIdx', 'blockDim', 'x', 'static_cast'}
# The tokens that may stand before products and divisions, before & and >>, and after & and >>.
_BEFORE_PRODUCT = {'(', ',', '=', '+', '-', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '?', ':', '[', 'return', ';',
                   '{', '}', '|', '^', ''}
_BEFORE_BITS = {'(', ',', '=', '&&', '||', '?', ':', '[', 'return', ';', '{', '}', ''}
_BEHIND_BITS = {')', ']', ',', ';', '?', ':', '&&', '||', ''}
# Most factors of a summand, most summands beside the index along x, and the largest number, so that the sum surely fits
# an int.
_MOST_FACTORS, _MOST_TERMS, _MOST = 3, 2, 1024


class Warps:
    """Decides for the expressions of one kernel. `uniform`: places of operands whose operator has the same result in
    all lanes of a warp; `compared`: those of them whose operator is a comparison; `lanes`: maps the beginnings of
    expressions for a lane's number to their ends. `is_global`: as in Layout; `shape`: a Shape."""

    def __init__(self, tokens, variables, meanings, is_global, shape):
        self._tokens, self._variables, self._meanings, self._shape = tokens, variables, meanings, shape
        self._is_global = is_global if shape.has_whole_rows else None       # it needs whole warps
        self._indices, self.uniform, self.lanes, self.compared = {}, set(), {}, set()
        for at, token in enumerate(tokens):
            if token.kind == 'punctuation' and token.text in ('/', '%', '>', '&') and at > 0:
                self._read(at)
            if token.kind == 'punctuation' and token.text in ('<', '>=') and at > 0:
                self._read_comparison(at)

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def is_lane(self, begin, end):
        """True if the whole expression is the number of a lane in its warp."""
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end and begin not in self.lanes:
            begin, end = begin + 1, end - 1
        if end == begin + 1:
            variable = self._variables.of.get(begin)
            return variable is not None and self._is_fixed(variable) and self.is_lane(*variable.value)
        return self.lanes.get(begin) == end

    def is_sum(self, begin, end, tell):
        """True if an expression is an index or a lane's number, perhaps plus values that are the same for a warp.
        `tell` tells on which name a value depends, or returns None."""
        terms = [term for term in self._split(begin, end, '+') if tell(*term) is not None]
        return len(terms) == 1 and (self.is_lane(*terms[0]) or self.is_index(*terms[0]))

    # ---- Operators

    def _read(self, at):
        """Notes the result of the operator at `at` if its left operand is such an index."""
        text, place = self._text(at), at + 1
        if text == '>':
            if self._text(at + 1) != '>' or not self._tokens[at + 1].joined:
                return
            place = at + 2
        elif not self._variables.ends_value(at - 1):
            return
        value, end = self._read_number(place)
        if value is None or not (text == '>' and 5 <= value < 31 or value != 0 and value % 32 == 0 or
                                 text == '&' and value == 31):
            return
        begin = self._begin_of_operand(at)
        if begin is None or self._text(end) in ('(', '.', '->', '['):
            return
        before = self._text(begin - 1)
        is_bits = text in ('>', '&')
        if before not in (_BEFORE_BITS if is_bits else _BEFORE_PRODUCT) or is_bits and \
                self._text(end) not in _BEHIND_BITS or \
                before in ('+', '-') and not self._variables.ends_value(begin - 2):
            return
        if not self.is_index(begin, at):
            return
        if text == '/' and value > 0 and value % 32 == 0 or text == '>' and 5 <= value < 31 or \
                text == '&' and value & 31 == 0:
            self.uniform.update(range(begin, at))
        elif text == '%' and value == 32 or text == '&' and value == 31:
            self.lanes[begin] = end

    def _read_comparison(self, at):
        """Notes a comparison of an index along x with a multiple of 32, as in threadIdx.x < 32."""
        if not self._variables.ends_value(at - 1) or self._text(at) == '<' and self._text(at + 1) == '<':
            return
        value, end = self._read_number(at + 1)
        begin = self._begin_of_operand(at)
        if value is not None and value % 32 == 0 and begin is not None and self._text(end) in _BEHIND_BITS and \
                self._text(begin - 1) in _BEFORE_BITS and self.is_index(begin, at):
            self.uniform.update(range(begin, at))
            self.compared.update(range(begin, at))

    def _read_number(self, at):
        """Returns (value, end) of a number at `at`: 32, ~31, (32 - 1), warpSize or the name of a constant. The value is
        None for other tokens."""
        text = self._text(at)
        if text == '(':
            value, end = self._read_number(at + 1)
            if value is not None and self._text(end) == '-' and self._text(end + 1) == '1':
                value, end = value - 1, end + 2
            return (value, end + 1) if self._text(end) == ')' else (None, at)
        if text == '~':
            value, end = self._read_number(at + 1)
            return (None if value is None else ~value, end)
        if at < len(self._tokens) and self._tokens[at].kind == 'identifier':
            return self._value_of(at), at + 1
        return (int(re.sub('[uU]$', '', text), 0) if _is_number(text) else None), at + 1

    def _value_of(self, at):
        variable, text = self._variables.of.get(at), self._text(at)
        if variable is not None:
            return None
        head = self._meanings.find_constant(text)
        texts = [t.text for t in head or () if t.text != ';']
        if head is None:
            return 32 if text == 'warpSize' else None
        if texts[-2:-1] != ['='] or texts[-3:-2] != [text] or not _is_number(texts[-1]) or \
                {'const', 'constexpr'}.isdisjoint(texts) or not set(texts[:-3]) <= _WIDE | {
                    'static', 'constexpr', '__device__'}:
            return None
        return int(re.sub('[uU]$', '', texts[-1]), 0)

    def _begin_of_operand(self, at):
        """Returns the place at which the left operand of the operator at `at` begins, if it is an index, a variable or
        an expression in parentheses, perhaps with casts; None for other operands."""
        if self._text(at - 1) == ')':
            begin = self._opening(at - 1)
        elif self._text(at - 2) == '.' and self._text(at - 3) == 'threadIdx':
            begin = at - 3
        else:
            begin = at - 1
        if begin < 0 or begin > 0 and self._tokens[begin].text == '(' and (
                self._tokens[begin - 1].kind == 'identifier' and self._text(begin - 1) != 'return' or
                self._text(begin - 1) in (']', '>')) or self._text(begin - 1) in ('.', '->', '::'):
            return None
        while self._text(begin - 1) == ')' and self._is_cast(self._opening(begin - 1), begin):
            begin = self._opening(begin - 1)
        return begin

    def _opening(self, at):
        depth = 0
        while at >= 0:
            depth += (self._text(at) == ')') - (self._text(at) == '(')
            if depth == 0:
                return at
            at -= 1
        return at

    def _is_cast(self, begin, end):
        """True if two places enclose a cast to an integer type that can hold every index."""
        return end > begin + 2 and self._text(begin) == '(' and self._tokens[begin - 1].kind != 'identifier' and all(
            self._text(at) in _WIDE for at in range(begin + 1, end - 1))

    # ---- Indices

    def _is_fixed(self, variable):
        """True for an integer that keeps the value of its declaration."""
        return variable.is_integer and not variable.is_static and not variable.writes and variable.value is not None \
            and self._text(variable.value[0] - 1) == '=' and {t.text for t in variable.types} <= _WIDE

    def is_index(self, begin, end):
        """True for an index that grows by 1 from lane to lane and is a multiple of 32 in each warp's first lane."""
        if (begin, end) not in self._indices:
            self._indices[begin, end] = False       # ends the recursion if a value contains its own variable
            self._indices[begin, end] = self._shape.is_number(
                self._tokens, self._variables, begin, end) if self._shape.has_lines else self._find_index(begin, end)
        return self._indices[begin, end]

    def _find_index(self, begin, end):
        if self._text(begin) == '(':
            behind = matching(self._tokens, begin, '(', ')')
            if behind == end:
                return self.is_index(begin + 1, end - 1)
            if self._is_cast(begin, behind) and (
                    end == behind + 1 or end == behind + 3 and self._text(behind) == 'threadIdx' or
                    self._text(behind) == '(' and matching(self._tokens, behind, '(', ')') == end):
                return self.is_index(behind, end)
        if [self._text(at) for at in range(begin, end)] == ['threadIdx', '.', 'x'] or \
                self._is_global and self._is_global(begin, end) and all(map(self._is_plain, range(begin, end))):
            return True
        variable = self._variables.of.get(begin) if end == begin + 1 else None
        if variable is not None:
            return self._is_fixed(variable) and self.is_index(*variable.value)
        terms = self._split(begin, end, '+')
        return 1 < len(terms) <= 1 + _MOST_TERMS and sum(
            not self._is_of_row(*term) for term in terms) == 1 and all(
                self._is_of_row(*term) or self.is_index(*term) for term in terms)

    def _is_plain(self, at):
        """True for a token that may be part of a global index without casts to narrow types."""
        variable = self._variables.of.get(at)
        return self._tokens[at].kind != 'identifier' or self._text(at) in _WIDE | _WORDS or \
            variable is not None and self._is_fixed(variable)

    def _split(self, begin, end, separator):
        found, first, depth = [], begin, 0
        for at in range(begin, end):
            depth += (self._text(at) in ('(', '[')) - (self._text(at) in (')', ']'))
            if depth == 0 and self._text(at) == separator:
                found.append((first, at))
                first = at + 1
        return found + [(first, end)]

    def _is_of_row(self, begin, end):
        """True if each summand of an expression is a product with the block size along x or a multiple of 32. The other
        factors are uniform, or are thread indices along y and z."""
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            begin, end = begin + 1, end - 1
        terms = self._split(begin, end, '+')
        if len(terms) > 1:
            return len(terms) <= _MOST_TERMS and all(self._is_of_row(*term) for term in terms)
        factors = [self._read_factor(*factor) for factor in self._split(begin, end, '*')]
        return len(factors) <= _MOST_FACTORS and None not in factors and 'row' in factors

    def _read_factor(self, begin, end):
        """Returns 'row' for a multiple of 32, 'other' for another small number, and None for any other factor."""
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            begin, end = begin + 1, end - 1
        texts = [self._text(at) for at in range(begin, end)]
        if len(texts) == 3 and texts[1] == '.':
            return 'row' if texts == ['blockDim', '.', 'x'] and self._is_global else 'other' if texts[0] in (
                'threadIdx', 'blockDim') and texts[2] in ('y', 'z') else None
        variable = self._variables.of.get(begin) if len(texts) == 1 else None
        if variable is not None:
            return self._read_factor(*variable.value) if self._is_fixed(variable) and \
                variable.value[1] == variable.value[0] + 3 else None
        value, behind = self._read_number(begin)
        if value is None or behind != end or not 0 <= value <= _MOST:
            return None
        return 'row' if value % 32 == 0 else 'other'


def _is_number(text):
    return bool(_NUMBER.fullmatch(text)) and not re.fullmatch(r'0\d+[uU]?', text)
