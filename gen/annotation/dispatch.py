"""Chooses an instance of a kernel by the pointer types of a call."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Several:
    """Instances whose pointers have the same types: a call has to name one of them."""
    instances: tuple


def find_dispatch(kernel):
    """Returns nested (parameter numbers, [(element type, subtree)]) with an instance or Several at the leaves.
    Parameters that vary together decide together, so that one of them may be NULL. None for what has no type-generic
    form."""
    return _choose_branch(kernel.instances) if kernel.is_template and not kernel.is_internal else None


def list_several(tree):
    """Returns the leaves at which types do not decide."""
    if isinstance(tree, tuple):
        return [several for _, subtree in tree[1] for several in list_several(subtree)]
    return [tree] if isinstance(tree, Several) else []


def _type_keys(instances, number):
    return tuple(i.arguments[number].type.key for i in instances)


def _choose_branch(instances):
    if len(instances) == 1:
        return instances[0]
    first = instances[0]
    for number, parameter in enumerate(first.arguments):
        keys = _type_keys(instances, number)
        if not parameter.pointer or len(set(keys)) == 1:
            continue
        together = [n for n, p in enumerate(first.arguments) if p.pointer and _type_keys(instances, n) == keys]
        groups = {}
        for instance, key in zip(instances, keys):
            groups.setdefault(key, []).append(instance)
        return together, [(group[0].arguments[number].type.c, _choose_branch(group)) for group in groups.values()]
    return Several(tuple(instances))
