"""Rewrites a kernel with barriers so that a block runs as loops over its threads, one for each region between barriers.

    float sum = in[threadIdx.x];                cf__kept<float> cf__kept_sum;
    __syncthreads();                            for each thread { float sum = in[threadIdx.x]; keep it }
    out[threadIdx.x] = sum;                     for each thread { float sum = kept; out[threadIdx.x] = sum; }

Control flow that is the same for all threads stays around the regions. A variable that lives in several regions is
kept, with an element for each thread; an integer that depends only on indices is computed again in each region.
Statements keep their text and lines."""

import bisect
from collections import Counter

from cpu.advances import find_advances
from cpu.ahead import spell_ahead
from cpu.again import Again, find_changes, places_of
from cpu.collected import adds
from cpu.columns import count_arrays, find_columns
from cpu.counts import count_steps, has_few_steps
from cpu.ends import EndsText
from cpu.flatindex import Shape
from cpu.foreign import check_names
from cpu.kept import check_kept, is_hidden, is_set_once
from cpu.meanings import Meanings
from cpu.loops import find_helpers, Indices, insert_parameter, reads_elsewhere
from cpu.numeric import has_numbers, list_apart, list_types, MemoryAccesses
from cpu.pieces import has_ranges, Pieces, spell_multiple, spell_narrow, spell_pieces, Wraps
from cpu.quotients import QuotientText
from cpu.refused import Refused
from cpu.region import find_home
from cpu.rows import spell_row
from cpu.scans import Scans
from cpu.sectiontext import SectionText
from cpu.sharedmem import find_plain_atomics
from cpu.signedsums import spell_signed_sums
from cpu.statements import parse_statements
from cpu.strides import spell_begin, spell_step
from cpu.tiles import spell_tile
from cpu.uniform import Layout
from cpu.variables import Variables

# Most arrays of kept variables on the stack. Further arrays and large ones are allocated elsewhere.
_MOST_ON_STACK = 32
# Most tokens of a warp's region that is written out for every eight lanes, so that values stay in registers.
_MOST_IN_PARTS = 64


