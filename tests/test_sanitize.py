"""test_sanitize.py - cf-run --check: every error that planted.cu has is found and named, and without it nothing is.

usage: test_sanitize.py BUILD_FOLDER [--cc CC --cxx CXX]

The compilers are what the checked code is built with; without, the build's own.
"""

import os
import re
import shutil
import sys
import tempfile

from tap import Tap, run

HERE = os.path.dirname(os.path.abspath(__file__))
N = 'n=1000'
X = 'x=randint:i32:1000:0:100'

# Kernel: its arguments, and what finds its error: the kind of check, what has to be said with the line in the place of
# {BUG} and {OTHER}, and the thread.
ANY = r'thread \(\d+, 0, 0\) of block \(\d+, 0, 0\)'
PLANTED = {
    'read_past_end': (['x=randint:i32:1000:0:9', N], 'address',
                      r'{BUG}: heap-buffer-overflow: a read of 4 bytes at x\[1000\], which is past its end; '
                      r'thread \(231, 0, 0\) of block \(3, 0, 0\) \[read_past_end\]\n'),
    'write_in_front': (['y=fill:i32:1000:0', N], 'address',
                       r'{BUG}: heap-buffer-overflow: a write of 4 bytes.*thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'no_guard': ([N], 'address', r'{BUG}: heap-buffer-overflow: a write of 8 bytes at y\[1000\], which is past its end; '
                 r'thread \(232, 0, 0\) of block \(3, 0, 0\)'),
    'swapped': (['nx=40', 'ny=20'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at v\[\d+\], which is '
                r'past its end; thread \(\d, \d, 0\) of block \(\d, \d, 0\)'),
    'static_shared': (['n=3'], 'address', r'{BUG}: heap-buffer-overflow: a read of 4 bytes at byte 256 of __shared__ tile, '
                      r'which is past its end; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'dynamic_shared': (['x=randint:i32:100:0:9'], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at byte '
                       r'396 of dynamic shared memory, which is past its end; thread \(99, 0, 0\)'),
    'local_array': ([N], 'address', r'{BUG}: stack-buffer-overflow: a write of 4 bytes; thread \(3, 0, 0\) of block '
                    r'\(0, 0, 0\)'),
    'local_index': ([N], 'address', r"{BUG}: index 4 is outside of 'int ?\[4\]'; thread \(3, 0, 0\) of block \(0, 0, 0\)"),
    'not_aligned': (['x=random:f32:404', 'n=100'], 'address', r"{BUG}: a \w+ \w+ \w+ '[^']*float4' at address 0x[0-9a-f]+, which is "
                    r'not aligned to its 16 bytes; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'past_scratch': ([N], 'address', r'{BUG}: heap-buffer-overflow: a write of 4 bytes at tmp\[1000\], which is past its '
                     r'end; thread \(231, 0, 0\) of block \(3, 0, 0\)'),
    'no_barrier': (['x=randint:i32:3x256:0:100'], 'race', r'({BUG}|{OTHER}): ' + ANY + r' (reads|writes) byte \d+ of '
                   r'__shared__ tile, which ' + ANY + r' (writes|reads) at ({BUG}|{OTHER}): nothing orders the two \[no_barrier\]\n'),
    'tree': (['x=randint:i32:3x128:0:100'], 'race', r'{BUG}: ' + ANY + r' \w+ byte \d+ of __shared__ part, which ' + ANY +
             r' \w+ at {BUG}: nothing orders'),
    'lanes': ([], 'race', r'({BUG}|{OTHER}): .* __shared__ tile, .* at ({BUG}|{OTHER}): nothing orders'),
    'histogram': ([X, 'bins=fill:i32:8:0', N], 'race', r'{BUG}: ' + ANY + r' \w+ bins\[\d\], which ' + ANY +
                  r' \w+ at {BUG}: nothing orders'),
    'bytes': (['n=2', 'found=fill:i32:1:0'], 'race', r'{BUG}: ' + ANY + r' writes y\[\d+\], which ' + ANY +
              r' writes at {BUG}: nothing orders'),
    'last_block': (['n=10', 'count=fill:u32:1:0', 'sum=fill:i32:1:0'], 'race',
                   r'{BUG}: thread \(33, 0, 0\) of block \(9, 0, 0\) reads part\[0\], which thread \(0, 0, 0\) of block '
                   r'\(0, 0, 0\) writes at {OTHER}: nothing orders'),
    'divergent': ([], 'race', r'32 of 64 threads wait at __syncthreads\(\) in {BUG}, such as \(0, 0, 0\) of block '
                  r'\(0, 0, 0\); .*__syncwarp\(\) in {OTHER}'),
    'own_lane': ([], 'poison', r'{BUG}: thread \(37, 0, 0\) of block \(0, 0, 0\): a warp operation whose mask leaves its '
                 'own lane out'),
    'unwritten_shared': (['x=randint:i32:3x64:0:9'], 'poison', r'{BUG}: reads byte 28 of __shared__ tile, which nobody '
                         r'wrote; thread \(6, 0, 0\) of block \(1, 0, 0\)'),
    'unwritten_scratch': ([N], 'poison', r'{BUG}: reads tmp\[0\], which nobody wrote; thread \(0, 0, 0\) of block '
                          r'\(0, 0, 0\)'),
    'unwritten_out': ([N], 'poison', r'{BUG}: y\[999\] is not written, although it is an out\(\); 1 of '
                      '1000 elements'),
    'adds_to_out': ([N], 'poison', r'{BUG}: reads y\[0\], which nobody wrote; thread \(0, 0, 0\) of block \(0, 0, 0\)'),
    'ended_lane': ([], 'poison', r'{BUG}: __shfl_down_sync\(\) reads lane \d+, which has ended; thread \(\d+, 0, 0\) of '
                   r'block \(0, 0, 0\)'),
    'asserts': ([X, N], 'address', r"{BUG}: thread \(44, 0, 0\) of block \(1, 0, 0\): assertion `!bug \|\| i != 300' "
                'failed'),
    'traps': ([N], 'address', r'{BUG}: thread \(44, 0, 0\) of block \(1, 0, 0\): __trap\(\)'),
}
KINDS = ('address', 'race', 'poison')


class SanitizeTest:
    def __init__(self, tap, build, folder, compilers):
        self.tap, self.build, self.folder = tap, os.path.abspath(build), folder
        self.source = os.path.join(folder, 'planted.cu')
        shutil.copy(os.path.join(HERE, 'planted.cu'), self.source)
        self.temporary = os.path.join(folder, 'temporary')
        os.mkdir(self.temporary)
        self.environment = dict(os.environ, TMPDIR=self.temporary, XDG_CACHE_HOME=os.path.join(folder, 'cache'))
        for name in ('CF_DRIVER', 'CF_THREADS', 'LD_PRELOAD', 'ASAN_OPTIONS'):
            self.environment.pop(name, None)
        self.compilers = compilers
        with open(self.source, encoding='utf-8') as file:
            self.marks = {tuple(m.groups()): number for number, line in enumerate(file, 1)
                          for m in [re.search(r'/\* (BUG|OTHER) (\w+) \*/', line)] if m}

    def cfcc(self, *arguments):
        return run([os.path.join(self.build, 'cfcc'), *self.compilers, *arguments], cwd=self.folder,
                   env=self.environment)

    def check(self, kind, *arguments, module='planted.so', env=None):
        modules = ['--module', module] if module else []
        return run([os.path.join(self.build, 'cf-run'), '--check', kind, *modules, *arguments], cwd=self.folder,
                   env=dict(self.environment, **(env or {})))

    def expected(self, name, pattern):
        """A pattern with the marked lines in it."""
        for mark in ('BUG', 'OTHER'):
            number = self.marks.get((mark, name))
            pattern = pattern.replace('{' + mark + '}', f'planted\\.cu:{number}')
        return pattern

    def planted(self, name):
        words, kind, pattern = PLANTED[name]
        code, _, err = self.check(kind, name, *words, 'bug=1')
        found = re.search(self.expected(name, pattern), err)
        problem = '' if code == 1 and found else f'exit {code}:\n{err}'
        self.tap.check(f'check_{name}_is_found', problem)
        problems = []
        for kind in KINDS:
            code, out, err = self.check(kind, name, *words, 'bug=0')
            if code != 0 or err or not out.endswith(f'check: {kind}: nothing found\n'):
                problems.append(f'--check={kind}: exit {code}:\n{err}')
        self.tap.check(f'check_{name}_without_it_is_clean', '\n'.join(problems))

    def bundled(self):
        problems = []
        for kind in KINDS:
            for words in (['gather', 'source=random:f32:100', 'index=randint:i32:1000:0:100'],
                          ['axpy', 'x=random:f32:1000', 'y=random:f32:1000', 'a=2']):
                code, out, err = self.check(kind, *words, module=None)
                if code != 0 or err or f'check: {kind}: nothing found' not in out:
                    problems.append(f'{words[0]}, {kind}: exit {code}: {err}')
        self.tap.check('check_bundled_kernels_are_clean', '\n'.join(problems))

    def rebuilding(self):
        os.makedirs(os.path.join(self.folder, 'tree/build'))
        os.makedirs(os.path.join(self.folder, 'tree/include'))
        with open(os.path.join(self.folder, 'tree/include/own.cuh'), 'w', encoding='utf-8') as file:
            file.write('#define BEHIND 1\n')
        with open(os.path.join(self.folder, 'tree/own.cu'), 'w', encoding='utf-8') as file:
            file.write('#include "own.cuh"\n#pragma cf kernel grid(n) out(y[n])\n'
                       '__global__ void own(int *y, int n)\n{\n    int i = threadIdx.x;\n'
                       '    if (i < n)\n        y[i + BEHIND * FACTOR] = i;\n}\n')
        code, _, err = self.cfcc('--cuda=no', '--prefix', 'own', '-Itree/include', '-DFACTOR=1', '-o', 'tree/build/own.o',
                                 'tree/own.cu')
        assert code == 0, err
        code, _, err = self.cfcc('--shared', '-o', 'tree/own.so', 'tree/build/own.o')
        assert code == 0, err
        os.rename(os.path.join(self.folder, 'tree'), os.path.join(self.folder, 'moved'))
        for file in ('moved/build/own.o', 'moved/own.so'):
            code, _, err = self.check('address', 'own', 'n=10', module=file)
            self.tap.check(f'check_of_{os.path.basename(file)}_is_built_again_where_the_tree_is_now',
                           '' if code == 1 and re.search(r'moved/own\.cu:7: heap-buffer-overflow.*y\[10\]', err) else err)
        with open(os.path.join(self.folder, 'moved/include/own.cuh'), 'w', encoding='utf-8') as file:
            file.write('#define BEHIND 0\n')
        code, out, err = self.check('address', 'own', 'n=10', module='moved/own.so')
        self.tap.check('check_sees_a_header_that_has_changed', '' if code == 0 else err)
        os.remove(os.path.join(self.folder, 'moved/own.cu'))
        code, _, err = self.check('address', 'own', 'n=10', module='moved/own.so')
        self.tap.check('check_without_the_source_says_so', '' if code == 1 and re.search(
            r'moved/own\.so cannot be built again: the source \S*moved/own\.cu is gone\n', err) else f'{code}: {err}')

    def refusals(self):
        for name, words, text in (
                ('another_kind', ['--check', 'leaks', 'traps'], '--check leaks: it is address, race or poison'),
                ('a_gpu', ['--check', 'race', '--driver', 'cuda', 'traps'], "the kernel's form for the CPU"),
                ('no_such_module', ['--check', 'race', '--module', 'none.so', 'traps'], 'none.so: No such file'),
                ('no_library', ['--check', 'race', '--module', 'planted.cu', 'traps'], 'does not tell how it was built')):
            code, _, err = run([os.path.join(self.build, 'cf-run'), *words], cwd=self.folder, env=self.environment)
            self.tap.check(f'check_of_{name}_is_refused', '' if code == 1 and text in err else f'exit {code}: {err}')

    def run(self):
        code, _, err = self.cfcc('--shared', '--cuda=no', '--prefix', 'planted', '-o', 'planted.so', 'planted.cu')
        self.tap.check('check_module_is_built', err if code else '')
        for name in PLANTED:
            self.planted(name)
        self.bundled()
        self.rebuilding()
        self.refusals()
        self.tap.check('check_leaves_no_folder', ' '.join(os.listdir(self.temporary)))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        SanitizeTest(tap, sys.argv[1], os.path.realpath(folder), sys.argv[2:]).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
