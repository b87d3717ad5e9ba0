"""Emits the manifest of one library: its registry as JSON, for programs that do not read C. manifest.schema.json
defines the format."""

import json
import struct

MANIFEST_VERSION = 2


def emit_manifest(files, prefix, header, sources):
    kernels = sorted(((k, i) for f in files for k in f.kernels for i in k.instances), key=lambda pair: pair[1].name)
    symbols = sorted((s for f in files for s in f.symbols), key=lambda s: s.name)
    fields = {
        'manifest': _one_line(MANIFEST_VERSION),
        'prefix': _one_line(prefix),
        'header': _one_line(header),
        'sources': _one_line(sources),
        'includes': _one_line(list(dict.fromkeys(h for f in files for h in f.includes))),
        'kernels': _value_lines([_kernel_value(k, i, prefix) for k, i in kernels]),
        'symbols': _value_lines([_symbol_value(s, prefix) for s in symbols]),
    }
    types = list({t.c: t for f in files for t in f.types}.values())
    if types:
        fields['types'] = _value_lines(map(_definition_value, types))
    return '{\n' + ',\n'.join(f'"{name}": {text}' for name, text in fields.items()) + '\n}\n'


def _one_line(value):
    return json.dumps(value, ensure_ascii=False)


def _value_lines(values):
    """Returns a list with one value per line."""
    return '[' + ','.join('\n' + _one_line(value) for value in values) + ']'


def _tree_value(node):
    code, *parts = node
    if code == 'MEMBER':
        return [code, parts[0][0], parts[0][2]]
    if code == 'CONST' and isinstance(parts[0], tuple):
        return ['SIZEOF', parts[0][1]]
    if code == 'REAL':
        return [code, struct.unpack('<d', struct.pack('<q', parts[0]))[0]]
    return [code, *(_tree_value(part) if isinstance(part, tuple) else part for part in parts)]


def _expr_value(expr):
    return None if expr is None else {'text': expr.text, 'tree': _tree_value(expr.tree)}


def _type_value(ctype):
    return {'ctype': ctype.c, 'type': ctype.short if ctype.kind != 'struct' else 'opaque', 'lanes': ctype.lanes,
            'bytes': ctype.bytes, 'align': ctype.align}


def _param_value(param):
    return {'name': param.name, 'declared': param.ctype,
            'element' if param.pointer else 'value': _type_value(param.type),
            'direction': param.direction[3:].lower(), 'const': param.const, 'restrict': param.is_restrict,
            'in_place': param.in_place,
            'dims': [{'lower': _expr_value(d.lower), 'extent': _expr_value(d.extent), 'pitch': _expr_value(d.pitch)}
                     for d in param.dims],
            **({'added': True} if param.is_added else {})}


def _check_value(check):
    if check.condition:
        return {'text': check.text, 'condition': _expr_value(check.condition), 'real': check.is_real}
    if check.order:
        return {'text': check.text, 'array': check.array, check.order: True}
    return {'text': check.text, 'array': check.array, **({'member': check.member} if check.member else {}),
            'lower': _expr_value(check.lower), 'lower_open': check.lower_open,
            'upper': _expr_value(check.upper), 'upper_open': check.upper_open}


def _variant_value(variant):
    launch = variant.launch
    return {'constants': dict(variant.constants),
            **({'image': variant.image.path, 'entry': variant.entry} if variant.image else {}),
            'launch': {'counts': 'blocks' if launch.counts_blocks else 'threads', 'cooperative': launch.is_cooperative,
                       'block_auto': launch.is_block_auto, 'grid': [_expr_value(e) for e in launch.grid],
                       'block': [_expr_value(e) for e in launch.block], 'items': _expr_value(launch.items),
                       'shared': _expr_value(launch.shared),
                       **({'cluster': list(launch.cluster)} if launch.cluster else {}),
                       **({'dependent': True} if launch.is_dependent else {})}}


def _kernel_value(kernel, instance, prefix):
    host = instance.host
    of_operation = {'uses': list(instance.used)} if kernel.is_operation else {}
    internal = {'internal': True} if kernel.is_internal else {}
    split = {} if instance.split is None else {'split': instance.split}
    return {'name': instance.name, 'family': kernel.name, 'function': f'{prefix}_{instance.name}',
            'kernel': instance.kernel, 'doc': '\n'.join(kernel.doc), 'file': kernel.location.file,
            'line': kernel.location.line, 'params': [_param_value(p) for p in instance.params],
            'zeros': [{'array': z.array, 'lower': _expr_value(z.lower), 'extent': _expr_value(z.extent),
                       'rezeroed': z.is_rezeroed}
                      for z in instance.zeros],
            'checks': [_check_value(c) for c in instance.checks], 'bytes': _expr_value(instance.bytes),
            'flops': _expr_value(instance.flops), 'tolerance': _expr_value(instance.tolerance),
            'host': 'operation' if instance.is_hosted else 'none' if host is None else host.function or 'kernel',
            'bounded': instance.is_bounded, 'closed': instance.is_closed,
            'variants': [] if kernel.is_operation else [_variant_value(v) for v in instance.all_variants],
            **of_operation, **internal, **split}


def _definition_value(definition):
    return {'name': definition.c, 'cxx': definition.cxx, 'file': definition.location.file,
            'line': definition.location.line, 'bytes': definition.bytes, 'align': definition.align,
            'opaque': bool(definition.opaque), 'values': {cxx: value for cxx, value in definition.values},
            'members': [{'path': f.path, 'ctype': f.ctype, 'extents': list(f.extents), 'offset': f.offset}
                        for f in definition.fields]}


def _symbol_value(symbol, prefix):
    return {'name': symbol.name, 'function': f'{prefix}_set_{symbol.name}', 'doc': '\n'.join(symbol.doc),
            'file': symbol.location.file, 'line': symbol.location.line, 'element': _type_value(symbol.type),
            'extents': list(symbol.extents)}
