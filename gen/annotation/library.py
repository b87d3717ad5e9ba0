"""Checks all kernel files of one library: each function is defined once, each type has one definition, and each
constant has one copy."""

from dataclasses import replace

from annotation.dispatch import find_dispatch


def _public_names(file):
    """Yields (location, names) for the names that a file defines, without the prefix. The internal names of variants
    are included."""
    for kernel in file.kernels:
        names = [i.name for i in kernel.instances] + ([kernel.name] if find_dispatch(kernel) else [])
        names += [f'{i.name}_by_address' for i in kernel.instances if any(p.is_by_address for p in i.arguments)]
        variants = [v.name for i in kernel.instances for v in i.variants]
        updates = [f'{i.name}_update' for i in kernel.instances if i.has_update and not kernel.is_internal]
        yield kernel.location, names + [f'{n}_async' for n in names] + updates + variants
    for symbol in file.symbols:
        yield symbol.location, [f'set_{symbol.name}', f'set_{symbol.name}_async']


def check_functions(files, prefix, reserved, diagnostics):
    """Checks that every C function is defined once and has no `reserved` name. Names are without the prefix."""
    seen = {}
    for file in files:
        for location, names in _public_names(file):
            own = sorted(reserved.intersection(names))
            if own:
                diagnostics.error(location, f"{prefix}_{own[0]} is a name of the library's own; rename the kernel")
            taken = sorted({n for n in names if n in seen or names.count(n) > 1})
            if taken:
                other = seen.get(taken[0], location)
                why = f'is also a function of the declaration at {other.file}:{other.line}; rename one'
                if other.file != location.file:
                    why += (', or give the files two prefixes: compile them in two calls of cfcc or '
                            'cuferry_add_kernels()')
                if other == location and names.count(taken[0]) == 1:
                    why = 'would be defined twice: several kernel files include this declaration; annotate it in one'
                diagnostics.error(location, f'{prefix}_{taken[0]}() {why}')
            for name in names:
                seen.setdefault(name, location)


def share_types(files):
    """Drops the definition of each type whose own header C programs see through the include(...) of any file."""
    shared = {}
    for file in files:
        for header in file.shared:
            shared.setdefault(header, file.includes)
    for file in files:
        foreign = [t for t in file.types if t.location.file in shared and '::' not in t.cxx and not t.opaque]
        includes = dict.fromkeys(file.includes + tuple(h for t in foreign for h in shared[t.location.file]))
        yield replace(file, types=tuple(t for t in file.types if t not in foreign), includes=tuple(includes))


def check_types(files, diagnostics):
    """Checks that no two types have the same name in C."""
    seen = {}
    for definition in (t for f in files for t in f.types):
        for name in definition.names:
            other = seen.setdefault(name, definition)
            if (other.cxx, other.text, other.fields) != (definition.cxx, definition.text, definition.fields):
                diagnostics.error(definition.location, f'{name} is another type at {other.location.file}:'
                                  f'{other.location.line}, and C programs see both in one header; rename one')


def check_devices(files, diagnostics):
    """Checks that each device function that other files call is defined once."""
    seen, of_numba = {}, {}
    for function in (d for f in files for d in f.devices if d.is_defined):
        namesake = of_numba.setdefault(function.name.split('::')[-1], function) if function.numba else function
        if namesake is not function:
            diagnostics.error(function.location, f'{namesake.name} at {namesake.location.file}:'
                              f'{namesake.location.line} is for Numba, too, which has one function of a name; rename '
                              'one')
        other = seen.setdefault((function.name, function.parameters), function)
        if other.location == function.location and other is not function:
            diagnostics.error(function.location, f'{function.name} would be defined twice: several kernel files '
                              'include this definition; leave a declaration here, and define it in one kernel file')
        elif other is not function:
            diagnostics.error(function.location, f'{function.name} is already defined at {other.location.file}:'
                              f'{other.location.line}; rename one, or leave #pragma cf device out and make it static')


def _owners(function, overloads):
    """Returns the files that may define a function. If no overload spells the types of its parameters in the same way,
    it may be any overload."""
    return [overloads[function.parameters]] if function.parameters in overloads else overloads.values()


def join_images(files):
    """Lets files that call device functions of one another share the image of the first of these files."""
    image_of = {file.stem: file.stem for file in files}
    owners = {}
    for file, function in ((f, d) for f in files for d in f.devices if d.is_defined):
        owners.setdefault(function.name, {}).setdefault(function.parameters, file.stem)
    for file in files:
        for owner in (o for d in file.devices if not d.is_defined for o in _owners(d, owners.get(d.name, {}))):
            one, other = sorted((image_of[file.stem], image_of[owner]), key=list(image_of).index)
            image_of = {stem: one if of == other else of for stem, of in image_of.items()}
    shared = [of for of in image_of.values() if list(image_of.values()).count(of) > 1]
    return [replace(f, image_of=image_of[f.stem]) if image_of[f.stem] in shared else f for f in files]


def drop_copies(files):
    """Removes setters of data that a header declares: each file that includes the header has its own copy of the
    data."""
    places = [(s.location, s.name) for f in files for s in f.symbols]
    for file in files:
        copies = [s for s in file.symbols if places.count((s.location, s.name)) > 1]
        notes = tuple(f'{s.location.file}:{s.location.line}: {s.name} is in several kernel files, each of which has a '
                      'copy of its own; declare it in one' for s in copies)
        yield replace(file, symbols=tuple(s for s in file.symbols if s not in copies), notes=file.notes + notes)
