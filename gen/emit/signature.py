"""Spells the parameter lists of generated C functions."""


def stream_name(instance):
    """Returns the name of the stream parameter of an `_async` function; no parameter of the kernel has this name."""
    return 'stream' if all(p.name != 'stream' for p in instance.arguments) else 'cf__stream'


def update_parameters(instance):
    """Returns the parameters of an `_update` function before the kernel's own; no names occur twice."""
    taken = {p.name for p in instance.arguments}
    exec_, node = (n if n not in taken else f'cf__{n}' for n in ('exec', 'node'))
    return f'cf_graph_exec {exec_}, cf_graph_node {node}'


def parameter_list(instance, leading=''):
    """Returns the parameters of an entry point in C."""
    return ', '.join(([leading] if leading else []) + [p.declaration for p in instance.arguments]) or 'void'


def enqueuer_parameter_list(instance):
    """Returns the parameters of an enqueuer: the stream, and all parameters of the operation."""
    name = 'stream' if all(p.name != 'stream' for p in instance.params) else 'cf__stream'
    return ', '.join([f'cf_stream {name}'] + [p.declaration for p in instance.params])


def is_set_by_value(symbol):
    """True if a setter takes a number or a vector by value: the library reads it before it returns (see
    cf_symbol_set_async())."""
    return not symbol.extents and symbol.type.kind != 'struct'


def setter_parameter(symbol):
    if is_set_by_value(symbol):
        return f'{symbol.type.c} {symbol.name}'
    extents = ''.join(f'[{e}]' for e in symbol.extents)
    return f'const {symbol.type.c} {symbol.name}{extents}' if extents else f'const {symbol.type.c} *{symbol.name}'


def setter_stream_name(symbol):
    """Returns the name of the stream parameter of a setter."""
    return 'stream' if symbol.name != 'stream' else 'cf__stream'
