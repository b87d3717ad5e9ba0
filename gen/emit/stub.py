"""Emits the launch stubs of one kernel file: a constant descriptor and the functions of each entry point."""

import re
import zlib
from dataclasses import replace

from base.text import banner, c_string, comment, fold, hide_macros, include, remove_macros
from emit.descriptor import (doc_string, emit_family, emit_leaves, list_called_checks, list_described, scan_name,
                             type_fields)
from emit.image import has_own_image, list_targets
from emit.names import (adopted_end_name, adopted_name, cpu_body_name, cpu_bytes_name, cpu_data_bytes_name,
                        cpu_data_name, descriptor_name, enqueuer_name, image_end_name, image_name, setter_name,
                        shared_image_name, symbol_descriptor_name)
from emit.signature import enqueuer_parameter_list, is_set_by_value, parameter_list, setter_parameter
from emit.sizes import emit_sizes
from emit.tables import flow_fields, Tables
from emit.types import emit_types

# Parameter names that may be macros of compilers or of included headers.
_MACRO = re.compile(r'linux|unix|i386|[A-Z][A-Z0-9_]+')


def emit_stub(file, prefix, tuned=None):
    """Returns the stub. `tuned`: maps functions to lines of a tuning file."""
    return _Stub(file, prefix, tuned or {}).emit()


