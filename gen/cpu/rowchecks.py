"""Finds indices that grow by 1 from thread to thread unless they wrap around, and writes a test for each block.

    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
                    if the first thread's index is close to 2^31, the block runs in the other form

In a block that passes the test, no index wraps around: a comparison of the index holds for a range of threads, and
compilers vectorize loops over threads. Other blocks run in the kernel's other form, thread by thread."""

import re

from cpu.ranges import type_of, WIDE

SIGNED = {'int', 'long', 'long long', 'int32_t', 'int64_t'}
_MOST_NESTED = 6
_NUMBER = re.compile(r'(0|[1-9]\d{0,6}|0[xX][\da-fA-F]{1,5})[uU]?')


class RowChecks:
    """The tests of one kernel. `is_used`: the kernel may have tests; `found`: maps the variable of an index to True if
    the index may be negative."""

    def __init__(self, tokens, variables, layout, is_used):
        self._tokens, self._variables, self._layout, self._is_used = tokens, variables, layout, is_used
        self.found = {}
        self._starts = {}           # maps a loop's variable to (True if it is signed, True if it may be negative)
        self._sizes = {}            # maps the place of the limit or the step of such a loop to the loop's variable
        self._replaced = ()

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    # ---- Finding tests

    def mark(self, variable, chain):
        """Returns the chain of an index, a result of Ranges.read_sum(), with the test of the index's declaration
        added."""
        if not chain or variable.writes or variable.escape is not None or variable.statement is None or \
                variable.statement.kind != 'declaration' or variable.is_static or variable.is_volatile or \
                type_of(variable) not in WIDE or not self._can_test(*variable.value):
            return chain
        may_be_less = self._may_be_less(variable, variable.value)
        if may_be_less and is_signed(self._tokens, self._variables, variable.value):
            return chain
        self.found[variable] = may_be_less
        return [(*chain[0][:3], ('own', self.found[variable])), *chain[1:]]

    def mark_loop(self, variable, chain, sizes, has_sign):
        """Returns the chain of a loop's variable with a test of its first value added; None if the variable may wrap
        around. `sizes`: places of the limit and the step; `has_sign`: the variable, the limit and the step are
        signed."""
        can_test = self._can_test(*variable.value) and (has_sign or all(self._can_test(*size) for size in sizes))
        if not can_test or has_sign and not chain:
            return chain if has_sign or chain == [] else None
        self._starts[variable] = has_sign, has_sign and self._may_be_less(variable, variable.value)
        if not has_sign:
            self._sizes.update(dict.fromkeys(sizes, variable))
        return chain and [(*chain[0][:3], ('own', self._starts[variable][1])), *chain[1:]]

    def has_loop(self, variable):
        """True if the variable of a loop is unsigned and surely does not wrap around."""
        return not self._starts.get(variable, (True,))[0]

    def _can_test(self, begin, end, nested=0):
        """True if the value of an expression is known before the block runs."""
        if not self._is_used or nested > _MOST_NESTED or begin == end or self._layout.warps is not None or \
                not self._layout.innermost.is_safe(begin, end):
            return False
        for at in range(begin, end):
            variable, text = self._variables.of.get(at), self._text(at)
            if self._tokens[at].kind == 'punctuation' and text not in '()+-*/%.' and text not in ('<<', '>>', '&'):
                return False
            if variable is not None and (variable.writes or variable.escape is not None or variable.is_volatile or
                                         not variable.is_integer):
                return False
            if variable is not None and variable.statement is not None and (
                    variable.statement.kind != 'declaration' or variable.value is None or variable.is_auto or
                    variable.is_static or self._text(variable.value[0] - 1) != '=' or
                    not self._can_test(*variable.value, nested + 1)):
                return False
        return True

    def _may_be_less(self, variable, place):
        """True if an index may be negative. An unsigned index is then very large, and the test sends the block to the
        other form."""
        texts = [self._text(at) for at in range(*place)]
        used = [self._variables.of[at] for at in range(*place) if at in self._variables.of]
        if '-' in texts or any(v.value and self._may_be_less(v, v.value) for v in used if v.statement is not None):
            return True
        return type_of(variable) in SIGNED and any(
            v.statement is None and {t.text for t in v.types}.isdisjoint(('unsigned', 'uint', 'uint32_t', 'size_t'))
            for v in used)

    def find_near(self, begin, end):
        """Returns the place of the index, and the text of the largest sum of the other operands, for an expression that
        adds numbers or block sizes to an index; None for others."""
        ends, depth = [begin - 1], 0
        for at in range(begin, end):
            depth += (self._text(at) in '([') - (self._text(at) in ')]')
            if depth == 0 and self._text(at) == '+':
                ends.append(at)
        found, more = [], []
        for first, last in ((a + 1, b) for a, b in zip(ends, [*ends[1:], end])):
            texts = [self._text(at) for at in range(first, last)]
            if texts in [['blockDim', '.', axis] for axis in 'xyz']:
                more.append('1024')
            elif len(texts) == 1 and first in self._variables.of and self._layout.innermost.step_of_name(first) == 1:
                found.append((first, last))
                variable = self._variables.of[first]
                if variable in self._layout.strides and type_of(variable) not in SIGNED and not self.has_loop(variable):
                    return None
            elif len(texts) == 1 and first not in self._variables.of and (
                    texts[0] in self._layout.constants or _NUMBER.fullmatch(texts[0])):
                more += texts
            else:
                return None
        return (found[0], ' + '.join(more)) if len(found) == 1 and more else None

    def check_near(self, near, at, inner):
        """Returns the test for an expression near an index as a part of a chain's entry; None if it needs no test.
        `near`: result of find_near(); `inner`: chain of the index at `at`."""
        is_known = near is not None and near[0][0] == at and (not inner or inner[0][3] == ('own', False))
        return ('near', *near, inner[0] if inner else None) if is_known else None

    # ---- Text

    def spell(self, spell, rows, replaced):
        """Returns the text that tests a block before it runs, '' without tests. `spell`: returns the text of a place;
        `rows`: text of the loops over rows; `replaced`: maps places in global indices to new texts."""
        self._replaced = replaced
        tests = [f'cf__wraps_around<{type_of(v)}, {str(less).lower()}>({self._expand(*v.value, spell)})'
                 for v, less in self.found.items()]
        for variable, (has_sign, less) in self._starts.items():
            value = self._expand(*variable.value, spell)
            tests.append(f'cf__wraps_around<{type_of(variable)}, {str(less).lower()}>({value})' if has_sign else
                         f'cf__is_far<{type_of(variable)}>(static_cast<{type_of(variable)}>({value}))')
        tests += [f'cf__is_far<{type_of(v)}>({self._expand(*place, spell)})' for place, v in self._sizes.items()]
        if not tests:
            return ''
        return f"{rows}{{ CF__FIRST_OF_ROW if ({' || '.join(tests)}) CF__LEAVE_BLOCK }} "

    def _expand(self, begin, end, spell):
        text = ''
        for at in range(begin, end):
            variable = self._variables.of.get(at)
            text += spell(at, at + 1) if variable is None or variable.statement is None or at in self._replaced else \
                f'static_cast<{type_of(variable)}>({self._expand(*variable.value, spell)})'
        return text

    def wrap(self, variable, value):
        """Returns the text of an index's value. It tells compilers that the index does not wrap around within a row."""
        if variable not in self.found:
            return value
        return f'cf__in_row<{type_of(variable)}, {str(self.found[variable]).lower()}>({value}, threadIdx.x)'

    def wrap_declarations(self, variables, moved, wraps):
        """Inserts the text of wrap() into the declarations of `variables`. `moved`: places whose text stands elsewhere;
        `wraps`: the pieces.Wraps of the kernel."""
        for variable in self.found:
            if variable in variables and variable.value[0] not in moved:
                front, _, back = self.wrap(variable, '\0').partition('\0')
                wraps.wrap(*variable.value, front, back)


