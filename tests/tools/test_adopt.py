"""test_adopt.py - tests kernels that other compilers made: the declarations that cfcc --adopt writes for entries of
Triton's cache and for kernels of Numba, the library that cfcc makes of them, and the images that it refuses.

usage: test_adopt.py BUILDDIR

nvcc stands in for Triton and Numba: its kernels have the parameters, names and files that Triton and Numba would give
them. The files in tests/fixtures/adopted were made by Triton and Numba themselves. Runs on the CPU, or with
CF_DRIVER=cuda in the environment on that driver; the tests of cfcc run on the CPU only.
"""

import json
import math
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
import fuzz_adopt
from tap import NEEDS_GPU, NEEDS_NVCC, ROOT, Tap, path_without_nvcc, run

sys.path.append(os.path.join(ROOT, 'gen'))
from image.facts import ImageError
from image.read import read_image

FIXTURES = os.path.join(ROOT, 'tests', 'fixtures', 'adopted')

# After its own parameters a kernel of Triton has two pointers, which only Triton's launcher passes.
SOFTMAX = '''
__device__ float over_all(float value, bool is_sum)
{
    __shared__ float all[32 * WARPS];
    all[threadIdx.x] = value;
    for (int half = 16 * WARPS; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            all[threadIdx.x] = is_sum ? all[threadIdx.x] + all[threadIdx.x + half]
                                      : fmaxf(all[threadIdx.x], all[threadIdx.x + half]);
    }
    __syncthreads();
    value = all[0];
    __syncthreads();
    return value;
}

extern "C" __global__ void __block_size__((32 * WARPS, 1, 1))
softmax_kernel(float *out, const float *x, int x_stride, int out_stride, int cols, char *, char *)
{
    extern __shared__ float row[];
    const int i = threadIdx.x;
    float most = -INFINITY, sum = 0;
    for (int j = i; j < cols; j += 32 * WARPS)
        most = fmaxf(most, row[j] = x[blockIdx.x * x_stride + j]);
    most = over_all(most, false);
    for (int j = i; j < cols; j += 32 * WARPS)
        sum += row[j] = expf(row[j] - most);
    sum = over_all(sum, true);
    for (int j = i; j < cols; j += 32 * WARPS)
        out[blockIdx.x * out_stride + j] = row[j] / sum;
}
'''

# A kernel's name in Numba has a namespace, the module, the function and tags, followed by the types of the arguments.
TAG = 'cw51cXTLSUwv1sDUaKthoqNgqamjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqtspQGNFHgJ5BnXagYgA_3d'
SCALE = f'_ZN6cudapy8__main__5scaleB2v1B{len(TAG)}{TAG}E'
NUMBA = '''
extern "C" __global__ void %s(const float *x, float *y, float a, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i];
}
'''

OPTIONS = {'hash': '5a3c', 'target': {'backend': 'cuda', 'arch': 90, 'warp_size': 32}, 'num_warps': 4, 'num_ctas': 1,
           'num_stages': 3, 'warp_size': 32, 'cluster_dims': [1, 1, 1], 'maxnreg': None, 'ptx_version': None,
           'launch_cooperative_grid': False, 'launch_pdl': False, 'backend_name': 'cuda', 'arch': 'sm90',
           'triton_version': '3.4.0', 'shared': 4096, 'tmem_size': 0, 'global_scratch_size': 0,
           'global_scratch_align': 1, 'profile_scratch_size': 0, 'profile_scratch_align': 1, 'name': 'softmax_kernel'}

TTIR = '''#loc = loc("softmax.py":25:0)
#loc16 = loc("out"(#loc))
#loc20 = loc("cols"(#loc))
module {
  tt.func public @softmax_kernel(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("out"(#loc)), \
%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %arg2: i32 {tt.divisibility = 16 : i32} \
loc("x_stride"(#loc)), %out_stride: i32 loc("out_stride"(#loc)), %arg4: i32 loc(#loc20)) attributes {noinline = false} {
    %row = tt.get_program_id x : i32 loc(#loc1)
    tt.return loc(#loc15)
  } loc(#loc)
} loc(#loc)
'''

DECLARED = '''#include <stdint.h>

/* softmax_kernel, which Triton compiled for sm_90. */
#pragma cf kernel image("cache/softmax_kernel.cubin") blocks(/* programs? */) block(128) \\
    shared(4096) inout(out[/* elements? */]) inout(x[/* elements? */]) \\
    scratch(global_scratch[0], profile_scratch[0])
__global__ void softmax_kernel(float *out, float *x, int32_t x_stride, int32_t out_stride, int32_t cols, \
char *global_scratch, char *profile_scratch);
'''

DECLARED_SCALE = f'''#include <stdint.h>

/* scale, which Numba compiled for compute_90. */
#pragma cf kernel image("scale.ptx") \\
    entry("{SCALE}10float32_2a10float32_2afx") \\
    grid(/* threads? */) inout(arg0[/* elements? */]) inout(arg1[/* elements? */])
__global__ void scale(float *arg0, float *arg1, float arg2, int64_t arg3);
'''

# One of the kernels, with an image that is only PTX.
OF_NUMBA = f'''#include <stdint.h>
#pragma cf kernel image("scale.ptx") entry("{SCALE}10float32_2a10float32_2afx") grid(n) in(x[n]) out(y[n])
__global__ void scale(const float *x, float *y, float a, int64_t n);
'''

