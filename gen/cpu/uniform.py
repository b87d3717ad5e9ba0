"""Decides which code of a kernel a block can run once for all of its threads, and divides the rest into regions.

A value is uniform, the same in all threads, if it is computed only from parameters, blockIdx, blockDim, gridDim,
constants and uniform values. Memory at a uniform address is uniform, too, since a write between the same two barriers
would be a race. A variable counts as uniform until a statement assigns another value, or assigns in code that only some
threads run; then the search for uniform values starts again."""

from cpu.ends import Ends
from cpu.innermost import Innermost
from cpu.lanes import Lanes, NAMES
from cpu.meanings import NUMBERS
from cpu.numeric import list_constants
from cpu.pieces import is_edge, stays_whole
from cpu.refused import Refused
from cpu.region import Guard, Region
from cpu.rowchecks import RowChecks
from cpu.sections import Sections
from cpu.statements import LOOPS
from cpu.strides import Strides
from cpu.tiles import Tiles
from cpu.warps import Warps
from tokens.brackets import matching, split_at

PURE = {'min', 'max', 'abs', 'fminf', 'fmaxf', 'fmin', 'fmax', 'sizeof', 'static_cast', 'reinterpret_cast',
         'ceilf', 'floorf', 'ceil', 'floor', '__umul24', '__mul24'} | NUMBERS
# The functions without effects. A function of the file with such a name may have effects.
_MATHEMATICS = {f'{prefix}{name}{suffix}' for name in (
    'exp', 'exp2', 'exp10', 'log', 'log2', 'log10', 'pow', 'sin', 'cos') for prefix, suffix in (
        ('', ''), ('', 'f'), ('__', 'f'))} | {
            'sqrt', 'sqrtf', 'rsqrt', 'rsqrtf', 'fabs', 'fabsf', 'round', 'roundf', 'rint', 'rintf', 'trunc', 'truncf',
            '__clz', '__popc', '__ffs', '__mulhi', '__umulhi', '__fdividef'}
_OTHERS = {'this', 'new', 'delete', 'throw', 'volatile', 'operator'}
_MOST_WALKS = 30
# A larger region ends at a condition that is the same for a row, since compilers unswitch only small loops.
_MOST_OF_ROWS = 250
_ESCAPES = ('return', 'break', 'continue')
BARRIER = ['__syncthreads', '(', ')', ';']


