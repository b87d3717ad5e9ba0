"""test_shadow.py - tests CUDA's types and functions on the CPU: compiles and runs the kernels of tests/gen/shadow,
compares results with the toolkit's if a toolkit is installed, and compiles the C types in every supported language.

usage: test_shadow.py [--cc CC] [--cxx CXX] [--no-nvcc]
  --no-nvcc: leaves out nvcc, whose results are the same for every host compiler
"""

import argparse
import os
import random
import re
import shlex
import shutil
import struct
import sys
import tempfile
from fractions import Fraction

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_LONG, NEEDS_NVCC, ROOT, Tap, run

SHADOW = os.path.join(ROOT, 'tests', 'gen', 'shadow')
INCLUDE = os.path.join(ROOT, 'include')
STAND_INS = os.path.join(INCLUDE, 'cuferry', 'shadow')

# Code that uses the C types: alone, with the toolkit's headers, and with these headers and half.
TYPES = ('cf_float4 f; cf_double4 d; cf_double4_32a e; cf_half2 h; cf_bfloat16 b; cf_complex128 z; cf_uint3 u; '
         'cf_tensor_map m;\n')
TYPES_OF_BOTH = TYPES + 'float4 *same(cf_float4 *p);\nfloat4 *same(cf_float4 *p) { p = &f; return p; }\n'
TYPES_IN_CUDA = ('#include <cuferry/types.h>\nnamespace types {\n' + TYPES_OF_BOTH +
                 '__half *pass(cf_half *p) { return p; }\n}\n')

# ---- Reference results for 16-bit floats


class Format:
    """A 16-bit binary floating-point format: its precision, and the smallest exponent of its normal numbers."""

    def __init__(self, name, precision, lowest):
        self.name, self.precision, self.lowest = name, precision, lowest
        self.infinity = (3 - 2 * lowest) * 2 ** (precision - 1)

    def value(self, bits):
        """Returns the number with these bits; None for NaN and infinity."""
        sign, rest = -1 if bits & 0x8000 else 1, bits & 0x7fff
        if rest >= self.infinity:
            return None
        exponent, fraction = rest >> (self.precision - 1), rest & (2 ** (self.precision - 1) - 1)
        if exponent:
            fraction, exponent = fraction + 2 ** (self.precision - 1), exponent - 1
        return sign * fraction * Fraction(2) ** (self.lowest - self.precision + 1 + exponent)

    def bits(self, value):
        """Returns the bits of a number that is rounded to nearest (ties to even); 0 becomes +0."""
        return self.all_bits(value)[0]

    def all_bits(self, value):
        """Returns the bits of a number for four ways to round: to nearest, towards 0, up and down."""
        sign = 0x8000 if value < 0 else 0
        # Computes with integers, because fractions would take a minute for all numbers.
        number, divisor = abs(value).as_integer_ratio()
        exponent = number.bit_length() - divisor.bit_length()
        exponent -= number << max(-exponent, 0) < divisor << max(exponent, 0)
        exponent = max(exponent, self.lowest) if number else self.lowest
        unit = exponent - self.precision + 1
        divisor <<= max(unit, 0)
        whole, left = divmod(number << max(-unit, 0), divisor)
        is_past_half = left * 2 > divisor or (left * 2 == divisor and whole % 2)
        results = []
        for away, past in ((is_past_half, True), (False, False), (not sign, not sign), (sign, sign)):
            bits = whole + bool(left and away) + (exponent - self.lowest) * 2 ** (self.precision - 1)
            results.append(sign | (bits if bits < self.infinity else self.infinity - (not past)))
        return results


HALF, BFLOAT16 = Format('half', 11, -14), Format('bfloat16', 8, -126)
FORMATS = (HALF, BFLOAT16)


def float32(value):
    """Rounds a double to float; a number that is too large becomes infinity."""
    try:
        return struct.unpack('f', struct.pack('f', value))[0]
    except OverflowError:
        return float('inf') if value > 0 else float('-inf')


