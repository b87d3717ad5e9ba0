"""test_numba.py - tests device functions that Numba calls: the files that cfcc --numba writes and, if Numba is
installed, that its kernels link with the functions and give the right numbers on a GPU.

usage: test_numba.py BUILDDIR
"""

import importlib.util
import os
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path += [os.path.join(HERE, '../support'), HERE]
from tap import NEEDS_GPU, NEEDS_NVCC, ROOT, Tap, run
from cfcc_case import CfccTest

NEEDS_NUMBA = 'needs Numba with a GPU target'
LIMIT = '''#include <cstdint>
__device__ float half_of(float x);
namespace fluid
{
#pragma cf device numba
__device__ float mul_f32_f32(float x, float y) { return x * y + half_of(0); }
}
#pragma cf device numba host(none)
extern "C" __device__ void put(double *x, int64_t at, bool is_one, const uint8_t *y) { x[at] = is_one + y[threadIdx.x]; }
'''  # noqa: E501
HALF = '#pragma cf device\n__device__ float half_of(float x) { return x / 2; }\n'
# Calls the same functions as Numba calls them.
CALLER = '''#include <cstdint>
extern "C" __device__ int heat_mul_f32_f32(float *result, float x, float y);
extern "C" __device__ int heat_put(void *, double *x, int64_t at, bool is_one, const uint8_t *y);
#pragma cf kernel grid(n) in(x[n], y[n]) out(r[n]) resident(to, from) host(none)
__global__ void step(const float *x, const float *y, float *r, double *to, const uint8_t *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && heat_mul_f32_f32(r + i, x[i], y[i]) != 0)
        heat_put(nullptr, to, i, true, from);
}
'''
DECLARED = {'mul_f32_f32': ('heat_mul_f32_f32', 'float32(float32, float32)'),
            'put': ('heat_put', 'void(CPointer(float64), int64, boolean, CPointer(uint8))')}
# Compiles kernels that call the functions to PTX; runs in a Python that has Numba.
COMPILE = '''import sys
from numba import cuda, types
from heat_numba import mul_f32_f32, put

def multiply_vectors(r, x, y):
    i = cuda.grid(1)
    r[i] = mul_f32_f32(x[i], y[i])

def put_one(to, of, x):
    put(to, 1, x[0] > 0, of)

floats = types.CPointer(types.float32)
for name, kernel, arguments in (
        ('mul', multiply_vectors, (floats, floats, floats)),
        ('put', put_one, (types.CPointer(types.float64), types.CPointer(types.uint8), floats))):
    with open(name + '.ptx', 'w') as file:
        file.write(cuda.compile_ptx(kernel, arguments, cc=(9, 0))[0])
'''
RUN = '''import sys
from numba import cuda
if not cuda.is_available():
    sys.exit(77)
import numpy as np
from heat_numba import FATBINS, mul_f32_f32

@cuda.jit(link=FATBINS)
def multiply_vectors(r, x, y):
    i = cuda.grid(1)
    if i < len(r):
        r[i] = mul_f32_f32(x[i], y[i])

x, y = np.random.default_rng(1).random((2, 32), np.float32)
r = np.zeros_like(x)
multiply_vectors[1, 32](r, x, y)
print((r == x * y).all())
'''


