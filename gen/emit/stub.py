"""The launch stubs of one kernel file: a constant descriptor and two functions per entry point."""

from dataclasses import replace

from annotation.dispatch import find_dispatch
from base.text import banner, c_string, fold, include
from emit.names import (descriptor_name, enqueuer_name, host_body_name, host_bytes_name, host_data_bytes_name,
                        host_data_name, image_end_name, image_name, setter_name, symbol_descriptor_name)
from emit.signature import enqueuer_parameter_list, is_set_by_value, parameter_list, setter_parameter
from emit.sizes import emit_sizes


def emit_stub(file, prefix, tuned=None):
    """`tuned`: lines of a tuning file, by function."""
    # Not the library's header, which changes with every other kernel file.
    includes = ''.join(map(include, file.includes))
    text = [banner(file.path), f'#include <cuferry.h>\n#include <cuferry/registry.h>\n{includes}\n']
    if file.launched or file.symbols:
        text.append(_image(file, prefix))
    others = {_scan(c, i) for i in file.instances for c in _looked_at(i) if c.array is not None}
    others.update(_used(prefix, name) for i in file.instances for name in i.used)
    if others:
        text.append('\n' + fold('extern const cf_kernel ' + ', '.join(sorted(others)) + ';\n', 8))
    sizes = {}      # the body of a function: its name; instances have many in common
    for kernel in file.kernels:
        for instance in kernel.instances:
            text.append('\n' + _entry_point(kernel, instance, prefix, sizes, tuned or {}))
        if find_dispatch(kernel) is not None:
            text.append('\n' + _family(kernel, prefix))
    for symbol in file.symbols:
        text.append('\n' + _symbol(symbol, prefix))
    return ''.join(text)


def _image(file, prefix):
    symbol, end = image_name(prefix, file), image_end_name(prefix, file)
    return ('#ifdef CF__GPU /* the build has an nvcc */\n'
            f'#include "{file.stem}.image.h"\n'
            f'extern const unsigned char {symbol}[], {end}[];\n'
            'static cf_state cf__image_state;\n'
            'static const cf_image cf__image = {\n'
            f'    .begin = {symbol},\n    .end = {end},\n    .crc32 = CF__CRC32,\n    .toolkit = CF__TOOLKIT,\n'
            '    .sm = (const uint16_t[]){CF__SM 0},\n    .ptx = (const uint16_t[]){CF__PTX 0},\n'
            '    .state = &cf__image_state,\n};\n'
            '#define CF__IMAGE(name) .image = &cf__image, .entry = CF__ENTRY_##name\n'
            '#define CF__DATA(name) .image = &cf__image, .entry = CF__DATA_##name\n'
            '#else\n#define CF__IMAGE(name) .image = NULL\n#define CF__DATA(name) .image = NULL\n#endif\n')


# A header that the kernels share with C may have macros of the parameters' names, so that here they have others.
_OWN = 'cf__p_'


def _renamed(instance):
    return replace(instance, params=tuple(replace(p, name=_OWN + p.name) for p in instance.params))


# ---- Expressions


def _op(op):
    code, operand = op
    if code == 'MEMBER':
        number, c, path, enum, real = operand
        member = f'(({c} *)0)->{path}'
        # The compiler knows the type better.
        kind = (enum if enum in ('CF_F16', 'CF_BF16') else f'CF_NUMBER_TYPE({member})' if real else
                f'CF_INTEGER_TYPE(__typeof__({member}))')
        return f'{{CF_OP_MEMBER, CF_MEMBER({number}, {kind}, offsetof({c}, {path}))}}'
    if isinstance(operand, tuple):
        return f'{{CF_OP_{code}, sizeof({operand[1]})}}'
    if operand == -2**63:
        return f'{{CF_OP_{code}, INT64_MIN}}'
    return f'{{CF_OP_{code}, {operand}}}'


def _expr(expr):
    return f'{{{c_string(expr.text)}, (const cf_op[]){{{", ".join(map(_op, expr.ops))}}}}}'


def _exprs(exprs, indent):
    """An initialiser of expressions, None for an absent one: one on its line, several below one another."""
    texts = [_expr(e) if e else '{NULL, NULL}' for e in exprs]
    if len(texts) == 1:
        return f'{{{texts[0]}}}'
    pad = ' ' * (indent + 4)
    return '{\n' + ''.join(fold(f'{pad}{t},\n', indent + 8) for t in texts) + ' ' * indent + '}'


# ---- Descriptors


def _type_fields(ctype):
    """The fields that say what a value is."""
    size = f'sizeof({ctype.c})' if ctype.bytes is None else ctype.bytes
    align = f'_Alignof({ctype.c})' if ctype.align is None else ctype.align
    enum = 'CF_INTEGER_TYPE(char)' if ctype.enum == 'CF_CHAR' else ctype.enum
    return [f'.type = {enum}', f'.lanes = {ctype.lanes}', f'.bytes = {size}', f'.align = {align}']


