"""Assertions by which the compilers check what the generator has read."""


def assert_copyable(file):
    """Refuses, in the compiler's voice, what cannot be passed as bytes."""
    seen = {}
    for instance in file.instances:
        for param in instance.params:
            if not param.pointer and param.type.kind == 'struct':
                seen.setdefault(param.type.cxx, param.name)
    return ''.join(f'static_assert(__is_trivially_copyable({cxx}), "{name} is not trivially copyable, so it cannot be '
                   'passed from C");\n' for cxx, name in seen.items())


def assert_values(file):
    """Refuses constants of the file that have other values than those that the generator has read."""
    text = ''
    for scope, name, value in sorted(file.proofs):
        scope = [s for s in scope if s]
        # Enumerators of an enum class are no numbers.
        number = f'(long long){name}' if '::' in name else name
        text += (''.join(f'namespace {s} {{ ' for s in scope) + f'static_assert({number} == {value}, "cfgen reads '
                                                                f'{value}");' +
                 ' }' * len(scope) + '\n')
    return text