def is_signed(tokens, variables, place, others=frozenset(), names=frozenset()):
    """True if all numbers in an expression are surely signed. `others`: further types that count as signed; `names`:
    other names that the expression may contain."""
    number = re.compile(r'\d{1,9}' + r'|[\d.]+f?' * ('float' in others))
    return all({t.text for t in variables.of[at].types} - {'const'} <= SIGNED | others if at in variables.of else
               tokens[at].kind == 'punctuation' or number.fullmatch(tokens[at].text) or
               tokens[at].text in (SIGNED | others | names) for at in range(*place))


def spell_tested(check, types, own, spell):
    """Returns the texts of two conditions: an index surely does not wrap around within a row, and an index is not
    negative. Both are '' without a test. `check`: entry of a chain; `types`, `own`: types of the index and of its
    value."""
    if check is None:
        return '', ''
    if check[0] == 'own':
        text = f'cf__is_tested<{types}, {own}, {str(check[1]).lower()}>'
        return text, '' if check[1] else text
    _, index, more, inner = check
    text = f'cf__is_near<{own}, decltype({spell(*index)}), {more}>'
    if inner is not None:
        types, value, _, _ = inner
        text = f'({text} && cf__is_tested<{types}, decltype({spell(*value)}), false>)'
    return text, text
