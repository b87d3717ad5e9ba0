"""Writes sections: loops over the warps of a block around code that each warp runs on its own. Each turn of the loop
has the warp's elements of the variables that code outside of the section uses, too."""

from cpu.again import places_of
from cpu.refused import Refused

# Elements of a kept variable for the threads of a warp or of a block. A row of 1024 + 24 elements spreads the elements
# of one thread over the cache's sets.
_OF_WARP, _OF_BLOCK = 32, 1024 + 24


class SectionText:
    """The part of a Rewriter that writes the text of sections."""

    def _most(self, variable):
        return _OF_WARP if self.of_warps or variable in self._inner else _OF_BLOCK

    def _read_first_lanes(self):
        """Replaces the names of variables, in code that a warp runs once, by the values in the warp's first lane."""
        layout = self._layout
        for at in sorted(layout.warps.uniform) if self.of_warps else ():
            if self._of.get(at) in layout.varying:
                self._text[at] = self._spell_first(self._of[at])
        for section in layout.sections:
            shifts = [place for r in section.regions for e in r.exchanges if e.is_shift for place in e.others]
            for at in (*section.places_between(), *sorted(layout.of_sections.uniform),
                       *(at for place in shifts for at in range(*place))):
                variable = self._of.get(at) if section.has(at) else None
                with layout.reading(section):
                    is_own = variable is not None and layout.is_of_warp(variable)
                if variable in layout.varying and not is_own and (
                        variable in layout.even or at in layout.of_sections.uniform):
                    self._text[at] = self._spell_first(variable)

    def _spell_first(self, variable):
        """Returns the text of an index's value in a warp's first lane, for code that does not declare the index."""
        text = ''
        for at in range(*variable.value):
            used = self._of.get(at)
            if self._tokens[at].kind == 'identifier' and self._tokens[at - 1].text != '.' and \
                    self._declared.get(self._tokens[at].text, 0) > (used is not None):
                raise Refused(self._tokens[at], 'is the name of several variables')
            text += self._spell_first(used) if used in self._layout.varying else self._spell(at, at + 1)
        if variable in self._kept and variable in self._layout.even:
            lane = 'cf__ended.cf__first' if self._is_masked() else '0'
            return f'cf__kept_{variable.storage_name}.cf__values[{lane}]'
        return f'({text})' if variable.is_auto else f"static_cast<{' '.join(t.text for t in variable.types)}>({text})"

    def _write_sections(self):
        asked = [s.asked.begin for s in self._layout.sections if s.asked is not None]
        for inner in (s for t in self._statements for s in t.walk()):
            if inner.begin in self._layout.split and inner.kind == 'if' and inner.begin not in asked:
                self._put_split(inner)
        for section in self._layout.sections:
            self._write_section(section)

    def _add_places(self, places):
        """Adds sections to the users of a variable, where a warp reads the variable once in code between regions.
        `places`: maps a variable to its users."""
        for section in self._layout.sections:
            for at in section.places_between():
                if self._of.get(at) in self._layout.even:
                    places.setdefault(self._of[at], set()).add(section)

    def _find_inner(self, places):
        """Finds the kept variables that only one section uses, so that memory for the lanes of a warp is enough."""
        self._inner = {}
        for variable in self._kept:
            home = self._home.get(variable)
            section = home.section if home is not None else None
            if section is None or variable in section.declared:
                continue
            if all(place is section or place.section is section for place in places.get(variable, ())):
                self._inner[variable] = section
            elif variable.is_auto:
                raise Refused(variable.token, 'has an unknown type')

    def _spell_type(self, variable):
        """Returns an expression of the type of an `auto` variable's value. Outside of a section, no lane has given
        values for operations of warps."""
        text, (begin, end) = '', variable.value
        for at in range(begin, end) if variable not in self._inner and self._home[variable].section else ():
            if at in self._layout.lanes.exchanges:
                exchange = self._layout.lanes.exchanges[at]
                text += f' {self._spell(begin, at)} {exchange.spell_type(self._spell)}'
                begin = exchange.end + 1
        return f'{text} {self._spell(begin, end)}'

    def _rows_around(self, place, guards):
        """Returns the text of the loops over rows of threads around code at a place and under guards."""
        if self._layout.warps is not None:
            is_used = self._shape.has_lines and self._reads_index([place, *(g.place for g in guards)])
            return f'CF__LINES({self._shape.line}) ' * is_used
        return self._rows * (not any(begin <= place[0] < end for begin, (end, _) in self._layout.tiles.items()))

    def _reads_index(self, places):
        """True if code at some places depends on indices other than the lane's number."""
        layout, found, pending = self._layout, set(), list(places)
        while pending:
            for at in range(*pending.pop()):
                variable = self._of.get(at)
                if at in layout.warps.uniform:
                    continue
                if self._tokens[at].text == 'threadIdx':
                    return True
                is_straight = variable in layout.strides and layout.strides[variable].is_straight
                if variable in self._again and variable not in found and not (
                        is_straight or layout.spell_number(variable)):
                    found.add(variable)
                    pending += places_of(variable, self._changes)
        return False

    def _write_exchanges(self, region, is_masked, rows, bounds, row, conditions, close):
        """Returns the loops in which threads store their operands of exchanges, and replaces the calls by reads of the
        results. The last four arguments are parts of the region's loop."""
        text = self._meet * bool(region.exchanges and not region.guards)
        lacks = self._lacks if self._lacks and region.guards else '', self._no_lacks
        for exchange in region.exchanges:
            call, replaced = exchange.result()
            word = self._spelled.get(id(self._tokens[exchange.at]), exchange.name)
            self._text[exchange.at] = word[:len(word) - len(exchange.name)] + call
            self._replaced.update((at, exchange.given[0][0]) for at in range(*replaced))
            places = [*exchange.given, *(g.place for g in region.guards)]
            load = self._load(self._needed({self._of[at] for place in places for at in range(*place)
                                            if at in self._of and self._of[at].is_block}), None)
            hint = 'CF__INDEPENDENT' if all(self._is_independent(*p) for p in exchange.given) else 'CF__VECTORIZE'
            # All lanes compute what they give. A lane that has ended or that fails a guard gives 0 instead.
            fails = ['cf__ended.cf__has[cf__t]'] * is_masked + [f'!{guard}' for guard in self._spell_guards(region)]
            if fails and all(self._layout.may_blend(*place) for place in places):
                is_whole = self._layout.warps is not None and self._shape.is_whole and not rows
                front, loop = ('CF__PARTS ', 'CF__PART') if is_whole else (rows, 'CF__ROW')
                text += exchange.write(front, f'{hint} {loop} {{ {self._enter(False)}{load}', '}', load, False, lacks,
                                       self._spell, f"({' || '.join(fails)})")
                continue
            text += exchange.write(f'{rows}{bounds}', f'{hint} {row} {{ {self._enter(is_masked)}{load}{conditions}',
                                   f'}}{close}', load, bool(fails), lacks, self._spell, '')
        return text

    def _spell_guards(self, region):
        return [f"{'!' * guard.is_negated}({self._spell(*guard.place)})" for guard in region.guards]

    @staticmethod
    def _spell_slots(regions):
        slots = sorted({e.slot for r in regions for e in r.exchanges if not e.is_of_block})
        return ''.join(f'cf__lanes cf__lanes_{slot}; ' for slot in slots)

    def _write_section(self, section):
        """Writes the loop over warps around a section, with copies of a warp's elements of variables from outside."""
        used = set().union(*(self._used[self._layout.regions.index(r)] for r in section.regions)) | {
            self._of[at] for at in section.places_between() if at in self._of}
        outer, inner, end, declared, own = '', '', '', '', ''
        for variable in (v for v in self._needed(used) if v in self._kept and v not in self._inner):
            name = variable.storage_name
            with self._layout.reading(section):
                is_of_warp = self._layout.is_of_warp(variable)
            is_own = is_of_warp or self._home.get(variable) is not None and self._home[variable].section is section
            if is_own:
                declared += self._declare(variable)
            outer += f'auto &cf__whole_{name} = cf__kept_{name}; '
            if is_of_warp:
                own += (f' CF__UNROLL for (int cf__t = 0; cf__t < 32; cf__t++) '
                        f'cf__keep(cf__whole_{name}.cf__values[cf__from + cf__t], {variable.name});')
                continue
            if not variable.is_scalar or variable.is_array or variable.is_auto:
                inner += (f'const cf__kept_from<decltype(cf__whole_{name})> cf__kept_{name}(cf__whole_{name}, '
                          'cf__from); ')
                continue
            inner += f'cf__kept<cf__T_{name}, {_OF_WARP}> cf__kept_{name}(&cf__K_{name}); '
            if not is_own:
                inner += f'cf__copy_lanes(&cf__kept_{name}.cf__values[0], &cf__whole_{name}.cf__values[cf__from]); '
            if is_own or any(map(section.has, variable.writes)) and self._is_used_behind(variable, section):
                end += f' cf__copy_lanes(&cf__whole_{name}.cf__values[cf__from], &cf__kept_{name}.cf__values[0]);'
        if self._has_ends:
            outer += 'const cf__ends &cf__all_ended = cf__ended; '
            inner = f'CF__UNLESS_ENDED {inner}'
        begin, last = section.begin, section.end
        inner, end = f'{self._spell_slots(section.regions)}{inner}{{ ', f'{own} }}{end}'
        asked = section.asked
        place = None if asked is None else asked.parts[0] if asked.begin in self._layout.entered else \
            self._layout.split.get(asked.begin)
        if place is not None and not declared and not any(self._of.get(at) in self._kept for at in range(*place)):
            # A warp that does not run the section's statement needs no copies of its elements.
            if asked.begin in self._layout.split:
                self._put_before(begin, f'if ({self._spell(*place)}) {{ {inner}')
                end += ' }'
                self._put_after(last - 1, end)
            else:
                self._put_after(asked.children[0].begin, f' {inner}')
                self._put_before(asked.children[0].end - 1, f'{end} ')
            inner = end = ''
        elif asked is not None and asked.begin in self._layout.split:
            self._put_split(asked)
        loop = 'CF__WARPS_OF_{} {{ CF__SECTION_OF_{}({})'.format(
            *['LINES' if self._shape.has_lines else 'ROWS'] * 2, str(self._shape.is_whole).lower())
        self._put_before(begin, f'{declared}{{ {outer}{loop} {inner}')
        self._put_after(last - 1, f'{end} }} }}')

    def _put_split(self, statement):
        self._put_before(statement.begin, f'if ({self._spell(*self._layout.split[statement.begin])}) {{ ')
        self._put_after(statement.end - 1, ' }')

    def _is_used_behind(self, variable, section):
        """True if code after a section, or the next step of a loop around the section, may use a variable."""
        first = variable.statement.begin if variable.statement is not None else -1
        return any(at >= section.end for at in variable.uses) or any(
            first < begin < section.begin < end for begin, end in self._layout.loops.items())
