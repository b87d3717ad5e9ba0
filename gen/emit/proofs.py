"""Emits assertions by which compilers check facts that the generator has read."""

import re

_TOLD = 'cfgen reads another {} of {}; write include("...") with a header in C that declares it'


def emit_proofs(file, instances):
    """Emits names for types without one, and compile errors if types and constants differ from what the generator has
    read. `instances`: the instances in the compiled source."""
    return (''.join(_within(scope, f'typedef {cxx} {name};') for scope, name, cxx in file.aliases) +
            ''.join(map(_assert_layout, file.types)) + _assert_copyable(instances) + _assert_values(file))


def _within(scope, text):
    scope = [s for s in scope if s]
    return ''.join(f'namespace {s} {{ ' for s in scope) + text + ' }' * len(scope) + '\n'


def _assert_layout(definition):
    """Emits C++ assertions about the layout of a type. emit/types.py emits such assertions for C."""
    cxx = definition.cxx
    text = (f'static_assert(sizeof({cxx}) == {definition.bytes} && alignof({cxx}) == {definition.align}, '
            f'"{_said("size", cxx)}");\n')
    for field in definition.fields:
        text += (f'static_assert(__builtin_offsetof({cxx}, {field.path}) == {field.offset}, '
                 f'"{_said("place", f"{cxx}::{field.path}")}");\n')
        extents = ''.join(f'[{e}]' for e in field.extents)
        owner = re.sub(r'^(struct|union) ', '', cxx)    # in C++, no keyword may precede `S::*`
        declarator = f'({owner}::*){extents}' if extents else f'{owner}::*'
        if field.cxx and '.' not in field.path:     # fails to compile for a member of another type
            text += f'static_assert(sizeof(static_cast<{field.cxx} {declarator}>(&{owner}::{field.path})) != 0, "");\n'
    return text + ''.join(f'static_assert((long long){name} == {value}, "{_said("value", name)}");\n'
                          for name, value in definition.values)


def _said(what, name):
    return _TOLD.format(what, name).replace('"', '\\"')


def _assert_copyable(instances):
    """Emits assertions that types can be copied as bytes."""
    seen = {}
    for instance in instances:
        for param in instance.params:
            if not param.pointer and param.type.kind == 'struct':
                seen.setdefault(param.type.cxx, param.name)
    return ''.join(f'static_assert(__is_trivially_copyable({cxx}), "{name} is not trivially copyable, so it cannot be '
                   'passed from C");\n' for cxx, name in seen.items())


def _assert_values(file):
    """Emits assertions that constants have the values that the generator has read."""
    text = ''
    for scope, name, value in sorted(file.proofs):
        # Enumerators of an enum class do not convert to numbers.
        number = f'(long long){name}' if '::' in name else name
        text += _within(scope, f'static_assert({number} == {value}, "cfgen reads {value}");')
    return text