class NumbaTest(CfccTest):
    def files(self):
        """Makes the files that the following tests use."""
        self.fresh(limit=LIMIT, half=HALF, caller=CALLER)
        result = self.compile('--targets=90', '--prefix', 'heat', '--numba', '.', '-o', 'heat.o', 'limit.cu',
                              'half.cu', cuda=None)
        self.check('cfcc_writes_files_for_numba', result, 'half.fatbin', 'half.ltoir', 'heat.h', 'heat.o',
                   'heat_numba.py', 'limit.fatbin', 'limit.ltoir')

    def module(self):
        """Imports the module with a stand-in for Numba."""
        found = {}
        played = types.ModuleType('numba')
        played.cuda = types.SimpleNamespace(declare_device=lambda *pair: found.setdefault(pair[0], pair))
        spec = importlib.util.spec_from_file_location('heat_numba', os.path.join(self.folder, 'heat_numba.py'))
        module = importlib.util.module_from_spec(spec)
        sys.modules['numba'], before = played, sys.modules.get('numba')
        try:
            spec.loader.exec_module(module)
        finally:
            sys.modules.pop('numba')
            sys.modules.update({'numba': before} if before else {})
        self.expect('module_for_numba_declares_the_functions', {name: getattr(module, name) for name in DECLARED} ==
                    DECLARED, found)
        self.expect('module_for_numba_names_files_beside_it', module.FATBINS + module.LTOIRS == [
            os.path.join(self.folder, f'{name}.{kind}') for kind in ('fatbin', 'ltoir') for name in ('limit', 'half')],
            module.FATBINS)

    def convention(self):
        """The functions have the names and parameters that Numba expects."""
        for kind in ('fatbin', 'ltoir'):
            result = self.compile('--targets=90', '-o', 'caller.o', 'caller.cu', f'limit.{kind}', f'half.{kind}',
                                  cuda=None)
            self.expect(f'functions_for_numba_link_as_{kind}', result == (0, '', ''), result)

    def refusals(self):
        self.fresh(limit=LIMIT, half=HALF)
        self.refused('numba_needs_nvcc', self.compile('--numba', '.', 'limit.cu', 'half.cu'), 1,
                     'cfcc: --numba: it needs nvcc, whose code Numba links')
        self.refused('numba_needs_functions', self.compile('--numba', '.', 'half.cu', cuda=None), 1,
                     'cfcc: --numba: no function has #pragma cf device numba')
        self.refused('numba_needs_a_folder', self.compile('--numba', 'none', 'half.cu'), 1,
                     'cfcc: --numba none: there is no such folder')
        self.refused('numba_needs_kernel_files', self.compile('--numba', '.', '--shared', 'half.o'), 2,
                     '--prefix, --header, --manifest, --emit, --numba, --tuning, -MD and -MF go with kernel files')

    def numba(self):
        """Code that Numba itself generates links with the functions."""
        self.write('compile.py', COMPILE)
        self.write('run.py', RUN)
        code, out, err = run([sys.executable, 'compile.py'], cwd=self.folder)
        if code:
            self.tap.skip('numba_links_the_functions', NEEDS_NUMBA)
            return
        sys.path.insert(0, os.path.join(ROOT, 'tools/compile'))
        from toolkit import Toolkit     # pylint: disable=import-error,import-outside-toplevel
        library = Toolkit(self.config['nvcc'], '90', []).nvjitlink
        for name in ('mul', 'put'):
            for kind, words in (('fatbin', []), ('ltoir', ['-lto'])):
                result = run([sys.executable, os.path.join(ROOT, 'tools/compile/jitlink.py'), library, 'x.cubin',
                              '-arch=sm_90', *words, '--', f'{name}.ptx', f'limit.{kind}', f'half.{kind}'],
                             cwd=self.folder)
                self.expect(f'numba_links_{name}_as_{kind}', result == (0, '', ''), result)
        code, out, err = run([sys.executable, 'run.py'], cwd=self.folder)
        if code == 77:
            self.tap.skip('numba_runs_the_functions', NEEDS_GPU)
        else:
            self.expect('numba_runs_the_functions', (code, out) == (0, 'True\n'), f'exit {code}: {out}{err}')


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: test_numba.py BUILDDIR')
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = NumbaTest(tap, sys.argv[1], folder)
        if not test.config['nvcc']:
            tap.skip('cfcc_writes_files_for_numba', NEEDS_NVCC)
            return tap.close()
        test.files()
        test.module()
        test.convention()
        test.numba()
        test.refusals()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
