"""Emits the header of typed entry points: C99 functions, C11 _Generic, C++ overloads; and the header of operations'
parts."""

import re
from dataclasses import replace

from annotation.dispatch import Choice, find_dispatch, list_chosen, list_several, Several
from base.text import banner, c_string, comment, fold, identifier, include
from emit.names import enqueuer_name, internal_header_name, setter_name
from emit.types import emit_types, type_words
from emit.signature import (enqueuer_parameter_list, parameter_list, setter_parameter, setter_stream_name, stream_name,
                            update_parameters)


def _guard_name(header):
    return 'CUFERRY_' + identifier(header).upper().replace('CUFERRY_', '')


def emit_header(files, prefix, header, sources):
    guard = _guard_name(header)
    kernels = sorted((k for f in files for k in f.kernels if not k.is_internal), key=lambda k: k.name)
    symbols = sorted((s for f in files for s in f.symbols), key=lambda s: s.name)
    types = list({t.c: t for f in files for t in f.types}.values())
    names = _names_of([p for k in kernels for i in k.instances for p in i.arguments] + symbols, type_words(types))
    functions, generic, refusals, overloads = [], [], [], []
    for kernel in kernels:
        tree = find_dispatch(kernel)
        functions.append(_emit_functions(kernel, prefix))
        if tree:
            generic.append(_emit_generic(kernel, prefix))
            refusals.append(_emit_refusal(kernel, prefix))
            overloads.append(_emit_overloads(kernel, prefix))
    functions += [_emit_setters(s, prefix) for s in symbols]
    notes = dict.fromkeys(note for f in files for note in f.notes)
    functions += [comment(fold(f'No setter: {note}', 3).split('\n')) for note in notes]
    includes = list(dict.fromkeys(h for f in files for h in f.includes))
    text = [banner(sources), f'#ifndef {guard}\n#define {guard}\n\n#include <cuferry.h>\n#include <cuferry/types.h>\n',
            '#include <cuferry/generic.h>\n' if generic else '', ''.join(map(include, includes)), '\n']
    declared = [emit_types(types), '#ifdef __cplusplus\nextern "C" {\n#endif\n\n', '\n'.join(functions)]
    if prefix != 'cf':
        declared.append('\n/* All of them, for look-up by name: see <cuferry/registry.h>. A program that names it '
                    'links every kernel. */\n'
                    f'extern const struct cf_module {prefix}_registry;\n')
    declared.append('\n#ifdef __cplusplus\n}\n#endif\n')
    if generic:
        # A program may include the header inside extern "C".
        declared.append('\n#if defined __cplusplus\nextern "C++" {\n\n')
        declared.append('\n'.join(overloads))
        declared.append('\n} /* extern "C++" */\n#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n\n')
        declared.append('\n'.join(generic))
        declared.append(f'\n#else\n\n{"".join(refusals)}\n#endif\n')
    text.append(_without_macros(names, ''.join(declared)))
    text.append(f'\n#endif /* {guard} */\n')
    return ''.join(text)


# ---- For the C files of operations


def has_internals(files):
    """True if the internal header has declarations."""
    return any(k.is_operation or k.is_internal for f in files for k in f.kernels)


def emit_internal_header(files, prefix, header, sources):
    name = internal_header_name(header)
    kernels = sorted((k for f in files for k in f.kernels), key=lambda k: k.name)
    names = _names_of(p for k in kernels for i in k.instances for p in (i.params if k.is_operation else i.arguments))
    text = ['#ifdef __cplusplus\nextern "C" {\n#endif\n']
    for kernel in (k for k in kernels if k.is_internal):
        text.append('\n' + comment(kernel.doc))
        text += [_emit_prototypes(f'{prefix}_{i.name}', i) for i in kernel.instances]
    for kernel in (k for k in kernels if k.is_operation):
        text.append(f'\n/* Enqueues what {prefix}_{kernel.name} is made of; to be defined in C. */\n')
        for instance in kernel.instances:
            head = f'CF_CHECKED int {enqueuer_name(prefix, instance)}('
            text.append(fold(f'{head}{enqueuer_parameter_list(instance)});\n', len(head)))
    text.append('\n#ifdef __cplusplus\n}\n#endif\n')
    return (f'{banner(sources)}#ifndef {_guard_name(name)}\n#define {_guard_name(name)}\n\n{include(header)}\n'
            f'{_without_macros(names, "".join(text))}\n#endif /* {_guard_name(name)} */\n')


