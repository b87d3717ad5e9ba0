"""Emits the C definitions of types, and assertions about their layout."""

from base.text import comment, identifier


def emit_types(types):
    """Returns the definitions, each with a guard, so that several generated headers may define the same type. The
    assertions check whichever definition a program sees first."""
    return ''.join(_emit_type(t) for t in types)


def _emit_type(definition):
    guard = f'CUFERRY_TYPE_{identifier(definition.c.split()[-1])}'
    why = comment([f'Bytes alone in C: {definition.opaque}.']) if definition.opaque else ''
    text = f'{why}#ifndef {guard}\n#define {guard}\n{definition.text}#endif\n'
    text += f'CF__SIZED_TYPE({definition.c}, {definition.bytes}, {definition.align});\n'
    return text + ''.join(f'CF__PLACED_MEMBER({definition.c}, {f.path}, {f.offset});\n'
                          for f in definition.fields) + '\n'


def type_words(types):
    """Returns the names in definitions that a macro of the program might change."""
    return {word for t in types for word in (*t.names, *t.words)}
