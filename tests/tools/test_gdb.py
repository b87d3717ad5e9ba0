"""test_gdb.py - gdb stops in kernels that run on the CPU, as kernels/CHECKS.md describes.

usage: test_gdb.py BUILD_FOLDER
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run

TOOLS = os.path.join(ROOT, 'tools')

SOURCE = '''#include <stdint.h>

#pragma cf kernel blocks(n) block(64) in(x[n][64]) out(y[n][64])
__global__ void turn(const int *x, int *y, int n)
{
    __shared__ int tile[64];
    int own = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[own];
    __syncthreads();
    y[own] = tile[63 - threadIdx.x]; /* STOP turn */
}

#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void twice(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i]; /* STOP twice */
}
'''
# For each kernel: its array, and what gdb prints when thread 3 of block 1 stops.
KERNELS = {
    'turn': ('x=fill:i32:3x64:5', ['x = 3, y = 0, z = 0', '= 1', 'x = 64, y = 1, z = 1', '= 3', '= 67', '= 5'],
             ['print own', 'print tile[60]'], r'\n#\d+ +0x[0-9a-f]+ in cf\W?_*fiber_start \(\)\n'),
    'twice': ('x=fill:i32:1000:5', ['x = 3, y = 0, z = 0', '= 1', 'x = 256, y = 1, z = 1', '= 4', '= 259', '= 5'],
              ['print i', 'print x[i]'], r'\n#\d+ +(0x[0-9a-f]+ in )?main \('),
}


def stop(build, folder, name):
    """Stops in a kernel; returns what is wrong in the output of gdb, or ''."""
    array, values, prints, end = KERNELS[name]
    line = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if f'STOP {name}' in text)
    commands = [f'break dbg.cu:{line} if threadIdx.x == 3 && blockIdx.x == 1', 'run', 'print threadIdx',
                'print blockIdx.x', 'print blockDim', 'print gridDim.x', *prints, 'backtrace', 'delete', 'continue']
    words = [word for command in commands for word in ('-ex', command)]
    code, out, err = run(['gdb', '-q', '-nx', '-batch', '-ex', 'set pagination off', '-ex', 'set width 0', '-x',
                          os.path.join(TOOLS, 'run', 'cuferry.gdb'), *words, '--args', os.path.join(build, 'cf-run'),
                          '--module', './dbg.so', name, array], cwd=folder, timeout=600)
    printed = re.findall(r'^\$\d+ (.*)$', out, re.MULTILINE)
    problems = [] if len(printed) == len(values) and all(v in p for v, p in zip(values, printed)) else [f'{printed}']
    if not re.search(rf'Breakpoint 1(\.\d+)?, .*{name} \(.*dbg\.cu:{line}\n', out):
        problems.append('no stop')
    if not re.search(rf'\n#0 +(0x[0-9a-f]+ in )?(cf__regions_)?{name} \(', out) or not re.search(end, out):
        problems.append('backtrace')
    if not re.search(r'exited normally', out):
        problems.append('the run does not go on')
    return f'{problems}, exit {code}:\n{out}{err}' if problems else ''


def main():
    tap = Tap()
    build = os.path.abspath(sys.argv[1])
    code, _, err = run(['gdb', '-q', '-nx', '-batch', '-ex', 'run', '--args', 'true']) if shutil.which('gdb') else (
        1, '', 'needs gdb')
    if code or 'not permitted' in err:
        tap.skip('gdb_stops_in_kernels', 'needs gdb' if not shutil.which('gdb') else
                 'needs a gdb that may run programs')
        return tap.close()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'dbg.cu'), 'w', encoding='utf-8') as file:
            file.write(SOURCE)
        for compilers in ([], ['--cc', 'clang', '--cxx', 'clang++']):
            if compilers and not shutil.which('clang++'):
                continue
            code, _, err = run([os.path.join(build, 'cfcc'), *compilers, '--cuda=no', '--shared', '-g', '-O0', '-o',
                                'dbg.so', 'dbg.cu'], cwd=folder)
            for name in KERNELS:
                tap.check(f'gdb_stops_in_{name}{"_of_clang" if compilers else ""}',
                          err if code else stop(build, folder, name))
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
