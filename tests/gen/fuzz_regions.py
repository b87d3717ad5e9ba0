"""fuzz_regions.py - random kernels whose threads wait for one another and do not race. As loops over the threads of a
block they must give the same bits as with fibers, in two orders. They contain barriers, guards, serial loops, shuffles,
votes, and functions that contain these.

usage: fuzz_regions.py BUILDDIR [--seed S] [--kernels N] [--seconds N] [--keep DIR] [--flags FLAGS]

A file has at most 20 kernels. Without --seconds, N kernels run, by default 20; with --seconds, as many files as the
time allows. --keep takes a folder for all files. FLAGS are passed to cfcc: --flags='--cxx clang++ -O1'.
"""

import argparse
import os
import random
import shlex
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, ended, run

FILE = 20       # kernels in a file
COUNT = 480     # elements in an array; a block has at most 96 threads, and a grid has five blocks
INTEGERS = ('int', 'unsigned', 'short', 'unsigned char', 'long long', 'size_t', 'bool', 'index_t', 'signed char')
FLOATS = ('float', 'double', 'real')
BLOCKS = ((96, 1, 1), (12, 8, 1), (33, 1, 1), (7, 5, 2), (32, 3, 1), (1, 96, 1), (16, 6, 1), (1, 1, 1), (8, 2, 6),
          (96, 1, 1), (64, 1, 1), (32, 2, 1), (96, 1, 1))
WARPS = 'warp'      # control flow that is the same for all threads of a warp
LIMITS = ('m', 'n', '7', '-3', '40u', 'n - 470', 'UNSIGNED', 'UNSIGNED - 3', 'SHORT', 'BYTE', 'LONG', 'SIZE - 1',
          '~0u', '0x7fffffff', '(short)-3', 'blockIdx.x', 'blockDim.x - 3', 'n / 10', '-UNSIGNED', '!n', '20.5f',
          '2147483647', 'T / 2', 'n % 50')

PRELUDE = '''#include <cstdint>
typedef float real;
using index_t = int;
struct pt { float a; int b; };
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int by_value(int a, float b) { return a % 1000 * 3 - (int)b % 7; }
__device__ void by_reference(int &a, int b) { a = a % 1000 * 2 + b % 5; }
template <typename U> __device__ U mixed(const U &a, U b) { return a < b ? a + b : a - b; }
__device__ float sum_of_warp(float v)
{
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    return v;
}
__device__ float turned(float *values, float v, int by, int count)
{
    int own = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    values[own] = v; __syncthreads();
    float other = values[(own + by) % count]; __syncthreads();
    return other;
}
'''

# Prints one line for each kernel.
MAIN = '''#include <cuferry.h>
#include <stdio.h>
#include "%(name)s.h"
static float in[%(count)d], out[%(count)d];
int main(void)
{
    int (*const kernels[])(const float *, int, int, float *) = {%(calls)s};
    for (int i = 0; i < %(count)d; i++) in[i] = (float)(i * 37 %% 101) / 8;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (kernels[k](in, %(count)d, 0, out))
            printf("failed: %%s", cf_last_error());
        for (int i = 0; i < %(count)d; i++) printf("%%a ", (double)out[i]);
        puts("");
    }
    return 0;
}
'''


