"""compilation.py - from kernel files to objects: the generator, and the compilers of CPU and GPU code."""

import os
import re
import shlex
import sys

from arguments import check_outputs, internal_header
from failure import Failure, Refused
from flags import MISSING
from symbols import Symbols
from workspace import stem

# A compiler's message about a header that it does not find.
NOT_FOUND = re.compile(r"^(?P<place>\S.*?:\d+(?::\d+)?): fatal error: (?:(?P<gcc>[^\n']+): No such file or directory|"
                       r"'(?P<clang>[^\n']+)' file not found)$", re.MULTILINE)


class Compilation:
    """Compiles all kernel files of one run; `objects` are in its workspace at the end."""

    def __init__(self, workspace, flags):
        self.workspace, self.flags = workspace, flags
        self.options, self.config, self.toolkit = workspace.options, workspace.config, workspace.toolkit
        self.pairs = list(zip(workspace.stems, self.options.sources))
        self.is_linked = bool(self.options.gpu_code and self.toolkit)

    def run(self):
        self._generate(self.scan())
        self._compile()

    @property
    def header(self):
        return self._path(os.path.join('header', os.path.basename(self.options.header)))

    @property
    def internal(self):
        """The header for the C files of operations; None without operations."""
        path = self._path(os.path.join('header', os.path.basename(internal_header(self.options))))
        return path if os.path.exists(path) else None

    @property
    def manifest(self):
        return self._path(f'{self.options.prefix}.json')

    @property
    def registry(self):
        return f'{self.options.prefix}_registry'

    @property
    def objects(self):
        return [self._path(f'{self.registry}.o'),
                *(self._path(f'{name}.{kind}.o') for name in self.workspace.stems
                  for kind in ('stub', 'host', 'image')),
                *(self._path(f'{stem(path)}.operations.o') for path in self.options.c_files)]

    @property
    def stubs(self):
        """The objects with the functions that programs call."""
        return [self._path(f'{name}.stub.o') for name in self.workspace.stems]

    @property
    def hosts(self):
        """The objects with the CPU's kernels."""
        return [self._path(f'{name}.host.o') for name in self.workspace.stems]

    def _path(self, name):
        return self.workspace.path(name)

    # ---- The generator

    def scan(self):
        """Preprocesses the kernel files, with missing headers as empty ones. Returns the paths of the results."""
        waiting = self.pairs
        seen = {name: set() for name, _ in waiting}     # missing headers of each file
        os.makedirs(self._path(MISSING))
        while waiting:
            started = [self._start_scan(name, source) for name, source in waiting]
            waiting = [pair for pair, scan in zip(waiting, started) if self._is_incomplete(scan, seen[pair[0]])]
            self.workspace.wait([] if waiting else started)
        # The compilers will repeat these messages.
        self.workspace.messages.clear()
        return [self._path(f'{name}.ii') for name, _ in self.pairs]

    def _start_scan(self, name, source):
        return self.workspace.start(
            self.options.cxx, self.config.words('scan_flags'), self.options.cxx_flags, self.flags.kernel_includes,
            self.flags.user_on_cpu, ['-MD', '-MF', self._path(f'{name}.scan.d'), '-MT', 'scan', source],
            ['-o', self._path(f'{name}.ii')])

    def _is_incomplete(self, scan, seen):
        """True if a header was found nowhere, and is empty from now on: the CPU does not need it if only host code
        uses it."""
        try:
            scan.result()
            return False
        except Refused as error:
            match = NOT_FOUND.search(str(error))
        name = match['gcc'] or match['clang'] if match else ''
        path = os.path.join(self._path(MISSING), name)
        if not name or os.path.isabs(name) or name in seen or \
                not os.path.normpath(path).startswith(self._path('missing') + os.sep):
            return False
        seen.add(name)
        if not os.path.exists(path):        # else another file's scan has found it missing
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8'):
                pass
            if not self.options.suggest:
                sys.stderr.write(f'{match["place"]}: note: {name} was not found and counts as empty on the CPU; nvcc '
                                 'still needs it, and kernels may: name its folder with -I\n')
        return True

    def _start_generator(self, *words):
        return self.workspace.runner.start([sys.executable, self.config.generator, *words])

    def _generate(self, scanned):
        header = os.path.basename(self.options.header)
        tuning = ['--tuning', self.options.tuning] if self.options.tuning else []
        # The generator asks this compiler about types, also of headers that only its flags find.
        cxx = [*shlex.split(self.options.cxx), *self.options.cxx_flags, *self.flags.user_on_cpu,
               *self.flags.kernel_includes]
        self.workspace.wait([self._start_generator(
            '--cxx', ' '.join(map(shlex.quote, cxx)), '--prefix', self.options.prefix, '--header', header, '--outdir',
            self.workspace.folder, '--root', '.', '--bundled', self.config.manifest, *tuning, *self.options.warnings,
            *scanned)])
        # A separate folder: no generated file includes it, and the user may have a header of the same name.
        os.mkdir(os.path.dirname(self.header))
        os.rename(self._path(header), self.header)
        internal = os.path.basename(internal_header(self.options))
        if os.path.exists(self._path(internal)):
            check_outputs(self.options, [self.options.header, internal_header(self.options)])
            os.rename(self._path(internal), self._path(os.path.join('header', internal)))
        if self.options.bundled and self.internal:
            self._rename_bundled()

    def _rename_bundled(self):
        """The header that gives functions in the bundled kernels' C files the prefix of the rebuilt library."""
        prefix, names = self.options.prefix, set()
        for path in (self.header, self.internal):
            with open(path, encoding='utf-8') as file:
                names.update(re.findall(rf'\b{prefix}_(\w+)\(', file.read()))
        os.mkdir(self._path('header/cuferry'))
        self.workspace.write('header/cuferry/kernels_internal.h', f'#include "../{os.path.basename(self.internal)}"\n' +
                             ''.join(f'#define cf_{name} {prefix}_{name}\n' for name in sorted(names)))

    # ---- The objects

    @property
    def _gpu(self):
        """The macro that generated files read: nvcc compiled the kernels."""
        return ['-DCF__GPU'] if self.toolkit else []

    def _compile(self):
        """All objects; objects of device code wait for nvcc."""
        host_flags = self.flags.host()
        rest = [self._start_host(name, source, host_flags) for name, source in self.pairs]
        rest.append(self.start_c(self.registry, self.options.sources[0]))
        rest += [self._start_operations(path) for path in self.options.c_files]
        if self.toolkit:
            self._compile_images()
        rest += [self._start_image(name) for name in self.workspace.stems]
        self.workspace.wait(rest + [self.start_c(f'{name}.stub', source) for name, source in self.pairs])

    def _compile_images(self):
        for (_, source), (ptx, fatbin) in zip(self.pairs, [self._start_device(name) for name in self.workspace.stems]):
            self.workspace.wait([ptx])
            # The PTX's compilation has printed the same messages.
            said = len(self.workspace.messages)
            self._wait_for_code(source, [fatbin])
            del self.workspace.messages[said:]
        if self.is_linked:
            self._link_images()
        self.workspace.wait([self._start_image_header(name) for name in self.workspace.stems])

    def start_c(self, name, source):
        folder = self.workspace.folder
        return self.workspace.start(
            self.options.cc, self.config.words('c_flags'), self.options.pass_on, self.flags.mapped(name), self._gpu,
            ['-iquote', folder, '-I', folder, f'-I{self.config.include}'], self.flags.includes(source),
            ['-c', self._path(f'{name}.c'), '-o', self._path(f'{name}.o')])

    def _start_operations(self, source):
        """The functions of operations, which include the new header, not an older header beside them."""
        name = f'{stem(source)}.operations'
        include = ['-include', self.internal or self.header, '-I', self._path('header')]
        for path in self.options.sources:
            include += self.flags.includes(path)
        return self.workspace.start(
            self.options.cc, self.config.words('c_flags'), self.options.pass_on, self.flags.mapped(name), include,
            [f'-I{self.config.include}'], ['-MD', '-MF', self._path(f'{name}.d'), '-MT', 'operations'],
            ['-c', source, '-o', self._path(f'{name}.o')])

    def _start_host(self, name, source, flags):
        return self.workspace.start(
            self.options.cxx, flags, self.flags.mapped(name), self.flags.includes_on_cpu(source),
            self.flags.kernel_includes,
            ['-MD', '-MF', self._path(f'{name}.host.d'), '-MT', 'host'],
            ['-c', self._path(f'{name}.host.cpp'), '-o', self._path(f'{name}.host.o')])

    def _start_device(self, name):
        """PTX of one target, for the entry names, and the image of all targets."""
        common = [self.toolkit.nvcc, *self.toolkit.flags, '-Xcompiler', '-iquote,.', '-I', self.config.include,
                  *self.flags.user, *self.options.nvcc_flags, self._path(f'{name}.dev.cu')]
        fatbin = self._path(f'{name}.unlinked.fatbin' if self.is_linked else f'{name}.fatbin')
        common += ['-rdc=true'] * self.is_linked
        ptx = [f'-arch=compute_{self.toolkit.targets.oldest}', '-MD', '-MF', self._path(f'{name}.device.d')]
        start = self.workspace.runner.start
        return (start([*common, '-ptx', *ptx, '-o', self._path(f'{name}.ptx')]),
                start([*common, '-DCF__TO_BE_EMBEDDED', '-fatbin', *self.toolkit.targets.gencode, '-o', fatbin]))

    def _link_images(self):
        """Links each file's code with the GPU code that was named. The result has machine code alone."""
        targets = self.toolkit.targets
        if not targets.sm:
            raise Failure(f'--targets: {self.options.gpu_code[0]} is linked to machine code, and no target has any; '
                          'give such as 90 or 90-real')
        targets.ptx = []
        links = [self.workspace.runner.start([
            self.toolkit.nvcc, *self.toolkit.flags, *self.options.nvcc_flags, '-dlink', '-fatbin', *targets.gencode,
            self._path(f'{name}.unlinked.fatbin'), *self.options.gpu_code, '-o', self._path(f'{name}.fatbin')])
            for name in self.workspace.stems]
        for (_, source), link in zip(self.pairs, links):
            self._wait_for_code(source, [link])

    def _wait_for_code(self, source, futures):
        """Waits for GPU code of a kernel file. Undefined functions are reported with the file; ptxas stops at the first
        one."""
        try:
            self.workspace.wait(futures)
        except Refused as refused:
            found = re.findall(r"(?:Undefined reference to|Unresolved extern function) '([^']+)'", str(refused))
            if not found:
                raise
            raise Failure(f'{source}: GPU code calls {", ".join(dict.fromkeys(found))}, which is not defined there'
                          f'{" or in " if self.options.gpu_code else ""}{", ".join(self.options.gpu_code)}; name the '
                          'file that has it, too: PTX, or code of nvcc -rdc=true') from None

    def check_calls_on_cpu(self):
        """Refuses CPU kernels that call functions which exist as GPU code alone: the PTX tells which."""
        for name, source in self.pairs if self.is_linked else []:
            with open(self._path(f'{name}.ptx'), encoding='utf-8', errors='replace') as file:
                declared = re.findall(r'^\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)', file.read(), re.MULTILINE)
            calls = sorted(Symbols(self._path(f'{name}.host.o')).missing.intersection(declared))
            if calls:
                raise Failure(f'{source}: kernels call {", ".join(calls)}, which the CPU lacks: it is in '
                              f'{", ".join(self.options.gpu_code)}; annotate these kernels with host(none), or with '
                              'host(FUNCTION) for a form of their own')

    def _start_image_header(self, name):
        return self._start_generator(
            '--image', self._path(f'{name}.image.h'), '--toolkit', str(self.toolkit.version),
            f'--sm={",".join(self.toolkit.targets.sm)}', f'--ptx={",".join(self.toolkit.targets.ptx)}',
            self._path(f'{name}.ptx'), self._path(f'{name}.fatbin'))

    def _start_image(self, name):
        # .incbin names the fatbin relative to this folder.
        return self.workspace.start(self.options.cc, ['-c', *self._gpu, f'{name}.image.S', '-o', f'{name}.image.o'],
                                    cwd=self.workspace.folder)
