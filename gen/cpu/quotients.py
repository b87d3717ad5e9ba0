"""Divides rows of threads where the quotient of an index and a divisor that is known only at run time changes.

    int y = i / w, x = i % w;           for each range of threads with the same i / w:
    out[i] = in[y * pitch + x];             int q = i / w, r = i % w;   (of the first thread of the range)
                                            for each thread of it: { int y = q, x = r + t; out[i] = ... }

Within such a range all threads have the same quotient, and the remainder grows by 1 from thread to thread. So compilers
vectorize the code, which would otherwise divide in each thread."""

from cpu.pieces import Wraps
from cpu.ranges import type_of, WIDE
from cpu.strides import spell_doubts
from tokens.brackets import matching

# A quotient is read only after one of these tokens. Other operators bind its first operand at least as tightly as / and
# %, and other parentheses are those of a cast or a call.
_BEFORE = {'=', '(', '[', ',', '+', '-', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '?', 'return', ';', '{'}
_BEHIND = {'(', '.', '->', '::', '[', '{'}


class Quotient:
    """A quotient or a remainder. `place`: its beginning and end; `index`, `divisor`: places of its operands; `bound`:
    the Bound of both, or None; `source`: the Quotient that is the index, or its value, or None; `is_level`: the value
    is the same for a range of threads; `is_loaded`: it is in the value of a variable of another region."""

    def __init__(self, place, index, divisor, bound, source, is_level, is_loaded):
        self.begin, self.end = place
        self.index, self.divisor, self.bound, self.source = index, divisor, bound, source
        self.is_level, self.is_loaded = is_level, is_loaded
        self.name = ''      # name of the value in a range's first thread in the generated text

    def places(self):
        return self.index, self.divisor


