"""Emits the descriptors of one family as constant tables. Fields and rows that all of them share are written once."""

from base.text import c_string, fold, WIDTH
from emit.names import cpu_body_name, cpu_bytes_name, descriptor_name
from emit.tables import define_macro, find_common, flow_fields, without
from expr.cxxtypes import ENCODED

_LINE = WIDTH - len('        {},')      # width of a row of a table


def list_described(instance):
    """Returns the variants that have descriptors. For a tuned kernel the last one is the instance itself, which equals
    the first variant and stands for the variant that the library chooses."""
    return instance.all_variants + ((instance,) if instance.variants else ())


def list_called_checks(instance):
    """Returns the checks that calls perform; distinct elements are the caller's responsibility."""
    return [c for c in instance.checks if c.order != 'distinct']


def scan_name(check, instance):
    """Returns the descriptor of the kernel that finds elements out of range or out of order; see kernels/outside.cu."""
    param = instance.params[check.array]
    if check.order:
        return f'cf__k_descending_{param.type.short}'
    if check.member:
        return f'cf__k_outside_rows_{check.member_type.short}'
    return f'cf__k_outside_{"rows_" if len(param.dims) > 1 else ""}{param.type.short}'


def type_fields(ctype):
    """Returns the fields that describe a value's type."""
    size = f'sizeof({ctype.c})' if ctype.bytes is None else ctype.bytes
    align = f'_Alignof({ctype.c})' if ctype.align is None else ctype.align
    return [f'.type = {_enum_of(ctype)}', f'.lanes = {ctype.lanes}', f'.bytes = {size}', f'.align = {align}']


def doc_string(lines, indent):
    """Returns the documentation as C string literals, one for each line."""
    texts = [line + '\n' for line in lines[:-1]] + list(lines[-1:])
    return ('\n' + ' ' * indent).join(c_string(t) for t in texts)


def emit_leaves(leaves):
    """Returns the table of the values within each struct."""
    text = ''
    for c, values in leaves:
        rows = [_emit_leaf(c, leaf) for leaf in values]
        text += f'\nstatic const cf_member {leaves_name(c)}[] = {_emit_rows(rows + [[".path = NULL"]], 4)};\n'
    return text


def leaves_name(c):
    """Returns the name of a struct's table."""
    return f'cf__members_of_{c.split()[-1]}'


def _emit_leaf(c, leaf):
    place = leaf.path.replace('[]', '[0]')
    fields = [f'.path = {c_string(leaf.path)}', f'.type = {_enum_of(leaf.type)}', f'.lanes = {leaf.type.lanes}',
              f'CF_PLACE({c}, {place})']
    parts = leaf.path.split('[]')
    if len(parts) > 1:
        strides = ', '.join(f'CF_STRIDE({c}, {"[0]".join(parts[:n])})' for n in range(1, len(parts)))
        fields += [f'.ndims = {len(parts) - 1}', f'.strides = (const cf_stride[]){{{strides}}}']
    return fields


def _enum_of(ctype):
    return 'CF_INTEGER_TYPE(char)' if ctype.enum == 'CF_CHAR' else ctype.enum or 'CF_OPAQUE'


def emit_family(kernel, prefix, tables, sizes, uses, tuned, structs, images):
    """Returns the shared parts of a family's descriptors, and a map from variants' names to descriptors. `sizes` and
    `uses`: map variants to compiled launch rules and lists of kernels. `tuned`: maps functions to lines of a tuning
    file. `structs`: C names of structs with a table of leaves. `images`: names of adopted images."""
    return _Family(kernel, prefix, tables, sizes, uses, tuned, structs, images).emit()


