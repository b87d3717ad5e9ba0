"""instead.py - instead(operation: condition): kernels in whose place a GPU runs an operation, in calls of which that holds."""

from dataclasses import replace

from diagnostics import closest


def resolve(files, diagnostics):
    """The files, with the operations that stand for instances of kernels: those of the same template arguments' tag. The
    other instances stay kernels alone."""
    operations = {k.name: {i.name: i for i in k.instances} for f in files for k in f.kernels if k.is_operation}
    before = diagnostics.count
    for kernel in (k for f in files for k in f.kernels if k.instances[0].instead):
        _check(kernel, operations, diagnostics)
    if diagnostics.count != before:
        return files
    return [replace(f, kernels=tuple(_resolved(k, operations) for k in f.kernels)) for f in files]


def _resolved(kernel, operations):
    if not kernel.instances[0].instead:
        return kernel
    return replace(kernel, instances=tuple(_with(i, _operation(kernel, i, operations)) for i in kernel.instances))


def _with(instance, operation):
    instead = replace(instance.instead, name=operation.name) if operation else None
    return replace(instance, instead=instead, variants=tuple(replace(v, instead=instead) for v in instance.variants))


def _operation(kernel, instance, operations):
    """The operation that stands for an instance; None where there is none."""
    name = instance.instead.use.text
    return operations[name].get(f'{name}{instance.name[len(kernel.name):]}')


def _check(kernel, operations, diagnostics):
    use = kernel.instances[0].instead.use
    if use.text not in operations:
        near = closest(use.text, operations)
        diagnostics.error(use.location, f"'{use.text}' is no operation of these files" + (
            f"; did you mean '{near}'?" if near else '; instead takes one that #pragma cf operation declares'))
        return
    pairs = [(i, _operation(kernel, i, operations)) for i in kernel.instances]
    pairs = [(i, o) for i, o in pairs if o]
    if not pairs:
        diagnostics.error(use.location, f'no instance of {use.text} has the tag of one of {kernel.name}: there is no '
                                        f'{use.text}{kernel.instances[0].name[len(kernel.name):]}')
    for instance, operation in pairs[:1]:
        problem = _difference(kernel, instance, operation)
        if problem:
            diagnostics.error(use.location, problem)


def _difference(kernel, instance, operation):
    """What keeps a launch's arguments from being the operation's; None where nothing does."""
    if len(instance.arguments) != len(instance.params):
        return f'{kernel.name} has scratch memory, of which {operation.name} would have none; instead takes kernels without'
    rest = operation.params[len(instance.params):]
    if len(operation.params) < len(instance.params) or any(p.direction != 'CF_SCRATCH' for p in rest):
        return (f'{operation.name} has other parameters than {instance.name}; it takes the same in the same order, and its '
                'scratch memory behind them')
    for own, other in zip(instance.params, operation.params):
        if (own.ctype, own.direction) != (other.ctype, other.direction):
            return (f'{operation.name} has {_described(other)} where {instance.name} has {_described(own)}; it takes the '
                    'same in the same order, and its scratch memory behind them')
    return None


def _described(param):
    directions = {'CF_IN': 'in', 'CF_OUT': 'out', 'CF_INOUT': 'inout', 'CF_SCRATCH': 'scratch'}
    clause = directions.get(param.direction)
    name = f'{param.ctype}{"" if param.ctype.endswith("*") else " "}{param.name}'
    return f'{name} in {clause}(...)' if clause else name
