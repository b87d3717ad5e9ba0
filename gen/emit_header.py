"""The header of typed entry points: C99 functions, C11 _Generic, C++ overloads."""

import re

from model import CANONICAL_TYPES
from text import banner, comment, fold


def emit(files, prefix, header, sources):
    guard = re.sub(r'\W', '_', header).upper()
    kernels = [k for f in files for k in f.kernels]
    functions, generic, overloads = [], [], []
    for kernel in sorted(kernels, key=lambda k: k.name):
        functions.append(_functions(kernel, prefix))
        tree = dispatch(kernel)
        if tree:
            generic.append(_generic(kernel, prefix, tree))
            overloads.append(_overloads(kernel, prefix))
    text = [banner(sources), f'#ifndef {guard}\n#define {guard}\n\n#include <cuferry.h>\n\n',
            _guarded(kernels, 'push_macro', '#undef'), '#ifdef __cplusplus\nextern "C" {\n#endif\n\n']
    text.append('\n'.join(functions))
    text.append('\n#ifdef __cplusplus\n}\n#endif\n')
    if generic:
        text.append('\n#if defined __cplusplus\n\n')
        text.append('\n'.join(overloads))
        text.append('\n#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n\n')
        text.append('\n'.join(generic))
        text.append('\n#endif\n')
    text.append(_guarded(kernels, 'pop_macro'))
    text.append(f'\n#endif /* {guard} */\n')
    return ''.join(text)


def _guarded(kernels, pragma, directive=None):
    """Keeps a program's own macros, such as N, away from parameters of that name."""
    names = sorted({p.name for k in kernels for i in k.instances for p in i.params if p.name == p.name.upper()})
    lines = [f'#pragma {pragma}("{name}")\n' + (f'{directive} {name}\n' if directive else '') for name in names]
    if not lines:
        return ''
    return ''.join(lines) + '\n' if directive else '\n' + ''.join(lines)


def dispatch(kernel):
    """How a call's pointer types choose among a kernel's instances: nested (parameter number, [(element type, subtree)])
    with instances at the leaves. None where they do not: then there is no type-generic form."""
    return _dispatch(kernel.instances) if kernel.is_template else None


def _dispatch(instances):
    if len(instances) == 1:
        return instances[0]
    for number, parameter in enumerate(instances[0].params):
        groups = {}
        for instance in instances:
            groups.setdefault(CANONICAL_TYPES[instance.params[number].base], []).append(instance)
        if parameter.pointer and len(groups) > 1:
            branches = [(group[0].params[number].base, _dispatch(group)) for group in groups.values()]
            return (number, branches) if all(tree for _, tree in branches) else None
    return None


def has_generic(kernel):
    return dispatch(kernel) is not None


def stream(instance):
    """The name of the stream parameter of an `_async` function, beside the kernel's own parameters."""
    return 'stream' if all(p.name != 'stream' for p in instance.params) else 'cf__stream'


def parameters(instance, leading=''):
    """A parameter list as C declares it."""
    return ', '.join(([leading] if leading else []) + [p.declaration for p in instance.params]) or 'void'


def _names(instance, leading=''):
    return ', '.join(([leading] if leading else []) + [p.name for p in instance.params])


def _declared(before, function, instance, leading='', after=''):
    """A function's declaration, its parameters folded below one another."""
    head = f'{before}{function}('
    return fold(f'{head}{parameters(instance, leading)}){after}\n', len(head))


def _prototypes(function, instance):
    return (_declared('CF_CHECKED int ', function, instance, after=';') +
            _declared('CF_CHECKED int ', f'{function}_async', instance, f'cf_stream {stream(instance)}', ';'))


def _functions(kernel, prefix):
    text = comment(kernel.doc)
    if has_generic(kernel):
        first = kernel.instances[0]
        text += (f'/* {prefix}_{kernel.name}() takes the types of every instance in C11 and C++; its address is that of '
                 f'{prefix}_{first.name}(). */\n')
        text += _prototypes(f'{prefix}_{kernel.name}', first)
    for instance in kernel.instances:
        text += _prototypes(f'{prefix}_{instance.name}', instance)
    return text


def _generic(kernel, prefix, tree):
    first = kernel.instances[0]
    text = ''
    for suffix, leading in (('', ''), ('_async', stream(first))):
        names = _names(first, leading)
        text += fold(f'#define {prefix}_{kernel.name}{suffix}({names})', 4, ' \\') + ' \\\n'
        text += _selection(tree, kernel, prefix, suffix, 4).replace('\n', ' \\\n') + ' \\\n'
        text += fold(f'    ({", ".join(f"({n})" for n in names.split(", "))})', 5, ' \\') + '\n'
    return text


def _selection(tree, kernel, prefix, suffix, indent):
    """Selections that are not chosen have to be valid for the call's types too: one that lacks a type which another
    instance has there gets a default, and that function's prototype refuses a wrong call."""
    pad = ' ' * indent
    if not isinstance(tree, tuple):
        return f'{pad}{prefix}_{tree.name}{suffix}'
    number, branches = tree
    lines = []
    is_sparse = len(branches) < len({CANONICAL_TYPES[i.params[number].base] for i in kernel.instances})
    for base, subtree in branches:
        inner = _selection(subtree, kernel, prefix, suffix, indent + 4)
        lines.append(f'{pad}    {"default" if is_sparse and base == branches[-1][0] else base}: {inner.lstrip()}')
    return f'{pad}_Generic(*({kernel.instances[0].params[number].name}),\n' + ',\n'.join(lines) + ')'


def _overloads(kernel, prefix):
    """The first instance's overload is the C function of the same name."""
    text = ''
    for instance in kernel.instances[1:]:
        for suffix, leading in (('', ''), ('_async', stream(instance))):
            text += _declared('CF_CHECKED inline int ', f'{prefix}_{kernel.name}{suffix}', instance,
                              f'cf_stream {leading}' if leading else '')
            text += fold(f'{{\n    return {prefix}_{instance.name}{suffix}({_names(instance, leading)});\n}}\n', 8)
    return text
