"""The registry of one library: a sorted array of pointers to its descriptors."""

from emit_stub import descriptor
from text import banner, c_string


def emit(files, prefix, sources):
    instances = sorted((i for f in files for i in f.instances), key=lambda i: i.name.encode())
    text = [banner(sources), '#include <cuferry/registry.h>\n\n']
    text += [f'extern const cf_kernel {descriptor(prefix, i)};\n' for i in instances]
    if instances:
        text.append('\nstatic const cf_kernel *const kernels[] = {\n')
        text += [f'    &{descriptor(prefix, i)},\n' for i in instances]
        text.append('};\n')
    text.append(f'\nextern const cf_module {prefix}_registry;\nconst cf_module {prefix}_registry = {{\n'
                f'    .size = sizeof(cf_module),\n    .version = CF_REGISTRY_VERSION,\n    .prefix = {c_string(prefix)},\n'
                f'    .count = {len(instances)},\n    .kernels = {"kernels" if instances else "NULL"},\n}};\n')
    return ''.join(text)
