"""Makes names for Fortran, which have at most 63 characters, ignore case, and begin with no underscore."""

from base.diagnostics import GeneratorError

_LONGEST = 63

# Names that generated functions use, so that no argument may hide them.
_USED = frozenset('''c_loc c_ptr c_int c_int8_t c_int16_t c_int32_t c_int64_t c_float c_double c_bool c_float_complex
    c_double_complex size int huge merge logical iand ior ieor shiftl shifta min max is_contiguous
    cf_quotient cf_remainder cf_take_length cf_expect_length cf_expect_contiguous cf_status cf_ok'''.split())

_INTRINSIC = frozenset('character complex doubleprecision integer logical real'.split())


class Names:
    def __init__(self, interface):
        self.functions = frozenset(
            f'{name}{suffix}'.lower() for family in interface.families for suffix in ('', '_async')
            for name in (f'{interface.prefix}_{family.name}', *(f.function for f in family.functions)))
        self.prefix = interface.prefix
        self.module = self._check(interface.name)
        self.taken = {self.module.lower(): self.module}

    @staticmethod
    def _check(name):
        # Private functions have names with two more characters.
        if len(name) + 2 > _LONGEST:
            raise GeneratorError(f'--emit fortran: {name} has {len(name)} characters, and names of Fortran at most '
                                 f'{_LONGEST - 2}; give the kernel a shorter one with name(...), or the library with '
                                 '--prefix')
        if name.lower() == 'cuferry':
            raise GeneratorError('--emit fortran: the module cuferry is that of the runtime; give the library another '
                                 'name with --prefix')
        return name

    def public(self, name):
        """Returns a name for a public object of the module."""
        self._check(name)
        other = self.taken.setdefault(name.lower(), name)
        if other != name:
            raise GeneratorError(f'--emit fortran: {other} and {name} are one name in Fortran; give one of them '
                                 'another with name(...), or the library with --prefix')
        return name

    def public_type(self, name):
        """Returns the name of a derived type, with the library's prefix if it would hide a name that the module
        needs."""
        return self.public(f'{self.prefix}_{name}' if name.lower() in _USED | _INTRINSIC else name)

    def arguments(self, function):
        """Maps the C names of a function's arguments to Fortran names, and None to the name of the stream."""
        found, used = {}, {*_USED, *self.functions, *self.taken}
        for name in [*(a.name for a in function.arguments), None]:
            spelled = (name or 'stream').lstrip('_')[:_LONGEST - 4]
            if not spelled[:1].isalpha():
                spelled = f'a{spelled}'
            while spelled.lower() in used:
                spelled += '_'
            used.add(spelled.lower())
            found[name] = spelled
        return found
