"""Emits the scalar checks and the launch rule of a kernel as straight C, for fast launches.

The function returns 1 only if the library, which interprets the descriptor, would find no error; otherwise it returns
0, and the library interprets the descriptor. It may return 0 for a valid launch, because it checks whole boxes of
memory and evaluates parts that a short circuit would skip."""

from base.bounds import INT32_MAX, INT64_MAX, INT64_MIN, MAX_BLOCK, MAX_BLOCK_Z, MAX_GRID
from base.text import fold
from emit.cfunction import any_of, Body, conjuncts_of
from emit.interval import ADD, decide, Interpreted, MUL, negate, of_number, parts_of, UNARY, Value


class _Sizes:
    """Emits the function that checks a kernel's launch and computes its size, part by part."""

    def __init__(self, instance):
        self.instance, self.launch = instance, instance.launch
        self.most = self.launch.max_block or MAX_BLOCK      # largest number of threads of a block
        self.body = Body(instance.params)
        self.arrays = [(i, p) for i, p in enumerate(instance.params) if p.dims]
        # Pairs of a conjunct and True if it is over real numbers.
        self.conditions = [(part, c.is_real) for c in instance.checks if c.condition
                           for part in conjuncts_of(c.condition.tree)]

    def text(self):
        launch, body = self.launch, self.body
        if launch.is_block_auto:
            raise Interpreted
        checks = [c for c in self.instance.checks if c.condition]
        for check in checks:
            codes = {node[0] for node in check.condition.nodes()}
            # Compilers may contract a product and a sum into one operation with one rounding.
            if check.is_real and 'MUL' in codes and codes & {'ADD', 'SUB'}:
                raise Interpreted
        given = [f'!cf__args[{i}]' for i, p in enumerate(self.instance.params)
                 if p.direction != 'CF_SCRATCH' or p.is_null]
        given += [f'*(void *const *)cf__args[{i}]' for i, p in enumerate(self.instance.params) if p.is_null]
        if given:
            body.leave(any_of(given))
        else:
            body.line('(void)cf__args;')
        dims = [d for _, p in self.arrays for d in p.dims]
        body.read([e for d in dims for e in (d.extent, d.lower, d.pitch)] + [*launch.grid, *launch.block, launch.items,
                  launch.shared] + [c.condition for c in checks] +
                  [e for z in self.instance.zeros for e in (z.extent, z.lower)])
        self._emit_plain_conditions()
        for condition, is_real in self.conditions:
            self._emit_condition(condition, is_real)
        size = self._emit_size()
        for _, param in self.arrays:
            self._emit_section(param)
        for zero in self.instance.zeros:
            self._emit_zero(zero)
        self._emit_pointers()
        body.line(size)
        body.line('return 1;')
        return body.text()

    def _emit_plain_conditions(self):
        """Emits the conditions on single parameters as one test; most kernels have no others."""
        launch, wanted = self.launch, {}

        def want(expr, low, high=INT64_MAX):
            name = self.body.name(expr) if expr else None
            if name:
                old = wanted.setdefault(name, (INT64_MIN, INT64_MAX))
                wanted[name] = (max(low, old[0]), min(high, old[1]))

        for name in self.body.unsigned():
            wanted[name] = (0, INT64_MAX)
        for d, grid in enumerate(launch.grid):
            divisor = self._find_divisor(d)
            want(grid, 1, min(MAX_GRID[d] * divisor, INT64_MAX) if divisor else INT64_MAX)
        for d, block in enumerate(launch.block):
            want(block, 1, min(self.most, MAX_BLOCK_Z) if d == 2 else self.most)
        want(launch.items, 1)
        want(launch.shared, 0, INT32_MAX)
        for _, param in self.arrays:
            for number, dim in enumerate(param.dims):
                is_whole = len(param.dims) == 1 and not dim.lower and param.type.bytes
                want(dim.extent, 0, INT64_MAX // param.type.bytes if is_whole else INT64_MAX)
                want(dim.lower, 0)
                want(dim.pitch if number else None, 0)
        for condition, is_real in self.conditions:
            bounds = None if is_real else self.body.bounds(condition)
            if bounds:
                name, low, high = bounds
                old = wanted.setdefault(name, (INT64_MIN, INT64_MAX))
                wanted[name] = (max(low, old[0]), min(high, old[1]))
        if any(low > high for low, high in wanted.values()):       # compilers would warn, since no call passes
            raise Interpreted
        outside = [text for name, bounds in wanted.items()
                   for text in self.body.outside(self.body.known(name), *bounds)]
        if outside:
            self.body.leave(any_of(outside))

    def _find_divisor(self, d):
        """Returns the constant by which a grid's elements are divided into blocks; None if it is not constant."""
        if self.launch.counts_blocks:
            return 1
        divisor = 1
        exprs = [*self.launch.block[d:d + 1], *([self.launch.items] if d == 0 and self.launch.items else [])]
        for expr in exprs:
            code, *parts = expr.tree
            if code != 'CONST' or isinstance(parts[0], tuple) or parts[0] < 1:
                return None
            divisor *= parts[0]
        return divisor

    def _emit_condition(self, node, is_real):
        if not is_real and self.body.bounds(node):
            return
        value = self.body.truth(node, is_real)
        if value.constant == 0:
            raise Interpreted
        if value.constant is None:
            self.body.leave(negate(value).text)

    # ---- The launch

    def _emit_size(self):
        """Emits the statement that writes the checked size."""
        body, launch = self.body, self.launch
        blocks, threads = [], of_number(1)
        for d, expr in enumerate(launch.block):
            value = body.require(body.value(expr), 1, min(self.most, MAX_BLOCK_Z) if d == 2 else self.most)
            body.know(expr, value)
            blocks.append(value)
            threads = body.product(threads, value)
        body.require(threads, 1, self.most)
        grid = [self._count_blocks(d, expr, blocks[d] if d < len(blocks) else of_number(1))
                for d, expr in enumerate(launch.grid)]
        for count, size in zip(grid, launch.cluster):
            if size > 1:
                body.leave(f'{count.within(MUL)} % {size} != 0')
        shared = of_number(0)
        if launch.shared:
            shared = body.require(body.value(launch.shared), 0, INT32_MAX)
            body.know(launch.shared, shared)
        fields = [f'{{{", ".join([_uint32(v) for v in values] + ["1"] * (3 - len(values)))}}}'
                  for values in (grid, blocks)]
        # A parameter may have the type's name, hence `struct`.
        size = f'{{{fields[0]}, {fields[1]}, {_uint32(shared)}}}'
        return fold(f'    *cf__size = (struct cf_launch_size){size};', 8).lstrip()

    def _count_blocks(self, d, expr, block):
        """Returns the number of blocks in one dimension of the grid."""
        body, launch = self.body, self.launch
        divisor = self._find_divisor(d)
        count = body.require(body.value(expr), 1, min(MAX_GRID[d] * divisor, INT64_MAX) if divisor else INT64_MAX)
        body.know(expr, count)
        body.positive(expr.tree)
        if divisor:
            if count.constant is not None:
                return of_number(-(-count.constant // divisor))
            return count if divisor == 1 else Value(f'({count.within(ADD)} + {divisor - 1}) / {divisor}', MUL)
        if d == 0 and launch.items:
            items = body.require(body.value(launch.items), 1)
            body.know(launch.items, items)
            count = body.local(parts_of(count, items))
        return body.require(body.local(parts_of(count, block)), 1, MAX_GRID[d])

    # ---- Arrays

    def _emit_section(self, param):
        """Emits the checks of the box of memory that contains an array's elements."""
        body, box = self.body, of_number(1)
        for number, dim in reversed(list(enumerate(param.dims))):
            is_whole = len(param.dims) == 1 and not dim.lower and param.type.bytes
            extent = body.require(body.value(dim.extent), 0, INT64_MAX // param.type.bytes if is_whole else INT64_MAX)
            body.know(dim.extent, extent)
            end, pitch = extent, extent
            if dim.lower:
                lower = body.require(body.value(dim.lower), 0)
                body.know(dim.lower, lower)
                end = body.local(body.sum(lower, extent))
            if number and dim.pitch:
                pitch = body.require(body.value(dim.pitch), 0)
                body.know(dim.pitch, pitch)
            if number and (dim.lower or dim.pitch) and decide('GT', end, pitch) is not False:
                body.leave(f'{end.text} > {pitch.text}' + ('' if extent.low > 0 else f' && {extent.text} != 0'))
            box = body.product(box, pitch if number else end)
        if param.type.bytes:
            body.require(box, 0, INT64_MAX // param.type.bytes)
        else:
            body.product(box, Value(f'(int64_t)sizeof({param.type.c})', UNARY, 0, 2**32 - 1))

    def _emit_zero(self, zero):
        """Emits the check that the section of zero(...) is part of its array."""
        body, dim = self.body, self.instance.params[zero.array].dims[0]
        if not zero.extent:
            return
        end = body.require(body.value(zero.extent), 0, INT64_MAX)
        body.know(zero.extent, end)
        lower, first, behind = of_number(0), of_number(0), body.value(dim.extent)
        if zero.lower:
            lower = body.require(body.value(zero.lower), 0)
            body.know(zero.lower, lower)
            end = body.local(body.sum(lower, end))
        if dim.lower:
            first = body.value(dim.lower)
            behind = body.local(body.sum(first, behind))
        for small, large in ((first, lower), (end, behind)):
            if decide('GT', small, large) is not False:
                body.leave(f'{body.local(small).text} > {body.local(large).text}')

    def _emit_pointers(self):
        """Emits the check that no array with elements is NULL."""
        by_extent = {}
        for number, param in self.arrays:
            if param.direction == 'CF_SCRATCH':
                continue
            extents = [self.body.value(d.extent) for d in param.dims]
            if any(e.constant == 0 for e in extents):
                continue
            condition = ' && '.join(dict.fromkeys(f'{e.text} != 0' for e in extents if e.low < 1))
            by_extent.setdefault(condition, []).append(f'!*(void *const *)cf__args[{number}]')
        for condition, pointers in by_extent.items():
            if condition:
                of_all = pointers[0] if len(pointers) == 1 else f'({any_of(pointers)})'
                self.body.leave(f'{condition} && {of_all}')
            else:
                self.body.leave(any_of(pointers))


def _uint32(value):
    return value.text if value.constant is not None else f'(uint32_t){value.within(UNARY)}'


def emit_sizes(instance):
    """Returns the body of one variant's function; '' if its launches are interpreted."""
    try:
        return _Sizes(instance).text()
    except Interpreted:
        return ''
