"""Checks clauses against one another and against the declaration below them."""

import re

from base.diagnostics import closest
from cpu.collective import find_unbuilt, find_use

MAX_VARIANTS = 64


def check_clauses(clauses, declaration, declarations, error):
    """Passes (token, message) of each contradiction to `error`. `declarations`: all declarations of the file."""
    one = _Consistency(clauses, declaration, declarations, error)
    one.arrays()
    one.resident()
    one.zeros()
    one.in_place()
    one.pitches()
    one.split()
    if clauses.is_operation:
        one.operation()
    else:
        one.launch()
        one.tuned()


def find_doubts(clauses, declaration):
    """Yields warnings as (token, message): clauses that are valid but may be a mistake."""
    for param in declaration.params:
        name = param.token.text
        if param.pointer and name not in clauses.arrays and name not in clauses.resident:
            yield param.token, (f'{name} has no in, out or inout, so callers must pass device memory; write '
                                f'resident({name}) if that is meant')


def list_parameters(parameters):
    """Returns the text of template parameters as they are declared, but without defaults."""
    return '<' + ', '.join(f'{" ".join(p.words)} {p.name}' for p in parameters) + '>'


class _Consistency:
    def __init__(self, clauses, declaration, declarations, error):
        self._clauses, self._declaration, self._declarations, self._error = clauses, declaration, declarations, error
        self._name = declaration.token.text
        self._params = {p.token.text: p for p in declaration.params}

    def _no_parameter(self, token, name):
        near = closest(name, self._params)
        self._error(token, f"'{name}' is no parameter of {self._name}" + (f"; did you mean '{near}'?" if near else ''))

    def arrays(self):
        clauses = self._clauses
        for name, array in clauses.arrays.items():
            if name not in self._params:
                self._no_parameter(array.token, name)
            elif not self._params[name].pointer:
                self._error(array.token, f'{name} is passed by value; in, out, inout and scratch take arrays')
            elif array.direction == 'CF_IN' and not self._params[name].const and clauses.is_operation:
                self._error(array.token, f'{name} is not const, so the operation may write it; declare it const, or '
                            f'declare it inout({name}[...])')
            elif array.direction != 'CF_IN' and self._params[name].const:
                self._error(array.token, f'{name} is const, so the kernel cannot write it; write in({name}[...])')
            elif name not in clauses.pitches:
                for lower, _ in array.dims[1:]:
                    if lower:
                        self._error(lower[0].token, f'{name} has a section in an inner dimension, so the length of '
                                                    f'its rows in memory is not known; add pitch({name}: ...)')

    def resident(self):
        clauses = self._clauses
        for name, token in clauses.resident.items():
            if name not in self._params:
                self._no_parameter(token, name)
            elif not self._params[name].pointer:
                self._error(token, f'{name} is passed by value; resident takes pointers')
            elif name in clauses.arrays:
                self._error(token, f'{name} stands in {clauses.arrays[name].direction[3:].lower()}(...) and in '
                                   'resident(...), which is for pointers without an extent; leave one of the two out')

    def zeros(self):
        clauses = self._clauses
        for name, (token, section) in clauses.zeros.items():
            array = clauses.arrays.get(name)
            if name not in self._params:
                self._no_parameter(token, name)
            elif not array or array.direction not in ('CF_SCRATCH', 'CF_OUT'):
                self._error(token, f'{name} is not declared by scratch(...) or out(...), which is the only memory that '
                                   'the library may set to 0; write 0 in the kernel, or have the caller do it')
            elif array.direction == 'CF_OUT' and len(array.dims) > 1:
                self._error(token, f'{name} has {len(array.dims)} dimensions; of out(...), arrays of one can be set to '
                                   '0')
            elif section and len(array.dims) > 1:
                self._error(token, f'{name} has {len(array.dims)} dimensions; write zero({name}) for all of it')
            elif any(name == other.text for names in clauses.in_place for other in names):
                self._error(token, f'{name} is in inplace(...), and would be set to 0 before the kernel reads it as '
                                   'another array; leave one of the two out')
        for name, token in clauses.rezeros.items():
            array = clauses.arrays.get(name)
            if not array or array.direction != 'CF_SCRATCH' or clauses.zeros.get(name, (None, ''))[1] is not None:
                self._error(token, f'rezero takes arrays of scratch(...) that are 0 at first, all of them; write '
                                   f'zero({name}), too')

    def in_place(self):
        clauses = self._clauses
        for names in clauses.in_place:
            if all([self._may_be_in_place(token) for token in names]):
                self._check_in_place([clauses.arrays[token.text] for token in names], names[0])

    def pitches(self):
        clauses = self._clauses
        for name, (token, values) in clauses.pitches.items():
            if name not in clauses.arrays:
                self._error(token, f'{name} has no extent; declare it with in, out or inout')
            elif len(values) >= len(clauses.arrays[name].dims):
                count = len(clauses.arrays[name].dims)
                self._error(token, f'{name} has one dimension, in which elements have no pitch' if count == 1 else
                            f'{name} has {count} dimensions, so at most {count - 1} pitches')

    def split(self):
        token = self._clauses.split
        if token and token.text not in self._params:
            self._no_parameter(token, token.text)
        elif token and self._params[token.text].pointer:
            self._error(token, f'{token.text} is a pointer; split takes the integer that counts elements')

    def _may_be_in_place(self, token):
        """True if a name in inplace(...) is an array that may be the same array as another one."""
        name, array = token.text, self._clauses.arrays.get(token.text)
        if name not in self._params:
            self._no_parameter(token, name)
        elif not self._params[name].pointer:
            self._error(token, f'{name} is passed by value; inplace takes arrays')
        elif self._params[name].is_restrict:
            self._error(token, f'{name} is declared __restrict__, so it is no other array; leave that out, or '
                               f'{name} out of inplace')
        elif array is None:
            self._error(token, f'{name} has no extent, so nothing tells what it overlaps; declare it with in, out or '
                               'inout')
        elif array.direction == 'CF_SCRATCH':
            self._error(token, f'{name} is scratch memory, which is no other array')
        else:
            return True
        return False

    def _check_in_place(self, arrays, token):
        """Checks that at least two of the arrays can be the same."""
        names = ', '.join(a.token.text for a in arrays)
        directions = [a.direction for a in arrays]
        if all(d == 'CF_IN' for d in directions):
            self._error(token, f'{names} are only read, and may overlap in any way; leave inplace out')
        elif all(d == 'CF_OUT' for d in directions):
            self._error(token, f'{names} are all out, and no result can be another one; inplace takes what they are '
                               'made of, too')
        elif len({len(a.dims) for a in arrays}) > 1:
            counts = ', '.join(f'{a.token.text} has {len(a.dims)}' for a in arrays)
            self._error(token, f'arrays of different numbers of dimensions are never one: {counts}; declare them alike')

    def operation(self):
        if not self._clauses.uses:
            self._error(self._clauses.token, 'an operation needs uses(...), the kernels that it enqueues')

    def launch(self):
        clauses = self._clauses
        if clauses.image:
            self._adopted()
        elif clauses.entry:
            self._error(clauses.entry, "entry names a kernel of an image; name the image's file, too: "
                                       'image("file.cubin")')
        used = find_unbuilt(self._declaration.declaration, self._declarations)
        if used:
            self._error(self._declaration.token, f'{self._name} {"; ".join(used)}')
        if clauses.grid is None:
            self._error(clauses.token, 'a kernel needs grid(n), its number of threads, or blocks(n), its number of '
                                       'blocks')
        if clauses.items and clauses.counts_blocks:
            self._error(clauses.items[0].token, 'items(k) divides the elements of grid(...); blocks(...) counts blocks')
        if clauses.cooperative and clauses.dependent:
            self._error(clauses.dependent, 'a cooperative kernel has the whole device, so it cannot begin before the '
                                           'kernel before it has ended; leave one of the two out')
        if clauses.cluster and clauses.split:
            self._error(clauses.cluster[0], 'cluster(...) and split(...) do not go together: a part of the elements '
                                            'may have a grid that clusters do not divide')
        if clauses.block == []:
            for is_there, what in ((clauses.shared, 'shared(...)'), (clauses.cooperative, 'cooperative'),
                                   (clauses.cluster, 'cluster(...)'),
                                   (clauses.grid and len(clauses.grid) > 1, 'a grid of several dimensions'),
                                   (clauses.counts_blocks, 'blocks(...)')):
                if is_there:
                    self._error(clauses.block_token, f'block(auto) and {what} do not go together: the block would '
                                                     'have to be known; write block(n)')
            used = find_use(self._declaration.declaration, self._declarations, re.compile('__shared__'))
            if used:
                self._error(clauses.block_token, f'{self._name} has __shared__ memory, whose size goes '
                                                 'with its block; write block(n)')

    def _adopted(self):
        clauses, name = self._clauses, self._name
        if self._declaration.declaration.body is not None:
            self._error(clauses.image, f'{name} has a body, and image(...) brings its code; declare it alone, with a '
                                       'semicolon')
        if clauses.host_grid:
            self._error(clauses.host_grid[0].token, 'the CPU runs no code of an image; write host(function), with a '
                                                    'function for the CPU')

    def tuned(self):
        clauses = self._clauses
        for name, (token, _) in clauses.tune.items():
            known = [p for p in self._declaration.template if p.name == name]
            if not known or known[0].is_type:
                template = self._declaration.template
                among = f', a template {list_parameters(template)}' if template else ''
                self._error(token, f"'{name}' is no template constant of {self._name}{among}; tune(...) "
                                   'gives values to one, as in template <int BLOCK>')
        combinations = 1
        for _, values in clauses.tune.values():
            combinations *= len(values)
        if combinations > MAX_VARIANTS:
            self._error(next(iter(clauses.tune.values()))[0], f'tune gives {combinations} combinations; at most '
                        f'{MAX_VARIANTS} are built')
