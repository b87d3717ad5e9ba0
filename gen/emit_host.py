"""The CPU bodies of one kernel file."""

from emit_stub import host_body
from text import banner


def emit(file, prefix):
    text = [banner(file.path), f'#include "cuferry/host.cuh"\n#include "{file.path}"\n\n#include <cuferry/registry.h>\n']
    for instance in file.instances:
        text.append('\n' + _body(instance, prefix))
    return ''.join(text)


def _body(instance, prefix):
    names = [p.name for p in instance.params]
    text = (f'/* Fails to compile where the kernel does not take exactly these types. */\n'
            f'typedef decltype(static_cast<void (*)({instance.ctypes})>({instance.kernel})) cf__proof_{instance.name};\n\n')
    text += (f'extern "C" void {host_body(prefix, instance)}(const cf_host_launch *cf__launch, uint64_t cf__begin, '
             'uint64_t cf__end)\n{\n')
    for number, param in enumerate(instance.params):
        text += (f'    {param.ctype}{"" if param.pointer else " "}{"const " if param.pointer else ""}{param.name} = '
                 f'*static_cast<{param.ctype} {"const *" if param.pointer else "const *"}>(cf__launch->args[{number}]);\n')
    text += ('    cf__run(cf__launch, cf__begin, cf__end, [=]() CF__INLINE {\n'
             f'        {instance.kernel}({", ".join(names)});\n    }});\n}}\n')
    return text