class Layout(Sections, Tiles, Ends):
    """The regions of a kernel. `is_global`: tells if two places enclose the global index along x; `of_warps`: regions
    run a warp instead of a block; `is_coarse`: only barriers and operations of warps divide the kernel; `row`: as in
    Innermost; `may_test`: blocks can be tested before they run; `shape`: the Shape of a block."""

    def __init__(self, kernel, statements, variables, meanings, is_global, of_warps, is_coarse, row,
                 may_test, shape):
        self._tokens, self._variables, self._meanings = kernel.body, variables, meanings
        self.is_global, self.is_coarse, self._row = is_global, is_coarse, row
        self._may_test, self._lengths = may_test, kernel.tiles
        self.constants = list_constants(kernel)
        tokens = kernel.body
        self.shape = shape
        warps = Warps(tokens, variables, meanings, is_global, shape) if of_warps or not NAMES.isdisjoint(
            t.text for t in tokens) else None
        # `warps` is set only while code of a warp is read; `of_sections` is for sections.
        self.warps, self.of_sections = (warps, None) if of_warps else (None, warps)
        self.varying = {}           # maps a Variable that is not uniform to a name on which its value depends
        self._crossing = set()      # non-uniform variables with one value per warp in the section that declares them
        self._section = None        # the Section that is read, or None
        self._left = set()          # beginnings of loops that some threads may leave for good while others go on
        for statement in statements:
            for inner in statement.walk():
                if inner.kind == 'unknown':
                    raise Refused(tokens[inner.begin], f"'{tokens[inner.begin].text}' is not understood")
        self.lanes = Lanes(tokens, statements, variables, meanings)
        barriers = [at for at, token in enumerate(tokens) if token.text == BARRIER[0]]
        found = {s.begin for t in statements for s in t.walk() if s.kind == 'expression' and self.is_barrier(s)}
        for at in barriers:
            if at not in found:
                raise Refused(tokens[at], 'is part of another statement')
        walks = 0
        while self._is_new(statements):
            walks += 1
            if walks > _MOST_WALKS:
                raise Refused(tokens[0], 'begins a body with too many variables that depend on one another')
        if self._error:
            raise self._error
        for region in self.regions:
            with self.reading(region.section):
                self._make_guard(region)
            for exchange in region.exchanges:
                exchange.is_once = region.is_once
                if not (of_warps or region.section or exchange.is_of_block):
                    raise Refused(tokens[exchange.at], 'stands beside a vote of the block')

    def _make_guard(self, region):
        """Turns the condition of an `if` that is a whole region into a guard, if the condition reads a bool that is
        kept."""
        statement = region.statement
        if statement is None or statement.kind != 'if' or len(statement.children) > 1 or region.has_return or \
                region.exchanges or self._text(statement.begin + 1) != '(' or not self.innermost.is_steady(statement):
            return
        place, child = statement.parts[0], statement.children[0]
        if self.asks_bool(*place):
            region.guards += (Guard(place, False, [], child.end, False, False),)
            region.begin = child.begin
            self.hidden += range(statement.begin, child.begin)

    def asks_bool(self, begin, end):
        """True if an expression reads a bool that differs between threads."""
        return any(v is not None and v.is_bool and v.writes and self.differs(v)
                   for v in map(self._variables.of.get, range(begin, end)))

    def _is_new(self, statements):
        """Divides the body into regions; returns True if this has shown that more values differ between threads."""
        before = len(self.varying), len(self._crossing), len(self._left)
        self.masked = False         # some threads may have ended while others go on
        self.regions, self.blank, self.hidden, self.braced, self._error = [], [], [], [], None
        self._guards, self.has_loops_around, self.strides = (), False, {}
        self.sections, self._section, self.tiles = [], None, {}
        self.entered = set()        # beginnings of control statements that the block or a warp runs
        self.split = {}  # maps the beginning of an `if` to the place of the first operand, which a warp tests once
        self.selects = {}           # maps the beginning of an `if` that only chooses between values to the statement
        self.even = set()           # variables that differ between threads, but not between those of a warp
        self.loops = {}             # maps the beginning of a loop around regions to its end
        self.asked = []             # (loop that might not end if no thread runs it, its guards)
        for variable in self._variables.all:
            variable.is_block = False
        for variable in self._variables.parameters:
            variable.is_block = True
            if variable.is_reference or variable.is_volatile:
                self._vary(variable, variable.name)
        self.innermost = Innermost(self._tokens, self._variables, self._meanings, self, statements, self._row)
        self.checks = RowChecks(self._tokens, self._variables, self, self._may_test)
        self._strides = Strides(self._tokens, self._variables, self.innermost, self)
        self._walk(statements, 0, True)
        return (len(self.varying), len(self._crossing), len(self._left)) != before

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def _vary(self, variable, reason):
        if self.is_of_warp(variable) and variable in self.varying:
            self._crossing.remove(variable)
        self.varying.setdefault(variable, reason)

    def _refuse(self, at, reason):
        self._error = self._error or Refused(self._tokens[at], reason)

    # ---- Statements

    def is_barrier(self, statement):
        return [t.text for t in self._tokens[statement.begin:statement.end]] == BARRIER

    def has_barrier(self, statement):
        """True if a statement contains a barrier or an operation of warps, which ends a region."""
        return self._find_barrier(statement) is not None

    def has_block_barrier(self, statement):
        return any(s.kind == 'expression' and self.is_barrier(s) or any(e.is_of_block for e in self.lanes.of(s))
                   for s in statement.walk())

    def _find_barrier(self, statement):
        """Returns the place of the first barrier or operation of warps in a statement; None if it has none."""
        found = next((s.begin for s in statement.walk() if s.kind == 'expression' and self.is_barrier(s)), None)
        return self.lanes.find_first(statement) if found is None else found

    def _walk(self, statements, loops, is_body=False):
        """Divides statements that a block runs in order into regions. `loops`: number of loops around them; `is_body`:
        they are the whole body of the kernel."""
        region, before, behind = None, self._guards, 0
        for number, statement in enumerate(statements):
            if number < behind:
                continue            # the statement is a part of the section before it
            if is_body and self._is_end_of_others(statement, statements[number + 1:]):
                place = statement.parts[0]
                parts = self.innermost.find_parts(*place, True)
                self._guards += (Guard(place, True, parts, statements[-1].end, False, True),)
                self.hidden += range(statement.begin, statement.end)
                region = None
            elif (count := self._count_in_section(statements[number:], loops)) > 0:
                self._enter_section(statements[number:number + count], loops)
                region, behind = None, number + count
            elif self._is_of_block(statement, region, loops):
                region = None
                if self.lanes.of(statement):
                    self._add_once(statement)
            elif statement.kind == 'declaration' and not self.lanes.of(statement) and self._move(statement, region):
                continue
            else:
                exchanges = self.lanes.of(statement)
                is_short, is_simple = self.innermost.is_short(statement), self.innermost.is_simple
                # Compilers move a condition that is the same for a row out of small loops only.
                is_leave = not exchanges and loops == 0 and self._is_leave(statement)
                is_large = statement.end - statement.begin > _MOST_OF_ROWS and \
                    is_edge(self.innermost, statement, self.is_coarse)
                if region is None or exchanges or is_short and not region.is_simple or \
                        region.has_short and not is_simple(statement) or \
                        is_large or is_leave or self.innermost.is_scatter(statement, region.begin):
                    region = Region(statement.begin)
                    region.guards, region.exchanges = self._guards, exchanges
                    self.regions.append(region)
                region.end = statement.end
                region.statement = None if region.places else statement
                region.places.add((statement.begin, statement.end))
                region.only_declares &= statement.kind in ('declaration', 'empty')
                region.is_simple = region.is_simple and is_simple(statement)
                region.has_short |= is_short
                self._note_thread(statement, region)
                region.is_leave = is_leave
                region = None if is_large or is_leave else region
        self._guards = before

    def _add_once(self, statement):
        """Adds the region of a statement that the block runs once, after its threads have given their values for
        exchanges."""
        region = Region(statement.begin)
        region.end, region.guards, region.exchanges = statement.end, self._guards, self.lanes.of(statement)
        region.is_once, region.only_declares = True, False
        region.places.add((statement.begin, statement.end))
        self.regions.append(region)

    def _is_of_block(self, statement, region, loops):
        """True if the block, and not each thread, runs a statement, so that the region before the statement ends."""
        kind = statement.kind
        if kind == 'expression' and (self.is_barrier(statement) or self.lanes.is_sync(statement)):
            self.blank += range(statement.begin, statement.end - 1)
            return True
        if kind == 'alias':
            self._check_alias(statement)
        if kind in ('alias', *_ESCAPES):
            return True
        if kind == 'declaration':
            return self._is_block_declaration(statement, region, loops)
        if kind == 'expression':
            return not self._tell_assignment(statement.begin, statement.end - 1)
        escapes = set(self._find_escapes(statement, loops > 0))
        has_barrier = self.has_barrier(statement)
        self.masked |= statement.begin in self._left
        if kind == 'block':
            if has_barrier or escapes and not escapes <= {'return'}:
                self._walk(statement.children, loops)
                return True
            return False
        if kind == 'if' and not self.has_block_barrier(statement) and not any(
                self._find_escapes(statement, True)) and not (
                    not has_barrier and stays_whole(self, self._variables, statement)) and \
                self.innermost.is_guard(statement, has_barrier):
            self._enter_guard(statement, loops)
            return True
        if self._enter_tile(statement, loops):
            return True
        stride = None if escapes or self.has_block_barrier(statement) else self._strides.read(
            statement, self.masked or bool(self._guards))
        if stride is not None and not any(self._find_escapes(statement.children[0], True)):
            self._enter_stride(statement, stride, loops)
            return True
        if kind == 'if' and not has_barrier and not escapes and self._has_stride(statement) and \
                self._tell_condition(statement) is None:
            self._enter(statement, loops)
            return True
        if not has_barrier and not escapes and kind in ('if', 'for') and self._is_uniform(statement):
            self._enter(statement, loops)
            return True
        if self._section is not None and kind == 'if' and not escapes and not has_barrier and \
                self.reads_warp(*statement.parts[0]) and self._tell_condition(statement) is None:
            self._enter(statement, loops)
            return True
        if not has_barrier and not escapes and not self.innermost.is_short(statement) and self.innermost.is_better(
                statement, self.masked or bool(self._guards)):
            if self._tell_condition(statement) is None:
                self.has_loops_around |= all(s.kind != 'if' or self._is_range(s) for s in statement.walk())
                self._enter(statement, loops)
                return True
            for variable in self._variables.declared_by(statement):
                variable.is_block = False
            return False
        if not has_barrier and (not escapes or kind != 'if'):
            if escapes - {'return'}:
                self._refuse(statement.begin, f"'{min(escapes)}' leaves a loop with a barrier")
            return False
        reason = self._tell_condition(statement)
        if reason is None:
            before = len(self.regions)
            self._enter(statement, loops)
            if self._guards and kind in LOOPS and not self.innermost.ends(statement):
                if len(self.regions) == before:
                    self._refuse(statement.begin, 'may not end where no thread takes part')
                self.asked.append((statement, self._guards))
            return True
        if has_barrier:
            self._refuse(self._find_barrier(statement), f'depends on {reason}')
        elif escapes - {'return'}:
            word = min(escapes - {'return'})
            self._refuse(statement.begin, f"'{word}' from a loop with a barrier depends on {reason}")
        return False

    def _is_uniform(self, statement):
        """True if a statement only assigns uniform values to uniform variables, and ends for any values of them."""
        if statement.kind == 'expression':
            return not self.is_barrier(statement) and self.lanes.find_first(statement) is None and \
                not self._tell_assignment(statement.begin, statement.end - 1)
        if statement.kind == 'declaration':
            declared = self._variables.declared_by(statement)
            is_uniform = self.lanes.find_first(statement) is None and all(
                v.is_scalar and not (v.is_static or v.is_shared or self.differs(v)) and
                self._tell_declared(v) is None for v in declared)
            for variable in declared:
                variable.is_block = is_uniform
            return is_uniform
        if statement.kind not in ('block', 'if', 'for', 'empty') or statement.kind == 'for' and (
                self._guards or self.masked) and not self.innermost.ends(statement):
            return False
        is_uniform = (statement.kind in ('block', 'empty') or self._tell_condition(statement) is None) and all(
            map(self._is_uniform, statement.children))
        if not is_uniform:
            for variable in (v for s in statement.walk() for v in self._variables.declared_by(s)):
                variable.is_block = False
        return is_uniform

    def _check_alias(self, statement):
        """Refuses a typedef of a reference, and of the type of a variable that differs between threads, and an
        enumeration with a variable's name."""
        texts = {self._text(at) for at in range(statement.begin, statement.end)}
        if 'enum' in texts and not texts.isdisjoint(v.name for v in self._variables.all):
            self._refuse(statement.begin, 'has the name of a variable')
        for at in range(statement.begin, statement.end):
            if self._text(at) in ('&', '&&', '['):
                self._refuse(at, 'is in a type that gets a name')
            variable = self._variables.of.get(at)
            if variable is not None and variable in self.varying:
                self._refuse(at, 'has a type that gets a name')

    def _enter(self, statement, loops):
        self.entered.add(statement.begin)
        if statement.kind in LOOPS:
            self.loops[statement.begin] = statement.end
        before = self.masked
        for child in statement.children:
            if child.kind == 'block':
                self._walk(child.children, loops + (statement.kind in LOOPS))
            else:
                self.braced.append(child)
                self._walk([child], loops + (statement.kind in LOOPS))
        if self.masked and not before and statement.kind in LOOPS:
            self._left.add(statement.begin)

    def _is_range(self, statement):
        """True if the condition of an `if` becomes a guard and holds for a range of threads."""
        place = statement.parts[0]
        parts = self.innermost.find_parts(*place) if self.innermost.is_guard(statement, False) else []
        return any(part.bounds for part in parts) and self.innermost.are_all(parts, *place, False)

    def _enter_guard(self, statement, loops):
        """Divides the branches of an `if` into regions. Its condition, which differs between threads, becomes their
        guard."""
        place, before = self._split_off(statement), self._guards
        self.hidden += range(statement.begin, statement.children[0].begin)
        for number, child in enumerate(statement.children):
            parts = self.innermost.find_parts(*place, number == 1)
            self._guards += (Guard(place, number == 1, parts, child.end, loops > 0, False),)
            if number == 1:
                self.hidden.append(child.begin - 1)
            self._walk(child.children if child.kind == 'block' else [child], loops)
            self._guards = before

    def _is_of_guard(self, variable):
        """True for a variable that is declared under the innermost guard, or is used only under the guard."""
        return not self._guards or self._guards[-1].is_final or variable.statement is not None and \
            variable.statement.begin >= self._guards[-1].place[1]

    def _find_escapes(self, statement, is_looped):
        """Yields the words by which control leaves a statement: 'return', and 'break' and 'continue' of a loop around
        it. `is_looped`: the statement is in a loop."""
        if statement.kind == 'return' or statement.kind in ('break', 'continue') and is_looped:
            yield statement.kind
        if statement.kind not in _ESCAPES:
            for child in statement.children:
                inner = list(self._find_escapes(child, True))
                if statement.kind in LOOPS:
                    inner = [word for word in inner if word == 'return']
                if statement.kind == 'switch':
                    inner = [word for word in inner if word != 'break']
                yield from inner

    def _tell_condition(self, statement):
        """Returns a name on which the path through a control statement depends; None if all threads take the same
        path."""
        if statement.kind in ('if', 'while', 'do'):
            return self.tell(*statement.parts[0])
        if statement.kind != 'for':
            return f"'{self._text(statement.begin)}'"
        (first, end), condition, step = statement.parts
        declared = self._variables.declared_by(statement)
        for variable in declared:
            variable.is_block = True
            reason = self._tell_declared(variable)
            if reason:
                self._vary(variable, reason)
        reason = next((self.varying[v] for v in declared if v in self.varying), None)
        if not declared and first < end:
            reason = self._tell_assignment(first, end)
        return reason or self.tell(*condition) or (self._tell_assignment(*step) if step[0] < step[1] else None)

    def _is_block_declaration(self, statement, region, loops):
        declared = self._variables.declared_by(statement)
        for variable in declared:
            variable.is_block = True
        if any(v.is_shared for v in declared):
            if loops:
                self._refuse(statement.begin, f'{declared[0].name} is declared within a loop')
            return True
        reasons = [self.varying[v] if self.differs(v) else self._tell_declared(v) for v in declared]
        if any(v.is_constant for v in declared):
            if any(reasons):
                self._refuse(statement.begin, f'{declared[0].name} is a constant of each thread')
            return True
        if any(v.is_static for v in declared):
            self._refuse(statement.begin, f'{declared[0].name} is static')
        if any(reasons):
            for variable, reason in zip(declared, reasons):
                self._vary(variable, reason or next(filter(None, reasons)))
            self._note_even(declared)
            return False
        return region is None or bool(self.lanes.of(statement)) or not self._is_movable(statement) or \
            not self._may_move(declared, region, statement)

    def _is_movable(self, statement):
        """True if the value in a uniform declaration is the same at all earlier places."""
        return not any(
            text in ('[', '->') or text == '*' and not self._variables.ends_value(at - 1) or
            at in self._variables.of and self._variables.of[at].writes or
            at in self._variables.of and self._variables.of[at].is_shared or self.is_data(at)
            for at in range(statement.begin, statement.end) for text in [self._text(at)])

    def is_data(self, at):
        """True for the name of a variable of the file that device code may write."""
        return at not in self._variables.of and self._text(at) in self._meanings.data and \
            self._text(at - 1) not in ('.', '->')

    def _may_move(self, declared, region, statement):
        """True if a region does not use another variable with a name of `declared` before a statement."""
        names = {v.name for v in declared}
        return not any(self._text(at) in names and self._text(at - 1) not in ('.', '->')
                       for at in range(region.begin, statement.begin))

    def _move(self, statement, region):
        """Moves a uniform declaration out of a region, to a place before it, so that the block runs the declaration.
        Returns False if the declaration stays."""
        if region is None or any(map(self.differs, self._variables.declared_by(statement))):
            return False
        region.moved.append((statement.begin, statement.end))
        region.end, region.statement = statement.end, None
        return True

    def _tell_declared(self, variable):
        if variable.is_table:
            return None
        if variable.is_reference or variable.is_volatile or variable.is_array and not variable.is_constant:
            return variable.name
        if variable.value is None or variable.value[0] >= variable.statement.end:
            return None if variable.is_scalar else variable.name
        if not (variable.is_scalar or variable.is_auto or variable.is_constant or
                self._text(variable.value[0] - 1) == '=' and not self._meanings.has_active_classes):
            return variable.name
        return self.tell(*variable.value)

    def _note_thread(self, statement, region):
        """Notes the variables that differ between threads because each thread runs a statement of a region."""
        of = self._variables.of
        for at in range(statement.begin, statement.end):
            variable = of.get(at)
            if self._text(at) == '__shared__':
                self._refuse(at, 'is in code that threads run one by one')
            if variable is not None and at in variable.writes and variable.is_block and \
                    not variable.is_shared:
                self._vary(variable, variable.name)
        if statement.kind in _ESCAPES or any(w == 'return' for w in self._find_escapes(statement, False)):
            region.has_return = self.masked = True

    def _tell_assignment(self, begin, end):
        """Returns a name that differs between threads, if an expression assigns its value to uniform variables; None if
        it only assigns uniform values; a text for messages if the expression does anything else."""
        for part in self._split(begin, end):
            first, last = part
            texts = [self._text(i) for i in range(first, last)]
            at = first
            if texts[:2] in (['+', '+'], ['-', '-']) and len(texts) == 3:
                at, value = first + 2, None
            elif texts[1:] in (['+', '+'], ['-', '-']):
                value = None
            else:
                equals = next((i for i in range(1, min(4, len(texts))) if texts[i] in ('=', '<=', '>=') and
                               (texts[i] == '=' or texts[i - 1] == texts[i][0])), None)
                if equals is None or not all(t in '+-*/%&|^<>' for t in texts[1:equals]):
                    return f"'{self._text(first)}'"
                value = first + equals + 1, last
            variable = self._variables.of.get(at)
            if variable is None or not variable.is_block or variable.is_shared or variable.is_array or \
                    not self._is_of_guard(variable):
                return f"'{self._text(at)}'"
            if self._section is not None and not (variable.statement is not None and
                                                  self._section.has(variable.statement.begin)):
                self._vary(variable, variable.name)     # each warp would assign to the variable
            reason = self.varying[variable] if self.differs(variable) else self.tell(*value) if value else None
            if reason:
                self._vary(variable, reason)
                return reason
        return None

    def _split(self, begin, end):
        at = begin
        for part in split_at(self._tokens[begin:end], ','):
            yield at, at + len(part)
            at += len(part) + 1

    # ---- Values

    def tell(self, begin, end):
        """Returns a name in an expression whose value may differ between threads; None if the expression is uniform."""
        behind = begin
        for at in range(begin, end):
            if at < behind:
                continue            # an argument of an exchange with one result for all
            token, exchange = self._tokens[at], self.lanes.exchanges.get(at)
            if exchange is not None and self._has_one_result(exchange):
                behind = exchange.end + 1
                continue
            reason = self._tell_name(at) if token.kind == 'identifier' else self._tell_operator(at, begin) \
                if token.kind == 'punctuation' else f'{token.text}' if token.kind == 'string' else None
            if reason:
                return reason
        return None

    def _has_one_result(self, exchange):
        """True if all threads of the block, or all lanes of the warp, get the same result of an exchange."""
        if exchange.is_of_block or self.warps is None:
            return exchange.is_of_block
        # The result is read from the first lane. This lane gets a result only if it takes part in the exchange.
        if (exchange.mask or not (exchange.is_vote or exchange.is_shuffle)) and (self._guards or self.masked) or \
                exchange.mask and self.tell(*exchange.mask) is not None:
            return False
        if exchange.is_shuffle:
            widths = [self._text(at) for place in exchange.others[1:] for at in range(*place)]
            return exchange.name == '__shfl_sync' and self.tell(*exchange.others[0]) is None and \
                all(width in ('32', 'warpSize') for width in widths)
        return not exchange.is_of_lane

    def varies(self, at):
        """True if the name at `at` is a variable or an index that differs between threads."""
        if self.warps is not None and at in self.warps.uniform:
            return False
        if self._text(at) == 'threadIdx':
            return self.warps is None or self.shape.differs_along(self._text(at + 2))
        return self.differs(self._variables.of.get(at))

    def _tell_name(self, at):
        text, before = self._text(at), self._text(at - 1)
        if before in ('.', '->'):
            return f'{text}()' if self._text(at + 1) == '(' else None
        if self.warps is not None and (at in self.warps.uniform or text == 'threadIdx' and not self.varies(at)):
            return None
        variable = self._variables.of.get(at)
        if variable is not None:
            if self.differs(variable):
                return self.varying[variable]
            if self._text(at + 1) == '(' or self._meanings.has_active_classes and not (
                    variable.is_number or variable.is_auto):
                return variable.name
            if variable.is_shared:
                return variable.name if self.masked or self._guards else None
            is_plain = variable.is_block and not variable.is_reference and not variable.is_volatile and (
                variable.is_constant or not variable.is_array)
            return None if is_plain else variable.name
        if text == 'threadIdx':
            return f'threadIdx.{self._text(at + 2)}'
        if self._meanings.gives_memory(text):
            return None
        if self.is_data(at):
            return text if self.masked or self._guards or text not in self._meanings.shared else None
        if text in _OTHERS or self._meanings.has_active_classes and text in self._meanings.objects:
            return text
        if self._text(at + 1) == '(' and text not in PURE and (
                text not in _MATHEMATICS or self._meanings.is_function(text) or
                before == '::' and self._text(at - 2) != 'std'):
            return f'{text}()'
        if self._text(at + 1) == '<' and text not in PURE and \
                self._text(matching(self._tokens, at + 1, '<', '>')) == '(':
            return f'{text}()'
        return None

    def _tell_operator(self, at, begin):
        text, is_behind = self._text(at), at > begin and self._variables.ends_value(at - 1)
        if text == '=' or text in '+-' and self._text(at + 1) == text and self._tokens[at + 1].joined or \
                text in ('<=', '>=') and self._text(at - 1) == text[0]:
            return 'an assignment'
        if text == '(' and self._text(at - 1) in (')', ']') and is_behind:
            return 'a call'
        if text == '{' or text == '[' and not is_behind or text == '&' and not is_behind:
            return f"'{text}'"
        if (self.masked or self._guards) and (text in ('[', '->') or text == '*' and not is_behind):
            return 'memory that only some threads may read'
        return None
