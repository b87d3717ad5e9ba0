"""test_sanitize.py - tests cf-run --check: it finds and names every error of planted.cu, and finds nothing in kernels
without errors.

usage: test_sanitize.py BUILD_FOLDER [--cc CC --cxx CXX]

The compilers build the checked code; by default they are those of the build.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_ROOT, Tap, ended, run, unignore_signals

HERE = os.path.dirname(os.path.abspath(__file__))
N = 'n=1000'
X = 'x=randint:i32:1000:0:100'

# For each kernel: its arguments, the check that finds its error, and the message, where {BUG} and {OTHER} are lines of
# planted.cu.
ANY = r'thread \(\d+, 0, 0\) of block \(\d+, 0, 0\)'
PLANTED = {
    'read_past_end': (['x=randint:i32:1000:0:9', N], 'address',
                      r'{BUG}: heap-buffer-overflow: a read of 4 bytes at x\[1000\], which is past its end; '
                      r'thread \(231, 0, 0\) of block \(3, 0, 0\) \[read_past_end\]\n'),
    'read_past_rows': (['x=randint:i32:6x40:0:9', 'rows=6', 'columns=40'], 'address',
                       r'{BUG}: heap-buffer-overflow: a read of 4 bytes at x\[240\], which is past its end; '
                       r'thread \(1, 7, 0\) of block \(1, 4, 0\) \[read_past_rows\]\n'),
    'write_in_front': (['y=fill:i32:1000:0', N], 'address',
                       r'{BUG}: heap-buffer-overflow: a write of 4 bytes at y\[-3\], which is before its start; '
                       r'thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'read_between_rows': (['u=randint:i32:8x20:0:9', 'nx=10', 'ny=8', 'ld=20'], 'address',
                          r'{BUG}: undeclared: a read of 4 bytes at u\[10\], which is outside of the section that is '
                          r'declared; thread \(9, 0, 0\) of block \(0, 0, 0\) \[read_between_rows\]\n'),
    'write_padding': (['u=randint:i32:8x10:0:9', 'nx=9', 'ny=8', 'ld=10'], 'address',
                      r'{BUG}: undeclared: a write of 4 bytes at u\[9\], which is outside of the section that is '
                      r'declared; '
                      r'thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'write_after_section': (['y=fill:i32:300:0', 'first=3', 'n=101'], 'address',
                             r'{BUG}: undeclared: a write of 4 bytes at y\[104\], which is outside of the section that '
                             r'is declared; thread \(100, 0, 0\) of block \(0, 0, 0\)'),
    'no_guard': ([N], 'address', r'{BUG}: heap-buffer-overflow: a write of 8 bytes at y\[1000\], which is past its '
                                 r'end; '
                 r'thread \(232, 0, 0\) of block \(3, 0, 0\)'),
    'swapped': (['nx=40', 'ny=20'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at v\[\d+\], which is '
                r'past its end; thread \(\d, \d, 0\) of block \(\d, \d, 0\)'),
    'static_shared': (['n=3'], 'address', r'{BUG}: heap-buffer-overflow: a read of 4 bytes at __shared__ tile\[64\], '
                      r'which is past its end; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'dynamic_shared': (['x=randint:i32:100:0:9'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at byte '
                       r'396 of dynamic shared memory, which is past its end; thread \(99, 0, 0\)'),
    'local_array': ([N], 'address', r'{BUG}: stack-buffer-overflow: a write of 4 bytes; thread \(3, 0, 0\) of block '
                    r'\(0, 0, 0\)'),
    'local_index': ([N], 'address', r"{BUG}: index 4 is outside of 'int ?\[4\]'; thread \(3, 0, 0\) of block \(0, 0, "
                                    r"0\)"),
    'not_aligned': (['x=random:f32:404', 'n=100'], 'address',
                    r"{BUG}: a \w+ \w+ \w+ '[^']*float4' at address 0x[0-9a-f]+, which is "
                    r'not aligned to its 16 bytes; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'not_aligned_copy': (['x=random:f32:404', 'n=100'], 'address',
                         r"{BUG}: a \w+ \w+(?: \w+)? '[^']*float4' at address 0x[0-9a-f]+, which is "
                    r'not aligned to its 16 bytes; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'not_aligned_load': (['x=random:f32:404', 'n=100'], 'address',
                         r"{BUG}: a \w+ \w+(?: \w+)? '[^']*float4' at address 0x[0-9a-f]+, which is "
                    r'not aligned to its 16 bytes; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'past_scratch': ([N], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at tmp\[1000\], which is past '
                                     r'its '
                     r'end; thread \(231, 0, 0\) of block \(3, 0, 0\)'),
    'wrong_pitch': (['x=random:f32:8x8'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at byte 256 of '
                    r'dynamic shared memory, which is past its end; thread \(1, 7, 0\) of block \(0, 0, 0\)'),
    'row_past_end': (['n=2'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at __shared__ '
                     r'tile\[2\]\[0\]\[3\], which is past its end; thread \(7, 3, 0\) of block \(0, 0, 0\)'),
    'halo': (['x=randint:i32:3x64:0:9'], 'address', r'{BUG}: heap-buffer-overflow: a read of 4 bytes at '
             r'__shared__ tile\[66\], which is past its end; thread \(63, 0, 0\) of block \(0, 0, 0\)'),
    'in_header': (['x=randint:i32:1001:0:9', N], 'address', r'(?m)^planted_inner\.cuh:{INNER}: heap-buffer-overflow: a '
                                                            r'read '
                  r'of 4 bytes at x\[1001\], which is past its end; thread \(231, 0, 0\) of block \(3, 0, 0\) '
                  r'\[in_header_i32\]; called at {OTHER}\n'),
    'device_table': ([N], 'address', r'{BUG}: global-buffer-overflow: a read of 4 bytes at byte 32 of table.*; '
                     r'thread \(7, 0, 0\) of block \(0, 0, 0\)'),
    'null_pointer': ([X], 'address', r"{BUG}: (an access of address 0x1c,|a read of 'const int') through a null "
                                     r"pointer; "
                     r'thread \(7, 0, 0\) of block \(0, 0, 0\)'),
    'wild': ([X], 'address', r'{BUG}: (a wild access, of address 0x\w+|a wild access.*); thread \(0, 0, 0\) of block '
             r'\(0, 0, 0\)'),
    'divides': ([X], 'undefined', r'{BUG}: a division by 0; ' + ANY),
    'shifts': ([X], 'undefined', r"{BUG}: a shift of 'int' by a negative count, or by its width or more; " + ANY),
    'converts': ([X], 'undefined', r"{BUG}: a value of 'float' that is out of the range of 'int'; " + ANY),
    'no_barrier': (['x=randint:i32:3x256:0:100'], 'race', r'({BUG}|{OTHER}): ' + ANY + r' (reads|writes) '
                   r'__shared__ tile\[\d+\], which ' + ANY + r' (writes|reads) at ({BUG}|{OTHER}): nothing orders the '
                                                             r'two \[no_barrier\]\n'),
    'tree': (['x=randint:i32:3x128:0:100'], 'race', r'{BUG}: ' + ANY + r' \w+ __shared__ part\[\d+\], which ' + ANY +
             r' \w+ at {BUG}: nothing orders'),
    'lanes': ([], 'race', r'({BUG}|{OTHER}): .* __shared__ tile\[\d+\], .* at ({BUG}|{OTHER}): nothing orders'),
    'histogram': ([X, 'bins=fill:i32:8:0', N], 'race', r'{BUG}: ' + ANY + r' \w+ bins\[\d\], which ' + ANY +
                  r' \w+ at {BUG}: nothing orders'),
    'bytes': (['n=2', 'found=fill:i32:1:0'], 'race', r'{BUG}: ' + ANY + r' writes y\[\d+\], which ' + ANY +
              r' writes at {BUG}: nothing orders'),
    'last_block': (['n=10', 'count=fill:u32:1:0', 'sum=fill:i32:1:0'], 'race',
                   r'{BUG}: thread \(33, 0, 0\) of block \(9, 0, 0\) reads part\[0\], which thread \(0, 0, 0\) of '
                   r'block '
                   r'\(0, 0, 0\) writes at {OTHER}: nothing orders'),
    'arrives_alone': (['n=3'], 'race', r'({BUG}|{OTHER}): ' + ANY + r' \w+ __shared__ tile\[\d+\], which ' + ANY +
                      r' \w+ at ({BUG}|{OTHER}): nothing orders'),
    'of_another_block': (['n=3'], 'race', r'{BUG}: thread \(63, 0, 0\) of block \([12], 0, 0\) reads first\[0\], which '
                         r'thread \(0, 0, 0\) of block \(0, 0, 0\) writes at {OTHER}: nothing orders'),
    'volatile_sum': (['x=randint:i32:3x64:0:100'], 'race', r'({BUG}|{OTHER}): ' + ANY + r' (reads|writes) '
                     r'__shared__ part\[\d+\], which ' + ANY + r' (writes|reads) at ({BUG}|{OTHER}): nothing orders'),
    'flags': (['x=randint:i32:3x64:0:100'], 'race', r'{BUG}: thread \(0, 0, 0\) of block \(0, 0, 0\) reads '
              r'__shared__ value, which thread \(63, 0, 0\) of block \(0, 0, 0\) writes at {OTHER}: nothing orders'),
    'tile_again': (['x=randint:i32:3x256:0:100'], 'race', r'({BUG}|{OTHER}): ' + ANY + r' (reads|writes) '
                   r'__shared__ tile\[\d+\], which ' + ANY + r' (writes|reads) at ({BUG}|{OTHER}): nothing orders'),
    'counts_and_reads': (['x=randint:i32:3x64:0:100'], 'race', r'{OTHER}: ' + ANY + r' changes atomically '
                         r'__shared__ bins\[\d+\], which ' + ANY + r' reads at {BUG}: nothing orders'),
    'device_total': ([X], 'race', r'{BUG}: ' + ANY + r' \w+ byte 0 of total, which ' + ANY + r' \w+ at {BUG}: nothing '
                     'orders'),
    'in_place': (['u=random:f32:1000'], 'race', r'{BUG}: thread \(2, 0, 0\) of block \(0, 0, 0\) reads u\[1\], which '
                 r'thread \(1, 0, 0\) of block \(0, 0, 0\) writes at {BUG}: nothing orders'),
    'carved': (['n=2'], 'race', r'({BUG}|{OTHER}): thread \(31, 0, 0\) of block \(0, 0, 0\) writes byte 124 of dynamic '
               r'shared memory, which thread \(0, 0, 0\) of block \(0, 0, 0\) writes at ({BUG}|{OTHER}): nothing '
               r'orders'),
    'half_a_tile': ([], 'address', r'32 of 128 threads wait at thread_block_tile::sync\(\) in {BUG} for 32 more of 64 '
                    r'arrivals, such as \(32, 0, 0\) of block \(0, 0, 0\)'),
    'divergent': ([], 'race', r'32 of 64 threads wait at __syncthreads\(\) in {BUG}, such as \(0, 0, 0\) of block '
                  r'\(0, 0, 0\); .*__syncwarp\(\) in {OTHER}'),
    'barrier_in_loop': (['x=randint:i32:3x64:0:100'], 'race',
                        r'({BUG}|{OTHER}): ' + ANY + r' waits at __syncthreads\(\), '
                        'and ' + ANY + r' of its warp at __syncthreads\(\) in ({BUG}|{OTHER}): not the same barrier'),
    'false_inplace': (['x=randint:i32:1001:0:9', N], 'race', r'{BUG}: ' + ANY + r' reads x\[\d+\], which ' + ANY +
                      r' writes at {BUG}: nothing orders the two \[false_inplace\]'),
    'barrier_in_branch': ([X, N], 'race', r'{BUG}: thread \(\d+, 0, 0\) of block \(15, 0, 0\) waits at '
                                          r'__syncthreads\(\), '
                          r'and thread \((4\d|5\d|6[0-3]), 0, 0\) of block \(15, 0, 0\) comes to the end of the kernel '
                          r'in '
                          r'{OTHER} without it \[barrier_in_branch\]\n'),
    'barrier_before_return': ([X, N], 'race', r'{BUG}: thread \(\d+, 0, 0\) of block \(15, 0, 0\) waits at '
                                              r'__syncthreads\(\), '
                              r'and thread \((4\d|5\d|6[0-3]), 0, 0\) of block \(15, 0, 0\) comes to the end of the '
                              r'kernel in '
                              r'{OTHER} without it \[barrier_before_return\]\n'),
    'barrier_in_last_step': (['x=randint:i32:959:0:100', 'n=959'], 'race',
                             r'{BUG}: ' + ANY + r' waits at __syncthreads\(\), '
                             r'and thread \(63, 0, 0\) of block \(0, 0, 0\) comes to the end of the kernel in {OTHER} '
                             r'without '
                             r'it \[barrier_in_last_step\]\n'),
    'own_lane': ([], 'poison', r'{BUG}: thread \(37, 0, 0\) of block \(0, 0, 0\): a warp operation whose mask leaves '
                               r'its '
                 'own lane out'),
    'unwritten_shared': (['x=randint:i32:3x64:0:9'], 'poison', r'{BUG}: reads __shared__ tile\[7\], which nobody '
                         r'wrote; thread \(6, 0, 0\) of block \(1, 0, 0\)'),
    'unwritten_row': (['x=randint:i32:3x4x8:0:9'], 'poison', r'{BUG}: reads __shared__ tile\[2\]\[0\], which nobody '
                      r'wrote; thread \(2, 0, 0\) of block \(0, 0, 0\)'),
    'of_former_block': (['n=3'], 'poison', r'{BUG}: reads __shared__ tile\[\d+\], which nobody wrote; '
                        r'thread \(\d+, 0, 0\) of block \(1, 0, 0\)'),
    'padded': (['n=2'], 'poison', r'{BUG}: reads __shared__ other\[28\], which nobody wrote; thread \(28, 0, 0\) of '
               r'block \(0, 0, 0\) \[padded\]\n[^\n]*found 1 error\n'),
    'out_struct': ([N], 'poison', r'{BUG}: y\[999\] is not written, although it is an out\(\); 1 of 1000 elements'),
    'unwritten_scratch': ([N], 'poison', r'{BUG}: reads tmp\[0\], which nobody wrote; thread \(0, 0, 0\) of block '
                          r'\(0, 0, 0\)'),
    'unwritten_after_zeros': ([N], 'poison', r'{BUG}: reads tmp\[1000\], which nobody wrote; thread \(231, 0, 0\) of '
                                             r'block '
                               r'\(3, 0, 0\)'),
    'left_in_scratch': ([N], 'poison', r'{BUG}: leaves tmp\[997\], which is in a rezero\(\), not 0'),
    'unwritten_out': ([N], 'poison', r'{BUG}: y\[999\] is not written, although it is an out\(\); 1 of '
                      '1000 elements'),
    'copies': (['x=randint:i32:1000x8:0:9', N], 'poison', r'{BUG}: y\[999\]\[0\] is not written, although it is an '
               r'out\(\); 8 of 8000 elements'),
    'adds_to_out': ([N], 'poison', r'{BUG}: reads y\[0\], which nobody wrote; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'ended_lane': ([], 'poison', r'{BUG}: __shfl_down_sync\(\) reads lane \d+, which has ended; thread \(\d+, 0, 0\) '
                                 r'of '
                   r'block \(0, 0, 0\) \[ended_lane\]\n[^\n]*found 1 error\n'),
    'left_out_lane': ([], 'poison', r'^{BUG}: __shfl_sync\(\) reads lane \d+, which its mask leaves out; thread \(\d+, '
                                    r'0, 0\) '
                      r'of block \(0, 0, 0\) \[left_out_lane\]\n[^\n]*found 1 error\n'),
    'greatest_of_out': ([X, N], 'poison', r'^{BUG}: reads y\[0\], which nobody wrote; thread \(0, 0, 0\) of block \(0, '
                                          r'0, 0\) '
                        r'\[greatest_of_out\]\n[^\n]*found 1 error\n'),
    'pipeline': (['x=randint:i32:64:0:100'], 'race', r'^({BUG}|{OTHER}): ' + ANY
                 + r' (reads|writes) __shared__ tile\[\d+\], '
                 r'which ' + ANY + r' (writes|reads) at ({BUG}|{OTHER}): nothing orders the two \[pipeline\]\n'),
    'asserts': ([X, N], 'address', r"{BUG}: thread \(44, 0, 0\) of block \(1, 0, 0\): assertion `!bug \|\| i != 300' "
                'failed'),
    'writes_input': ([X, N], 'race', r'^{BUG}: x\[300\] is written, although it is an in\(\); declare it '
                     r'inout\(\.\.\.\); thread \(44, 0, 0\) of block \(1, 0, 0\) \[writes_input\]\n[^\n]*found 1 '
                     r'error\n'),
    'copies_into_input': (['x=fill:i32:36:1', 'y=fill:i32:36:2'], 'poison', r'^{BUG}: x\[0\] is written, although it '
                                                                            r'is '
                          r'an in\(\); declare it inout\(\.\.\.\); thread \(0, 0, 0\) of block \(0, 0, 0\) '
                          r'\[copies_into_input\]\n'),
    'changes_input': ([X, N], 'address', r'^{BUG}: x\[300\] is written, although it is an in\(\); declare it '
                      r'inout\(\.\.\.\); --check race names the thread \[changes_input\]\n'),
    'launches_a_race': ([X, N], 'race', r'{BUG}: ' + ANY + r' \w+ total\[0\], which ' + ANY
                        + r' \w+ at {BUG}: nothing orders '
                        r'the two \[adds in launches_a_race\]\n'),
    'launches_past_end': ([X, N], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at y\[1000\], which is '
                                             r'past its '
                          r'end; thread \(232, 0, 0\) of block \(3, 0, 0\) \[subtracts in launches_past_end\]\n'),
    'leaves_scratch': ([X, N], 'poison', r'{BUG}: reads total\[7\], which nobody wrote; ' + ANY
                       + r' \[adds in leaves_scratch\]\n'),
    'leaves_out': ([X, N], 'poison', r'{BUG}: y\[999\] is not written, although it is an out\(\); 1 of 1000 elements '
                                     r'are not '
                   r'\[leaves_out\]\n'),
    'traps': ([N], 'address', r'{BUG}: thread \(44, 0, 0\) of block \(1, 0, 0\): __trap\(\)'),
}
# clang does not check the alignment when a whole vector is copied.
GCC_ALONE = ('not_aligned_copy', 'not_aligned_load')
KINDS = ('address', 'undefined', 'race', 'poison')


class SanitizeTest:
    def __init__(self, tap, build, folder, compilers):
        self.tap, self.build, self.folder = tap, os.path.abspath(build), folder
        self.source = os.path.join(folder, 'planted.cu')
        for name in ('planted.cu', 'planted.c', 'planted_inner.cuh', 'planted_types.h'):
            shutil.copy(os.path.join(HERE, name), folder)
        self.temporary = os.path.join(folder, 'temporary')
        os.mkdir(self.temporary)
        self.environment = dict(os.environ, TMPDIR=self.temporary, XDG_CACHE_HOME=os.path.join(folder, 'cache'))
        for name in ('CF_DRIVER', 'CF_THREADS', 'LD_PRELOAD', 'ASAN_OPTIONS'):
            self.environment.pop(name, None)
        self.compilers = compilers
        with open(self.source, encoding='utf-8') as file:
            self.marks = self.find_marks(file)
        with open(os.path.join(folder, 'planted_inner.cuh'), encoding='utf-8') as file:
            self.marks.update(self.find_marks(file))

    @staticmethod
    def find_marks(file):
        return {tuple(m.groups()): number for number, line in enumerate(file, 1)
                for m in [re.search(r'/\* (BUG|OTHER|INNER) (\w+) \*/', line)] if m}

    def cfcc(self, *arguments):
        return run([os.path.join(self.build, 'cfcc'), *self.compilers, *arguments], cwd=self.folder,
                   env=self.environment)

    def check(self, kind, *arguments, module='planted.so', cxx=None, env=None):
        modules = ['--cxx', cxx or self.compiler(), '--module', module] if module else []
        if module == 'planted.so':
            modules = self.planted_words(kind)
        return run([os.path.join(self.build, 'cf-run'), '--check', kind, *modules, *arguments], cwd=self.folder,
                   env=dict(self.environment, **(env or {})))

    def planted_words(self, kind):
        """Returns the words for cf-run. Without CHECK_LONG, they build planted.cu without the errors of the other
        checks."""
        others = [] if 'CHECK_LONG' in os.environ else [f'-DWITHOUT_{k.upper()}' for k in KINDS if k != kind]
        return ['--cxx', ' '.join([self.compiler(), *others]), '--module', 'planted.so']

    def expected(self, name, pattern):
        """Replaces the marks in a pattern by the lines that have them."""
        for mark in ('BUG', 'OTHER'):
            number = self.marks.get((mark, name))
            pattern = pattern.replace('{' + mark + '}', f'planted\\.cu:{number}')
        return pattern.replace('{INNER}', str(self.marks.get(('INNER', name))))

    def planted(self, name):
        words, kind, pattern = PLANTED[name]
        code, _, err = self.check(kind, name, *words, 'bug=1')
        found = re.search(self.expected(name, pattern), err)
        problem = '' if code == 1 and found else f'{ended(code)}:\n{err}'
        self.tap.check(f'check_{name}_is_found', problem)
        problems = []
        for clean in KINDS if 'CHECK_LONG' in os.environ else (kind,):
            code, out, err = self.check(clean, name, *words, 'bug=0')
            if code != 0 or err or not out.endswith(f'check: {clean}: nothing found\n'):
                problems.append(f'--check={clean}: {ended(code)}:\n{err}')
        self.tap.check(f'check_{name}_without_it_is_clean', '\n'.join(problems))

    def bundled(self):
        """Checks some bundled kernels, and that no more source files are built than they need: the C files of
        operations, and files with kernels that they call. test_install.py checks for races; the builds with sanitizers
        find writes outside of arrays."""
        problems, place = [], os.path.join(self.folder, 'cache of bundled')
        is_long = 'CHECK_LONG' in os.environ
        for kind in KINDS if is_long else ('poison',):
            for words, files in (
                    (['gather_random', 'source=random:f32:100', 'index=randint:i32:1000:0:100'],
                     ['gather.cu', 'gather_random.c', 'gather_random.cu']),
                    *([(['axpy', 'x=random:f32:1000', 'y=random:f32:1000', 'a=2'], ['axpy.cu'])] if is_long else []),
                    (['sum_f32', 'x=random:f32:20000'], ['reduce.cu']),  # runs in several blocks
                    (['argmin', 'x=random:f32:20000'], ['reduce.cu'])):
                code, out, err = self.check(kind, *words, module=None, env={'XDG_CACHE_HOME': place})
                if code != 0 or err or f'check: {kind}: nothing found' not in out:
                    problems.append(f'{words[0]}, {kind}: {ended(code)}: {err}')
                elif self.last_built(place) != files:
                    problems.append(f'{words[0]}, {kind}: built of {self.last_built(place)}')
        self.tap.check('check_bundled_kernels_are_clean', '\n'.join(problems))

    @staticmethod
    def last_built(place):
        """Returns the names of the source files of the cached library that was used last."""
        place = os.path.join(place, 'cuferry')
        indices = [os.path.join(place, name) for name in os.listdir(place) if name.endswith('.json')]
        with open(max(indices, key=lambda path: os.stat(path).st_mtime_ns), encoding='utf-8') as file:
            paths = [path for path in json.load(file) if os.path.basename(os.path.dirname(path)) == 'kernels']
        return sorted(os.path.basename(path) for path in paths if path.endswith(('.c', '.cu')))

    def made_up(self):
        """With --verify --all, the check reports a read past the end of an array that cf-run made."""
        code, _, err = self.check('address', '--verify', '--all', 'read_past_end')
        found = re.search(self.expected('read_past_end', r'{BUG}: heap-buffer-overflow: a read of 4 bytes at x\[\d+\], '
                                                         r'which is '
                                        r'past its end'), err)
        self.tap.check('check_of_all_sees_reads_past_the_end', '' if code == 1 and found else f'{ended(code)}: {err}')

    def rebuilding(self):
        os.makedirs(os.path.join(self.folder, 'tree/build'))
        os.makedirs(os.path.join(self.folder, 'tree/include'))
        with open(os.path.join(self.folder, 'tree/include/own.cuh'), 'w', encoding='utf-8') as file:
            file.write('#define BEHIND 1\n')
        with open(os.path.join(self.folder, 'tree/own.cu'), 'w', encoding='utf-8') as file:
            file.write('#include "own.cuh"\n#pragma cf kernel grid(n) out(y[n])\n'
                       '__global__ void own(int *y, int n)\n{\n    int i = threadIdx.x;\n'
                       '    if (i < n)\n        y[i + BEHIND * FACTOR] = i;\n}\n')
        code, _, err = self.cfcc('--cuda=no', '--prefix', 'own', '-Itree/include', '-DFACTOR=1', '-o',
                                 'tree/build/own.o',
                                 'tree/own.cu')
        assert code == 0, err
        code, _, err = self.cfcc('--shared', '-o', 'tree/own.so', 'tree/build/own.o')
        assert code == 0, err
        os.rename(os.path.join(self.folder, 'tree'), os.path.join(self.folder, 'moved'))
        for file in ('moved/build/own.o', 'moved/own.so'):
            code, _, err = self.check('address', 'own', 'n=10', module=file)
            self.tap.check(f'check_of_{os.path.basename(file)}_is_built_again_where_the_tree_is_now',
                           '' if code == 1 and re.search(r'moved/own\.cu:7: heap-buffer-overflow.*y\[10\]', err)
                           else err)
        with open(os.path.join(self.folder, 'moved/include/own.cuh'), 'w', encoding='utf-8') as file:
            file.write('#define BEHIND 0\n')
        code, out, err = self.check('address', 'own', 'n=10', module='moved/own.so')
        self.tap.check('check_sees_a_header_that_has_changed', '' if code == 0 else err or 'no text')
        os.remove(os.path.join(self.folder, 'moved/own.cu'))
        code, _, err = self.check('address', 'own', 'n=10', module='moved/own.so')
        self.tap.check('check_without_the_source_says_so', '' if code == 1 and re.search(
            r'moved/own\.so cannot be built again: the source .*moved/own\.cu is gone\n', err) else f'{code}: {err}')

    def compiler(self):
        if '--cxx' in self.compilers:
            return self.compilers[self.compilers.index('--cxx') + 1]
        with open(os.path.join(self.build, 'cfcc.json'), encoding='utf-8') as file:
            return json.load(file)['cxx']

    def is_clang(self):
        return 'clang' in run([*shlex.split(self.compiler()), '--version'])[1]

    def runtime_in_a_folder_with_a_blank(self):
        """The compiler may be in a folder with a blank in its name; the loader would take such a path of its runtime
        for two paths."""
        compiler = self.compiler()
        with open(os.path.join(self.folder, 'blank.cu'), 'w', encoding='utf-8') as file:
            file.write('#pragma cf kernel grid(n) out(y[n])\n__global__ void blank(int *y, int n)\n{\n'
                       '    y[threadIdx.x] = n;\n}\n')
        build = ['--shared', '--cuda=no', '--prefix', 'blank', '-o', 'blank.so', 'blank.cu']
        code, _, err = self.cfcc(*build)
        assert code == 0, err
        _, before, _ = self.cfcc('--check', 'address', '--again', 'blank.so', '-o', 'checked.so')
        runtime = shutil.copy(before.strip(), self.folder)
        script = os.path.join(self.folder, 'cxx.sh')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(f'case "$1" in -print-file-name=*asan*) echo "{runtime}"; exit ;; esac\n'
                       f'exec {compiler} "$@"\n')
        cxx = f"sh '{script}'"
        arguments = ['blank', 'n=10']
        with tempfile.TemporaryDirectory() as temporary:
            code, _, err = self.check('address', *arguments, module='blank.so', cxx=cxx, env={'TMPDIR': temporary})
            left = os.listdir(temporary)
        wanted = r'blank\.cu:4: heap-buffer-overflow: a write of 4 bytes at y\[10\], which is past its end'
        problem = '' if code == 1 and re.search(wanted, err) and '#0 in blank blank.cu:4' in err and not left else (
            err or 'no text')
        self.tap.check('check_by_a_runtime_in_a_folder_with_a_blank_is_reported_whole',
                       problem and f'{ended(code)}: {err}{left}')
        code, _, err = self.check('address', *arguments, module='blank.so', cxx=cxx)
        expected = f'the loader takes no path with a blank or a colon, and there is one in {runtime} and in TMPDIR\n'
        self.tap.check('check_by_such_a_runtime_without_another_folder_says_so',
                       '' if code == 1 and err.endswith(expected) else f'{ended(code)}: {err}')

    def plant(self):
        """Replaces the cached library with one that leaves a marker file when it runs; returns its path."""
        place, kept = os.path.join(self.trusted, 'cuferry'), os.path.join(self.folder, 'kept')
        shutil.rmtree(place, ignore_errors=True)
        if os.path.isdir(kept):
            shutil.copytree(kept, place)
        else:
            is_good, err = self.own_check(XDG_CACHE_HOME=self.trusted)
            assert is_good, err
            shutil.copytree(place, kept)
        index = next(name for name in os.listdir(place) if name.endswith('.json'))
        library = os.path.join(place, index[:-len('json')] + 'so')
        with open(os.path.join(place, index), encoding='utf-8') as file:
            inputs = json.load(file)
        with open(os.path.join(self.folder, 'other.so'), 'rb') as file:
            other = file.read()
        inputs[''] = hashlib.sha256(other).hexdigest()
        with open(library, 'wb') as file:
            file.write(other)
        with open(os.path.join(place, index), 'w', encoding='utf-8') as file:
            json.dump(inputs, file)
        return library

    def own_check(self, **environment):
        """Runs a check that uses a cached library; returns (True if it found nothing and ran no foreign code,
        stderr)."""
        code, out, err = self.check('race', 'own', 'n=10', module='own.so', env=environment)
        is_run = os.path.exists(self.marker)
        if is_run:
            os.remove(self.marker)
        is_good = code == 0 and out.endswith('check: race: nothing found\n') and not is_run
        return is_good, "another's code was run\n" * is_run + (err or out)

    def cache_of_others(self):
        """cf-run runs no library from a cache that other users could have changed; it prints the reason."""
        self.trusted, self.marker = (os.path.join(self.folder, name) for name in ('a cache', 'marker'))
        for name, text in (
                ('own.cu', '#pragma cf kernel grid(n) out(y[n])\n__global__ void own(int *y, int n)\n{\n    int i = '
                           'threadIdx.x;\n'
                           '    if (i < n)\n        y[i] = i;\n}\n'),
                ('other.c', '#include <stdio.h>\n__attribute__((constructor)) static void other(void)\n{\n'
                            f'    fclose(fopen("{self.marker}", "w"));\n}}\n')):
            with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        for command in ([os.path.join(self.build, 'cfcc'), *self.compilers, '--shared', '--cuda=no', 'own.cu'],
                        [*shlex.split(self.compiler()), '-shared', '-fPIC', 'other.c', '-o', 'other.so']):
            code, _, err = run(command, cwd=self.folder, env=self.environment)
            assert code == 0, err
        place = {'XDG_CACHE_HOME': self.trusted}
        self.plant()
        is_good, err = self.own_check(**place)
        self.tap.check('check_runs_what_is_kept',
                       '' if not is_good and "another's code was run" in err else err or 'no text')
        for name, path, change, said in (
                ('a_file_that_others_can_write', lambda library: library, lambda path: os.chmod(path, 0o620),
                 'mode is 0620'),
                ('an_index_that_others_can_write', lambda library: library[:-2] + 'json',
                 lambda path: os.chmod(path, 0o602),
                 'mode is 0602'),
                ('a_folder_that_others_can_write', os.path.dirname, lambda path: os.chmod(path, 0o1777),
                 'mode is 1777'),
                ('a_folder_in_one_that_others_can_write', lambda library: self.trusted,
                 lambda path: os.chmod(path, 0o775),
                 'mode is 0775'),
                ('a_file_of_another_user', lambda library: library, lambda path: os.chown(path, 65534, -1),
                 'uid 65534'),
                ('an_index_of_another_user', lambda library: library[:-2] + 'json',
                 lambda path: os.chown(path, 65534, -1),
                 'uid 65534'),
                ('a_folder_of_another_user', os.path.dirname, lambda path: os.chown(path, 65534, -1), 'uid 65534'),
                ('a_folder_in_one_of_another_user', lambda library: self.trusted,
                 lambda path: os.chown(path, 65534, -1),
                 'uid 65534')):
            where = path(self.plant())
            before = os.stat(where)
            try:
                change(where)
            except OSError:
                self.tap.skip(f'check_runs_nothing_of_{name}', NEEDS_ROOT)
                continue
            is_good, err = self.own_check(**place)
            if os.path.isdir(where):
                os.chown(where, before.st_uid, -1)
                os.chmod(where, before.st_mode)
            told = err.count('\n') == 1 and err.startswith('cfcc: ') and f'{where}' in err and said in err and \
                'set XDG_CACHE_HOME to a folder of your own' in err
            self.tap.check(f'check_runs_nothing_of_{name}', '' if is_good and told else err or 'no text')
        library = self.plant()
        os.rename(library, library + '.moved')
        os.symlink(library + '.moved', library)
        is_good, err = self.own_check(**place)
        self.tap.check('check_runs_nothing_that_a_link_leads_to', '' if is_good else err or 'no text')
        library = self.plant()
        os.makedirs(os.path.join(self.folder, 'home'))
        is_good, err = self.own_check(XDG_CACHE_HOME='a cache', HOME=os.path.join(self.folder, 'home'))
        is_kept = os.path.isdir(os.path.join(self.folder, 'home/.cache/cuferry'))
        self.tap.check('check_takes_no_relative_cache', '' if is_good and is_kept else err or 'no text')
        is_good, err = self.own_check(XDG_CACHE_HOME='a cache', HOME='home')
        self.tap.check('check_without_a_cache_builds_anew', '' if is_good else err or 'no text')

    def temporary_of_others(self):
        """cf-run does not build in a folder where other users could replace the library."""
        temporary = os.path.join(self.folder, 'open')
        os.mkdir(temporary)
        for name, mode, owner, said in (
                ('others_can_write', 0o777, -1, 'mode is 0777'), ('others_can_write_their_own', 0o1777, -1, ''),
                ('another_user_has', 0o1777, 65534, 'uid 65534')):
            try:
                os.chmod(temporary, mode)
                os.chown(temporary, owner, -1)
            except OSError:
                self.tap.skip(f'check_in_a_folder_that_{name}', NEEDS_ROOT)
                continue
            code, out, err = self.check('race', 'own', 'n=10', module='own.so', env={'TMPDIR': temporary})
            is_told = 'set TMPDIR to a folder of your own' in err
            good = code == (1 if said else 0) and said in err and is_told == bool(said)
            self.tap.check(f'check_in_a_folder_that_{name}',
                           '' if good and not os.listdir(temporary) else f'{code}: {out}{err}')

    def refusals(self):
        for name, words, text in (
                ('a_compiler_without_a_check', ['--cxx', 'c++', 'traps'], '--cxx goes with --check'),
                ('another_kind', ['--check', 'leaks', 'traps'],
                 '--check leaks: it is one of address|undefined|race|poison'),
                ('two_kinds', ['--check', 'race', '--check', 'address', 'traps'],
                 '--check race --check address: a run is checked for one of them'),
                ('a_gpu', ['--check', 'race', '--driver', 'cuda', 'traps'], "the kernel's form for the CPU"),
                ('no_such_kernel', ['--check', 'race', '--cxx', 'false', 'gathr'], "there is no kernel 'gathr'; did"),
                ('no_such_module', ['--check', 'race', '--module', 'none.so', 'traps'], 'none.so: No such file'),
                ('no_library', ['--check', 'race', '--module', 'planted_types.h', 'traps'],
                 'does not tell how it was built')):
            code, _, err = run([os.path.join(self.build, 'cf-run'), *words], cwd=self.folder, env=self.environment)
            self.tap.check(f'check_of_{name}_is_refused', '' if code == 1 and text in err else f'exit {code}: {err}')

    @staticmethod
    def child_of(parent):
        """Returns the number of the cf-run process that `parent` started, or None. It must have used CPU time; before
        that, it may still be about to start a compiler."""
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
                    name, rest = re.fullmatch(r'\d+ \((.*)\) . (.*)\n?', file.read(), re.DOTALL).groups()
            except OSError:
                continue
            fields = rest.split()
            if name == 'cf-run' and int(fields[0]) == parent and int(fields[10]) >= 10:     # CPU ticks
                return int(pid)
        return None

    @staticmethod
    def is_there(pid):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
                return file.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
        except OSError:
            return False

    def end(self, kind, number, is_child):
        """Sends a signal to a check or to its child; returns (code, stderr, True if the child is gone)."""
        command = [os.path.join(self.build, 'cf-run'), '--check', kind, *self.planted_words(kind), 'spins',
                   'y=fill:i32:1:0', 'bug=1']
        with subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=unignore_signals) as process:
            child = None
            while child is None and process.poll() is None:
                time.sleep(0.01)
                child = self.child_of(process.pid)
            if child is not None:
                os.kill(child if is_child else process.pid, number)
            try:
                err = process.communicate(timeout=600)[1].decode()
            except subprocess.TimeoutExpired:
                process.kill()
                err = 'no end'
        deadline = time.monotonic() + 600
        while child is not None and self.is_there(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        is_gone = child is not None and not self.is_there(child)
        if child is not None and not is_gone:
            os.kill(child, signal.SIGKILL)
        return process.returncode, err, is_gone

    def ends(self):
        """If a signal ends a run, the message says so."""
        for name, number, is_child, expected, text in (
                ('whose_run_is_killed', signal.SIGKILL, True, 1,
                 'the run was ended by signal 9 (Killed), as where memory'),
                ('that_is_ended', signal.SIGTERM, False, -15,
                 'cf-run: --check=race: ended by signal 15 (Terminated)\n')):
            code, err, is_gone = self.end('race', number, is_child)
            problem = '' if code == expected and text in err and is_gone else f'{ended(code)}, {is_gone}: {err}'
            self.tap.check(f'check_{name}_says_so', problem)
        run(['sh', '-c', '"$@" traps n=1000 bug=1 2>&1 | true', 'sh', os.path.join(self.build, 'cf-run'), '--check',
             'race', *self.planted_words('race')], cwd=self.folder, env=self.environment)
        self.tap.check('check_leaves_no_folder', ' '.join(os.listdir(self.temporary)))
        code, err, is_gone = self.end('race', signal.SIGKILL, False)
        self.tap.check('check_that_is_killed_leaves_no_run', '' if code == -9 and is_gone else f'{ended(code)}: {err}')

    def run(self):
        code, _, err = self.cfcc('-O0', '--shared', '--cuda=no', '--prefix', 'planted', '-o', 'planted.so',
                                 'planted.cu', 'planted.c')
        self.tap.check('check_module_is_built', err or f'exit {code}' if code else '')
        for name in PLANTED:
            if name in GCC_ALONE and self.is_clang():
                self.tap.skip(f'check_{name}_is_found', 'needs gcc')
            else:
                self.planted(name)
        self.bundled()
        self.made_up()
        self.rebuilding()
        self.runtime_in_a_folder_with_a_blank()
        self.cache_of_others()
        self.temporary_of_others()
        self.refusals()
        self.ends()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(os.path.realpath(folder), 'own kernels')
        os.mkdir(place)
        SanitizeTest(tap, sys.argv[1], place, sys.argv[2:]).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
