"""Types that C and CUDA share: built-in types by name, and types that a kernel file declares."""

from dataclasses import replace

from base.diagnostics import closest
from base.model import CType


def _list_builtin():
    table = {}

    def add(c, key, enum, kind, size, *spellings, align=None, lanes=1, cxx=None, members=None):
        ctype = CType(c, cxx or c, key, enum, enum[3:].lower(), kind, size, align or size, lanes, members)
        for spelling in (c,) + spellings:
            table[spelling] = ctype
        return ctype

    # Linux on x86-64 and aarch64 is LP64. _Generic and overloading treat spellings of one type alike, but `long` and
    # `long long` differ, though both have 64 bits.
    for c, key, enum, size, same in (
            ('int8_t', 'signed char', 'CF_I8', 1, ()),
            ('signed char', 'signed char', 'CF_I8', 1, ()),
            ('int16_t', 'short', 'CF_I16', 2, ()),
            ('short', 'short', 'CF_I16', 2, ('short int',)),
            ('int32_t', 'int', 'CF_I32', 4, ()),
            ('int', 'int', 'CF_I32', 4, ('signed', 'signed int')),
            ('int64_t', 'long', 'CF_I64', 8, ()),
            ('long', 'long', 'CF_I64', 8, ('long int',)),
            ('long long', 'long long', 'CF_I64', 8, ('long long int',)),
            ('ptrdiff_t', 'long', 'CF_I64', 8, ()),
            ('intptr_t', 'long', 'CF_I64', 8, ()),
            ('uint8_t', 'unsigned char', 'CF_U8', 1, ()),
            ('unsigned char', 'unsigned char', 'CF_U8', 1, ()),
            ('uint16_t', 'unsigned short', 'CF_U16', 2, ()),
            ('unsigned short', 'unsigned short', 'CF_U16', 2, ('unsigned short int',)),
            ('uint32_t', 'unsigned int', 'CF_U32', 4, ()),
            ('unsigned int', 'unsigned int', 'CF_U32', 4, ('unsigned',)),
            ('uint64_t', 'unsigned long', 'CF_U64', 8, ()),
            ('unsigned long', 'unsigned long', 'CF_U64', 8, ('unsigned long int',)),
            ('unsigned long long', 'unsigned long long', 'CF_U64', 8, ('unsigned long long int',)),
            ('size_t', 'unsigned long', 'CF_U64', 8, ()),
            ('uintptr_t', 'unsigned long', 'CF_U64', 8, ()),
            ('bool', 'bool', 'CF_BOOL', 1, ('_Bool',))):
        add(c, key, enum, 'integer', size, *same)
    add('float', 'float', 'CF_F32', 'float', 4)
    add('double', 'double', 'CF_F64', 'float', 8)
    # Names that C programs may lack.
    for name, of in (('ssize_t', 'long'), ('uint', 'unsigned int'), ('ushort', 'unsigned short'),
                     ('ulong', 'unsigned long'),
                     ('cudaTextureObject_t', 'unsigned long long'), ('CUdeviceptr', 'unsigned long long'),
                     ('cudaSurfaceObject_t', 'unsigned long long'),
                     ('cudaGraphConditionalHandle', 'unsigned long long'),
                     ('clock_t', 'long')):
        table[name] = table[of]
    # C sees integers instead of these floats of 8, 6 and 4 bits.
    for bits, kinds in ((8, ('e4m3', 'e5m2', 'e8m0')), (6, ('e3m2', 'e2m3')), (4, ('e2m1',))):
        for lanes, size in (('', 1), ('x2', 1 if bits == 4 else 2), ('x4', 2 if bits == 4 else 4)):
            for kind in kinds:
                name = f'__nv_fp{bits}{lanes}_{kind}'
                table[name] = replace(table[f'uint{8 * size}_t'], cxx=name)
    # The two platforms differ in the sign of char.
    add('char', 'char', 'CF_CHAR', 'integer', 1)

    # CUDA 12 aligns it to 64 bytes, CUDA 13 to 128; C has one alignment for both.
    table['CUtensorMap'] = CType('cf_tensor_map', 'CUtensorMap', 'tensor_map', 'CF_OPAQUE', 'tensor_map', 'struct', 128,
                                 128)

    # Floats that C sees as bits.
    for c, enum, size, *spellings in (('cf_half', 'CF_F16', 2, '__half', 'half'),
                                      ('cf_bfloat16', 'CF_BF16', 2, '__nv_bfloat16', 'nv_bfloat16'),
                                      ('cf_fp8_e4m3', 'CF_E4M3', 1, '__nv_fp8_e4m3'),
                                      ('cf_fp8_e5m2', 'CF_E5M2', 1, '__nv_fp8_e5m2')):
        of = add(c, c[3:], enum, 'coded', size, *spellings, cxx=spellings[0])
        if size == 2:   # pairs of other sizes have no members in CUDA
            add(f'{c}2', f'{of.key}2', enum, 'vector', 4, *(f'{s}2' for s in spellings), cxx=f'{spellings[0]}2',
                lanes=2, members={'x': of, 'y': of})

    for name, element in (('char', 'signed char'), ('uchar', 'unsigned char'), ('short', 'short'),
                          ('ushort', 'unsigned short'), ('int', 'int'), ('uint', 'unsigned int'), ('long', 'long'),
                          ('ulong', 'unsigned long'), ('longlong', 'long long'), ('ulonglong', 'unsigned long long'),
                          ('float', 'float'), ('double', 'double')):
        of = table[element]
        for lanes in (1, 2, 3, 4):
            align = of.bytes if lanes % 2 else min(lanes * of.bytes, 16)
            add(f'cf_{name}{lanes}', f'{name}{lanes}', of.enum, 'vector', lanes * of.bytes, f'{name}{lanes}',
                cxx=f'{name}{lanes}', align=align, lanes=lanes, members={c: of for c in 'xyzw'[:lanes]})
    # CUDA 13 has two alignments of these types; the old names have 16 bytes.
    for name in ('long4', 'ulong4', 'longlong4', 'ulonglong4', 'double4'):
        add(f'cf_{name}', name, table[name].enum, 'vector', 32, f'{name}_16a', align=16, lanes=4, cxx=f'{name}_16a',
            members=table[name].members)
        add(f'cf_{name}', name, table[name].enum, 'vector', 32, name, align=16, lanes=4, cxx=name,
            members=table[name].members)
    uint3 = table['uint3']
    table['dim3'] = CType(uint3.c, 'dim3', uint3.key, uint3.enum, uint3.short, uint3.kind, 12, 4, 3, uint3.members)

    for c, key, enum, size, real, spellings in (
            ('cf_complex64', 'complex64', 'CF_C64', 8, 'float', ('cuFloatComplex', 'cuComplex')),
            ('cf_complex128', 'complex128', 'CF_C128', 16, 'double', ('cuDoubleComplex',))):
        for spelling in spellings + tuple(f'{space}complex<{real}>' for space in ('thrust::', 'cuda::std::', 'std::')):
            align = size // 2 if spelling.startswith('std::') else size
            table[spelling] = CType(c, spelling, key, enum, enum[3:].lower(), 'complex', size, align)
    return table


