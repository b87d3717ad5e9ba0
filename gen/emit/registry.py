"""Emits the registry of one library: sorted arrays of pointers to its descriptors."""

from base.text import banner, c_string
from emit.names import descriptor_name, symbol_descriptor_name


def emit_registry(files, prefix, sources):
    instances = sorted((i for f in files for i in f.instances), key=lambda i: i.name.encode())
    symbols = sorted((s for f in files for s in f.symbols), key=lambda s: s.name.encode())
    kernels = [descriptor_name(prefix, i) for i in instances]
    data = [symbol_descriptor_name(prefix, s) for s in symbols]
    text = [banner(sources), '#include <cuferry/registry.h>\n\n']
    text += [f'extern const cf_kernel {name};\n' for name in kernels]
    text += [f'extern const cf_symbol {name};\n' for name in data]
    text += [_emit_array('cf_kernel', 'kernels', kernels), _emit_array('cf_symbol', 'symbols', data)]
    text.append(f'\nextern const cf_module {prefix}_registry;\nconst cf_module {prefix}_registry = {{\n'
                '    .version = CF_REGISTRY_VERSION,\n    .prefix = '
                f'{c_string(prefix)},\n'
                f'    .count = {len(kernels)},\n    .kernels = {"kernels" if kernels else "NULL"},\n'
                f'    .nsymbols = {len(data)},\n    .symbols = {"symbols" if data else "NULL"},\n}};\n')
    return ''.join(text)


def _emit_array(ctype, name, members):
    if not members:
        return ''
    return f'\nstatic const {ctype} *const {name}[] = {{\n' + ''.join(f'    &{m},\n' for m in members) + '};\n'