def _param(param):
    fields = [f'.name = {c_string(param.name)}', f'.ctype = {c_string(param.ctype)}', f'.direction = {param.direction}',
              *_type_fields(param.type)]
    if not param.dims:
        return fold(f'        {{{", ".join(fields)}}},\n', 9)
    fields.append(f'.ndims = {len(param.dims)}')
    text = fold(f'        {{{", ".join(fields)},\n', 9)
    lists = [('extents', [d.extent for d in param.dims])]
    if any(d.lower for d in param.dims):
        lists.append(('lowers', [d.lower for d in param.dims]))
    if any(d.pitch for d in param.dims):
        lists.append(('pitches', [d.pitch for d in param.dims]))
    parts = [f'         .{name} = (const cf_expr[]){_exprs(values, 9)}' for name, values in lists]
    return text + ',\n'.join(parts) + '},\n'


def _looked_at(instance):
    """The checks that calls make; that elements differ is for the caller to see to."""
    return [c for c in instance.checks if c.order != 'distinct']


def _scan(check, instance):
    """The descriptor of the kernel that looks for elements out of range, or of order; see kernels/outside.cu."""
    param = instance.params[check.array]
    if check.order:
        return f'cf__k_descending_{param.type.short}'
    return f'cf__k_outside_{"rows_" if len(param.dims) > 1 else ""}{param.type.short}'


def _check(check, instance):
    fields = [f'.text = {c_string(check.text)}']
    if check.condition:
        fields += [f'.condition = {_expr(check.condition)}', '.array = -1'] + ['.is_real = 1'] * check.is_real
    else:
        fields.append(f'.array = {check.array}')
        for name, bound, is_open in (('lower', check.lower, check.lower_open),
                                     ('upper', check.upper, check.upper_open)):
            if bound:
                fields.append(f'.{name} = {_expr(bound)}')
            if bound and is_open:
                fields.append(f'.{name}_open = 1')
        fields += ['.is_ascending = 1'] * bool(check.order)
        fields.append(f'.scan = &{_scan(check, instance)}')
    return fold(f'        {{{", ".join(fields)}}},\n', 9)


def _zero(zero):
    fields = [f'.array = {zero.array}'] + ['.is_rezeroed = 1'] * zero.is_rezeroed
    fields += [f'.{name} = {_expr(e)}' for name, e in (('lower', zero.lower), ('extent', zero.extent)) if e]
    return fold(f'        {{{", ".join(fields)}}},\n', 9)


def _launch(launch):
    text = '    .launch = {\n'
    for name in ('counts_blocks', 'is_cooperative', 'is_block_auto'):
        if getattr(launch, name):
            text += f'        .{name} = 1,\n'
    text += f'        .grid = {_exprs(launch.grid, 8)},\n'
    if launch.block:
        text += f'        .block = {_exprs(launch.block, 8)},\n'
    for name in ('items', 'shared'):
        if getattr(launch, name):
            text += fold(f'        .{name} = {_expr(getattr(launch, name))},\n', 12)
    return text + '    },\n'


def _doc(lines):
    """The documentation, a string literal a line."""
    texts = [line + '\n' for line in lines[:-1]] + list(lines[-1:])
    return f'    .doc = {(chr(10) + " " * 11).join(c_string(t) for t in texts)},\n' if texts else ''


def _sizes(variant, known):
    """The function that checks a launch and works its size out, and its name; empty where that is interpreted."""
    body = emit_sizes(variant)
    if not body or body in known:
        return '', known.get(body, '')
    known[body] = f'cf__sizes_{variant.name}'
    return ('/* The size of a launch in which nothing is out of the ordinary. */\n'
            f'static int {known[body]}(void *const cf__args[], cf_size *cf__size)\n{{\n{body}}}\n\n'), known[body]


# ---- Operations


def _used(prefix, name):
    """The descriptor of what an operation uses; of users' operations, cf_... are bundled."""
    return f'cf__k_{name[3:]}' if prefix != 'cf' and name.startswith('cf_') else f'{prefix}__k_{name}'


def _enqueuer(instance, prefix):
    """What calls the function in C with a launch's arguments, and the list of what that uses."""
    function = enqueuer_name(prefix, instance)
    head = f'int {function}('
    reads = [f'*({p.ctype}const *)cf__args[{n}]' if p.pointer else f'*(const {p.ctype} *)cf__args[{n}]'
             for n, p in enumerate(instance.params)]
    call = fold(f'    return {function}({", ".join(["cf__stream", *reads])});\n', 8)
    names = ', '.join(f'&{_used(prefix, name)}' for name in instance.used)
    return (fold(f'{head}{enqueuer_parameter_list(_renamed(instance))});\n', len(head)) +
            f'static int cf__unpack_{instance.name}(cf_stream cf__stream, void *const cf__args[])\n{{\n'
            f'{"" if reads else "    (void)cf__args;" + chr(10)}{call}}}\n' +
            fold(f'static const cf_kernel *const cf__uses_{instance.name}[] = {{{names}}};\n', 8))