def neighbours(value, code, integer):
    """Returns a float, the next float below it, and the next one above it."""
    bits = struct.unpack(integer, struct.pack(code, value))[0]
    return [struct.unpack(code, struct.pack(integer, b))[0] for b in (bits - 1, bits, bits + 1) if b >= 0]


def doubles_to_round():
    """Returns ties (with CHECK_LONG all of half's), their neighbours, and numbers outside of the range."""
    numbers = [0.0, 1e-300, 1e-46, 65504.0, 65519.999, 65520.0, 65536.0, 1e10, 3.3e38, 3.4e38, 3.5e38, 1e300, 5e-324]
    for form, step in ((HALF, 1 if os.environ.get('CHECK_LONG') else 5), (BFLOAT16, 37)):
        for bits in range(0, form.infinity - 1, step):
            tie = float((form.value(bits) + form.value(bits + 1)) / 2)
            numbers += neighbours(tie, 'd', 'Q') + neighbours(tie, 'f', 'I')
    return numbers + [-number for number in numbers[::7]]


def patterns(count):
    """Returns triples of 16-bit patterns that are finite in both formats; in some, the numbers are close together."""
    source, triples = random.Random(1), []
    for i in range(count):
        a, b, c = (source.randrange(0x7800) | source.choice((0, 0x8000)) for _ in range(3))
        if i % 2:
            b = 0x3c00 + source.randrange(0x400) if i % 4 == 1 else a ^ source.randrange(64)
            c = a ^ source.randrange(0x8000, 0x8040)
        triples.append((a, max(b & 0x7fff, 1) | b & 0x8000, c))
    return triples


# ---- The tests