class _Family:
    def __init__(self, kernel, prefix, tables, sizes, uses, tuned, structs, images):
        self._kernel, self._prefix, self._tables = kernel, prefix, tables
        self._sizes, self._uses, self._tuned, self._structs, self._images = sizes, uses, tuned, structs, images
        self._described = [(instance, variant) for instance in kernel.instances for variant in list_described(instance)]
        self._shared = ''

    def emit(self):
        docs = self._share_doc()
        params = self._share_rows('param', [[self._emit_param(p, v) for p in v.params] for _, v in self._described],
                                  [p.name for p in self._kernel.instances[0].params])
        checks = self._share_rows('check', [[self._emit_check(n, c, v) for n, c in enumerate(list_called_checks(v))]
                                            for _, v in self._described])
        zeros = self._share_rows('zero', [[self._emit_zero(n, z, v) for n, z in enumerate(v.zeros)]
                                          for _, v in self._described])
        rows = [self._list_fields(instance, variant, docs, *own)
                for (instance, variant), *own in zip(self._described, params, checks, zeros)]
        common = find_common(rows)
        if common:
            self._shared += define_macro(f'CF__OF_{self._kernel.name}', common)
            rows = [[f'CF__OF_{self._kernel.name}', *without(row, common)] for row in rows]
        text = {}
        for (instance, variant), row in zip(self._described, rows):
            static = '' if variant is instance else 'static '
            text[variant.name] = (f'{static}const cf_kernel {descriptor_name(self._prefix, variant)} = {{\n'
                                  f'{flow_fields(row, 4)}}};\n')
        return self._tables.take_definitions() + self._shared, text

    # ---- Shared parts

    def _share_doc(self):
        doc = self._kernel.doc
        if not doc or len(self._described) == 1:
            return [f'.doc = {doc_string(doc, 11)}'] if doc else []
        name = f'cf__doc_{self._kernel.name}'
        self._shared += f'static const char {name}[] =\n    {doc_string(doc, 4)};\n'
        return [f'.doc = {name}']

    def _share_rows(self, what, tables, labels=None):
        """Returns each descriptor's table of rows; '' if it has none. Rows of several lines use a macro for their
        common fields."""
        family, names = self._kernel.name, {}
        for (_, variant), table in zip(self._described, tables):
            if tables.count(table) > 1 and table and str(table) not in names:
                names[str(table)] = f'cf__{what}s_of_{family if tables.count(table) == len(tables) else variant.name}'
        own = [table for table in tables if table and str(table) not in names]
        if len({len(table) for table in own}) == 1:
            for number in range(len(own[0])):
                common = find_common([table[number] for table in own])
                if common and max(len(', '.join(table[number])) for table in own) > _LINE:
                    name = f'CF__{what.upper()}_{family}__{labels[number] if labels else number}'
                    self._shared += define_macro(name, common)
                    for table in own:
                        table[number] = [name, *without(table[number], common)]
        for name, table in {names[str(table)]: table for table in tables if str(table) in names}.items():
            self._shared += f'static const cf_{what} {name}[] = {_emit_rows(table, 4)};\n'
        return [names.get(str(table)) or (f'(const cf_{what}[]){_emit_rows(table, 8)}' if table else '')
                for table in tables]

    # ---- Expressions

    def _emit_expr(self, expr, name):
        """Returns the initializer of an expression, '{NULL, NULL}' for none. `name`: the name of the array of its
        steps, if the array gets a name."""
        if not expr:
            return '{NULL, NULL}'
        steps = (*_list_steps(expr.tree), ('END', 0))
        return f'{{{c_string(expr.text)}, {self._tables.write_array("cf_op", steps, _emit_op, f"steps_of_{name}")}}}'

    def _emit_exprs(self, exprs, name):
        return '{' + ', '.join(self._emit_expr(e, name) for e in exprs) + '}'

    # ---- Rows

    def _emit_param(self, param, variant):
        fields = [f'.name = {c_string(param.name)}', f'.ctype = {c_string(param.ctype)}',
                  f'.direction = {param.direction}', *type_fields(param.type)]
        if param.dims:
            fields.append(f'.ndims = {len(param.dims)}')
            for field in ('extent', 'lower', 'pitch'):
                exprs = tuple(getattr(d, field) for d in param.dims)
                if any(exprs):
                    name = f'{field}s_of_{param.name}_of_{variant.name}'.replace('pitchs', 'pitches')
                    table = self._tables.write_array('cf_expr', exprs, lambda e, name=name: self._emit_expr(e, name),
                                                     name)
                    fields.append(f'.{field}{"es" if field == "pitch" else "s"} = {table}')
        fields += [f'.cpu_align = {param.cpu_align}'] * bool(param.cpu_align)
        if param.type.c in self._structs and param.direction not in ('CF_SCRATCH', 'CF_POINTER'):
            fields.append(f'.members = {leaves_name(param.type.c)}')
        return fields

    def _emit_check(self, number, check, variant):
        name = f'check_{number}_of_{variant.name}'
        fields = [f'.text = {c_string(check.text)}']
        if check.condition:
            return (fields + [f'.condition = {self._emit_expr(check.condition, name)}', '.array = -1'] +
                    ['.is_real = 1'] * check.is_real)
        fields.append(f'.array = {check.array}')
        if check.member:
            ctype, enum = variant.params[check.array].type.c, check.member_type.enum
            fields += [f'.member = {c_string("." + check.member)}', f'.type = {enum}',
                       f'.offset = CF_CHECKED_OFFSET({ctype}, {check.member}, {enum})']
        for field, bound, is_open in (('lower', check.lower, check.lower_open),
                                      ('upper', check.upper, check.upper_open)):
            if bound:
                fields.append(f'.{field} = {self._emit_expr(bound, name)}')
            if bound and is_open:
                fields.append(f'.{field}_open = 1')
        return fields + ['.is_ascending = 1'] * bool(check.order) + [f'.scan = &{scan_name(check, variant)}']

    def _emit_zero(self, number, zero, variant):
        fields = [f'.array = {zero.array}'] + ['.is_rezeroed = 1'] * zero.is_rezeroed
        return fields + [f'.{field} = {self._emit_expr(e, f"zero_{number}_of_{variant.name}")}'
                         for field, e in (('lower', zero.lower), ('extent', zero.extent)) if e]

    # ---- Fields

    def _list_fields(self, instance, variant, docs, params, checks, zeros):
        kernel, prefix = self._kernel, self._prefix
        is_choice = variant is instance and bool(instance.variants)
        code = instance.all_variants[0] if is_choice else variant
        fields = ['.version = CF_REGISTRY_VERSION', f'.name = {c_string(instance.name)}',
                  f'.family = {c_string(kernel.name)}', f'.function = {c_string(f"{prefix}_{instance.name}")}', *docs,
                  f'.file = {c_string(kernel.location.file)}', f'.line = {kernel.location.line}',
                  f'.nparams = {len(variant.params)}']
        fields += [f'.params = {params}'] * bool(params)
        fields += [f'.nadded = {len(variant.params) - len(variant.taken)}'] * (variant.taken != variant.params)
        if not kernel.is_operation:
            fields += self._emit_launch(variant)
        if checks:
            fields += [f'.nchecks = {len(list_called_checks(variant))}', f'.checks = {checks}']
        fields += [f'.{field} = {self._emit_expr(expr, f"{field}_of_{variant.name}")}'
                   for field, expr in (('bytes', variant.bytes), ('flops', variant.flops),
                                       ('tolerance', variant.tolerance)) if expr]
        if not kernel.is_operation:
            fields.append(f'.image = &{self._images[code.image]}, .entry = {c_string(code.entry)}' if code.image else
                          f'CF__IMAGE({code.name})')
        if variant.host:
            fields += [f'.cpu_body = {cpu_body_name(prefix, code)}', f'.cpu_bytes = {cpu_bytes_name(prefix, code)}']
            fields += ['.is_cpu_whole = 1'] * bool(variant.host.function)
            fields.append(f'.cpu_form = {c_string(variant.host.form)}')
        fields.append('.state = &(cf_state){NULL}')
        if variant.constants:
            constants = ', '.join(f'{{{c_string(n)}, {v}}}' for n, v in variant.constants)
            fields += [f'.nconstants = {len(variant.constants)}', f'.constants = (const cf_constant[]){{{constants}}}']
        if instance.variants:
            fields += [f'.nvariants = {len(instance.variants)}', f'.variants = cf__variants_{instance.name}']
        if variant.name in self._sizes and not is_choice:       # launches recognize a choice by its missing sizes
            fields.append(f'.sizes = {self._sizes[variant.name]}')
        fields += ['.is_bounded = 1'] * variant.is_bounded + ['.is_closed = 1'] * variant.is_closed
        fields += self._emit_flags(variant)
        if variant.cpu_grid:
            fields.append(f'.cpu_grid = {self._emit_expr(variant.cpu_grid, f"cpu_grid_of_{variant.name}")}')
        if zeros:
            fields += [f'.nzeros = {len(variant.zeros)}', f'.zeros = {zeros}']
        if variant.split is not None:
            fields.append(f'.split = {variant.split + 1}')
        lines = self._tuned.get(f'{prefix}_{instance.name}', ()) if is_choice else ()
        if lines:
            fields.append('.tuning = ' + ('\n' + ' ' * 14).join(c_string(line + '\n') for line in lines))
        if kernel.is_operation:
            fields += [f'.enqueue = cf__unpack_{variant.name}', '.runtime = cf_launch', f'.nuses = {len(variant.used)}',
                       f'.uses = {self._uses[variant.name]}']
        return fields + ['.is_internal = 1'] * kernel.is_internal

    def _emit_launch(self, variant):
        launch = variant.launch
        fields = [f'.launch.{field} = 1' for field in ('counts_blocks', 'is_cooperative', 'is_block_auto',
                                                       'passes_cluster', 'is_dependent')
                  if getattr(launch, field)]
        fields.append(f'.launch.grid = {self._emit_exprs(launch.grid, f"grid_of_{variant.name}")}')
        if launch.block:
            fields.append(f'.launch.block = {self._emit_exprs(launch.block, f"block_of_{variant.name}")}')
        if launch.max_block:
            fields.append(f'.launch.max_block = {launch.max_block}')
        if launch.cluster:
            fields.append(f'.launch.cluster = {{{", ".join(map(str, launch.cluster))}}}')
        return fields + [f'.launch.{field} = {self._emit_expr(expr, f"{field}_of_{variant.name}")}'
                         for field, expr in (('items', launch.items), ('shared', launch.shared)) if expr]

    @staticmethod
    def _emit_flags(variant):
        """Returns the fields with a flag for each parameter."""
        params, distinct = variant.params, {c.array for c in variant.checks if c.order == 'distinct'}
        lists = []
        if variant.restricts:
            lists.append(('restricts', [int(p.is_restrict) for p in params]))
        if distinct:
            lists.append(('distinct', [int(i in distinct) for i in range(len(params))]))
        if any(p.in_place for p in params):
            lists.append(('in_place', [p.in_place for p in params]))
        return [f'.{field} = (const uint8_t[]){{{", ".join(map(str, values))}}}' for field, values in lists]


