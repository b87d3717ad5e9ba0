"""compilation.py - from kernel files to objects: the generator, and the compilers of CPU and GPU code."""

import json
import os
import re
import shlex
import sys

from arguments import check_outputs, internal_header
from devices import Devices
from failure import Failure, Refused
from flags import link_flags, MISSING, nvcc_environment, useless_flag
from linkimage import link_command, pack_command
from pipe_headers import refuse_pipes
from symbols import Symbols
from workspace import stem

# Pattern of a compiler's message about a header that it does not find.
NOT_FOUND = re.compile(r"^(?P<place>\S.*?:\d+(?::\d+)?): fatal error: (?:(?P<gcc>[^\n']+): No such file or directory|"
                       r"'(?P<clang>[^\n']+)' file not found)$", re.MULTILINE)

# Patterns of linkers' messages about undefined and doubly defined functions and data.
UNDEFINED = re.compile(r"(?:Undefined reference to|Unresolved extern (?:function|variable)) '([^']+)'")
TWICE = re.compile(r"(?:Multiple definition of|Linking globals named) '([^']+)'")


def is_fatbin(path):
    if not os.path.exists(path):
        return False
    with open(path, 'rb') as file:
        return file.read(4) == b'\x50\xed\x55\xba'


class Compilation:
    """Compiles all kernel files of one run. At the end, `objects` lists the objects, which are in the workspace."""

    def __init__(self, workspace, flags):
        self.workspace, self.flags = workspace, flags
        self.options, self.config, self.toolkit = workspace.options, workspace.config, workspace.toolkit
        self.pairs = list(zip(workspace.stems, self.options.sources))
        self.devices = None         # read after the generator has run

    def run(self):
        self._generate(self.scan())
        if self.options.numba:
            self._find_numba()      # refuses wrong uses before compilers run
        self._compile()

    @property
    def header(self):
        return self._path(os.path.join('header', os.path.basename(self.options.header)))

    @property
    def internal(self):
        """Returns the path of the header for the C files of operations; None without operations."""
        path = self._path(os.path.join('header', os.path.basename(internal_header(self.options))))
        return path if os.path.exists(path) else None

    @property
    def manifest(self):
        return self._path(f'{self.options.prefix}.json')

    def wrappers(self):
        """Returns the files of --emit as pairs (path, destination); the destinations are beside the header."""
        folder = self._path('wrappers')
        return [(os.path.join(folder, name), os.path.join(os.path.dirname(self.options.header), name))
                for name in (sorted(os.listdir(folder)) if self.options.emit else ())]

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
        """Returns the objects with the functions that programs call."""
        return [self._path(f'{name}.stub.o') for name in self.workspace.stems]

    @property
    def hosts(self):
        """Returns the objects with the kernels for the CPU."""
        return [self._path(f'{name}.host.o') for name in self.workspace.stems]

    def _path(self, name):
        return self.workspace.path(name)

    # ---- The generator

    def scan(self):
        """Preprocesses the kernel files, with empty headers in place of missing ones. Returns the paths of the
        results."""
        waiting = self.pairs
        seen = {name: set() for name, _ in waiting}     # missing headers of each file that were replaced
        os.makedirs(self._path(MISSING))
        refuse_pipes([*self.options.sources, *self.options.c_files], [
            *self.flags.user, *shlex.split(self.options.cxx), *self.options.cxx_flags, *self.options.nvcc_flags,
            *(word for words in nvcc_environment().values() for word in words)])
        while waiting:
            started = [self._start_scan(name, source) for name, source in waiting]
            waiting = [pair for pair, scan in zip(waiting, started) if self._is_incomplete(scan, seen[pair[0]])]
            self.workspace.wait([] if waiting else started)
        # The messages are dropped, since the compilers will repeat them.
        self.workspace.messages.clear()
        for name, source in self.pairs:
            if not os.path.exists(self._path(f'{name}.ii')):
                raise self._useless(source, 'C++', self._cxx, 'preprocessed nothing')
        return [self._path(f'{name}.ii') for name, _ in self.pairs]

    def _start_scan(self, name, source):
        return self.workspace.start(
            self.options.cxx, self.config.words('scan_flags'), self.options.cxx_flags, self.flags.kernel_includes,
            self.flags.user_on_cpu, ['-MD', '-MF', self._path(f'{name}.scan.d'), '-MT', 'scan', source],
            ['-o', self._path(f'{name}.ii')])

    def _is_incomplete(self, scan, seen):
        """True if the preprocessor did not find a header. An empty one then replaces it from now on, since CPU kernels
        do not need a header that only host code uses."""
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
        if not os.path.exists(path):        # otherwise the scan of another file has made it
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8'):
                pass
            if not self.options.suggest:
                folders = 'in include_folders' if self.options.kernels else 'with -I'     # the caller's option
                sys.stderr.write(f'{match["place"]}: note: {name} was not found and counts as empty on the CPU; nvcc '
                                 f'still needs it, and kernels may: name its folder {folders}\n')
        return True

    def _start_generator(self, *words):
        return self.workspace.runner.start([*self.config.start_of_generator, *words])

    def _generate(self, scanned):
        header = os.path.basename(self.options.header)
        tuning = ['--tuning', self.options.tuning] if self.options.tuning else []
        # The generator asks this compiler about types, and needs its flags, which may be what finds a type's header.
        cxx = [*shlex.split(self.options.cxx), *self.options.cxx_flags, *self.flags.user_on_cpu,
               *self.flags.kernel_includes]
        self.workspace.wait([self._start_generator(
            '--cxx', ' '.join(map(shlex.quote, cxx)), '--prefix', self.options.prefix, '--header', header, '--outdir',
            self.workspace.folder, '--root', '.', '--bundled', self.config.manifest, *tuning, *self.options.warnings,
            *scanned)])
        if self.options.emit:
            self.workspace.wait([self._start_generator('--emit', self.options.emit, '--outdir', self._path('wrappers'),
                                                       self.manifest)])
        # The header goes to a separate folder, where no generated file finds it by accident: the user may have a header
        # of the same name.
        os.mkdir(os.path.dirname(self.header))
        os.rename(self._path(header), self.header)
        internal = os.path.basename(internal_header(self.options))
        if os.path.exists(self._path(internal)):
            os.rename(self._path(internal), self._path(os.path.join('header', internal)))
        if self.internal or self.options.emit:
            check_outputs(self.options, [self.options.header, *[internal_header(self.options)] * bool(self.internal),
                                         *(target for _, target in self.wrappers())])
        self.devices = Devices(self._path(f'{self.options.prefix}_devices.json'), self.options)
        if self.options.bundled and self.internal:
            self._rename_bundled()

    def _rename_bundled(self):
        """Returns the header that renames functions in the bundled kernels' C files to the prefix of the rebuilt
        library."""
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
        """Returns the macro that tells generated files that nvcc compiled the kernels."""
        return ['-DCF__GPU'] if self.toolkit else []

    def _compile(self):
        """Compiles all objects; those with device code have to wait for nvcc."""
        if self.toolkit and not self.toolkit.targets.sm and any(map(self._is_linked, self.workspace.stems)):
            raise Failure(f'--targets: {(self.options.gpu_code or self.options.sources)[0]} is linked to machine code, '
                          'and no target has any; give such as 90 or 90-real')
        host_flags = self.flags.host()
        rest = [self._start_host(name, source, host_flags) for name, source in self.pairs]
        rest.append(self.start_c(self.registry))
        rest += [self._start_operations(path) for path in self.options.c_files]
        if self.toolkit:
            self._compile_images()
        rest += [self._start_image(name) for name in self.workspace.stems]
        self.workspace.wait(rest + [self.start_c(f'{name}.stub', self.flags.includes(source))
                                    for name, source in self.pairs])
        for name, source in self.pairs:
            self._check_object(f'{name}.host.o', source, 'C++', self._cxx)
            self._check_object(f'{name}.stub.o', source, 'C', [self.options.cc])

    def _check_object(self, name, source, language, command):
        """Refuses an output that is no object: with flags such as -S and -fsyntax-only, a compiler succeeds without
        one."""
        try:
            Symbols(self._path(name))
        except (Failure, OSError):
            raise self._useless(source, language, command, 'made no object of this machine') from None

    def check_whole(self, path, functions):
        """Refuses an object that lacks a function which the header declares, or one that such a function needs."""
        with open(self.manifest, encoding='utf-8') as file:
            manifest = json.load(file)
        declared = {entry['function'] for entry in manifest['kernels'] + manifest['symbols']
                    if not entry.get('internal')}
        own = re.compile(f'{self.options.prefix}__(?!enqueue_)')    # users define the functions of operations
        for missing, language, command in (
                (declared.difference(functions), 'C', [self.options.cc]),
                (set(filter(own.match, Symbols(path).missing)), 'C++', self._cxx)):
            if missing:
                names = ', '.join(sorted(missing)[:4]) + ' ...' * (len(missing) > 4)
                raise self._useless(', '.join(self.options.sources), language, command, f'made no {names}')

    @property
    def _cxx(self):
        return [self.options.cxx, *self.options.cxx_flags]

    @staticmethod
    def _useless(source, language, command, problem):
        return Failure(f'{source}: the {language} compiler {problem}, as {" ".join(command)}; leave out the flag that '
                       'makes it do so')

    def _compile_images(self):
        for variable, flags in nvcc_environment().items():
            useless = useless_flag('nvcc', flags)
            if useless:
                raise Failure(f'{variable}={useless[0]}: {useless[1]}')
        for name, (ptx, fatbin) in zip(self.workspace.stems, list(map(self._start_device, self.workspace.stems))):
            self.workspace.wait([ptx])
            # The messages are dropped, since the compilation to PTX has printed the same ones.
            said = len(self.workspace.messages)
            self._wait_for_code([name], [fatbin])
            del self.workspace.messages[said:]
            if not is_fatbin(self._path(f'{name}{".unlinked" * self._is_linked(name)}.fatbin')):
                raise self._useless(self.options.sources[self.workspace.stems.index(name)], 'CUDA',
                                    [self.toolkit.nvcc, *self.options.nvcc_flags], 'made no image')
        self._link_images()
        self.workspace.wait([self._start_image_header(name) for name in self.workspace.stems])

    def start_c(self, name, user_flags=()):
        folder = self.workspace.folder
        return self.workspace.start(
            self.options.cc, self.config.words('c_flags'), self.options.pass_on, self.flags.mapped(name), self._gpu,
            ['-iquote', folder, '-I', folder, f'-I{self.config.include}'], user_flags,
            ['-c', self._path(f'{name}.c'), '-o', self._path(f'{name}.o')])

    def _start_operations(self, source):
        """Compiles the C file of operations with the new header included first, so that an older header beside the file
        has no effect."""
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

    def _is_linked(self, name):
        """True if a file's GPU code is linked with other GPU code."""
        return bool(self.options.gpu_code) or name in self.devices.image_of

    def _start_device(self, name):
        """Starts nvcc twice: for PTX of one target, which tells the names of the kernels' entries, and for the image of
        all targets or, if it is linked, for relocatable code."""
        common = [self.toolkit.nvcc, *self.toolkit.flags, '-Xcompiler', '-iquote,.', '-I', self.config.include,
                  *self.flags.user, *self.options.nvcc_flags, self._path(f'{name}.dev.cu')]
        ptx = [f'-arch=compute_{self.toolkit.targets.oldest}', '-MD', '-MF', self._path(f'{name}.device.d')]
        targets, fatbin = self.toolkit.targets.gencode, self._path(f'{name}.fatbin')
        if self._is_linked(name):
            common, fatbin = [*common, '-rdc=true'], self._path(f'{name}.unlinked.fatbin')
            targets = self.toolkit.targets.gencode_for_link(self.is_debugged)
        start = self.workspace.runner.start
        return (start([*common, '-ptx', *ptx, '-o', self._path(f'{name}.ptx')]),
                start([*common, '-DCF__TO_BE_EMBEDDED', '-fatbin', *targets, '-o', fatbin]))

    @property
    def is_debugged(self):
        """True if nvcc makes code for debuggers, which must not be optimised at the link."""
        return not {'-G', '--device-debug'}.isdisjoint(self.options.nvcc_flags)

    def _start_numba(self, name):
        """Starts nvcc for a file's code for Numba, as a fatbin and as LTO-IR."""
        source = self._path(f'{name}.numba.cu')
        common = [self.toolkit.nvcc, *self.toolkit.flags, '-Xcompiler', '-iquote,.', '-I', self.config.include,
                  *self.flags.user, *self.options.nvcc_flags, '-DCF__TO_BE_EMBEDDED', '-rdc=true',
                  source if os.path.exists(source) else self._path(f'{name}.dev.cu')]
        start, targets = self.workspace.runner.start, self.toolkit.targets
        return [start([*common, '-fatbin', *targets.gencode, '-o', self._path(f'{name}.numba.fatbin')]),
                start([*common, '-dlto', '-ltoir', f'-arch=sm_{targets.oldest}', '-o',
                       self._path(f'{name}.numba.ltoir')])]

    def _find_numba(self):
        """Returns the stems of the files whose code Numba needs."""
        with_code = {self._image_of(f['file']) for f in self.devices.functions if f['numba']}
        if not with_code or not self.toolkit:
            raise Failure('--numba: ' + ('it needs nvcc, whose code Numba links' if with_code else 'no function has '
                                         '#pragma cf device numba'))
        return [name for name in self.workspace.stems if self._image_of(name) in with_code]

    def for_numba(self):
        """Returns the files for Numba as pairs (path, name): a Python module, and the GPU code that it needs."""
        names = self._find_numba()
        said = len(self.workspace.messages)     # the compilation of the images has printed the same messages
        self.workspace.wait([command for name in names for command in self._start_numba(name)])
        del self.workspace.messages[said:]
        module = f'{self.options.prefix}_numba.py'
        return [(self._path(module), module)] + [(self._path(f'{name}.numba.{kind}'), f'{name}.{kind}')
                                                 for name in names for kind in ('fatbin', 'ltoir')]

    def _image_of(self, name):
        """Returns the stem of the file whose image contains a file's code."""
        return self.devices.image_of.get(name, name)

    def _link_images(self):
        """Links the code of files that call one another's functions, and the GPU code that the command line names, into
        images of machine code without PTX."""
        images = {}
        for name in filter(self._is_linked, self.workspace.stems):
            images.setdefault(self._image_of(name), []).append(name)
        links = [(names, [self._start_link(f'{image}.{sm}', sm, [f'{name}.unlinked.fatbin' for name in names],
                                            not self.is_debugged)
                          for sm in self.toolkit.targets.sm]) for image, names in images.items()]
        for names, commands in links:
            self._wait_for_code(names, commands)
        self.workspace.wait([self._start_pack(image) for image in images])

    def _start_link(self, name, sm, inputs, is_lto):
        """Starts the link, for one target, of kernel files' code and the GPU code that the command line names."""
        options = [f'-arch=sm_{sm}', *link_flags(self.options.nvcc_flags)]
        if is_lto or any(path.endswith('.ltoir') for path in self.options.gpu_code):
            options.append('-lto')
        return self.workspace.runner.start(link_command(
            self.toolkit, options, self._path(f'{name}.cubin'), [*map(self._path, inputs), *self.options.gpu_code]))

    def _start_pack(self, image):
        return self.workspace.runner.start(pack_command(
            self.toolkit, self._path(f'{image}.fatbin'),
            {sm: self._path(f'{image}.{sm}.cubin') for sm in self.toolkit.targets.sm}))

    def _wait_for_code(self, names, commands):
        """Waits for the link of kernel files' GPU code. Reports undefined functions with the places of their
        declarations."""
        try:
            self.workspace.wait(commands)
        except Refused as refused:
            twice = TWICE.findall(str(refused))
            if twice:
                files = ', '.join(source for name, source in self.pairs if name in names)
                raise Failure(f'{files}: {", ".join(dict.fromkeys(twice))} is defined twice in GPU code that is '
                              'linked; make it static in the files that do not share it') from None
            if not UNDEFINED.search(str(refused)):
                raise
            # ptxas stops at the first undefined function; a link of PTX names all of them.
            symbols = UNDEFINED.findall(str(refused))
            try:
                newest = [self.toolkit.targets.oldest, *self.toolkit.targets.sm][-1]
                self._start_link('none', newest, [f'{name}.ptx' for name in names], False).result()
            except Refused as all_of_them:
                symbols = UNDEFINED.findall(str(all_of_them)) or symbols
            raise self.devices.refuse([pair for pair in self.pairs if pair[0] in names], symbols) from None

    def check_calls_on_cpu(self):
        """Refuses CPU kernels that call functions which exist only as GPU code, or nowhere."""
        linked = {name for path in self.hosts for name in Symbols(path).linked()} if self.devices.functions else ()
        for (name, source), path in zip(self.pairs, self.hosts) if self.devices.functions else []:
            missing = [symbol for symbol in Symbols(path).missing.difference(linked)
                       if self.devices.is_declared(name, symbol, False)]
            if missing:
                raise self.devices.refuse([(name, source)], missing, True)

    def _start_image_header(self, name):
        is_linked = self._is_linked(name)
        targets = self.toolkit.targets
        return self._start_generator(
            '--image', self._path(f'{name}.image.h'), '--toolkit', str(self.toolkit.version),
            f'--sm={",".join(targets.sm)}', f'--ptx={"" if is_linked else ",".join(targets.ptx)}',
            self._path(f'{name}.ptx'), self._path(f'{self._image_of(name)}.fatbin'))

    def _start_image(self, name):
        # The compiler runs in the workspace, since .incbin in the source names the fatbin relative to it.
        return self.workspace.start(self.options.cc, ['-c', *self._gpu, f'{name}.image.S', '-o', f'{name}.image.o'],
                                    cwd=self.workspace.folder)
