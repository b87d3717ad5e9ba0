"""instead.py - instead(operation: condition): kernels in whose place a GPU runs an operation, in calls of which that holds."""

from dataclasses import replace

from clauses import DIRECTIONS
from diagnostics import closest


def resolve(files, diagnostics):
    """The files, with the operations that stand for instances of kernels: those of the same template arguments' tag. The
    other instances stay kernels alone."""
    operations = {k.name: {i.name: i for i in k.instances} for f in files for k in f.kernels if k.is_operation}
    before = diagnostics.count
    for kernel in (k for f in files for k in f.kernels if k.instances[0].instead):
        # One that is wrong is not among the operations, and was told.
        if kernel.instances[0].instead.use.text in operations or not before:
            _check(kernel, operations, diagnostics)
    if diagnostics.count:
        return files
    return [replace(f, kernels=tuple(_resolved(k, operations) for k in f.kernels)) for f in files]


def _resolved(kernel, operations):
    if not kernel.instances[0].instead:
        return kernel
    return replace(kernel, instances=tuple(_with(i, _operation(kernel, i, operations)) for i in kernel.instances))


def _with(instance, operation):
    instead = replace(instance.instead, name=operation.name) if operation else None
    return replace(instance, instead=instead, variants=tuple(_with(v, operation) for v in instance.variants))


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
    problem = next(filter(None, (_difference(kernel, i, o) for i, o in pairs)), None)
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
    problems = (_difference_of(n, instance, operation) for n in range(len(instance.params)))
    return next(filter(None, problems), None) or _check_beside(instance, operation)


def _difference_of(number, instance, operation):
    """The same of one parameter."""
    own, other = instance.params[number], operation.params[number]
    if (own.ctype, own.direction) != (other.ctype, other.direction):
        return (f'{operation.name} has {_described(other)} where {instance.name} has {_described(own)}; it takes the '
                'same in the same order, and its scratch memory behind them')
    if _sections(own) != _sections(other):
        return (f'{operation.name} has another section of {other.name} than {instance.name} has of {own.name}; calls look at '
                'that of the kernel, and the operation takes the same')
    if not own.is_restrict and (other.is_restrict or own.in_place != other.in_place):
        return (f'{operation.name} keeps {other.name} apart from others, by __restrict__ or inplace(...), where '
                f'{instance.name} does not so; calls look at what the kernel says, and the operation takes the same')
    if _zeros(instance, number) != _zeros(operation, number):
        return (f'{own.name} is in zero(...) of one of {instance.name} and {operation.name}, and not so of the other, which '
                'has to say the same')
    return None


def _check_beside(instance, operation):
    """A check of the operation's that is none of the kernel's; None where there is none."""
    known = [_essence(c) for c in instance.checks]
    beside = next((c for c in operation.checks if _essence(c) not in known), None)
    return beside and (f'{operation.name} checks {beside.text}, which {instance.name} does not; calls look at the checks of the '
                       'kernel alone, so write it there, or as part of the condition')


def _ops(expression):
    return expression.ops if expression else None


def _sections(param):
    return [(_ops(d.extent), _ops(d.lower), _ops(d.pitch)) for d in param.dims]


def _zeros(instance, number):
    return [(_ops(z.extent), _ops(z.lower)) for z in instance.zeros if z.array == number]


def _essence(check):
    """What a check asks, but for how it is written."""
    return replace(check, text='', condition=_ops(check.condition), lower=_ops(check.lower), upper=_ops(check.upper))


def _described(param):
    clause = next((name for name, direction in DIRECTIONS.items() if direction == param.direction), None)
    return f'{param.declaration} in {clause}(...)' if clause else param.declaration
