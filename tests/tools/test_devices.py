"""test_devices.py - tests device functions that kernels of other files call: #pragma cf device, which cfcc compiles for
the CPU and for linked GPU code, and LTO-IR files on the command line.

usage: test_devices.py BUILDDIR
"""

import os
import shlex
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path += [os.path.join(HERE, '../support'), HERE]
from tap import NEEDS_NVCC, ROOT, Tap, run
from cfcc_case import CfccTest, defined

# Two files that call functions of one another, with a namespace, an overload, data with a setter, and helper functions
# that have the same name in both files.
FLUX = '''#include "flux.cuh"
__constant__ float slope;
static __device__ float scaled(float x) { return slope * x; }
namespace fluid
{
#pragma cf device
__device__ float flux(float u, float v) { return scaled(u - v); }
#pragma cf device
__device__ float flux(float u) { return scaled(u) + half_of(2); }
}
'''
STEP = '''#include "flux.cuh"
static __device__ float scaled(float x) { return -x; }
#pragma cf device
extern "C" __device__ float half_of(float x) { return x / 2; }
#pragma cf kernel grid(n) in(u[n], v[n]) out(w[n])
__global__ void step(const float *u, const float *v, float *w, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] = fluid::flux(u[i], v[i]) + fluid::flux(1) + scaled(half_of(u[i]));
}
'''
HEADER = '''extern "C" __device__ float half_of(float x);
namespace fluid
{
__device__ float flux(float u, float v);
__device__ float flux(float u);
}
'''
OTHER = '''#pragma cf kernel grid(n) inout(x[n])
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
'''
PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include "heat.h"
int main(void)
{
    float u[3] = {1, 2, 3}, v[3] = {8, 7, 5}, w[3];
    int status = heat_set_slope(4);
    if (status == CF_OK)
        status = heat_step(u, v, w, 3);
    if (status == CF_OK)
        status = heat_twice(w, 3);
    if (status != CF_OK)
        return puts(cf_last_error()), 1;
    printf("%g %g %g\\n", w[0], w[1], w[2]);
    return 0;
}
'''
# 4 * (u - v) + 4 * 1 + 1 - u / 2, twice.
EXPECTED = '-47 -32 -9\n'

CALLER = '''__device__ int lane_of(int x);
namespace q { __device__ float lost(const float *, unsigned int n); }
#pragma cf kernel grid(n) out(x[n])
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = lane_of(i) + q::lost(x, 1);
}
'''
LANE = '#pragma cf device host(none)\n__device__ int lane_of(int x) { return x + threadIdx.x % 32; }\n'
LOST = ('caller.cu:2:32: error: float q::lost(const float *, unsigned int n) is defined in no kernel file; write '
        '#pragma '
        'cf device above its definition in a kernel file, or name the GPU code that has it\n')
LACKING = ('caller.cu:1:16: error: the CPU lacks int lane_of(int x): it has host(none) at lane.cu:2:16; annotate '
           'kernels '
           'that call it with host(none), or with host(FUNCTION) for a form of their own\n')

# Overloads of a function in two files, and a third file that calls one of them.
OVERLOADS = {'a': '#pragma cf device\n__device__ float f(int x) { return x + 1; }\n',
             'b': '#pragma cf device\n__device__ float f(float x) { return x + 2; }\n',
             'c': '''__device__ float f(int x);