BUILTIN = _list_builtin()
ENCODED = frozenset(ctype.enum for ctype in BUILTIN.values() if ctype.kind == 'coded')
VOID = CType('void', 'void', 'void', 'CF_OPAQUE', 'void', 'void', 0, 0)

# C allows these words in any order and `int` to be omitted.
WORDS = ('signed', 'unsigned', 'short', 'long', 'char', 'int', 'float', 'double')

# Types that no parameter can have, with the reason.
REFUSED = {
    'long double': 'device code has no long double; use double',
    '__int128': 'C has no type of 128 bits on every platform; pass two of 64 bits',
    'unsigned __int128': 'C has no type of 128 bits on every platform; pass two of 64 bits',
    'wchar_t': 'its size differs between platforms; use int32_t',
    'auto': 'a kernel that C calls has parameters of known types; name the type',
}


def pointer(spelled_c, spelled_cxx):
    """Returns the type of a pointer that is an element."""
    return CType(spelled_c, spelled_cxx, spelled_c, 'CF_PTR', 'ptr', 'pointer', 8, 8)


def builtin(words):
    """Returns a built-in type of C or CUDA by its words; None if there is none."""
    text = ' '.join(words)
    found = BUILTIN.get(text)
    if found is None and len(words) > 1 and all(w in WORDS for w in words):
        found = BUILTIN.get(' '.join(sorted(words, key=WORDS.index)))
    if found is None and text.startswith(('std::', 'cuda::std::', '::')):
        bare = text.rsplit('::', 1)[-1]
        if bare.endswith('_t') or text.startswith('::'):
            found = BUILTIN.get(bare)
    return found