class Kernel:
    """Writes one kernel. A variable is a tuple: its name, its type, and True if all threads of a block have the same
    value."""
    def __init__(self, draw, number):
        self._draw = draw
        self._lines, self._depth, self._names, self._loops = [], 1, 0, 0
        self._scope, self._extents = [], draw.choice(BLOCKS)
        self._threads = self._extents[0] * self._extents[1] * self._extents[2]
        has_one_row = self._extents[0] == self._threads
        self._with_lanes = self._threads % 32 == 0 or has_one_row
        self._with_warps = self._extents[0] % 32 == 0 or has_one_row
        self._write_head(number)
        own = set()
        self._statements(draw.randint(4, 9), 3, False, own)
        if self._chance(.2):
            self._put(f'if ({self._condition()}) return;')
            self._statements(2, 1, True, own)
        self._write_end()
        self.text = '\n'.join(self._lines) + '\n'

    def _any(self, *texts):
        return self._draw.choice(texts)

    def _chance(self, part):
        return self._draw.random() < part

    def _put(self, text):
        self._lines.append('    ' * self._depth + text)

    def _name(self):
        self._names += 1
        return self._any('a', 'b', 'v', 'k') + str(self._draw.randint(1, 4)) if self._chance(.2) else f'v{self._names}'

    def _visible(self, types, is_uniform=False):
        """Returns the names of visible variables of these types."""
        found = {name: (kind, uniform) for name, kind, uniform in self._scope}
        return [name for name, (kind, uniform) in found.items() if kind in types and (uniform or not is_uniform)]

    def _set_varying(self, name):
        self._scope = [(n, kind, uniform and n != name) for n, kind, uniform in self._scope]

    def _leaf(self, is_uniform):
        names = self._visible(INTEGERS, is_uniform)
        if names and self._chance(.6):
            return self._any(*names)
        own = [] if is_uniform else ['t', 'tx', 'threadIdx.x', 'g', 'table[t & 7]'] * 2
        return self._any('n', 'm', str(self._draw.randint(0, 9)), 'blockIdx.x', 'table[2]', '2u', '(short)3', *own)

    def _whole(self, is_uniform, depth=2):
        """Returns an integer expression."""
        if depth == 0 or self._chance(.3):
            return self._leaf(is_uniform)
        a, b = self._whole(is_uniform, depth - 1), self._whole(is_uniform, depth - 1)
        return self._any(f'({a} + {b})', f'({a} - {b})', f'({a} & {b})', f'({a} ^ 9)', f'({a} % 7)', f'int({a})',
                         f'({a} < {b} ? {a} : {b})', f'min((int){a}, (int){b})', f'({a} == {b})', f'({a} && {b})',
                         f'({a} >> 1)', f'-(int)({a})', f'!({a})')

    def _value(self, depth=2):
        """Returns an expression of any numeric type, whose values stay small."""
        floats, pairs, arrays = (self._visible(kinds) for kinds in (FLOATS, ('pt',), ('int[3]',)))
        if floats and self._chance(.35):
            return f'({self._any(*floats)} * 0.5f + ({self._whole(False, 1)}) % 100)'
        words = [f'({name}.a + {name}.b % 100)' for name in pairs] + [f'{name}[t % 3] % 100' for name in arrays]
        return self._any(*words, f'in[({self._leaf(False)} & 15) + g % 400]', f'by_value({self._leaf(False)}, 2.5f)',
                         f'mixed<float>(({self._leaf(False)}) % 50, 2.5f)', f'({self._whole(False, depth)}) % 1000')

    def _condition(self):
        """Returns a comparison. Often it compares an index with a limit, which narrows the range of threads."""
        index = self._any('t', 'tx', 'threadIdx.x', 'g', 'threadIdx.y', 't + 5', 'tx - 3', 'tx + n', 't & 15', '-tx',
                          *self._visible(INTEGERS))
        text = f'{index} {self._any("<", "<=", ">", ">=", "==", "!=")} {self._any(*LIMITS)}'
        other = f'tx {self._any("<", ">=")} {self._any(*LIMITS)}'
        return self._any(text, text, text, f'{text} && {other}', f'{text} || {other}', f'!({text})')

    def _statements(self, count, depth, is_divergent, own, in_loop=False):
        """Writes statements. They contain barriers where all threads of a block arrive. `own` are the names that they
        declare."""
        start = len(self._scope)
        for chance in [self._draw.random() for _ in range(count)]:
            if chance < .28:
                self._declare(own)
            elif chance < .48 or depth == 0:
                self._assign()
            elif chance < .7 and is_divergent is not True:
                self._exchange(is_divergent)
            elif chance < .8:
                is_uniform, barrier = self._chance(.4), '' if is_divergent else self._any('', '__syncthreads(); ')
                condition, inner = self._whole(True) if is_uniform else self._condition(), is_divergent
                if self._with_warps and is_divergent is not True and self._chance(.5):
                    condition, inner = self._condition_of_warp(), WARPS
                elif not is_uniform:
                    inner = True
                self._put(f'{barrier}if ({condition}) {{')
                self._block(depth - 1, inner, in_loop)
                self._put(self._any('}', '} else {'))
                if self._lines[-1].endswith('{'):
                    self._block(depth - 1, inner, in_loop)
                    self._put('}')
                self._put(barrier)
            else:
                self._loop(depth, is_divergent)
        if self._depth > 1:
            del self._scope[start:]

    def _block(self, depth, is_divergent, in_loop):
        self._depth += 1
        self._statements(self._draw.randint(1, 3), depth, is_divergent, set(), in_loop)
        if in_loop and is_divergent is True and self._chance(.15):
            self._put(f'if ({self._condition()}) {self._any("break", "continue")};')
        self._depth -= 1

    def _loop(self, depth, is_divergent):
        is_uniform = is_divergent is not True and self._chance(.7)
        inner = is_divergent if is_uniform else True
        self._names += 1
        k = f'k{self._names}_'
        head = f'int {k} = 0; {k} < {self._any("t % 4", "tx % 3", "3")}; {k}++'
        if is_uniform:
            head = self._any(f'int {k} = 0; {k} < {self._draw.randint(1, 4)}; {k}++', f'int {k} = m; {k} < 3; ++{k}',
                             f'size_t {k} = 1; {k} < 20; {k} *= 3', f'short {k} = 16; {k} > 1; {k} /= 2',
                             f'int {k} = n % 4 + 2; {k}; {k}--', f'int {k} = blockIdx.x; {k} < 6; {k} += gridDim.x')
        if self._with_warps and is_divergent is not True and self._chance(.3):
            head, inner = self._any(f'int {k} = warp; {k} < 5; {k} += 3', f'int {k} = 0; {k} < warp + 1; {k}++',
                                    f'int {k} = 0; {k} < of_warp % 3; {k}++'), WARPS
        self._put(f'for ({head}) {{')
        self._scope.append((k, 'counter', is_uniform))
        self._loops += 1
        self._block(depth - 1, inner, inner is True)
        self._loops -= 1
        self._scope.pop()
        self._put('}')

    def _declare(self, own):
        name = self._name()
        if name in own:
            return
        own.add(name)
        kind = self._draw.choice((*INTEGERS, *FLOATS, *FLOATS, 'pt', 'int[3]'))
        is_uniform = kind in INTEGERS and self._chance(.4)
        visible = self._scope
        self._scope = [row for row in self._scope if row[0] != name]    # a variable's own initializer must not use it
        if kind == 'pt':
            self._put(f'pt {name} = {{(float)({self._value(1)}), (int)({self._whole(False)})}};')
        elif kind == 'int[3]':
            self._put(f'int {name}[3] = {{(int)({self._value(1)}), (int)t, 2}};')
        elif is_uniform:
            self._put(f'{kind} {name} = ({kind})({self._whole(True)});')
        else:
            self._put(f'{kind} {name} = ({kind})({"int" if kind in INTEGERS else kind})({self._value()});')
        self._scope = [*visible, (name, kind, is_uniform)]

    def _assign(self):
        # In a loop, a barrier may be under a condition on a variable that is the same for all threads of the block.
        visible = {name: (kind, is_uniform and self._loops > 0) for name, kind, is_uniform in self._scope}
        found = {name: kind for name, (kind, is_fixed) in visible.items() if kind != 'counter' and not is_fixed}
        if not found:
            return
        name, kind = self._draw.choice(sorted(found.items()))
        self._set_varying(name)
        if kind in FLOATS:
            self._put(self._any(f'{name} = {self._value()};', f'{name} += {self._value()};', f'({name}) /= 3;'))
        elif kind == 'pt':
            self._put(self._any(f'{name}.a = {self._value()};', f'{name}.b++;', f'by_reference({name}.b, t);',
                                f'{name} = pt{{2.0f, (int)t}};'))
        elif kind == 'int[3]':
            self._put(self._any(f'{name}[t % 3] += (int)({self._value()});', f'by_reference({name}[2], t);',
                                f'for (int z = 0; z < 3; z++) {name}[z] ^= z * t;'))
        else:
            words = [f'{name} = ({kind})(int)({self._value()});', f'{name} += t;', f'{name} ^= {self._whole(False)};',
                     f'if (t & 1) {name} = 1;', f'({name}) |= tx;']
            others = [other for other, of in found.items() if of == kind and other != name]
            if others:
                self._set_varying(others[0])
                words += [f'{name} = {others[0]} = ({kind})tx;']
            self._put(self._any(*words))

    def _condition_of_warp(self):
        return self._any('warp == 1', 'warp > 0', 'warp < n % 4', 'of_warp > 4', 'threadIdx.x < 32',
                         'threadIdx.x >= 32', 'of_warp & 1', 't / 32 == 0', f'warp == 0 && {self._whole(True)}')

    def _exchange(self, is_divergent):
        """Writes an exchange: threads write, wait, read what others wrote, and wait again; or lanes exchange values."""
        self._names += 1
        name, value, small = f'e{self._names}_', self._value(), self._value(1)
        place = self._any('T - 1 - t', '(t + 3) % T', '0', '(t * 7 + 1) % T')
        kind, which = self._any('float', 'int', 'double', 'unsigned'), self._any('xor', 'up', 'down')
        lane, width = self._any('1', '5', '16', 'n % 9', 't % 7'), self._any('', '', ', 8', ', 16')
        lane = '3' if which == 'xor' and lane[0] == 't' else lane
        rows = [
            ('float', f's[t] = {value}; @ float {name} = s[{place}]; @'),
            ('float', f's[t] = 3; @ if ({self._condition()}) {{ s[t] = {small}; }} @ float {name} = s[{place}]; @'),
            ('int', f'if (t < 8) bins[t] = 0; @ atomicAdd(&bins[(unsigned)({self._whole(False)}) % 8u], '
                    f'{self._any("1", "t", "2")}); @ int {name} = bins[t & 7]; @'),
            ('int', f'if (t == {self._any("0", "T - 1")}) total = (int)({small}) % 5; @ int {name} = total; @'),
            ('float', f'for (int h = {self._any("64", "T / 2")}; h > 0; h {self._any("/= 2", ">>= 1")}) {{ '
                      f's[t] = {small}; @ if (t < h && t + h < T) s[t] += s[t + h]; @ }} float {name} = s[t]; @'),
            ('float', f'float {name} = turned(s, {small}, {self._draw.randint(1, 9)}, T);'),
            ('float', f'float {name} = sum_of_warp({small});'),
            (kind, f'{kind} {name} = __shfl_{which}_sync(0xffffffffu, ({kind})({small}), {lane}{width});'),
            ('unsigned', f'unsigned {name} = __ballot_sync(~0u, {self._condition()}) % 1000;')]
        rows += rows[6:] * 2 * self._with_warps
        kind, text = self._draw.choice(rows[6:] if is_divergent else rows if self._with_lanes else rows[:6])
        for line in text.replace('@', '__syncthreads();@').split('@'):
            self._put(line.strip())
        self._scope.append((name, kind, '= total' in text))

    def _write_head(self, number):
        x, y, z = self._extents
        place = 't' if y * z > 1 else 'threadIdx.x'
        size = self._any(f'constexpr int T = {self._threads};', 'const int T = blockDim.x * blockDim.y * blockDim.z;')
        ends = '' if self._chance(.8) else f'if (g >= {self._any("n - 400", "300", "n")}) return;'
        self._lines += [
            f'#pragma cf kernel blocks({self._any(1, 3, 5)}) block({x}, {y}, {z}) in(in[n]) inout(out[n])',
            f'__global__ void k{number}(const float *{self._any("", "__restrict__ ")}in, int n, int m, float *out)\n{{',
            f'    {size} __shared__ float s[{self._threads}]; __shared__ int bins[8], total;',
            '    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;',
            f'    {self._any("int", "const unsigned", "long", "short")} tx = threadIdx.x;',
            f'    int g = blockIdx.x * T + {place}; unsigned UNSIGNED = n % 64; short SHORT = -7;',
            '    unsigned char BYTE = 60; long LONG = n - 490; size_t SIZE = m;',
            f'    s[t] = 0; if (t < 8) bins[t] = 0; if (t == 0) total = 0; {ends} __syncthreads();']

        if self._with_warps:
            self._put(f'int warp = {self._any("t / 32", "t >> 5", "threadIdx.y + threadIdx.x / 32")}, lane = t % 32; '
                      'int of_warp = (int)in[warp + 5];')
            self._scope += [('warp', 'counter', False), ('lane', 'counter', False), ('of_warp', 'counter', False)]

    def _write_end(self):
        self._put('double sum = UNSIGNED + SHORT + BYTE + LONG + SIZE % 8;')
        for name, kind in {name: kind for name, kind, _ in self._scope}.items():
            if kind == 'pt':
                self._put(f'sum += {name}.a + {name}.b % 100;')
            elif kind == 'int[3]':
                self._put(f'sum += {name}[0] % 100 + {name}[1] % 100 + {name}[2] % 99;')
            else:
                self._put(f'sum += (double){name} < 1e6 && (double){name} > -1e6 ? (double){name} : 1;')
        self._put('out[g] = (float)(sum + s[t]);')
        self._lines.append('}')