def _emit_rows(rows, indent):
    pad = ' ' * indent
    return '{\n' + ''.join(fold(f'{pad}{{{", ".join(row)}}},\n', indent + 1) for row in rows) + ' ' * (indent - 4) + '}'


def _list_steps(node):
    """Returns the postfix steps of a tree; AND, OR, UNLESS and SKIP tell how many steps they skip."""
    code, *parts = node
    if code in ('CONST', 'REAL', 'PARAM', 'MEMBER'):
        return [node]
    first, *others = [_list_steps(part) for part in parts]
    if code in ('AND', 'OR'):
        return first + [(code, len(others[0]))] + others[0]
    if code == 'SELECT':
        return first + [('UNLESS', len(others[0]) + 1)] + others[0] + [('SKIP', len(others[1]))] + others[1]
    return first + sum(others, []) + [(code, 0)]


def _emit_op(op):
    code, operand = op
    if code == 'MEMBER':
        number, c, path, enum, real = operand
        member = f'(({c} *)0)->{path}'
        # The compiler determines the type.
        kind = (enum if enum in ENCODED else f'CF_NUMBER_TYPE({member})' if real else
                f'CF_INTEGER_TYPE(__typeof__({member}))')
        return f'{{CF_OP_MEMBER, CF_MEMBER({number}, {kind}, offsetof({c}, {path}))}}'
    if isinstance(operand, tuple):
        return f'{{CF_OP_{code}, sizeof({operand[1]})}}'
    if operand == -2**63:
        return f'{{CF_OP_{code}, INT64_MIN}}'
    return f'{{CF_OP_{code}, {operand}}}'
