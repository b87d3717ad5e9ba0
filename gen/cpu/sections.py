"""Sections of a block's code that its warps run one after the other, with regions of 32 lanes as in the form for warps.

    if (warp == 0)                          for each warp: if (warp == 0)
        v += __shfl_down_sync(~0u, v, 16);      for each lane: values[t] = v ...

A section is a run of statements of one list, from the first to the last with an operation of warps or a condition that
asks for the warp or the lane, without a barrier of the block. Control flow in it has to be the same for each warp only,
and code that a warp does not reach takes no time."""

from contextlib import contextmanager

from cpu.statements import LOOPS

# The words in a loop that a warp runs once.
_OF_LOOPS = {'for', 'if', 'else', 'const', 'int', 'unsigned', 'float', 'double', 'min', 'max'}


class Section:
    """The statements between two places that warps run one after another. `regions`: their Regions; `declared`:
    variables that they declare and later code uses; `asked`: the only statement, if it is an `if` around a block."""

    def __init__(self, statements):
        self.begin, self.end = statements[0].begin, statements[-1].end
        self.regions, self.declared = [], []
        only = statements[0] if len(statements) == 1 and statements[0].kind == 'if' else None
        is_block = only is not None and len(only.children) == 1 and only.children[0].kind == 'block'
        self.asked = only if is_block else None

    def has(self, at):
        return self.begin <= at < self.end

    def declares(self, variable):
        return self.has(variable.statement.begin)

    def places_between(self):
        """Yields the places of a section's tokens that are in no region of lanes, or are moved before their region."""
        at = self.begin
        for region in (r for r in self.regions if not r.is_once):
            yield from range(at, region.begin)
            yield from (moved for place in region.moved for moved in range(*place))
            at = max(at, region.end)
        yield from range(at, self.end)


def count_statements(statements, layout, has_escapes):
    """Returns the number of statements, from the first one on, that are a section; 0 if none begins there.
    `has_escapes`: tells if control may leave a statement."""
    found = layout.count_repeated(statements)
    for number, statement in enumerate(statements[found:], found):
        has_lanes = layout.lanes.find_first(statement) is not None
        if statement.kind == 'alias' or layout.has_block_barrier(statement) or has_escapes(statement) or \
                not has_lanes and any(s.kind in LOOPS for s in statement.walk()) or any(
                    v.is_shared for s in statement.walk() for v in layout.declared_by(s)):
            break
        if has_lanes or statement.kind == 'if' and layout.reads_warp(*statement.parts[0]):
            found = number + 1
        elif not found:
            break
    return found


