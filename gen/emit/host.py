"""Emits the CPU bodies of one kernel file, which include the copy of its source."""

from base.text import banner, fold
from emit.cpugrid import emit_grid
from emit.names import cpu_body_name, cpu_bytes_name, cpu_data_bytes_name, cpu_data_name
from emit.proofs import emit_proofs
from expr.evaluate import evaluate_exact


def emit_cpu_bodies(file, prefix):
    # No header follows the kernel file, because its macros may have any name.
    text = [banner(file.path), f'#include "{file.stem}.host.cu"\n\n']
    seen = set()
    on_cpu = [i for i in file.instances if any(variant.host is not None for variant in i.all_variants)]
    if on_cpu:
        text.append(emit_proofs(file, on_cpu))
    for instance in file.instances:
        for variant in instance.all_variants:
            if variant.host is not None and not variant.host_of:
                text.append('\n' + _emit_body(variant, prefix, seen))
    for symbol in file.symbols:
        name, size = cpu_data_name(prefix, symbol), cpu_data_bytes_name(prefix, symbol)
        extents = ''.join(f'[{e}]' for e in symbol.extents)
        declared = f'(*const cf__data_{symbol.name}){extents}' if extents else f'*const cf__data_{symbol.name}'
        text.append(f'\nstatic {symbol.type.cxx} {declared} = &{symbol.cxx};\n'
                    f'extern "C" {{\nextern void *const {name};\nvoid *const {name} = cf__data_{symbol.name};\n'
                    f'extern const uint32_t {size};\nconst uint32_t {size} = sizeof {symbol.cxx};\n}}\n')
    return ''.join(text)


def _emit_body(instance, prefix, seen):
    # The parameters' own names could hide the kernel's name or a type's name.
    names = [f'cf__{number}' for number in range(len(instance.taken))]
    ctypes = ', '.join(p.cxx for p in instance.taken)
    function = instance.host.function or instance.kernel
    text, loop = '', instance.host.loop
    if instance.host.is_extern_c:
        if function not in seen:
            text += fold(f'extern "C" void {function}({ctypes});\n\n', 8)
        seen.add(function)
    else:
        what = 'function' if instance.host.function else 'kernel'
        sums = instance.host.sums if loop else ()
        proven = ', '.join(['CF__PARAMETER'] * (loop is not None) +
                           [f'cf__collected<{p.type.cxx}>' if number in sums else p.cxx
                            for number, p in enumerate(instance.taken)])
        text += f'/* Fails to compile unless the {what} takes exactly these types. */\n'
        text += (fold(f'typedef decltype(static_cast<void (*)({proven})>(', 8) +
                 f'\n    {function})) cf__proof_{instance.name};\n\n')
    sizes = ', '.join(f'sizeof({p.cxx})' for p in instance.params) or '0'
    table = cpu_bytes_name(prefix, instance)
    text += fold(f'extern "C" {{\nextern const uint32_t {table}[];\nconst uint32_t {table}[] = {{{sizes}}};\n}}\n', 8)
    head = 'const cf_host_launch *cf__launch, uint64_t cf__begin, uint64_t cf__end)\n{\n'
    body = cpu_body_name(prefix, instance)
    text += f'CF__FN CF__INLINE void cf__loop_{instance.name}({head}' if loop else f'extern "C" void {body}({head}'
    used = _list_used(instance)
    for number, param in enumerate(instance.params):
        if param.is_added and number not in used:
            continue
        ctype = f'{param.cxx}const' if param.pointer else f'const {param.cxx}'
        # The corresponding C type may be aligned less.
        is_class = param.type.kind in ('complex', 'struct') and not param.pointer
        read = f'cf__read<{param.cxx}>' if is_class else f'*static_cast<{ctype} *>'
        text += f'    {ctype} cf__{number} = {read}(cf__argument(cf__launch, {number}));\n'
    if instance.host.grid:
        text += fold('    const cf_host_launch cf__own =\n        cf__spread(cf__launch, &cf__begin, &cf__end, '
                     f'{emit_grid(instance.host.grid.tree)});\n    cf__launch = &cf__own;\n', 8)
    if instance.host.is_turned:
        text += '    const cf_host_launch cf__own = cf__turn(cf__launch);\n    cf__launch = &cf__own;\n'
    own = list(names)       # the arguments for the form with loops
    for number in instance.host.sums:
        text += _emit_sums(instance, number)
        own[number] = f'cf__collected_{number}'
    if loop:
        names = ['cf__index', *own]
    call = fold(f'{function}({", ".join(names)});\n', 12)
    if instance.host.function:
        return text + f'    (void)cf__begin, (void)cf__end;\n    {call}}}\n'
    run, parameter = 'cf__run_together' if instance.host.is_together else 'cf__run', ''
    if loop:
        run, parameter = f'cf__loop<{_loop_arguments(loop, instance)}>', 'CF__PARAMETER'
    has_regions = instance.host.has_regions
    how = 'CF__SELDOM' if has_regions and not loop else 'CF__INLINE'
    blocks = 'cf__first, cf__next' if has_regions else 'cf__begin, cf__end'
    run = f'{run}(cf__launch, {blocks}, [=]({parameter}) {how} {{\n        {call}    }});\n'
    text += f'    {_spell_regions(instance, run, own) if has_regions else run}}}\n'
    return text + (f'CF__BODY({body}, cf__loop_{instance.name})\n' if loop else '')


