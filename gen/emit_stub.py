"""The launch stubs of one kernel file: a constant descriptor and two functions per entry point."""

from emit_header import has_generic, parameters, stream
from text import banner, c_string, fold


def descriptor(prefix, instance):
    """The C name of an entry point's descriptor. The letter keeps these names apart from the library's own."""
    return f'{prefix}__k_{instance.name}'


def host_body(prefix, instance):
    """The C name of an entry point's CPU body."""
    return f'{prefix}__h_{instance.name}'


def image_symbol(prefix, file):
    """The C name of the embedded image of a kernel file."""
    return f'{prefix}__i_{file.stem}'


def emit(file, prefix, header):
    text = [banner(file.path), f'#include <{header}>\n#include <cuferry/registry.h>\n\n']
    text.append(_image(file, prefix))
    scans = sorted({f'cf__k_outside_{i.params[c.array].scalar.short}'
                    for i in file.instances for c in i.checks if c.array is not None})
    if scans:
        text.append('\nextern const cf_kernel ' + ', '.join(scans) + ';\n')
    for kernel in file.kernels:
        for instance in kernel.instances:
            text.append('\n' + _entry_point(kernel, instance, prefix))
        if has_generic(kernel):
            text.append('\n' + _family(kernel, prefix))
    return ''.join(text)


def _image(file, prefix):
    symbol = image_symbol(prefix, file)
    return ('#ifdef CF__GPU /* the build has an nvcc */\n'
            f'#include "{file.stem}.image.h"\n'
            f'extern const unsigned char {symbol}[], {symbol}_end[];\n'
            'static cf_state cf__image_state;\n'
            'static const cf_image cf__image = {\n'
            f'    .begin = {symbol},\n    .end = {symbol}_end,\n    .crc32 = CF__CRC32,\n    .toolkit = CF__TOOLKIT,\n'
            '    .sm = (const uint16_t[]){CF__SM 0},\n    .ptx = (const uint16_t[]){CF__PTX 0},\n'
            '    .state = &cf__image_state,\n};\n'
            '#define CF__IMAGE(name) .image = &cf__image, .entry = CF__ENTRY_##name\n'
            '#else\n#define CF__IMAGE(name) .image = NULL\n#endif\n')


def _expr(expr):
    ops = ', '.join(f'{{CF_OP_{code}, {operand}}}' for code, operand in expr.ops)
    return f'{{{c_string(expr.text)}, (const cf_op[]){{{ops}}}}}'


def _exprs(exprs, indent):
    """An initialiser of expressions: one on its line, several below one another."""
    if len(exprs) == 1:
        return f'{{{_expr(exprs[0])}}}'
    pad = ' ' * (indent + 4)
    return '{\n' + ''.join(fold(f'{pad}{_expr(e)},\n', indent + 8) for e in exprs) + ' ' * indent + '}'


def _param(param):
    fields = [f'.name = {c_string(param.name)}', f'.ctype = {c_string(param.ctype)}', f'.type = {param.scalar.enum}',
              f'.direction = {param.direction}', '.lanes = 1', f'.bytes = {param.scalar.size}',
              f'.align = {param.scalar.size}']
    if not param.extents:
        return fold(f'        {{{", ".join(fields)}}},\n', 9)
    fields.append(f'.ndims = {len(param.extents)}')
    return (fold(f'        {{{", ".join(fields)},\n', 9) +
            f'         .extents = (const cf_expr[]){_exprs(param.extents, 9)}}},\n')


def _check(check, instance):
    fields = [f'.text = {c_string(check.text)}']
    if check.condition:
        fields += [f'.condition = {_expr(check.condition)}', '.array = -1']
    else:
        fields.append(f'.array = {check.array}')
        for name, bound, is_open in (('lower', check.lower, check.lower_open), ('upper', check.upper, check.upper_open)):
            if bound:
                fields.append(f'.{name} = {_expr(bound)}')
            if bound and is_open:
                fields.append(f'.{name}_open = 1')
        fields.append(f'.scan = &cf__k_outside_{instance.params[check.array].scalar.short}')
    return fold(f'        {{{", ".join(fields)}}},\n', 9)


def _entry_point(kernel, instance, prefix):
    symbol, function = descriptor(prefix, instance), f'{prefix}_{instance.name}'
    text = f'cf_host_body {host_body(prefix, instance)};\nstatic cf_state cf__state_{instance.name};\n'
    text += f'extern const cf_kernel {symbol};\nconst cf_kernel {symbol} = {{\n'
    text += f'    .size = sizeof(cf_kernel),\n    .version = CF_REGISTRY_VERSION,\n    .name = {c_string(instance.name)},\n'
    text += f'    .family = {c_string(kernel.name)},\n    .function = {c_string(function)},\n'
    text += f'    .file = {c_string(kernel.location.file)},\n    .line = {kernel.location.line},\n'
    text += f'    .nparams = {len(instance.params)},\n'
    if instance.params:
        text += '    .params = (const cf_param[]){\n' + ''.join(map(_param, instance.params)) + '    },\n'
    text += '    .launch = {\n' + ('        .counts_blocks = 1,\n' if instance.counts_blocks else '')
    text += f'        .grid = {_exprs(instance.grid, 8)},\n        .block = {_exprs(instance.block, 8)},\n    }},\n'
    if instance.checks:
        text += f'    .nchecks = {len(instance.checks)},\n    .checks = (const cf_check[]){{\n'
        text += ''.join(_check(c, instance) for c in instance.checks) + '    },\n'
    if instance.bytes:
        text += fold(f'    .bytes = {_expr(instance.bytes)},\n', 8)
    text += f'    CF__IMAGE({instance.name}),\n    .host = {host_body(prefix, instance)},\n    .state = &cf__state_{instance.name},\n}};\n'
    return text + '\n' + _functions(instance, function, symbol)


def _functions(instance, function, symbol):
    args = ', '.join(f'(void *)&{p.name}' for p in instance.params) or 'NULL'
    body = fold(f'    void *const cf__args[] = {{{args}}};\n', 8)
    head = fold(f'int {function}({parameters(instance)})\n', len(f'int {function}('))
    head_async = fold(f'int {function}_async({parameters(instance, f"cf_stream {stream(instance)}")})\n',
                      len(f'int {function}_async('))
    return (f'{head}{{\n{body}    return cf_call(&{symbol}, cf__args);\n}}\n\n'
            f'{head_async}{{\n{body}    return cf_launch(&{symbol}, {stream(instance)}, cf__args);\n}}\n')


def _family(kernel, prefix):
    """The function of the kernel's own name: its first instance. Parentheses keep the type-generic macro away."""
    first = kernel.instances[0]
    names = [p.name for p in first.params]
    text = []
    for suffix, declared, passed in (('', '', []), ('_async', f'cf_stream {stream(first)}', [stream(first)])):
        head = f'int ({prefix}_{kernel.name}{suffix})('
        text.append(fold(f'{head}{parameters(first, declared)})\n', len(head)) + '{\n' +
                    fold(f'    return {prefix}_{first.name}{suffix}({", ".join(passed + names)});\n', 8) + '}\n')
    return '\n'.join(text)