def _variants(instance, prefix):
    """The list of a tuned kernel's variants, which each of their descriptors points to."""
    text = ''.join(f'static const cf_kernel {descriptor_name(prefix, v)};\n' for v in instance.variants)
    names = ', '.join(f'&{descriptor_name(prefix, v)}' for v in instance.variants)
    return text + fold(f'static const cf_kernel *const cf__variants_{instance.name}[] = {{{names}}};\n', 8) + '\n'


def _descriptor(kernel, instance, variant, prefix, known_sizes, tuned):
    """The descriptor of one variant, or the instance's own. That of a tuned kernel stands for the variant that the
    runtime chooses, and says what the first does; it has no compiled sizes, which tells it apart at once."""
    is_own, is_choice = variant is instance, variant is instance and bool(instance.variants)
    text, sizes = ('', '') if is_choice else _sizes(variant, known_sizes)
    code = instance.all_variants[0] if is_choice else variant
    if variant.host and not is_choice and not variant.host_of:
        text += f'cf_host_body {host_body_name(prefix, variant)};\nextern const uint32_t {host_bytes_name(prefix, variant)}[];\n'
    if kernel.is_operation:
        text += _enqueuer(variant, prefix)
    text += f'static cf_state cf__state_{variant.name};\n'
    symbol = descriptor_name(prefix, variant)
    if is_own:
        text += f'extern const cf_kernel {symbol};\n'
    text += f'{"" if is_own else "static "}const cf_kernel {symbol} = {{\n'
    text += '    .version = CF_REGISTRY_VERSION,\n'
    text += f'    .name = {c_string(instance.name)},\n    .family = {c_string(kernel.name)},\n'
    text += f'    .function = {c_string(f"{prefix}_{instance.name}")},\n'
    text += _doc(kernel.doc)
    text += f'    .file = {c_string(kernel.location.file)},\n    .line = {kernel.location.line},\n'
    text += f'    .nparams = {len(variant.params)},\n'
    if variant.params:
        text += '    .params = (const cf_param[]){\n' + ''.join(map(_param, variant.params)) + '    },\n'
    if not kernel.is_operation:
        text += _launch(variant.launch)
    checks = _looked_at(variant)
    if checks:
        text += f'    .nchecks = {len(checks)},\n    .checks = (const cf_check[]){{\n'
        text += ''.join(_check(c, variant) for c in checks) + '    },\n'
    for name in ('bytes', 'flops', 'tolerance'):
        if getattr(variant, name):
            text += fold(f'    .{name} = {_expr(getattr(variant, name))},\n', 8)
    if not kernel.is_operation:
        text += f'    CF__IMAGE({code.name}),\n'
    if variant.host:
        text += f'    .host = {host_body_name(prefix, code)},\n    .host_bytes = {host_bytes_name(prefix, code)},\n'
        if variant.host.function:
            text += '    .is_host_whole = 1,\n'
    text += f'    .state = &cf__state_{variant.name},\n'
    if variant.constants:
        constants = ', '.join(f'{{{c_string(n)}, {v}}}' for n, v in variant.constants)
        text += f'    .nconstants = {len(variant.constants)},\n    .constants = (const cf_constant[]){{{constants}}},\n'
    if instance.variants:
        text += f'    .nvariants = {len(instance.variants)},\n    .variants = cf__variants_{instance.name},\n'
    text += f'    .sizes = {sizes},\n' if sizes else ''
    text += '    .is_bounded = 1,\n' * variant.is_bounded + '    .is_closed = 1,\n' * variant.is_closed
    if variant.restricts:
        flags = ', '.join(str(int(p.is_restrict)) for p in variant.params)
        text += fold(f'    .restricts = (const uint8_t[]){{{flags}}},\n', 8)
    distinct = {c.array for c in variant.checks if c.order == 'distinct'}
    if distinct:
        flags = ', '.join(str(int(i in distinct)) for i in range(len(variant.params)))
        text += fold(f'    .distinct = (const uint8_t[]){{{flags}}},\n', 8)
    if any(p.in_place for p in variant.params):
        numbers = ', '.join(str(p.in_place) for p in variant.params)
        text += fold(f'    .in_place = (const uint8_t[]){{{numbers}}},\n', 8)
    if variant.host_grid:
        text += fold(f'    .host_grid = {_expr(variant.host_grid)},\n', 8)
    if variant.zeros:
        text += f'    .nzeros = {len(variant.zeros)},\n    .zeros = (const cf_zero[]){{\n'
        text += ''.join(map(_zero, variant.zeros)) + '    },\n'
    if variant.split is not None:
        text += f'    .split = {variant.split + 1},\n'
    lines = tuned.get(f'{prefix}_{instance.name}', ()) if is_choice else ()
    if lines:
        text += f'    .tuning = {(chr(10) + " " * 14).join(c_string(line + chr(10)) for line in lines)},\n'
    if kernel.is_operation:
        text += (f'    .enqueue = cf__unpack_{variant.name},\n    .runtime = cf_launch,\n'
                 f'    .nuses = {len(variant.used)},\n'
                 f'    .uses = cf__uses_{variant.name},\n')
    return text + '    .is_internal = 1,\n' * kernel.is_internal + '};\n'


