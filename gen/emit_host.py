"""The CPU bodies of one kernel file."""

from emit_stub import host_body
from text import banner, fold


def emit(file, prefix):
    text = [banner(file.path), f'#include "cuferry/host.cuh"\n#include "{file.path}"\n\n#include <cuferry/registry.h>\n']
    for instance in file.instances:
        text.append('\n' + _body(instance, prefix))
    return ''.join(text)


def _body(instance, prefix):
    # The parameters' own names could hide the kernel's, or a type's.
    names = [f'cf__{number}' for number in range(len(instance.params))]
    text = ('/* Fails to compile where the kernel does not take exactly these types. */\n' +
            fold(f'typedef decltype(static_cast<void (*)({instance.ctypes})>(', 8) +
            f'\n    {instance.kernel})) cf__proof_{instance.name};\n\n')
    text += (f'extern "C" void {host_body(prefix, instance)}(const cf_host_launch *cf__launch, uint64_t cf__begin, '
             'uint64_t cf__end)\n{\n')
    for number, param in enumerate(instance.params):
        ctype = f'{param.ctype}const' if param.pointer else f'const {param.ctype}'
        text += f'    {ctype} {names[number]} = *static_cast<{ctype} *>(cf__launch->args[{number}]);\n'
    text += ('    cf__run(cf__launch, cf__begin, cf__end, [=]() CF__INLINE {\n' +
             fold(f'        {instance.kernel}({", ".join(names)});\n', 12) + '    });\n}\n')
    return text
