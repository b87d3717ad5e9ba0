"""test_realcode.py - kernel files of the shape that people have: host code, its headers, and kernels to which only an
annotation was added. They are built for the CPU in one run of cfcc, linked into a C program by the C compiler, and run;
with CHECK_LONG, with every C++ compiler that is installed, and those that nvcc can compile, by nvcc. A toolkit's
headers are read where there is a toolkit; elsewhere they are found nowhere.

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

# In the shape of the headers that CUDA's samples share.
ERRORS = '''#ifndef ERRORS_H
#define ERRORS_H
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string>
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifdef __DRIVER_TYPES_H__
static const char *_name(cudaError_t error) { return cudaGetErrorName(error); }
#endif
static const char *_name(CUresult error)
{
    static char unknown[] = "<unknown>";
    const char *name = NULL;
    cuGetErrorName(error, &name);
    return name ? name : unknown;
}
#ifdef CUBLAS_API_H_
static const char *_name(cublasStatus_t error)
{
    switch (error) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "<unknown>";
}
#endif
template <typename T> void check(T result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \\"%s\\"\\n", file, line, static_cast<unsigned int>(result),
                _name(result), func);
        exit(EXIT_FAILURE);
    }
}
#define checkErrors(val) check((val), #val, __FILE__, __LINE__)
#define getLastError(msg) __getLastError(msg, __FILE__, __LINE__)
inline void __getLastError(const char *message, const char *file, const int line)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err)
        exit(EXIT_FAILURE);
}
inline int bestDevice()
{
    int mode = -1, count = 0, sms = 0;
    checkErrors(cudaGetDeviceCount(&count));
    checkErrors(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0));
    checkErrors(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    if (mode == cudaComputeModeProhibited)
        throw std::string("none");
    return sms;
}
#endif
'''

FUNCTIONS = '''#ifndef FUNCTIONS_H
#define FUNCTIONS_H
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>
class Timer {
public:
    Timer() {}
    virtual ~Timer() {}
    virtual void start() = 0;
    virtual float elapsed() = 0;
};
class TimerOfLinux : public Timer {
    float total = 0;
public:
    void start();
    inline float elapsed() { return total; }
};
inline void TimerOfLinux::start() { total = 1; }
inline bool createTimer(Timer **timer)
{
    *timer = reinterpret_cast<Timer *>(new TimerOfLinux());
    return *timer != NULL;
}
template <class T> inline bool readFile(const char *name, T **data, unsigned int *len)
{
    std::vector<T> read;
    std::fstream file(name, std::fstream::in);
    if (!file.good())
        throw 1;
    T token;
    while (file >> token)
        read.push_back(token);
    std::sort(read.begin(), read.end());
    *len = static_cast<unsigned int>(read.size());
    return true;
}
const std::map<std::string, int> names = {{"float", 4}, {"double", 8}};
static std::vector<std::string> arguments;
#endif
'''

DRIVER = '''#ifndef DRIVER_H
#define DRIVER_H
#include <cuda.h>
inline void attribute(int *value, CUdevice_attribute what, CUdevice device)
{
    if (cuDeviceGetAttribute(value, what, device) != CUDA_SUCCESS)
        throw CUDA_ERROR_INVALID_VALUE;
}
inline int multiprocessors(CUdevice device)
{
    int count = 0, mode = -1;
    attribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    attribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device);
    return mode == CU_COMPUTEMODE_PROHIBITED ? -1 : count;
}
#endif
'''

LIBRARY = '''#include <%s>
static %s handle_of_library;
static %s status_of_library(int i)
{
    return i ? %s : (%s)i;
}
'''

# Each: name, files other than the kernel file, its text, whether nvcc builds it too.
CASES = (
    ('header_of_error_checks', {'errors.h': ERRORS},
     '#include <cuda.h>\n#include <cuda_runtime.h>\n#include "errors.h"\n' + KERNEL + '''
int main()
{
    float *x;
    checkErrors(cudaMalloc((void **)&x, bestDevice() * sizeof(float)));
    twice<<<1, 256>>>(x, x, 1);
    getLastError("twice");
}
''', True),
    ('header_of_functions', {'functions.h': FUNCTIONS},
     '#include "functions.h"\n' + KERNEL + '''
int main(int argc, char **argv)
{
    Timer *timer = NULL;
    createTimer(&timer);
    arguments.assign(argv, argv + argc);
    float *data;
    unsigned int length;
    std::cout << readFile(argv[1], &data, &length) << names.at("float") << std::endl;
}
''', True),
    ('header_of_driver_attributes', {'driver.h': DRIVER},
     '#include "driver.h"\n' + KERNEL + 'int main() { return multiprocessors(0); }\n', True),
    ('curand', {}, LIBRARY % ('curand.h', 'curandGenerator_t', 'curandStatus_t', 'CURAND_STATUS_TYPE_ERROR',
                              'curandStatus_t') + KERNEL + '''
#define CURAND_CHECK(call) \\
    do { curandStatus_t status = call; if (status != CURAND_STATUS_SUCCESS) throw status; } while (0)
void y(curandStatus_t status) { CURAND_CHECK(status); }
int i(curandGenerator_t generator) { return curandDestroyGenerator(generator); }
std::ostream &operator<<(std::ostream &to, curandStatus_t status) { return to << (int)status; }
libraryPropertyType property = MAJOR_VERSION;
''', False),
    ('cusparse', {}, LIBRARY % ('cusparse.h', 'cusparseHandle_t', 'cusparseStatus_t', 'CUSPARSE_STATUS_ALLOC_FAILED',
                                'cusparseStatus_t') + KERNEL, True),
    ('cublas', {}, LIBRARY % ('cublas_v2.h', 'cublasHandle_t', 'cublasStatus_t', 'CUBLAS_STATUS_NOT_INITIALIZED',
                              'cublasStatus_t') + KERNEL, False),
    ('cufft', {}, LIBRARY % ('cufft.h', 'cufftHandle', 'cufftResult', 'CUFFT_INVALID_PLAN', 'cufftResult') + KERNEL,
     False),
    ('graphics', {}, '#include <GL/gl.h>\n#include <EGL/egl.h>\n#include <cuda_gl_interop.h>\n'
     '#include <cuda_egl_interop.h>\n'
     'static GLuint buffer;\nstatic cudaGraphicsResource *resource;\n' + KERNEL + '''
static EGLDisplay display;
void draw() { cudaGraphicsGLRegisterBuffer(&resource, buffer, cudaGraphicsRegisterFlagsNone); }
void show(cudaEglFrame frame) { eglSwapBuffers(display, (EGLSurface)frame.frame.pPitch[0].ptr); }
''', False),
    ('header_that_is_nowhere', {},
     '#include <mpi.h>\n#include <deep/er/nowhere.hpp>\n' + KERNEL + '''
int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    nowhere::start<float>(&argc, comm);
    MPI_Init(&argc, &argv);
}
''', False),
    ('thrust', {}, '#include <thrust/device_vector.h>\n#include <thrust/sort.h>\n#include <thrust/host_vector.h>\n'
     'using thrust::device_vector;\ntypedef thrust::device_vector<float> x_vector;\n'
     'thrust::host_vector<float> x;\n' + KERNEL + '''
float run(device_vector<float> &v)
{
    thrust::sort(v.begin(), v.end());
    twice<<<1, 32>>>(thrust::raw_pointer_cast(v.data()), nullptr, 1);
    return thrust::reduce(v.begin(), v.end());
}
''', False),
    ('host_code_of_a_header', {'host.cuh': '''#pragma once
#include <thrust/device_vector.h>
#include <stdexcept>
__global__ void clear(float *x, int n);
inline void run_clear(float *x, int n) { clear<<<(n + 255) / 256, 256>>>(x, n); }
inline void check(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}
inline float total(const thrust::device_vector<float> &v) { return v.size(); }
inline int threads(dim3 gridDim, dim3 blockDim) { return gridDim.x * blockDim.x; }
static inline __host__ __device__ float doubled(float x) { return x + x; }
'''}, '#include "host.cuh"\n' + KERNEL.replace('2 * x[i]', 'doubled(x[i])') + '''
__global__ void clear(float *x, int n)
{
    x[threadIdx.x] = n;
}
int main()
{
    int gridDim = 4;
    dim3 blockDim(8, 8);
    return threads(gridDim, blockDim);
}
int blockIdx_of(int threadIdx) { int gridDim = threadIdx; return gridDim; }
''', False),
    ('header_uses_what_precedes_it', {'late.h': '''
inline float of_late(const settings &s) { return s.factor * WIDTH; }
template <int N> inline int more(settings (&s)[N]) { return N + WIDTH; }
static settings standard = {WIDTH};
'''}, 'constexpr int WIDTH = 32;\nstruct settings { float factor; };\n#include "late.h"\n' + KERNEL, True),
    ('macro_as_a_return_type', {}, '#define FOO int\n#define API(T) static T\nFOO g(int a) { return a; }\n'
     'API(void) h(float *x) { cudaFree(x); cudaNoSuchFunction(x); }\n' + KERNEL, False),
    ('explicit_instantiation', {}, '''#include <vector>
template <typename T, template <typename> class A> struct holder { A<T> *a; };
template <typename T> struct plain { T t; };
template <typename T, template <typename> class A> void fill(holder<T, A> &h, T t) { throw t; }
template void fill<float, plain>(holder<float, plain> &h, float t);
template class std::vector<plain<float>>;
template struct plain<int>;
''' + KERNEL, True),
    ('using_namespace_of_a_library', {}, '#include <cub/cub.cuh>\n#include <cooperative_groups.h>\n'
     'using namespace cub;\n'
     'using namespace std;\nnamespace cg = cooperative_groups;\nnamespace bs = cub::detail;\n' +
     KERNEL.replace('int i = blockIdx.x * blockDim.x + threadIdx.x', 'int i = cg::this_grid().thread_rank()') +
     'CachingDeviceAllocator allocator(true);\nint main() { DoubleBuffer<float> x; return max(1, 2); }\n', False),
    ('objects_of_classes', {'names.h': '''#include <map>
#include <string>
#include <vector>
const std::map<std::string, int> names = {{"a", 1}};
static std::vector<std::string> n;
std::string y = "y";
namespace deep { const std::vector<int> x(10); static const std::string i; }
namespace deep { struct log { log(); ~log(); }; static log i_log; }
'''}, '#include "names.h"\nstd::map<int, std::string> more;\n' + KERNEL + '''
int main() { return names.at("a"); }
''', True),
    ('members_for_the_host', {'vec.h': '''#include <vector>
#include <string>
#include <ostream>
#include <nowhere_too.h>
class vec {
    float v;
public:
    __host__ __device__ vec(float v) : v{v} {}
    explicit vec(const std::vector<float> &from) : v(from.at(0)) { if (from.empty()) throw std::string("none"); }
    vec(const nowhere::array &from);
    __host__ __device__ float get() const { return v; }
    std::string text() const { return nowhere::format(v); }
    void save(FILE *file) const { fwrite(this, sizeof *this, 1, file); }
    __host__ __device__ vec operator+(const vec &other) const { return vec(v + other.v); }
    friend std::ostream &operator<<(std::ostream &to, const vec &v) { return to << v.v; }
    struct part { float x; __device__ float get() { return x; } void load(nowhere::array &a) { x = a[0]; } };
};
vec::vec(const nowhere::array &from) : v(from[0]) {}
std::ostream &operator>>(std::ostream &to, const vec &v) { return to << v.text(); }
'''}, '#include "vec.h"\n' + KERNEL.replace('2 * x[i]', '(vec(x[i]) + vec(vec::part{x[i]}.get())).get()'), False),
    ('code_that_gpus_skip', {}, '''#include <math.h>
static float on_cpu(float x) { return 2 * x; }
__host__ __device__ float either(float x)
{
#ifdef __CUDA_ARCH__
    return x + x;
#else
    return on_cpu(x);
#endif
}
''' + KERNEL.replace('2 * x[i]', 'either(x[i])'), True),
    ('definitions_without_words', {}, '''
struct scale { float by; __host__ __device__ float apply(float x) const; int host(float); };
__device__ float doubled(float x);
float doubled(const double &x, int y) { throw x; }
float scale::apply(float x) const { return by * x; }
int scale::host(float x) { throw x; }
float doubled(float x) { return scale{2}.apply(x); }
''' + KERNEL.replace('2 * x[i]', 'doubled(x[i])'), True),
    ('layouts_and_loops', {}, '''#include <stdint.h>
#pragma pack(push, 1)
struct packed { char c; float f; };
static int host_only(packed p) { return p.c; }
#pragma pack(pop)
struct natural { char c; float f; };
static_assert(sizeof(packed) == 5 && sizeof(natural) == 8, "layout");
static_assert(sizeof(long) > 1 || host_only, "host");
static const int PARTS = 4, ALL = PARTS;
''' + KERNEL.replace('y[i] = 2 * x[i];', '''{
        float sum = 0;
        #pragma unroll ALL
        for (int part = 0; part < 4; ++part) sum -=-x[i] * (sizeof(packed) == 5 ? 0.5f : 0) *(sizeof(natural) >>3);
        y[i] = sum;
    }'''), True),
    ('classes_of_other_namespaces', {'arrays.h': '''#pragma once
#include <functional>
#include <stdexcept>
#include <vector>
namespace base {
enum class kind : char { whole, real };
template <typename T> struct view { const T *first; view(const std::vector<T> &all) : first(all.data()) {} };
using lengths = view<long>;
}
namespace array {
using base::kind;
using base::lengths;
template <typename T> struct plain { typedef T *pointer; };
template <typename T, int N, template <typename> class P = plain, typename I = long> class rows_base {
public:
    typedef typename P<T>::pointer pointer;
    __host__ __device__ rows_base(pointer data, const I *sizes) : data(data), sizes(sizes) {}
    kind what() const { return kind::real; }
    lengths shape() const { throw std::logic_error("none"); }
protected:
    pointer data;
    const I *sizes;
};
template <typename T, int N, template <typename> class P = plain, typename I = long>
class rows : public rows_base<T, N, P, I> {
public:
    typedef typename P<T>::pointer pointer;
    __host__ __device__ rows(pointer data, const I *sizes) : rows_base<T, N, P, I>(data, sizes) {}
    __host__ __device__ T &operator[](I i) { return this->data[i]; }
};
template <typename T, int N = 1> using packed = rows<T, N, plain, int>;
class clock { public: virtual void start() = 0; };
class silent : public clock { public: inline void start(); };
inline void silent::start() { throw 1; }
}
'''}, '#include "arrays.h"\n' + KERNEL.replace('y[i] = 2 * x[i]', 'array::packed<float>(y, &n)[i] = 2 * x[i]') + '''
int main() { return array::rows<float, 1>(nullptr, nullptr).what() == base::kind::real; }
''', True),
    ('constants_as_arguments', {'sizes.h': 'namespace sizes { enum { WIDE = 2 }; struct add { template <typename T> '
                                'static __device__ T apply(T x) { return x + x; } }; }\n'
                                'int WIDE(int x) { throw x; }\n'},
     '#include "sizes.h"\nconstexpr int factor() { return 2; }\nstatic const int TWO = factor();\n' + KERNEL.replace(
         'out(y[n])', 'out(y[n]) name(of)\n#pragma cf instances(f32: float, sizes::WIDE)').replace(
             '__global__', 'template <typename T, int N> __global__').replace('float', 'T').replace(
                 '2 * x[i]', 'sizes::add::apply(x[i]) * N / TWO').replace('f32: T', 'f32: float'), True),
)

# The cases that nvcc builds without CHECK_LONG. The generator's source for nvcc is the same for the other ones, except
# for the kernel's name: it includes the file.
WITH_NVCC = ('header_of_error_checks', 'constants_as_arguments')

# Kernels that no CPU can run, beside code that the CPU's compiler refuses.
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
        """Builds, links as C, and runs the functions real_NAME; returns what is wrong."""
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
        # A toolkit in a folder of the system has headers that warn of themselves.
        return building if re.search(r'warning: (?!#warning|.*-W#warnings)', building) else ''

    def compilers(self):
        """The build's C++ compiler and the other one, each with the options that choose it."""
        own = shlex.split(self.config['cxx'])[0]
        others = [c for c in ('g++', 'clang++') if os.path.basename(own) not in (c, 'c++') and shutil.which(c)]
        if not self.is_long or not others:
            self.tap.skip('realcode_with_another_compiler', NEEDS_CLANG if self.is_long else NEEDS_LONG)
            return [('', [])]
        return [('', []), (f'_with_{others[0][:-2]}', ['--cxx', others[0]])]

    def builds(self, cases, *options):
        """Builds the kernel files of cases in one run of cfcc, and runs their kernels; returns what is wrong."""
        files, functions = {}, []
        for name, headers, text, _ in cases:
            files.update({f'{name}.cu': text.replace('twice', f'twice_{name}'), **headers})
            functions.append('of_f32' if 'f32:' in text else f'twice_{name}')
        self.fresh(files)
        return self.runs(functions, *options, '--prefix', 'real', '-o', 'real.o', *(f'{case[0]}.cu' for case in cases))

    def check_cases(self, suffix, cases, *options):
        """If the cases fail together, each is built by itself."""
        problem = self.builds(cases, *options)
        self.tap.check(f'realcode_of_one_run{suffix}', problem)
        for case in cases:
            self.tap.check(f'realcode_{case[0]}{suffix}', problem and self.builds([case], *options))

    def cases(self):
        for suffix, options in self.compilers():
            self.check_cases(suffix, CASES, '--cuda=no', *options)
        if not self.nvcc:
            self.tap.skip('realcode_with_nvcc', NEEDS_NVCC)
            return
        cases = [case for case in CASES if case[3] and (self.is_long or case[0] in WITH_NVCC)]
        self.check_cases('_with_nvcc', cases, '--cuda', os.path.dirname(os.path.dirname(self.nvcc)), '--targets', '90')
        if not self.is_long:
            self.tap.skip('realcode_of_other_files_with_nvcc', NEEDS_LONG)

    def names(self):
        """A kernel file may be called .cuh, and the toolkit's folder may be named with -I."""
        self.fresh({'real.cuh': '#pragma once\n#include <cuda_runtime.h>\n#include "vector_types.h"\n' + KERNEL})
        self.tap.check('realcode_cuh_is_a_kernel_file', self.runs(['twice'], '--cuda=no', 'real.cuh'))
        if not self.nvcc:
            self.tap.skip('realcode_folder_of_the_toolkit_may_be_named', NEEDS_NVCC)
            return
        include = os.path.join(os.path.dirname(os.path.dirname(self.nvcc)), 'include')
        self.tap.check('realcode_folder_of_the_toolkit_may_be_named',
                       self.runs(['twice'], '--cuda=no', '-I', include, 'real.cuh'))

    def flags(self):
        """The generator's questions about types get the flags of the C++ compiler and its folders of system headers."""
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
        """Places are those of the source."""
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
        test.cases()
        test.names()
        test.flags()
        test.for_gpus()
        test.messages()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
