#!/usr/bin/env python3
"""python.py - the cost of a call from Python and Cython beside other ways, in one run: the ratios of medians.

usage: python.py [BUILDDIR]        (default: build)

NumPy arrays from Python and from Cython stand beside a loop of calls in C, CuPy arrays beside RawKernel, and PyTorch
tensors beside torch.add. The last two need a GPU. Each part that lacks its package says so.
"""

import ctypes
import importlib
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

KERNEL = '''/* z = x + y */
#pragma cf kernel grid(n) in(x[n], y[n]) out(z[n])
__global__ void add(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}
'''
RAW = 'extern "C" ' + KERNEL[KERNEL.index('__global__'):]
LOOP = '''#include "peer.h"
int call_often(const float *x, const float *y, float *z, int n, int times);
int call_often(const float *x, const float *y, float *z, int n, int times)
{
    int status = 0;
    while (times-- > 0 && !status)
        status = peer_add(x, y, z, n);
    return status;
}
'''
ROUNDS, CALLS, ELEMENTS = 31, 2000, 1024
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def measure(ways, synchronize):
    """The median time of a call of each way in microseconds; the ways take turns."""
    times = {name: [] for name in ways}
    for turn in range(ROUNDS + 1):
        for name, (call, count) in ways.items():
            synchronize()
            start = time.perf_counter()
            call()
            spent = time.perf_counter() - start
            synchronize()
            if turn:    # the first round loads what is missing
                times[name].append(spent / count * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def repeat(call, *arguments):
    """A way that makes many calls."""
    def often():
        for _ in range(CALLS):
            call(*arguments)
    return often, CALLS


def report(title, medians):
    (first, base), *rest = medians.items()
    print(f'{title}: {first} {base:.2f} us')
    for name, value in rest:
        print(f'  {name}: {value:.2f} us, {value / base:.2f} times, {value - base:+.2f} us')


def find(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f'{name}: not installed')
        return None


def beside_cupy(peer):
    cupy = find('cupy')
    if cupy is None:
        return
    x, y, z = (cupy.arange(ELEMENTS, dtype=cupy.float32) for _ in range(3))
    raw = cupy.RawKernel(RAW, 'add')
    grid, block = ((ELEMENTS + 255) // 256,), (256,)
    report('CuPy', measure({'RawKernel': repeat(raw, grid, block, (x, y, z, ELEMENTS)),
                            'Cuferry': repeat(peer.add, x, y, z),
                            'Cuferry, result made': repeat(peer.add, x, y)},
                           cupy.cuda.get_current_stream().synchronize))


def beside_torch(peer):
    torch = find('torch')
    if torch is None:
        return
    if not torch.cuda.is_available():
        print('torch: no GPU')
        return
    x, y, z = (torch.arange(ELEMENTS, dtype=torch.float32, device='cuda') for _ in range(3))
    report('PyTorch', measure({'torch.add': repeat(lambda: torch.add(x, y, out=z)),
                               'Cuferry': repeat(peer.add, x, y, z)}, torch.cuda.synchronize))


def beside_c(peer, folder):
    numpy = find('numpy')
    if numpy is None:
        return
    x, y, z = (numpy.arange(ELEMENTS, dtype=numpy.float32) for _ in range(3))
    loop = ctypes.CDLL(os.path.join(folder, 'loop.so')).call_often
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 2
    places = [a.ctypes.data for a in (x, y, z)]
    ways = {'C': (lambda: loop(*places, ELEMENTS, CALLS), CALLS), 'NumPy': repeat(peer.add, x, y, z)}
    if os.path.exists(os.path.join(folder, 'peer_wrapper.c')):
        ways['Cython'] = repeat(importlib.import_module('peer_wrapper').add, x, y, z)
    report('host arrays', measure(ways, lambda: None))


def build(builddir, folder):
    def run(*command):
        subprocess.run(command, cwd=folder, check=True)

    for name, text in (('peer.cu', KERNEL), ('loop.c', LOOP)):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)
    run(os.path.join(builddir, 'cfcc'), '--shared', '--emit', 'python,cython', '-o', 'libpeer.so', 'peer.cu')
    link = ['cc', '-O2', '-shared', '-fPIC', f'-I{os.path.join(ROOT, "include")}', '-Wl,--no-as-needed',
            '-L.', '-lpeer', f'-Wl,-rpath,{folder}']
    run(*link, 'loop.c', '-o', 'loop.so')
    if find('Cython'):
        run(sys.executable, '-m', 'cython', '-3', 'peer_wrapper.pyx')
        run(*link, f'-I{sysconfig.get_path("include")}', 'peer_wrapper.c', '-o',
            'peer_wrapper' + sysconfig.get_config_var('EXT_SUFFIX'))


def main():
    builddir = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    with tempfile.TemporaryDirectory() as folder:
        build(builddir, folder)
        sys.path.insert(0, folder)
        peer = importlib.import_module('peer')
        beside_c(peer, folder)
        beside_cupy(peer)
        beside_torch(peer)


if __name__ == '__main__':
    main()
