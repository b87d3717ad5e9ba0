"""Emits the Fortran module of a library: interfaces of the C functions, and functions that take arrays."""

from base.text import banner
from language.fortran_lines import fold, spell_comment
from language.fortran_names import Names
from language.fortran_types import Types, UNSIGNED

_BINARY = {'ADD': '+', 'SUB': '-', 'MUL': '*'}
_RELATIONS = {'LT': '<', 'LE': '<=', 'GT': '>', 'GE': '>=', 'EQ': '==', 'NE': '/='}
_CALLS = {'MIN': 'min', 'MAX': 'max', 'DIV': 'cf_quotient', 'MOD': 'cf_remainder', 'BIT_AND': 'iand', 'BIT_OR': 'ior',
          'BIT_XOR': 'ieor', 'SHL': 'shiftl', 'SHR': 'shifta'}
_ONE, _ZERO = '1_c_int64_t', '0_c_int64_t'


def emit_fortran(interface):
    return {f'{interface.name}.f90': _Module(interface).text()}


class _Module:
    def __init__(self, interface):
        self.interface = interface
        self.names = Names(interface)
        self.types = Types(interface.types, self.names)
        self.generics, self.declared, self.bodies, self.notes = {}, [], [], []

    def text(self):
        for family in self.interface.families:
            for suffix in ('', '_async'):
                self._add_family(family, suffix)
        for symbol in self.interface.symbols:
            for suffix in ('', '_async'):
                self._add_setter(symbol, suffix)
        name = self.names.module
        generics = ''.join(self._emit_generic(*item) for item in self.generics.items())
        return (banner(', '.join(self.interface.sources), ('!', '')) + spell_comment(
            ['Each function returns a status: 0, or the text is that of cf_last_error(). Compile cuferry.f90 before.',
             *self.notes]) +
                f'module {name}\n    use, intrinsic :: iso_c_binding\n    use cuferry\n    implicit none\n'
                '    private\n\n' + self.types.text() + generics +
                '\n    interface\n' + '\n'.join(self.declared) + '    end interface\n\ncontains\n\n' +
                '\n'.join(self.bodies) + '\nend module\n')

    # ---- Generic names

    def _add_generic(self, name, specific):
        self.generics.setdefault(name, []).append(specific)

    def _emit_generic(self, name, specifics):
        lines = fold(f'procedure :: {", ".join(specifics)}', 8)
        # Compilers name the wrong argument in the error for a specific procedure, but not for a generic name.
        shown = ', '.join([name, *(s for s in specifics if s[2:] == name)])
        return fold(f'public :: {shown}', 4) + f'    interface {name}\n{lines}    end interface\n'

    # ---- Functions

    def _add_family(self, family, suffix):
        """Declares the forms of each instance under its own name, and under the family's name if types distinguish
        them. Unsigned integers have the same type as signed ones."""
        pointers, arrays = ([group[0] for group in family.overloads(key) if len(group) == 1]
                            for key in (self._c_types, self._array_types))
        specifics, with_arrays = [], []
        for function in family.functions:
            whole = self.names.public(function.function + suffix)
            if not self._add_c_form(function, suffix):
                continue
            self._add_generic(whole, f'c_{whole}')
            specifics += [f'c_{whole}'] * (function in pointers)
            if self._add_array_form(function, suffix):
                self._add_generic(whole, f'a_{whole}')
                specifics += [f'a_{whole}'] * (function in arrays)
                with_arrays.append(function)
        name = f'{self.interface.prefix}_{family.name}{suffix}'
        if family.is_template:
            for specific in specifics:
                self._add_generic(self.names.public(name), specific)
        alike = [group for group in family.overloads(self._array_types) if len(group) > 1]
        listed = '; '.join(' or '.join(f.function for f in group) for group in alike if group[0] in with_arrays)
        if listed and not suffix:
            self.notes.append(f'{name}() is none of these instances, whose types are alike in Fortran: {listed}')

    def _c_types(self, function):
        return tuple('c_ptr' if a.direction != 'value' else self._value(a) for a in function.arguments)

    def _array_types(self, function):
        told = function.lengths(True)
        return tuple((self.types.element(a.type), self._rank(a)) if a.is_array else self._value(a)
                     for a in function.arguments if a.name not in told)

    def _rank(self, argument):
        return len(argument.dims) + (argument.type.lanes > 1)

    def _add_c_form(self, function, suffix):
        """Declares the C function, whose arrays are pointers; False if Fortran has no type of a value."""
        missing = [a for a in function.arguments if a.direction == 'value' and not self._value(a)]
        if missing:
            self._leave_out(function, suffix, f'no type for {missing[0].name}, {missing[0].declared}')
            return False
        names = self.names.arguments(function)
        declared = [(self._value(a) if a.direction == 'value' else 'type(c_ptr), value', names[a.name])
                    for a in function.arguments]
        self.declared.append(self._declare_c(function.function + suffix, suffix, declared, names[None],
                                             function.called + suffix))
        return True

    def _leave_out(self, function, suffix, reason):
        if not suffix:
            self.notes.append(f'Left out: {function.function}(): {reason}')

    def _value(self, argument):
        """Returns the type and the attribute of a value; None if Fortran has no such type."""
        ctype = argument.type
        if argument.is_by_address and ctype.lanes == 1:
            return self.types.element(ctype) and f'{self.types.element(ctype)}, intent(in)'
        return self.types.value(ctype) and f'{self.types.value(ctype)}, value'

    def _declare_c(self, function, suffix, declared, stream, called=None):
        if suffix:
            declared = [('type(c_ptr), value', stream), *declared]
        names = ', '.join(name for _, name in declared)
        return (fold(f'function c_{function}({names}) bind(c, name=\'{called or function}\') '
                     'result(cf_status)', 8) +
                '            import\n' + ''.join(fold(f'{ctype} :: {name}', 12) for ctype, name in declared) +
                '            integer(c_int) :: cf_status\n        end function\n')

    def _add_array_form(self, function, suffix):
        """Emits the function that takes arrays; returns False if there are none, or if Fortran lacks an element's
        type."""
        arrays = [a for a in function.arguments if a.is_array]
        missing = [a for a in arrays if not self.types.element(a.type)]
        if missing:
            self._leave_out(function, suffix, f'as a function of arrays, no type for {missing[0].name}, '
                            f'{missing[0].declared}; it takes type(c_ptr)')
        if not arrays or missing:
            return False
        names, told = self.names.arguments(function), function.lengths(True)
        whole, shown = self.names.public(function.function + suffix), f"'{function.function}{suffix}'"
        given = [names[None]] * bool(suffix) + [names[a.name] for a in function.arguments if a.name not in told]
        # For a contiguous argument, a compiler may pass a copy, which exists only until the call returns.
        contiguous = '' if suffix else ', contiguous'
        declared = ['type(c_ptr), value :: ' + names[None]] * bool(suffix)
        declared += [self._declare(a, names, contiguous) for a in function.arguments if a.name not in told]
        declared += ['integer(c_int) :: cf_status']
        declared += [f'{self.types.value(function.argument(name).type)} :: {names[name]}' for name in told]
        lines = ['cf_status = cf_ok']
        if suffix:
            lines += [f'call cf_expect_contiguous(cf_status, {shown}, \'{a.name}\', is_contiguous({names[a.name]}))'
                      for a in arrays]
        lines += self._take_lengths(function, names, told, shown)
        lines += self._expect_lengths(function, names, told, shown)
        passed = [names[None]] * bool(suffix) + [
            f'c_loc({names[a.name]})' if a.is_array else names[a.name] for a in function.arguments]
        lines.append(f'if (cf_status == cf_ok) cf_status = c_{whole}({", ".join(passed)})')
        doc = spell_comment(function.doc.split('\n') if function.doc and not suffix else [], 4)
        self.bodies.append(doc + fold(f'function a_{whole}({", ".join(given)}) result(cf_status)', 4) +
                           ''.join(fold(line, 8) for line in declared + lines) + '    end function\n')
        return True

    def _declare(self, argument, names, contiguous):
        name = names[argument.name]
        if argument.direction == 'value':
            return f'{self._value(argument)} :: {name}'
        if not argument.is_array:
            return f'type(c_ptr), value :: {name}'
        # Elements of out(...) that the kernel does not write keep their values.
        intent = 'in' if argument.direction == 'in' else 'inout'
        shape = ', '.join([':'] * self._rank(argument))
        return f'{self.types.element(argument.type)}, intent({intent}){contiguous}, target :: {name}({shape})'

    def _take_lengths(self, function, names, told, shown):
        """Returns lines that set the scalars that follow from arrays."""
        for name, (array, number) in told.items():
            kind = self.types.kind(function.argument(name).type.kind)
            label, length = self._size(array, number, names)
            yield (f"{names[name]} = int(cf_take_length(cf_status, {shown}, '{label}', {length}, "
                   f'int(huge({names[name]}), c_int64_t)), {kind})')

    def _size(self, array, number, names):
        """Returns the name of a C dimension's length in messages, and the expression for it."""
        position = self._rank(array) - number
        label = f'size({array.name}, {position})' if self._rank(array) > 1 else f'size({array.name})'
        return label, f'size({names[array.name]}, {position}, c_int64_t)'

    def _expect_lengths(self, function, names, told, shown):
        """Returns lines that compare the other dimensions."""
        tellers = {(array.name, number) for array, number in told.values()}
        for array in filter(lambda a: a.is_array, function.arguments):
            if array.type.lanes > 1:
                yield (f"call cf_expect_length(cf_status, {shown}, 'size({array.name}, 1)', "
                       f"size({names[array.name]}, 1, c_int64_t), {array.type.lanes}_c_int64_t, .false.)")
            for number, tree in enumerate(array.shape()):
                is_least = tree is None
                if is_least:
                    dim = array.dims[number]
                    tree = ('ADD', dim.lower.tree, dim.extent.tree)
                wanted = None if (array.name, number) in tellers else self._spell(tree, function, names)
                if wanted:
                    label, length = self._size(array, number, names)
                    yield (f"call cf_expect_length(cf_status, {shown}, '{label}', {length}, {wanted}, "
                           f'.{str(is_least).lower()}.)')

    # ---- Expressions over 64-bit integers

    def _spell(self, tree, function, names):
        """Returns the Fortran text of an expression; None if Fortran cannot express a part of it."""
        kind, *parts = tree
        if kind == 'CONST':
            return f'{parts[0]}_c_int64_t' if parts[0] >= 0 else f'({parts[0]}_c_int64_t)'
        if kind == 'PARAM':
            return self._spell_scalar(function.argument(parts[0]).type.kind, names[parts[0]])
        if kind == 'MEMBER':
            found = self.types.member(function.argument(parts[0]).type.ctype, parts[1])
            return found and self._spell_scalar(found[1], f'{names[parts[0]]}%{found[0]}')
        spelled = [self._spell(part, function, names) for part in parts if isinstance(part, tuple)]
        if None in spelled or not spelled:
            return None
        if kind in _BINARY:
            return f'({spelled[0]} {_BINARY[kind]} {spelled[1]})'
        if kind in _CALLS:
            return f'{_CALLS[kind]}({", ".join(self._of_shift(kind, spelled))})'
        if kind == 'NEG':
            return f'(-{spelled[0]})'
        condition = {'NOT': '{0} == 0', 'AND': '{0} /= 0 .and. {1} /= 0', 'OR': '{0} /= 0 .or. {1} /= 0'}.get(kind)
        if kind == 'SELECT':
            return f'merge({spelled[1]}, {spelled[2]}, {spelled[0]} /= 0)'
        return f'merge({_ONE}, {_ZERO}, {(condition or "{0} " + _RELATIONS[kind] + " {1}").format(*spelled)})'

    def _of_shift(self, kind, spelled):
        """Returns the text of a shift. A count outside of 0 to 63 gives no value, and the call reports it."""
        return [spelled[0], f'int(iand({spelled[1]}, 63_c_int64_t))'] if kind in ('SHL', 'SHR') else spelled

    def _spell_scalar(self, kind, name):
        if kind == 'bool':
            return f'merge({_ONE}, {_ZERO}, logical({name}))'
        whole = name if self.types.kind(kind) == 'c_int64_t' else f'int({name}, c_int64_t)'
        mask = UNSIGNED.get(kind)
        return f'iand({whole}, {mask}_c_int64_t)' if mask else whole

    # ---- Setters of __constant__ data

    def _add_setter(self, symbol, suffix):
        """Emits a setter. It takes a value, or a scalar or an array whose address C gets."""
        whole = self.names.public(symbol.function + suffix)
        stream = 'stream' if symbol.name.lower() != 'stream' else 'cf_stream'
        is_value = not symbol.extents and symbol.type.kind != 'opaque'
        ctype = (self.types.value if is_value else self.types.element)(symbol.type)
        if is_value and not ctype:
            self._leave_out(symbol, suffix, f'no type for {symbol.type.ctype}')
            return
        self.declared.append(self._declare_c(symbol.function + suffix, suffix, [
            (f'{ctype if is_value else "type(c_ptr)"}, value', 'values')], stream))
        self._add_generic(whole, f'c_{whole}')
        if is_value or not ctype:
            return
        extents = [symbol.type.lanes] * (symbol.type.lanes > 1) + list(reversed(symbol.extents))
        shape = f'({", ".join(":" * len(extents))})' if extents else ''
        contiguous = ', contiguous' if extents and not suffix else ''
        lines = [f'type(c_ptr), value :: {stream}'] * bool(suffix) + [
            f'{ctype}, intent(in){contiguous}, target :: values{shape}', 'integer(c_int) :: cf_status',
            'cf_status = cf_ok']
        shown = f"'{symbol.function}{suffix}'"
        if extents and suffix:
            lines.append(f"call cf_expect_contiguous(cf_status, {shown}, 'values', is_contiguous(values))")
        lines += [f"call cf_expect_length(cf_status, {shown}, 'size(values, {position + 1})', "
                  f'size(values, {position + 1}, c_int64_t), {extent}_c_int64_t, .false.)'
                  for position, extent in enumerate(extents)]
        given = f'{stream}, values' if suffix else 'values'
        lines.append(f'if (cf_status == cf_ok) cf_status = c_{whole}({given[:-6]}c_loc(values))')
        self.bodies.append(spell_comment(symbol.doc.split('\n') if symbol.doc and not suffix else [], 4) +
                           f'    function a_{whole}({given}) result(cf_status)\n' +
                           ''.join(fold(line, 8) for line in lines) + '    end function\n')
        self._add_generic(whole, f'a_{whole}')
