"""Operations: entry points that enqueue several launches through a C function. Checks their declarations and looks up
the kernels they use."""

from dataclasses import replace

from base.bounds import MAX_NESTED
from base.diagnostics import closest
from tokens.lexer import TokenError

_SPECIFIERS = ('static', 'inline', '__device__', '__host__', 'constexpr', 'consteval')


def check_operation(token, declaration):
    """Raises TokenError if no valid operation is declared below #pragma cf operation at `token`."""
    if declaration is None or declaration.function is None:
        raise TokenError(declaration.head[0] if declaration else token,
                         'expected the declaration of a function below #pragma cf operation')
    name = declaration.head[declaration.function]
    if declaration.has('__global__'):
        raise TokenError(name, f'{name.text} is a kernel; write #pragma cf kernel above it, and #pragma cf operation '
                               'above the declaration of a function that enqueues kernels')
    if declaration.body is not None:
        raise TokenError(name, f'{name.text} has a body; declare it alone, with a semicolon: a C file defines the '
                               'function that enqueues the kernels')
    wrong = next((t for t in declaration.head if t.text in _SPECIFIERS), None)
    if wrong:
        raise TokenError(wrong, f"an operation is a function of C; leave '{wrong.text}' out")


class _Bundled:
    """A bundled entry point of the manifest, named like its C function."""

    def __init__(self, entry):
        self.name, self.family = f'cf_{entry["name"]}', f'cf_{entry["family"]}'
        self.is_internal, self.is_closed = entry.get('internal', False), entry['closed']
        self.host = None if entry['host'] == 'none' else entry['host']
        self.uses = tuple(f'cf_{name}' for name in entry.get('uses', ()))


def resolve_operations(files, prefix, manifest, diagnostics):
    """Returns the files with the entry points that their operations use filled in. An entry point may be in any file or
    bundled; the function `manifest` returns the bundled ones."""
    operations = [k for f in files for k in f.kernels if k.is_operation]
    if not operations:
        return files
    uses = [u for k in operations for i in k.instances for u in i.uses]
    is_bundled = prefix != 'cf' and any(u.text.startswith('cf_') for u in uses)
    bundled = {b.name: b for b in map(_Bundled, manifest() if is_bundled else ())}
    families = {}       # name of a family: its instances, which may be in several files
    for kernel in (k for f in files for k in f.kernels):
        families.setdefault(kernel.name, []).extend(i.name for i in kernel.instances)
    if is_bundled:      # a name with cf_ in uses(...) means a bundled kernel
        families = {name: found for name, found in families.items() if not name.startswith('cf_')}
    for kernel in bundled.values():
        if not kernel.is_internal:
            families.setdefault(kernel.family, []).append(kernel.name)
    instances = {**{i.name: i for f in files for i in f.instances}, **bundled}
    finder = _Finder(families, prefix, diagnostics)
    before = diagnostics.count
    named = {b.name: b.uses for b in bundled.values() if b.uses}
    named.update({i.name: finder.named(k, i) for k in operations for i in k.instances})
    if diagnostics.count != before:
        return files
    for kernel in operations:
        _check_nested(kernel, named, diagnostics)
    if diagnostics.count != before:
        return files
    judge = _Judge(instances, named)
    return [replace(f, kernels=tuple(judge.kernel(k) for k in f.kernels)) for f in files]


class _Finder:
    """Looks up names in uses(...)."""

    def __init__(self, families, prefix, diagnostics):
        self._families, self._names = families, {name for found in families.values() for name in found}
        self._prefix, self._diagnostics = prefix, diagnostics

    def named(self, kernel, instance):
        """Returns the entry points that an operation's instance uses; bundled entry points begin with cf_."""
        found = []
        for use in instance.uses:
            names = self._find_used(use.text, instance.name[len(kernel.name):])
            if names is None:
                self._report_unknown(use)
            found += [n for n in names or () if n not in found]
        return tuple(found)

    def _find_used(self, name, suffix):
        family = self._families.get(name)
        if family:
            same = f'{name}{suffix}'
            return [same] if same in family else family
        return [name] if name in self._names else None

    def _report_unknown(self, use):
        near = closest(use.text, [*self._families, *sorted(self._names)])
        hint = f"did you mean '{near}'?" if near else (
            'name kernels of these files, or bundled ones as C programs do, as in uses(cf_sum_f32)')
        text = f"'{use.text}' is no kernel; {hint}"
        if self._prefix != 'cf' and use.text.startswith(f'{self._prefix}_') and self._find_used(
                use.text[len(self._prefix) + 1:], ''):
            text = f"'{use.text}' is named without its prefix in uses(...): {use.text[len(self._prefix) + 1:]}"
        self._diagnostics.error(use.location, text)


def _check_nested(kernel, named, diagnostics):
    """Checks that operations nest without a cycle and not too deep."""
    def deepest(name, above):
        """Returns the nesting depth; None if an operation uses itself."""
        if name in above:
            return None
        depths = [deepest(n, (*above, name)) for n in named[name] if n in named]
        return None if None in depths else 1 + max(depths, default=0)

    depths = [deepest(i.name, ()) for i in kernel.instances]
    if None in depths:
        diagnostics.error(kernel.location, f'what {kernel.name} uses leads back to an operation that uses it')
    elif max(depths) > MAX_NESTED:
        diagnostics.error(kernel.location, f'{kernel.name} has operations within operations, {max(depths)} deep; at '
                                           f'most {MAX_NESTED} are taken')


class _Judge:
    """Derives properties of an operation from the kernels it uses."""

    def __init__(self, instances, named):
        self._instances, self._named = instances, named

    def kernel(self, kernel):
        if not kernel.is_operation:
            return kernel
        return replace(kernel, instances=tuple(
            replace(i, used=self._named[i.name], is_closed=self._holds_for_all(i.name, lambda k: k.is_closed),
                    is_hosted=self._holds_for_all(i.name, lambda k: k.host is not None)) for i in kernel.instances))

    def _holds_for_all(self, name, holds):
        """True if the property holds for all kernels that are launched."""
        if name in self._named:
            return all(self._holds_for_all(n, holds) for n in self._named[name])
        return holds(self._instances[name])
