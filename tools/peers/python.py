#!/usr/bin/env python3
"""python.py - compares the cost of calls from Python and Cython with other ways of calling, and gathers with those of
PyTorch and CuPy.

usage: python.py [BUILDDIR]        (default: build)

The cost of a call is measured with NumPy arrays from Python and Cython and compared with a loop in C; with CuPy arrays
and compared with RawKernel; and with PyTorch tensors and compared with torch.add. The device time of gathers is that of
cf_gather_async() in BUILDDIR/libcuferry.so.0, and is compared with PyTorch's and CuPy's gathers. All but the first
comparison need a GPU. A part whose package is not installed says so. Exits with 1 if a gather's result is wrong.
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
N, M = 1 << 20, 1 << 27
SETS = 16           # sets of indices and results, used in turn so that no run finds its data in the cache
DELAY = 400_000     # cycles for which the GPU waits while the host enqueues the timed work
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def measure(ways, timed):
    """Returns the median of timed(call) for each way. The ways take turns, and another one is the first in each
    round."""
    times, names = {name: [] for name in ways}, list(ways)
    for turn in range(ROUNDS + 1):
        for step in range(len(names)):
            name = names[(turn + step) % len(names)]
            spent = timed(ways[name])
            if turn:    # the first round, which loads code, is not counted
                times[name].append(spent)
    return {name: statistics.median(values) for name, values in times.items()}


def measure_calls(ways, synchronize):
    """Returns the median time of a call for each way, in microseconds."""
    def timed(way):
        call, count = way
        synchronize()
        start = time.perf_counter()
        call()
        spent = time.perf_counter() - start
        synchronize()
        return spent / count * 1e6
    return measure(ways, timed)


def repeat(call, *arguments):
    """Returns a way that makes many calls."""
    def often():
        for _ in range(CALLS):
            call(*arguments)
    return often, CALLS


def report(title, medians, digits=2):
    (first, base), *rest = medians.items()
    print(f'{title}: {first} {base:.{digits}f} us')
    for name, value in rest:
        print(f'  {name}: {value:.{digits}f} us, {value / base:.3f} times, {value - base:+.2f} us')


def find(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # CuPy looks for CUDA at import, and fails with various exceptions
        print(f'{name}: not installed ({error})')
        return None


# ---- Calls

def beside_cupy(peer, cupy):
    x, y, z = (cupy.arange(ELEMENTS, dtype=cupy.float32) for _ in range(3))
    raw = cupy.RawKernel(RAW, 'add')
    grid, block = ((ELEMENTS + 255) // 256,), (256,)
    report('CuPy', measure_calls({'RawKernel': repeat(raw, grid, block, (x, y, z, ELEMENTS)),
                                  'Cuferry': repeat(peer.add, x, y, z),
                                  'Cuferry, result made': repeat(peer.add, x, y)},
                                 cupy.cuda.get_current_stream().synchronize))


def beside_torch(peer, torch):
    x, y, z = (torch.arange(ELEMENTS, dtype=torch.float32, device='cuda') for _ in range(3))
    report('PyTorch', measure_calls({'torch.add': repeat(lambda: torch.add(x, y, out=z)),
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
    report('host arrays', measure_calls(ways, lambda: None))


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


# ---- Gathers

def list_gathers(library, torch, cupy, source, sets):
    """Returns the ways to gather as functions of the number of a set."""
    def ours(bits):
        gather = getattr(library, f'cf_gather_f32_i{bits}_async')
        gather.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2

        def run(k):
            index, res = sets[k][bits // 64], sets[k][2]
            if gather(torch.cuda.current_stream().cuda_stream, source.data_ptr(), index.data_ptr(), res.data_ptr(), N,
                      M):
                library.cf_last_error.restype = ctypes.c_char_p
                sys.exit(f'python.py: cf_gather_async: {library.cf_last_error().decode()}')
        return run

    ways = {'cf_gather_async, int32': ours(32), 'cf_gather_async, int64': ours(64),
            'torch.index_select, int32': lambda k: torch.index_select(source, 0, sets[k][0], out=sets[k][2]),
            'torch.take, int64': lambda k: torch.take(source, sets[k][1], out=sets[k][2])}
    if cupy:
        of_cupy = cupy.from_dlpack(source)
        theirs = [[cupy.from_dlpack(tensor) for tensor in each] for each in sets]
        ways['cupy.take, int32'] = lambda k: cupy.take(of_cupy, theirs[k][0], out=theirs[k][2])
    return ways


def beside_gathers(builddir, torch, cupy):
    turn = 0

    def timed(run):
        """Returns the device time of a gather in microseconds. It is queued behind other work, so that Python's own
        time does not count."""
        nonlocal turn
        turn = (turn + 1) % SETS
        torch.cuda._sleep(DELAY)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run(turn)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    path = os.path.join(builddir, 'libcuferry.so.0')
    if not os.path.exists(path):
        print(f'gathers: not run, there is no {path}; ninja -C {builddir} libcuferry.so.0 makes it')
        return
    library, stream = ctypes.CDLL(path), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        if cupy:
            cupy.cuda.ExternalStream(stream.cuda_stream).use()
        source = torch.rand(M, device='cuda')
        index64 = torch.randint(0, M, (SETS, N), device='cuda')
        index32, res = index64.to(torch.int32), torch.full((SETS, N), -1.0, device='cuda')
        sets = [(index32[k], index64[k], res[k]) for k in range(SETS)]
        ways = list_gathers(library, torch, cupy, source, sets)
        for name, run in ways.items():
            res.fill_(-1)
            run(0)
            torch.cuda.synchronize()
            if not torch.equal(res[0], source[index64[0]]):
                sys.exit(f'python.py: {name} gives something else')
        report('gather of 2^20 of 2^27 floats, device time', measure(ways, timed), 1)


def main():
    builddir = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else 'build')
    torch, cupy = find('torch'), find('cupy')
    if torch and not torch.cuda.is_available():
        print('torch: no GPU')
        torch = None
    with tempfile.TemporaryDirectory() as folder:
        build(builddir, folder)
        sys.path.insert(0, folder)
        peer = importlib.import_module('peer')
        beside_c(peer, folder)
        if cupy:
            beside_cupy(peer, cupy)
        if torch:
            beside_torch(peer, torch)
            beside_gathers(builddir, torch, cupy)


if __name__ == '__main__':
    main()
