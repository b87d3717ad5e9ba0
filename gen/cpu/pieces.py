"""Finds conditions in a region that hold for a range of threads along x, and divides the loop over threads by them.

    y[t] = t >= k ? x[t - k] : 0;       for threads outside: y[t] = 0;  for those inside: y[t] = x[t - k];

The threads inside are those for which all conditions hold; the others are before and after these. The loop becomes one
loop for each of the three parts. Compilers vectorize such loops, but no loop that reads memory under a condition."""

from cpu.statements import LOOPS
from cpu.strides import spell_doubts
from tokens.brackets import matching

_ENDS = {',', ';', '=', 'return', '?', ':'}
# Map a relation to the method of cf__span_of that narrows a range for it, and to the method for its negation.
_RELATIONS = {'<': 'below', '<=': 'up_to', '>': 'above', '>=': 'from', '==': 'equal'}
_OPPOSITE = {'<': 'from', '<=': 'above', '>': 'up_to', '>=': 'below', '==': 'unequal'}
# Most tokens of a region that is divided, since each piece compiles the region's code again.
_MOST_TOKENS = 1000


class Choice:
    """A condition, or a call of min() or max(), that divides a loop over threads. `parts`: result of find_parts();
    `is_negated`: no part holds for threads inside; `index`: place of the call's value for threads inside; `is_exact`:
    the condition has the opposite value for threads outside; `is_whole`: it has no other parts; `is_loaded`: it is in
    the value of a variable of another region; `earlier`: choices that have to be whole and known, too."""

    def __init__(self, begin, end, parts, is_negated=False, index=None, is_exact=False):
        self.begin, self.end, self.parts, self.is_negated = begin, end, parts, is_negated
        self.index, self.is_exact, self.is_loaded = index, is_exact, False
        self.is_whole, self.earlier = True, ()