class ShadowTest:
    def __init__(self, options, tap, folder):
        self.tap, self.folder = tap, folder
        self.cc, self.cxx = shlex.split(options.cc), shlex.split(options.cxx)
        # configure adds further flags; only that of the language is needed here.
        self.host_flags = ['-std=c++17'] + self.flags_of_build() + [f'-I{d}' for d in (ROOT, INCLUDE, STAND_INS)]
        self.uses_nvcc = not options.no_nvcc
        self.nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
        root = os.path.dirname(os.path.dirname(os.path.realpath(self.nvcc))) if self.nvcc else None
        self.toolkit = root and os.path.join(root, 'include')

    @staticmethod
    def flags_of_build():
        """Returns the flags of the build for CPU bodies."""
        with open(os.path.join(ROOT, 'build.ninja.in'), encoding='utf-8') as file:
            text = re.sub(r' \$\n +', ' ', file.read())
        flags = re.search(r'^host_flags = (.*)$', text, re.MULTILINE).group(1).split()
        return [flag for flag in flags if not flag.startswith('$')]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def compile(self, source, output, *flags):
        """Compiles a kernel file for the CPU; returns the errors."""
        libraries = [] if '-c' in flags else ['-x', 'none', '-lm']
        code, out, err = run([*self.cxx, *self.host_flags, *flags, '-include', 'cuferry/cpu/prelude.cuh', '-o',
                              self.path(output), '-x', 'c++', source, *libraries])
        return f'exit {code}: {out}{err}' if code else ''

    def compile_for_gpu(self, source, output):
        return run([self.nvcc, '-std=c++17', '-arch=compute_90', '-diag-suppress', '177', f'-I{INCLUDE}',
                    f'-I{SHADOW}', source, '-o', self.path(output)])

    def kernels(self):
        """Runs each kernel of tests/gen/shadow, which checks itself; nvcc also compiles it as CUDA."""
        sources = sorted(os.path.join(SHADOW, name) for name in os.listdir(SHADOW)
                         if name.endswith('.cu') and name != 'convert.cu')
        for source in sources:
            stem = os.path.basename(source)[:-3]
            for level in ('-O0', '-O2'):
                if level == '-O0' and not os.environ.get('CHECK_LONG'):
                    self.tap.skip(f'{stem}_on_the_cpu_{level[1:]}', NEEDS_LONG)
                    continue
                problem = self.compile(source, stem, level)
                if not problem:
                    code, out, err = run([self.path(stem)])
                    problem = f'exit {code}: {out}{err}' if code else ''
                self.tap.check(f'{stem}_on_the_cpu_{level[1:]}', problem)
        for source in [self.together(sources)] + (sources if os.environ.get('CHECK_LONG') else []):
            if self.uses_nvcc:
                self.kernel_with_nvcc(source, os.path.basename(source)[:-3])

    def together(self, sources):
        """Writes a program with all kernels, each in its namespace, so that nvcc reads the headers once; returns its
        path."""
        headers, parts, calls = set(), [], ''
        for source in sources:
            stem = os.path.basename(source)[:-3]
            with open(source, encoding='utf-8') as file:
                text = file.read()
            headers |= set(re.findall(r'^#include <.*>\n', text, re.MULTILINE))
            text = re.sub(r'^#include <.*>$', '', text, flags=re.MULTILINE)
            parts.append(f'#undef EXPECT_H\nnamespace of_{stem} {{\n#line 1 "{source}"\n{text}}}\n')
            calls += f'    if (int status = of_{stem}::main())\n        return printf("{stem}.cu\\n"), status;\n'
        return self.write('kernels.cu', ''.join(sorted(headers)) + TYPES_IN_CUDA + ''.join(parts)
                          + f'int main(void)\n{{\n{calls}    return 0;\n}}\n')

    def kernel_with_nvcc(self, source, stem):
        if not self.nvcc:
            self.tap.skip(f'{stem}_with_nvcc', NEEDS_NVCC)
            return
        code, out, err = self.compile_for_gpu(source, f'{stem}.gpu')
        self.tap.check(f'{stem}_with_nvcc', f'{out}{err}' if code or 'warning' in err else '')
        if code == 0:
            code, out, err = run([self.path(f'{stem}.gpu')])
            if code == 77:
                self.tap.skip(f'{stem}_on_a_gpu', out.splitlines()[0])
            else:
                self.tap.check(f'{stem}_on_a_gpu', f'exit {code}: {out}{err}' if code else '')

    def symbols(self):
        """A file that includes all headers has no symbol that needs the C++ runtime or that would keep a shared object
        from being closed."""
        headers = [os.path.relpath(os.path.join(folder, name), STAND_INS) for folder, _, names in os.walk(STAND_INS)
                   for name in names]
        headers += [f'cuferry/{name}' for name in os.listdir(os.path.join(INCLUDE, 'cuferry'))
                    if name.endswith('.h') and name != 'mpi.h']   # it needs an MPI library
        text = ''.join(f'#include <{name}>\n' for name in sorted(headers))
        source = self.write('everything.cpp', text + '''
template <typename T> static void use(T *z) { *z = exp(*z * *z / T(2)) + pow(*z, T(3)); atomicAdd((float *)z, 1.0f); }
__global__ void kernel(thrust::complex<float> *a, cuda::std::complex<double> *b, half *h, nv_bfloat16 *g)
{
    use(a);
    use(b);
    *h = __hfma(*h, *h, __float2half(normcdff(threadIdx.x)));
    *g = hexp(*g);
    printf("%f\\n", (float)*h);
}
extern "C" void body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    cf__run(launch, begin, end, [=]() CF__INLINE {
        kernel(*(thrust::complex<float> **)launch->args[0], *(cuda::std::complex<double> **)launch->args[1],
               *(half **)launch->args[2], *(nv_bfloat16 **)launch->args[3]);
    });
}
''')
        code, _, _ = run([*self.cxx, '-Werror', '-fno-gnu-unique', '-c', '-x', 'c++', '/dev/null', '-o',
                          self.path('empty.o')])
        unique = [] if code else ['-fno-gnu-unique']
        bad = re.compile(r' [uTBDS] (?!body$)| U (_Z|__cxa|__gxx|_Unwind)')
        for level in ('-O0', '-O2'):
            problem = self.compile(source, 'everything.o', level, '-c', *unique)
            if not problem:
                _, out, _ = run(['nm', self.path('everything.o')])
                problem = '\n'.join(line for line in out.splitlines() if bad.search(line) or ' T body' not in out)
            self.tap.check(f'all_headers_{level[1:]}_leave_no_symbols', problem)

    def scan(self):
        """The generator's preprocessing leaves CUDA's keywords unchanged, and defines the C library's macros."""
        source = self.write('scanned.cu', '#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n'
                            '#include <math_constants.h>\n'
                            '__global__ void __launch_bounds__(256) kernel(const __grid_constant__ int n, half *h)\n'
                            '{ __shared__ int s; s = threadIdx.x + INT_MAX; }\nfloat pi = CUDART_PI_F;\n')
        code, out, err = run([*self.cxx, '-E', '-x', 'c++', '-std=c++17', '-DCF__SCAN', '-D__CUDACC__',
                              f'-I{STAND_INS}', f'-I{INCLUDE}', source])
        own = [' '.join(' '.join(line for line in out.splitlines() if not line.startswith('#')).split())]
        expected = ('__global__ void __launch_bounds__(256) kernel(const __grid_constant__ int n, half *h)',
                    '{ __shared__ int s; s = threadIdx.x + 2147483647; }', 'float pi = 3.14')
        text = own[0].replace('0x7fffffff', '2147483647').replace(' ', '')
        lost = [line for line in expected if line.replace(' ', '') not in text]
        self.tap.check('scan_leaves_the_words_of_cuda', f'{err}missing: {lost}' if code or lost else '')

    def advice(self):
        """Every header of CUB and Thrust can be included. If a kernel uses what the CPU cannot run, the generator
        refuses it and says what to write instead."""
        headers = sorted(os.path.relpath(os.path.join(folder, name), STAND_INS) for library in ('cub', 'thrust')
                         for folder, _, names in os.walk(os.path.join(STAND_INS, library)) for name in names)
        taken = ['thrust/complex.h', 'thrust/functional.h', 'thrust/pair.h', 'thrust/swap.h', 'thrust/tuple.h']
        text, wanted = ''.join(f'#include <{header}>\n' for header in headers), []
        for number, header in enumerate(h for h in headers if h not in taken):
            library, name = header.split('/')[0], os.path.splitext(os.path.basename(header))[0]
            text += (f'#pragma cf kernel grid(n) inout(x[n])\n__global__ void k{number}(int *x, int n)\n'
                     f'{{\n    {library}::{name}(x, x + n);\n}}\n')
            what = f'{"CUB" if library == "cub" else "Thrust"} ({library}::{name})'
            wanted.append(f'error: k{number} uses {what}, which the CPU does not run; ')
        code, _, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--cxx', shlex.join(self.cxx),
                            '--outdir',
                            self.folder, self.write('foreign.cu', text)])
        lost = [line for line in wanted if line not in err]
        self.tap.check('headers_of_cub_and_thrust_lead_to_advice',
                       f'{lost}\n{err}' if code != 1 or lost or not wanted else '')

        sys.path.insert(0, os.path.join(ROOT, 'gen'))
        from cpu.collective import OF_CUB, OF_THRUST     # pylint: disable=import-error,import-outside-toplevel
        self.names('thrust', OF_THRUST, taken, r'using ::\w+::(\w+);')
        self.names('cub', OF_CUB, [h for h in headers if h.startswith('cub/')],
                   r'^(?:template <.*> )?(?:class|struct|enum|typedef .*) ([A-Z]\w+)')

        cccl = self.toolkit and os.path.join(self.toolkit, 'cccl')
        if not cccl or not os.path.isdir(cccl):
            self.tap.skip('headers_of_cub_and_thrust_are_those_of_the_toolkit',
                          'needs a toolkit with its headers of CUB in cccl' if self.toolkit else NEEDS_NVCC)
            return
        lost = [os.path.join(folder, name) for folder in ('cub', 'thrust', 'thrust/iterator', *(
            f'cub/{part}' for part in ('block', 'warp', 'device', 'thread', 'grid', 'iterator')))
                for name in os.listdir(os.path.join(cccl, folder)) if name.endswith(('.h', '.cuh'))
                and os.path.join(folder, name) not in headers]
        self.tap.check('headers_of_cub_and_thrust_are_those_of_the_toolkit', ', '.join(lost))

    def names(self, library, names, headers, declaration):
        """The headers declare the names of a library that the generator accepts, and the generator accepts the names
        that they declare."""
        text = ''.join(f'    using {library}::{name};\n' for name in sorted(names))
        source = self.write('names.cu', ''.join(f'#include <{header}>\n' for header in headers) +
                            f'__device__ void all()\n{{\n{text}}}\n')
        self.tap.check(f'names_of_{library}_that_the_cpu_runs_are_there', self.compile(source, 'names.o', '-c'))
        declared = set()
        for header in headers:
            with open(os.path.join(STAND_INS, header), encoding='utf-8') as file:
                declared |= set(re.findall(declaration, file.read(), re.MULTILINE))
        self.tap.check(f'names_of_{library}_that_headers_have_are_taken',
                       f'{declared - names}' if declared - names or not declared else '')

    # ---- 16-bit floats

    def convert(self, program, output):
        return run([self.path(name) for name in (program, 'doubles', 'patterns', output)])

    def conversions(self):
        numbers, triples = doubles_to_round(), patterns(4000)
        with open(self.path('doubles'), 'wb') as file:
            file.write(struct.pack(f'{len(numbers)}d', *numbers))
        with open(self.path('patterns'), 'wb') as file:
            for triple in triples:
                file.write(struct.pack('3H', *triple))
        source = os.path.join(SHADOW, 'convert.cu')
        problem = self.compile(source, 'convert', '-O2')
        if not problem:
            code, _, err = self.convert('convert', 'out')
            problem = f'exit {code}: {err}' if code else ''
        self.tap.check('convert_on_the_cpu', problem)
        if problem:
            return
        with open(self.path('out'), 'rb') as file:
            data = file.read()
        rounded, results = 2 * 65536 * 4, 2 * 65536 * 4 + len(numbers) * 20
        self.tap.check('half_to_float_of_all_patterns', self.to_float(HALF, data[:65536 * 4]))
        self.tap.check('bfloat16_to_float_of_all_patterns', self.to_float(BFLOAT16, data[65536 * 4:rounded]))
        self.tap.check('half_agrees_with_python', self.packs(numbers, data[rounded:results]))
        self.tap.check('float_to_16_bits_in_every_rounding', self.from_float(numbers, data[rounded:results]))
        self.tap.check('arithmetic_is_rounded_once', self.arithmetic(triples, data[results:]))
        if self.uses_nvcc:
            self.toolkit_converts(source, data, results)

    @staticmethod
    def to_float(form, data):
        for bits, (got,) in enumerate(struct.iter_unpack('f', data)):
            value = form.value(bits)
            sign = -1.0 if bits & 0x8000 else 1.0
            if value is None:
                right = got != got if bits & 0x7fff > form.infinity else got == sign * float('inf')
            else:
                right = got == float(value) and (got != 0 or str(got) == str(0.0 * sign))
            if not right:
                return f'{bits:#06x} gave {got}, not {value}'
        return ''

    @staticmethod
    def packs(numbers, data):
        """Returns the first difference between the results for binary16 and those of the struct module."""
        for number, bits in zip(numbers, struct.iter_unpack('10H', data)):
            if abs(number) < 65520 and struct.pack('H', bits[0]) != struct.pack('e', number):
                return f'{number!r} gave {bits[0]:#06x}'
        return ''

    @staticmethod
    def from_float(numbers, data):
        for number, bits in zip(numbers, struct.iter_unpack('10H', data)):
            single = float32(number)
            for form, got in zip(FORMATS, (bits[:5], bits[5:])):
                sign = 0x8000 if str(number).startswith('-') else 0
                if abs(single) == float('inf'):
                    expected = [form.infinity | sign] * 5
                else:
                    expected = [bits | sign for bits in (form.bits(number), *form.all_bits(single))]
                if list(got) != expected:
                    return f'{form.name}: {number!r} gave {[hex(b) for b in got]}, not {[hex(b) for b in expected]}'
        return ''

    @staticmethod
    def arithmetic(triples, data):
        rows = struct.iter_unpack('5H', data)
        for triple in triples:
            for form in FORMATS:
                got = next(rows)
                a, b, c = (form.value(bits) for bits in triple)
                for name, value, bits in zip(('sum', 'difference', 'product', 'quotient', 'fma'),
                                             (a + b, a - b, a * b, a / b, a * b + c), got):
                    expected = form.bits(value)
                    if bits & 0x7fff != expected & 0x7fff or (value and bits != expected):
                        return f'{form.name}: {name} of {[hex(t) for t in triple]} is {bits:#06x}, not {expected:#06x}'
        return ''

    def toolkit_converts(self, source, data, results):
        """The toolkit's own functions, run on the CPU, give the same bits, except for NaNs."""
        if not self.nvcc:
            self.tap.skip('convert_agrees_with_the_toolkit', NEEDS_NVCC)
            return
        code, out, err = self.compile_for_gpu(source, 'convert.gpu')
        if code == 0:
            code, out, err = self.convert('convert.gpu', 'out.gpu')
        if code:
            self.tap.check('convert_agrees_with_the_toolkit', f'{out}{err}')
            return
        with open(self.path('out.gpu'), 'rb') as file:
            other = file.read()
        floats = 2 * 65536 * 4
        numbers = zip(struct.iter_unpack('f', data[:floats]), struct.iter_unpack('f', other[:floats]))
        rows = zip(struct.iter_unpack('5H', data[results:]), struct.iter_unpack('5H', other[results:]))
        differ = [f'{i:#x} as float' for i, ((a,), (b,)) in enumerate(numbers) if a != b and not (a != a and b != b)]
        differ += [f'row {i} of arithmetic' for i, (a, b) in enumerate(rows) if a[:4] != b[:4]]
        if data[floats:results] != other[floats:results]:
            differ.append('rounding')
        self.tap.check('convert_agrees_with_the_toolkit', f'they differ: {differ[:5]}' if differ else '')

    # ---- The C types

    def languages(self):
        """In every language, types.h compiles alone, before the toolkit's headers, and after them."""
        headers = '#include <vector_types.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n'
        for compiler, standards, suffix in ((self.cc, ('c99', 'c11'), 'c'), (self.cxx, ('c++11', 'c++17'), 'cpp')):
            for standard in standards:
                command = [*compiler, f'-std={standard}', '-Wall', '-Wextra', '-Wpedantic', '-Werror', f'-I{INCLUDE}',
                           '-fsyntax-only']
                cases = [('alone', '#include <cuferry/types.h>\n' + TYPES)]
                if self.toolkit:
                    command += ['-isystem', self.toolkit]
                    cases += [('before_the_toolkit', '#include <cuferry/types.h>\n' + headers + TYPES),
                              ('after_the_toolkit', headers + '#include <cuferry/types.h>\n' + TYPES_OF_BOTH)]
                for name, text in cases:
                    code, out, err = run([*command, self.write(f'types.{suffix}', text)])
                    self.tap.check(f'types_{standard}_{name}', f'exit {code}: {out}{err}' if code else '')
                if not self.toolkit:
                    self.tap.skip(f'types_{standard}_with_the_toolkit', NEEDS_NVCC)

    def messages(self):
        """A compiler's message about a wrong call in C contains the type names of the header."""
        source = self.write('wrong.c', '#include <cuferry/types.h>\nvoid take(const cf_float4 *p);\n'
                            'void wrong(cf_double2 *p) { take(p); }\n')
        _, _, err = run([*self.cc, '-std=c11', '-Wall', f'-I{INCLUDE}', '-fsyntax-only', source])
        named = 'cf_float4' in err and 'cf_double2' in err and 'anonymous' not in err
        self.tap.check('types_are_named_in_messages', '' if named else err or 'no text')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    parser.add_argument('--no-nvcc', action='store_true')
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = ShadowTest(options, tap, folder)
        test.kernels()
        test.symbols()
        test.scan()
        test.advice()
        test.conversions()
        test.languages()
        test.messages()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
