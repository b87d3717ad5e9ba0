"""test_gen.py - the generator against goldens: good input gives the expected header and stub, bad input the expected
message. `--update` writes the goldens anew.

usage: test_gen.py [--update] [--cc CC] [--cxx CXX]
"""

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile

from tap import Tap, run

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(HERE)
CASES = os.path.join(HERE, 'gen')


def read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except OSError:
        return None


def first_difference(expected, got):
    if expected is None:
        return 'there is no golden; run with --update'
    for number, (a, b) in enumerate(zip(expected.splitlines(), got.splitlines()), 1):
        if a != b:
            return f'line {number}\nexpected: {a}\ngot:      {b}'
    if len(expected.splitlines()) != len(got.splitlines()):
        return f'{len(expected.splitlines())} lines expected, {len(got.splitlines())} given'
    return '' if expected == got else 'line ends differ'


class GeneratorTest:
    def __init__(self, options, tap):
        self.options, self.tap = options, tap

    def cfgen(self, outdir, *arguments):
        return run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--cxx', self.options.cxx, '--outdir', outdir,
                    *arguments], cwd=CASES)

    def golden(self, name, path, text):
        if self.options.update:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        self.tap.check(name, first_difference(read(path), text))

    def case(self, stem):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.cfgen(folder, '--prefix', 't', f'{stem}.cu')
            base = os.path.join(CASES, stem)
            written = [f for _, _, files in os.walk(folder) for f in files]
            if code:
                self.golden(f'cfgen_{stem}_gives_expected_errors', base + '.err', err)
                self.tap.check(f'cfgen_{stem}_fails_without_output',
                               f'exit {code}, wrote {written}, printed {out}' if code != 1 or written or out else '')
                return
            problem = err or ('it was to fail' if os.path.exists(base + '.err') else '')
            self.tap.check(f'cfgen_{stem}_succeeds_silently', problem)
            self.golden(f'cfgen_{stem}_gives_expected_header', base + '.h', read(os.path.join(folder, 't.h')))
            self.golden(f'cfgen_{stem}_gives_expected_stub', base + '.c', read(os.path.join(folder, f'{stem}.stub.c')))
            self.compiles(stem, folder)

    def compiles(self, stem, folder):
        """Everything that is generated compiles without a warning, the header as C99, C11 and C++ too."""
        include = [f'-I{ROOT}/include', f'-I{folder}', f'-I{CASES}']
        strict = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']
        cc, cxx = shlex.split(self.options.cc), shlex.split(self.options.cxx)
        header = os.path.join(folder, 't.h')
        commands = {
            'stub': cc + ['-std=c11', *strict, *include, os.path.join(folder, f'{stem}.stub.c')],
            'registry': cc + ['-std=c11', *strict, *include, os.path.join(folder, 't_registry.c')],
            'header_as_c99': cc + ['-std=c99', *strict, *include, '-x', 'c', '-include', header, '/dev/null'],
            'header_as_c11': cc + ['-std=c11', *strict, *include, '-x', 'c', '-include', header, '/dev/null'],
            'header_as_cxx': cxx + ['-std=c++11', *strict, *include, '-x', 'c++', '-include', header, '/dev/null'],
            'header_beside_macros_of_its_names': cc + [
                '-std=c11', *strict, *include, '-DN=10', '-DM=20', '-DT=30', '-x', 'c', '-include', header, '/dev/null'],
            'host_body': cxx + ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-Wno-unknown-pragmas',
                                '-Wno-unused-parameter', '-fsyntax-only', *include, '-isystem',
                                f'{ROOT}/include/cuferry', os.path.join(folder, f'{stem}.host.cpp')],
        }
        for what, command in commands.items():
            code, _, err = run(command, cwd=CASES)
            self.tap.check(f'cfgen_{stem}_{what}_compiles', err if code else '')

    def calls(self):
        """A table of types that the instances do not fill: every instance can be called by the generic name."""
        with tempfile.TemporaryDirectory() as folder:
            self.cfgen(folder, '--prefix', 't', 'names.cu')
            cc, cxx = shlex.split(self.options.cc), shlex.split(self.options.cxx)
            for good, types in ((True, ('float', 'int')), (True, ('float', 'int64_t')), (True, ('double', 'short')),
                                (True, ('double', 'signed char')), (False, ('int', 'int')), (False, ('float', 'double'))):
                path = os.path.join(folder, 'call.c')
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(f'#include "t.h"\nint call({types[0]} *x, const {types[1]} *k);\n'
                               f'int call({types[0]} *x, const {types[1]} *k)\n{{\n    return t_sparse(x, k, 3);\n}}\n')
                for language, command in (('c', cc + ['-std=c11']), ('cxx', cxx + ['-std=c++11', '-x', 'c++'])):
                    code, _, err = run([*command, '-Werror', '-fsyntax-only', f'-I{folder}', f'-I{ROOT}/include', path])
                    name = f'generic_{language}_call_of_{types[0]}_and_{types[1].replace(" ", "_")}'
                    self.tap.check(f'{name}_{"compiles" if good else "is_refused"}', err if (code == 0) != good else '')

    def reserved_names(self):
        """No kernel of the library's own prefix is called as the library is."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')
            for name, good in (('call', False), ('mem_copy', False), ('kernel_at', False), ('registry', False),
                               ('locate', True), ('driver_host', True), ('k_gather', True)):
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(f'#pragma cf kernel grid(n)\n__global__ void {name}(int n)\n{{\n}}\n')
                code, _, err = self.cfgen(folder, path)
                fine = code == 0 if good else code == 1 and f"cf_{name} is a name of the library's own" in err
                self.tap.check(f'cfgen_kernel_called_{name}_is_{"taken" if good else "refused"}', '' if fine else err or 'taken')

    def proof(self):
        """A kernel that changes after the generator has read it compiles neither for the CPU nor for a GPU."""
        source = '#pragma cf kernel grid(n) out(x[n])\n__global__ void ones(float *x, int n)\n{\n    x[0] = (float)n;\n}\n'
        nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')

            def write(text):
                """The CPU compiles a copy that the generator has made."""
                for name in (path, os.path.join(folder, 'k.host.cu')):
                    with open(name, 'w', encoding='utf-8') as file:
                        file.write(text)

            write(source)
            self.cfgen(folder, '--prefix', 't', '--root', folder, path)
            host = shlex.split(self.options.cxx) + [
                '-std=c++17', '-fsyntax-only', '-Wno-unknown-pragmas', f'-I{ROOT}/include', f'-I{ROOT}/include/cuferry',
                f'-I{folder}', os.path.join(folder, 'k.host.cpp')]
            device = [nvcc, '-std=c++17', '-Xcompiler', '-Wno-unknown-pragmas', '-diag-suppress', '177', '-ptx',
                      f'-I{folder}', os.path.join(folder, 'k.dev.cu'), '-o', os.path.join(folder, 'k.ptx')]
            for name, command in (('cpu', host), ('gpu', device)):
                if not command[0]:
                    self.tap.skip(f'proof_on_the_{name}', 'there is no nvcc')
                    continue
                write(source)
                code, _, err = run(command)
                self.tap.check(f'proof_on_the_{name}_same_signature_compiles', err if code else '')
                for change, (old, new) in (('parameter_type', ('int n', 'long n')), ('element_type', ('float *', 'double *')),
                                           ('name', ('ones', 'twos')), ('parameter_count', ('int n', 'int n, int m')),
                                           ('const', ('float *', 'const float *'))):
                    write(source.replace(old, new).replace('x[0] = (float)n', ''))
                    code, _, err = run(command)
                    # The error is the generated file's, and not one of the kernel's own.
                    place = re.search(r'^\S*?([\w.]+)[(:]\d+.*error', err, re.MULTILINE)
                    refused = code and place and place.group(1) in ('k.host.cpp', 'k.dev.cu')
                    self.tap.check(f'proof_on_the_{name}_changed_{change}_is_refused', '' if refused else f'exit {code}: {err}')

    def command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments, expected in (
                    ('no_file', [], 'the following arguments are required'),
                    ('missing_file', ['nowhere.cu'], 'nowhere.cu'),
                    ('bad_prefix', ['--prefix', '7up', 'types.cu'], "'7up' cannot begin a C name"),
                    ('unknown_option', ['--frobnicate', 'types.cu'], '--frobnicate'),
                    ('missing_compiler', ['--cxx', '/nowhere/c++', 'types.cu'], 'cannot run /nowhere/c++'),
                    ('same_name_twice', ['types.cu', '../gen/types.cu'], 'has the same name'),
                    ('unwritable_folder', ['--outdir', '/dev/null/x', 'types.cu'], '/dev/null/x')):
                code, out, err = self.cfgen(folder, *arguments)
                fine = code != 0 and expected in err and not out and 'Traceback' not in err
                self.tap.check(f'cfgen_{name}_is_refused', '' if fine else f'exit {code}\n{out}{err}')

    def unchanged_output_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.cfgen(folder, 'types.cu')
            paths = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
            for path in paths:
                os.utime(path, (1, 1))
            self.cfgen(folder, 'types.cu')
            touched = [p for p in paths if os.stat(p).st_mtime != 1]
            self.tap.check('cfgen_run_again_touches_nothing', ', '.join(touched) if touched or not paths else '')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    options = parser.parse_args()
    tap = Tap()
    test = GeneratorTest(options, tap)
    stems = sorted(re.sub(r'\.cu$', '', f) for f in os.listdir(CASES) if f.endswith('.cu'))
    for stem in stems:
        test.case(stem)
    test.calls()
    test.reserved_names()
    test.proof()
    test.command_line()
    test.unchanged_output_is_left_alone()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
