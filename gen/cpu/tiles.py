"""Turns loops in which the threads of a block fill a tile by a flat index into loops over the rows of the tile.

    for (int k = ty * 16 + tx; k < 20 * 20; k += 256)       for (int row = 0; row * 20 < 20 * 20; row++)
        tile[k / 20][k % 20] = in[...];                         for each x: tile[row][x] = in[...];

The code of such a loop depends only on its index, so that any thread may run any step. A row is at most as long as the
block: the indices of a row belong to different threads, and the indices of one thread keep their order."""

from math import prod

from cpu.comparisons import Part
from cpu.counts import evaluate
from cpu.flatindex import find_coefficients
from cpu.ranges import type_of
from cpu.region import Guard
from cpu.rows import find_parts, TYPES
from cpu.unified import Body

_INDICES = {'threadIdx', 'warpSize'}
_KINDS = {'block', 'if', 'for', 'expression', 'declaration', 'empty'}


def find_tiles(kernel, declarations, layout, variables, sizes, value):
    """Returns a copy of a kernel whose loops over tiles run by rows; None if it has no such loops. `layout`,
    `variables`: those of the kernel; `sizes`: threads of a block along each axis; `value`: returns the value of tokens
    that are a constant, or None."""
    threads, lengths, body = prod(sizes) if sizes else 0, {}, None
    for stride in layout.strides.values() if threads else ():
        if _is_shared_out(stride, kernel.body, layout, variables, [*sizes, 1, 1][:3]):
            body = body or Body(kernel, declarations)
            length = _divide(body, stride, threads, value)
            if length:
                lengths[_name(stride)] = length
    if not lengths:
        return None
    changed = body.changed()
    changed.tiles = lengths
    return changed


def _name(stride):
    return f'cf__row_{stride.variable.number}'


def _is_shared_out(stride, tokens, layout, variables, sizes):
    """True if the threads of the block take each index of a loop once, and no code of the loop depends on the
    thread."""
    variable, statement = stride.variable, stride.variable.statement
    if stride.may_be_empty or stride.bound.relation != '<' or type_of(variable) not in TYPES or any(
            s.has(statement.begin) for s in layout.sections) or layout.lanes.find_first(statement) is not None:
        return False
    first, step = (find_coefficients(tokens, variables, *p, sizes, {}) for p in (variable.value, stride.size))
    flat = (0, *(prod(sizes[:axis]) if size > 1 else 0 for axis, size in enumerate(sizes)))
    if first != flat or step != (prod(sizes), 0, 0, 0):
        return False
    child = statement.children[0]
    if any(s.kind not in _KINDS for s in child.walk()):
        return False
    own = {v for s in child.walk() for v in variables.declared_by(s)} | {variable}
    for at in range(child.begin, child.end):
        used = variables.of.get(at)
        if tokens[at].text in _INDICES or used is not None and used not in own and (
                used.is_reference or used.is_volatile or not used.is_shared and layout.differs(used)):
            return False
    return True


def _divide(body, stride, threads, value):
    """Turns a loop over a tile into a loop over rows. Returns the length of a row, 0 if the loop is unchanged."""
    variable, statement = stride.variable, stride.variable.statement
    types, child = type_of(variable), statement.children[0]
    places = [(at, at + 1, '') for at in variable.uses if child.begin <= at < child.end]
    parts = list(find_parts(body, value, places))
    lengths = {p.value for p in parts if p.is_column} or {p.value for p in parts}
    length = min(lengths, default=0)
    if not 0 < length <= threads:
        return 0
    row, column = _name(stride), f'cf__column_{variable.number}'
    for part in parts:
        if part.value % length or part.is_column and part.value != length:
            continue
        text = column if part.is_column else row
        body.remove(part.begin + 1, part.end)
        body.replace(part.begin, text)
        if part.value != length:
            body.put_behind(part.begin, '/', str(part.value // length))
    first, last = statement.parts[0][0], statement.parts[2][1]
    limit = body.tokens[slice(*stride.bound.limit)]
    count = evaluate([t.text for t in limit])
    body.remove(first, last)
    body.put_before(first, types, row, '=', '0', ';', row, '*', str(length), '<', *limit, ';', row, '+', '=', '1')
    declared = [types, column, '=', 'threadIdx', '.', 'x', ';', types, variable.name, '=', row, '*', str(length), '+',
                column, ';']
    if count is not None and count % length == 0 and child.kind == 'block':
        body.put_behind(child.begin, *declared)
    else:
        body.put_before(child.begin, '{', *declared, 'if', '(', variable.name, '<', *limit, ')')
        body.put_behind(child.end - 1, '}')
    return length


def spell_tile(length):
    """Returns the text before a loop over the rows of a tile. In the loop, the elements of a row take the place of
    threads."""
    return (f'{{ const cf__row_scope<{length}> cf__scope(cf__index); '
            '[[maybe_unused]] constexpr int cf__y = 0, cf__z = 0; ')


class Tiles:
    """The part of a Layout that enters loops whose elements threads share out. `tiles`: maps the beginning of a loop
    over the rows of a tile to (end of the loop, length of a row)."""

    def _has_stride(self, statement):
        """True if a statement contains a loop whose steps all threads can take together."""
        return any(s.kind == 'for' and self._strides.read(s, self.masked or bool(self._guards)) is not None
                   for s in statement.walk())

    def _enter_stride(self, statement, stride, loops):
        """Divides the body of a Stride's loop into regions. The loop runs until no thread takes part in a step."""
        before, child = self._guards, statement.children[0]
        self.loops[statement.begin] = statement.end
        self.strides[stride.variable] = stride
        stride.variable.is_block = True
        self._vary(stride.variable, stride.variable.name)
        self.hidden += range(statement.begin, child.begin)
        self.has_loops_around |= stride.is_straight
        parts = [Part(*stride.condition, [stride.bound], [])] if stride.is_straight else []
        self._guards += (Guard(stride.condition, False, parts, child.end, True, False),)
        if child.kind != 'block':
            self.braced.append(child)
        self._walk(child.children if child.kind == 'block' else [child], loops + 1)
        self._guards = before

    def _enter_tile(self, statement, loops):
        """Divides a loop over the rows of a tile into regions; returns False for other statements."""
        declared = self._variables.declared_by(statement) if statement.kind == 'for' else []
        length = self._lengths.get(declared[0].name) if len(declared) == 1 else None
        if length is None:
            return False
        if self._tell_condition(statement) is not None or self.masked or self._guards:
            self._refuse(statement.begin, 'is a loop over a tile that differs between threads')
        first, self.has_loops_around = len(self.regions), True
        self._enter(statement, loops)
        self.tiles[statement.begin] = statement.end, length
        for region in self.regions[first:]:
            region.is_of_tile = True
        return True