#pragma cf kernel grid(n) out(x[n])
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = f(i);
}
'''}

NUMBA = os.path.join(ROOT, 'tests/fixtures/adopted/numba')
OF_NUMBA = '''extern "C" __device__ float mul_f32(float x, float y);
extern "C" __device__ float sum_f32(const float *x, int n);
#pragma cf kernel grid(n) in(x[n], y[n]) out(r[n]) host(none)
extern "C" __global__ void multiply_vectors(const float *x, const float *y, float *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = mul_f32(x[i], y[i]);
}
#pragma cf kernel blocks(1) block(1) in(x[n]) out(r[1]) host(none)
extern "C" __global__ void sum_reduce(const float *x, float *r, int n)
{
    *r = sum_f32(x, n);
}
'''


class DevicesTest(CfccTest):
    def runs(self, name, *objects):
        """The program prints the right numbers on the CPU."""
        self.write('main.c', PROGRAM)
        config = self.config
        code, out, err = run([*shlex.split(config['cc']), *shlex.split(config['link_flags']), f'-I{ROOT}/include',
                              'main.c', '-Wl,-rpath,.', *objects, os.path.join(self.builddir, 'libcuferry.a'),
                              '-lpthread', '-ldl', '-lm', '-o', 'main'], cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=self.env)
        self.expect(name, (code, out) == (0, EXPECTED), f'exit {code}: {out}{err}')

    def several(self):
        """Links the files of the example in every order."""
        self.fresh(flux=FLUX, step=STEP, other=OTHER)
        self.write('flux.cuh', HEADER)

    def on_the_cpu(self):
        for name, words, order in (('heat.o', [], ('flux.cu', 'step.cu', 'other.cu')),
                                   ('heat.so', ['--shared'], ('other.cu', 'step.cu', 'flux.cu'))):
            self.several()
            result = self.compile(*words, '-o', name, *order)
            self.expect(f'cfcc_device_functions_of_the_cpu_{order[0]}_first', result == (0, '', ''), result)
            self.runs(f'cfcc_device_functions_run_on_the_cpu_from_{name}', f'./{name}')
            names = defined(os.path.join(self.folder, name), '-g')
            self.expect(f'cfcc_device_functions_are_no_names_of_{name}', 'heat_step' in names and not any(
                'flux' in name or 'half_of' in name for name in names), names)

    def on_the_gpu(self):
        for words, files in ((['--targets=80,90', '-Xnvcc=-Xptxas=-O2', '-Xnvcc=-lineinfo'], ['other.cu']),
                             (['--targets=90', '-Xnvcc=-G'], [])):
            self.several()
            result = self.compile(*words, '-o', 'heat.o', 'flux.cu', 'step.cu', *files, cuda=None)
            self.expect(f'cfcc_links_device_functions_with_{words[-1]}', result == (0, '', ''), result)
            names = defined(os.path.join(self.folder, 'heat.o'))
            images = sorted(name for name in names if name.startswith('heat__i_'))
            self.expect(f'cfcc_files_that_call_one_another_have_one_image_with_{words[-1]}',
                        images == ['heat__i_flux', 'heat__i_other'][:1 + len(files)], images)
            if files:
                self.runs('cfcc_kernels_with_linked_code_run', 'heat.o')

    def overloads(self):
        """A file links with the file of the overload that it calls; if that is missing, the message names the
        overload."""
        self.fresh(**OVERLOADS)
        result = self.compile('--targets=90', '-o', 'heat.o', 'a.cu', 'b.cu', 'c.cu', cuda=None)
        self.expect('cfcc_links_the_overload_that_is_called', result == (0, '', ''), result)
        images = sorted(name for name in defined(os.path.join(self.folder, 'heat.o')) if name.startswith('heat__i_'))
        self.expect('cfcc_leaves_files_of_other_overloads_alone', images == ['heat__i_a'], images)
        missing = OVERLOADS['c'].replace('f(int x);', 'f(int x), f(double x);').replace('= f(i)', '= f(i) + f(1.0)')
        for words, cuda, others in (([], '--cuda=no', ['a.cu', 'b.cu']), (['--targets=90'], None, ['a.cu'])):
            self.fresh(**{**OVERLOADS, 'c': missing.replace('), f(', ');\n__device__ float f(')})
            result = self.compile(*words, '-o', 'heat.o', *others, 'c.cu', cuda=cuda)
            self.refused('cfcc_missing_overload_is_named' + '_in_a_link' * bool(words), result, 1,
                         'c.cu:2:18: error: float f(double x) is defined in no kernel file; ')

    def of_numba(self):
        """Device functions from Numba link with kernels, as PTX and as LTO-IR."""
        is_long = bool(os.environ.get('CHECK_LONG'))
        for kinds in (('ptx', 'ltoir'), ('ltoir', 'ptx'), *[('ptx', 'ptx'), ('ltoir', 'ltoir')] * is_long):
            self.fresh(heat=OF_NUMBA)
            files = [os.path.join(NUMBA, f'{name}_f32.{kind}') for name, kind in zip(('mul', 'sum'), kinds)]
            result = self.compile('--targets=90', '-MD', 'heat.cu', *files, cuda=None)
            self.expect(f'cfcc_links_functions_of_numba_as_{"_and_".join(kinds)}', result == (0, '', '') and all(
                path in self.read('heat.d') for path in files), result)
        for kind in ('ltoir', *['ptx'] * is_long):  # test_cfcc.py tests an undefined function in PTX
            self.fresh(heat=OF_NUMBA.replace('sum_f32(', 'sum_f64(').replace('mul_f32(x[i]', 'mul_f64(x[i]').replace(
                'extern "C" __device__ float mul_f32', 'extern "C" __device__ float mul_f64'))
            result = self.compile('--targets=90', 'heat.cu', os.path.join(NUMBA, f'mul_f32.{kind}'), cuda=None)
            self.refused(f'cfcc_each_undefined_function_beside_{kind}_is_named', result, 1, *(
                f'heat.cu:{line}:29: error: float {name}_f64({args}) is defined in no kernel file, nor in '
                for line, name, args in ((1, 'mul', 'float x, float y'), (2, 'sum', 'const float *x, int n'))))
        self.fresh(heat=OF_NUMBA)
        result = self.compile('--targets=80', 'heat.cu', os.path.join(NUMBA, 'mul_f32.ptx'), cuda=None)
        self.expect('cfcc_linked_code_for_newer_targets_is_refused', result[0] == 1 and 'mul_f32.ptx' in result[2],
                    result)

    def linked_entries(self):
        """Linking keeps all kernels of a file, whatever other files are linked."""
        self.fresh(heat=OF_NUMBA.split('#pragma')[0].split('\n', 1)[0] + '\nextern "C" __global__ void entry(float '
                                                                         '*x)\n'
                   '{\n    *x = mul_f32(x[1], x[2]);\n}\n', mul='extern "C" __device__ float mul_f32(float x, float y) '
                   '{ return x * y; }\n')
        nvcc = [self.config['nvcc'], '-rdc=true']
        commands = {'heat.fatbin': ['-fatbin', '-gencode', 'arch=compute_90,code=lto_90'],
                    'mul.fatbin': ['-fatbin', '-arch=sm_90'], 'mul.cubin': ['-cubin', '-arch=sm_90'],
                    'mul.ptx': ['-ptx', '-arch=compute_80'], 'mul.o': ['-c', '-arch=sm_90'],
                    'mul.ltoir': ['-dlto', '-ltoir', '-arch=sm_90']}
        for name, words in commands.items():
            source = name.split('.', maxsplit=1)[0] + '.cu'
            code, out, err = run([*nvcc, *words, source, '-o', name], cwd=self.folder)
            self.expect(f'nvcc_makes_{name}', code == 0, f'{out}{err}')
        run(['ar', 'rc', 'mul.a', 'mul.o'], cwd=self.folder)
        sys.path.insert(0, os.path.join(ROOT, 'tools/compile'))
        from toolkit import Toolkit     # pylint: disable=import-error,import-outside-toplevel
        library = Toolkit(self.config['nvcc'], '90', []).nvjitlink
        for name in [*commands, 'mul.a'][1:]:
            code, out, err = run([sys.executable, os.path.join(ROOT, 'tools/compile/jitlink.py'), library, 'x.cubin',
                                  '-arch=sm_90', '-lto', '--', 'heat.fatbin', name], cwd=self.folder)
            facts = run([sys.executable, os.path.join(ROOT, 'gen/cfgen'), '--facts', 'x.cubin'], cwd=self.folder)[1]
            self.expect(f'link_with_{name}_keeps_the_kernel', (code, out, err) == (0, '', '') and
                        '"entries": {"entry": ' in facts, f'exit {code}: {out}{err}{facts}')

        result = run([sys.executable, os.path.join(ROOT, 'tools/compile/jitlink.py'), library, 'x.cubin', '-arch=sm_90',
                      '--', 'mul.ptx', 'mul.cubin'], cwd=self.folder)
        self.expect('link_with_two_definitions_fails', result[:2] == (1, '') and "Multiple definition of 'mul_f32' in "
                    "'mul.cubin', first defined in 'mul.ptx'" in result[2], result)

    def wrong_on_the_cpu(self):
        for name, files, expected in (('undefined', {'lane': LANE}, LACKING + LOST),
                                      ('undefined_alone', {}, LOST)):
            self.fresh(caller=CALLER, **files)
            result = self.compile('-o', 'heat.o', 'caller.cu', *(f'{file}.cu' for file in files))
            self.refused(f'cfcc_device_functions_{name}_are_named_on_the_cpu', result, 1, expected)
        self.fresh(caller=CALLER.replace(' + q::lost(x, 1)', '').replace('(x[n])', '(x[n]) host(none)'), lane=LANE)
        result = self.compile('-o', 'heat.o', 'caller.cu', 'lane.cu')
        self.expect('cfcc_device_functions_with_host_none_need_no_cpu', result == (0, '', ''), result)
        self.fresh(caller=CALLER.replace(' + q::lost(x, 1)', ''), lane=LANE.replace(' host(none)', '').replace(
            '(int x)', '(long x)').replace(' + threadIdx.x % 32', ''))
        self.refused('cfcc_device_functions_of_other_parameters_are_named',
                     self.compile('-o', 'heat.o', 'caller.cu', 'lane.cu'), 1,
                     'caller.cu:1:16: error: int lane_of(int x) is defined in no kernel file; int lane_of(long x) at '
                     'lane.cu:2:16 has other parameters\n')

    def wrong_on_the_gpu(self):
        self.fresh(caller=CALLER)
        self.refused('cfcc_each_undefined_device_function_is_named',
                     self.compile('--targets=90', '-o', 'heat.o', 'caller.cu', cuda=None), 1,
                     'caller.cu:1:16: error: int lane_of(int x) is defined in no kernel file; ', LOST)
        self.fresh(caller=CALLER, lane=LANE)
        self.refused('cfcc_undefined_device_function_is_named_in_a_link',
                     self.compile('--targets=90', '-o', 'heat.o', 'caller.cu', 'lane.cu', cuda=None), 1, LOST)
        self.refused('cfcc_linked_device_functions_need_machine_code',
                     self.compile('--targets=90-virtual', '-o', 'heat.o', 'caller.cu', 'lane.cu', cuda=None), 1,
                     'cfcc: --targets: caller.cu is linked to machine code, and no target has any; give such as 90')
        self.several()
        result = self.compile('--targets=90', '-Xnvcc=-Xptxas=--unheard', '-o', 'heat.o', 'flux.cu', 'step.cu',
                              cuda=None)
        self.expect('cfcc_links_obey_flags_of_ptxas', result[0] == 1 and 'unheard' in result[2], result)
        self.several()
        os.rename(os.path.join(self.folder, 'flux.cuh'), os.path.join(self.folder, 'flux_cuh.cu'))
        for name, text in (('flux', FLUX), ('step', STEP)):
            self.write(f'{name}.cu', text.replace('static ', '').replace('flux.cuh', 'flux_cuh.cu'))
        self.refused('cfcc_helpers_of_one_name_in_linked_files_are_refused',
                     self.compile('--targets=90', '-o', 'heat.o', 'flux.cu', 'step.cu', cuda=None), 1,
                     'cfcc: flux.cu, step.cu: _Z6scaledf is defined twice in GPU code that is linked; make it static '
                     'in '
                     'the files that do not share it')
        code, out, err = run([sys.executable, os.path.join(ROOT, 'tools/compile/jitlink.py'), '/none/libnvJitLink.so',
                              'x.cubin', '--', 'x.ptx'])
        self.expect('cfcc_needs_nvjitlink_for_links', code == 1 and not out and err.startswith(
            'nvJitLink, which links GPU code, cannot be loaded: /none/libnvJitLink.so: '), (code, out, err))


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: test_devices.py BUILDDIR')
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = DevicesTest(tap, sys.argv[1], folder)
        test.on_the_cpu()
        test.wrong_on_the_cpu()
        if test.config['nvcc']:
            test.on_the_gpu()
            test.overloads()
            test.of_numba()
            test.linked_entries()
            test.wrong_on_the_gpu()
        else:
            tap.skip('cfcc_links_device_functions', NEEDS_NVCC)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
