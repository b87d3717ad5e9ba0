"""test_cfcc.py - tests the compiler driver of a build folder: the files that it writes, refuses and leaves behind.

usage: test_cfcc.py BUILDDIR
"""

import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from cfcc_flags import FlagTest
from cfcc_record import RecordTest
from manual import manual_problem
from tap import NEEDS_CLANG, NEEDS_NO_SANITIZER, NEEDS_NVCC, ROOT, Tap, path_without_nvcc, run, unignore_signals


KERNEL = '''#include <stdint.h>
/* y is twice x, for n elements. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void twice(const float *x, float *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
'''

LOCKSTEP = '''#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void fold(float *x)
{
    __shared__ volatile float s[64];
    const int i = threadIdx.x;
    s[i] = x[i];
    s[i] += s[i + 16];
    s[i] += s[i + 8];
    x[i] = s[i];
}
'''

VIEW = '''struct view {
    int n;
    const float *data;
    int made[2];
};
#pragma cf kernel grid(v.n) out(y[v.n])
__global__ void take(view v, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n)
        y[i] = v.data[i];
}
'''

SYSTEM_HEADER = '''#pragma once
#pragma GCC system_header
#include "meet.cuh"
/* Of a block. */
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

# The first kernel is cooperative: one CPU thread runs several blocks at once. The second waits only in the header.
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

# Functions that exist as GPU code alone; the CPU has a form of the first kernel.
GPU_CALLS = '''extern "C" __device__ float ptx_f32(const float *x, int n);
extern "C" __device__ float cubin_f32(const float *x, int n);
extern "C" __device__ float fatbin_f32(const float *x, int n);
extern "C" __device__ float o_f32(const float *x, int n);
extern "C" __device__ float a_f32(const float *x, int n);
static void copy_here(float *r, const float *x, int n)
{
    for (int i = 0; i < n; i++)
        r[i] = x[i];
}
#pragma cf kernel grid(n) in(x[n]) out(r[n]) host(copy_here)
__global__ void copy(float *r, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = ptx_f32(x, i);
}
#pragma cf kernel blocks(1) block(1) in(x[n]) out(r[1]) host(none)
__global__ void reduce(float *r, const float *x, int n)
{
    *r = cubin_f32(x, n - 1) + fatbin_f32(x, 0) + o_f32(x, 1) + a_f32(x, 2);
}
'''

# A function that runs on the CPU instead of a kernel; the text is no section with GPU code.
ON_CPU = '''#include <stdint.h>
extern const char text[];
const char text[] = "__nv_relfatbin";
void twice_on_cpu(const float *, float *, int64_t);
void twice_on_cpu(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
'''

GPU_FUNCTION = 'extern "C" __device__ float {}_f32(const float *x, int n) {{ return x[n]; }}\n'

GPU_CALLS_PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include "heat.h"
int main(void)
{
    float r[32], x[32];
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        x[i] = 1 / (float)(i + 3);
    if (heat_copy(r, x, 32) != CF_OK || heat_reduce(r, x, 32) != CF_ENOTSUP)
        return 1;
    for (int i = 0; i < 32; i++)
        wrong += r[i] != x[i];
    puts(wrong ? "wrong" : "right");
    return 0;
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

DRAW = '''#include <curand_kernel.h>
#pragma cf kernel grid(n) inout(states[n]) out(x[n])
__global__ void draw(curandState *states, float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = curand_uniform(&states[i]);
}
#pragma cf kernel grid(n) out(states[n]) host(none)
__global__ void seed(curandState *states, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        curand_init(1, i, 0, &states[i]);
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

# All headers of C11 and POSIX, and some headers that others include.
STANDARD_HEADERS = '''assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype aio
    arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue net/if netdb
    netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore spawn strings sys/ipc sys/mman
    sys/msg sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/sysmacros sys/time sys/times
    sys/types sys/uio sys/un sys/utsname sys/wait syslog tar termios unistd utime utmpx wordexp'''.split()

# Macros whose names a kernel's parameters may have; the headers must define most of them.
MACROS = {'I', 'complex', 'imaginary', 'unix', 'linux', 'errno', 'stdin', 'stdout', 'stderr', 'assert', 'signbit',
          'isnan', 'noreturn', 'offsetof', 'EOF', 'INT_MAX', 'M_PI', 'minor', 'major', 'st_atime', 'sa_handler',
          's6_addr', 'sqrt', 'CHAR_BIT', 'SIGINT', 'math_errhandling', 'N', 'n'}
# Words of C++ that cannot be names of parameters.
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

# Calls a function of a shared object and prints the prefix of its registry.
LOADER = '''import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
x, y = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_float * 3)()
status = getattr(library, sys.argv[2])(x, y, ctypes.c_int64(3))
library.cf_module_info.restype = ctypes.POINTER(ctypes.c_void_p * 2)
prefix = ctypes.string_at(library.cf_module_info().contents[1]).decode()
print(status, *y, prefix, library.cf_version())
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


def listed(folder):
    """Returns all files below a folder, as relative paths."""
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


def defined(path, *options):
    """Returns the names that an object or a shared object exports."""
    _, out, err = run(['nm', '--defined-only', *options, path])
    return {line.split()[-1] for line in out.splitlines()} or {err}


class CfccTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir = tap, os.path.abspath(builddir)
        self.cfcc, self.cf_run = (os.path.join(self.builddir, name) for name in ('cfcc', 'cf-run'))
        with open(os.path.join(self.builddir, 'cfcc.json'), encoding='utf-8') as file:
            self.config = json.load(file)
        self.is_sanitized = '-fsanitize' in self.config['link_flags']
        # Temporary folders are made here, so that the test sees any that are left.
        self.folder, self.temporary = os.path.join(folder, 'a folder'), os.path.join(folder, 'temporary')
        os.mkdir(self.temporary)
        self.env = dict(os.environ, TMPDIR=self.temporary, CF_DRIVER='host')

    def fresh(self, **files):
        """Makes an empty folder with these kernel files, by default heat.cu."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for name, text in (files or {'heat': KERNEL}).items():
            self.write(f'{name}.cu', text)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            return file.read()

    def compile(self, *arguments, cuda='--cuda=no', cfcc=None, **environment):
        # Code for the CPU alone is compiled without optimisation, which takes less time.
        words = [cuda, '-O0'] if cuda == '--cuda=no' else [cuda] if cuda else []
        return run([cfcc or self.cfcc, *words, *arguments], cwd=self.folder,
                   env=dict(self.env, **environment))

    def begin(self, *arguments):
        return subprocess.Popen([self.cfcc, '--cuda=no', *arguments], cwd=self.folder, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=unignore_signals)

    def check(self, name, result, *expected):
        """A run that prints nothing, and leaves these files beside the kernel files."""
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        problem = '' if result == (0, '', '') and left == sorted(expected) else f'{result}, left {left}'
        self.tap.check(name, problem or self.temporary_left())

    def refused(self, name, result, code, *expected):
        """A run that fails with all of these texts and no temporary path, and writes nothing."""
        status, out, err = result
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        lost = [text for text in expected if text not in err]
        wrong = status != code or out or lost or left or self.temporary in err or self.temporary_left()
        self.expect(name, not wrong, f'exit {status}, missing {lost}, left {left}: {out}{err}')

    def expect(self, name, is_good, detail):
        self.tap.check(name, '' if is_good else str(detail))

    def temporary_left(self):
        return ', '.join(os.listdir(self.temporary))

    # ---- Outputs

    def outputs(self):
        self.fresh()
        self.check('cfcc_kernel_file_gives_object_and_header', self.compile('heat.cu'), 'heat.h', 'heat.o')
        names = defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_shows_its_functions_and_registry_alone',
                       names == {'heat_twice', 'heat_twice_async', 'heat_twice_update', 'heat_registry'}, names)
        with open(os.path.join(self.folder, 'heat.o'), 'rb') as file:
            first = file.read()
        header = os.path.join(self.folder, 'heat.h')
        os.utime(header, (1, 1))
        os.utime(os.path.join(self.folder, 'heat.o'), (1, 1))
        self.compile('heat.cu')
        times = [os.path.getmtime(os.path.join(self.folder, name)) for name in ('heat.h', 'heat.o')]
        self.expect('cfcc_unchanged_header_keeps_its_time', times[0] == 1 and times[1] > 1, times)
        self.write('heat.cu', KERNEL.replace('int64_t n', 'int32_t n'))
        self.compile('heat.cu')
        self.expect('cfcc_changed_kernel_changes_the_header', 'int32_t n' in self.read('heat.h'), self.read('heat.h'))

        self.fresh(first=KERNEL, second=KERNEL.replace('twice', 'again'))
        os.mkdir(os.path.join(self.folder, 'out'))
        result = self.compile('first.cu', '--prefix', 'x', '-o', 'out/all.o', 'second.cu', '--header',
                              'out/calls.h', '-MF', 'out/deps')
        self.check('cfcc_options_name_the_outputs', result, 'out/all.o', 'out/calls.h', 'out/deps')
        names = defined(os.path.join(self.folder, 'out', 'all.o'), '-g')
        self.expect('cfcc_files_of_one_run_are_one_library', {'x_twice', 'x_again', 'x_registry'} < names, names)

        if self.is_sanitized:
            self.tap.skip('cfcc_same_input_gives_the_same_bytes', NEEDS_NO_SANITIZER)
            return
        self.fresh()
        result = self.compile('heat.cu', '-o', 'other.o', '--header', 'heat.h', '--prefix', 'heat')
        with open(os.path.join(self.folder, 'other.o'), 'rb') as file:
            self.expect('cfcc_same_input_gives_the_same_bytes', first == file.read(), result)
        self.expect('cfcc_object_names_no_temporary_folder',
                       self.temporary.encode() not in first, 'the path of the temporary folder is in the object')

    def interfaces(self):
        """Every kind of function that a program calls is global, and undefined names are only those of the library and
        the program."""
        self.fresh()
        self.write('kernels/body.h', 'struct body {\n    float mass;\n};\n')
        self.write('kernels/heat.cu', INTERFACES)
        result = self.compile('kernels/heat.cu', '--header', 'calls.h', '--manifest', 'heat.json')
        self.expect('cfcc_includes_headers_beside_the_source', result == (0, '', ''), result)
        functions = {f'heat_{name}' for name in ('fill', 'fill_i32', 'fill_f64', 'move', 'slow', '_hidden',
                                                 'set_scale')}
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

    def depfile(self):
        self.fresh()
        self.write('sub dir/in ner.h', '#define FACTOR 2\n')
        self.write('sub dir/outer.h', '#include "in ner.h"\n')
        text = KERNEL.replace('2 *', 'FACTOR * FAR * SET *')
        self.write('sub dir/heat.cu', '#include "outer.h"\n#include <far.h>\n' + text)
        self.write('far/far.h', '#define FAR 1\n')
        result = self.compile('-MD', '-I', 'far', '-DSET=(1 + 0)', 'sub dir/heat.cu')
        self.expect('cfcc_takes_headers_and_macros_as_the_source_sees_them', result == (0, '', ''), result)
        text = self.read('heat.d') if not result[0] else ''
        wanted = ['heat.o:', '  sub\\ dir/heat.cu', '  sub\\ dir/outer.h', '  sub\\ dir/in\\ ner.h', '  far/far.h']
        lost = [w for w in wanted if f'\n{w} \\' not in '\n' + text]
        self.tap.check('cfcc_md_names_every_file', f'{lost}\n{text}' if lost or self.temporary in text else '')

    def odd_paths(self):
        """Kernel files in folders whose names have a meaning in C, in a shell or in make, or that #include cannot name.
        """
        # The header has shared memory, so that the CPU's copy of the source includes its text.
        header = ('static __device__ int two()\n{\n    __shared__ int t[2];\n    t[1] = 2;\n    __syncthreads();\n'
                  '    return t[1];\n}\n#include "in/deep.h"\n')
        text = '#include "two.h"\n' + KERNEL.replace('2 * x', 'two() * x')
        compilers = [[]]
        if shutil.which('clang++') and os.environ.get('CHECK_LONG'):
            compilers.append(['--cc', 'clang', '--cxx', 'clang++'])
        # Four folders, one in another. No path has /* before */, which would be a whole comment.
        paths = ("#h/d*/a'b/p%d/z\u00f6", 'a:b/*d/p$HOME/n\u00a0b', '`h`/t??/s p/c,d', 'b\\c')
        for words in compilers:
            for path in paths:
                self.fresh(unused='')
                for name, content in (('two.h', header), ('in/deep.h', '#define DEEP\n'), ('heat.cu', text)):
                    self.write(f'{path}/{name}', content)
                result = self.compile(*words, '--shared', '--manifest', 'heat.json', '-MD', f'{path}/heat.cu')
                self.tap.check(f'cfcc_sources_in_a_folder_called_{ascii(path)[1:-1].replace("#", "")}_compile'
                               f'{"_with_clang" if words else ""}', self.odd_path_problem(path, result, bool(words)))
        for name in ('q"r', 'n\nl', os.fsdecode(b'\xff')):
            self.fresh(unused='')
            os.mkdir(os.path.join(self.folder, name))
            self.write(f'{name}/heat.cu', KERNEL)
            self.refused(f'cfcc_source_in_a_folder_called_{ascii(name)[1:-1].replace(chr(92), "")}_is_refused',
                         self.compile(f'{name}/heat.cu'), 1,
                         'no #include can name a path with a quotation mark, a line end, or bytes that are no UTF-8')

    def odd_path_problem(self, path, result, is_clang):
        """Says which output of a compilation does not name the kernel file as the user did."""
        if result != (0, '', ''):
            return str(result)
        file = json.loads(self.read('heat.json'))['kernels'][0]['file']
        escaped = re.sub('([ #:])', r'\\\1', path).replace('$', '$$')
        # clang writes / for a backslash.
        is_in_depfile = f'\n  {escaped}/in/deep.h \\\n' in self.read('heat.d') or is_clang and '\\' in path
        described = run([self.cf_run, '--module', './heat.so', '--describe', 'twice'], cwd=self.folder, env=self.env)
        is_described = described[0] == 0 and f'  source    {path}/heat.cu:' in described[1]
        is_good = file == f'{path}/heat.cu' and is_in_depfile and is_described
        return '' if is_good else f'{file}\n{self.read("heat.d")}\n{described}'

    def pass_on(self):
        self.fresh()
        self.write('cxx.sh', f'echo "$@" >>"{self.folder}/log"\nexec {self.config["cxx"]} "$@"\n')
        code, out, err = self.compile('-O0', '-g', '--cxx', 'sh cxx.sh', 'heat.cu')
        body = [line for line in (self.read('log') if not code else '').splitlines() if 'host.cpp' in line]
        good = body and re.search(r'-O2.* -O0 -g ', body[0])
        self.expect('cfcc_passes_on_o_and_g', good, f'{out}{err}{body}')
        code, out, err = self.compile('heat.cu', CC='/nowhere/cc', CXX='/nowhere/c++')
        self.tap.check('cfcc_environment_does_not_choose_compilers', f'{out}{err}' if code else '')
        if shutil.which('clang') and shutil.which('clang++'):
            self.fresh()
            result = self.compile('--cc', 'clang', '--cxx', 'clang++', 'heat.cu')
            self.check('cfcc_works_with_clang', result, 'heat.h', 'heat.o')
        else:
            self.tap.skip('cfcc_works_with_clang', NEEDS_CLANG)

    def inputs(self):
        """A cache is told the files that a build has read, the places of files that it would read instead, and the
        reason why the outcome cannot be kept."""
        self.fresh(heat='#include <far.h>\n#include <own.h>\n#include <gone.h>\n' + KERNEL)
        self.write('two/far.h', '#include "near.h"\n')
        self.write('two/near.h', '#define TIME __TIME\n#define JOIN(a) a##__\n')
        self.write('three/own.h', '')
        self.write('one/other.h', '')
        os.symlink('three', os.path.join(self.folder, 'link'))

        def told(*words, **environment):
            result = self.compile('--shared', '--kernels', '--inputs', 'inputs', '-I', 'one', '-I', 'two', '-o', 'k.so',
                                  'heat.cu', *words, **{'CPATH': os.path.join(self.folder, 'link'), **environment})
            assert result[0] == 0, result
            return [text.replace(f'{self.folder}/', '') for text in self.read('inputs').split('\0')]

        why, *lines = told('-DFAR="a"')
        self.expect('cfcc_inputs_of_macros_that_may_make_the_time_are_unknown', 'has a date' in why, why)
        self.write('two/near.h', '')
        why, *lines = told()
        cxx = shutil.which(shlex.split(self.config['cxx'])[0])
        wanted = {'+heat.cu', '+two/far.h', '+two/near.h', '+link/own.h', '-one/far.h', '-one/own.h', '-two/own.h',
                  '-one/gone.h', '-link/gone.h', f'+{cxx}'}
        ends = {'/gen/cfgen', '/gen/annotation/clauses.py', '/tools/compile/inputs.py', '/include/cuferry/registry.h',
                '/cfcc.json'}
        lost = wanted.difference(lines) | {end for end in ends if not any(line.endswith(end) for line in lines)}
        self.expect('cfcc_inputs_have_headers_compilers_and_the_generator', not why and not lost, f'{why}{lost}')
        self.write('flags', '-DOF_A_FILE')
        for name, words, variables, wanted in (
                ('time', ['-DTIME=__TIME__'], {}, 'has a date'),
                ('question', ['-DASK=__has_include(<x.h>)'], {}, 'asks'),
                ('file_of_flags', ['-Xcxx=@flags'], {}, 'the flag @flags'),
                ('flags_of_the_preprocessor', ['-Xcxx=-Wp,-Ione'], {}, 'the flag -Wp,-Ione'),
                ('included_file', ['-Xcxx=-include', '-Xcxx=one/other.h'], {}, 'the flag -include'),
                ('this_machine', ['-Xcxx=-march=native'], {}, 'the flag -march=native'),
                ('file_for_nvcc', [], {'NVCC_APPEND_FLAGS': '-optf flags'}, 'the flag -optf')):
            why = told(*words, **variables)[0]
            self.expect(f'cfcc_inputs_with_{name}_are_unknown', wanted in why, why)
        with open(os.path.join(ROOT, 'lib/program/cfcc.c'), encoding='utf-8') as file:
            of_lib = re.search(r'variables\[\] = \{([^}]*)\}', file.read()).group(1)
        with open(os.path.join(ROOT, 'tools/compile/inputs.py'), encoding='utf-8') as file:
            of_cfcc = re.search(r'ENVIRONMENT = \(([^)]*)\)', file.read()).group(1)
        self.expect('cfcc_and_the_library_know_the_same_variables',
                    re.findall(r'\w+', of_lib) == re.findall(r'\w+', of_cfcc), f'{of_lib} {of_cfcc}')

    def help(self):
        """The help agrees with the manual, and lacks the options that only cf-run and the library use."""
        code, out, err = self.compile('--help', cuda=None)
        internal = re.findall(r'--(?:check|again|bundled|private|kernels|inputs)\b', out)
        problem = manual_problem('cfcc', out)
        self.expect('cfcc_help_has_what_the_manual_has', code == 0 and not internal and not problem,
                    f'{internal}{problem}{err}')

    def program(self):
        """Links the object with a C program by the command of the manual, and runs it."""
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
        """Helpers of two kernel files have the same names. Without optimisation, no compiler inlines them."""
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
        """Parameters may have names of macros of the standard headers, in programs that include all of these headers.
        """
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
        """Macros of the command line may have any names of the library's headers; other headers obey them."""
        self.fresh(heat=GIVEN_MACROS)
        self.write('lib/deep/count.h', 'enum { DEEP = N };\n')
        self.write('main.c', '#include "heat.h"\n#include <stdio.h>\nint main(void)\n{\n    int y = 0;\n'
                             '    puts(heat_sum(&y, 1) == CF_OK && y == 7654371 ? "right" : cf_last_error());\n'
                             '    return 0;\n}\n')
        result = self.compile('-Xcxx=-isystem', '-Xcxx=lib', '-DN=1', '-DT=20', '-DX=300', '-DA=4000', '-Di=50000',
                              '-Xcxx=-Dvalue=600000', '-DNDEBUG', '-D_GNU_SOURCE', 'heat.cu')
        self.prints_right('cfcc_macros_of_the_command_line_are_not_for_its_headers', result, 'main.c', 'heat.o')

    def operations(self):
        """A C file defines the entry points of operations; it belongs to the program or is an argument of cfcc."""
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
        """cfcc makes the internal header if there are operations; otherwise the user may have a file of this name."""
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
        """Device code in headers that the compiler treats as system headers may wait, and may have shared memory."""
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

    def prints_right(self, test, result, *files):
        """Links a program with the object of a run and runs it: it prints `right`."""
        code, out, err = result
        if code == 0:
            command = [*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']), f'-I{ROOT}/include',
                       *files, os.path.join(self.builddir, 'libcuferry.a'), '-lpthread', '-ldl', '-lm', '-o', 'main']
            code, out, err = run(command, cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=self.env)
        self.expect(test, (code, out) == (0, 'right\n'), f'exit {code}: {out}{err}')

    def random_numbers(self):
        """The CPU draws the numbers of cuRAND's generators as they are published."""
        nvcc = self.config['nvcc']
        header = os.path.join(os.path.dirname(os.path.realpath(nvcc)), '..', 'include', 'curand_kernel.h')
        # nvcc compiles the kernels once, to PTX. clang compiles them as C++17, gcc as C++20.
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

    # ---- Refused arguments and files

    def errors(self):
        self.fresh(heat=KERNEL, **{'my kernel': KERNEL})
        self.write('sub/heat.cu', KERNEL)
        for name, arguments, code, expected in (
                ('no_file', [], 2, 'no kernel file is named'),
                ('unknown_option', ['--frobnicate', 'heat.cu'], 2, '--frobnicate'),
                ('other_kind_of_file', ['heat.txt'], 2, 'heat.txt is no kernel file'),
                ('missing_object', ['heat.cu', 'heat.o'], 1, 'heat.o: no such file'),
                ('kernels_without_shared', ['--kernels', 'heat.cu'], 2, '--kernels goes with --shared alone'),
                ('missing_file', ['nothing.cu'], 1, 'nothing.cu: no such file'),
                ('prefix_that_is_no_name', ['--prefix', '2d', 'heat.cu'], 2, "the prefix '2d'"),
                ('output_that_gives_no_prefix', ['-o', 'my-heat.o', 'heat.cu'], 2, "the prefix 'my-heat'"),
                ('prefix_of_the_library', ['--prefix', 'cf', 'heat.cu'], 2, "the prefix 'cf'"),
                ('name_with_a_blank', ['my kernel.cu', '--prefix', 'x'], 1, 'my kernel.cu: a kernel file'),
                ('two_files_of_one_name', ['heat.cu', 'sub/heat.cu'], 1, 'sub/heat.cu: heat.cu has the same name'),
                ('output_in_no_folder', ['-o', 'none/heat.o', 'heat.cu'], 1, 'none/heat.o: there is no folder none'),
                ('output_that_is_a_folder', ['-o', 'sub', 'heat.cu'], 1, 'cannot write sub: it is a folder'),
                ('object_named_as_a_source', ['-o', 'ops.c', 'heat.cu'], 1, 'an object does not end with .c'),
                ('object_named_as_a_shared_one', ['-o', 'heat.so', 'heat.cu'], 1, 'an object does not end with .so'),
                ('shared_object_named_as_an_object', ['--shared', '-o', 'heat.o', 'heat.cu'], 1, 'not end with .o'),
                ('output_that_is_an_input', ['-o', 'heat.cu', 'heat.cu'], 1, 'cannot write heat.cu: it is an input'),
                ('one_file_for_two_outputs', ['-o', 'heat.o', '--header', './heat.o', 'heat.cu'], 1, 'different files'),
                ('compiler_that_is_not_there', ['--cxx', '/nowhere/c++', 'heat.cu'], 1, 'cannot run /nowhere/c++: '),
                ('target_that_is_none', ['--targets', 'foo', 'heat.cu'], 2,
                 "--targets: 'foo' is no target; they are major, all, native, or compute capabilities such as "
                 "80,90a,100f"),
                ('target_among_others', ['--targets=80,sm_9', 'heat.cu'], 2, "--targets: 'sm_9' is no target"),
                ('target_with_another_letter', ['--targets=90b', 'heat.cu'], 2, "--targets: '90b' is no target"),
                ('target_with_another_ending', ['--targets=90-ptx', 'heat.cu'], 2, "--targets: '90-ptx' is no target"),
                ('target_of_two_kinds', ['--targets=compute_90-real', 'heat.cu'], 2, "'compute_90-real' is no target"),
                ('target_without_a_name', ['--targets=', 'heat.cu'], 2, "--targets: '' is no target"),
                ('flag_without_a_value', ['-Xcxx=', 'heat.cu'], 2, '-Xcxx has no value'),
                ('flag_of_nvcc_without_a_value', ['-Xnvcc=', 'heat.cu'], 2, '-Xnvcc has no value'),
                ('folder_without_a_name', ['-I', '', 'heat.cu'], 2, '-I has no value'),
                ('macro_without_a_name', ['-D', '', 'heat.cu'], 2, '-D has no value'),
                ('compiler_of_half_a_word', ['--cxx', "g++ '", 'heat.cu'], 2, "--cxx: 'g++ '' is no command"),
                ('compiler_without_a_name', ['--cc', '', 'heat.cu'], 2, "--cc: '' is no command"),
                ('no_compiler_at_once', ['-j', '0', 'heat.cu'], 2, '-j 0')):
            status, out, err = self.compile(*arguments)
            out += '' if err.startswith('cfcc: ') and err.count('\n') == 1 else 'this is not one line of its own:'
            self.refused(f'cfcc_{name}_is_refused_in_one_line', (status, out, err), code, expected)
        self.refused('cfcc_toolkit_that_is_not_there_is_refused', self.compile('heat.cu', cuda='--cuda=/nowhere'), 1,
                     'cfcc: --cuda=/nowhere: there is no bin/nvcc\n')
        os.mkfifo(os.path.join(self.folder, 'pipe'))
        for option in ('-o', '--header', '--manifest', '-MF'):
            result = self.compile('heat.cu', '--prefix', 'heat', option, 'pipe')
            self.expect(f'cfcc_pipe_of_{option.strip("-")}_is_refused',
                        result == (1, '', 'cfcc: cannot write pipe: it is no '
                        'regular file\n') and stat.S_ISFIFO(os.stat(os.path.join(self.folder, 'pipe')).st_mode), result)
        self.pipes_as_headers()
        self.write('heat.h', '/* a header of the user\'s */\n')
        code, _, err = self.compile('heat.cu')
        kept = self.read('heat.h').startswith('/* a header') and not os.path.exists(os.path.join(self.folder, 'heat.o'))
        self.expect('cfcc_header_of_another_maker_is_kept', kept and code == 1 and 'cfcc: heat.h is there' in err, err)

    def pipes_as_headers(self):
        """A compiler would wait for a writer for ever."""
        self.write('include/in/one.h', '#  include <two.h> // found in the folder before\n')
        os.mkfifo(os.path.join(self.folder, 'include/two.h'))
        self.write('pipe.cu', '#if 1\n#include "in/one.h"\n#endif\n' + KERNEL)
        refused = (1, '', 'cfcc: include/two.h: it is no regular file\n')
        for name, words in (('header', ['-Iinclude', 'pipe.cu']),
                            ('flag', ['-Xcxx=-include', '-Xcxx=include/two.h', 'heat.cu']),
                            ('file_of_flags', ['-Xcxx=@include/two.h', 'heat.cu']),
                            ('header_of_flags', ['-Xcxx=-isysteminclude', 'pipe.cu']),
                            ('suggested_header', ['--suggest', '-Iinclude', 'pipe.cu'])):
            words = words if '--suggest' in words else ['--cuda=no', *words]
            result = run(['timeout', '60', self.cfcc, *words], cwd=self.folder, env=self.env)
            self.expect(f'cfcc_pipe_as_{name}_is_refused', result == refused, result)
        for name in ('pipe.cu', 'include/in/one.h', 'include/two.h'):
            os.remove(os.path.join(self.folder, name))

    def bad_kernels(self):
        wrong = KERNEL.replace('2 * x', '2 * q')
        self.fresh(heat=wrong)
        absolute = os.path.join(self.folder, 'heat.cu')
        result = self.compile(absolute)
        self.refused('cfcc_compiler_message_names_the_source_as_given', result, 1, f'{absolute}:8:20: error: ')
        self.fresh()
        self.write('sub dir/heat.cu', wrong)
        result = self.compile('sub dir/heat.cu')
        self.refused('cfcc_message_has_a_folder_with_a_blank', result, 1, 'sub dir/heat.cu:8:20: error: ')
        self.fresh(heat=KERNEL.replace('x[n]', 'x[m]', 1))
        result = self.compile('heat.cu')
        self.refused('cfcc_generator_message_names_the_source', result, 1, "heat.cu:3:32: error: 'm' is no parameter")
        missing = ('none.h', '../common/book.h', 'sub/../other.h')
        self.fresh(heat=''.join(f'#include "{name}"\n' for name in missing) + KERNEL)
        code, out, err = self.compile('heat.cu', LC_ALL='de_DE.UTF-8', LANGUAGE='de')
        self.expect('cfcc_missing_headers_count_as_empty', (code, out, err.count('note: ')) == (0, '', 3) and all(
            f'heat.cu:{line}:10: note: {name} was not found and counts as empty on the CPU; nvcc still needs it' in err
            for line, name in enumerate(missing, 1)), (code, out, err))
        self.expect('cfcc_names_its_option_for_missing_headers', err.count(': name its folder with -I\n') == 3, err)
        err = self.compile('--shared', '--kernels', '-o', 'k.so', 'heat.cu')[2]
        self.expect('cfcc_names_the_field_of_the_library_for_missing_headers',
                    err.count(': name its folder in include_folders\n') == 3 and '-I\n' not in err, err)
        if code:
            self.fresh()
            self.compile('heat.cu')
        before = listed(self.folder), self.read('heat.h'), os.path.getmtime(os.path.join(self.folder, 'heat.o'))
        self.write('heat.cu', wrong.replace('twice', 'other'))
        code, _, err = self.compile('heat.cu')
        self.expect('cfcc_compiler_message_names_the_source', 'heat.cu:8:20: error: ' in err and '2 * q[i]' in err, err)
        after = listed(self.folder), self.read('heat.h'), os.path.getmtime(os.path.join(self.folder, 'heat.o'))
        self.expect('cfcc_failed_run_keeps_what_was_there', code == 1 and before == after, f'{before} {after}')

    # ---- Several files at once, and interrupts

    def warnings(self):
        """A warning of the generator names the source as the user did, and the outputs are written."""
        self.fresh()
        self.write('sub/heat.cu', KERNEL.replace('in(x[n]) ', ''))
        result = self.compile('./sub/heat.cu')
        place = f'./sub/heat.cu:4:{KERNEL.splitlines()[3].index("x,") + 1}'
        wanted = (f'{place}: warning: x has no in, out or inout, so callers must pass device memory; write resident(x) '
                  'if '
                  'that is meant\n')
        good = result[:2] == (0, '') and result[2].startswith(wanted) and result[2].count('\n') == 3
        self.expect('cfcc_warns_of_a_pointer_that_no_clause_names', good and 'heat.o' in listed(self.folder), result)
        self.write('sub/heat.cu', KERNEL.replace('in(x[n]) ', 'resident(x) '))
        result = self.compile('sub/heat.cu')
        self.expect('cfcc_resident_pointer_is_meant', result == (0, '', ''), result)
        self.write('heat.cu', LOCKSTEP)
        for name, options, expected in (('warns_of_lockstep', [], True),
                                        ('warns_of_lockstep_as_told', ['-Wno-lockstep', '-Wlockstep'], True),
                                        ('is_silent_about_lockstep_as_told', ['-Wno-lockstep'], False)):
            result = self.compile(*options, 'heat.cu')
            told = result[2].startswith('heat.cu:8:13: warning: s[i + 8] reads what another lane writes') and \
                'make each step a read, __syncwarp(), the write, __syncwarp() [-Wlockstep]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)
        self.write('heat.cu', KERNEL.replace('grid(n)', 'grid(n) dependent'))
        for name, options, expected in (('warns_of_a_dependent_kernel_that_never_waits', [], True),
                                        ('is_silent_about_dependent_kernels_as_told', ['-Wno-dependent'], False)):
            result = self.compile(*options, 'heat.cu')
            told = ' never waits for the kernel before it, ' in result[2] and '[-Wdependent]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)
        self.write('heat.cu', VIEW)
        for name, options, expected in (('warns_of_a_pointer_inside_a_struct', [], True),
                                        ('is_silent_about_pointers_inside_structs_as_told', ['-Wno-pointers'], False)):
            result = self.compile(*options, 'heat.cu')
            told = result[2].startswith('heat.cu:7:27: warning: v.data is a pointer inside a struct, which calls '
                                        'neither copy nor check') and '[-Wpointers]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)

    def parallel(self):
        self.fresh()
        runs = [self.begin('-MD', '--prefix', name, 'heat.cu', '-o', output)
                for name, output in (('one', 'one.o'), ('heat', 'heat.o'), ('heat', 'heat.o'))]
        said = [process.communicate()[0].decode() for process in runs]
        codes = [process.returncode for process in runs]
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        expected = sorted(f'{name}.{kind}' for name in ('one', 'heat') for kind in 'dho')
        good = codes == [0] * 3 and not any(said) and left == expected
        self.expect('cfcc_runs_three_times_in_one_folder', good, f'{codes} {said} {left}')

    def interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.fresh()
            marker = os.path.join(os.path.dirname(self.folder), 'marker')
            slow = os.path.join(os.path.dirname(self.folder), 'slow.sh')
            with open(slow, 'w', encoding='utf-8') as file:
                file.write(f'echo $$ >"{marker}.new"; mv "{marker}.new" "{marker}"; sleep 3600; exit 1\n')
            process = self.begin('--cxx', f'sh {shlex.quote(slow)}', 'heat.cu')
            deadline = time.monotonic() + 600
            while not os.path.exists(marker) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(number)
            said = process.communicate(timeout=600)[0].decode()     # the compiler runs longer
            with open(marker, encoding='utf-8') as file:
                compiler = int(file.read())
            os.remove(marker)
            left = listed(self.folder) + os.listdir(self.temporary)
            problem = f'exit {process.returncode}: {said}{left}'
            good = process.returncode == -number and not said and left == ['heat.cu']
            good = good and not os.path.exists(f'/proc/{compiler}')
            self.expect(f'cfcc_interrupted_by_{number.name.lower()}_leaves_nothing', good, problem)

    # ---- Shared objects

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
        """A function that runs on the CPU instead of a kernel may be in another object, and may need the C++ library.
        """
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

    def listed(self, name, path):
        result = run([self.cf_run, '--module', path, '--list'], cwd=self.folder, env=self.env)
        self.expect(name, result == (0, 'twice  int heat_twice(const float *x, float *y, int64_t n);\n', ''), result)

    def loads(self, name, path):
        if self.is_sanitized:
            self.tap.skip(name, NEEDS_NO_SANITIZER)
            return
        code, out, err = run([sys.executable, '-c', LOADER, path, 'heat_twice'], cwd=self.folder, env=self.env)
        good = code == 0 and re.fullmatch(r'0 2\.0 4\.0 6\.0 heat \d+\n', out)
        self.tap.check(name, '' if good else f'exit {code}: {out}{err}')

    # ---- Places of cfcc, nvcc and the sources

    def places(self):
        self.fresh()
        link = os.path.join(self.folder, 'link')
        os.symlink(self.cfcc, link)
        code, out, err = self.compile('heat.cu', cfcc=link)
        self.tap.check('cfcc_works_through_a_symbolic_link', f'{out}{err}' if code else '')
        copy = os.path.join(self.folder, 'bin', 'cfcc')
        os.mkdir(os.path.dirname(copy))
        shutil.copy(self.cfcc, copy)
        code, _, err = self.compile('heat.cu', cfcc=copy)
        good = code == 1 and err.startswith('cfcc: there is no cfcc.json')
        self.expect('cfcc_without_configuration_says_so', good, err)
        with open(os.path.join(os.path.dirname(copy), 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(dict(self.config, srcdir='/nowhere'), file)
        result = self.compile('heat.cu', cfcc=copy)
        self.expect('cfcc_without_its_source_tree_says_so', result == (
            1, '', 'cfcc: there is no folder /nowhere/tools/compile, where the rest of it was\n'), result)
        return copy

    def without_nvcc(self):
        """Tests a configuration whose nvcc is gone, and a PATH without nvcc."""
        copy = self.places()
        folder = os.path.dirname(copy)
        config = dict(self.config, srcdir=ROOT, nvcc='/nowhere/nvcc', cuda='')
        with open(os.path.join(folder, 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(config, file)
        path = path_without_nvcc(os.path.join(self.folder, 'programs'))
        result = self.compile('heat.cu', cfcc=copy, cuda=None, PATH=path)
        self.expect('cfcc_without_nvcc_says_so_in_one_line',
                       result == (0, '', 'cfcc: no nvcc was found: heat.o runs on the CPU alone\n'), result)
        self.write('draw.cu', DRAW)
        code, _, err = self.compile(*self.folders_without('curand_kernel.h'), 'draw.cu', cfcc=copy, PATH=path)
        self.expect('cfcc_curand_without_its_header_is_refused', code == 1 and err.count('error: ') == 1 and
                    'draw.cu:3:17: error: draw uses cuRAND (curandState), which the CPU does not run; install the '
                    "toolkit's curand_kernel.h, or write the generator in the kernel file, or add host(none)" in err,
                    f'exit {code}: {err}')
        self.write('draw.cu', DRAW.replace('out(x[n])', 'out(x[n]) host(none)'))
        result = self.compile(*self.folders_without('curand_kernel.h'), 'draw.cu', cfcc=copy, PATH=path)
        self.expect('cfcc_curand_without_its_header_runs_on_gpus', result == (0, '', ''), result)
        with open(os.path.join(folder, 'cfcc.json'), 'w', encoding='utf-8') as file:
            json.dump(dict(config, cuda='no'), file)
        result = self.compile('heat.cu', cfcc=copy, cuda=None)
        expected = 'cfcc: Cuferry was configured without CUDA: heat.o runs on the CPU alone\n'
        self.expect('cfcc_configured_without_cuda_says_so', result == (0, '', expected), result)

    def make_gpu_code(self, *kinds):
        """Writes relocatable GPU code of a function for each of these endings."""
        for kind in kinds:
            self.write(f'{kind}_f.cu', GPU_FUNCTION.format(kind))
            flags = ['-c', '-arch=sm_90'] if kind == 'o' else [
                f'-{kind}', '-arch=compute_90' if kind == 'ptx' else '-arch=sm_90']
            code, out, err = run([self.config['nvcc'], '-rdc=true', *flags, f'{kind}_f.cu', '-o', f'{kind}_f.{kind}'],
                                 cwd=self.folder)
            self.expect(f'nvcc_makes_{kind}', code == 0, f'{out}{err}')

    def gpu_code(self):
        """GPU code of other compilers is linked with that of the kernels."""
        if not self.config['nvcc']:
            self.tap.skip('cfcc_links_gpu_code', NEEDS_NVCC)
            return
        self.fresh(heat=GPU_CALLS, archived=GPU_FUNCTION.format('a'))
        self.make_gpu_code('ptx', 'cubin', 'fatbin', 'o')
        self.write('body.c', ON_CPU)
        for command in ([self.config['nvcc'], '-rdc=true', '-c', '-arch=sm_90', 'archived.cu'],
                        [*shlex.split(self.config['cc']), '-fPIC', '-c', 'body.c'],
                        ['ar', 'rc', 'libmixed.a', 'archived.o', 'body.o']):
            code, out, err = run(command, cwd=self.folder)
            self.expect(f'{os.path.basename(command[0])}_makes_an_archive_with_gpu_code', code == 0, f'{out}{err}')
        files = ['ptx_f.ptx', 'cubin_f.cubin', 'fatbin_f.fatbin', 'o_f.o', 'libmixed.a']
        result = self.compile('--targets=90', '-MD', '--manifest', 'heat.json', 'heat.cu', *files, cuda=None)
        self.expect('cfcc_links_gpu_code_of_every_kind', result == (0, '', ''), result)
        read = self.read('heat.d') if not result[0] else ''
        lost = [name for name in files if f'  {name}' not in read]
        self.expect('cfcc_depends_on_gpu_code_of_every_kind', not lost, lost)
        self.write('main.c', GPU_CALLS_PROGRAM)
        code, out, err = run([*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']),
                              f'-I{ROOT}/include', 'main.c', 'heat.o', os.path.join(self.builddir, 'libcuferry.a'),
                              '-lpthread', '-ldl', '-lm', '-o', 'main'], cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=dict(self.env, CF_DRIVER='host'))
        self.expect('cfcc_kernels_with_gpu_code_have_their_form_on_the_cpu', (code, out) == (0, 'right\n'),
                    f'exit {code}: {out}{err}')
        self.archive_with_a_function_for_the_cpu()
        self.gpu_code_that_is_wrong()

    def archive_with_a_function_for_the_cpu(self):
        """An archive with GPU code may have a function that the CPU runs, too."""
        if self.is_sanitized:
            self.tap.skip('cfcc_shared_links_the_cpus_functions_of_archives', NEEDS_NO_SANITIZER)
            return
        self.write('heat.cu', KERNEL.replace('#pragma cf kernel', '#pragma cf kernel host(twice_on_cpu)'))
        result = self.compile('--shared', '--targets=90', 'heat.cu', 'libmixed.a', cuda=None)
        self.expect('cfcc_shared_links_the_cpus_functions_of_archives', result == (0, '', ''), result)

    def gpu_code_that_is_wrong(self):
        calls = GPU_CALLS.replace(' + fatbin_f32(x, 0) + o_f32(x, 1) + a_f32(x, 2)', '')
        cpu = calls.replace(' host(copy_here)', '')
        files, made = ['ptx_f.ptx', 'cubin_f.cubin'], os.path.join(os.path.dirname(self.folder), 'made')
        os.mkdir(made)
        for file in files:
            shutil.copy(os.path.join(self.folder, file), made)
        lacking = ('heat.cu:1:29: error: the CPU lacks float ptx_f32(const float *x, int n): it is in ptx_f.ptx, '
                   'cubin_f.cubin; annotate kernels that call it with host(none), or with host(FUNCTION) for a form of '
                   'their own\n')
        cases = [
            ('undefined_function_is_named', calls, files[:1], ['--targets=90'], 1,
             'heat.cu:2:29: error: float cubin_f32(const float *x, int n) is defined in no kernel file, nor in '
             'ptx_f.ptx; write #pragma cf device above its definition in a kernel file, or name the GPU code that '
             'has it\n'),
            ('function_of_gpu_code_alone_is_refused_without_cuda', cpu, files, ['--cuda=no'], 1, lacking),
            ('link_to_ptx_is_refused', calls, files, ['--targets=90-virtual'], 1,
             'cfcc: --targets: ptx_f.ptx is linked to machine code, and no target has any'),
            ('gpu_code_without_kernels_is_refused', None, files[:1], ['--targets=90'], 2,
             'ptx_f.ptx: GPU code goes with the kernel files that call it')]
        # test_devices.py tests undefined functions without GPU code.
        if os.environ.get('CHECK_LONG'):
            cases.append(('function_of_gpu_code_alone_is_refused_on_the_cpu', cpu, files, ['--targets=90'], 1, lacking))
        for name, text, given, words, code, expected in cases:
            self.fresh(heat=text or '')
            for file in given:
                shutil.copy(os.path.join(made, file), self.folder)
            result = self.compile(*words, *['heat.cu'] * bool(text), *given, cuda=None)
            self.expect(f'cfcc_{name}', result[0] == code and expected in result[2] and
                        not os.path.exists(os.path.join(self.folder, 'heat.o')), result)

    def folders_without(self, header):
        """Options by which the compiler searches all of its own folders except those with a header."""
        shown = run([*shlex.split(self.config['cxx']), '-E', '-v', '-x', 'c++', os.devnull])[2]
        listed = shown[shown.index('#include <...>'):shown.index('End of search')]
        folders = re.findall(r'^ (/.*)$', listed, re.MULTILINE)
        return ['-Xcxx=-nostdinc', *(f'-Xcxx=-idirafter{folder}' for folder in folders
                                     if not os.path.exists(os.path.join(folder, header)))]

    def with_nvcc(self):
        if not self.config['nvcc']:
            self.tap.skip('cfcc_builds_for_gpus', NEEDS_NVCC)
            return
        self.fresh()
        known = run([self.config['nvcc'], '--help'])[1]
        family = ',100f' * ("'sm_100f'" in known)
        result = self.compile(f'--targets=80 90a-real,compute_90{family}', '-MD', 'heat.cu', cuda=None)
        self.check('cfcc_builds_for_gpus', result, 'heat.d', 'heat.h', 'heat.o')
        self.expect_targets('of_every_kind', f'sm_80 sm_90a{family.replace(",", " sm_")} compute_80 compute_90')
        names = defined(os.path.join(self.folder, 'heat.o'))
        good = 'heat__i_heat' in names and 'heat__i_heat' not in defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_embeds_the_image', good, names)
        self.fresh()
        words = ['--shared', '--kernels', '--inputs', 'inputs', '-o', 'k.so', 'heat.cu']
        result = self.compile(*words, '--targets=90', cuda=None)
        why, *lines = self.read('inputs').split('\0') if result[0] == 0 else [result]
        lost = [end for end in ('/cuda_runtime.h', '/ptxas', '/cicc', '/nvcc') if not any(
            line.startswith('+') and line.endswith(end) for line in lines)]
        self.expect('cfcc_inputs_have_those_of_nvcc', not why and not lost, f'{why}{lost}')
        self.fresh()
        result = self.compile('heat.cu', cuda=None, NVCC_APPEND_FLAGS='--use_fast_math -rdc=true')
        self.refused('cfcc_refuses_useless_flags_of_the_environment', result, 1,
                     'cfcc: NVCC_APPEND_FLAGS=-rdc=true: its code needs another link')
        self.fresh(heat=KERNEL.replace('2 * x', '2 * q'))
        result = self.compile('heat.cu', '--targets=90', cuda=None)
        self.refused('cfcc_nvcc_message_names_the_source', result, 1, 'heat.cu(8): error: ')
        self.fresh()
        for name, flag in (('ptx', '-ptx'), ('commands', '-dryrun')):
            self.refused(f'cfcc_nvcc_that_makes_{name}_is_refused',
                         self.compile('heat.cu', '--targets=90-real', f'-Xnvcc={flag}', cuda=None), 1,
                         f'cfcc: heat.cu: the CUDA compiler made no image, as {self.config["nvcc"]} {flag}; leave out')
        self.refused('cfcc_unknown_target_is_refused', self.compile('heat.cu', '--targets=90,123', cuda=None), 1,
                     'cfcc: --targets: nvcc knows no sm_123; it knows ')
        self.refused('cfcc_unknown_family_is_refused', self.compile('heat.cu', '--targets=90f', cuda=None), 1,
                     'cfcc: --targets: nvcc knows no sm_90f; it knows ')
        self.targets(family)

    def expect_targets(self, name, expected):
        """The image in heat.o has code for these targets, as cf-run shows them."""
        result = run([self.cf_run, '--module', os.path.join(self.folder, 'heat.o'), '--describe', 'twice'])
        self.expect(f'cfcc_image_has_targets_{name}', f' {expected} by CUDA ' in result[1], result)

    def targets(self, family):
        """The lists for nvcc of the targets that users name."""
        for name, given, expected in (('spelled_as_in_nvcc', 'sm_80 sm_90', '80,90 90'),
                                      ('for_one_capability', '80,90a', '80,90a 80'),
                                      ('for_a_family', '100f', '100f '),
                                      ('without_ptx', '80;90-real', '80,90 80'),
                                      ('without_any_ptx', '90a-real', '90a '),
                                      ('of_ptx_alone', '90-virtual,90a-virtual', ' 90,90a'),
                                      ('of_ptx_as_in_nvcc', 'compute_80,90', '90 80,90')):
            if 'f' in given and not family:
                self.tap.skip(f'cfcc_targets_{name}', 'needs nvcc of CUDA 12.9 or newer')
                continue
            code, out, err = run([sys.executable, os.path.join(ROOT, 'tools/compile/targets.py'), self.config['nvcc'],
                                  given])
            self.expect(f'cfcc_targets_{name}', code == 0 and ' '.join(out.split('\n')[:2]) == expected,
                        f'{code}: {out}{err}')
        self.fresh()
        result = self.compile('--targets=90-virtual,90a-virtual', 'heat.cu', cuda=None)
        self.expect('cfcc_builds_ptx_alone', result == (0, '', ''), result)
        self.expect_targets('of_ptx_alone', 'compute_90 compute_90a')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = CfccTest(tap, sys.argv[1], folder)
        test.outputs()
        test.interfaces()
        test.depfile()
        test.inputs()
        test.odd_paths()
        test.pass_on()
        test.help()
        test.program()
        test.macros()
        test.given_macros()
        test.operations()
        test.system_headers()
        test.random_numbers()
        test.errors()
        test.bad_kernels()
        test.warnings()
        test.parallel()
        test.interrupted()
        test.shared()
        test.functions_for_the_cpu()
        FlagTest(test).run()
        RecordTest(test).run(KERNEL)
        test.without_nvcc()
        test.with_nvcc()
        test.gpu_code()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
