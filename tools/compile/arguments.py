"""arguments.py - the command line: options, defaults, and refusals."""

import argparse
import os
import re
import shlex
import sys

from adopt import KINDS
from failure import Failure, say_what_is
from flags import CHECKS, useless_flag
from symbols import has_section
from targets import FORMS, wrong_target
from workspace import stem

USAGE = '''cfcc [--prefix P] [-o FILE.o] [--header FILE.h] [-MD] [options] FILE.cu... [FILE.c...] [GPU-CODE...]
       cfcc --shared [--prefix P] [-o FILE.so] [options] FILE.cu... [FILE.c...] | FILE.o...
       cfcc --suggest [--write] [--verify] [-I DIR] [-D NAME[=TEXT]] FILE.cu...
       cfcc --adopt triton DIR | numba FILE [-o FILE.cu]'''


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f'cfcc: {message}; see cfcc --help\n')


def add_files(parser):
    """Adds the options for inputs and outputs, and those that cfcc passes to all compilers."""
    parser.add_argument('files', nargs='*', metavar='FILE', help='kernel files (.cu, .cuh), and C files (.c) of their '
                        'operations; GPU code that kernels call (.ptx, .cubin, .fatbin, .ltoir, and .o and .a of nvcc '
                        '-rdc=true); with --shared also .o and .a')
    parser.add_argument('--prefix', metavar='P', help='of the C functions (default: the name of the output)')
    parser.add_argument('-o', dest='output', metavar='FILE', help='the object (default: the first file, as .o or .so; '
                        'with --shared and --emit libP.so)')
    parser.add_argument('--header', metavar='FILE', help='the header (default: P.h beside the object)')
    parser.add_argument('--shared', action='store_true', help='make a shared object that contains the runtime')
    parser.add_argument('--export', action='store_true', help='let a shared library into which the object is linked '
                        'export the C functions')
    parser.add_argument('--manifest', metavar='FILE', help='also write what is known of the kernels, as JSON')
    parser.add_argument('--emit', metavar='LIST', help='also write wrappers for other languages beside the header, as '
                        'in cxx,fortran')
    parser.add_argument('--numba', metavar='DIR', help='also write a Python module and GPU code there, by which Numba '
                        'calls functions with #pragma cf device numba')
    parser.add_argument('--tuning', metavar='FILE', help='variants of tuned kernels that run where nothing was '
                        'measured, as cf-tune wrote them')
    parser.add_argument('-I', dest='includes', action='append', default=[], metavar='DIR', help='a folder of headers')
    parser.add_argument('-D', dest='defines', action='append', default=[], metavar='NAME[=TEXT]', help='a macro')
    parser.add_argument('-O', dest='level', metavar='LEVEL', help='optimise the CPU code: -O0, -O3, -Os ...')
    parser.add_argument('-g', dest='debug', action='store_true', help='debug information of the CPU code')
    parser.add_argument('-MD', dest='depend', action='store_true', help='write the names of the files that were read, '
                        'for make and Ninja, to a .d beside the object')
    parser.add_argument('-MF', dest='depfile', metavar='FILE', help='write them to FILE')


def add_compilers(parser, config):
    """Adds the options that choose compilers, GPUs, and flags of one compiler."""
    for name, compiler in (('cxx', 'the C++ compiler'), ('nvcc', 'nvcc')):
        parser.add_argument(f'-X{name}', dest=f'{name}_flags', action='append', default=[], metavar='FLAG',
                            help=f'a flag for {compiler}, as in -X{name}=' +
                                 ('-march=native' if name == 'cxx' else '-lineinfo'))
    for name, what in (('lockstep', 'where lanes of a warp rely on running in lockstep'),
                       ('dependent', 'where a dependent kernel never waits for the work before it'),
                       ('pointers', 'of pointers inside structs, which calls neither copy nor check')):
        for switch, text in ((f'-W{name}', f'warn {what} (default)'), (f'-Wno-{name}', 'do not')):
            parser.add_argument(switch, dest='warnings', action='append_const', const=switch, default=[], help=text)
    parser.add_argument('--targets', metavar='LIST', help='GPUs to build machine code for: major, all, native, '
                        'or as 80,90a,100f; with -real no PTX, with -virtual PTX alone')
    parser.add_argument('--cuda', metavar='DIR|no', help='the CUDA toolkit, or CPU code alone')
    for name, language in (('cc', 'C'), ('cxx', 'C++')):
        parser.add_argument(f'--{name}', default=config[name], metavar='COMMAND',
                            help=f'the {language} compiler (default: {config[name]})')
    parser.add_argument('-j', dest='jobs', type=int, default=len(os.sched_getaffinity(0)), metavar='N',
                        help='run N compilers at once (default: the CPUs)')