class _Stub:
    def __init__(self, file, prefix, tuned):
        self._file, self._prefix, self._tuned, self._tables = file, prefix, tuned, Tables()
        self._sizes, self._bodies = {}, {}      # map variants, and texts of launch rules, to the rules' names
        self._uses = {}                         # instance of an operation: name of its list of kernels

    def emit(self):
        file, prefix = self._file, self._prefix
        # The stub does not include the library's header, which changes with every other kernel file.
        own = [f'#include <cuferry{name}.h>\n' for name in ('', '/registry', *['/types'][:len(file.types)])]
        text = [banner(file.path), hide_macros(file.macros, ''.join(own)), *map(include, file.includes),
                remove_macros(file.macros)]
        if file.types:
            text.append(f'\n{emit_types(file.types).rstrip()}\n')
        if file.kernels or file.symbols:
            text.append('\n#pragma GCC diagnostic ignored "-Wmissing-prototypes" '
                        '/* the library\'s header has them */\n')
        if has_own_image(file):
            text.append('\n' + _emit_image_macros(file, prefix))
        text += ['\n' + _emit_adopted(file, prefix, number, image) for number, image in enumerate(file.images)]
        text.append(emit_leaves(file.leaves))
        text.append(self._emit_declarations())
        compiled = {kernel.name: self._emit_sizes_functions(kernel) for kernel in file.kernels}
        used = {kernel.name: self._used_lists(kernel) for kernel in file.kernels}
        for kernel in file.kernels:     # the first rendering counts repeated tables
            self._emit_descriptors(kernel)
        self._tables.name_repeated()
        for kernel in file.kernels:
            shared, descriptors = self._emit_descriptors(kernel)
            text.append('\n' + '\n'.join(filter(None, [compiled[kernel.name], used[kernel.name] + shared])))
            text += [self._entry_point(kernel, instance, descriptors) for instance in kernel.instances]
        text += ['\n' + self._emit_symbol(symbol) for symbol in file.symbols]
        return ''.join(text)

    def _emit_declarations(self):
        """Declares symbols that the stub uses before their definition, or that are defined elsewhere."""
        file, prefix = self._file, self._prefix
        kernels = {scan_name(c, i) for i in file.instances for c in list_called_checks(i) if c.array is not None}
        kernels.update(_used_name(prefix, name) for i in file.instances for name in i.used)
        own = [descriptor_name(prefix, i) for i in file.instances]
        variants = [descriptor_name(prefix, v) for i in file.instances for v in i.variants]
        hosted = [v for i in file.instances for v in i.all_variants if v.host and not v.host_of]
        return ('\n' * bool(own) + _declare_names('extern const cf_kernel', own + sorted(kernels.difference(own))) +
                _declare_names('static const cf_kernel', variants) +
                _declare_names('cf_host_body', [cpu_body_name(prefix, v) for v in hosted]) +
                _declare_names('extern const uint32_t', [f'{cpu_bytes_name(prefix, v)}[]' for v in hosted]))

    def _emit_descriptors(self, kernel):
        return emit_family(kernel, self._prefix, self._tables, self._sizes, self._uses, self._tuned,
                           {c for c, _ in self._file.leaves},
                           {image: f'cf__image_{number}' for number, image in enumerate(self._file.images)})

    def _emit_sizes_functions(self, kernel):
        """Emits the functions that check a launch and compute its size; many instances share one."""
        text = []
        for variant in (v for i in kernel.instances for v in i.all_variants):
            body = emit_sizes(variant)
            if body and body not in self._bodies:
                self._bodies[body] = f'cf__sizes_{variant.name}'
                text.append(f'static int {self._bodies[body]}(void *const cf__args[], cf_launch_size *cf__size)\n'
                            f'{{\n{body}}}\n')
            if body:
                self._sizes[variant.name] = self._bodies[body]
        comment = '/* Checks the scalars and computes the launch size; 0 sends the call to the slow path. */\n'
        return comment * bool(text) + '\n'.join(text)

    # ---- Operations

    def _used_lists(self, kernel):
        """Emits the lists of kernels that operations use."""
        lists = {}
        for instance in kernel.instances:
            if instance.used:
                entries = ', '.join(f'&{_used_name(self._prefix, name)}' for name in instance.used)
                self._uses[instance.name] = lists.setdefault(entries, f'cf__uses_{instance.name}')
        return ''.join(fold(f'static const cf_kernel *const {name}[] = {{{entries}}};\n', 4)
                       for entries, name in lists.items())

    def _emit_enqueuer(self, instance):
        """Emits the function that calls the operation's C function with a launch's arguments."""
        function = enqueuer_name(self._prefix, instance)
        head = f'int {function}('
        reads = [f'*({p.ctype}const *)cf__args[{n}]' if p.pointer else f'*(const {p.ctype} *)cf__args[{n}]'
                 for n, p in enumerate(instance.params)]
        call = fold(f'    return {function}({", ".join(["cf__stream", *reads])});\n', 8)
        return (fold(f'{head}{enqueuer_parameter_list(self._rename_parameters(instance))});\n', len(head)) +
                f'static int cf__unpack_{instance.name}(cf_stream cf__stream, void *const cf__args[])\n{{\n'
                f'{"" if reads else "    (void)cf__args;" + chr(10)}{call}}}\n\n')

    # ---- Functions

    def _rename_parameters(self, instance):
        """Renames parameters that may be macros of an included header."""
        if not self._file.includes and not any(_MACRO.fullmatch(p.name) or p.name.startswith(f'{self._prefix}_')
                                               for p in instance.params):
            return instance
        return replace(instance, params=tuple(replace(p, name=f'cf__p_{p.name}') for p in instance.params))

    def _entry_point(self, kernel, instance, descriptors):
        text = '\n'
        if instance.variants:
            names = ', '.join(f'&{descriptor_name(self._prefix, v)}' for v in instance.variants)
            text += fold(f'static const cf_kernel *const cf__variants_{instance.name}[] = {{{names}}};\n', 4) + '\n'
        if kernel.is_operation:
            text += self._emit_enqueuer(instance)
        text += '\n'.join(descriptors[v.name] for v in list_described(instance))
        return text + '\n' + self._emit_functions(instance, instance.has_update and not kernel.is_internal)

    def _emit_functions(self, instance, has_update):
        function, symbol = f'{self._prefix}_{instance.name}', descriptor_name(self._prefix, instance)
        renamed = self._rename_parameters(instance)
        # The library supplies scratch memory. Without it, a launch is a single driver call, which reads all arguments.
        args = ', '.join('&(void *){NULL}' if p.is_null else 'NULL' if p.direction == 'CF_SCRATCH' else f'&{p.name}'
                         for p in renamed.params) or 'NULL'
        leading = 'cf_graph_exec cf__exec, cf_graph_node cf__node'
        update = ('\n' + _function_head(f'{function}_update', parameter_list(renamed, leading)) + '{\n' +
                  fold(f'    return cf_graph_update(cf__exec, cf__node, &{symbol}, (void *const[]){{{args}}});\n', 8) +
                  '}\n')
        by_address = [self._by_address(function, suffix, renamed) for suffix in ('', '_async')
                      if any(p.is_by_address for p in renamed.arguments)]
        return (_function_head(function, parameter_list(renamed)) + '{\n' +
                fold(f'    return cf_call(&{symbol}, (void *const[]){{{args}}});\n', 8) + '}\n\n' +
                _function_head(f'{function}_async', parameter_list(renamed, 'cf_stream cf__stream')) + '{\n' +
                fold(f'    return cf_launch(&{symbol}, cf__stream, (void *const[]){{{args}}});\n', 8) + '}\n' +
                update * has_update + ''.join(by_address))

    @staticmethod
    def _by_address(function, suffix, instance):
        """Emits the function for wrappers that takes aligned values by address; the address itself need not be
        aligned."""
        taken = [p for p in instance.arguments if p.is_by_address]
        pointers = replace(instance, params=tuple(replace(p, ctype=f'const {p.ctype} *') if p in taken else p
                                                  for p in instance.params))
        leading = 'cf_stream cf__stream' if suffix else ''
        copies = ''.join(f'    {p.ctype} cf__v_{p.name};\n    __builtin_memcpy(&cf__v_{p.name}, {p.name}, '
                         f'sizeof cf__v_{p.name});\n' for p in taken)
        passed = ['cf__stream'] * bool(suffix) + [f'cf__v_{p.name}' if p in taken else p.name
                                                  for p in instance.arguments]
        return ('\n' + _function_head(f'{function}_by_address{suffix}', parameter_list(pointers, leading)) +
                f'{{\n{copies}' + fold(f'    return {function}{suffix}({", ".join(passed)});\n', 8) + '}\n')

    def _emit_symbol(self, symbol):
        prefix = self._prefix
        name, function, data = (of(prefix, symbol) for of in (symbol_descriptor_name, setter_name, cpu_data_name))
        size = cpu_data_bytes_name(prefix, symbol)
        fields = ['.version = CF_REGISTRY_VERSION', f'.name = {c_string(symbol.name)}',
                  f'.function = {c_string(function)}']
        fields += [f'.doc = {doc_string(symbol.doc, 11)}'] * bool(symbol.doc)
        fields += [f'.file = {c_string(symbol.location.file)}', f'.line = {symbol.location.line}',
                   f'.ctype = {c_string(symbol.type.c)}', *type_fields(symbol.type)]
        if symbol.extents:
            extents = ', '.join(map(str, symbol.extents))
            fields += [f'.ndims = {len(symbol.extents)}', f'.extents = (const int64_t[]){{{extents}}}']
        fields += [f'CF__DATA({symbol.name})', f'.cpu_data = &{data}', f'.cpu_bytes = &{size}',
                   '.state = &(cf_state){NULL}']
        own = replace(symbol, name=f'cf__p_{symbol.name}')
        value = f'&{own.name}' if is_set_by_value(symbol) else own.name
        return (f'extern void *const {data};\nextern const uint32_t {size};\nextern const cf_symbol {name};\n'
                f'const cf_symbol {name} = {{\n{flow_fields(fields, 4)}}};\n\n'
                f'int {function}({setter_parameter(own)})\n{{\n    return cf_symbol_set(&{name}, {value});\n}}\n\n'
                f'int {function}_async(cf_stream cf__stream, {setter_parameter(own)})\n{{\n'
                f'    return cf_symbol_set_async(cf__stream, &{name}, {value});\n}}\n')