class Fuzzer:
    def __init__(self, options, folder):
        self._options, self._folder = options, folder
        self._build = os.path.abspath(options.builddir)

    def problem_of(self, seed, count):
        """Runs the kernels of a seed; returns what went wrong, or an empty text."""
        name, draw = f'f{seed}', random.Random(seed)
        kernels = '\n'.join(Kernel(draw, number).text for number in range(count))
        calls = ', '.join(f'{name}_k{number}' for number in range(count))
        for path, text in ((f'{name}.cu', PRELUDE + kernels),
                           (f'{name}.c', MAIN % {'name': name, 'calls': calls, 'count': COUNT})):
            with open(os.path.join(self._folder, path), 'w', encoding='utf-8') as file:
                file.write(text)
        return self._build_program(name) or '\n'.join(self._differences(name, count))

    def _build_program(self, name):
        flags = ['--cuda=no', '-Xcxx=-ffp-contract=off', *shlex.split(self._options.flags), f'{name}.cu']
        library = [f'{self._build}/libcuferry.a', '-lpthread', '-ldl', '-lm']
        for command in ([f'{self._build}/cfcc', '--prefix', name, '-o', f'{name}.o', *flags],
                        ['cc', f'-I{ROOT}/include', '-o', name, f'{name}.c', f'{name}.o', *library]):
            code, out, err = run(command, self._folder)
            if code:
                return f'{name}.cu is not built: {out}{err}'
        return ''

    def _differences(self, name, count):
        lines = {}
        for order in ('', 'reverse', '7'):
            env = {**os.environ, 'CF_DRIVER': 'host', **({'CF_HOST_ORDER': order} if order else {})}
            code, out, err = run([f'./{name}'], self._folder, env, 300)
            lines[order] = out.splitlines()
            if code or len(lines[order]) != count or 'failed' in out:
                yield f'{name}.cu, order {order or "natural"}: {ended(code)}: {out[out.find("failed"):][:300]}{err}'
        for order in ('reverse', '7'):
            for number, (loops, fibers) in enumerate(zip(lines[''], lines[order])):
                pairs = enumerate(zip(loops.split(), fibers.split()))
                for at, (a, b) in [(at, pair) for at, pair in pairs if pair[0] != pair[1]][:1]:
                    yield f'{name}.cu, k{number}: [{at}] is {a}, and {b} in order {order}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('builddir')
    for name, default in (('seed', random.SystemRandom().randrange(10 ** 6)), ('kernels', FILE), ('seconds', 0)):
        parser.add_argument(f'--{name}', type=int, default=default)
    parser.add_argument('--keep')
    parser.add_argument('--flags', default='')
    options = parser.parse_args()
    end, seed, left, tap = time.monotonic() + options.seconds, options.seed, options.kernels, Tap()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, options.keep or folder)
        while left > 0 or time.monotonic() < end:
            count = min(left, FILE) if left > 0 else FILE
            tap.check(f'{count} kernels of seed {seed}', fuzzer.problem_of(seed, count))
            seed, left = seed + 1, left - count
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