# ---- The public header


def _names_of(params, words=frozenset()):
    """Returns the names of all parameters and `words`. The program, or a header that it includes, may define any of
    them as a macro, as <complex.h> defines `complex`, and silently change the declarations."""
    return sorted({p.name for p in params} | {'stream', 'exec', 'node'} | words)


def _without_macros(names, text):
    """Returns declarations wrapped in directives that hide macros with these names."""
    saved = ''.join(f'#pragma push_macro("{name}")\n#undef {name}\n' for name in names)
    restored = ''.join(f'#pragma pop_macro("{name}")\n' for name in names)
    return (f'/* This header sets aside macros that have the names of its parameters. */\n{saved}\n'
            f'{text}\n{restored}')


def _names(instance, leading=''):
    return ', '.join(([leading] if leading else []) + [p.name for p in instance.arguments])


def _declare_function(before, function, instance, leading='', after=''):
    """Returns a function's declaration with parameters folded below one another."""
    head = f'{before}{function}('
    return fold(f'{head}{parameter_list(instance, leading)}){after}\n', len(head))


def _emit_prototypes(function, instance):
    return (_declare_function('CF_CHECKED int ', function, instance, after=';') +
            _declare_function('CF_CHECKED int ', f'{function}_async', instance, f'cf_stream {stream_name(instance)}',
                              ';'))


def _emit_functions(kernel, prefix):
    text = comment(kernel.doc)
    if kernel.is_template and list_chosen(find_dispatch(kernel)):
        text += f'/* In C11 and C++ the types of a call of {prefix}_{kernel.name}() choose one of these functions. */\n'
    for instance in kernel.instances:
        text += _emit_prototypes(f'{prefix}_{instance.name}', instance)
        if instance.has_update:
            text += _declare_function('CF_CHECKED int ', f'{prefix}_{instance.name}_update', instance,
                                      update_parameters(instance), ';')
    return text


def _with_own_words(kernel, prefix):
    """Renames the kernel's parameters if a type-generic macro with parameters of these names would also replace its
    types or functions."""
    words = {w for i in kernel.instances for p in i.arguments for w in re.findall(r'\w+', p.type.c)}
    words |= {f'{prefix}_{i.name}{suffix}' for i in kernel.instances for suffix in ('', '_async')}

    def renamed(param):
        return replace(param, name=f'{param.name}_') if param.name in words else param
    return replace(kernel, instances=tuple(replace(i, params=tuple(map(renamed, i.params)))
                                           for i in kernel.instances))


def _emit_generic(declared, prefix):
    kernel = _with_own_words(declared, prefix)
    tree, first = find_dispatch(kernel), kernel.instances[0]
    text = ''
    for suffix, leading in (('', ''), ('_async', stream_name(first))):
        names = _names(first, leading)
        text += fold(f'#define {prefix}_{kernel.name}{suffix}({names})', 4, ' \\') + ' \\\n'
        function = f'{prefix}_{kernel.name}{suffix}'
        wanted = _wrong_types_text(find_dispatch(declared), declared, function)
        fits = ' && '.join([_fits_instance(tree, kernel),
                            *(f'CF__SIZED({p.name}, {p.type.c})' for p in _fixed_pointers(tree, kernel))])
        needs = [(fits, f'{c_string(wanted)} CF__ADVICE')]
        texts = _several_text(list_several(tree), prefix, suffix, function), _null_text(kernel, prefix, suffix)
        for is_null, problem in enumerate(texts):
            condition = _is_not_several(tree, kernel, bool(is_null))
            if condition != '1':
                needs.append((condition, c_string(problem)))
        for condition, problem in needs:
            text += fold(f'    CF__FITTING({condition}, {problem},', 16, ' \\') + ' \\\n'
        text += _emit_selection(tree, kernel, prefix, suffix, 4).replace('\n', ' \\\n') + ')' * len(needs) + ' \\\n'
        text += fold(f'    ({", ".join(f"({n})" for n in names.split(", "))})', 5, ' \\') + '\n'
    return text


def _list_pointers(numbers, kernel):
    return [kernel.instances[0].arguments[n].name for n in numbers]


