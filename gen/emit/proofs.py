"""Emits assertions by which compilers check facts that the generator has read."""


def assert_copyable(instances):
    """Emits a compile error for types that cannot be copied as bytes."""
    seen = {}
    for instance in instances:
        for param in instance.params:
            if not param.pointer and param.type.kind == 'struct':
                seen.setdefault(param.type.cxx, param.name)
    return ''.join(f'static_assert(__is_trivially_copyable({cxx}), "{name} is not trivially copyable, so it cannot be '
                   'passed from C");\n' for cxx, name in seen.items())


def assert_values(file):
    """Emits compile errors for constants whose values differ from those that the generator has read."""
    text = ''
    for scope, name, value in sorted(file.proofs):
        scope = [s for s in scope if s]
        # Enumerators of an enum class do not convert to numbers.
        number = f'(long long){name}' if '::' in name else name
        text += (''.join(f'namespace {s} {{ ' for s in scope) + f'static_assert({number} == {value}, "cfgen reads '
                                                                f'{value}");' +
                 ' }' * len(scope) + '\n')
    return text
