"""cfcc_programs.py - tests of programs and shared objects that are linked with objects of cfcc. Part of
test_cfcc.py."""

import json
import os
import re
import shlex
import shutil

from cfcc_case import KERNEL, ON_CPU, CfccTest, defined, listed
from tap import NEEDS_CLANG, NEEDS_NO_SANITIZER, NEEDS_NVCC, ROOT, run

SYSTEM_HEADER = '''#pragma once
#pragma GCC system_header
#include "meet.cuh"
/* A function that uses the block. */
template <typename T> __device__ T block_sum(T x)
{
    __shared__ T part[256];
    part[threadIdx.x] = x;
    meet();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        meet();
    }
    return part[0];
}
static __device__ float *scratch()
{
    extern __shared__ float memory[];
    return memory;
}
static __device__ float *unused()
{
    extern __shared__ float other[];
    __shared__ alignas(16) float four[4];
    return other + (four == other);
}
'''

# The first kernel is cooperative: one CPU thread runs several blocks at once. In the second, only a function of the
# header has a barrier.
BLOCK_SUMS = '''#include <deep/sum.cuh>
#pragma cf kernel blocks(n) block(256) cooperative in(x[n][256]) out(y[n])
__global__ void sums(const int *x, int *y, int n)
{
    int all = block_sum(x[blockIdx.x * 256 + threadIdx.x]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = all;
}
#pragma cf kernel blocks(n) block(64) shared(64 * sizeof(float)) out(y[n])
__global__ void last(float *y, int n)
{
    float *memory = scratch();
    memory[threadIdx.x] = blockIdx.x + threadIdx.x;
    meet();
    if (threadIdx.x == 0)
        y[blockIdx.x] = memory[63];
}
'''

BLOCK_SUMS_PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include "heat.h"
int main(void)
{
    static int x[9 * 256], y[9], wrong;
    static float z[9];
    for (int i = 0; i < 9 * 256; i++)
        x[i] = i / 256 + 1;
    if (heat_sums(x, y, 9) || heat_last(z, 9))
        return puts(cf_last_error()), 1;
    for (int i = 0; i < 9; i++)
        wrong += y[i] != 256 * (i + 1) || z[i] != i + 63;
    puts(wrong ? "wrong" : "right");
    return cf_shutdown();
}
'''

INTERFACES = '''#include <stdint.h>
#include "body.h"

__constant__ float scale[4];