def _fits_instance(tree, kernel):
    """Returns an expression that is 1 if the pointer types of a call match an instance."""
    return _group_fits(_list_pointers(tree.numbers, kernel), tree, kernel) if isinstance(tree, Choice) else '1'


def _group_fits(names, tree, kernel):
    """Returns an expression that is 1 if pointers of one group match an instance. The first typed pointer decides."""
    rows = []
    for base, subtree in tree.branches:
        conditions = [f'CF__POINTS({name}, {base})' for name in names[1:]]
        found = _fits_instance(subtree, kernel)
        rows.append(f'{base}: {" && ".join(conditions + [found] * (found != "1")) or 1}')
    untyped = _group_fits(names[1:], tree, kernel) if len(names) > 1 else _fits_instance(tree.untyped, kernel)
    return f'_Generic(CF__ELEMENT(({names[0]})), {", ".join(rows)}, struct cf_untyped: {untyped}, default: 0)'


def _is_not_several(tree, kernel, is_null):
    """Returns an expression that is 0 only if the types of a call match several instances, with or without null
    pointers. Types that match no instance, and pointers to void, are reported by other errors."""
    if not isinstance(tree, Choice):
        return '0' if isinstance(tree, Several) and tree.is_null == is_null else '1'
    return _group_is_not_several(_list_pointers(tree.numbers, kernel), tree, kernel, is_null)


def _group_is_not_several(names, tree, kernel, is_null):
    rows = []
    for base, subtree in tree.branches:
        found = _is_not_several(subtree, kernel, is_null)
        misfits = [f'!CF__POINTS({name}, {base})' for name in names[1:]]
        if found != '1':
            rows.append(f'{base}: {" || ".join(misfits + [found] * (found != "0")) or 0}')
    untyped = (_group_is_not_several(names[1:], tree, kernel, is_null) if len(names) > 1 else
               _is_not_several(tree.untyped, kernel, is_null))
    if untyped != '1':
        rows.append(f'struct cf_untyped: CF__IF_NULL({names[0]}, {untyped}, 1)')
    return f'_Generic(CF__ELEMENT(({names[0]})), {", ".join([*rows, "default: 1"])})' if rows else '1'


def _group_pointers(tree, kernel):
    """Returns groups of pointers with equal types that determine the instance: {names: {type: None}}."""
    groups = {}

    def visit(tree):
        if isinstance(tree, Choice):
            types = groups.setdefault(tuple(_list_pointers(tree.numbers, kernel)), {})
            for base, subtree in tree.branches:
                types[base] = None
                visit(subtree)
    visit(tree)
    return groups


def _fixed_pointers(tree, kernel):
    """Returns pointers to numbers with the same type in all instances. C only warns of pointers to other types, and
    memory with another element size would be misread."""
    chosen = {name for names in _group_pointers(tree, kernel) for name in names}
    return [p for number, p in enumerate(kernel.instances[0].arguments)
            if p.pointer and p.name not in chosen and p.type.kind in ('integer', 'float', 'coded') and
            all(i.arguments[number].type.c == p.type.c for i in kernel.instances)]


def _several_text(several, prefix, suffix, function):
    """Returns the error text for a call whose types fit several instances."""
    listed = '; '.join(' or '.join(f'{prefix}_{i.name}{suffix}' for i in leaf.instances) for leaf in several)
    return f'{function}: several instances have these element types; call one by its own name: {listed}'


def _null_text(kernel, prefix, suffix):
    """Returns the error text for a call with null pointers that fits several instances."""
    listed = ', '.join(f'{prefix}_{i.name}{suffix}' for i in kernel.instances)
    return (f'{prefix}_{kernel.name}{suffix}: NULL has no element type, and the other pointers fit several instances; '
            f'cast NULL, or call one by its own name: {listed}')


def _wrong_types_text(tree, kernel, function):
    """Returns the error text for wrong types."""
    groups = [*_group_pointers(tree, kernel).items(), *(((p.name,), [p.type.c]) for p in _fixed_pointers(tree, kernel))]
    return f'{function}: no instance has these element types; ' + '; '.join(
        f'{" and ".join(names)}{" alike" if len(names) > 1 else ""}: {" or ".join(types)}' for names, types in groups)