class Pieces:
    """Finds the Choices in the code of one kernel. `layout`: the kernel's Layout."""

    def __init__(self, tokens, layout, variables):
        self._tokens, self._innermost, self._selects = tokens, layout.innermost, layout.selects
        self._variables = variables

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def may_divide(self, begin, end):
        """True if the threads may run the code between two places in any order, and the code is short enough to be
        divided."""
        return end - begin <= _MOST_TOKENS and self._innermost.is_plain(begin, end)

    def find_of(self, variable, changes, is_loaded, end):
        """Returns the Choices in the statements `changes`, which change a variable, up to the first one that changes it
        for threads inside. `is_loaded`: another region declares the variable; the Choices in its first value are then
        included. Otherwise the variable's own region, which ends at `end`, has to contain all changes."""
        if not is_loaded and changes[-1].end > end:
            return []
        found = self.find(*variable.value) if is_loaded else []
        self._innermost.changing = variable
        for statement in changes:
            choices = self._read_if(statement) if statement.kind == 'if' else \
                self.find(statement.begin, statement.end)
            if len(choices) != 1 or not self._keeps(variable, statement, choices[0]):
                break
            choices[0].earlier = [c for c in found if c.begin >= changes[0].begin]
            found += choices
        self._innermost.changing = None
        for choice in found:
            choice.is_loaded = is_loaded
        return found

    def _read_if(self, statement):
        begin, end = statement.parts[0]
        parts = self._innermost.find_parts(begin, end, True, is_rough=True)
        is_safe = all(self._innermost.is_safe(*p) for part in parts for p in part.places())
        return [Choice(begin, end, parts, True)] if is_safe and any(part.bounds for part in parts) else []

    def _keeps(self, variable, statement, choice):
        """True if a statement, whose only Choice is `choice`, does not change a variable for threads inside."""
        place = choice.begin, choice.end
        if choice.index is None and not self._innermost.are_all(choice.parts, *place, choice.is_negated):
            return False
        if statement.kind == 'if':
            return True
        texts = [self._text(at) for at in range(statement.begin + 2, statement.end - 1)]
        if choice.index is not None:
            return place == (statement.begin + 2, statement.end - 1) and \
                [self._text(at) for at in range(*choice.index)] == [variable.name]
        if texts.count('?') != 1 or texts.count(':') != 1:
            return False
        first, last = texts.index('?'), texts.index(':')
        return (texts[last + 1:] if choice.is_negated else texts[first + 1:last]) in (
            [variable.name], ['(', variable.name, ')'])

    def find(self, begin, end):
        """Returns the Choices in the code between two places."""
        found, at = [], begin
        while at < end:
            choice = None
            if self._text(at) == '?' and self._tokens[at].kind == 'punctuation':
                choice = self._read_condition(begin, at)
            elif self._text(at) == 'if':
                choice = self._read_select(self._selects[at]) if at in self._selects else self._read_edge(at)
            elif self._text(at) in ('min', 'max') and self._text(at - 1) not in ('.', '->', '::'):
                choice = self._read_clamp(at)
            if choice is not None and all(self._innermost.is_safe(*p) for part in choice.parts for p in part.places()):
                found.append(choice)
                at = max(at, choice.end - 1)
            at += 1
        return found

    def _read_edge(self, at):
        """Returns the Choice of the `if` at `at` whose branch only threads at an edge run, so that all others are
        inside; None for other statements."""
        begin, end = at + 2, matching(self._tokens, at + 1, '(', ')') - 1 if self._text(at + 1) == '(' else at
        parts = self._innermost.find_parts(begin, end, False, is_rough=True)
        single = [part for part in parts if any(bound.relation == '==' for bound in part.bounds)]
        is_negated = bool(single) or not parts
        if single:
            parts = [part for part in single if len(part.bounds) == 1][:1]
        elif not parts:
            parts = self._innermost.find_parts(begin, end, True, is_rough=True)
        elif not self._innermost.are_all(parts, begin, end, False):
            return None
        return Choice(begin, end, parts, is_negated) if any(part.bounds for part in parts) else None

    def _read_select(self, statement):
        """Returns the Choice of an `if` that gives a variable an index or another value; None for other statements. For
        threads inside, the value is the index."""
        values = [self._variables.find_value(child.unwrap()) for child in statement.children]
        changed = {self._variables.of[child.unwrap().begin] for child in statement.children if all(values)}
        variable = changed.pop() if len(changed) == 1 else None
        if variable is None or not variable.is_integer or variable.value is not None or \
                self._text(statement.begin + 1) != '(':
            return None
        steps = [self._innermost.step(*value) for value in values]
        if steps.count(1) > 1 or len(steps) > 1 and 1 not in steps:
            return None
        (begin, end), is_negated = statement.parts[0], steps[0] != 1
        parts = self._innermost.find_parts(begin, end, False, is_rough=True)
        if is_negated:
            # A conjunction is false as soon as one of its comparisons is false.
            parts = [part for part in parts if len(part.bounds) == 1][:1] or \
                self._innermost.find_parts(begin, end, True, is_rough=True)
        elif not self._innermost.are_all(parts, begin, end, False):
            return None
        return Choice(begin, end, parts, is_negated) if any(part.bounds for part in parts) else None

    def _read_condition(self, first, at):
        """Returns the Choice of the condition before the question mark at `at`; None for other conditions."""
        begin, depth = at, 0
        while begin > first:
            text = self._text(begin - 1)
            if self._tokens[begin - 1].kind == 'punctuation':
                depth += (text in ')]}') - (text in '([{')
            if depth < 0 or depth == 0 and (text in _ENDS or text == '}'):
                break
            begin -= 1
        end = at
        while self._text(begin) == '(' and matching(self._tokens, begin, '(', ')') == end:
            begin, end = begin + 1, end - 1
        texts = [t.text for t in self._tokens[begin:end]]
        single = self._innermost.read_bound(begin, end)
        is_negated = single is not None and single.relation == '==' or '||' in texts or (
            '&&' not in texts and not self._names_index(at + 1))
        parts = self._innermost.find_parts(begin, end, is_negated, is_rough=True)
        bounds = [bound for part in parts for bound in part.bounds]
        is_single = any(bound.relation == '==' for bound in bounds)
        if not bounds or is_single and not is_negated:
            return None
        is_exact = not is_single and self._innermost.are_all(parts, begin, end, is_negated)
        return Choice(begin, end, parts, is_negated, None, is_exact)

    def _names_index(self, at):
        """True if the operand of a ?: that begins at `at` names an index along x."""
        depth = 0
        while depth > 0 or self._text(at) not in (':', ';', ''):
            text = self._text(at)
            depth += (text in '([{?') - (text in ')]}:') if self._tokens[at].kind == 'punctuation' else 0
            if depth < 0:
                return False
            if self._innermost.step_of_name(at) != 0:
                return True
            at += 1
        return False

    def _read_clamp(self, at):
        """Returns the Choice of min() or max() of an index and a limit at `at`; None for others. For threads inside,
        the value is the index."""
        end = matching(self._tokens, at + 1, '(', ')') if self._text(at + 1) == '(' else at
        commas = [i for i in range(at + 2, end - 1) if self._text(i) == ',' and self._is_outside(at + 2, i)]
        if len(commas) != 1:
            return None
        operands = [(at + 2, commas[0]), (commas[0] + 1, end - 1)]
        for index, limit in (operands, operands[::-1]):
            inner = self._read_clamp(index[0]) if self._text(index[0]) in ('min', 'max') else None
            parts = []
            if inner is not None:
                if inner.end != index[1]:
                    continue
                index, parts = inner.index, inner.parts
            bound = self._innermost.make_bound(index, {'min': '<=', 'max': '>='}[self._text(at)], limit)
            if bound is not None:
                return Choice(at, end, parts + [self._innermost.make_part(at, end, bound)], False, index)
        return None

    def _is_outside(self, begin, at):
        texts = [t.text for t in self._tokens[begin:at] if t.kind == 'punctuation']
        return sum(text in ('(', '[', '{') for text in texts) == sum(text in (')', ']', '}') for text in texts)


