"""linking.py - links all compiled files to one object, and to a shared object with the runtime."""

import os
import re
import shlex

from failure import Failure, Refused
from record import Record
from symbols import Symbols

# Functions that compilers call for copies. Checks replace them, since a copy is an access to memory.
COPIES = ('memcpy', 'memmove', 'memset')
# Functions through which operations write memory. Checks replace them, so that this memory counts as written.
MEMORY = ('mem_copy_async', 'mem_copy_2d_async', 'mem_fill_async')
# Names of the C++ library: namespace std, the ABI's functions, operator new and delete.
CXX_NAME = re.compile(r'__cxa_(?!atexit$|finalize$|thread_atexit_impl$)|__gxx_|__dynamic_cast$|'
                      r'_Z(?:T[ISV])?(?:N[KVRO]*)?(?:S[t-]|S[absiod]|10__cxxabiv1)|_Z(?:nw|na|dl|da)')


def public_functions(config):
    """Returns the functions that cuferry.h and cuferry/tuning.h declare."""
    names = set()
    for header in ('cuferry.h', 'cuferry/tuning.h'):
        with open(os.path.join(config.include, header), encoding='utf-8') as file:
            code = re.sub(r'/\*.*?\*/|\btypedef\b[^;]*;', '', file.read(), flags=re.DOTALL)
            names.update(re.findall(r'\b(cf_\w+)\(', code))
    return names


class Linking:
    def __init__(self, compilation):
        self.compilation, self.workspace = compilation, compilation.workspace
        self.options, self.config = compilation.options, compilation.config
        self.record = Record(self.workspace)

    def combine(self):
        """Links one object in which only the functions for programs are global, so that helper functions and template
        instances of two libraries cannot be confused."""
        names = [name for stub in self.compilation.stubs for name in Symbols(stub).functions()]
        public = self.workspace.write('public', ''.join(f'{name}\n' for name in [self.compilation.registry, *names]))
        whole, separate = self.workspace.path('all.o'), self.workspace.path('public.o')
        self._make_helpers_local()
        self._run([self.config['ld'], '-r', '--force-group-allocation', '-o', whole, *self.compilation.objects])
        copies = [word for name in COPIES for word in ('--redefine-sym', f'{name}=cf__checked_{name}')]
        copies += [word for name in MEMORY for word in ('--redefine-sym', f'cf_{name}=cf__checked_{name}')]
        self._run([self.config['objcopy'], f'--keep-global-symbols={public}', *self.record.flags([self.record.own()]),
                   *(copies if self.options.check in ('race', 'poison') else []), whole, separate])
        self.compilation.check_whole(separate, names)
        if self.options.export:
            Symbols(separate).show(names, separate)
        return separate

    def _make_helpers_local(self):
        """Makes helper functions local to their kernel files, which may have different functions, classes and templates
        of the same name, as on a GPU. Only functions with #pragma cf device are shared by all files."""
        hosts = self.compilation.hosts
        start = self.workspace.runner.start
        self.workspace.wait([start([self.config['ld'], '-r', '--force-group-allocation', '-o', f'{path}.all', path])
                             for path in hosts])
        kept = [f'{self.options.prefix}__*']
        for path in hosts if self.compilation.devices.functions else []:
            kept += Symbols(path).linked()
        self.workspace.wait([start([self.config['objcopy'], '-w', *(f'--keep-global-symbol={name}' for name in kept),
                                    f'{path}.all', path]) for path in hosts])

    def share(self, objects):
        """Links a shared object with the runtime, whose functions are public, too; with --kernels, without the
        runtime."""
        prefix, own = library_of(objects)
        runtime = sorted(public_functions(self.config))
        whole = self._with_runtime(objects, prefix, runtime)
        if self.options.objects:
            kept = ([self.record.own()] if self.options.sources else []) + self.record.of_others(self.options.objects)
            self._run([self.config['objcopy'], *self.record.flags(kept), whole])
        symbols = Symbols(whole)
        public = [n for n in symbols if n == 'cf_module_info' or
                  not self.options.kernels and (n in own or n in runtime)]
        symbols.show(public, whole)
        try:
            return self._link(whole, public, self.options.cxx if needs_cxx(symbols) else self.options.cc)
        except Refused as refused:
            raise self._lacking(str(refused)) or refused from None

    def _with_runtime(self, objects, prefix, runtime):
        self.workspace.write('module.c', f'#include <cuferry/registry.h>\nextern const cf_module {prefix}_registry;\n'
                             'cf_module_info_function cf_module_info;\nconst cf_module *cf_module_info(void)\n{\n'
                             f'    return &{prefix}_registry;\n}}\n')
        wanted = []
        if self.options.kernels:    # entry points name the runtime's functions, which are never called here
            with open(self.workspace.path('module.c'), 'a', encoding='utf-8') as file:
                file.writelines(f'int {name}(void);\nint {name}(void)\n{{\n    return -1;\n}}\n' for name in runtime)
        else:
            wanted = [word for name in runtime for word in ('-u', name)]
        self.workspace.wait([self.compilation.start_c('module')])
        whole = self.workspace.path('whole.o')
        self._run([self.config['ld'], '-r', *wanted, '-o', whole, self.workspace.path('module.o'), *objects,
                   self.config.library])
        return whole

    def _lacking(self, said):
        """Returns the failure that replaces a linker's message about undefined functions; None for other messages."""
        names = list(dict.fromkeys(re.findall(r"undefined (?:reference to|symbol:) [`']?([^\s'`]+)", said)))
        if not names:
            return None
        files = ' '.join(map(shlex.quote, self.options.files))
        several = f'{", ".join(names[:4])}{" ..." if len(names) > 4 else ""}'
        return Failure(f'{files} calls {several}, which is in none of the files; name the object that has it, too: '
                       f'cfcc --shared -o FILE.so {files} OBJECT.o')

    def _link(self, whole, public, compiler):
        version = self.workspace.write('version', '{ global: ' + ' '.join(f'{n};' for n in public) + ' local: *; };\n')
        flags = ['-shared', '-Xlinker', '-Bsymbolic', '-Xlinker', f'--version-script={version}']
        for word in ('-soname', os.path.basename(self.options.output)):
            flags += ['-Xlinker', word]
        # With a sanitizer, undefined functions are allowed, because the program that loads the object provides them.
        if '-fsanitize' not in self.config['link_flags'] and not self.options.check:
            flags += ['-Xlinker', '-z', '-Xlinker', 'defs']
        path = self.workspace.path('shared.so')
        self.workspace.wait([self.workspace.start(compiler, flags, self.config.words('link_flags'),
                                                  ['-o', path, whole], ['-lpthread', '-ldl', '-lm'])])
        return path

    def _run(self, command):
        self.workspace.wait([self.workspace.runner.start(command)])


def needs_cxx(symbols):
    """True if an object needs the C++ library. Only CPU functions of the user may need it, kernels do not."""
    return any(CXX_NAME.match(name) for name in symbols.missing)


def library_of(objects):
    """Returns the prefix and the public names of the library among some objects, of which there must be exactly one."""
    found = [(prefix, path) for path in objects if not path.endswith('.a') for prefix in Symbols(path).registries()]
    if len(found) != 1:
        several = ' and '.join(f'{path} is of the prefix {prefix}' for prefix, path in found)
        raise Failure(f'--shared takes one library: {several or "cfcc made none of " + ", ".join(objects)}')
    prefix, path = found[0]
    return prefix, {name for name in Symbols(path) if name.startswith(f'{prefix}_')}