def _list_extents(param):
    """Returns the extents of an array; none if its size does not follow from them."""
    return [] if any(d.lower or d.pitch for d in param.dims) else [d.extent for d in param.dims]


def _list_used(instance):
    """Returns the numbers of the parameters that a body itself reads, besides passing them to the kernel."""
    found = [instance.host.grid] if instance.host.grid else []
    for param in instance.taken if instance.host.sums else ():
        found += _list_extents(param)
    return {value for expr in found for code, value in expr.reads() if code == 'PARAM'}


def _spell_extent(param):
    return ' * '.join(f'(uint64_t)({emit_grid(expr.tree)})' for expr in _list_extents(param))


def _emit_sums(instance, number):
    """Returns the declarations that collect the sums for an array to which the threads only add."""
    element, extent = instance.params[number].type.cxx, _spell_extent(instance.params[number]) or 'UINT64_MAX'
    others = [f'{{cf__{other}, {_spell_extent(p) or 1} * sizeof *cf__{other}}}'
              for other, p in enumerate(instance.taken)
              if p.pointer and other != number and p.type.kind not in ('void', 'pointer')] or ['{nullptr, 0}']
    return fold(f'    const cf__beside cf__beside_{number}[] = {{{", ".join(others)}}};\n    cf__sums<{element}> '
                f'cf__sums_{number}(cf__launch, cf__end - cf__begin, cf__{number}, {extent}, cf__beside_{number});\n',
                8) + \
        f'    const cf__collected<{element}> cf__collected_{number} = cf__sums_{number}.collected();\n'


def _spell_regions(instance, other, names):
    """Returns the statement that runs a kernel as regions. `other`: the statement that runs its other form."""
    front, bracket, arguments = instance.kernel.partition('<')
    scope, colons, name = front.rpartition('::')
    loop, index = ('CF__WARPS ', 'CF__WARP') if instance.host.of_warps else ('', 'cf__index')
    call = fold(f'{loop}{scope}{colons}cf__regions_{name}{bracket}{arguments}({", ".join([index, *names])});\n', 12)
    sizes = [evaluate_exact(e) or 0 for e in instance.launch.block] or [0]      # block(auto) has one unknown extent
    if instance.host.is_turned:
        sizes[:2] = sizes[1], sizes[0]
    kind = 'cf__joined_blocks' if instance.host.is_global else 'cf__single_blocks'
    return (f"cf__regions<{kind}<{', '.join(str(size) for size in (*sizes, 1, 1)[:3])}>>(\n"
            f'        cf__launch, cf__begin, cf__end, [=](uint64_t cf__first, uint64_t cf__next) CF__INLINE {{\n'
            f'        {other}    }}, [=](auto cf__blocks) CF__OF_BLOCK {{\n'
            f'        CF__EACH_BLOCK\n        {call}    }});\n')


def _loop_arguments(loop, instance):
    """Returns the template arguments of a loop."""
    launch = instance.launch
    words = ['1' if instance.host.grid or (len(launch.grid) == 1 and len(launch.block) <= 1) else '3']
    words += ['true' if flag else 'false' for flag in (loop.is_flat, loop.is_mirrored, loop.is_numeric)]
    return ', '.join(words + [f'CF__{"UPPER" if g.is_upper else "LOWER"}_{"XYZ"[g.axis]}' for g in loop.guards])
