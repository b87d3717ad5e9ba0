"""Finds the operations of warps in a kernel that becomes regions: shuffles, votes, reductions, matches, __syncwarp(),
and votes of blocks.

    sum += __shfl_down_sync(~0u, sum, k);       for each thread: values[t] = sum
                                                for each thread: sum += values[t + k], if its lane has such a lane

A statement with a shuffle or a vote begins a region. Before it, each thread stores its operand. The result is the same
as on a GPU. A mask that may not name all lanes is stored, too, and is compared with the lanes that store operands."""

import re

from cpu.meanings import EFFECTS
from cpu.refused import Refused
from tokens.brackets import is_update, matching

_SHUFFLES = {'__shfl_sync': 'cf__lane_at', '__shfl_up_sync': 'cf__lane_up', '__shfl_down_sync': 'cf__lane_down',
             '__shfl_xor_sync': 'cf__lane_xor'}
_VOTES = {'__any_sync': 'cf__lanes_any', '__all_sync': 'cf__lanes_all', '__ballot_sync': 'cf__lanes_of',
          '__activemask': 'cf__lanes_of'}
BLOCK_VOTES = {'__syncthreads_count': '', '__syncthreads_and': ' == 0', '__syncthreads_or': ' != 0'}
_REDUCTIONS = {f'__reduce_{name}_sync': f'cf__lanes_{name}' for name in ('add', 'min', 'max', 'and', 'or', 'xor')}
_MATCH = '__match_any_sync'
# Maps the names that blockgroups.py gives to operations of tiles and coalesced groups to the beginnings of calls. Their
# arguments: mask, value, operator, size of the tile, which is 0 for a coalesced group.
_SCANS = {'cf__inclusive_scan_sync': 'cf__lanes_scan<false, ', 'cf__exclusive_scan_sync': 'cf__lanes_scan<true, '}
_OF_TILES = {'cf__reduce_sync': 'cf__lanes_reduce<', **_SCANS}
# Maps each operation except shuffles to its number of arguments, including the mask.
_COUNTS = {**dict.fromkeys([*_VOTES, *_REDUCTIONS, _MATCH], 2), **dict.fromkeys(BLOCK_VOTES, 1),
           '__activemask': 0, **dict.fromkeys(_OF_TILES, 4)}
_SYNC = '__syncwarp'
EXCHANGES = {*_SHUFFLES, *_COUNTS}
NAMES = {*EXCHANGES, _SYNC}
_ALL = re.compile(r'(0[xX][fF]{8}|4294967295)[uUlL]*')
_ZERO = re.compile(r'0[uUlL]*')
_WIDTH = re.compile('1|2|4|8|16|32')
# The words of types that can hold the mask of all lanes, or -1, which converts to this mask.
_MASK_TYPES = {'unsigned', 'int', 'long', 'const', 'constexpr', 'static', 'auto', 'uint32_t', 'int32_t', 'uint64_t',
               'std', '::', '__device__', 'uint', '__constant__'}
# The words whose operands may not be evaluated exactly once.
_UNEVALUATED = {'sizeof', 'decltype', 'alignof', 'noexcept', 'typeid', 'new', 'delete', 'throw'}