def is_edge(innermost, statement, is_coarse):
    """True if an `if` has no loops, and neither its condition nor the negation holds for one range of threads. The loop
    over threads is then divided where the condition changes. `innermost`, `is_coarse`: as in the Layout."""
    if statement.kind != 'if' or is_coarse or len(statement.children) < 2 or not innermost.is_plain(
            statement.begin, statement.end):
        return False
    place = statement.parts[0]
    return not innermost.are_all(innermost.find_parts(*place, True), *place, True) and all(
        s.kind not in LOOPS for s in statement.walk())


def stays_whole(layout, variables, statement):
    """True if an `if` is a part of a region: it only chooses between values, or it divides the loop over threads."""
    return _is_select(layout, variables, statement) or is_edge(layout.innermost, statement, layout.is_coarse)


def _is_select(layout, variables, statement):
    """True if an `if` only assigns numbers to variables of a thread and accesses no memory, so that compilers vectorize
    it as a choice between two values. Such statements are noted in `layout`."""
    if statement.kind in ('if', 'block'):
        found = all(_is_select(layout, variables, s) for s in statement.children)
        layout.selects.update([(statement.begin, statement)] * found)
        return found
    value = variables.find_value(statement)
    variable = variables.of[statement.begin] if value else None
    if variable is None or not (variable.is_number and variable.is_scalar) or variable.is_shared or \
            variable.is_pointer or variable.is_reference or variable.is_volatile:
        return False
    return layout.innermost.is_safe(*value)


def has_ranges(regions, parts, choices):
    """True if a condition divides a loop over threads, or is a guard around some regions and not around all. `parts`:
    maps a guard to its parts; `choices`: maps a region to its Choices."""
    bounded = [{g for g in region.guards if any(part.bounds for part in parts[g])}
               for region in regions if not region.only_declares]
    return any(guards != bounded[0] for guards in bounded) or any(choices.values())


class Wraps:
    """Two maps from a token's place to the text that is inserted before and after the token."""

    def __init__(self, before, after):
        self._before, self._after = before, after

    def wrap(self, begin, end, front, back):
        """Inserts `front` before and `back` after the tokens between two places, around all texts of earlier calls."""
        self._before[begin] = front + self._before.get(begin, '')
        self._after[end - 1] = back + self._after.get(end - 1, '')

    def spell(self, begin, end, spell):
        """Returns the source's text between two places with the inserted texts. `spell`: returns it without these
        texts."""
        cuts = sorted({begin, end, *(at for at in self._before if begin <= at < end),
                       *(at + 1 for at in self._after if begin <= at < end)})
        return ''.join(self._before.get(first, '') + spell(first, last) + self._after.get(last - 1, '')
                       for first, last in zip(cuts, cuts[1:]))