def add_modes(parser, config):
    """Adds the options for work other than compiling, and the options for cf-run."""
    parser.add_argument('--suggest', action='store_true', help='print a first annotation for each kernel without one, '
                        'and compile nothing')
    parser.add_argument('--write', action='store_true', help='with --suggest: also write the annotations into the '
                        'files')
    parser.add_argument('--verify', action='store_true', help='with --suggest: also run each complete suggestion on '
                        'the CPU, with random numbers and under the check of addresses')
    parser.add_argument('--adopt', choices=KINDS, metavar='|'.join(KINDS), help='write the declarations of the kernels '
                        'that Triton or Numba compiled, from a folder of the cache of Triton or a file of Numba')
    # These options are only for cf-run. --check builds with a check: kernel files, the sources of the library FILE
    # (--again), or the bundled kernels, all or those of a family (--bundled). --private demands an output that no other
    # user can change, since it is run at once.
    parser.add_argument('--check', choices=sorted(CHECKS), help=argparse.SUPPRESS)
    parser.add_argument('--again', metavar='FILE', help=argparse.SUPPRESS)
    parser.add_argument('--bundled', nargs='?', const=True, metavar='FAMILY', help=argparse.SUPPRESS)
    parser.add_argument('--private', action='store_true', help=argparse.SUPPRESS)
    # These options are only for the library. --kernels makes a shared object with descriptors but without a runtime,
    # for the runtime that opens it; --inputs writes the list of all that the build depends on.
    parser.add_argument('--kernels', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--inputs', metavar='FILE', help=argparse.SUPPRESS)
    parser.add_argument('--version', action='version', version=f'cfcc {config["version"]}')


def check_values(options, parser):
    """Refuses values that are wrong whatever the other options are."""
    for option, values in (('-Xcxx', options.cxx_flags), ('-Xnvcc', options.nvcc_flags), ('-I', options.includes),
                           ('-D', options.defines)):
        if '' in values:
            parser.error(f'{option} has no value')
    for option, compiler, flags in (('-Xcxx', 'cxx', options.cxx_flags), ('-Xnvcc', 'nvcc', options.nvcc_flags)):
        useless = useless_flag(compiler, flags)
        if useless:
            parser.error(f'{option}={useless[0]}: {useless[1]}')
    if options.targets is not None:
        wrong = wrong_target(options.targets)
        if wrong is not None:
            parser.error(f"--targets: '{wrong}' is no target; {FORMS}")
    for name in ('cc', 'cxx'):
        try:
            is_command = shlex.split(getattr(options, name))
        except ValueError:
            is_command = False
        if not is_command:
            parser.error(f"--{name}: '{getattr(options, name)}' is no command")
    if options.jobs < 1:
        parser.error(f'-j {options.jobs}: at least one compiler runs')


def make_parser(config):
    """Creates the parser. The shells' completions are generated from it, too."""
    parser = Parser(prog='cfcc', usage=USAGE, allow_abbrev=False,
                    description='Compiles annotated CUDA kernels to one object and one header of typed C functions.')
    add_files(parser)
    add_compilers(parser, config)
    add_modes(parser, config)
    return parser


def arguments(config):
    parser = make_parser(config)
    # -O levels are taken out before, since argparse would take the word after a bare -O as its argument.
    words = sys.argv[1:]
    levels = [w for w in words if re.fullmatch(r'-O[0-3sgz]?|-Ofast', w)]
    options = parser.parse_intermixed_args([w for w in words if w not in levels])
    if options.level is not None:
        parser.error(f'-O {options.level} is no level of optimisation')
    check_values(options, parser)
    if options.suggest or options.adopt:
        (check_suggest if options.suggest else check_adopt)(options, parser)
        return options
    for option, value in (('--write', options.write), ('--verify', options.verify)):
        if value:
            parser.error(f'{option} goes with --suggest alone')
    options.pass_on = levels[-1:] + (['-g'] if options.debug else [])
    if options.check:
        options.cuda, options.shared = 'no', True
        if config['link_flags'].find('-fsanitize') >= 0:
            parser.error('--check: this Cuferry was itself built with a sanitizer')
    if options.again or options.bundled:
        if not options.check or options.files or (options.again and options.bundled):
            parser.error('--again FILE and --bundled go with --check alone')
        options.sources = options.c_files = options.objects = options.gpu_code = options.files = []
        options.manifest = options.emit = options.numba = options.depfile = None
        return options
    check(options, parser)
    return options


def check_useless(options, parser, mode, given):
    """Refuses options of compiling, which would have no effect beside `option`."""
    given = [*given, ('--header', options.header), ('--shared', options.shared), ('--export', options.export),
             ('-MD', options.depend), ('--prefix', options.prefix), ('--manifest', options.manifest),
             ('--emit', options.emit), ('--numba', options.numba), ('--tuning', options.tuning)]
    useless = next((name for name, value in given if value), None)
    if useless:
        parser.error(f'{useless} has no effect with {mode}, which compiles nothing')


def check_adopt(options, parser):
    """Refuses other options, more than one folder or file, and an output that exists, because the user may have edited
    it."""
    check_useless(options, parser, '--adopt', [('--write', options.write), ('--verify', options.verify),
                                                 ('--suggest', options.suggest)])
    if len(options.files) != 1:
        parser.error(f'--adopt {options.adopt} takes one ' + (
            'folder of the cache of Triton' if options.adopt == 'triton' else 'file with PTX or a cubin'))
    if options.output and os.path.exists(options.output):
        raise Failure(f'{options.output} is there; name another file with -o')
    problem = unwritable(options.output, []) if options.output else ''
    if problem:
        raise Failure(f'cannot write {options.output}: {problem}')
    if options.adopt == 'numba':
        check_inputs(options.files)


def check_suggest(options, parser):
    """Refuses options of compiling, and files that are not kernel files."""
    check_useless(options, parser, '--suggest', [('-o', options.output), ('--adopt', options.adopt)])
    if not options.files:
        parser.error('no kernel file is named')
    other = next((f for f in options.files if not f.endswith(('.cu', '.cuh'))), None)
    if other:
        parser.error(f'{other} is no kernel file: their names end with .cu or .cuh')
    check_inputs(options.files)


def check(options, parser):
    """Fills in defaults and refuses impossible options, before anything is run."""
    options.sources = [f for f in options.files if f.endswith(('.cu', '.cuh'))]
    options.c_files = [f for f in options.files if f.endswith('.c')]
    options.gpu_code = [f for f in options.files if is_gpu_code(f)]
    # An archive with GPU code may contain CPU code, too, which the linker takes if it is needed. Objects of nvcc
    # -rdc=true are not linked as CPU code, because they register their GPU code with the CUDA runtime, which is not
    # linked.
    options.objects = [f for f in options.files if f.endswith('.o') and f not in options.gpu_code or
                       f.endswith('.a') and (options.shared or f not in options.gpu_code)]
    known = options.sources + options.c_files + options.gpu_code + options.objects
    other = [f for f in options.files if f not in known]
    if not options.files:
        parser.error('no kernel file is named')
    if other:
        parser.error(f'{other[0]} is no kernel file: their names end with .cu or .cuh')
    if options.sources:
        check_inputs(options.objects)
    if options.objects and not options.shared:
        parser.error(f'{options.objects[0]}: objects go with --shared alone, or have GPU code of nvcc -rdc=true')
    if options.kernels and not options.shared:
        parser.error('--kernels goes with --shared alone')
    if options.gpu_code and not options.sources:
        parser.error(f'{options.gpu_code[0]}: GPU code goes with the kernel files that call it')
    if options.c_files and not options.sources:
        parser.error(f'{options.c_files[0]}: C files go with the kernel files whose operations they define')
    if not options.sources and (options.prefix or options.header or options.manifest or options.emit or
                                options.numba or options.depend or options.depfile or options.tuning):
        parser.error('--prefix, --header, --manifest, --emit, --numba, --tuning, -MD and -MF go with kernel files')
    # With wrappers, the library heat is libheat.so: wrappers look for this name, and Python would import a file
    # heat.so.
    if not options.output:
        name = stem((options.sources or options.files)[0])
        if options.shared and options.emit:
            name = 'lib' + (options.prefix or re.sub('^lib(?=.)', '', name))
        options.output = name + ('.so' if options.shared else '.o')
    options.prefix = options.prefix or re.sub('^lib(?=.)', '', stem(options.output))
    options.header = options.header or os.path.join(os.path.dirname(options.output), f'{options.prefix}.h')
    problem = prefix_problem(options.prefix) if options.sources else ''
    if problem:
        parser.error(f'{problem}; give another with --prefix')
    if 'python' in (options.emit or '').split(',') and os.path.basename(options.output) == f'{options.prefix}.so':
        parser.error(f'-o {options.output}: Python would import it in place of {options.prefix}.py; call it '
                     f'lib{options.prefix}.so')
    if options.depend and not options.depfile:
        options.depfile = re.sub(r'\.s?o$', '', options.output) + '.d'
    check_files(options)


def is_gpu_code(path):
    """True for files that are linked with the kernels' GPU code. Objects and archives hold GPU code in a section."""
    if path.endswith(('.ptx', '.cubin', '.fatbin', '.ltoir')):
        return True
    if not path.endswith(('.o', '.a')) or not os.path.isfile(path):
        return False
    return has_section(path, '__nv_relfatbin')


def prefix_problem(prefix):
    if not re.fullmatch(r'[A-Za-z][A-Za-z0-9_]*', prefix):
        return f"the prefix '{prefix}' cannot begin a C name"
    return f"the prefix '{prefix}' is the library's own" if re.match(r'cf(_|$)', prefix) else ''


def check_inputs(paths):
    for path in paths:
        if not os.path.isfile(path):
            raise Failure(f'{path}: {say_what_is(path)}')
        if not os.access(path, os.R_OK):
            raise Failure(f'{path}: cannot be read')


def check_files(options):
    check_inputs(options.files + [options.tuning] * bool(options.tuning))
    check_names(options)
    if options.numba and not os.path.isdir(options.numba):
        raise Failure(f'--numba {options.numba}: ' + (say_what_is(options.numba) if os.path.exists(options.numba) else
                                                      'there is no such folder'))
    check_outputs(options, [options.header] if options.sources else [])


def check_names(options):
    """Refuses file names that would be invalid in the workspace, and duplicate ones."""
    for paths, what in ((options.sources, 'kernel'), (options.c_files, 'C')):
        seen = {}
        for path in paths:
            if not re.fullmatch(r'\w[\w.-]*', stem(path), re.ASCII):
                raise Failure(f"{path}: a {what} file's name is made of letters, digits and _")
            if stem(path) in seen:
                raise Failure(f'{path}: {seen[stem(path)]} has the same name; rename one of them')
            seen[stem(path)] = path


def check_outputs(options, headers):
    """Refuses outputs that cannot be written or are the user's own files. `headers` includes the internal header and
    the wrappers, if the generator made any."""
    outputs = [options.output, *headers, *filter(None, [options.manifest, options.depfile])]
    for path in outputs:
        problem = unwritable(path, options.files + [options.tuning] * bool(options.tuning))
        if problem:
            raise Failure(f'cannot write {path}: {problem}')
    ending = os.path.splitext(options.output)[1]
    if ending in ('.c', '.cu', '.cuh', '.h', '.so' if not options.shared else '.o'):
        kind = 'a shared object' if options.shared else 'an object'
        raise Failure(f"cannot write {options.output}: the name of {kind} does not end with {ending}")
    if len({os.path.abspath(path) for path in outputs}) < len(outputs):
        raise Failure(f'the outputs have to be different files: {", ".join(outputs)}')
    for header in headers:
        if os.path.exists(header) and not is_generated(header):
            what = 'another header' if header.endswith('.h') else 'a header in another folder'
            raise Failure(f'{header} is there, and cfcc did not write it; name {what} with --header')


def internal_header(options):
    """Returns the path of the header for the C files of operations, beside the public header; see
    gen/emit/header.py."""
    return re.sub(r'\.h$', '', options.header) + '_internal.h'


def unwritable(path, inputs):
    folder = os.path.dirname(path) or '.'
    if os.path.exists(path) and not os.path.isfile(path):
        return say_what_is(path)
    if not os.path.isdir(folder):
        return f'there is no folder {folder}'
    if not os.access(folder, os.W_OK):
        return f'the folder {folder} is not writable'
    if os.path.exists(path) and any(os.path.samefile(path, f) for f in inputs):
        return 'it is an input'
    return ''


def is_generated(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return re.match(r'(/\*|//|!|#) Generated by cfgen ', file.readline()) is not None