class Rewriter(SectionText, EndsText, QuotientText):
    """Writes the new text of one kernel. `kernel`: the kernel with inlined calls; `sizes`: threads of a block along
    each axis, 0 or () if unknown; `of_warps`: the text runs a warp instead of a block; `is_coarse`: regions end
    only at barriers and operations of warps."""

    def __init__(self, kernel, declarations, blocks, sizes, of_warps, is_coarse):
        self._sizes, self.of_warps, self._row = sizes, of_warps, '' if of_warps else spell_row(kernel, sizes)
        self.kernel, self._tokens, self._is_numeric = kernel, kernel.body, False
        self._shape = Shape(sizes, blocks)
        statements = parse_statements(kernel.body)
        self._meanings = Meanings(kernel, declarations)
        self._variables = Variables(kernel.body, kernel.parameters, statements, self._meanings)
        self._of = self._variables.of
        self._indices = Indices(kernel, kernel.body, find_helpers(declarations), blocks)
        self._before, self._after, self._text = {}, {}, {}
        for comma, begin, end in list(self._variables.split_declarations(statements)):
            self._put_after(comma - 1, ';')
            self._text[comma] = self._spell(begin, end) + ' '
        check_names(kernel, self._of, self._meanings)
        self._layout = Layout(kernel, statements, self._variables, self._meanings, self._indices.is_global, of_warps,
                              is_coarse, self._row, not (of_warps or kernel.row or self._indices.are_all()),
                              self._shape)
        self.has_loops_around, self.layout = self._layout.has_loops_around, self._layout
        self.variables = self._variables
        self.is_mirrored = reads_elsewhere(kernel, declarations, self._indices.helpers_left())
        self.is_global = not (self.is_mirrored or kernel.row or kernel.tiles) and self._indices.are_all()
        self._statements, self._stored, self._known = statements, 0, 0
        self._lacks = self._no_lacks = self._meet = None    # texts of checks for lanes that miss an operation
        self._moved = set()         # places whose text stands elsewhere
        self._replaced = {}         # place in an exchange: beginning of its operand, which stands elsewhere
        self._spelled = {}          # id of a token: the text that other edits gave the token
        self._begins = [r.begin for r in self._layout.regions]
        # A kernel with only global indices runs in wider blocks: blocks that are adjacent along x are joined.
        self._extents = [n * (not self.is_global or n == 1 and axis > 0)
                         for axis, n in enumerate([*sizes, 1, 1][:3] if sizes else [0] * 3)]
        self._rows = '' if of_warps or self._extents[1:] == [1, 1] else 'CF__ROWS '
        self._returns = sorted((s.begin, s.end) for t in statements for s in t.walk() if s.kind == 'return')
        self._declared = Counter(v.name for v in self._variables.all)
        self._changes = find_changes(statements, self._variables)
        self._accesses = MemoryAccesses(kernel, declarations, set(list_apart(
            self._variables, self._meanings.numbers.union(list_types(self.kernel.head)))), {
            v.name for v in self._variables.parameters if self._declared[v.name] == 1 and not v.writes})
        self._layout.lanes.find_shifts(self._layout)
        self._choose()
        self._read_first_lanes()

    # ---- Variables

    def _choose(self):
        """Chooses which variables are computed again in each region, and which ones are kept in memory."""
        regions = self._layout.regions
        self._used = [{self._of[at] for begin, end in [(r.begin, r.end), *(g.place for g in r.guards)]
                       for at in range(begin, end) if at in self._of and self._of[at].is_block} for r in regions]
        # The keys of these dictionaries are sets that keep their order.
        self._home, self._again, self._kept, self._unset, self._of_home, places = {}, {}, {}, {}, {}, {}
        self._cheap, self._advanced, self._advances = set(), set(), {}  # with additions; text of additions by region
        again = Again(self._tokens, self._variables, self._layout, self._changes, self._declared, self._home,
                      self._cheap)
        for region, used in zip(regions, self._used):
            for variable in used:
                places.setdefault(variable, set()).add(region)
        self._add_places(places)
        find_columns(self._tokens, self._statements, self._variables, self._layout)
        for variable in self._variables.all:
            if not variable.is_block or variable not in self._layout.varying or variable.is_shared:
                continue
            if variable in self._layout.strides:
                self._add_stride(self._layout.strides[variable])
                continue
            self._home[variable] = home = find_home(variable, self._layout.regions, self._begins)
            if home is not None:
                self._of_home.setdefault(home, set()).add(variable)
            advances = find_advances(self._tokens, variable, home, self._layout, self._of, self._begins)
            if again.is_cheap(variable, bool(advances)) and not any(
                    variable in s.declared for s in self._layout.sections):
                self._cheap.add(variable)
                for region, at, end in advances:
                    text = f' cf__by_{variable.storage_name} {self._spell(at + 1, end)}'
                    self._advances[region] = self._advances.get(region, '') + text
                    self._advanced.add(variable)
            if places.get(variable, {home}) <= {home}:
                continue
            if variable in self._cheap:
                self._add_again(variable)
                continue
            check_kept(self._tokens, variable, self._variables, self._meanings)
            is_unset = not any(variable in s.declared for s in self._layout.sections) and is_set_once(
                variable, home, places[variable], self._layout.loops)
            (self._unset if is_unset else self._kept)[variable] = None
        for variable in list(self._kept):
            self._keep_value(variable)
        self._parts = {guard: self._find_parts(guard.parts) for region in regions for guard in region.guards}
        pieces = Pieces(self._tokens, self._layout, self._variables)
        self._choices = {region: self._find_choices(pieces, region, used) for region, used in zip(regions, self._used)}
        self._quotients = {region: self._find_quotients(region, used) for region, used in zip(regions, self._used)}
        self._find_inner(places)
        self.has_ranges = has_ranges(regions, self._parts, self._choices) or any(self._quotients.values())
        self._check_addresses()
        for region, used in zip(regions, self._used):
            # The name of a variable may be declared again within the region.
            names = [v.name for v in self._needed(used) if self._home.get(v) is not region]
            if region.is_of_tile and any(v in self._home and not (self._home[v] and self._home[v].is_of_tile)
                                         for v in self._needed(used)):
                raise Refused(self._tokens[region.begin], 'depends on the thread that fills an element of a tile')
            if len(names) != len(set(names)) or any(v in self._kept and self._home[v] is not region and is_hidden(
                    self._tokens, v, region, self._variables.all) for v in used):
                raise Refused(self._tokens[region.begin], 'has two variables of one name')
            for guard in region.guards:
                names = {self._of[at].name for at in range(*guard.place) if at in self._of}
                if any(v.name in names and v.statement is not None and
                       guard.place[1] <= v.statement.begin < guard.end for v in self._variables.all):
                    raise Refused(self._tokens[guard.place[0]], 'has a name that is declared again behind it')

    def _is_known(self, variable):
        """True if the code before a region's loop over threads knows the value of a variable, or can compute it."""
        return variable.is_block and (
            variable not in self._home or variable in self._cheap and variable not in self._advanced)

    def _check_addresses(self):
        """Raises Refused if an address may live across a barrier, since variables move from region to region."""
        for variable in self._variables.all if len(self._layout.regions) > 1 else ():
            if variable.lasting is not None and (variable in self._home or variable.is_reference):
                raise Refused(self._tokens[variable.lasting], 'has an address that may live across a barrier')

    def _keep_value(self, variable):
        """Keeps all variables in the value of an `auto` variable, since the compiler deduces its type from them."""
        for at in range(*variable.value) if variable.is_auto and variable.value else ():
            used = self._of.get(at)
            if self._declared.get(self._tokens[at].text, 0) > 1:
                raise Refused(self._tokens[at], 'is the name of several variables')
            if used is not None and used in self._home and used not in self._kept and used not in self._again:
                check_kept(self._tokens, used, self._variables, self._meanings)
                self._unset.pop(used, None)
                self._kept[used] = None
                self._keep_value(used)

    def _add_again(self, variable):
        """Marks a cheap variable, and all cheap variables in its value, as variables that are computed again."""
        if variable not in self._again:
            self._again[variable] = None
            for at in self._sources_of(variable):
                if self._of.get(at) in self._cheap:
                    self._add_again(self._of[at])

    def _sources_of(self, variable):
        """Yields the places of all tokens from which a variable is computed."""
        for begin, end in places_of(variable, self._changes):
            yield from range(begin, end)

    def _add_stride(self, stride):
        """Marks the variable of a Stride as computed again, and keeps the variables in its value."""
        self._again[stride.variable] = None
        for at in range(*stride.variable.value):
            used = self._of.get(at)
            if used in self._cheap:
                self._add_again(used)
            elif used in self._home and used not in self._kept:
                if stride.may_be_empty:
                    raise Refused(self._tokens[at], 'is not known in threads that do not run a loop')
                check_kept(self._tokens, used, self._variables, self._meanings)
                self._unset.pop(used, None)
                self._kept[used] = None

    def _needed(self, used):
        """Returns the variables `used` and all from which they are computed, in the order of declarations."""
        found, pending = set(), list(used)
        while pending:
            variable = pending.pop()
            if variable not in found:
                found.add(variable)
                if variable in self._again:
                    pending += [self._of[at] for at in self._sources_of(variable) if at in self._of]
        return sorted(found, key=lambda v: v.number)

    # ---- Text

    def _put_before(self, at, text):
        self._before[at] = text + self._before.get(at, '')

    def _put_after(self, at, text):
        self._after[at] = self._after.get(at, '') + text

    def edits(self, spelled, is_numeric, references):
        """Returns a map from a changed token's id to its text. `spelled`: texts that other edits give to tokens;
        `is_numeric`: parameters and all data of called functions are numbers; `references`: declarations of the file's
        __shared__ variables."""
        self._is_numeric, self._spelled = is_numeric, spelled
        self._text.update(self._indices.replaced())
        self._sums = spell_signed_sums(self._tokens, self._sizes, self._text.keys())
        self._text.update({at: '' for at in self._layout.blank})
        self._moved.update(self._layout.hidden)
        for statement in (s for t in self._statements for s in t.walk() if s.kind == 'for'):
            number = bisect.bisect_right(self._begins, statement.begin) - 1
            if number >= 0 and statement.begin < self._layout.regions[number].end and \
                    count_steps(self._tokens, statement):
                self._put_before(statement.begin, 'CF__UNROLL ')
            elif (self.of_warps or any(s.has(statement.begin) for s in self._layout.sections)) and \
                    statement.begin in self._layout.loops and has_few_steps(self._tokens, statement):
                self._put_before(statement.begin, 'CF__UNROLL ')
        is_masked = self._is_masked()
        self._find_lacking(is_masked)
        for guard in self._finals:
            load = self._load(self._needed({self._of[at] for at in range(*guard.place) if at in self._of}), None)
            self._put_before(guard.place[0], self._spell_ends(guard.place, self._rows_around(guard.place, ()), load))
        for region, used in zip(self._layout.regions, self._used):
            with self._layout.reading(region.section):
                self._write_region(region, used, is_masked)
        scans = Scans(self._tokens, self._statements, self._variables, self._meanings, self._layout, self._sizes)
        for statement, text in scans.found.items():
            self._put_before(statement.begin, text)
        for statement, guards in self._layout.asked:
            with self._layout.reading(next((s for s in self._layout.sections if s.has(statement.begin)), None)):
                rows = self._rows_around((statement.begin, statement.begin), guards)
                self._put_before(statement.begin, self._ask_any(guards, is_masked, rows))
            self._put_after(statement.end - 1, ' }')
        # Inner statements come before outer ones, and the text of a loop is within the braces around it.
        around = [(-s.begin, 1, s.end, '{ ') for s in self._layout.braced]
        around += [(-s.variable.statement.begin, 0, s.variable.statement.end, self._begin_stride(s))
                   for s in self._layout.strides.values()]
        around += [(-begin, 0, end, spell_tile(length)) for begin, (end, length) in self._layout.tiles.items()]
        for begin, _, end, text in sorted(around):
            self._put_before(-begin, text)
            self._put_after(end - 1, ' }')
        for inner in (s for t in self._statements for s in t.walk() if is_masked):
            self._write_loop(inner)
        self._write_sections()
        self._layout.checks.wrap_declarations(self._home, self._moved, Wraps(self._before, self._after))
        # Names of the kernel's variables may also be names of the file's variables, so that braces separate them.
        scope = 'cf__warp_scope' if self.of_warps else f'cf__row_scope<{self._row}>' if self.kernel.row else \
            f"cf__block_scope<{', '.join(map(str, self._extents))}>"
        first = f"const {scope} cf__scope(cf__index);{references} {'{ ' * bool(references)}"
        first += '[[maybe_unused]] constexpr int cf__y = 0, cf__z = 0; ' * (not self._rows)
        first += self._layout.checks.spell(self._spell, self._rows, self._indices.replaced())
        first += 'cf__ends cf__ended(cf__scope); ' * self._has_ends
        first += 'cf__lacking cf__lacked(cf__scope); ' * bool(self._lacks)
        first += self._spell_slots(r for r in self._layout.regions if r.section is None)
        for variable in self._kept:
            if variable.statement is None:
                name = variable.storage_name
                first += (f'typedef decltype({variable.name}) cf__T_{name}; {self._storage(variable)}'
                          f'for (int cf__t = 0; cf__t < cf__threads(cf__scope); cf__t++) '
                          f'cf__keep(cf__kept_{name}.cf__values[cf__t], {variable.name}); ')
        self._put_before(0, first)
        self._put_after(len(self._tokens) - 1, ' }' * bool(references))
        name, found = self.kernel.head[self.kernel.function], {}
        for at in {*self._before, *self._text, *self._after, *self._moved, *self._replaced, *self._sums}:
            text = '' if at in self._moved or at in self._replaced else self._word(at, 0, len(self._tokens), spelled)
            found[id(self._tokens[at])] = self._fill(self._before.get(at, '') + text + self._after.get(at, ''), spelled)
        word = next(t for t in self.kernel.head if t.text == '__global__')
        return {**found, id(name): f'cf__regions_{name.text}', id(word): f'{word.text} CF__OF_BLOCK',
                **{id(token): text for token, text in insert_parameter(self.kernel)}}

    def _word(self, at, first, last, spelled):
        """Returns the text of the token at `at`, as a part of the text between the places `first` and `last`."""
        text, begin, end = self._sums.get(at, ('', -1, -1))
        text = text if first <= begin and end <= last else spelled.get(id(self._tokens[at]), self._tokens[at].text)
        return self._text.get(at, text)

    def _fill(self, text, spelled):
        """Replaces the marks of _spell() in a text by the source's text."""
        while '\x01' in text:
            front, _, rest = text.partition('\x01')
            place, _, behind = rest.partition('\x02')
            begin, end = map(int, place.split(':'))
            text = front + ''.join(' ' * (not self._tokens[at].joined) + self._word(at, begin, end, spelled)
                                   for at in range(begin, end) if self._replaced.get(at, 0) <= begin) + behind
        return text

    def _begin_stride(self, stride):
        """Returns the text that replaces the header of a loop whose steps all threads take together."""
        used = [self._of[at] for at in range(*stride.variable.value) if at in self._of]
        return spell_begin(stride, self._spell, self._load(self._needed(used), None),
                           self._load(self._needed({stride.variable}), None))

    def _spell(self, begin, end):
        """Returns a mark for the source's text between two places. _fill() replaces it when all edits are known."""
        return f'\x01{begin}:{end}\x02'

    def _storage(self, variable):
        name, self._stored = variable.storage_name, self._stored + count_arrays(variable)
        place = ', 0' if self._stored > _MOST_ON_STACK else '' if variable.is_column else \
            f', sizeof(cf__T_{name}) <= 8' * variable.is_in_place
        return (f'static const cf_host_shape cf__K_{name} = cf__shape<cf__T_{name}>(); '
                f"cf__kept{'_column' * variable.is_column}<cf__T_{name}, {self._most(variable)}"
                f'{place}> cf__kept_{name}(&cf__K_{name}); ')

    def _declare(self, variable):
        """Returns the declaration of a kept variable's memory, for the place before the variable's region."""
        name = variable.storage_name
        if variable.is_auto:
            inner = self._load(self._needed({self._of[at] for at in range(*variable.value) if at in self._of}), None)
            value = self._spell_type(variable)
            types = ''.join(f'{t.text} ' for t in variable.types if t.text == 'const')
            text = (f'auto cf__L_{name} = [&] {{ CF__FIRST {inner} return {value}; }}; '
                    f'typedef {types}decltype(cf__L_{name}()) cf__T_{name}; ')
        else:
            types = ' '.join(t.text for t in variable.types if t.text not in ('register',))
            shape = ' '.join(f'cf__T_{name}' if t is variable.token else t.text for t in variable.declarator)
            text = f'typedef {types} {shape}; '
        return text + self._storage(variable)

    def _load(self, variables, region, wraps=None):
        """Returns the declarations, within one thread, of kept variables and of variables that are computed again."""
        spell, text = self._spell if wraps is None else lambda begin, end: wraps.spell(begin, end, self._spell), ''
        added = ''      # additions of all threads; variables in `text` have the value before these
        checks, strides = self._layout.checks, self._layout.strides
        is_of_warp = self._layout.is_of_warp
        for variable in (v for v in variables if (region is None or self._home.get(v) is not region) and
                         not is_of_warp(v)):
            if variable in self._again:
                types = ' '.join(t.text for t in variable.types)
                place = 'cf__t' if self._shape.has_lines and self._layout.warps is not None else 'cf__x'
                value = spell_step(strides[variable], checks, self._spell, place) if variable in strides else \
                    self._layout.spell_number(variable) or checks.wrap(variable, spell(*variable.value))
                text, added = (text + added, '') if variable in strides else (text, added)
                added += f'{variable.name} += cf__by_{variable.storage_name}; ' if variable in self._advanced else ''
                text += f'[[maybe_unused]] {types} {variable.name} = {value}; '
                text += ''.join(f'{spell(s.begin, s.end)} ' for s in self._changes.get(variable, ()))
            elif variable in self._unset:
                text += f"[[maybe_unused]] {' '.join(t.text for t in (*variable.types, *variable.declarator))}; "
            elif variable in self._kept:
                name = variable.storage_name
                types = 'auto &&' if variable.is_column else f"cf__T_{name} {'&' * variable.is_in_place}"
                text += f'[[maybe_unused]] {types}{variable.name} = cf__kept_{name}.cf__values[cf__t]; '
        return text + added

    def _write_region(self, region, used, is_masked):
        own, moved = self._of_home.get(region, set()), ''.join(f'{self._spell(*r)};' for r in region.moved)
        for begin, end in region.moved:
            self._moved.update(range(begin, end))
        moved += ''.join(f"[[maybe_unused]] {' '.join(t.text for t in v.types)} cf__by_{v.storage_name} = 0; "
                         for v in sorted(own & self._advanced, key=lambda v: v.number))
        if region.only_declares and own <= self._cheap:
            self._moved.update(range(region.begin, region.end))
            self._put_before(region.begin, moved)
            return
        in_warp = self.of_warps or region.section is not None
        rows = self._rows_around((region.begin, region.end), region.guards)
        if region.is_leave:
            return self._write_leave(region, used, moved, rows)
        declared = ''.join(self._declare(v) for v in sorted(own & self._kept.keys(), key=lambda v: v.number)
                           if in_warp <= (self.of_warps or v in self._inner))
        number, wraps = region.begin, Wraps({}, {})
        kept = [v for v in sorted(used & self._kept.keys(), key=lambda v: v.number) if not self._layout.is_of_warp(v)]
        kept = [v for v in kept
                if v in own and not v.is_unset(region.begin, region.end) or not v.is_in_place and
                bisect.bisect_left(v.writes, region.begin) < bisect.bisect_left(v.writes, region.end)]
        store = ''.join(f' cf__keep(cf__kept_{v.storage_name}.cf__values[cf__t], {v.name});' for v in kept)
        # Only one CPU thread runs the block, so that its atomic functions need no atomic operations.
        atomics = list(find_plain_atomics(self._tokens, self._of, self._meanings, region.begin, region.end))
        self._text.update((at, f'cf__plain_{self._tokens[at].text}') for at in atomics)
        is_independent = not (atomics or region.has_return) and self._is_independent(region.begin, region.end)
        hint = 'CF__INDEPENDENT' if is_independent else 'CF__VECTORIZE'
        enter = self._enter(is_masked)
        bounds, guards, ask = self._write_guards(region.guards)
        is_blend = in_warp and not region.has_return and (
            not region.exchanges if region.guards else is_masked and all(
                e.is_shift or not e.is_shuffle for e in region.exchanges)) and self._layout.may_blend(
                    region.begin, region.end)
        if is_blend:
            enter, bounds, ask = self._enter(False), '', None
            guards = self._spell_guards(region)
        ask = None if is_masked or self.is_mirrored or region.exchanges or region.has_return else ask
        conditions = ''.join(f"if ({'cf__piece.cf__is_inside || ' * bool(ask)}{condition}) " for condition in guards)
        if (has_choices := bool((self._choices[region] or ask) and not is_blend)) and not bounds:
            bounds = '{ cf__span_of cf__span(cf__scope); '
        has_step = not has_choices and not is_blend and self._has_step(region.guards)
        row, close = ('CF__STEP_ROW' if has_step else 'CF__SPAN_ROW', ' }') if bounds else ('CF__ROW', '')
        if in_warp and self._shape.is_whole and not (rows or bounds) and not region.has_return and \
                region.end - region.begin < _MOST_IN_PARTS:
            bounds, row = 'CF__PARTS ', 'CF__PART'
        exchanges = self._write_exchanges(region, is_masked, rows, bounds, row, conditions, close)
        if region.is_once:
            return self._put_before(region.begin, exchanges)
        if not (in_warp or region.exchanges or region.has_return):
            bounds, close = spell_ahead(
                self._tokens, region, self._variables, self._layout, lambda v: v in self._again or
                v not in self._home or v in self._kept and self._home[v] is not region,
                lambda used: self._load(self._needed(used), None), bounds, close, self._spell)
        if has_choices:
            divided, run = self._write_choices(region, wraps, ask)
            bounds, close = bounds + divided, run + close
        if self._quotients[region] and not has_step:
            row, (bounds, close) = 'CF__SPAN_ROW', self._write_quotients(region, wraps, bounds, close)
        load = self._load(self._needed(used), region, wraps)
        self._put_before(region.begin, f'{moved} {exchanges}{declared}{rows}{bounds}{hint} {row} {{ {enter}{load}'
                         f'{conditions}{{ ')
        label = f' cf__end_{number}:;' * region.has_return
        if region.has_return:
            first = bisect.bisect_left(self._returns, (region.begin, 0))
            for begin, end in self._returns[first:bisect.bisect_left(self._returns, (region.end, 0))]:
                leave = 'cf__ended.cf__end(cf__t); ' if is_masked else ''
                self._text[begin] = f'{{ {leave}goto cf__end_{number}'
                self._put_after(end - 1, ' }')
        # Compilers vectorize a store that each lane makes. It has to stand in the scope of the region's own variables.
        store = f' }}{store}' if is_blend and own.isdisjoint(kept) else f'{store} }}'
        self._put_after(region.end - 1, f'{store}{label} }}{close}{self._advances.get(region, "")}')

    def _find_lacking(self, is_masked):
        """Notes the checks for lanes that a guard keeps from one operation of their warp, and that reach another one. A
        GPU would wait for such lanes forever, so that each barrier reports them."""
        regions, lanes = self._layout.regions, self._layout.lanes
        may_lack = any(r.exchanges and r.guards and (r.guards[-1].is_in_loop or lanes.goes_on(r.guards[-1].end))
                       for r in regions)
        guards = list(dict.fromkeys(g for r in regions for g in r.guards))
        meets = [s.begin for t in self._statements for s in t.walk()
                 if s.kind == 'expression' and (self._layout.is_barrier(s) or lanes.is_sync(s))] if may_lack else []
        free = [at for at in meets if all(g.is_final or not g.place[1] <= at < g.end for g in guards)]
        # Lanes that a `return` kept from an operation do not have to reach a __syncwarp().
        self._finals = [g for g in guards if g.is_final and meets]
        self._has_ends = is_masked or bool(self._finals)
        ended = 'cf__ended.cf__has' if self._has_ends else 'nullptr'
        # A __syncwarp() under a condition gives no set of lanes that reach it. Then each lane has to take part.
        self._lacks = f"{ended}, &cf__lacked, {str(len(free) == len(meets)).lower()}" if may_lack else None
        self._no_lacks = f'{ended}, nullptr, false'
        self._meet = f'cf__lacked.cf__meet(cf__scope, {ended}); ' * may_lack
        self._text.update((at, self._meet) for at in free)

    def _find_parts(self, parts):
        """Returns the parts that are known for a row of threads, and marks their variables as computed again."""
        found = []
        for part in parts:
            used = [self._of[at] for place in part.places() for at in range(*place) if at in self._of]
            # Names in the value of a variable may mean other variables at the condition.
            is_known = all(variable in self._cheap or variable.writes and all(
                self._tokens[at - 1].text == '.' or self._declared.get(self._tokens[at].text, 0) <= (at in self._of)
                for at in range(*value)) for variable, value in part.variables)
            if is_known and all(map(self._is_known, used)):
                found.append(part)
                for variable in used:
                    if variable in self._cheap:
                        self._add_again(variable)
        return found

    def _find_choices(self, pieces, region, used):
        """Returns the Choices by which the threads of a region are divided."""
        if region.has_return or region.exchanges or region.only_declares and self._of_home.get(
                region, set()) <= self._cheap or not pieces.may_divide(region.begin, region.end):
            return []
        found = []
        with self._layout.reading(region.section):
            choices = pieces.find(region.begin, region.end)
            for variable in self._needed(used):
                is_loaded = self._home.get(variable) is not region
                if variable in (self._again if is_loaded else self._changes) and variable not in self._layout.strides:
                    choices += pieces.find_of(variable, self._changes.get(variable, ()), is_loaded, region.end)
        for choice in choices:
            parts = self._find_parts(choice.parts)
            choice.is_whole = len(parts) == len(choice.parts)
            if any(part.bounds for part in parts) and (choice.index is None or choice.is_whole) and all(
                    earlier in found and earlier.is_whole for earlier in choice.earlier):
                choice.is_exact &= choice.is_whole
                choice.parts = parts
                found.append(choice)
        return found

    def _narrow(self, span, parts, is_negated):
        """Returns the calls that narrow the range `span` to the threads for which parts hold, for each part the name of
        the bool that tells if the types allow this, and the variables in the calls."""
        calls, known, used = '', [], set()
        for part in parts:
            used |= {self._of[at] for place in part.places() for at in range(*place) if at in self._of}
            self._known += 1
            known.append(f'cf__known_{self._known}')
            calls += spell_narrow(span, part, is_negated, known[-1], self._spell)
        return calls, known, used

    def _write_guards(self, guards):
        """Returns the text that narrows a range to the threads for which the guards hold, the conditions of the guards,
        and the declarations and the condition that test a thread, or None if no test is needed."""
        calls, conditions, used, flags, asks, steps = '', [], set(), [], False, ''
        for guard in guards:
            sign, condition, at = '!' * guard.is_negated, '', guard.place[0]
            own, known, names = self._narrow('cf__span', self._parts[guard], guard.is_negated)
            calls, used, flags = calls + own, used | names, flags + known
            for part, kinds in zip(self._parts[guard], known):
                text = f'({self._spell(part.begin, part.end)})'
                if part.is_whole:
                    text = f'(!{kinds} && {text})' if guard.is_negated else f'({kinds} || {text})'
                condition += f'{self._spell(at, part.begin)} {text}'
                at = part.end
                steps += spell_multiple(part, self._spell)
            conditions.append(f'{sign}({condition}{self._spell(at, guard.place[1])})')
            asks |= self._layout.asks_bool(*guard.place) and not self._layout.innermost.are_all(
                self._parts[guard], *guard.place, guard.is_negated)
        ask = (self._load(self._needed({self._of[at] for guard in guards for at in range(*guard.place)
                                        if at in self._of}), None), ' && '.join(conditions)) if asks else None
        if not calls:
            return '', conditions, ask
        load = self._load(self._needed(used), None)
        flags = f"bool {', '.join(flags)}; "
        calls += steps
        return f'{{ cf__span_of cf__span(cf__scope); {flags}{{ CF__FIRST_OF_ROW {load}{calls}}} ', conditions, ask

    def _ask_any(self, guards, is_masked, rows):
        """Returns the text before a statement that the block runs only if some thread passes all of the guards."""
        self._known += 1
        name, (bounds, conditions, _) = f'cf__any_{self._known}', self._write_guards(guards)
        row = 'CF__STEP_ROW' if self._has_step(guards) else 'CF__SPAN_ROW' if bounds else 'CF__ROW'
        load = self._load(self._needed({self._of[at] for guard in guards for at in range(*guard.place)
                                        if at in self._of}), None)
        conditions = ''.join(f'if ({condition}) ' for condition in conditions)
        return (f'{{ bool {name} = false; {rows}{bounds}CF__VECTORIZE {row} {{ {self._enter(is_masked)}{load}'
                f"{conditions}{name} = true; }}{' }' * bool(bounds)} if ({name}) ")

    def _has_step(self, guards):
        return any(p.multiple for guard in guards for p in self._parts[guard])

    def _write_choices(self, region, wraps, ask):
        """Returns the texts around a loop that divide its threads by a region's Choices, and replaces the Choices in
        it. `wraps`: texts in values that the region computes again; `ask`: result of _write_guards()."""
        calls, used, choices, flags = '', set(), self._choices[region], []
        is_exact = len(choices) == 1 and choices[0].is_exact and not ask
        for choice in choices:
            own, known, names = self._narrow('cf__inner', choice.parts, choice.is_negated)
            calls, used, flags = calls + own, used | names, flags + known
            choice.known = known
            earlier = ''.join(f'{name} && ' for c in choice.earlier for name in c.known)
            place = wraps if choice.is_loaded else Wraps(self._before, self._after)
            if choice.index is not None:
                place.wrap(choice.begin, choice.end, f"({earlier}{' && '.join(known)} && cf__piece.cf__is_inside ? "
                           f'({self._spell(*choice.index)}) : ', ')')
                continue
            if is_exact:
                front = 'cf__piece.cf__is_outside ||' if choice.is_negated else '!cf__piece.cf__is_outside &&'
                place.wrap(choice.begin, choice.end, f'({front} (', '))')
            for part, kinds in zip(choice.parts, known):
                if part.is_whole:
                    front = f'!({earlier}{kinds} && cf__piece.cf__is_inside) &&' if choice.is_negated else \
                        f'{earlier}{kinds} && cf__piece.cf__is_inside ||'
                    place.wrap(part.begin, part.end, f'({front} (', '))')
        return spell_pieces(flags, self._load(self._needed(used), None) + calls, is_exact, ask)

    def _is_independent(self, begin, end):
        tokens = self._tokens[begin:end]
        return self._is_numeric and not (self.is_mirrored or adds(tokens)) and has_numbers(
            tokens, set(list_types(self.kernel.head))) and not self._accesses.has_neighbours_after_write(tokens)