# The declarations as a user would complete them, with variants, functions for the CPU, and a kernel for nvcc.
LIBRARY = f'''#include <math.h>
{OF_NUMBA}

static void softmax_on_cpu(float *out, const float *x, int32_t x_stride, int32_t out_stride, int32_t cols, char *scratch,
                           char *profile)
{{
    (void)x_stride, (void)out_stride;
    if (scratch || profile)
        return;
    for (int row = 0; row < 3; row++, out += cols, x += cols) {{
        float most = x[0], sum = 0;
        for (int j = 0; j < cols; j++)
            most = fmaxf(most, x[j]);
        for (int j = 0; j < cols; j++)
            sum += expf(x[j] - most);
        for (int j = 0; j < cols; j++)
            out[j] = expf(x[j] - most) / sum;
    }}
}}

#pragma cf kernel image("softmax_{{WARPS}}.cubin") entry("softmax_kernel") blocks(rows) block(WARPS * 32) shared(4096) \\
    out(out[rows][cols]) in(x[rows][cols]) check(x_stride == cols, out_stride == cols, rows == 3, cols <= 1024) \\
    scratch(global_scratch[0], profile_scratch[0]) param(int32_t rows) tune(WARPS: 4, 8) host(softmax_on_cpu) \\
    tolerance(1e-6)
template <int WARPS>
__global__ void softmax(float *out, const float *x, int32_t x_stride, int32_t out_stride, int32_t cols, char *global_scratch,
                        char *profile_scratch);

#pragma cf kernel grid(n) inout(y[n])
__global__ void negate(float *y, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -y[i];
}}
'''  # noqa: E501

PROGRAM = r'''#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cuferry.h>
#include <cuferry/registry.h>
#include "soft.h"
#define ROWS 3
#define COLS 1000
static float x[ROWS * COLS], y[ROWS * COLS];

/* A launch that got NULL for the memory of Triton's launcher, and gets new arguments. */
static int update(void)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    cf_graph_node node;
    float *in, *out, *const second = y + COLS;
    const int32_t cols = COLS, rows = ROWS;
    int failed = cf_mem_alloc((void **)&in, sizeof x) || cf_mem_alloc((void **)&out, 2 * sizeof x) ||
                 cf_mem_copy(in, x, sizeof x) || cf_stream_create(&stream) || cf_stream_capture_begin(stream) ||
                 soft_softmax_async(stream, out, in, COLS, COLS, COLS, ROWS) ||
                 cf_stream_capture_node(stream, &node) || cf_stream_capture_end(stream, &graph) ||
                 cf_graph_instantiate(&exec, graph) ||
                 soft_softmax_update(exec, node, out + COLS, in, COLS, COLS, COLS, ROWS) ||
                 cf_graph_launch(exec, stream) || cf_stream_sync(stream) || cf_mem_copy(y, out, sizeof y);
    if (failed || !(second[0] > 0 && second[0] < second[1]))
        return printf("%s: %g\n", failed ? cf_last_error() : "not updated", second[0]), 1;
    const cf_kernel *kernel = cf_kernel_find(&soft_registry, "softmax");
    out += ROWS * COLS / 2;
    void *const args[] = {&out, &in, (void *)&cols, (void *)&cols, (void *)&cols, NULL, NULL, (void *)&rows};
    if (cf_graph_update(exec, node, kernel, args) || cf_launch(kernel, stream, args) || cf_stream_sync(stream))
        return puts(cf_last_error()), 1;
    return puts("updated"), cf_shutdown();
}

int main(int argc, char *argv[])
{
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i % 7);
    if (argc > 1 && strcmp(argv[1], "scale") == 0) {
        puts(soft_scale(x, y, 2, ROWS * COLS) ? cf_last_error() : "scaled");
        return 0;
    }
    if (argc > 1)
        return update();
    if (soft_softmax(y, x, COLS, COLS, COLS, ROWS) || soft_negate(y, ROWS * COLS))
        return puts(cf_last_error()), 1;
    for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int j = 0; j < COLS; j++)
            sum += y[row * COLS + j];
        const float ratio = y[row * COLS] / y[row * COLS + 1], expected = expf(x[row * COLS] - x[row * COLS + 1]);
        if (fabs(sum + 1) > 1e-4 || fabsf(ratio / expected - 1) > 1e-4f)
            return printf("row %d: sum %g, ratio %g and not %g\n", row, sum, ratio, expected), 1;
    }
    const cf_kernel *kernel = cf_kernel_find(&soft_registry, "softmax");
    printf("right: %u variants, images of %td and %td bytes; %s\n", kernel->nvariants,
           kernel->variants[0]->image->end - kernel->variants[0]->image->begin,
           kernel->variants[1]->image->end - kernel->variants[1]->image->begin, cf_last_plan());
    return cf_shutdown();
}
'''

ONE = '''#pragma cf kernel image("{}") grid(n) out(y[n])
__global__ void one(float *y, {} n);
'''


# Prints the numbers of the images that the library refuses.
VERDICTS = r'''#include <stdio.h>
#include <stdlib.h>
#include <cuferry.h>
#include <cuferry/program.h>
int main(int argc, char *argv[])
{
    for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
        char path[32];
        cf_program *program;
        snprintf(path, sizeof path, "images/%d", i);
        const int status = cf_program_load_file(&program, path);    /* whole images need a GPU afterwards */
        if (status == CF_EIMAGE)
            printf("%d\n", i);
        else if (status == CF_EINVAL || (status == CF_OK && cf_program_unload(program)))
            return fprintf(stderr, "%d: %s\n", i, cf_last_error()), 1;
    }
    return 0;
}
'''


def damage(image, begin, end, step):
    """Yields copies of the image, each with one part of `step` bytes overwritten by one of two values."""
    for at in range(begin, end, step):
        for value in (b'\xff', b'\0'):
            yield image[:at] + value * step + image[at + step:]


def table_of(cubin, offset, size):
    """Returns the begin and end of a cubin's table of sections or segments; `offset` and `size` are the places of its
    fields in the header."""
    begin, = struct.unpack_from('<Q', cubin, offset)
    each, count = struct.unpack_from('<HH', cubin, size)
    return begin, begin + each * count


