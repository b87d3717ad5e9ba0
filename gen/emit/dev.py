"""The device source of one kernel file: instantiates every instance and proves its type to nvcc."""

from base.text import banner, fold, include

_POINTER = """
/* Each pointer fails to compile where the kernel does not take exactly these types. Only the PTX that entry names are
 * read from has them in device code: with nvcc 13.0 a kernel whose address is taken there moves what describes memory
 * to other registers in front of each access. */
#ifdef CF__TO_BE_EMBEDDED
#define CF__POINTER static
#else
#define CF__POINTER extern "C" __device__
#endif
"""


def proof_symbol(instance):
    """The variable that points to an instance's kernel; the PTX shows which entry it stands for."""
    return f'cf__e_{instance.name}'


def data_symbol(symbol):
    """The device variable that points to __constant__ data; the PTX shows its name."""
    return f'cf__d_{symbol.name}'


def copyable(file):
    """Refuses, in the compiler's voice, what cannot be passed as bytes."""
    seen = {}
    for instance in file.instances:
        for param in instance.params:
            if not param.pointer and param.type.kind == 'struct':
                seen.setdefault(param.type.cxx, param.name)
    return ''.join(f'static_assert(__is_trivially_copyable({cxx}), "{name} is not trivially copyable, so it cannot be '
                   'passed from C");\n' for cxx, name in seen.items())


def values(file):
    """Refuses constants of the file that have other values than those that the generator has read."""
    text = ''
    for scope, name, value in sorted(file.proofs):
        scope = [s for s in scope if s]
        # Enumerators of an enum class are no numbers.
        number = f'(long long){name}' if '::' in name else name
        text += (''.join(f'namespace {s} {{ ' for s in scope) + f'static_assert({number} == {value}, "cfgen reads '
                                                                f'{value}");' +
                 ' }' * len(scope) + '\n')
    return text


def emit_device_source(file):
    text = [banner(file.path), include(file.path), '\n', copyable(file), values(file), _POINTER]
    for instance in file.launched:
        for variant in instance.all_variants:
            ctypes = ', '.join(p.cxx for p in variant.params)
            text.append(fold(f'CF__POINTER void (*const {proof_symbol(variant)})({ctypes})', 8) +
                        f' =\n    {variant.kernel};\n')
    if file.symbols:
        text.append('\n/* And each of these where the data have another type. */\n')
    for symbol in file.symbols:
        extents = ''.join(f'[{e}]' for e in symbol.extents)
        declared = f'(*const {data_symbol(symbol)}){extents}' if extents else f'*const {data_symbol(symbol)}'
        text.append(f'extern "C" __device__ {symbol.type.cxx} {declared} = &{symbol.cxx};\n')
    return ''.join(text)