class QuotientText:
    """The part of a Rewriter that finds the quotients of indices and writes their text."""

    def _find_quotients(self, region, used):
        """Returns the Quotients of a region. Each one follows the Quotients from which it is computed."""
        if self.of_warps or region.section is not None or region.exchanges or region.has_return or \
                region.only_declares and self._of_home.get(region, set()) <= self._cheap or \
                any(self._begins_lambda(at) for at in range(region.begin, region.end)):
            return []
        found, loaded = {}, [v for v in self._needed(used) if self._home.get(v) is not region and v in self._again]
        for variable in loaded:
            if variable not in self._layout.strides and variable not in self._changes:
                self._add_quotients(*variable.value, region, True, found)
        self._add_quotients(region.begin, region.end, region, False, found)
        names = [v.name for v in self._needed(self._used_by(found.values()))]
        return list(found.values()) if len(names) == len(set(names)) else []

    def _used_by(self, quotients):
        return {self._of[at] for q in quotients for place in q.places() for at in range(*place) if at in self._of}

    def _begins_lambda(self, at):
        """True if a lambda begins at `at`. The parameters of a lambda are no Variables, and may hide Variables."""
        return self._text_at(at) == '[' and not self._variables.ends_value(at - 1) and \
            '[' not in (self._text_at(at - 1), self._text_at(at + 1))

    def _is_known_before(self, variable, region):
        """True if a variable has its value before the region begins: all threads share it and the region does not
        change it, or it is computed again. The region must have no other variable with its name."""
        if region.hides(variable, self._variables.all, variable in self._cheap) or any(
                region.begin <= at < region.end for at in variable.writes):
            return False
        if variable in self._cheap:
            return variable not in self._advanced and all(
                self._is_known_before(self._of[at], region) for at in self._sources_of(variable)
                if at in self._of and self._of[at] is not variable)
        return variable not in self._home and variable.escape is None

    def _add_quotients(self, begin, end, region, is_loaded, found):
        """Adds the quotients between two places to `found`, a map from a place to its Quotient."""
        for at in range(begin, end):
            if self._text_at(at) not in ('/', '%') or self._text_at(at + 1) == '=':
                continue
            quotient = self._make_quotient(begin, at, is_loaded, found)
            used = self._used_by([quotient] if quotient else ())
            if quotient and all(self._is_known_before(v, region) for v in used):
                found[quotient.begin, quotient.end] = quotient
                for variable in used & self._cheap:
                    self._add_again(variable)

    def _text_at(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def _make_quotient(self, least, at, is_loaded, found):
        """Returns the Quotient of the operator at `at`; None if its operands are no index and no divisor that all
        threads share."""
        last = at + 2
        if self._text_at(at + 1) == '(':
            last = matching(self._tokens, at + 1, '(', ')')
            if not self._variables.ends_value(last - 1):
                return None
        divisor, innermost = (at + 1, last), self._layout.innermost
        of_divisor = [self._of[i] for i in range(*divisor) if i in self._of]
        if not of_divisor or not all(v.is_integer and v.is_block | (v.statement is None) for v in of_divisor) or \
                self._text_at(last) in _BEHIND or self._layout.tell(*divisor) is not None or \
                not innermost.is_safe(*divisor):
            return None
        source = next((q for (_, end), q in found.items() if end == at and q.begin >= least), None)
        begin = source.begin if source else self._begin_of_operand(at)
        if begin is None or begin < least or self._variables.may_be_float(begin, last):
            return None
        index, bound, inner = (begin, at), None, (begin, at)
        while self._text_at(inner[0]) == '(':
            inner = inner[0] + 1, inner[1] - 1
        source = source or found.get(inner) or self._find_source(*inner, found)
        if source is None:
            bound = innermost.make_bound(index, '<', divisor) if innermost.is_safe(*index) else None
            if bound is None:
                return None
        is_level = self._text_at(at) == '/' or source is not None and source.is_level
        return Quotient((begin, last), index, divisor, bound, source, is_level, is_loaded)

    def _begin_of_operand(self, end):
        """Returns the place at which the operand that ends at `end` begins, if it is a name, threadIdx.x or an
        expression in parentheses; None for others, such as a call."""
        begin = end - 1
        if self._text_at(begin) == ')':
            begin = self._variables.find_opening(begin)
        elif [self._text_at(at) for at in range(end - 3, end)] == ['threadIdx', '.', 'x']:
            begin = end - 3
        elif begin not in self._of:
            return None
        before = self._text_at(begin - 1)
        is_sign = before in ('+', '-') and not self._variables.ends_value(begin - 2)
        is_call = before == '>' and self._text_at(begin) == '('     # f<T>(i) / w or static_cast<T>(i) / w
        return begin if before in _BEFORE and not is_sign and not is_call else None

    def _find_source(self, begin, end, found):
        """Returns the Quotient that is the whole value of the variable between two places; None if there is none."""
        variable = self._of.get(begin) if end == begin + 1 else None
        if variable is None or variable.value is None or variable.writes or variable.escape is not None or \
                not variable.is_integer or not variable.is_block or self._text_at(variable.value[0] - 1) != '=':
            return None
        source = found.get(variable.value)
        return source if source and (source.is_level or type_of(variable) in WIDE) else None

    def _write_quotients(self, region, wraps, bounds, close):
        """Returns the texts before and after a loop over cf__span that run the loop for each range of a row with one
        quotient, or for the whole row, and replaces the quotients. `bounds`, `close`: the two texts without ranges."""
        values, asks, used = '', {}, set()
        for quotient in self._quotients[region]:
            self._known += 1
            quotient.name, divide = f'cf__quotient_{self._known}', ''
            index, divisor = self._spell(*quotient.index), self._spell(*quotient.divisor)
            whole, own = self._spell(quotient.begin, quotient.end), self._used_by([quotient])
            if quotient.bound or not quotient.source.is_level:
                known = self._spell_known(quotient, index, divisor)
                asks[f'cf__may_divide_row<{known}>({index}, {divisor})'] = None
                used |= own
                divide = (f'cf__span.cf__keep_one_quotient<decltype(cf__range)::cf__is_inside && {known}>({index}, '
                          f'{divisor}); ')
            values += (f'[[maybe_unused]] const auto {quotient.name} = [&] {{ const int cf__x = cf__span.cf__begin; '
                       f'CF__ENTER {self._load(self._needed(own), None)}{divide}'
                       f'return cf__first_value<decltype({whole})>{{{whole}}}; }}(); ')
            value = f'{quotient.name}.cf__' + ('value' if quotient.is_level else 'at(cf__x - cf__span.cf__begin)')
            place = wraps if quotient.is_loaded else Wraps(self._before, self._after)
            place.wrap(quotient.begin, quotient.end, f'(cf__range.cf__is_inside ? {value} : (', '))')
        front = (f'const bool cf__is_divided = [&] {{ const int cf__x = cf__span.cf__begin; CF__ENTER '
                 f"{self._load(self._needed(used), None)}return {' && '.join(asks)}; }}(); "
                 'const auto cf__run_ranges = [&](auto cf__range, cf__span_of &cf__rest) CF__INLINE { '
                 f'cf__span_of cf__span = cf__rest; {values}cf__rest.cf__begin = cf__span.cf__end; ')
        back = (' }; cf__span_of cf__untaken = cf__span; '
                'if (cf__is_divided) while (cf__untaken.cf__begin < cf__untaken.cf__end) '
                'cf__run_ranges(cf__piece_of<1>(), cf__untaken); else cf__run_ranges(cf__piece_of<0>(), cf__untaken);')
        return (bounds or '{ cf__span_of cf__span(cf__scope); ') + front, back + (close or ' }')

    def _spell_known(self, quotient, index, divisor):
        """Returns the condition under which the types of the operands allow to divide a row where a quotient
        changes."""
        limit = f'decltype({divisor})'
        if quotient.bound:
            return spell_doubts(f'decltype({index})', limit, quotient.bound.chain, self._spell)
        source = self._spell(quotient.source.begin, quotient.source.end)
        return f'cf__is_bound<decltype({index}), {limit}, false> && sizeof({index}) >= sizeof({source})'
