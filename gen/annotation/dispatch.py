"""Chooses an instance of a kernel by the pointer types of a call."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Several:
    """Instances that a call has to name, because pointer types do not tell them apart: the instances have the same
    types or, if `is_null`, the call passes null pointers without a type."""
    instances: tuple
    is_null: bool


@dataclass(frozen=True)
class Choice:
    """A choice by the types of pointers that vary together, so that one of these suffices and the others may be NULL.
    `branches`: pairs of an element type and its subtree; `untyped`: the subtree if all of these pointers are NULL. A
    subtree is a Choice, an instance or Several."""
    numbers: tuple      # parameter numbers of the pointers
    branches: tuple
    untyped: object


def find_dispatch(kernel):
    """Returns the tree of choices for a template; None if the kernel has no type-generic form."""
    return _choose_branch(kernel.instances, ()) if kernel.is_template and not kernel.is_internal else None


def list_several(tree):
    """Returns all Several in a tree: the leaves at which pointer types do not determine an instance."""
    if isinstance(tree, Choice):
        return [several for _, subtree in tree.branches for several in list_several(subtree)]
    return [tree] if isinstance(tree, Several) else []


def list_chosen(tree):
    """Returns the instances that are leaves of a tree."""
    if isinstance(tree, Choice):
        return [chosen for _, subtree in tree.branches for chosen in list_chosen(subtree)]
    return [] if isinstance(tree, Several) else [tree]


def _type_keys(instances, number):
    return tuple(i.arguments[number].type.key for i in instances)


def _choose_branch(instances, nulls):
    """Returns the subtree for some instances. `nulls`: numbers of the pointers that are known to be NULL."""
    if len(instances) == 1:
        return instances[0]
    first = instances[0]
    for number, parameter in enumerate(first.arguments):
        keys = _type_keys(instances, number)
        if not parameter.pointer or number in nulls or len(set(keys)) == 1:
            continue
        together = tuple(n for n, p in enumerate(first.arguments) if p.pointer and _type_keys(instances, n) == keys)
        groups = {}
        for instance, key in zip(instances, keys):
            groups.setdefault(key, []).append(instance)
        untyped = _choose_branch(instances, (*nulls, *together))
        return Choice(together, tuple((group[0].arguments[number].type.c, _choose_branch(group, nulls))
                                      for group in groups.values()),
                      untyped if list_chosen(untyped) else Several(tuple(instances), True))
    return Several(tuple(instances), bool(nulls))