class Exchange:
    """An operation of warps. `at`, `end`: places of its name and of the closing parenthesis; `mask` (None for all
    lanes), `operand`, `others`: places of arguments; `slot`: its number in the statement; `is_shift`: in code of a
    warp, all lanes have the same other arguments; `may_be_empty`: it may run without any lane; `is_once`: its statement
    runs once."""

    def __init__(self, tokens, at, mask, operand, others, end):
        self.at, self.mask, self.operand, self.others, self.end = at, mask, operand, others, end
        self.given = [mask, operand] if mask else [operand]     # places of the values that each lane stores
        self.name, self.slot, self.is_shift, self.is_once = tokens[at].text, 0, False, False
        self.may_be_empty = False
        self.is_vote = self.name in _VOTES or self.name in BLOCK_VOTES
        self.is_shuffle, self.is_of_block = self.name in _SHUFFLES, self.name in BLOCK_VOTES
        self.is_combined = self.name in (*_REDUCTIONS, *_OF_TILES, _MATCH)
        self.is_of_lane = self.name in (_MATCH, *_SCANS)    # each lane has a result of its own
        self.is_activemask = self.name == '__activemask'    # the operation waits for no other lane

    @property
    def _values(self):
        return f'cf__lanes_{self.slot}.cf__by_masks(cf__X_{self.at})' if self.mask else f'cf__X_{self.at}'

    def result(self):
        """Returns the text that takes the place of the operation's name, and the range of further tokens that this text
        replaces."""
        thread = '0' if self.is_once else 'cf__t'
        if self.is_of_block:
            return f'int(cf__X_{self.at}{BLOCK_VOTES[self.name]}', (self.at + 1, self.end)
        if self.is_vote:
            return f'{_VOTES[self.name]}({self._values}, {thread}', (self.at + 1, self.end)
        if self.name == _MATCH:
            return f'cf__lanes_{self.slot}.cf__masks[{thread}]', (self.at + 1, self.end + 1)
        if self.is_shift or not self.is_shuffle:
            return f'cf__X_{self.at}[{thread}]', (self.at + 1, self.end + 1)
        return f'{_SHUFFLES[self.name]}({self._values}, {thread}', (self.at + 1, self.operand[1])

    def write(self, rows, enter, end, load, clears, lacks, spell, ended):
        """Returns the loops in which threads store their operands. `rows`, `enter`, `end`: text that begins the loops
        over rows, begins the loop over a row's threads, and ends both. `lacks`: arguments of the check for missing
        lanes, '' if none can be missing, and arguments of a check of masks alone. `ended`: text of the test by which a
        lane that has ended gives 0, or '' if such lanes do not come."""
        is_noted = self.mask is not None or self.is_combined or self.may_be_empty or \
            bool(lacks[0]) and not self.is_activemask
        check = '' if self.is_activemask else lacks[0] or lacks[1] * (self.mask is not None)
        return (f'{self._declare(load, spell(*self.operand), clears, is_noted)}{rows}{enter}'
                f'{{ {self._store(spell, is_noted, ended)} }} {end} {self._finish(check, spell)}')

    def _declare(self, load, operand, clears, notes):
        """Returns the declaration of the memory for the operands, whose type is that of the shuffle's result. `load`
        declares the variables of `operand`. `clears`: some lanes may store none; `notes`: threads note their masks."""
        text, kind = '', 'int'
        if self.is_of_block:
            return f'int cf__X_{self.at} = 0; '
        if not self.is_vote:
            kind = f'cf__S_{self.at}'
            value = f'+({operand})' if self.name == _MATCH else self._spell_result(operand)
            text = (f'auto cf__F_{self.at} = [&] {{ CF__FIRST {load} return {value}; }}; '
                    f'typedef decltype(cf__F_{self.at}()) {kind}; ')
        return text + (f'{kind} *const cf__X_{self.at} = cf__lanes_{self.slot}.cf__of<{kind}>(cf__scope, '
                       f'{str(clears).lower()}, {str(notes).lower()}); ')

    def _spell_result(self, operand):
        return f'{self.name}(0u, {operand}, 0)' if self.is_shuffle else operand if self.name in _OF_TILES else \
            f'{self.name}(0u, {operand})'

    def spell_type(self, spell):
        """Returns an expression of the result's type, for code where no lane has stored an operand."""
        if self.is_vote or self.name == _MATCH:
            return '0' if self.name in ('__any_sync', '__all_sync') else '0u'
        return f'({self._spell_result(spell(*self.operand))})'

    def _store(self, spell, is_noted, ended):
        """Returns the statements by which a thread stores its operand, and, if `is_noted`, its mask."""
        mask = f'cf__noted(cf__t, {spell(*self.mask)})' if self.mask else '0xffffffffu'
        mask = f'{ended} ? 0 : {mask}' if ended else mask
        note = f'cf__lanes_{self.slot}.cf__masks[cf__t] = {mask}; ' * is_noted
        operand = spell(*self.operand) if self.operand[0] < self.operand[1] else '1'
        if self.is_vote:
            negated = '!' * (self.name in ('__all_sync', '__syncthreads_and'))
            given = f'{ended} ? 0 : {negated}cf__given' if ended else f'{negated}cf__given'
            place = f'cf__X_{self.at} +=' if self.is_of_block else f'cf__X_{self.at}[cf__t] ='
            return f"{note}const int cf__given = {operand}; {place} {given}{' != 0' * self.is_of_block};"
        if ended:
            return f'{note}cf__give(cf__X_{self.at}[cf__t], {operand}, {ended});'
        return f'{note}cf__X_{self.at}[cf__t] = {operand};'

    def _finish(self, lacks, spell):
        """Returns the text after the loop in which threads store operands. `lacks`: arguments of the check for missing
        lanes, or ''; `spell`: returns the text of a place."""
        text = f'cf__lanes_{self.slot}.cf__check(cf__scope, {lacks}); ' * bool(lacks)
        if self.is_shift:
            arguments = ''.join(f', {spell(*place)}' for place in self.others)
            masks = f', cf__lanes_{self.slot}.cf__masks' if self.mask or self.may_be_empty else ''
            text += f'{_SHUFFLES[self.name].replace("lane", "shift")}(cf__X_{self.at}{masks}{arguments}); '
        if self.is_combined:
            name, operator = _REDUCTIONS.get(self.name, 'cf__lanes_match'), ''
            if self.name in _OF_TILES:
                name, operator = f'{_OF_TILES[self.name]}{spell(*self.others[1])}>', f', {spell(*self.others[0])}'
            return f'{text}{name}(cf__X_{self.at}, cf__lanes_{self.slot}.cf__masks{operator}); '
        return text + f'cf__count_votes(cf__X_{self.at}); ' * (self.is_vote and not self.is_of_block)