def joined(one, other):
    """Returns a fatbin that contains the entries of two fatbins."""
    return one[:8] + struct.pack('<Q', len(one) + len(other) - 32) + one[16:] + other[16:]


def is_python(text):
    try:
        return bool(compile(text, 'module', 'exec'))
    except (SyntaxError, ValueError):
        return False


def is_readable(image):
    try:
        read_image(image)
    except ImageError:
        return False
    return True


class AdoptTest:
    def __init__(self, builddir, folder):
        self.tap, self.folder, self.build = Tap(), folder, os.path.abspath(builddir)
        self.cfcc, self.generator = os.path.join(self.build, 'cfcc'), forked.load()
        with open(os.path.join(self.build, 'cfcc.json'), encoding='utf-8') as file:
            self.values = json.load(file)
        configured = self.values['nvcc'] and shutil.which(os.path.join(self.build, self.values['nvcc']))
        self.nvcc = configured or shutil.which('nvcc')
        self.driver = os.environ.get('CF_DRIVER') or 'host'
        self.env = {**os.environ, 'CF_DRIVER': self.driver, 'CF_TUNING': '', 'CF_MACHINE_FILE': '',
                    **({} if self.driver == 'host' else {'CF_HOST_DATA': 'stage'})}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def expect(self, name, is_good, detail):
        self.tap.check(name, '' if is_good else str(detail) or 'wrong')

    def run(self):
        if self.nvcc:
            self.make_images()
            self.library()
        else:
            self.tap.skip('adopted_kernels_are_linked', NEEDS_NVCC)
        if self.driver == 'host':       # the other tests do not depend on the driver
            if self.nvcc:
                self.without_nvcc()
                self.declarations()
                self.refused_entries()
                self.refused_images()
            self.refused_lines()
            self.refused_names()
            self.fixtures()
            self.damaged()
            self.verdicts()
        return self.tap.close()

    # ---- Images

    def compile(self, source, output, *flags):
        target = [] if any(flag.startswith('-arch') for flag in flags) else ['-arch=sm_90']
        code, out, err = run([self.nvcc, *target, *flags, '-o', output, source], cwd=self.folder)
        if code:
            raise RuntimeError(out + err)

    def make_images(self):
        """Compiles each file to PTX, which is slow, and makes the other images from the PTX."""
        self.write('softmax.cu', SOFTMAX)
        self.write('numba.cu', NUMBA % f'{SCALE}10float32_2a10float32_2afx')
        os.mkdir(self.path('cache'))
        for warps, ptx in ((4, 'cache/softmax_kernel.ptx'), (8, 'softmax_8.ptx')):
            self.compile('softmax.cu', ptx, '-ptx', f'-DWARPS={warps}')
            self.compile(ptx, f'softmax_{warps}.cubin', '-cubin')
        shutil.copy(self.path('softmax_4.cubin'), self.path('cache/softmax_kernel.cubin'))
        self.compile('numba.cu', 'scale.ptx', '-ptx')
        self.write('cache/softmax_kernel.json', json.dumps(OPTIONS))
        self.write('cache/softmax_kernel.ttir', TTIR)
        self.write('cache/__grp__softmax_kernel.json', '{"child_paths": {}}')

    # ---- Declarations

    def adopt(self, *arguments):
        return run([self.cfcc, '--adopt', *arguments], cwd=self.folder)

    def declarations(self):
        result = self.adopt('triton', 'cache')
        self.expect('adopt_triton_writes_the_declaration', result == (0, DECLARED, ''), result)
        result = self.adopt('triton', 'cache', '-o', 'cache/new.cu')
        self.expect('adopt_names_the_image_from_the_outputs_folder', result == (0, '', '') and
                    ' image("softmax_kernel.cubin") ' in self.read('cache/new.cu').decode(), result)
        result = self.adopt('triton', 'cache', '-o', 'cache/new.cu')
        self.expect('adopt_overwrites_no_file', result == (
            1, '', 'cfcc: cache/new.cu is there; name another file with -o\n'), result)
        result = run([self.cfcc, 'cache/new.cu'], cwd=self.folder)
        self.expect('adopted_declarations_name_their_gaps', result[0] == 1 and
                    'cache/new.cu:4:56: error: /* programs? */ is a place to fill in' in result[2] and
                    result[2].count('error') == 3, result)
        result = self.adopt('numba', 'scale.ptx')
        self.expect('adopt_numba_writes_the_declaration', result == (0, DECLARED_SCALE, ''), result)
        self.compile('scale.ptx', 'scale.cubin', '-cubin')
        result = self.adopt('numba', 'scale.cubin')
        self.expect('adopt_numba_takes_cubins', result == (
            0, DECLARED_SCALE.replace('scale.ptx', 'scale.cubin').replace('compute_90', 'sm_90'), ''), result)
        self.other_entries()

    def changed(self, **options):
        """Makes a copy of the cache entry with other options."""
        shutil.rmtree(self.path('other'), ignore_errors=True)
        shutil.copytree(self.path('cache'), self.path('other'))
        self.write('other/softmax_kernel.json', json.dumps({**OPTIONS, **options}))

    def other_entries(self):
        """Tests entries of other versions of Triton, and other types."""
        for clusters, clauses in (([2, 1, 1], 'blocks((/* programs along x? */) * 2) block(128) cluster(2) '),
                                  ([2, 2, 1], 'blocks((/* programs along x? */) * 2, (/* programs along y? */) * 2) '
                                              'block(128) cluster(2, 2) ')):
            self.changed(num_ctas=math.prod(clusters), cluster_dims=clusters, launch_pdl=True)
            out = self.adopt('triton', 'other')
            self.expect(f'adopt_triton_writes_clusters_of_{math.prod(clusters)}', clauses + 'shared(4096) dependent ' in
                        out[1].replace('\\\n    ', ''), out)
        self.write('clusters.cu', re.sub(r'/\* \w+[\w ]*\? \*/', '1', out[1]))
        out = run([self.cfcc, '--cuda', 'no', 'clusters.cu'], cwd=self.folder)
        self.expect('adopted_kernels_that_may_begin_early_get_no_warning', out == (0, '', ''), out)
        self.changed(shared=0, launch_cooperative_grid=True)
        os.remove(self.path('other/softmax_kernel.cubin'))
        for types, spelled in ((('!tt.ptr<f16>', '!tt.ptr<bf16, 1>'), ('__half *', '__nv_bfloat16 *')),
                               (('!tt.ptr<i1>', '!tt.ptr<i64>'), ('bool *', 'int64_t *'))):
            self.write('other/softmax_kernel.ttir', TTIR.replace('%out: !tt.ptr<f32>', f'%out: {types[0]}').replace(
                '%x: !tt.ptr<f32>', f'%x: {types[1]}'))
            out = self.adopt('triton', 'other')
            declared = f'softmax_kernel({spelled[0]}out, {spelled[1]}x, int32_t x_stride, int32_t out_stride, ' \
                       'int32_t cols, char *global'
            self.expect(f'adopt_triton_knows_{spelled[0][:-2]}', declared in out[1] and 'shared' not in out[1] and
                        ' cooperative' in out[1] and 'image("other/softmax_kernel.ptx")' in out[1] and
                        ('#include <cuda_bf16.h>\n#include <cuda_fp16.h>' in out[1]) == ('__half *' in spelled), out)
        os.remove(self.path('other/softmax_kernel.ttir'))
        out = self.adopt('triton', 'other')
        self.expect('adopt_triton_takes_types_of_ptx', 'softmax_kernel(int64_t arg0, int64_t arg1, int32_t arg2, '
                    'int32_t arg3, int32_t arg4, char *global_scratch, char *profile_scratch);' in out[1], out)
        text = re.sub(r'\.u64 (softmax_kernel_param_[0156])\b', r'.u64 .ptr .global .align 1 \1',
                      self.read('other/softmax_kernel.ptx').decode())
        self.write('other/softmax_kernel.ptx', text)
        out = self.adopt('triton', 'other')
        self.expect('adopt_triton_takes_pointers_of_ptx', 'softmax_kernel(void *arg0, void *arg1, int32_t arg2' in
                    out[1] and 'resident(arg0) resident(arg1)' in out[1], out)

    def refused(self, name, arguments, text):
        code, out, err = self.adopt(*arguments)
        self.expect(f'adopt_refuses_{name}', (code, out) == (1, '') and err.startswith('cfcc: ') and
                    err.count('\n') == 1 and text in err, (code, out, err))

    def refused_lines(self):
        for name, arguments, text in (
                ('two_folders', ['--adopt', 'triton', 'a', 'b'], '--adopt triton takes one folder'),
                ('no_file', ['--adopt', 'numba'], '--adopt numba takes one file'),
                ('other_compilers', ['--adopt', 'julia', 'a'], 'invalid choice'),
                ('outputs', ['--adopt', 'triton', 'a', '--prefix', 'p'], '--prefix has no effect with --adopt'),
                ('suggestions', ['--adopt', 'triton', 'a', '--suggest'], '--adopt has no effect with --suggest')):
            code, out, err = run([self.cfcc, *arguments], cwd=self.folder)
            self.expect(f'adopt_refuses_{name}', (code, out) == (2, '') and text in err, (code, out, err))
        os.mkdir(self.path('empty'))
        self.refused('missing_folders', ['triton', 'nowhere'], 'nowhere: no such file; --adopt triton takes a folder')
        self.refused('empty_folders', ['triton', 'empty'], 'and this folder has 0')
        self.refused('missing_files', ['numba', 'nowhere.ptx'], 'nowhere.ptx: no such file')
        self.refused('outputs_in_no_folder', ['triton', 'empty', '-o', 'none/a.cu'], 'there is no folder none')

    def refused_entries(self):
        for name, options, text in (
                ('scratch', {'global_scratch_size': 64}, 'global_scratch_size is 64'),
                ('profile_scratch', {'profile_scratch_size': 8}, 'profile_scratch_size is 8'),
                ('odd_clusters', {'num_ctas': 2}, 'cluster_dims is [1, 1, 1], and the kernel runs in clusters of 2'),
                ('texts_for_clusters', {'cluster_dims': ['2']}, "cluster_dims is ['2'], and"),
                ('other_backends', {'target': {'backend': 'hip'}}, "for 'hip', and not for CUDA"),
                ('texts_for_numbers', {'shared': 'much'}, "shared is 'much' and no number"),
                ('texts_for_warps', {'warp_size': '32'}, "warp_size is '32' and no number"),
                ('nulls_for_warps', {'warp_size': None}, 'warp_size is None and no number'),
                ('other_names', {'name': 'other'}, 'has no kernel other, which')):
            self.changed(**options)
            self.refused(name, ['triton', 'other'], text)
        self.changed()
        for name, old, new, text in (
                ('tensor_descriptors', '%x: !tt.ptr<f32>', '%x: !tt.tensordesc<tensor<16x16xf32>>', "'%x: !tt.tensor"),
                ('odd_types', '%out: !tt.ptr<f32>', '%out: !tt.ptr<i4>', "'%out: !tt.ptr<i4>"),
                ('other_functions', '@softmax_kernel', '@other', 'there is no function softmax_kernel'),
                ('other_counts', ', %arg4: i32 loc(#loc20)', '', 'has 4 parameters there, and 7 in its image')):
            self.write('other/softmax_kernel.ttir', TTIR.replace(old, new))
            self.refused(name, ['triton', 'other'], text)
        os.remove(self.path('other/softmax_kernel.ttir'))
        os.remove(self.path('other/softmax_kernel.ptx'))
        self.refused('entries_without_types', ['triton', 'other'], 'softmax_kernel.ttir: it is missing')
        os.remove(self.path('other/softmax_kernel.cubin'))
        self.refused('entries_without_images', ['triton', 'other'], 'there is neither softmax_kernel.cubin nor')
        self.write('other/softmax_kernel.json', '[')
        self.refused('damaged_json', ['triton', 'other'], "softmax_kernel.json: it is no JSON of Triton's cache")
        self.write('other/second.json', '{}')
        self.refused('two_entries', ['triton', 'other'], 'and this folder has 2')
        ptx = self.read('scale.ptx').decode()
        for name, types, text in (
                ('arrays', '5ArrayIfLi1E1C7mutable7alignedE10float32_2afx', 'argument 0 of scale is an array'),
                ('tuples', '10float32_2a8UniTupleIxLi2EEfx', 'argument 1 of scale is a UniTuple'),
                ('odd_numbers', '10float32_2a10float32_2afz', "argument 3 of scale has the type 'z'"),
                ('arguments_too_few', '10float32_2a10float32_2af', 'has 3 arguments in its name, and 4 in its code')):
            self.write('other.ptx', ptx.replace('10float32_2a10float32_2afx', types))
            self.refused(name, ['numba', 'other.ptx'], text)
        self.write('other.ptx', ptx.replace(SCALE, 'scale'))
        self.refused('other_names_of_numba', ['numba', 'other.ptx'], 'does not tell its types')
        self.write('other.ptx', ptx[:ptx.index('.visible')])
        self.refused('device_functions', ['numba', 'other.ptx'], 'it has no kernel')
        self.write('other.ptx', ptx[:-20])
        self.refused('truncated_ptx', ['numba', 'other.ptx'], 'other.ptx is cut off: its braces do not close')
        self.compile('scale.ptx', 'packed.fatbin', '-fatbin', '-compress-mode=size')
        self.refused('compressed_images', ['numba', 'packed.fatbin'], 'it is compressed')

    # ---- Images that cfcc accepts and refuses

    def image_problem(self, image, ctype='int'):
        """Returns the generator's messages about a kernel that has this image."""
        self.write('one.cu', ONE.format(image, ctype))
        code, out, err = forked.run_forked(self.generator, ['--outdir', 'out', 'one.cu'], self.folder)
        return err if code and not out else '' if code == 0 else f'exit {code}: {out}{err}'

    def refused_image(self, name, data, text):
        self.write('wrong.bin', data)
        found = self.image_problem('wrong.bin')
        self.expect(f'image_{name}_is_refused', 'one.cu:1:25: error: wrong.bin ' + text in found, found)

    def refused_names(self):
        """Texts of an image, a cache entry or a path never reach the declarations."""
        code, line = b'\nint x;', 'which is no name'
        self.write('wrong.ptx', self.of_numba().replace(b'.entry _ZN', b'.entry \xc3\xa9_ZN'))
        self.refused('names_of_other_alphabets', ['numba', 'wrong.ptx'], 'it has a kernel without a body')
        shutil.copytree(os.path.join(FIXTURES, 'triton'), self.path('named'))
        cubin = self.read('named/softmax_kernel.cubin')
        self.write('named/softmax_kernel.cubin', cubin.replace(b'softmax_kernel', (code * 2)))
        self.refused('code_in_a_kernels_name', ['triton', 'named'], line)
        self.write('named/softmax_kernel.cubin', cubin)
        self.write('wrong.ptx', self.of_numba().replace(b'5scale', b'5while'))
        self.refused('words_of_c_for_kernels', ['numba', 'wrong.ptx'], 'the name of its kernel is while, which is no')
        text = self.read('named/softmax_kernel.ttir')
        for name, old, new, params in (
                ('two_parameters_of_one_name', b'"x_stride"', b'"x"', 'float *arg1, int32_t arg2, int32_t out_stride'),
                ('the_name_of_scratch', b'"cols"', b'"global_scratch"', 'int32_t out_stride, int32_t arg4, char *'),
                ('numbers_for_names', b'%cols: i32 loc("cols")', b'%4: i32',
                 'int32_t out_stride, int32_t arg4, char *'),
                ('words_of_c', b'"x_stride"', b'"while"', 'float *x, int32_t arg2, int32_t out_stride'),
                ('words_of_c_alone', b'"x_stride"', b'"restrict"', 'float *x, int32_t arg2, int32_t out_stride'),
                ('bytes_that_are_no_text', b'"x_stride"', b'"\xff"', 'float *x, int32_t x_stride, int32_t out')):
            self.write('named/softmax_kernel.ttir', text.replace(old, new))
            out = self.adopt('triton', 'named')
            self.expect(f'adopt_numbers_or_keeps_{name}', out[0] == 0 and params in out[1], out)
        self.write('named/softmax_kernel.ttir', text)
        options = json.loads(self.read('named/softmax_kernel.json'))
        for name, key, value, text in (
                ('names_that_are_no_text', 'name', ['x'], "is ['x'], which is no name in C"),
                ('names_with_lines', 'name', 'a\nb', "is 'a\\nb', which is no name in C"),
                ('names_of_other_letters', 'name', 'x\xe9', "is 'x\\xe9', which is no name in C"),
                ('truth_for_numbers', 'shared', True, 'shared is True and no number'),
                ('negative_numbers', 'shared', -1, 'shared is -1 and not in [0, 2147483647]'),
                ('large_numbers', 'num_warps', 2 ** 70, 'num_warps is 1180591620717411303424 and not in [1, '),
                ('empty_clusters', 'num_ctas', 0, 'num_ctas is 0 and not in [1, ')):
            self.write('named/softmax_kernel.json', json.dumps({**options, key: value}))
            self.refused(name, ['triton', 'named'], text)
        self.write('named/softmax_kernel.json', '[' * 100000)
        self.refused('deep_json', ['triton', 'named'], "it is no JSON of Triton's cache")
        os.remove(self.path('named/softmax_kernel.json'))
        os.mkfifo(self.path('named/softmax_kernel.json'))
        self.refused('pipes', ['triton', 'named'], 'named/softmax_kernel.json: no regular file')
        for number, name in enumerate(('a"b', 'a\nb', 'a\\b', 'a{N}b', os.fsdecode(b'a\xffb'), 'a\x7fb')):
            self.write(f'{name}.ptx', self.of_numba())
            self.refused(f'path_{number}_that_image_cannot_name', ['numba', f'{name}.ptx'], 'image(...) cannot name a ')
        os.mkfifo(self.path('pipe'))
        found = self.image_problem('pipe')
        self.expect('images_that_are_pipes_are_refused', 'one.cu:1:25: error: pipe: no regular file; image' in found,
                    found)

        self.write('line.cu', '#pragma cf kernel grid(n) out(y[n])\n__global__ void one(float *y, int n) {}\n')
        code, out, err = run([self.cfcc, '--cuda', 'no', '-MF', 'line.d', '-o', 'a\nb.o', '--prefix', 'line',
                              '--header', 'line.h', 'line.cu'], cwd=self.folder)
        self.expect('line_ends_in_depfiles_are_refused', (code, err) == (
            1, "cfcc: 'a\\nb.o': line.d cannot name a path with a line end\n"), (code, out, err))
        self.write('a\\Nb/twice.cu', '#pragma cf device numba\n__device__ float twice(float x) { return 2 * x; }\n')
        code, out, err = forked.run_forked(self.generator, ['--outdir', 'out', '--prefix', 'n', 'a\\Nb/twice.cu'],
                                           self.folder)
        text = self.read('out/n_numba.py') if code == 0 else b'('
        self.expect('paths_stand_in_modules_as_they_are', is_python(text), (code, out, err, text))

    @staticmethod
    def of_numba():
        with open(os.path.join(FIXTURES, 'numba/scale.ptx'), 'rb') as file:
            return file.read()

    def damaged(self):
        found, accepted, refused = fuzz_adopt.problems(20000 if 'CHECK_LONG' in os.environ else 1500, 1)
        self.expect('damaged_images_are_refused_or_give_plain_declarations',
                    not found and min(accepted, refused) > 100, '\n'.join(found) or (accepted, refused))

    def refused_images(self):
        self.write('own.cu', 'extern "C" __global__ void one(float *y, int n) { if (n) *y = n; }\n')
        self.compile('own.cu', 'own.ptx', '-ptx')
        for flags, name in ((['-cubin'], 'own.cubin'), (['-fatbin', '-no-compress'], 'own.fatbin'),
                            (['-fatbin', '-compress-mode=size'], 'own_packed.fatbin'),
                            (['-cubin', '-dc'], 'own_dc.cubin')):
            self.compile('own.ptx', name, *flags)
        cubin, fatbin = self.read('own.cubin'), self.read('own.fatbin')
        for name in ('own.cubin', 'own.fatbin', 'own_packed.fatbin', 'own.ptx'):
            found = self.image_problem(name)
            self.expect(f'image_{name}_is_embedded', not found, found)
        for name in ('own.cubin', 'own.fatbin', 'own.ptx'):
            found = self.image_problem(name, 'long')
            self.expect(f'image_{name}_tells_sizes', f'one.cu:2:36: error: n has 8 bytes here, and 4 in one in {name}\n'
                        in found, found)
        self.refused_image('of_bytes', b'\1\2\3\4\5',
                           'is no cubin, fatbin or PTX: it has 5 bytes and begins with 01020')
        self.refused_image('of_another_machine', self.of_the_cpu(), 'is an ELF file for machine 62 and not for a GPU')
        self.refused_image('relocatable', self.read('own_dc.cubin'), 'is relocatable code; link it first')
        self.refused_image('archive', b'!<arch>\n', 'is an archive of object files')
        self.refused_image('of_lto', b'\xed\x43\x4e\x7f', 'is LTO-IR; link it first')
        self.refused_image('cut_in_header', cubin[:40], 'is cut off: it has 40 bytes')
        self.refused_image('cut_in_sections', cubin[:len(cubin) // 2], 'is cut off: it has')
        self.refused_image('cut_fatbin', fatbin[:200], 'is cut off: it has 200 bytes, and its entries need')
        self.refused_image('cut_fatbin_header', fatbin[:12], 'is cut off: it has 12 bytes, and the header')
        self.refused_image('of_another_version', fatbin[:4] + b'\2' + fatbin[5:],
                           'is damaged: its header has version 2')
        self.refused_image('of_long_entries', fatbin[:24] + b'\xff' * 4 + fatbin[28:], 'is damaged: an entry has')
        self.refused_image('of_short_rest', fatbin[:8] + b'\1\0\0\0' + fatbin[12:], 'is damaged: 1 bytes follow')
        self.refused_image('without_code', self.of_kind(fatbin, b'\x40'), 'has no code in its entries')
        self.write('other.cu', 'extern "C" __global__ void other(float *y) { *y = 1; }\n')
        self.write('long.cu', 'extern "C" __global__ void one(float *y, long n) { *y = n; }\n')
        for name in ('other', 'long'):
            self.compile(f'{name}.cu', f'{name}.fatbin', '-fatbin', '-no-compress')
        self.write('mixed.fatbin', joined(self.read('own_packed.fatbin'), self.read('other.fatbin')))
        found = self.image_problem('mixed.fatbin')
        self.expect('image_with_kernels_in_packed_parts_is_embedded', not found, found)
        self.refused_image('with_two_kernels_of_a_name', joined(fatbin, self.read('long.fatbin')),
                           'has several kernels one, whose parameters or blocks differ')
        self.refused_image('with_another_header', cubin[:4] + b'\1' + cubin[5:], 'is damaged: its ELF header is not')
        self.refused_image('with_long_section', self.with_section(cubin, 32, b'\xff' * 3), 'is cut off: it has')
        self.refused_image('with_lost_name', self.with_section(cubin, 0, b'\xff' * 3), 'is damaged: the name at')
        self.refused_image('with_lost_texts', self.with_section(cubin, 40, b'\xff' * 3), 'is damaged: section 3 refers')
        self.refused_image('with_lost_params', cubin.replace(b'\4\x17', b'\4\x18'),
                           'is damaged: it does not tell the p')

    def verdicts(self):
        """Every damaged image that the library refuses when loading it is refused by the generator before."""
        with open(os.path.join(FIXTURES, 'triton/softmax_kernel.cubin'), 'rb') as file:
            cubin = file.read()
        with open(os.path.join(FIXTURES, 'triton/softmax_kernel.ptx'), 'rb') as file:
            ptx = file.read()
        fatbin = struct.pack('<IHHQ', 0xba55ed50, 1, 16, 64 + len(cubin)) + \
            struct.pack('<HHIQIIHHIIIQQ', 2, 0x101, 64, len(cubin), 0, 0, 0, 0, 90, 0, 0, 0, 0)
        fatbin += bytes(80 - len(fatbin)) + cubin
        images = [cubin, ptx, fatbin, *damage(cubin, 0, 64, 1), *damage(cubin, *table_of(cubin, 32, 54), 4),
                  *damage(cubin, *table_of(cubin, 40, 58), 4), *damage(fatbin, 0, 80, 2)]
        images += [data[:len(data) * n // 40] for data in (cubin, ptx, fatbin) for n in range(1, 40)]
        images += [ptx.replace(old, new, 1) for old, new in (
            (b'{', b'}'), (b'}', b''), (b'.version', b'.vers'), (b'.target', b'.targ'), (b'sm_90a', b'sm_9'),
            (b'.version 8', b'.version x'), (b'\n', b'\1'), (b'.address_size', b'/* '), (b'.address_size', b'"'))]
        for number, data in enumerate(images):
            self.write(f'images/{number}', data)
        self.write('verdicts.c', VERDICTS)
        code, out, err = run([*shlex.split(self.values['cc']), *shlex.split(self.values['link_flags']),
                              f'-I{ROOT}/include', 'verdicts.c', os.path.join(self.build, 'libcuferry.a'), '-lpthread',
                              '-ldl', '-lm', '-o', 'verdicts'], cwd=self.folder)
        if code == 0:
            code, out, err = run([self.path('verdicts'), str(len(images))], cwd=self.folder, env=self.env)
        refused = [int(word) for word in out.split()] if code == 0 else []
        lost = [n for n in refused if is_readable(images[n])]
        self.expect('generator_refuses_what_the_library_refuses', len(refused) > 100 and not lost, (
            code, err, len(refused), lost))
        self.expect('generator_and_library_take_whole_images', not {0, 1, 2}.intersection(refused) and
                    all(map(is_readable, images[:3])), refused[:3])

    def of_the_cpu(self):
        """Returns an object file that was compiled from an empty C file."""
        run([*shlex.split(self.values['cc']), '-x', 'c', '-c', os.devnull, '-o', 'empty.o'], cwd=self.folder)
        return self.read('empty.o')

    @staticmethod
    def of_kind(fatbin, kind):
        """Returns the image with all its entries marked as another kind."""
        at = 16
        while at < len(fatbin):
            fatbin = fatbin[:at] + kind + fatbin[at + 1:]
            at += int.from_bytes(fatbin[at + 4:at + 8], 'little') + int.from_bytes(fatbin[at + 8:at + 16], 'little')
        return fatbin

    @staticmethod
    def with_section(cubin, offset, value):
        """Returns the image with a part of its symbol table's description replaced."""
        table = int.from_bytes(cubin[40:48], 'little')
        count = int.from_bytes(cubin[60:62], 'little')
        at = next(table + 64 * n for n in range(count) if cubin[table + 64 * n + 4] == 2) + offset
        return cubin[:at] + value + cubin[at + len(value):]

    # ---- The library

    def library(self):
        self.write('soft.cu', LIBRARY)
        self.write('main.c', PROGRAM)
        code, out, err = run([self.cfcc, '--targets', '90', '-MF', 'soft.d', '-o', 'soft.o', 'soft.cu'],
                             cwd=self.folder)
        self.expect('adopted_kernels_and_others_are_compiled', (code, out, err) == (0, '', ''), (code, out, err))
        listed = self.read('soft.d').decode().split()
        self.expect('depfile_names_the_images', {'softmax_4.cubin', 'softmax_8.cubin', 'scale.ptx'} <= set(listed),
                    listed)
        compressed = self.read('soft.o')
        self.expect('objects_contain_the_images', all(self.read(name) in compressed for name in (
            'softmax_4.cubin', 'softmax_8.cubin', 'scale.ptx')), 'an image is not in the object')
        code, out, err = run([self.cfcc, '--shared', '-o', 'soft.so', 'soft.o'], cwd=self.folder)
        if code == 0:
            code, out, err = run([*shlex.split(self.values['cc']), f'-I{ROOT}/include', 'main.c', './soft.so', '-lm',
                                  '-Wl,-rpath,$ORIGIN,--allow-shlib-undefined', '-o', 'main'], cwd=self.folder)
        self.expect('adopted_kernels_are_linked', code == 0, (code, out, err))
        if code == 0:
            self.calls()

    def without_nvcc(self):
        code, out, err = run([self.cfcc, '--cuda', 'no', '-o', 'soft.o', 'soft.cu'], cwd=self.folder)
        self.expect('images_are_embedded_without_cuda', (code, err) == (0, '') and
                    self.read('softmax_8.cubin') in self.read('soft.o'), (code, out, err))
        self.write('scale.cu', OF_NUMBA)
        code, out, err = run([self.cfcc, '-o', 'soft.o', 'scale.cu'], cwd=self.folder,
                             env={**self.env, 'PATH': path_without_nvcc(self.path('bin'))})
        said = '' if self.values['nvcc'] else \
            'cfcc: no nvcc was found: soft.o runs on the CPU alone, except the kernels of image(...)\n'
        self.expect('cfcc_without_nvcc_tells_what_runs_on_the_cpu', (code, err) == (0, said), (code, out, err))

    def program(self, *arguments):
        done = subprocess.run([self.path('main'), *arguments], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=600)
        return done.returncode, done.stdout.decode(errors='replace')

    def tool(self, name, *arguments):
        code, out, err = run([os.path.join(self.build, name), '--driver', self.driver, '--module', './soft.so',
                              *arguments], cwd=self.folder, env=self.env)
        return code, out + err

    def calls(self):
        code, out = self.program()
        if 'no NVIDIA driver' in out or 'finds no GPU' in out:
            self.tap.skip('adopted_kernels_run', NEEDS_GPU)
            return
        sizes = '{} and {} bytes'.format(*(len(self.read(f'softmax_{warps}.cubin')) for warps in (4, 8)))
        self.expect('adopted_kernels_run', code == 0 and f'right: 2 variants, images of {sizes}' in out, (code, out))
        if self.driver == 'host':
            code, out = self.program('scale')
            self.expect('kernels_of_images_have_no_form_for_the_cpu',
                        'its annotation has host(none), or image(...) without host(function)' in out, out)
        code, out = self.program('update')
        self.expect('launches_of_adopted_kernels_are_updated', (code, out) == (0, 'updated\n'), (code, out))
        code, out = self.tool('cf-run', '--describe', 'softmax')
        self.expect('cf_run_describes_adopted_kernels', code == 0 and re.search(
            r'cuda +sm_90 from a file of the annotation, for (WARPS=4)\n +cuda +sm_90 .*, for (WARPS=8)\n', out),
                    (code, out))
        code, out, err = run([os.path.join(self.build, 'cf-info'), '--module', './soft.so'], cwd=self.folder,
                             env=self.env)
        self.expect('cf_info_lists_the_images', code == 0 and re.search(
            rf'soft.cu: {len(self.read("softmax_4.cubin"))} bytes from a file of the annotation\n', out) and
            re.search(rf'soft.cu: {len(self.read("softmax_8.cubin"))} bytes from a file', out) and
            re.search(r'soft.cu: \d+ bytes by CUDA ', out), (code, out, err))
        made = 'rows=3', 'x_stride=64', 'out_stride=64', 'cols=64'
        code, out = self.tool('cf-run', '--variant', 'WARPS=8', 'softmax', *made, 'x=random:f32:3x64', 'out=y.npy')
        self.expect('cf_run_runs_a_variant_of_an_image', code == 0 and len(self.read('y.npy')) > 3 * 64 * 4,
                    (code, out))
        self.tuned(made)
        if self.driver != 'host':
            self.other_targets()

    def tuned(self, made):
        given = [word for value in made for word in ('--set', value)]
        code, out = self.tool('cf-tune', '--file', 'tuning', '--time', '0.002', '--cache', '65536', '--sizes', '192',
                              *given, 'softmax')
        self.expect('cf_tune_chooses_an_image', code == 0 and re.search(r'softmax .*WARPS=[48]', out) and
                    b'soft_softmax' in self.read('tuning'), (code, out))

    def other_targets(self):
        """Tests an image that has no code for the device."""
        self.compile('cache/softmax_kernel.ptx', 'softmax_4.cubin', '-cubin', '-arch=sm_100')
        code, out, err = run([self.cfcc, '--shared', '--cuda', 'no', '-o', 'soft.so', 'soft.cu'], cwd=self.folder)
        code, out = self.program() if code == 0 else (code, out + err)
        self.expect('images_for_other_devices_are_refused', code == 1 and re.search(
            r'soft_softmax: its image has code for sm_100 and device 0 is sm_(\d+); compile it for sm_\1\n', out),
                    (code, out))

    # ---- Results of Triton and Numba

    def fixtures(self):
        for kind, name, words in (
                ('triton', 'triton', ('for sm_90a.', 'triton/softmax_kernel.cubin', ' block(128) ', 'shared(16)',
                                      'scratch(global_scratch[0], profile_scratch[0])', 'softmax_kernel(float *out, '
                                      'float *x, int32_t x_stride, int32_t out_stride, int32_t cols, char *')),
                ('numba', 'numba/scale.ptx', ('for compute_90.', 'numba/scale.ptx', 'entry("_ZN8__main__5scaleB2v1B92',
                                              'scale(float *arg0, float *arg1, float arg2, int64_t arg3);'))):
            code, out, err = self.adopt(kind, os.path.join(FIXTURES, name))
            self.expect(f'adopt_takes_results_of_{kind}', code == 0 and all(word in out for word in words),
                        (code, out, err))
            self.write(f'of_{kind}.cu', re.sub(r'/\* \w+\? \*/', '1', out))
            code, out, err = run([self.cfcc, '--cuda', 'no', f'of_{kind}.cu'], cwd=self.folder)
            self.expect(f'results_of_{kind}_are_compiled', (code, out, err) == (0, '', ''), (code, out, err))


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: test_adopt.py BUILDDIR')
    with tempfile.TemporaryDirectory() as folder:
        return AdoptTest(sys.argv[1], folder).run()


if __name__ == '__main__':
    sys.exit(main())
