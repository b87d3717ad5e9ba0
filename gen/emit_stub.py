"""The launch stubs of one kernel file: a constant descriptor and two functions per entry point."""

from emit_header import has_generic, parameters
from text import banner, c_string


def descriptor(prefix, instance):
    """The C name of an entry point's descriptor."""
    return f'{prefix}__{instance.name}'


def host_body(prefix, instance):
    """The C name of an entry point's CPU body."""
    return f'{prefix}__{instance.name}_host'


def image_symbol(prefix, file):
    """The C name of the embedded image of a kernel file."""
    return f'{prefix}__{file.stem}_fatbin'


def emit(file, prefix, header):
    text = [banner(file.path), f'#include <{header}>\n#include <cuferry/registry.h>\n\n']
    text.append(_image(file, prefix))
    scans = sorted({f'cf__outside_{i.params[c.array].scalar.short}'
                    for i in file.instances for c in i.checks if c.array is not None})
    if scans:
        text.append('extern const cf_kernel ' + ', '.join(scans) + ';\n')
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
            'static cf_state image_state;\n'
            'static const cf_image image = {\n'
            f'    .begin = {symbol},\n    .end = {symbol}_end,\n    .toolkit = CF__TOOLKIT,\n'
            '    .sm = (const uint16_t[]){CF__SM 0},\n    .ptx = (const uint16_t[]){CF__PTX 0},\n'
            '    .state = &image_state,\n};\n'
            '#define IMAGE(name) .image = &image, .entry = CF__ENTRY_##name\n'
            '#else\n#define IMAGE(name) .image = NULL\n#endif\n\n')


def _expr(expr):
    ops = ', '.join(f'{{CF_OP_{code}, {operand}}}' for code, operand in expr.ops)
    return f'{{{c_string(expr.text)}, (const cf_op[]){{{ops}}}}}'


def _param(param):
    fields = [f'.name = {c_string(param.name)}', f'.ctype = {c_string(param.ctype)}', f'.type = {param.scalar.enum}',
              f'.direction = {param.direction}']
    if param.extents:
        fields += [f'.ndims = {len(param.extents)}',
                   f'.extents = (const cf_expr[]){{{", ".join(_expr(e) for e in param.extents)}}}']
    return f'        {{{", ".join(fields)}}},\n'


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
        fields.append(f'.scan = &cf__outside_{instance.params[check.array].scalar.short}')
    return f'        {{{", ".join(fields)}}},\n'


def _entry_point(kernel, instance, prefix):
    symbol, function = descriptor(prefix, instance), f'{prefix}_{instance.name}'
    text = f'cf_host_body {host_body(prefix, instance)};\nstatic cf_state {instance.name}_state;\n'
    text += f'extern const cf_kernel {symbol};\nconst cf_kernel {symbol} = {{\n'
    text += f'    .size = sizeof(cf_kernel),\n    .version = CF_REGISTRY_VERSION,\n    .name = {c_string(instance.name)},\n'
    text += f'    .family = {c_string(kernel.name)},\n    .function = {c_string(function)},\n'
    text += f'    .file = {c_string(kernel.location.file)},\n    .line = {kernel.location.line},\n'
    text += f'    .nparams = {len(instance.params)},\n'
    if instance.params:
        text += '    .params = (const cf_param[]){\n' + ''.join(map(_param, instance.params)) + '    },\n'
    text += '    .launch = {\n' + (f'        .counts_blocks = 1,\n' if instance.counts_blocks else '')
    text += f'        .grid = {{{", ".join(map(_expr, instance.grid))}}},\n'
    text += f'        .block = {{{", ".join(map(_expr, instance.block))}}},\n    }},\n'
    if instance.checks:
        text += f'    .nchecks = {len(instance.checks)},\n    .checks = (const cf_check[]){{\n'
        text += ''.join(_check(c, instance) for c in instance.checks) + '    },\n'
    if instance.bytes:
        text += f'    .bytes = {_expr(instance.bytes)},\n'
    text += f'    IMAGE({instance.name}),\n    .host = {host_body(prefix, instance)},\n    .state = &{instance.name}_state,\n}};\n'
    return text + '\n' + _functions(instance, function, symbol)


def _functions(instance, function, symbol):
    args = ', '.join(f'(void *)&{p.name}' for p in instance.params) or 'NULL'
    body = f'    void *const args[] = {{{args}}};\n'
    return (f'int ({function})({parameters(instance)})\n{{\n{body}    return cf_call(&{symbol}, args);\n}}\n\n'
            f'int ({function}_async)({parameters(instance, "cf_stream stream")})\n'
            f'{{\n{body}    return cf_launch(&{symbol}, stream, args);\n}}\n')


def _family(kernel, prefix):
    """The plain function of the kernel's own name: its first instance."""
    first = kernel.instances[0]
    names = [p.name for p in first.params]
    text = []
    for suffix, declared, passed in (('', '', []), ('_async', 'cf_stream stream', ['stream'])):
        text.append(f'int ({prefix}_{kernel.name}{suffix})({parameters(first, declared)})\n'
                    f'{{\n    return {prefix}_{first.name}{suffix}({", ".join(passed + names)});\n}}\n')
    return '\n'.join(text)