class Calls:
    """Reads the calls of operations of warps and of block votes in one kernel."""

    def __init__(self, tokens, variables, meanings):
        self._tokens, self._variables, self._meanings = tokens, variables, meanings

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def _refuse(self, at, reason):
        raise Refused(self._tokens[at], reason)

    def read(self, at):
        """Returns the Exchange of the call whose name is at `at`; raises Refused if the call has an unknown form."""
        name = self._text(at)
        if name not in EXCHANGES or self._text(at + 1) != '(' or self._text(at - 1) in ('.', '->', '::') or \
                self._meanings.is_function(name):
            self._refuse(at, 'is not understood')
        end = matching(self._tokens, at + 1, '(', ')') - 1
        parts, begin, depth = [], at + 2, 0
        for i in range(begin, end + 1):
            if self._tokens[i].kind == 'punctuation':
                depth += (self._text(i) in '([{') - (self._text(i) in ')]}')
                if i == end or self._text(i) == ',' and depth == 0:
                    parts.append((begin, i))
                    begin = i + 1
        if not _COUNTS.get(name, 1):
            parts = [p for p in parts if p[0] < p[1]]
        texts = {self._text(i) for i in range(at, end)}
        if len(parts) not in ((_COUNTS[name],) if name in _COUNTS else (3, 4)) or len(parts) == 4 and \
                name not in _OF_TILES and {'<', '>'} <= texts:
            self._refuse(at, 'has arguments that are not understood')
        for part in parts[:2] if name in _OF_TILES else parts:
            if part[0] == part[1] or not self._is_pure(*part):
                self._refuse(at, 'has arguments that may have effects')
        mask = None if name in BLOCK_VOTES or not parts or self.is_all(*parts[0]) else parts[0]
        values = parts if name in BLOCK_VOTES else parts[1:] or [(end, end)]
        return Exchange(self._tokens, at, mask, values[0], values[1:], end)

    def check_order(self, statement, calls):
        """Raises Refused if a statement may change an operand before the call, or may not evaluate the call exactly
        once."""
        around = [at for at in range(statement.begin, statement.end)
                  if not any(c.at < at <= c.end for c in calls)]
        depth, is_list = 0, any(self._text(at) == ';' for at in around if at < statement.end - 1)
        for at in around:
            text = self._text(at)
            if self._tokens[at].kind == 'punctuation':
                depth += (text in '([{') - (text in ')]}')
                is_list |= text == ',' and depth == 0 and at > statement.begin
        if is_list or any(self._text(at) in ('?', '&&', '||', *_UNEVALUATED) or self._text(at) == '[' and
                          not self._variables.ends_value(at - 1) for at in around):
            self._refuse(calls[0].at, 'is in an expression that may not evaluate it once')
        first = next((at for at in around if self._text(at) == '='), statement.end)
        for at in around:
            texts = [self._text(at), self._text(at + 1)]
            is_step = texts in (['+', '+'], ['-', '-']) and self._tokens[at + 1].joined
            if is_step or at > first and (texts[0] == '=' or is_update(texts)) or \
                    self._tokens[at].kind == 'identifier' and self._is_effect(at):
                self._refuse(calls[0].at, 'is in an expression with other effects')
            if self._text(at) == ',' and at > statement.begin and not self._is_of_call(at, statement.begin):
                self._refuse(calls[0].at, 'is in an expression that may not evaluate it once')
        declared = {v.name for v in self._variables.declared_by(statement)} if statement.kind == 'declaration' else ()
        for call in calls:
            for at in range(*call.operand):
                if self._text(at) in declared:
                    self._refuse(call.at, 'has the variable as an argument that it initializes')

    def _is_of_call(self, at, first):
        """True if the comma at `at` separates arguments of a function, or values in braces. `first`: the least place to
        search."""
        depth = 0
        for i in range(at - 1, first - 1, -1):
            text = self._text(i)
            if self._tokens[i].kind == 'punctuation':
                depth += (text in ')]}') - (text in '([{')
            if depth < 0:
                return text == '{' or text == '(' and self._tokens[i - 1].kind == 'identifier'
        return False

    def _is_effect(self, at):
        """True if the name at `at` may be that of a function or an operator with another effect than its result."""
        variable, text = self._variables.of.get(at), self._text(at)
        if EFFECTS.fullmatch(text) or variable is not None and (variable.is_volatile or self._text(at + 1) == '('):
            return True
        return self._text(at + 1) == '(' and self._text(at - 1) in ('.', '->') or \
            text not in NAMES and not self._meanings.has_no_effect(text)

    def _is_pure(self, begin, end):
        """True if an argument has no effect, and no statements in a lambda."""
        for at in range(begin, end):
            token, texts = self._tokens[at], [self._text(at), self._text(at + 1)]
            if token.kind == 'string' or texts[0] in ('{', '=', *_UNEVALUATED):
                return False
            if token.kind == 'identifier' and (self._is_effect(at) or texts[0] in NAMES):
                return False
            if texts[0] in ('[', '&') and not self._variables.ends_value(at - 1) or \
                    is_update(texts) and (texts[1] != texts[0] or self._tokens[at + 1].joined):
                return False
        return True

    # ---- Masks

    def is_all(self, begin, end):
        """True if a mask surely names all lanes of a warp."""
        texts = [self._text(at) for at in range(begin, end)]
        if texts[:1] == ['('] and matching(self._tokens, begin, '(', ')') == end:
            return self.is_all(begin + 1, end - 1)
        variable = self._variables.of.get(begin)
        if len(texts) == 1 and variable is not None:
            return not variable.writes and variable.value is not None and not variable.is_reference and \
                not variable.is_array and {t.text for t in variable.types} <= _MASK_TYPES and _is_all_text(
                    [self._text(at) for at in range(*variable.value)])
        if len(texts) == 1 and self._tokens[begin].kind == 'identifier':
            return self._is_constant(texts[0])
        return _is_all_text(texts)

    def _is_constant(self, name):
        head = self._meanings.find_constant(name)
        texts = [t.text for t in head or () if t.text != ';']
        at = texts.index('=') if '=' in texts else 0
        return at > 1 and set(texts[:at - 1]) <= _MASK_TYPES and texts[at - 1] == name and \
            not {'const', 'constexpr'}.isdisjoint(texts[:at]) and _is_all_text(texts[at + 1:])