class Sections:
    """The part of a Layout that finds and reads the sections of a block's code."""

    def _count_in_section(self, statements, loops):
        return count_statements(statements, self, lambda s: any(self._find_escapes(s, loops > 0))) if \
            self.of_sections is not None and self.warps is None else 0

    def _enter_section(self, statements, loops):
        """Divides the statements of a new section into regions of lanes."""
        self._section, first = Section(statements), len(self.regions)
        self.sections.append(self._section)
        with self.reading(self._section):
            self._walk(statements, loops)
        self._section.regions = self.regions[first:]
        for region in self._section.regions:
            region.section = self._section
        declared = dict.fromkeys(v for t in statements for s in t.walk() for v in self.declared_by(s))
        behind = {v for v in declared if any(at >= self._section.end for at in v.uses)}
        for variable in sorted(declared, key=lambda v: v.number, reverse=True):
            if variable in behind and variable.is_auto:
                # The compiler deduces the type outside of the section, from the variables in the value.
                behind.update(v for v in map(self._variables.of.get, range(*variable.value or (0, 0))) if v in declared)
        for variable in (v for v in declared if v in behind):
            if variable not in self.varying and variable.is_scalar and not (
                    variable.is_auto or variable.is_constant):
                self._crossing.add(variable)
            self.varying.setdefault(variable, variable.name)
            self._section.declared.append(variable)
            if variable in self._crossing and not variable.writes:
                self.even.add(variable)
        self._section = None

    @contextmanager
    def reading(self, section):
        """Within a `with` statement, all methods of the Layout answer for code of this section, or for code of the
        block if it is None."""
        before = self.warps, self._section
        if self.of_sections is not None:
            self.warps, self._section = None if section is None else self.of_sections, section
        try:
            yield
        finally:
            self.warps, self._section = before

    def is_of_warp(self, variable):
        """True for a variable that exists once per warp in the section that is read, and that later code uses."""
        return variable in self._crossing and self._section is not None and self._section.declares(variable)

    def reads_warp(self, begin, end):
        """True if an expression reads the number of a warp or the number of a lane."""
        warps = self.of_sections
        return any(at in warps.uniform - warps.compared or at in warps.lanes or warps.is_lane(at, at + 1) or
                   self._variables.of.get(at) in self.even for at in range(begin, end))

    def spell_number(self, variable):
        """Returns the text for a variable that holds a lane's number or, in a block whose warps do not follow its rows,
        a thread's number in its block; '' for others, and outside of a warp's code."""
        if self.warps is None or variable.value is None or variable.writes:
            return ''
        is_number = self.shape.has_lines and self.warps.is_index(*variable.value)
        return 'cf__from + cf__t' if is_number else 'cf__t' if self.warps.is_lane(*variable.value) else ''

    def may_blend(self, begin, end):
        """True if code accesses only variables of its own thread. Then lanes that fail a guard or have ended may run
        the code, in a loop of constant length, which compilers vectorize."""
        def is_plain(at):
            token, variable = self._tokens[at], self._variables.of.get(at)
            if token.kind == 'identifier':
                return (self._text(at + 1) != '(' or at in self.lanes.exchanges) and (
                    not self.is_data(at) if variable is None else variable.is_scalar and not variable.is_shared)
            return token.text not in ('[', '->', '{', '/', '%') and (
                token.text not in ('*', '&') or self._variables.ends_value(at - 1))
        return all(map(is_plain, range(begin, end)))

    def count_repeated(self, statements):
        """Returns the number of statements that are a loop, after declarations of constant values, that all lanes of a
        warp would repeat with the same values, and whose steps depend on the warp; 0 if the first ones are others."""
        count = next((n for n, s in enumerate(statements) if s.kind != 'declaration' or any(
            v.is_shared or not v.is_scalar or any(self._tokens[at].kind != 'number' for at in range(*v.value or (0, 0)))
            for v in self.declared_by(s))), 0)
        loop, of = statements[count], self._variables.of
        if count == 0 or loop.kind != 'for':
            return 0
        own = {v for s in (*statements[:count], *loop.walk()) for v in self.declared_by(s)}
        used = [of.get(at) for at in range(loop.begin, loop.end)]
        is_of_warp = any(of.get(at) in self.even for part in loop.parts[:2] for at in range(*part)) and all(
            v in own or v.is_shared or v in self.even or v not in self.varying for v in used if v is not None)
        return count + 1 if is_of_warp and all(
            at in of or self._tokens[at].kind != 'identifier' or self._text(at) in _OF_LOOPS
            for at in range(loop.begin, loop.end)) else 0

    def declared_by(self, statement):
        return self._variables.declared_by(statement)

    def differs(self, variable):
        """True for a variable that differs between the threads of the block, or between the lanes of the warp whose
        code is read."""
        return variable in self.varying and (self.warps is None or variable not in self.even) and \
            not self.is_of_warp(variable)

    def _note_even(self, declared):
        """Notes the variables of a declaration that are the same for all lanes of each warp."""
        if self.of_sections is None or self.warps is not None or self._guards:
            return
        with self.reading(Section([declared[0].statement])):
            self.even.update(v for v in declared if v.is_scalar and not v.writes and v.escape is None and
                             v.value is not None and not (v.is_reference or v.is_volatile) and
                             self._tell_declared(v) is None)

    def _split_off(self, statement):
        """Splits the condition of an `if`: the first part is tested once for a warp. Returns the place of the other
        part."""
        begin, end = statement.parts[0]
        if self.warps is None or len(statement.children) > 1:
            return begin, end
        operands = self.innermost.split_condition(begin, end, False)
        first = next((n for n, place in enumerate(operands) if self.tell(*place) is not None), 0)
        if first == 0 or any(self._text(at) == '&&' for place in operands[:first] for at in range(*place)) or \
                self._text(operands[first][0] - 1) != '&&':
            return begin, end
        self.split[statement.begin] = begin, operands[first][0] - 1
        return operands[first][0], end