def _emit_selection(tree, kernel, prefix, suffix, indent):
    """Emits the _Generic selections of a tree. Each has a default, since branches that are not chosen are compiled,
    too."""
    if isinstance(tree, Several):
        return f'{" " * indent}cf_several_instances_take_these_types'
    if not isinstance(tree, Choice):
        return f'{" " * indent}{prefix}_{tree.name}{suffix}'
    pad = ' ' * (indent + 4)
    names = _list_pointers(tree.numbers, kernel)
    pointer = ' : '.join(f'1 ? ({n})' for n in names[:-1]) + (' : ' if len(names) > 1 else '') + f'({names[-1]})'
    lines = []
    for base, subtree in tree.branches:
        lines.append(f'{pad}{base}: {_emit_selection(subtree, kernel, prefix, suffix, indent + 4).lstrip()}')
    untyped = _emit_selection(tree.untyped, kernel, prefix, suffix, indent + 8).lstrip()
    for name in reversed(names):
        untyped = f'CF__IF_NULL({name}, {untyped}, cf_cast_the_pointers_to_their_element_type)'
    lines.append(f'{pad}struct cf_untyped: {untyped}')
    lines.append(f'{pad}default: cf_no_instance_takes_these_types')
    return f'{" " * indent}_Generic(CF__ELEMENT({pointer}),\n' + ',\n'.join(lines) + ')'


def _emit_refusal(kernel, prefix):
    """Emits the macros of C99, which has no _Generic."""
    text = ''
    for suffix in ('', '_async'):
        function = f'{prefix}_{kernel.name}{suffix}'
        listed = ', '.join(f'{prefix}_{i.name}{suffix}' for i in kernel.instances)
        problem = (f'{function}: types choose an instance in C11 and C++ alone; in C99 call one by its own name: '
                   f'{listed}')
        text += fold(f'#define {function}(...) CF__NEEDS_C11({c_string(problem)})', 4, ' \\') + '\n'
    return text


def overload_template(names):
    """Returns the head of a C++ overload that stands for several instances. All overloads are templates, so that a null
    pointer prefers none; the parameter is named after the instances, since compilers list it with the candidates."""
    return f'template <typename CF__{"_or_".join(names)} = void> '


def overload_refusal(names, problem):
    """Returns the assertion in the body of an overload that makes each call fail to compile."""
    head = f'    static_assert(sizeof(CF__{"_or_".join(names)} *) == 0, '
    return fold(f'{head}{c_string(problem)});\n', 18)


def _emit_overloads(kernel, prefix):
    """Emits the overloads. Instances with the same types share one overload, which refuses every call."""
    several = list_several(find_dispatch(kernel))
    unclear = [i for leaf in several for i in leaf.instances]
    text = ''
    for leaf in several:
        instance = leaf.instances[0]
        for suffix, leading in (('', ''), ('_async', stream_name(instance))):
            function = f'{prefix}_{kernel.name}{suffix}'
            listed = [f'{prefix}_{i.name}{suffix}' for i in leaf.instances]
            text += _declare_function(f'{overload_template(listed)}int ', function, instance,
                                      f'cf_stream {leading}' if leading else '')
            text += f'{{\n{overload_refusal(listed, _several_text([leaf], prefix, suffix, function))}'
            text += fold(''.join(f'    (void){n};\n' for n in _names(instance, leading).split(', ')) +
                         '    return CF_EINVAL;\n}\n', 8)
    for instance in kernel.instances:
        if instance in unclear:
            continue
        for suffix, leading in (('', ''), ('_async', stream_name(instance))):
            called = f'{prefix}_{instance.name}{suffix}'
            template = overload_template([called]) * bool(several)
            text += _declare_function(f'{template}CF_CHECKED inline int ', f'{prefix}_{kernel.name}{suffix}', instance,
                                      f'cf_stream {leading}' if leading else '')
            text += fold(f'{{\n    return {called}({_names(instance, leading)});\n}}\n', 8)
    return text


# ---- Setters of __constant__ data


def _emit_setters(symbol, prefix):
    function, declared = setter_name(prefix, symbol), setter_parameter(symbol)
    return (comment(symbol.doc) +
            fold(f'CF_CHECKED int {function}({declared});\n', 8) +
            fold(f'CF_CHECKED int {function}_async(cf_stream {setter_stream_name(symbol)}, {declared});\n', 8))