# ---- Functions


def _entry_point(kernel, instance, prefix, sizes, tuned):
    described = instance.all_variants + ((instance,) if instance.variants else ())
    text = _variants(instance, prefix) if instance.variants else ''
    text += '\n'.join(_descriptor(kernel, instance, v, prefix, sizes, tuned) for v in described)
    return text + '\n' + _functions(instance, f'{prefix}_{instance.name}', descriptor_name(prefix, instance))


def _functions(instance, function, symbol):
    instance = _renamed(instance)
    # The runtime supplies scratch memory.
    args = ', '.join('NULL' if p.direction == 'CF_SCRATCH' else f'(void *)&{p.name}' for p in instance.params) or 'NULL'
    body = fold(f'    void *const cf__args[] = {{{args}}};\n', 8)
    head = fold(f'int {function}({parameter_list(instance)})\n', len(f'int {function}('))
    head_async = fold(f'int {function}_async({parameter_list(instance, "cf_stream cf__stream")})\n',
                      len(f'int {function}_async('))
    return (f'{head[:-1]};\n{head}{{\n{body}    return cf_call(&{symbol}, cf__args);\n}}\n\n'
            f'{head_async[:-1]};\n{head_async}{{\n{body}'
            f'    return cf_launch(&{symbol}, cf__stream, cf__args);\n}}\n')


def _family(kernel, prefix):
    """The function of the kernel's own name: its first instance. Parentheses keep the type-generic macro away."""
    first = _renamed(kernel.instances[0])
    names = [p.name for p in first.arguments]
    text = []
    for suffix, declared, passed in (('', '', []), ('_async', 'cf_stream cf__stream', ['cf__stream'])):
        head = f'int ({prefix}_{kernel.name}{suffix})('
        declared = fold(f'{head}{parameter_list(first, declared)})\n', len(head))
        text.append(f'{declared[:-1]};\n{declared}' + '{\n' +
                    fold(f'    return {prefix}_{first.name}{suffix}({", ".join(passed + names)});\n', 8) + '}\n')
    return '\n'.join(text)


def _symbol(symbol, prefix):
    name, function, data = symbol_descriptor_name(prefix, symbol), setter_name(prefix, symbol), host_data_name(prefix, symbol)
    size = host_data_bytes_name(prefix, symbol)
    text = (f'extern void *const {data};\nextern const uint32_t {size};\nstatic cf_state cf__data_{symbol.name};\n'
            f'extern const cf_symbol {name};\nconst cf_symbol {name} = {{\n'
            '    .version = CF_REGISTRY_VERSION,\n'
            f'    .name = {c_string(symbol.name)},\n    .function = {c_string(function)},\n' + _doc(symbol.doc) +
            f'    .file = {c_string(symbol.location.file)},\n    .line = {symbol.location.line},\n'
            f'    .ctype = {c_string(symbol.type.c)},\n' +
            fold('    ' + ', '.join(_type_fields(symbol.type)) + ',\n', 4))
    if symbol.extents:
        text += (f'    .ndims = {len(symbol.extents)},\n    .extents = (const int64_t[]){{'
                 f'{", ".join(map(str, symbol.extents))}}},\n')
    text += (f'    CF__DATA({symbol.name}),\n    .host = &{data},\n    .host_bytes = &{size},\n'
             f'    .state = &cf__data_{symbol.name},\n}};\n\n')
    own = replace(symbol, name=_OWN + symbol.name)
    value = f'&{own.name}' if is_set_by_value(symbol) else own.name
    head = f'int {function}({setter_parameter(own)})'
    head_async = f'int {function}_async(cf_stream cf__stream, {setter_parameter(own)})'
    return text + (f'{head};\n{head}\n{{\n    return cf_symbol_set(&{name}, {value});\n}}\n\n'
                   f'{head_async};\n{head_async}\n{{\n'
                   f'    return cf_symbol_set_async(cf__stream, &{name}, {value});\n}}\n')
