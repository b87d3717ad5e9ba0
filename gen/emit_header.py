"""The header of typed entry points: C99 functions, C11 _Generic, C++ overloads."""

import re

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
    text = [banner(sources), f'#ifndef {guard}\n#define {guard}\n\n#include <cuferry.h>\n\n'
            '#ifdef __cplusplus\nextern "C" {\n#endif\n\n']
    text.append('\n'.join(functions))
    text.append('\n#ifdef __cplusplus\n}\n#endif\n')
    if generic:
        text.append('\n#if defined __cplusplus\n\n')
        text.append('\n'.join(overloads))
        text.append('\n#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n\n')
        text.append('\n'.join(generic))
        text.append('\n#endif\n')
    text.append(f'\n#endif /* {guard} */\n')
    return ''.join(text)


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
            groups.setdefault(instance.params[number].base, []).append(instance)
        if parameter.pointer and len(groups) > 1:
            branches = [(base, _dispatch(group)) for base, group in groups.items()]
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
        text += _selection(tree, first, prefix, suffix, 4).replace('\n', ' \\\n') + ' \\\n'
        text += fold(f'    ({", ".join(f"({n})" for n in names.split(", "))})', 5, ' \\') + '\n'
    return text


def _selection(tree, first, prefix, suffix, indent):
    pad = ' ' * indent
    if not isinstance(tree, tuple):
        return f'{pad}{prefix}_{tree.name}{suffix}'
    number, branches = tree
    lines = []
    for base, subtree in branches:
        inner = _selection(subtree, first, prefix, suffix, indent + 4)
        lines.append(f'{pad}    {base}: {inner.lstrip()}')
    return f'{pad}_Generic(*({first.params[number].name}),\n' + ',\n'.join(lines) + ')'


def _overloads(kernel, prefix):
    """The first instance's overload is the C function of the same name."""
    text = ''
    for instance in kernel.instances[1:]:
        for suffix, leading in (('', ''), ('_async', stream(instance))):
            text += _declared('CF_CHECKED inline int ', f'{prefix}_{kernel.name}{suffix}', instance,
                              f'cf_stream {leading}' if leading else '')
            text += fold(f'{{\n    return {prefix}_{instance.name}{suffix}({_names(instance, leading)});\n}}\n', 8)
    return text