#pragma cf kernel grid(n) out(x[n])
#pragma cf instances(i32: int32_t; f64: double)
template <typename T> __global__ void fill(T *x, T value, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

#pragma cf kernel include("body.h") grid(n) inout(bodies[n])
__global__ void move(struct body *bodies, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bodies[i].mass *= 2;
}

#pragma cf kernel grid(n) out(x[n]) host(slow_on_cpu)
__global__ void slow(int *x, int64_t n)
{
    __syncthreads();
}

#pragma cf kernel grid(n) out(x[n])
__global__ void _hidden(int *x, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1;
}
'''

# All headers of C11 and POSIX, and some headers that other headers include.
STANDARD_HEADERS = '''assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype aio
    arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue net/if netdb
    netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore spawn strings sys/ipc sys/mman
    sys/msg sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/sysmacros sys/time sys/times
    sys/types sys/uio sys/un sys/utsname sys/wait syslog tar termios unistd utime utmpx wordexp'''.split()

# Macros that kernels may use as names of parameters; the headers must define most of them.
MACROS = {'I', 'complex', 'imaginary', 'unix', 'linux', 'errno', 'stdin', 'stdout', 'stderr', 'assert', 'signbit',
          'isnan', 'noreturn', 'offsetof', 'EOF', 'INT_MAX', 'M_PI', 'minor', 'major', 'st_atime', 'sa_handler',
          's6_addr', 'sqrt', 'CHAR_BIT', 'SIGINT', 'math_errhandling', 'N', 'n'}

# Keywords of C++, which cannot be names of parameters.
CXX_WORDS = {'alignas', 'alignof', 'and', 'and_eq', 'bitand', 'bitor', 'bool', 'compl', 'false', 'not', 'not_eq', 'or',
             'or_eq', 'static_assert', 'thread_local', 'true', 'xor', 'xor_eq'}

GIVEN_MACROS = '''#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <deep/count.h>
#pragma cf kernel grid(n) out(y[n])
__global__ void sum(int *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        y[k] = N + T + X + A + i + value + DEEP * 7000000 + 50;
}
'''

PROGRAM = '''#include <stdio.h>
#include "heat.h"
int main(void)
{
    float x[2] = {1, 4}, y[2];
    if (heat_twice(x, y, 2) != CF_OK)
        return 1;
    printf("%g %g\\n", y[0], y[1]);
    return 0;
}
'''

SAME_NAMES = '''struct Add {{
    __device__ float operator()(float x) const
    {{
        return x + {more};
    }}
}};
template <typename T> __device__ T scaled(T x)
{{
    return x * {more};
}}
__device__ float moved(float x)
{{
    return x + {more} + (float)threadIdx.x;
}}
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void first{number}(const float *x, float *y, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scaled(Add()(x[i])) + scaled(moved(x[i])) + {more} * 2;
}}
'''


class ProgramTest(CfccTest):
    def interfaces(self):
        """Every kind of function that a program calls is global; undefined names belong to the library or the program
        only."""
        self.fresh()
        self.write('kernels/body.h', 'struct body {\n    float mass;\n};\n')
        self.write('kernels/heat.cu', INTERFACES)
        result = self.compile('kernels/heat.cu', '--header', 'calls.h', '--manifest', 'heat.json')
        self.expect('cfcc_includes_headers_beside_the_source', result == (0, '', ''), result)
        functions = {f'heat_{name}' for name in ('fill_i32', 'fill_f64', 'move', 'slow', '_hidden', 'set_scale')}
        updates = {f'heat_{name}_update' for name in ('fill_i32', 'fill_f64', 'move', 'slow', '_hidden')}
        functions |= {f'{name}_async' for name in functions} | updates
        names = defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_shows_every_kind_of_function', names == functions | {'heat_registry'}, names)
        _, out, _ = run(['nm', '-u', 'heat.o'], cwd=self.folder)
        needed = {line.split()[-1] for line in out.splitlines()}
        good = {'cf_call', 'cf_launch', 'cf_symbol_set', 'slow_on_cpu'} <= needed and not any(
            n.startswith(('_Z', 'heat')) for n in needed)
        self.expect('cfcc_object_needs_the_library_and_what_the_program_brings', good, needed)
        self.write('kernels/calls.h', '#define THREE 3\n')
        self.write('kernels/own.cu', '#include "calls.h"\n#pragma cf kernel grid(THREE) out(x[THREE])\n'
                   '__global__ void three(int *x)\n{\n    x[threadIdx.x] = THREE;\n}\n')
        result = self.compile('kernels/own.cu', '--header', 'calls.h')
        self.expect('cfcc_header_called_as_a_users_is_not_mixed_up', result == (0, '', ''), result)
        self.write('kernels/own.cu', self.read('kernels/own.cu').replace('kernel', 'kernel include("calls.h")'))
        result = self.compile('kernels/own.cu', '--header', 'calls.h')
        self.expect('cfcc_header_that_would_include_itself_is_refused', result[0] == 1 and '--header' in result[2],
                    result)
        result = self.compile('kernels/heat.cu', '--header', 'calls.h')
        header = self.read('calls.h')
        manifest = json.loads(self.read('heat.json'))
        self.expect('cfcc_manifest_lists_kernels_and_constants', manifest['header'] == 'calls.h' and
                    {k['name'] for k in manifest['kernels']} >= {'fill_i32', 'move'} and
                    [s['function'] for s in manifest['symbols']] == ['heat_set_scale'], manifest)
        self.expect('cfcc_header_guards_its_own_name', '#ifndef CUFERRY_CALLS_H' in header and '"body.h"' in header,
                    header)

    def program(self):
        """Links the object with a C program, by the command that the manual states, and runs it."""
        self.fresh()
        self.compile('heat.cu')
        self.write('main.c', PROGRAM)
        library = os.path.join(self.builddir, 'libcuferry.a')
        command = [*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']), f'-I{ROOT}/include',
                   'main.c', 'heat.o', library, '-lpthread', '-ldl', '-lm', '-o', 'main']
        code, out, err = run(command, cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=self.env)
        self.expect('cfcc_object_links_and_runs', (code, out) == (0, '2 8\n'), f'{out}{err}')
        self.same_names(command[:-3])

    def same_names(self, command):
        """Helper functions in two kernel files have the same names. Without optimization no compiler inlines them."""
        self.fresh(heat=SAME_NAMES.format(number=1, more='1'), cool=SAME_NAMES.format(number=2, more='10'))
        result = self.compile('-O0', 'heat.cu', 'cool.cu')
        self.check('cfcc_compiles_helpers_with_the_same_names', result, 'heat.h', 'heat.o')
        self.write('main.c', '#include "heat.h"\n#include <stdio.h>\nint main(void)\n{\n    float x = 1, y = 0, z = '
                             '0;\n'
                   '    int status = heat_first1(&x, &y, 1) || heat_first2(&x, &z, 1);\n'
                   '    printf("%d %g %g\\n", status, y, z);\n    return 0;\n}\n')
        code, out, err = run([*command, '-ldl', '-lm', '-o', 'main'], cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=self.env)
        self.expect('cfcc_helpers_with_the_same_names_stay_apart', (code, out) == (0, '0 6 240\n'), f'{out}{err}')

    def macros(self):
        """A parameter may have the name of a standard header's macro, even if the program includes all of these
        headers."""
        self.fresh()
        headers = ''.join(f'#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n' for h in STANDARD_HEADERS)
        self.write('all.h', '#define N 7\n#define n 8\n' + headers)
        cc, cxx = (shlex.split(self.config[name]) for name in ('cc', 'cxx'))
        _, out, _ = run([*cc, '-std=gnu11', '-D_GNU_SOURCE', '-dM', '-E', 'all.h'], cwd=self.folder)
        found = set(re.findall(r'^#define ([A-Za-z]\w*)', out, re.MULTILINE))
        self.expect('cfcc_standard_headers_have_the_macros_that_are_tried',
                    len(MACROS - found) < 3 and len(found) > 1000,
                    MACROS - found)
        names = sorted((found | MACROS) - CXX_WORDS)
        groups = [names[at:at + 300] for at in range(0, len(names), 300)]
        kernels, calls = [''.join(f'#undef {name}\n' for name in names)], []
        for number, group in enumerate(groups):
            terms = ' + '.join(f'{weight} * {name}' for weight, name in enumerate(group, 1))
            kernels.append(f'#pragma cf kernel grid(1) out(out_[1])\n#pragma cf instances(f32: float; f64: double)\n'
                           f'template <typename T> __global__ void k{number}(T *out_, '
                           f'{", ".join(f"T {name}" for name in group)})\n{{\n    out_[0] = {terms};\n}}\n')
            values = ', '.join(str(weight % 5) for weight in range(len(group)))
            right = sum(weight * ((weight - 1) % 5) for weight in range(1, len(group) + 1))
            calls.append(f'    wrong += m_k{number}(&x, {values}) || m_k{number}(&y, {values}) || x != {right} || '
                         f'y != {right};\n')
        self.write('m.cu', ''.join(kernels))
        result = self.compile('-O0', 'm.cu')
        self.check('cfcc_parameters_called_as_macros_compile', result, 'all.h', 'm.h', 'm.o')
        main = ('#include "m.h"\nint main(void)\n{\n    float x = 0;\n    double y = 0;\n    int wrong = 0;\n' +
                ''.join(calls) + '    return wrong;\n}\n')
        library = os.path.join(self.builddir, 'libcuferry.a')
        for language, compiler, standard in (('c', cc, 'gnu11'), ('c++', cxx, 'c++11'), ('c++', cxx, 'c++17')):
            self.write('main', '#include "all.h"\n' + main)
            code, out, err = run([*compiler, f'-std={standard}', '-D_GNU_SOURCE', '-Wall', '-Werror',
                                  *shlex.split(self.config['link_flags']), f'-I{ROOT}/include', '-x', language, 'main',
                                  '-x', 'none', 'm.o',
                                  library, '-lpthread', '-ldl', '-lm', '-o', 'program'], cwd=self.folder)
            if code == 0:
                code, out, err = run(['./program'], cwd=self.folder, env=self.env)
            self.expect(f'cfcc_parameters_called_as_macros_are_right_in_{standard}', code == 0,
                        f'exit {code}: {out}{err}')

    def given_macros(self):
        """A macro on the command line may have any name that the library's headers use; it affects only other
        headers."""
        self.fresh(heat=GIVEN_MACROS)
        self.write('lib/deep/count.h', 'enum { DEEP = N };\n')
        self.write('main.c', '#include "heat.h"\n#include <stdio.h>\nint main(void)\n{\n    int y = 0;\n'
                             '    puts(heat_sum(&y, 1) == CF_OK && y == 7654371 ? "right" : cf_last_error());\n'
                             '    return 0;\n}\n')
        result = self.compile('-Xcxx=-isystem', '-Xcxx=lib', '-DN=1', '-DT=20', '-DX=300', '-DA=4000', '-Di=50000',
                              '-Xcxx=-Dvalue=600000', '-DNDEBUG', '-D_GNU_SOURCE', 'heat.cu')
        self.prints_right('cfcc_macros_of_the_command_line_are_not_for_its_headers', result, 'main.c', 'heat.o')

    def operations(self):
        """The entry points of operations are defined in a C file, which is part of the program or an argument of
        cfcc."""
        operation = ('#pragma cf operation in(x[n]) out(y[n]) scratch(z[n]) uses(twice)\n'
                     'void four(const float *x, float *y, float *z, int64_t n);\n')
        body = ('#include "heat_internal.h"\nint heat__enqueue_four(cf_stream s, const float *x, float *y, float *z, '
                'int64_t n)\n'
                '{\n    int status = heat_twice_async(s, x, z, n);\n'
                '    return status == CF_OK ? heat_twice_async(s, z, y, n) : status;\n}\n')
        program = PROGRAM.replace('heat_twice', 'heat_four')
        library = os.path.join(self.builddir, 'libcuferry.a')
        build = [*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']), f'-I{ROOT}/include']
        end = [library, '-lpthread', '-ldl', '-lm', '-o', 'main']
        self.fresh(heat=KERNEL + operation)
        self.write('main.c', program)
        self.write('four.c', body)
        for name, words, files in (('of_the_program', [], ['four.c']), ('given_to_cfcc', ['four.c'], [])):
            result = self.compile('-MD', 'heat.cu', *words)
            code, out, err = run([*build, 'main.c', *files, 'heat.o', *end], cwd=self.folder)
            if code == 0:
                code, out, err = run(['./main'], cwd=self.folder, env=self.env)
            self.expect(f'cfcc_operation_{name}_runs', (result, code, out) == ((0, '', ''), 0, '4 16\n'),
                        f'{result}{out}{err}')
        names = defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_shows_no_function_that_only_enqueues',
                    names == {'heat_twice', 'heat_twice_async', 'heat_twice_update', 'heat_four', 'heat_four_async',
                              'heat_registry'}, names)
        read = self.read('heat.d')
        self.expect('cfcc_md_names_c_files_and_no_header_that_it_makes', ' four.c' in read and 'heat' not in
                    read.replace('heat.o', '').replace('heat.cu', ''), read)
        said = 'heat.cu calls heat__enqueue_four, which is in none of the files; name the object that has it, too: '
        if not self.is_sanitized:
            code, out, err = self.compile('--shared', 'heat.cu')
            self.expect('cfcc_shared_operation_that_is_nowhere_is_refused', code == 1 and said in err, f'{out}{err}')
            result = self.compile('--shared', 'heat.cu', 'four.c')
            ran = run([self.cf_run, '--module', './heat.so', '--verify', '--all'], cwd=self.folder, env=self.env)
            self.expect('cf_run_runs_operations_of_a_shared_object', result == (0, '', '') and ran[0] == 0 and
                        '2 of 2 kernels agree' in ran[1], f'{result}{ran}')
            run([*build, '-fPIC', '-c', 'four.c'], cwd=self.folder)
            self.compile('heat.cu')
            code, out, err = self.compile('--shared', '-o', 'both.so', 'heat.o', 'four.o')
            ran = run([self.cf_run, '--module', './both.so', 'four', 'x=fill:f32:3:1'], cwd=self.folder, env=self.env)
            self.expect('cf_run_runs_operations_of_another_object', code == 0 and ran[0] == 0, f'{out}{err}{ran}')
        self.fresh(heat=KERNEL + operation)
        self.write('four.c', body.replace('const float *x', 'const double *x'))
        code, out, err = self.compile('heat.cu', 'four.c')
        self.expect('cfcc_operation_of_other_types_does_not_compile', code == 1 and "conflicting types for" in err and
                    'four.c:2:5: ' in err and listed(self.folder) == ['four.c', 'heat.cu']
                    and self.temporary not in err, f'{out}{err}')
        code, out, err = self.compile('four.c')
        self.expect('cfcc_c_file_alone_is_refused', code == 2 and
                    'four.c: C files go with the kernel files whose operations they define' in err, f'{out}{err}')
        self.internal_header(operation)

    def internal_header(self, operation):
        """cfcc makes the internal header if there are operations; otherwise the user may have a file with this name."""
        self.fresh(heat='#include "heat_internal.h"\n' +
                   KERNEL.replace('kernel', 'kernel include("heat_internal.h")').replace('2 *', 'OWN *'))
        self.write('heat_internal.h', '#define OWN 2\n')
        result = self.compile('-MD', 'heat.cu')
        self.expect('cfcc_leaves_a_header_that_is_called_as_an_internal_one_alone', result == (0, '', '') and
                    self.read('heat_internal.h') == '#define OWN 2\n' and 'heat_internal.h' in self.read('heat.d'),
                    result)
        self.fresh(heat=KERNEL + operation)
        self.write('heat_internal.h', 'int own;\n')
        for test, words, said in (
                ('does_not_write_over_an_internal_header_of_the_users', [],
                 'heat_internal.h is there, and cfcc did not write it'),
                ('internal_header_of_another_output_is_refused', ['--manifest', 'heat_internal.h'],
                 'the outputs have to be different files')):
            code, out, err = self.compile('heat.cu', *words)
            self.expect(f'cfcc_{test}', code == 1 and said in err
                        and listed(self.folder) == ['heat.cu', 'heat_internal.h'],
                        f'{out}{err}')

    def system_headers(self):
        """Device code may have barriers and shared memory in headers that the compiler treats as system headers."""
        compilers = [('gcc', []), ('clang', ['--cc', 'clang', '--cxx', 'clang++'])]
        for name, words in compilers:
            test = f'cfcc_device_code_of_system_headers_runs_with_{name}'
            if words and not (shutil.which('clang') and shutil.which('clang++')):
                self.tap.skip(test, NEEDS_CLANG)
                continue
            self.fresh(heat=BLOCK_SUMS)
            self.write('lib/deep/sum.cuh', SYSTEM_HEADER)
            self.write('lib/deep/meet.cuh', '#define LIB_DEVICE static __device__ __forceinline__\n'
                                            'LIB_DEVICE void meet() { int nothing; __syncthreads(); }\n')
            self.write('main.c', BLOCK_SUMS_PROGRAM)
            code, out, err = self.compile(*words, '-Xcxx=-isystem', '-Xcxx=lib', '-Xcxx=-Werror', 'heat.cu')
            self.prints_right(test, (code, out, err), 'main.c', 'heat.o')
        self.fresh(heat=BLOCK_SUMS.replace('#include <deep/sum.cuh>', '#define SUM <deep/sum.cuh>\n#include SUM'))
        self.write('lib/deep/sum.cuh', SYSTEM_HEADER)
        self.write('lib/deep/meet.cuh', 'static __device__ void meet() { __syncthreads(); }\n')
        result = self.compile('-Xcxx=-isystem', '-Xcxx=lib', 'heat.cu')
        self.expect('cfcc_shared_memory_of_a_header_that_a_macro_names_compiles', result == (0, '', ''), result)

    def random_numbers(self):
        """The CPU generates the numbers that the publications of cuRAND's generators specify."""
        nvcc = self.config['nvcc']
        header = os.path.join(os.path.dirname(os.path.realpath(nvcc)), '..', 'include', 'curand_kernel.h')
        # nvcc compiles the kernels only once, to PTX. The CPU code is compiled as C++17 by clang and as C++20 by gcc.
        runs = [('gcc_as_c++20', ['-Xcxx=-std=c++20', '--targets=90-virtual'], None),
                ('clang', ['--cc', 'clang', '--cxx', 'clang++', '-O2'], '--cuda=no')]
        if os.environ.get('CHECK_LONG') or not shutil.which('clang++'):
            runs.append(('gcc', ['--targets=90'], None))
        for name, words, cuda in runs:
            test = f'cfcc_curand_draws_published_numbers_with_{name}'
            if not nvcc or not os.path.isfile(header):
                self.tap.skip(test, NEEDS_NVCC if not nvcc else "needs the toolkit's curand_kernel.h")
                continue
            if 'clang' in words and not shutil.which('clang++'):
                self.tap.skip(test, NEEDS_CLANG)
                continue
            self.fresh(unused='')
            for file in ('draws.cu', 'draws.c'):
                shutil.copy(os.path.join(ROOT, 'tests', 'tools', file), self.folder)
            self.prints_right(test, self.compile(*words, 'draws.cu', cuda=cuda), 'draws.c', 'draws.o')

    def shared(self):
        runtime = set()
        for header in ('cuferry.h', 'cuferry/tuning.h'):
            with open(os.path.join(ROOT, 'include', header), encoding='utf-8') as file:
                runtime |= set(re.findall(r'^(?!typedef)(?:CF_CHECKED )?[\w ]+[ *](cf_\w+)\(', file.read(),
                                          re.MULTILINE))
        public = runtime | {'heat_twice', 'heat_twice_async', 'heat_twice_update', 'heat_registry', 'cf_module_info'}
        self.fresh()
        result = self.compile('--shared', '-o', 'libheat.so', 'heat.cu')
        self.expect('cfcc_shared_library_has_the_prefix_without_lib', result[0] == 0 and 'heat_' in self.read('heat.h'),
                    result)
        os.remove(os.path.join(self.folder, 'libheat.so'))
        result = self.compile('-Xcxx=-DNOTHING', '-Xcxx=-fno-such-flag', '-o', 'flags.o', '--header', 'flags.h',
                              'heat.cu')
        self.expect('cfcc_passes_flags_to_the_compiler', result[0] == 1 and '-fno-such-flag' in result[2], result)
        result = self.compile('--shared', 'heat.cu')
        self.check('cfcc_shared_gives_shared_object_and_header', result, 'heat.h', 'heat.so')
        names = defined(os.path.join(self.folder, 'heat.so'), '-D')
        self.expect('cfcc_shared_object_exports_its_functions_and_the_runtime', names == public, names ^ public)
        self.loads('cfcc_shared_object_loads_alone', './heat.so')
        result = self.compile('--shared', '--kernels', '-o', 'kernels.so', '--prefix', 'heat', 'heat.cu')
        names = defined(os.path.join(self.folder, 'kernels.so'), '-D')
        self.expect('cfcc_shared_object_of_kernels_exports_their_module_alone', result == (0, '', '') and
                    names == {'cf_module_info'}, f'{result}{names}')
        self.write('user.c', 'int cf_shutdown(void);\nint main(void) { return cf_shutdown(); }\n')
        result = run([*shlex.split(self.config['cc']), 'user.c', './heat.so', '-o', 'user'], cwd=self.folder)
        if result[0] == 0:
            result = run([os.path.join(self.folder, 'user')], env=dict(os.environ, LD_LIBRARY_PATH=self.folder))
        self.expect('cfcc_shared_object_links_into_a_program', result == (0, '', ''), result)
        self.compile('heat.cu')
        result = self.compile('--shared', 'heat.o', '-o', 'from_object.so')
        names = defined(os.path.join(self.folder, 'from_object.so'), '-D')
        good = result == (0, '', '') and names == public
        self.expect('cfcc_shared_takes_an_object', good, f'{result} {names ^ public}')
        self.loads('cfcc_shared_object_of_an_object_loads_alone', './from_object.so')

        self.compile('--prefix', 'other', '-o', 'other.o', 'heat.cu')
        code, _, err = self.compile('--shared', 'heat.o', 'other.o', '-o', 'both.so')
        good = code == 1 and 'heat.o is of the prefix heat and other.o is of the prefix other' in err
        self.expect('cfcc_shared_refuses_two_libraries', good, err)
        self.write('plain.c', 'int plain = 1;\n')
        run([*shlex.split(self.config['cc']), '-c', 'plain.c'], cwd=self.folder)
        code, _, err = self.compile('plain.o')
        self.expect('cfcc_object_without_shared_is_refused',
                    code == 2 and 'plain.o: objects go with --shared alone, or have GPU code of nvcc -rdc=true' in err,
                    err)
        code, _, err = self.compile('--shared', 'plain.o')
        self.expect('cfcc_shared_refuses_what_it_did_not_make', code == 1 and 'cfcc made none of plain.o' in err, err)
        code, _, err = self.compile('--shared', 'heat.h.o')
        self.expect('cfcc_shared_missing_object_is_refused', code == 1 and 'heat.h.o: no such file' in err, err)

    def functions_for_the_cpu(self):
        """A function that runs on the CPU instead of a kernel may be in another object, and may need the C++
        library."""
        if self.is_sanitized:
            self.tap.skip('cfcc_shared_finds_functions_for_the_cpu', NEEDS_NO_SANITIZER)
            return
        self.fresh(heat=KERNEL.replace('#pragma cf kernel', '#pragma cf kernel host(twice_on_cpu)'))
        said = 'heat.cu calls twice_on_cpu, which is in none of the files; name the object that has it, too: ' \
               'cfcc --shared -o FILE.so heat.cu OBJECT.o\n'
        self.refused('cfcc_function_that_is_nowhere_is_refused', self.compile('--shared', 'heat.cu'), 1,
                     f'cfcc: {said}')
        self.compile('heat.cu')
        code, out, err = run([self.cf_run, '--module', 'heat.o', '--list'], cwd=self.folder, env=self.env)
        path = os.path.join(self.folder, 'heat.o')
        good = code == 1 and err.startswith('cf-run: heat.o: ') and f"--shared -o FILE.so '{path}' OBJECT.o\n" in err
        self.expect('cf_run_names_the_function_that_an_object_lacks', good, f'{code}: {out}{err}')
        self.write('body.c', ON_CPU)
        run([*shlex.split(self.config['cc']), '-fPIC', '-c', 'body.c'], cwd=self.folder)
        result = self.compile('--shared', '-o', 'both.so', 'heat.o', 'body.o')
        self.expect('cfcc_shared_takes_the_object_of_a_function', result == (0, '', ''), result)
        self.listed('cf_run_lists_a_library_whose_function_is_in_another_object', './both.so')
        command = [self.cf_run, '--check', 'race', '--module', './both.so', 'twice', 'x=fill:f32:3:1']
        code, out, err = run(command, cwd=self.folder, env=self.env)
        self.expect('cf_run_check_says_which_files_it_builds', code == 1 and 'undefined symbol: twice_on_cpu' in err and
                    '--check builds kernel files alone' in err, f'{code}: {out}{err}')
        throwing = ('#include <stdexcept>\n#include <vector>\n'
                    'static void twice_on_cpu(const float *x, float *y, int64_t n)\n{\n'
                    '    try {\n        std::vector<float>(n, 1.f).at(n);\n    } catch (std::out_of_range &) {\n'
                    '        for (int64_t i = 0; i < n; i++)\n            y[i] = 2 * x[i];\n    }\n}\n')
        self.fresh(heat='#include <stdint.h>\n' + throwing + KERNEL.replace('cf kernel',
                                                                            'cf kernel host(twice_on_cpu)'))
        result = self.compile('-Xcxx=-fexceptions', 'heat.cu')
        self.check('cfcc_takes_a_function_with_exceptions', result, 'heat.h', 'heat.o')
        self.listed('cf_run_lists_an_object_that_needs_the_cxx_library', 'heat.o')
        result = self.compile('--shared', '-Xcxx=-fexceptions', 'heat.cu')
        self.expect('cfcc_shared_links_the_cxx_library_where_it_is_needed', result == (0, '', ''), result)
        self.loads('cfcc_shared_object_that_throws_loads_alone', './heat.so')
