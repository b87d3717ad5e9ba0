"""Emits the device source of one kernel file: instantiates every instance and lets nvcc check its type."""

from base.text import banner, fold, include
from emit.names import data_proof_name, proof_name
from emit.proofs import emit_proofs

# nvcc derives the names of entries in anonymous namespaces from the first external definition. Without one it uses its
# process number, and the image's entries would have other names than the PTX.
_MODULE = 'extern "C" const int cf__module;\nextern "C" const int cf__module = 0;\n'

_POINTER = """
/* Each pointer fails to compile unless the kernel takes exactly these types. Only the PTX from which entry names are
 * read has the pointers in device code: if a kernel's address is taken there, nvcc 13.0 moves memory descriptors to
 * other registers before each access. */
#ifdef CF__TO_BE_EMBEDDED
#define CF__POINTER static
#else
#define CF__POINTER extern "C" __device__
#endif
"""


def _source(file):
    return f'{file.device_source}#line 1 "{file.stem}.dev.cu"\n' if file.device_source else include(file.path)


def emit_device_source(file):
    text = [banner(file.path), _MODULE, _source(file), '\n', emit_proofs(file, file.instances), _POINTER]
    for variant in file.compiled:
        ctypes = ', '.join(p.cxx for p in variant.taken)
        text.append(fold(f'CF__POINTER void (*const {proof_name(variant)})({ctypes})', 8) +
                    f' =\n    {variant.kernel};\n')
    if file.symbols:
        text.append('\n/* Each of these pointers fails to compile if the data have another type. */\n')
    for symbol in file.symbols:
        extents = ''.join(f'[{e}]' for e in symbol.extents)
        declared = f'(*const {data_proof_name(symbol)}){extents}' if extents else f'*const {data_proof_name(symbol)}'
        text.append(f'extern "C" __device__ {symbol.type.cxx} {declared} = &{symbol.cxx};\n')
    return ''.join(text)
