"""test_proof.py - changes kernels after the generator has read them. Every difference must be refused by the compilers
of the CPU's and the GPU's code, by the check of the entries' names, or when the kernel is loaded.

usage: test_proof.py BUILDDIR [--cxx CXX]
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_NVCC, ROOT, Tap, read, run


HEADER = '''#ifndef SHARED_H
#define SHARED_H
#include <cuferry/types.h>
typedef double real;
enum side { LEFT, RIGHT };
struct body { cf_float4 position; float mass; };
struct other { cf_float4 position; float mass; };
#endif
'''

SOURCE = '''#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include "shared.h"
#pragma cf include("shared.h")

__constant__ float weights[7];
namespace heat { static __constant__ double step; }

namespace heat {
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void axpy(const float *x, double *y, int n)
{
    y[0] = x[0] * weights[0] * step;
}
}

#pragma cf kernel grid(n) out(sums[n])
__global__ void mix(int *sums, unsigned int k, long wide, int n)
{
    sums[0] = k + wide;
}

constexpr int TILE = 32;

#pragma cf kernel grid(n) block(TILE) inout(bodies[n])
extern "C" __global__ void move(struct body *bodies, struct body by, float2 shift, enum side side, real dt, int n)
{
    bodies[0].mass += by.mass + shift.x + side + dt;
}

#pragma cf kernel grid(n) out(flags[n])
__global__ void narrow(const __half *h, bool *flags, void *raw, size_t n)
{
    flags[0] = raw == h;
}

#pragma cf kernel grid(n) out(flags[n])
__global__ void deep(int *flags, float *const *rows, volatile int *busy, int n)
{
    flags[0] = (void *)rows == (void *)n;
}

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(f: float, 4; d: double, 8)
template <typename T, int LANES> __global__ void scale(T *x, T by, int n)
{
    x[0] *= by;
}

enum class Rule : short { Add = 1, Scale };
struct Own { Rule rule; float a; int b[2]; };
class Closed { public: int seen; private: int hidden; };
template <typename T> struct wide;
template <> struct wide<float> { typedef double type; };

#pragma cf kernel grid(n) inout(x[n])
#pragma cf instances(f: float)
template <typename T> __global__ void own(T *x, typename wide<T>::type by, Own o, Closed c, int n)
{
    x[0] += by + o.a + c.seen;
}
'''

# The changes. Each has a name, a word in the part of the proof that refuses it, the old text, and the new text.
CHANGES = (
    ('value_type', 'heat::axpy', 'double *y, int n', 'double *y, long n'),
    ('value_sign', 'mix', 'unsigned int k', 'int k'),
    ('value_width_of_the_same_size', 'mix', 'long wide', 'long long wide'),
    ('value_width', 'mix', 'long wide', 'int wide'),
    ('element_type', 'heat::axpy', 'const float *x', 'const int *x'),
    ('element_width', 'heat::axpy', 'double *y', 'float *y'),
    ('const_added', 'heat::axpy', 'double *y', 'const double *y'),
    ('const_taken_away', 'heat::axpy', 'const float *x', 'float *x'),
    ('volatile_taken_away', 'deep', 'volatile int *busy', 'int *busy'),
    ('order', 'mix', 'unsigned int k, long wide', 'long wide, unsigned int k'),
    ('one_parameter_more', 'mix', 'unsigned int k, long wide', 'unsigned int k, long wide, int extra'),
    ('one_parameter_less', 'deep', ', volatile int *busy', ''),
    ('value_for_pointer', 'move', 'struct body *bodies', 'struct body bodies'),
    ('pointer_for_value', 'move', 'struct body by', 'struct body *by'),
    ('pointer_one_deeper', 'narrow', 'void *raw', 'void **raw'),
    ('pointer_one_less_deep', 'deep', 'float *const *rows', 'float *rows'),
    ('const_of_inner_pointer', 'deep', 'float *const *rows', 'float **rows'),
    ('struct_of_the_same_members', 'move', 'struct body by', 'struct other by'),
    ('vector_length', 'move', 'float2 shift', 'float4 shift'),
    ('float_for_half', 'narrow', 'const __half *h', 'const __nv_bfloat16 *h'),
    ('integer_for_enum', 'move', 'enum side side', 'unsigned int side'),
    ('integer_for_bool', 'narrow', 'bool *flags', 'uint8_t *flags'),
    ('typedef_of_a_header', 'move', 'typedef double real;', 'typedef float real;'),
    ('name', 'narrow', 'void narrow(', 'void narrower('),
    ('namespace', 'heat::axpy', 'namespace heat {\n#pragma', 'namespace cool {\nusing heat::step;\n#pragma'),
    ('template_parameter', 'scale', 'typename T, int LANES', 'typename T'),
    ('template_constant_for_type', 'scale', 'typename T, int LANES', 'int LANES, typename T'),
    ('template_value', 'scale', 'T by', 'float by'),
    ('value_of_a_file_constant', 'TILE', 'constexpr int TILE = 32;', 'constexpr int TILE = 64;'),
    ('constant_type', 'weights', '__constant__ float weights', '__constant__ double weights'),
    ('constant_extent', 'weights', 'weights[7]', 'weights[8]'),
    ('member_type', 'Own::', 'Rule rule; float a;', 'Rule rule; int a;'),
    ('member_order', 'Own::', 'Rule rule; float a;', 'float a; Rule rule;'),
    ('member_extent', 'Own::', 'int b[2]; };', 'int b[3]; };'),
    ('value_of_an_enumerator', 'Rule::Add', 'Add = 1', 'Add = 2'),
    ('size_of_an_opaque_type', 'size of Closed', 'int hidden;', 'double hidden;'),
    ('result_of_a_trait', 'own<', 'typedef double type;', 'typedef float type;'),
    ('constant_name', 'heat::step', 'static __constant__ double step;',
     'static __constant__ double stride; __constant__ const double step = 1;'),
)


class ProofTest:
    def __init__(self, options, tap, folder):
        self.options, self.tap, self.folder = options, tap, folder
        self.cxx = shlex.split(options.cxx)
        self.nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')

    def generate(self):
        """Writes the kernel file and generates its code. Each change starts from a copy of these files."""
        place = os.path.join(self.folder, 'generated')
        os.mkdir(place)
        for file, text in (('shared.h', HEADER), ('k.cu', SOURCE)):
            with open(os.path.join(place, file), 'w', encoding='utf-8') as opened:
                opened.write(text)
        code, _, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--cxx', self.options.cxx, '--prefix',
                            't',
                            '--outdir', place, '--root', place, os.path.join(place, 'k.cu')])
        self.tap.check('proof_kernels_are_generated', err or f'exit {code}' if code else '')

    def copy(self, name):
        return shutil.copytree(os.path.join(self.folder, 'generated'), os.path.join(self.folder, name))

    @staticmethod
    def change(place, old, new):
        """Changes the text in the sources, and in the copy of the source that the generator has made for the CPU's
        compiler."""
        changed = 0
        for file in ('shared.h', 'k.cu', 'k.host.cu'):
            path = os.path.join(place, file)
            with open(path, encoding='utf-8') as opened:
                text = opened.read()
            changed += old in text
            # In that copy, constant data is static, and there are no annotations.
            for spelled, made in {(old, new), (old.replace('__constant__ ', '__constant__ static '), new),
                                  (old.replace('\n#pragma', '\n\n'), new.replace('\n#pragma', '\n\n'))}:
                text = text.replace(spelled, made)
            with open(path, 'w', encoding='utf-8') as opened:
                opened.write(text)
        return changed

    def cpu(self, place):
        all_errors = ['-ferror-limit=0'] * ('clang' in os.path.basename(self.cxx[0]))   # gcc always reports all errors
        return self.cxx + ['-std=c++17', '-fsyntax-only', *all_errors, '-Wno-unknown-pragmas', f'-I{ROOT}/include',
                           '-isystem', f'{ROOT}/include/cuferry/shadow', f'-I{place}',
                           os.path.join(place, 'k.host.cpp')]

    def gpu(self, place):
        return [self.nvcc, '-std=c++17', '-Xcompiler', '-Wno-unknown-pragmas', '-diag-suppress', '177', '-ptx',
                f'-I{place}',
                f'-I{ROOT}/include', os.path.join(place, 'k.dev.cu'), '-o', os.path.join(place, 'k.ptx')]

    @staticmethod
    def groups():
        """Returns lists of changes that are compiled together, because different parts of the proof refuse them. With
        --long, each change is compiled alone."""
        groups = []
        for row in CHANGES:
            fits = (g for g in groups if not os.environ.get('CHECK_LONG') and row[1] not in [other[1] for other in g])
            group = next(fits, None)
            if group is None:
                groups.append(group := [])
            group.append(row)
        return groups

    @staticmethod
    def refused_parts(place, messages):
        """Returns the statements of the generated proof in which there are errors."""
        parts = ''
        for name, number in re.findall(r'^\S*?(k\.host\.cpp|k\.dev\.cu)[(:](\d+).*error', messages, re.MULTILINE):
            lines = read(os.path.join(place, name)).splitlines()[int(number) - 1:]
            parts += '\n'.join(lines).partition(';\n')[0] + '\n'
        return parts

    def compiler(self, device, group):
        """Returns, for each change, an error if it compiles, or if no error message is about its part of the proof."""
        place = self.copy(f'{device}_{group[0][0] if group else "no_change"}')
        lost = [name for name, _, old, new in group if not self.change(place, old, new)]
        code, _, err = run(getattr(self, device)(place))
        if not group:
            return [err or f'exit {code}' if code else '']
        parts = self.refused_parts(place, err)
        return [f'{old!r} stands nowhere' if name in lost else '' if code and word in parts else f'exit {code}: {err}'
                for name, word, old, _ in group]

    def compilers(self):
        groups = [[], *self.groups()]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for device in ('cpu', 'gpu'):
                if device == 'gpu' and not self.nvcc:
                    self.tap.skip('proof_on_the_gpu', NEEDS_NVCC)
                    continue
                results = pool.map(lambda group, device=device: self.compiler(device, group), groups)
                for group, problems in zip(groups, results):
                    names = [f'{row[0]}_is_refused' for row in group] or ['no_change_compiles']
                    for name, problem in zip(names, problems):
                        self.tap.check(f'proof_on_the_{device}_{name}', problem)

    def entry(self):
        """A device function that has a kernel's type does not count as an entry."""
        if not self.nvcc:
            self.tap.skip('proof_device_function_is_refused', NEEDS_NVCC)
            return
        place, problem = self.copy('entry'), ''
        self.change(place, '__global__ void narrow', '__device__ void narrow')
        code, _, err = run(self.gpu(place))
        if code == 0:
            open(os.path.join(place, 'k.fatbin'), 'wb').close()
            code, _, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--image',
                                os.path.join(place, 'k.image.h'),
                                '--toolkit', '13000', os.path.join(place, 'k.ptx'), os.path.join(place, 'k.fatbin')])
            if code != 1 or 'no entry for narrow' not in err:
                problem = f'exit {code}: {err}'
        self.tap.check('proof_device_function_is_refused', problem)

    def loading(self):
        """C and C++ see different structs, which the compilers cannot notice. Loading the kernel must fail."""
        place = os.path.join(self.folder, 'load')
        os.mkdir(place)
        files = {
            'two.h': '#ifndef TWO_H\n#define TWO_H\n#ifdef __cplusplus\nstruct two { int a, b; };\n#else\n'
                     'struct two { int a, b, c; };\n#endif\n#endif\n',
            'two.cu': '#include "two.h"\n#pragma cf include("two.h")\n__constant__ two held;\n#pragma cf kernel '
                      'grid(1) out(x[1])\n'
                      '__global__ void first(struct two t, int *x)\n{\n    x[0] = t.a + held.a;\n}\n',
            'main.c': '#include <stdio.h>\n#include "two.h"\n#include "lib.h"\nint main(void)\n{\n    int x = 7;\n'
                      '    struct two t = {3};\n    printf("%d ", lib_first(t, &x) == CF_EIMAGE);\n    '
                      'puts(cf_last_error());\n'
                      '    printf("%d ", lib_set_held(&t) == CF_EIMAGE);\n    puts(cf_last_error());\n    return x != '
                      '7;\n}\n'}
        for name, text in files.items():
            with open(os.path.join(place, name), 'w', encoding='utf-8') as file:
                file.write(text)
        build = self.options.builddir
        with open(os.path.join(build, 'build.ninja'), encoding='utf-8') as file:
            cc = re.search(r'^cc = (.*)$', file.read(), re.MULTILINE).group(1)
        program = os.path.join(place, 'main')
        for command in ([os.path.join(build, 'cfcc'), '--cuda', 'no', '-o', 'lib.o', 'two.cu'],
                        [*shlex.split(cc), 'main.c', 'lib.o', '-I.', f'-I{ROOT}/include',
                         os.path.join(build, 'libcuferry.a'),
                         '-lpthread', '-ldl', '-lm', '-o', program]):
            code, out, err = run(command, cwd=place)
            if code:
                self.tap.check('proof_structs_that_differ_are_refused_when_loaded', f'{out}{err}')
                return
        done = subprocess.run([program], env=dict(os.environ, CF_DRIVER='host'), stdout=subprocess.PIPE, check=False)
        lines = done.stdout.decode().splitlines()
        self.tap.check('proof_structs_that_differ_are_refused_when_loaded', '' if done.returncode == 0 and lines == [
            '1 lib_first: t has 8 bytes in its form for the CPU and 12 in its descriptor',
            '1 lib_set_held: held has 8 bytes in its form for the CPU and 12 in its descriptor'] else f'{lines}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('builddir')
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        options = parser.parse_args()
        options.builddir = os.path.abspath(options.builddir)
        test = ProofTest(options, tap, folder)
        test.generate()
        test.compilers()
        test.entry()
        test.loading()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
