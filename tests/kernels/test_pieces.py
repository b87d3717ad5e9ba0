"""test_pieces.py - runs the GPU code of the bundled kernels on the CPU: the code under __CUDA_ARCH__, with its heads,
tails and accesses of 16 bytes, which no other test reaches without a GPU. The tests' plain loops check it. Misaligned
accesses and accesses outside of arrays end a sanitized program.

usage: test_pieces.py BUILDDIR [--cc CC]
"""

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run

HERE = os.path.dirname(os.path.realpath(__file__))
FAMILIES = ('fill', 'multiply', 'axpy', 'gather', 'scatter', 'reduce', 'scan', 'select', 'transpose', 'histogram',
            'sort', 'spmv', 'gather_random')
OPERATIONS = ('sort', 'spmv', 'gather_random')
TESTS = FAMILIES + ('length',)
# AddressSanitizer finds accesses outside of objects; a second check of them would make compilation half as long again.
SANITIZED = ['-fsanitize=address,undefined', '-fno-sanitize=null,object-size,pointer-overflow,vptr',
             '-fno-sanitize-recover=all']


def on_cpu(text):
    """Changes a kernel file or header so that the CPU compiles its GPU code."""
    text = re.sub(r'\basm\("ld\.global\.nc\.L1::no_allocate\.b\d+ %0, \[%1\];" : "=\w"\(bits\) : "l"\(address\)\);',
                  'memcpy(&bits, address, sizeof bits);', text)
    text = re.sub(r'asm volatile\("st\.relaxed\.gpu\.global\.u\d+ \[%0\], %1;" ::"l"\(([^,]*)\), "[rl]"\(([^:]*)\)\s*: '
                  r'"memory"\);',
                  r'__atomic_store_n(\1, \2, __ATOMIC_RELAXED);', text)
    text = re.sub(r'asm volatile\("ld\.relaxed\.gpu\.global\.u\d+ %0, \[%1\];" : "=[rl]"\(word\) : "l"\(([^:]*)\) : '
                  r'"memory"\);',
                  r'word = __atomic_load_n(\1, __ATOMIC_RELAXED);', text)
    text = re.sub(r'asm volatile\("" : "\+[rl]"\((\w+)\)\);', r'(void)\1;', text)
    text = text.replace('asm("add.rn.f32 %0, %0, 0f00000000;" : "+r"(bits));', 'bits = pieces::plus_zero(bits);')
    text = re.sub(r'#include <cub/block/\w+\.cuh>', '#include "pieces_cub.cuh"', text).replace('cub::', 'pieces::')
    begin = text.find('host(grid(')
    while begin >= 0:
        end, depth = begin + len('host'), 0
        while True:
            depth += (text[end] == '(') - (text[end] == ')')
            end += 1
            if depth == 0:
                break
        text = text[:begin] + text[end:]
        begin = text.find('host(grid(')
    return text.replace('__CUDA_ARCH__', 'AS_ON_A_GPU')


# Launches have few keys, so that a pass needs several. In spmv even short rows count as long and have several parts,
# and large ones occur; a few rows fill the device, and a few blocks have many parts each.
SMALL = ('-DSORT_MOST=20000', '-DSPMV_LONG=256', '-DSPMV_PART(T,nnz)=128', '-DSPMV_PARTS_OF_A_ROW=64',
         '-DSPMV_PART_BLOCKS=3',
         '-DSPMV_FEW_ROWS=300')
# Without --long of tools/check, fewer repetitions of a path with other types and lengths.
if not os.environ.get('CHECK_LONG'):
    SMALL += ('-DIS_FEW=1',)


def build(folder, options):
    """Builds the kernels; returns the errors."""
    for name in os.listdir(os.path.join(ROOT, 'kernels')):
        if name.endswith(('.cuh', '.h')) or name[:-3] in FAMILIES:
            with open(os.path.join(ROOT, 'kernels', name), encoding='utf-8') as source, \
                    open(os.path.join(folder, name), 'w', encoding='utf-8') as copy:
                text = on_cpu(source.read())
                left = re.search(r'.*\basm\b(?! volatile\(""\)).*', text)
                if left:
                    return f'{name}: on_cpu() has nothing for {left.group().strip()}'
                copy.write(text)
    # The C files of operations, with the prefix of this library.
    for family in OPERATIONS:
        with open(os.path.join(ROOT, 'kernels', f'{family}.c'), encoding='utf-8') as source, \
                open(os.path.join(folder, f'{family}.c'), 'w', encoding='utf-8') as copy:
            copy.write(re.sub(r'\bcf_(_enqueue|(?:' + '|'.join(FAMILIES) + r')_)', r'pieces_\1', source.read()).replace(
                'cuferry/kernels_internal.h', 'pieces_internal.h'))
    shutil.copy(os.path.join(HERE, 'pieces_cub.cuh'), folder)
    code, out, err = run([os.path.join(options.builddir, 'cfcc'), '--cuda=no', '--prefix', 'pieces', '-DAS_ON_A_GPU',
                          '--header', 'pieces.h', '-o', 'pieces.o',
                          *(f'-Xcxx={flag}' for flag in SANITIZED + ['-fno-strict-aliasing', '-g1', '-O0']),
                          *SMALL, *(f'{f}.cu' for f in FAMILIES), *(f'{f}.c' for f in OPERATIONS)], cwd=folder)
    return out + err or f'exit {code}' if code else ''


def problem(test, folder, options):
    program = os.path.join(folder, test)
    flags = [f'-I{ROOT}/include', f'-I{ROOT}/lib', f'-I{ROOT}/tests/support', f'-I{ROOT}/tools',
             f'-I{options.builddir}/gen']
    code, out, err = run([*shlex.split(options.cc), '-std=gnu11', '-O1', '-g1', '-DREGISTRY=pieces_registry', *SMALL,
                          *flags,
                          *SANITIZED, os.path.join(HERE, f'test_{test}.c'), os.path.join(folder, 'pieces.o'),
                          os.path.join(options.builddir, 'libcuferry.a'), '-o', program, '-lcmocka', '-lpthread',
                          '-ldl',
                          '-lm'])
    if code:
        return out + err
    code, out, err = run([program], env={**os.environ, 'CF_DRIVER': 'host', 'CMOCKA_MESSAGE_OUTPUT': 'tap'})
    return f'exit {code}:\n{out}{err}' if code else ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('builddir')
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    options = parser.parse_args()
    options.builddir = os.path.realpath(options.builddir)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        wrong = build(folder, options)
        tap.check('kernels_as_on_a_gpu_are_built', wrong)
        for test in TESTS if not wrong else ():
            tap.check(f'{test}_as_on_a_gpu_is_right', problem(test, folder, options))
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