def spell_narrow(span, part, is_negated, known, spell):
    """Returns the C++ text that narrows the range `span` to the threads for which a part holds, and sets the bool
    `known`, which tells if the types allow this. `spell`: returns the text of a place."""
    calls, kinds, sign = '', [], '!' * is_negated
    for bound in part.bounds:
        name = (_OPPOSITE if is_negated else _RELATIONS)[bound.relation]
        index, limit = spell(*bound.index), spell(*bound.limit)
        if bound.factors is not None:
            kinds.append(f'{known}_{len(kinds)}')
            calls += f'const bool {kinds[-1]} = {span}.{_spell_scaled(bound, name, spell)}; '
            continue
        index = f'static_cast<{bound.types}>({index})' if bound.types else index
        kinds.append(spell_doubts(f'decltype({index})', f'decltype({limit})', bound.chain, spell))
        calls += f'{span}.cf__{name}<{kinds[-1]}>({index}, {limit}); '
    calls += ''.join(f'{span}.cf__only({sign}({spell(*place)})); ' for place in part.rows)
    return f"{calls}{known} = {' && '.join(kinds) or 'true'}; "


def _spell_scaled(bound, name, spell):
    """Returns the call that narrows a range by a Bound with factors, and returns if types and values allow this."""
    index = spell(*bound.index)
    by = '1ull' + ''.join(f' * ({spell(*factor)})' for factor in bound.factors if factor) if bound.factors else '0'
    own = f'decltype({index})'
    types = bound.types or own
    # min() and max() compare their operands before the result is converted.
    others = [types, f'decltype({spell(*bound.other)})'] if bound.other else []
    is_same = ' && '.join(f'cf__is_one<{own}, {other}>' for other in others) or 'true'
    is_below = 'true' if name in ('below', 'up_to') else 'false'
    return (f'cf__scaled<{own}, {is_below}, {is_same}>(static_cast<{types}>({index}), {by}, {spell(*bound.limit)}, '
            f"{int(name in ('up_to', 'above'))})")


def spell_multiple(part, spell):
    """Returns the call that narrows a range to threads whose index is a multiple of a number; '' if a part has no such
    condition."""
    if not part.multiple:
        return ''
    index, size, more = part.multiple
    return f'cf__span.cf__every({spell(*index)}, {spell(*size)}{more}); '


def spell_pieces(flags, calls, is_exact, ask):
    """Returns the texts before and after a loop over cf__span that run the loop for the threads inside, then for those
    before and after them. `flags`: names of the bools in `calls`. `ask`: declarations and the condition for a loop that
    only some threads run: then threads are inside only if their range has no gaps."""
    outside, text = f"cf__piece_of<{'-1' if is_exact else '0'}>()", ''
    if ask:
        text = (f'const bool cf__is_solid = cf__span.cf__shrink([&](const int cf__x) CF__INLINE -> bool {{ CF__ENTER '
                f'{ask[0]}return {ask[1]}; }}); ')
    text += 'cf__span_of cf__inner = cf__span; '
    if flags:
        text += f"bool {', '.join(flags)}; {{ CF__FIRST_OF_ROW {calls}}} "
    text += 'cf__inner.cf__only(cf__is_solid); ' if ask else ''
    return (f'{text}cf__inner.cf__within(cf__span); '
            f'const auto cf__run = [&](auto cf__piece, const cf__span_of cf__span) CF__INLINE {{ ',
            f' }}; cf__run(cf__piece_of<1>(), cf__inner); if (cf__span.cf__is_more(cf__inner)) '
            f'for (int cf__side = 0; cf__side < 2; cf__side++) '
            f'cf__run({outside}, cf__span.cf__beside(cf__inner, cf__side));')