def _emit_image_macros(file, prefix):
    facts = 'CF__CRC32', 'CF__TOOLKIT', 'CF__SM ', 'CF__PTX '
    name = shared_image_name(prefix, file) if file.image_of else 'cf__image'
    image = f'extern const cf_image {name};\n' * bool(file.image_of)
    if file.image_of in ('', file.stem):
        image += _emit_image(name, image_name(prefix, file), image_end_name(prefix, file), facts, bool(file.image_of))
    return ('#ifdef CF__GPU /* the build has an nvcc */\n'
            f'#include "{file.stem}.image.h"\n{image}'
            f'#define CF__IMAGE(name) .image = &{name}, .entry = CF__ENTRY_##name\n'
            f'#define CF__DATA(name) .image = &{name}, .entry = CF__DATA_##name\n'
            '#else\n#define CF__IMAGE(name) .image = NULL\n#define CF__DATA(name) .image = NULL\n#endif\n')


def _emit_adopted(file, prefix, number, image):
    # The image's toolkit is unknown: the driver reports an image that is too new.
    facts = f'0x{zlib.crc32(image.data):08x}', '0', list_targets(image.sm), list_targets(image.ptx)
    return comment([image.path]) + _emit_image(f'cf__image_{number}', adopted_name(prefix, file, number),
                                               adopted_end_name(prefix, file, number), facts)


def _emit_image(name, symbol, end, facts, is_shared=False):
    crc32, toolkit, sm, ptx = facts
    return (f'extern const unsigned char {symbol}[], {end}[];\n'
            f'{"" if is_shared else "static "}const cf_image {name} = {{\n'
            f'    .begin = {symbol},\n    .end = {end},\n    .crc32 = {crc32},\n    .toolkit = {toolkit},\n'
            f'    .sm = (const uint16_t[]){{{sm}0}},\n    .ptx = (const uint16_t[]){{{ptx}0}},\n'
            '    .state = &(cf_state){NULL},\n};\n')


def _used_name(prefix, name):
    """Returns the descriptor of a kernel that an operation uses; in users' operations cf_... names a bundled kernel."""
    return f'cf__k_{name[3:]}' if prefix != 'cf' and name.startswith('cf_') else f'{prefix}__k_{name}'


def _declare_names(ctype, names):
    return fold(f'{ctype} {", ".join(names)};\n', 4) if names else ''


def _function_head(function, parameters):
    return fold(f'int {function}({parameters})\n', len(f'int {function}('))
