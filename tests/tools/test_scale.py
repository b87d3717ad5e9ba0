"""test_scale.py - generates 120 kernels in 12 files: counts the function calls and the memory of the generator, and
the files that it writes after a change of one file.

usage: test_scale.py
"""

import cProfile
import os
import resource
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
from tap import ROOT, Tap, run

FILES, KERNELS = 12, 10
# The most function calls, in Python and C, that the generator may make per kernel; it makes two thirds of that.
CALLS = 48000
KERNEL = '''
/* Kernel {k} of file {f}: gathers, scales and adds. */
#pragma cf kernel grid(n) in(x[n], index[n]) inout(y[m]) check(0 <= index[:] < m) bytes(n * 3.0 * sizeof(float))
__global__ void k_{f}_{k}(float a, const float *x, const int32_t *index, float *y, int64_t n, int64_t m)
{{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        float value = a * x[i] + y[index[i]];
        for (int step = 0; step < 4; step++)
            value = value * 0.5f + (float)step;
        y[index[i]] = value;
    }}
}}
'''


class CountedGenerator:
    """The generator, whose main function prints the number of its calls and the most memory it took, in KiB."""

    def __init__(self):
        self.generator = forked.load()
        self.__file__ = self.generator.__file__

    def main(self):
        profile = cProfile.Profile()
        try:
            return profile.runcall(self.generator.main)
        finally:
            calls = sum(entry.callcount for entry in profile.getstats())
            print(calls, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


class ScaleTest:
    def __init__(self, tap, folder):
        self.tap, self.generator = tap, CountedGenerator()
        self.tree, self.build = os.path.join(folder, 'tree'), os.path.join(folder, 'build')
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns('build*', '.git', '__pycache__', '.scratch',
                                                                       'gather.cu',
                                                                       'gather_random.c*')) # this kernel uses gather
        shutil.copy(os.path.join(ROOT, 'build.ninja.in'), self.tree)
        for f in range(FILES):
            with open(self.source(f), 'w', encoding='utf-8') as file:
                file.write('#include <stdint.h>\n' + ''.join(KERNEL.format(f=f, k=k) for k in range(KERNELS)))

    def source(self, number):
        return os.path.join(self.tree, 'kernels', f'f{number}.cu')

    def preprocess(self):
        code, out, err = run([os.path.join(self.tree, 'configure'), f'--builddir={self.build}', '--cuda=no'])
        if code == 0:
            code, out, err = self.ninja()
        self.tap.check('ninja_generates_all_kernels', f'exit {code}: {out}{err}' if code else '')

    def ninja(self):
        return run(['ninja', '-C', self.build, 'gen/cuferry/kernels.h'])

    def cost(self, files):
        """Returns the (calls, KiB of memory) of cfgen for the first `files` preprocessed files."""
        code, out, err = self.cfgen('--prefix', 's', '--outdir', os.path.join(self.build, 'alone'), '--root', self.tree,
                                    *(os.path.join(self.build, 'gen', f'f{f}.ii') for f in range(files)))
        self.tap.check(f'cfgen_{files}_files_succeeds', f'exit {code}: {err}' if code else '')
        return tuple(map(int, out.split()))

    def cfgen(self, *arguments):
        return forked.run_forked(self.generator, arguments, self.build)

    def costs(self):
        """The second six files cost at most one and a quarter times as much as the first six without the first."""
        least, half, whole = (self.cost(files) for files in (1, FILES // 2, FILES))
        print(f'# 1, {FILES // 2} and {FILES} files: {least}, {half}, {whole} calls and KiB')
        for name, room, a, b, c in (('calls_are', 0, least[0], half[0], whole[0]),
                                    ('memory_is', 2048, least[1], half[1], whole[1])):
            self.tap.check(f'cfgen_{name}_linear', '' if c - b < 1.25 * (b - a) + room else f'{a}, {b}, {c}')
        calls = (whole[0] - least[0]) / ((FILES - 1) * KERNELS)
        self.tap.check(f'cfgen_a_kernel_takes_less_than_{CALLS}_calls', '' if calls < CALLS else f'{calls:.0f}')

    def long_lists(self):
        """The number of calls grows linearly with the length of a list, not quadratically. The counts do not vary from
        run to run, so that a close limit finds on short lists what a loose one finds on long lists."""
        head = '#pragma cf kernel grid(n) out(y[n])'
        rest = '\n__global__ void k(float *y, int n'
        for name, make in (
                ('parameters', lambda n: f'{head}{rest}{"".join(f", int p{i}" for i in range(n))}) {{}}\n'),
                ('pointers', lambda n: f'{head}{rest}{"".join(f", int *p{i}" for i in range(n))}) {{}}\n'),
                ('members', lambda n: f'struct S {{ {"".join(f"int m{i};" for i in range(n))} }};\n'
                                      f'{head}{rest}, S s) {{}}\n'),
                ('checks', lambda n: f'{head} check({", ".join(f"n > {i}" for i in range(n // 2))}){rest}) {{}}\n'),
                ('statements', lambda n: f'{head}{rest}) {{ {"y[0] += 1;" * n} }}\n'),
                ('parentheses', lambda n: f'{head}{rest}) {{ y[{"(" * (n // 4)}n{")" * (n // 4)}] = 1; }}\n'),
                # Each class names two others, so that there are very many paths through them.
                ('classes', lambda n: ''.join(
                    f'struct S{i} {{ S{(i + 1) % (n // 32)} a; S{(i + 2) % (n // 32)} b; int n; }};\n'
                    for i in range(n // 32)) + f'{head}{rest}) {{ y[0] = ((S0 *)y)->a.n; }}\n'),
                ('shared_arrays', lambda n: head + rest + ') {' + ''.join(
                    f'__shared__ int s{i}[4]; s{i}[0] = 1; __syncthreads();' for i in range(n)) + '}\n'),
                # Each variable lives across a barrier; its uses are inside guards, loops and initializers.
                ('regions', lambda n: head + rest + ') { __shared__ int s[32]; int t = threadIdx.x;' + ''.join(
                    f'float v{i} = y[t] + {i}; s[t] = v{i}; __syncthreads(); if (t < {i}) {{ float w[2] = {{v{i}, n}};'
                    f'y[t] += w[0]; }} for (int k = 0; k < n; k++) v{i} += s[k]; __syncthreads(); y[t] = v{i};'
                    for i in range(n // 4)) + f'float all[] = {{{", ".join(f"v{i}" for i in range(n // 4))}}}; }}\n'),
                # Each variable uses the one before twice, so that there are very many paths from the index.
                ('indices', lambda n: head + rest + ') { __shared__ float s[32]; const int a0 = threadIdx.x;' +
                    ''.join(f'const int a{i} = a{i - 1} ^ a{i - 1};' for i in range(1, n // 20)) +
                    f'const float f = a0 > 3 ? 1 : 2; s[a{n // 20 - 1}] = f; __syncthreads(); y[a0] = s[a0]; }}\n'),
                ('functions', lambda n: ''.join(
                    f'__device__ int f{i}(int n) {{ return f{i - 1}(n); }}\n' for i in range(1, 2 * n)) +
                    f'{head}{rest}) {{ y[0] = f{2 * n - 1}(n); }}\n')):
            few, some, many = (self.calls_for(make(n)) for n in (100, 200, 400))
            self.tap.check(f'cfgen_calls_are_linear_in_{name}', '' if many - some < 2.25 * (some - few) else
                           f'{few}, {some}, {many}')

    def calls_for(self, text):
        """Returns the number of calls that cfgen makes for a file with this text."""
        path = os.path.join(self.build, 'long.cu')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return int(self.cfgen('--outdir', os.path.join(self.build, 'long'), path)[1].split()[0])

    def outputs(self):
        folder = os.path.join(self.build, 'gen')
        return {os.path.join(d, f): os.stat(os.path.join(d, f)).st_mtime_ns for d, _,
                files in os.walk(folder) for f in files}

    def one_change(self):
        """After a change, Ninja builds only the objects whose source files were written again."""
        code, out, err = run(['ninja', '-C', self.build, 'gen/f1.stub.o', 'gen/f7.stub.o'])
        self.tap.check('ninja_builds_two_stubs', f'exit {code}: {out}{err}' if code else '')
        before = self.outputs()
        with open(self.source(7), 'a', encoding='utf-8') as file:
            file.write(KERNEL.format(f=7, k='more'))
        code, out, err = self.ninja()
        after = self.outputs()
        written = {os.path.basename(path) for path, time in after.items() if before.get(path) != time}
        expected = {'f7.ii', 'f7.ii.d', 'f7.stub.c', 'f7.dev.cu', 'f7.host.cu', 'f7.host.cpp', 'kernels.h',
                    'cuferry_registry.c',
                    'cuferry.json'}
        # The assembler file contains only the name f7, so it is not written again.
        self.tap.check('one_changed_file_writes_its_own_outputs_and_the_library\'s', f'{out}{err}' if code else
                       '' if written - {'f7.ii.d'} == expected - {'f7.ii.d'} else f'{sorted(written ^ expected)}')
        _, out, _ = run(['ninja', '-C', self.build, 'gen/f1.stub.o', 'gen/f7.stub.o'])
        self.tap.check('one_changed_file_rebuilds_its_own_stub',
                       '' if 'f7.stub' in out and 'f1.stub' not in out else out or 'no text')
        again = self.outputs()
        self.ninja()
        self.tap.check('ninja_second_run_writes_nothing', '' if self.outputs() == again else 'it did')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = ScaleTest(tap, folder)
        test.preprocess()
        test.costs()
        test.long_lists()
        test.one_change()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
