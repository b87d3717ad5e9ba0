"""The device source of one kernel file: instantiates every instance and proves its type to nvcc."""

from text import banner, fold


def proof_symbol(instance):
    """The device variable that points to an instance's kernel; the PTX shows which entry it stands for."""
    return f'cf__e_{instance.name}'


def emit(file):
    text = [banner(file.path), f'#include "{file.path}"\n\n',
            '/* Each pointer fails to compile where the kernel does not take exactly these types. */\n']
    for instance in file.instances:
        text.append(fold(f'extern "C" __device__ void (*const {proof_symbol(instance)})({instance.ctypes})', 8) +
                    f' =\n    {instance.kernel};\n')
    return ''.join(text)
