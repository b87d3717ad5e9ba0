"""test_realcode.py - kernel files like those that people have: host code, its headers, and kernels to which only an
annotation was added. All pieces of real_pieces.py are built for the CPU in one run of cfcc, linked into a C program by
the C compiler, and run; with CHECK_LONG also with another C++ compiler. nvcc builds the pieces that it can compile.
Machines without a toolkit lack the toolkit's headers, and the files must be built there, too.

usage: test_realcode.py BUILDDIR
"""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from fuzz_real import Runner, make_whole_case, text_of
from tap import NEEDS_CLANG, NEEDS_LONG, NEEDS_NVCC, ROOT, Tap, read, run

KERNEL = '''
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
'''

PROGRAM = '''#include <stdio.h>
#include "real.h"
static void run(const char *name, int twice(const float *x, float *y, int n))
{
    float x[100], y[100];
    int wrong = 0;
    for (int i = 0; i < 100; i++)
        x[i] = i + 1;
    int status = twice(x, y, 100);
    for (int i = 0; i < 100; i++)
        wrong += y[i] != 2 * x[i];
    printf("%%s: %%s\\n", name, status != CF_OK ? cf_last_error() : wrong ? "wrong" : "right");
}
int main(void)
{
%s    return 0;
}
'''

# A header that uses names declared before it is included, and its kernel file.
LATE = {'late.h': '''
inline float of_late(const settings &s) { return s.factor * WIDTH; }
template <int N> inline int more(settings (&s)[N]) { return N + WIDTH; }
static settings standard = {WIDTH};
''', 'late.cu': 'constexpr int WIDTH = 32;\nstruct settings { float factor; };\n#include "late.h"\n' +
        KERNEL.replace('twice', 'twice_late')}

# Kernels that no CPU can run, together with host code that the CPU's compiler refuses.
FOR_GPUS = '''#include <cuda_runtime.h>
struct broken { int a : 99; };
static __device__ unsigned lane()
{
    unsigned r;
    asm("mov.u32 %0, %%laneid;" : "=no_such(r)"(r));
    return r;
}
#pragma cf kernel grid(n) out(y[n]) host(none)
__global__ void lanes(unsigned *y, int n)
{
    if (threadIdx.x < n)
        y[threadIdx.x] = lane();
}
'''


class RealCodeTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.folder = tap, folder
        self.builddir = os.path.abspath(builddir)
        with open(os.path.join(self.builddir, 'cfcc.json'), encoding='utf-8') as file:
            self.config = json.load(file)
        self.nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
        self.is_long = bool(os.environ.get('CHECK_LONG'))

    def fresh(self, files):
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)

    def cfcc(self, *arguments):
        return run([os.path.join(self.builddir, 'cfcc'), *arguments], cwd=self.folder)

    def runs(self, names, *arguments):
        """Builds, links as C, and runs the functions real_NAME; returns the error, or ''."""
        code, out, building = self.cfcc(*arguments)
        if code:
            return out + building
        with open(os.path.join(self.folder, 'main.c'), 'w', encoding='utf-8') as file:
            file.write(PROGRAM % ''.join(f'    run("{name}", real_{name});\n' for name in names))
        command = [*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']), '-I.',
                   f'-I{ROOT}/include', 'main.c', 'real.o', os.path.join(self.builddir, 'libcuferry.a'),
                   '-lpthread', '-ldl', '-lm', '-o', 'main']
        code, out, linking = run(command, cwd=self.folder)
        if code:
            return out + linking
        code, out, running = run(['./main'], cwd=self.folder, env=dict(os.environ, CF_DRIVER='host'))
        if (code, out) != (0, ''.join(f'{name}: right\n' for name in names)):
            return f'exit {code}: {out}{running}'
        # Ignores #warning: headers of a toolkit in a system folder warn about their own use.
        return building if re.search(r'warning: (?!#warning|.*-W#warnings)', building) else ''

    def compilers(self):
        """Returns the build's C++ compiler and another one, each with the options that choose it."""
        own = shlex.split(self.config['cxx'])[0]
        others = [c for c in ('g++', 'clang++') if os.path.basename(own) not in (c, 'c++') and shutil.which(c)]
        if not self.is_long or not others:
            self.tap.skip('realcode_with_another_compiler', NEEDS_CLANG if self.is_long else NEEDS_LONG)
            return [('', [])]
        return [('', []), (f'_with_{others[0][:-2]}', ['--cxx', others[0]])]

    def whole(self, name, is_for_nvcc, *options):
        """Builds and runs the case with all pieces. After a failure it removes all pieces that do not cause it."""
        runner, files = Runner(self.builddir, self.folder, *options), make_whole_case(is_for_nvcc)
        problem = runner.problem(files)
        if problem:
            problem = runner.reduced(files, problem) + '\n'.join(text_of(files, index) for index in range(len(files)))
        self.tap.check(name, problem)

    def pieces(self):
        for suffix, options in self.compilers():
            self.whole(f'realcode_of_all_pieces{suffix}', False, *options)
        if not self.nvcc:
            self.tap.skip('realcode_with_nvcc', NEEDS_NVCC)
        else:
            self.whole('realcode_of_pieces_with_nvcc', True, '--cuda', os.path.dirname(os.path.dirname(self.nvcc)),
                       '--targets', '90')

    def names(self):
        """The name of a kernel file may end in .cuh, and -I may name the toolkit's folder."""
        kernel = '#pragma once\n#include <cuda_runtime.h>\n#include "vector_types.h"\n' + KERNEL
        self.fresh({'real.cuh': kernel, **LATE})
        self.tap.check('realcode_cuh_is_a_kernel_file_and_a_header_may_use_what_precedes_it', self.runs(
            ['twice', 'twice_late'], '--cuda=no', '--prefix', 'real', '-o', 'real.o', 'real.cuh', 'late.cu'))
        if not self.nvcc:
            self.tap.skip('realcode_folder_of_the_toolkit_may_be_named', NEEDS_NVCC)
            return
        include = os.path.join(os.path.dirname(os.path.dirname(self.nvcc)), 'include')
        self.tap.check('realcode_folder_of_the_toolkit_may_be_named',
                       self.runs(['twice'], '--cuda=no', '-I', include, 'real.cuh'))

    def flags(self):
        """When the generator asks the C++ compiler about types, it passes the compiler's flags and system folders."""
        kernel = KERNEL.replace('const float *x,', 'const float *x, couple<float> p,').replace('2 * x[i]', 'p.a * x[i]')
        self.fresh({'real.cu': '#include <pair.h>\n' + kernel,
                    'system/pair.h': '#pragma GCC system_header\ntemplate <typename T> struct couple { T a, b; };\n'})
        for name, words in (('of_the_compiler', ['-Xcxx=-isystem', '-Xcxx=system', '-Xcxx=-Wfatal-errors']),
                            ('named', ['-I', 'system'])):
            code, out, err = self.cfcc('--cuda=no', *words, 'real.cu')
            header = read(os.path.join(self.folder, 'real.h')) if code == 0 else ''
            self.tap.check(f'realcode_type_of_a_system_folder_{name}_is_known',
                           '' if 'unsigned char bytes[8];' in header else f'exit {code}: {out}{err}')

    def for_gpus(self):
        self.fresh({'real.cu': FOR_GPUS})
        code, out, err = self.cfcc('--cuda=no', '-MD', 'real.cu')
        self.tap.check('realcode_file_for_gpus_alone_is_not_seen_by_the_cpus_compiler',
                       out + err or f'exit {code}' if code else '')

    def messages(self):
        """The file names and lines in messages are those of the source."""
        self.fresh({'real.cu': '#include <mpi.h>\n#include "deep/part.h"\n' + KERNEL.replace('2 * x[i]', 'part(x[i])'),
                    'deep/part.h': '#define TWICE(x) \\\n    (x + x)\n\nint host() { return nothing; }\n'
                                   '__device__ float part(float x)\n{\n    return   TWICE(x)\n        + mpi;\n}\n'})
        code, out, err = self.cfcc('--cuda=no', 'real.cu')
        good = code == 1 and 'real.cu:1:10: note: mpi.h was not found and counts as empty on the CPU' in err
        self.tap.check('realcode_header_that_is_nowhere_gets_a_note', '' if good else f'exit {code}: {out}{err}')
        good = re.search(r"^deep/part\.h:8:11: error: .*\bmpi\b", err, re.MULTILINE) and 'nothing' not in err
        self.tap.check('realcode_messages_name_the_line_of_the_source', '' if good else err or 'no text')
        self.fresh({'real.cu': '#include "deep/part.h"\n', 'deep/part.h': '#include "none.h"\n' + KERNEL})
        code, out, err = self.cfcc('--cuda=no', '--header', 'made.h', 'real.cu')
        good = 'deep/part.h:1:10: note: none.h was not found' in err and code == 0
        self.tap.check('realcode_note_names_the_file_that_includes', '' if good else f'exit {code}: {out}{err}')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.rsplit('\n\n', maxsplit=1)[-1].strip())
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = RealCodeTest(tap, sys.argv[1], os.path.join(folder, 'real'))
        test.pieces()
        test.names()
        test.flags()
        test.for_gpus()
        test.messages()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
