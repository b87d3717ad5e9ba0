"""Reads conditions, and finds the parts that hold for a range of threads along x."""

import re

from cpu.comparisons import Bound, MIRRORED, Part
from tokens.brackets import matching

# Most nested parentheses around the operands of a condition that are read.
_MOST_NESTED = 8
WIDE = {'int', 'unsigned', 'unsigned int', 'uint', 'long', 'long long', 'int32_t', 'uint32_t', 'int64_t', 'size_t'}
# Matches numbers of the form 2^k - 1.
_MASK = re.compile('1|3|7|15|31|63|127|255|511|0[xX](1|3|7|0*[fF]|0*1[fF]|0*3[fF]|0*7[fF]|0*[fF]{2})')


class Ranges:
    """The part of an Innermost that reads the conditions of guards and choices."""

    def find_parts(self, begin, end, is_negated=False, is_rough=False, depth=0):
        """Returns the Parts of a condition that hold for a range of threads along x. `is_negated`: the operands of ||
        are read, and no Part holds for the threads of the range; `is_rough`: the range may lack some threads; `depth`:
        number of variables that were replaced by their values."""
        found = []
        for at, last in self.split_condition(begin, end, is_negated):
            used = self._variables.of.get(at) if last == at + 1 and not is_negated else None
            bound, others = self.read_bound(at, last), ([], [])
            if bound is None:
                others = self._read_scaled(at, last, is_negated)
            if bound and (is_rough or not (is_negated and bound.relation == '==')):
                found.append(Part(at, last, [bound], []))
            elif others[0]:
                found.append(Part(at, last, *others))
            elif used is not None and used.is_block and depth < 2 and (depth == 0 or not used.writes):
                found += self._find_parts_of(used, at, depth)
            elif self._is_of_row(at, last):
                found.append(Part(at, last, [], [(at, last)]))
            elif not is_negated and not is_rough:
                found += filter(None, [self._read_multiple(at, last)])
        return found

    def split_condition(self, begin, end, is_negated, nested=0):
        """Returns the places of all operands of &&, or of || if `is_negated`; an empty list if the condition has both
        operators."""
        operator, other = ('||', '&&') if is_negated else ('&&', '||')
        depth, ends = 0, [begin - 1]
        for at in range(begin, end):
            text = self._text(at)
            if text in ('or', '=') or depth == 0 and text in (other, '?', ','):
                return []
            if self._tokens[at].kind == 'punctuation':
                depth += (text in '([{') - (text in ')]}')
            if depth == 0 and text == operator:
                ends.append(at)
        found = []
        for before, last in zip(ends, [*ends[1:], end]):
            at, inner = before + 1, []
            if self._text(at) == '(' and matching(self._tokens, at, '(', ')') == last and nested < _MOST_NESTED:
                inner = self.split_condition(at + 1, last - 1, is_negated, nested + 1)
            found += inner or [(at, last)]
        return found

    def are_all(self, parts, begin, end, is_negated):
        """True if the Parts are the whole condition, so that the condition holds where all of them hold."""
        return len(parts) > 0 and all(part.is_whole for part in parts) and \
            len(parts) == len(self.split_condition(begin, end, is_negated))

    def _read_multiple(self, begin, end):
        """Returns the Part of a condition t % (2 * k) == 0, or of a variable with such a remainder; None for others."""
        is_negated = self._text(begin) == '!'
        if not is_negated and [self._text(at) for at in range(end - 2, end)] != ['==', '0']:
            return None
        first, last = self._strip(begin + 1, end) if is_negated else self._strip(begin, end - 2)
        variable, names = self._variables.of.get(first), []
        if last == first + 1 and variable is not None and variable.is_block and not variable.writes and \
                variable.is_integer and variable.value and type_of(variable) in WIDE:
            (first, last), names = self._strip(*variable.value), [(variable, variable.value)]
        elif is_negated and self._text(begin + 1) != '(':
            return None
        middle = first + 3 if self._text(first) == 'threadIdx' else \
            matching(self._tokens, first, '(', ')') if self._text(first) == '(' else first + 1
        size, is_mask = (middle + 1, last), self._text(middle) == '&'
        is_operand = last == middle + 2 or self._text(middle + 1) == '(' and matching(
            self._tokens, middle + 1, '(', ')') == last
        if not is_operand or self._text(middle) not in ('%', '&') or self._read_index(first, middle) != [] or \
                is_mask and not _MASK.fullmatch(self._text(middle + 1)) or not self.is_safe(*size) or \
                self._layout.tell(*size) is not None:
            return None
        return Part(begin, end, [], [], names, False, ((first, middle), size, ' + 1' * is_mask))

    def _strip(self, begin, end):
        """Returns the place of the expression within the parentheses around it, if there are any."""
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            begin, end = begin + 1, end - 1
        return begin, end

    def _find_parts_of(self, variable, at, depth):
        """Returns the Part of the variable at `at` as a condition, in a list; an empty list if its value has no
        Parts."""
        value = self._find_value(variable, at)
        inner = self.find_parts(*value, depth=depth + 1) if value else []
        count = len(self.split_condition(*value, False)) if inner else 0
        # A variable of an integer type may be 0 although its first value, a real number, is not 0.
        if not inner or not (count > 1 or inner[0].bounds or variable.is_bool):
            return []
        return [Part(at, at + 1, [b for p in inner for b in p.bounds], [r for p in inner for r in p.rows],
                     [(variable, value), *(v for p in inner for v in p.variables)],
                     self.are_all(inner, *value, False))]

    def _is_of_row(self, begin, end):
        """True if an expression is the same for a row of threads, and depends only on integers and indices."""
        return begin < end and all(
            self.step_of_name(at) == 0 and not self._layout.is_data(at) and self._text(at) not in ('[', '->', '{') and
            (self._text(at) not in ('*', '&') or self._variables.ends_value(at - 1)) and
            (self._text(at) != '(' or self._text(at - 1) in ('min', 'max') or self._tokens[at - 1].kind != 'identifier')
            for at in range(begin, end))

    def _read_comparison(self, begin, end):
        """Yields (operand, relation, other operand) for a comparison in both orders, as places; nothing for other
        expressions."""
        depth, middle = 0, []
        for at in range(begin, end):
            text = self._text(at)
            depth += (text in '([{') - (text in ')]}') if self._tokens[at].kind == 'punctuation' else 0
            if depth == 0 and text in ('<', '>', '<=', '>=', '==', '!=', '!', '&', '|', '^', '='):
                middle.append(at)
        if len(middle) == 1 and self._text(middle[0]) in MIRRORED:
            middle, relation = middle[0], self._text(middle[0])
            yield (begin, middle), relation, (middle + 1, end)
            yield (middle + 1, end), MIRRORED[relation], (begin, middle)

    def read_bound(self, begin, end):
        bounds = (self.make_bound(*comparison) for comparison in self._read_comparison(begin, end))
        return next((bound for bound in bounds if bound is not None), None)

    def _read_scaled(self, begin, end, is_negated):
        """Returns the Bounds of a comparison whose index grows by a factor or is min() or max() of such indices, an
        empty list of rows, and (variable, place of its value) if a variable holds the index. `is_negated`: as in
        find_parts()."""
        for index, relation, limit in self._read_comparison(begin, end):
            (first, last), types, names = self._strip(*index), '', []
            variable = self._variables.of.get(first) if last == first + 1 else None
            if variable is not None and self._has_one_value(variable):
                (first, last), types, names = self._strip(*variable.value), type_of(variable), [
                    (variable, variable.value)]
            operands, clamp = [(first, last)], 'max' if (relation[0] == '<') != is_negated else 'min'
            if self._text(first) == clamp and self._text(first + 1) == '(' and \
                    matching(self._tokens, first + 1, '(', ')') == last:
                comma = self._find_outside(first + 2, last - 1, ',')
                operands = [(first + 2, comma), (comma + 1, last - 1)]
            bounds = [Bound(place, relation, limit, [], types, self._read_factors(*place), other)
                      for place, other in zip(operands, operands[::-1] if len(operands) > 1 else [None])]
            if relation != '==' and self._layout.tell(*limit) is None and any(b.factors for b in bounds) and all(
                    b.factors is not None for b in bounds):
                return bounds, [], names
        return [], []

    def _has_one_value(self, variable):
        return variable.is_block and not variable.writes and variable.is_integer and not variable.is_auto and \
            variable.value is not None and self._text(variable.value[0] - 1) == '=' and type_of(variable) in WIDE

    def _read_factors(self, begin, end):
        """Returns the places of the factors by whose product a sum grows from thread to thread along x; () stands for
        the factor 1. The list is empty if the sum does not grow. Returns None for other values."""
        begin, end = self._strip(begin, end)
        if begin >= end or not self.is_safe(begin, end) or any(
                self._tokens[at].kind == 'punctuation' and self._text(at) not in '()+-*/%.' or
                self._text(at) == '(' and (self._tokens[at - 1].kind == 'identifier' or not self._variables.ends_value(
                    matching(self._tokens, at, '(', ')') - 1)) for at in range(begin, end)):
            return None
        found, first, depth = [], begin, 0
        for at in range(begin, end + 1):
            if at == end or depth == 0 and self._text(at) in ('+', '-') and self._variables.ends_value(at - 1):
                if self.step(first, at) != 0:
                    factors = self._read_product(first, at)
                    if found or not factors or self._text(first - 1) == '-' and first > begin:
                        return None
                    found = factors
                first = at + 1
            depth += (self._text(at) == '(') - (self._text(at) == ')') if at < end else 0
        return found

    def _read_product(self, begin, end):
        """Returns the factors by whose product a product grows from thread to thread along x, like _read_factors() for
        a sum."""
        found, index = [], None
        while begin < end:
            at = self._find_outside(begin, end, '*')
            if self._text(begin) in ('+', '-') or self._find_outside(begin, at, '/') < at or \
                    self._find_outside(begin, at, '%') < at:
                return None
            if self.step(begin, at) == 0:
                found.append((begin, at))
            elif index is not None:
                return None
            else:
                index = [()] if self.read_sum(begin, at, '') == [] else \
                    self._read_factors(begin, at) if self._strip(begin, at) != (begin, at) else None
                if index is None:
                    return None
            begin = at + 1
        return found + (index or [])

    def make_bound(self, index, relation, limit):
        """Returns the Bound of an index along x and a limit that is the same for the block; None for other operands."""
        if self.changing is not None and index[1] == index[0] + 1 and \
                self._variables.of.get(index[0]) is self.changing:
            index, types = self.changing.value, type_of(self.changing)
            chain = self.read_sum(*index, types) if types in WIDE else None
        else:
            types, chain = '', self._read_index(*index)
        is_bound = chain is not None and limit[0] < limit[1] and self._layout.tell(*limit) is None
        return Bound(index, relation, limit, chain, types) if is_bound else None

    def make_part(self, begin, end, bound):
        """Returns the Part that consists of one Bound."""
        return Part(begin, end, [bound], [])

    def is_safe(self, begin, end):
        """True if an expression may be computed where the source does not compute it: it reads no memory, and it
        divides only by numbers."""
        for at in range(begin, end):
            text, variable = self._text(at), self._variables.of.get(at)
            if text in ('[', '->', '{') or text in ('*', '&') and not self._variables.ends_value(at - 1) or \
                    self._layout.is_data(at) or variable is not None and (
                        variable.is_shared or variable.is_reference or not variable.is_block):
                return False
            if text in ('/', '%') and not re.fullmatch(r'[1-9]\d*[uUlL]*', self._text(at + 1)):
                return False
            if text == '(' and self._tokens[at - 1].kind == 'identifier' and self._text(at - 1) not in ('min', 'max'):
                return False
        return True

    def _read_index(self, begin, end):
        """Returns the chain of an index: what the compiler has to check so that the index grows by 1 from thread to
        thread along x. A chain's entry is (type, place, result of _find_alignment(), test of RowChecks). Returns None
        for other values."""
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            begin, end = begin + 1, end - 1
        if begin + 1 != end or self._is_lane(begin, end):
            return self.read_sum(begin, end, '')
        variable = self._variables.of.get(begin)
        if variable in self._layout.strides:
            return self._layout.strides[variable].chain
        if variable is None or not variable.is_block or variable.writes or not variable.is_integer or \
                variable.is_auto or variable.value is None or self._text(variable.value[0] - 1) != '=':
            return None
        return self._layout.checks.mark(variable, self.read_sum(*variable.value, type_of(variable)))

    def _is_lane(self, begin, end):
        return self._layout.warps is not None and self._layout.warps.is_lane(begin, end)

    def read_sum(self, begin, end, types, operators='()+-*/%.'):
        """Returns the chain of an expression that is converted to the type `types`, like _read_index(); '' stands for
        its own type."""
        value = range(begin, end)
        if self._layout.is_global(begin, end) or self._is_lane(begin, end) or \
                [self._text(at) for at in value] == ['threadIdx', '.', 'x'] or len(value) == 1 and \
                self._read_index(begin, end) == [] and type_of(self._variables.of[begin]) in WIDE:
            return []
        if self.step(begin, end) != 1 or any(
                self._tokens[at].kind == 'punctuation' and self._text(at) not in operators or
                self._text(at) == '(' and not self._variables.ends_value(matching(self._tokens, at, '(', ')') - 1)
                for at in value):
            return None
        chain, check, near = [], None, self._layout.checks.find_near(begin, end) if types == '' else None
        for at in value:
            if self.step_of_name(at) == 1 and self._text(at) != 'threadIdx':
                inner = self._read_index(at, at + 1)
                if inner is None or type_of(self._variables.of[at]) not in WIDE:
                    return None
                chain += inner
                check = check or self._layout.checks.check_near(near, at, inner)
        chain.insert(0, (types, (begin, end), self._find_alignment(begin, end), check))
        if all(self._tokens[at].kind == 'number' and len(self._text(at)) < 6 and self._text(at).isdigit() or
               self._text(at) in ('threadIdx', '.', '+') or self._text(at - 1) == '.' or len(chain) == 1 and
               self.step_of_name(at) == 1 for at in value):
            return []
        return chain

    def _find_alignment(self, begin, end):
        """Returns (number, length of a row) as texts if an expression is threadIdx.x plus a product with this number,
        as in blockIdx.y * 32 + threadIdx.x; None for others."""
        ends, depth, found = [begin - 1], 0, None
        for at in range(begin, end):
            depth += (self._text(at) in '([') - (self._text(at) in ')]')
            if depth == 0 and self._text(at) == '+':
                ends.append(at)
        if len(ends) != 2 or not self._row:
            return None
        terms = [self._strip(ends[0] + 1, ends[1]), self._strip(ends[1] + 1, end)]
        for (first, last), product in (terms, terms[::-1]):
            variable = self._variables.of.get(first) if last == first + 1 else None
            if variable is not None and not variable.writes and variable.value and variable.is_integer and \
                    self._read_index(first, last) == []:
                first, last = variable.value
            if [self._text(at) for at in range(first, last)] == ['threadIdx', '.', 'x']:
                found = product
        texts = [self._text(at) for at in range(*found)] if found else []
        if texts.count('*') != 1 or not all(self._text(at) == '*' or self._tokens[at].kind == 'number' or
                                            self._tokens[at].kind == 'identifier' or self._text(at) == '.'
                                            for at in range(*found)):
            return None
        middle = found[0] + texts.index('*')
        for size in ((middle + 1, found[1]), (found[0], middle)):
            if size[1] == size[0] + 1 and (self._tokens[size[0]].kind == 'number' or
                                           self._text(size[0]) in self._layout.constants):
                return self._text(size[0]), self._row
        return None


def type_of(variable):
    return ' '.join(t.text for t in variable.types if t.text != 'const')