# Value of a constant that the generator cannot compute.
UNREADABLE = object()


def _qualify(scope, name):
    """Names in a namespace without a name belong to the enclosing one."""
    return '::'.join([s for s in scope if s] + [name])


class Types:
    """Types and integer constants that a kernel file declares at file and namespace scope, by qualified name. A type
    that C sees is a CType; for any other type the entry is the reason as text."""

    def __init__(self):
        self._types = {}
        self._constants = {}
        self._used = []         # namespaces of using directives
        self.complete = lambda ctype: ctype     # gives a declared type what C has to know; returns a reason if it fails

    def declare(self, scope, name, ctype):
        self._types[_qualify(scope, name)] = ctype

    def declare_constant(self, scope, name, value):
        """Adds a constant. `value` is None if the generator cannot compute it."""
        self._constants[_qualify(scope, name)] = UNREADABLE if value is None else value

    def use(self, namespace):
        """Adds a using directive."""
        self._used.append(namespace)

    def _find_plain(self, table, scope, name):
        name = name[2:] if name.startswith('::') else name
        for depth in range(len(scope), -1, -1):
            found = table.get(_qualify(scope[:depth], name))
            if found is not None:
                return found
        return next((table[f'{n}::{name}'] for n in self._used if f'{n}::{name}' in table), None)

    def find(self, scope, words):
        """Returns the type that words name: a CType, a reason as text, or None if it is unknown."""
        found = self.find_raw(scope, words)
        return self.complete(found) if isinstance(found, CType) else found

    def find_raw(self, scope, words):
        """Returns the type that words name in the form in which it was declared: a struct or an enumeration may have no
        size and no definition yet."""
        if not words:
            return None
        text = ' '.join(words)
        declared = self._find_plain(self._types, scope, words[-1]) if len(words) == 1 or words[0] in (
            'struct', 'union', 'enum', 'class') else None
        if declared is not None:
            return declared
        return builtin(words) or REFUSED.get(text) or self._find_complex(scope, text)

    def _find_complex(self, scope, text):
        """Returns the type complex<real>, with real a type's name."""
        template, _, rest = text.partition('complex<')
        if not rest or not rest.endswith('>'):
            return None
        of = self.find(scope, rest[:-1].split())
        named = template or 'thrust::'      # a using declaration names it
        found = BUILTIN.get(f'{named}complex<{of.c}>') if isinstance(of, CType) else None
        return replace(found, cxx=f'{template}complex<{of.c}>') if found else None

    def constant(self, scope, name):
        """Returns the value of an integer constant; None if there is none of this name."""
        if name in ('true', 'false'):
            return int(name == 'true')
        return self._find_plain(self._constants, scope, name)

    def qualified(self, scope, name):
        """Returns a declared type's name at file scope."""
        for depth in range(len(scope), -1, -1):
            key = '::'.join(scope[:depth] + (name,))
            if key in self._types:
                return key
        return name

    def near(self, name):
        """Returns the full name of the type nearest to a misspelled one; None if none is near."""
        declared = {k.rsplit('::', 1)[-1]: k for k in self._types}
        known = closest(name, list(BUILTIN) + list(declared))
        whole = declared.get(known, known)
        return whole if whole != name else None