class Lanes(Calls):
    """The operations of warps and the block votes of one kernel."""

    def __init__(self, tokens, statements, variables, meanings):
        super().__init__(tokens, variables, meanings)
        self._of, self._syncs = {}, set()
        self.exchanges = {}         # maps the place of an operation's name to its Exchange
        self.slots = 0              # largest number of exchanges in one statement
        self._last = max((at for at, token in enumerate(tokens) if token.text in (*NAMES, '__syncthreads')), default=-1)
        places = [at for at, token in enumerate(tokens) if token.kind == 'identifier' and token.text in NAMES]
        if not places:
            return
        if meanings.has_active_classes:
            self._refuse(places[0], 'is in a file whose classes may read indices')
        found = set()
        for statement in (s for t in statements for s in t.walk() if s.kind in ('expression', 'declaration')):
            inside = [at for at in places if statement.begin <= at < statement.end]
            found |= set(inside)
            if inside:
                self._add(statement, inside)
        for at in places:
            if at not in found:
                self._refuse(at, 'is part of another statement')

    def of(self, statement):
        """Returns the Exchanges of a statement, without the Exchanges of statements within it."""
        return self._of.get(statement.begin, ()) if statement.kind in ('expression', 'declaration') else ()

    def goes_on(self, at):
        """True if a barrier or an operation of warps stands at the place `at` or after it."""
        return self._last >= at

    def is_sync(self, statement):
        """True if a statement is a call of __syncwarp()."""
        return statement.begin in self._syncs and statement.kind == 'expression'

    def find_first(self, statement):
        """Returns the place of the first operation of warps in a statement; None if the statement has none."""
        for inner in statement.walk():
            if self.is_sync(inner):
                return inner.begin
            if self.of(inner):
                return self.of(inner)[0].at
        return None

    # ---- Calls

    def _add(self, statement, places):
        if self._text(places[0]) == _SYNC:
            mask = range(statement.begin + 2, statement.end - 2)
            if places != [statement.begin] or self._text(statement.begin + 1) != '(' or \
                    matching(self._tokens, statement.begin + 1, '(', ')') != statement.end - 1 or \
                    self._meanings.is_function(_SYNC):
                self._refuse(places[0], 'is part of another statement')
            if mask and not self.is_all(mask.start, mask.stop):
                self._refuse(places[0], 'has a mask that may not be of all lanes')
            self._syncs.add(statement.begin)
            return
        calls = [self.read(at) for at in places]
        for number, call in enumerate(calls):
            call.slot = number
            if any(other.at < call.at < other.end for other in calls):
                self._refuse(call.at, 'is an argument of another such function')
        self.check_order(statement, calls)
        self._of[statement.begin] = calls
        self.exchanges.update((call.at, call) for call in calls)
        self.slots = max(self.slots, len(calls))

    # ---- Shifts

    def find_shifts(self, layout):
        """Sets `is_shift` of the shuffles whose other arguments are the same for all lanes of a warp. `layout`: Layout
        of the kernel."""
        for region in layout.regions:
            with layout.reading(region.section):
                for exchange in region.exchanges:
                    exchange.is_shift = layout.warps is not None and exchange.is_shuffle and not exchange.is_once and \
                        all(self._is_same(*place, layout) for place in exchange.others)
                    exchange.may_be_empty = exchange.is_shift and bool(region.guards) and not all(
                        _WIDTH.fullmatch(self._text(begin)) and end == begin + 1
                        for begin, end in exchange.others[1:])

    def _is_same(self, begin, end, layout):
        """True if an expression is an integer that is the same for all lanes and has a value even without lanes."""
        for at in range(begin, end):
            text, variable = self._text(at), self._variables.of.get(at)
            if self._tokens[at].kind == 'punctuation' and text not in ('(', ')', '+', '-', '*', '.') and not (
                    text in '<>' and text in (self._text(at - 1), self._text(at + 1)) or text == '/' and (
                        self._text(at + 1)[:1] in '123456789' or self._text(at + 1) == 'warpSize')):
                return False
            if variable is not None and (not variable.is_integer or variable.is_shared or variable.is_reference or
                                         variable.is_volatile) or layout.is_data(at):
                return False
        return layout.tell(begin, end) is None

def _is_all_text(texts):
    while texts[:1] == ['('] and texts[-1:] == [')'] and ')' not in texts[1:-1]:
        texts = texts[1:-1]
    for cast in (['(', 'unsigned', ')'], ['(', 'unsigned', 'int', ')'], ['(', 'int', ')'], ['(', 'uint32_t', ')']):
        if texts[:len(cast)] == cast:
            texts = texts[len(cast):]
    if len(texts) == 1:
        return bool(_ALL.fullmatch(texts[0]))
    return len(texts) == 2 and (texts[0] == '~' and bool(_ZERO.fullmatch(texts[1])) or texts == ['-', '1'])
