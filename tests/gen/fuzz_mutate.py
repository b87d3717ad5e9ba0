"""fuzz_mutate.py - damages kernel files at random: annotations most often, then declarations, lines and bytes."""

import re

_LEXEME = re.compile(rb'\s+|[A-Za-z_]\w*|\.?\d[\w.\']*|"(?:\\.|[^"\\\n])*"|::|\.\.\.|<=|>=|==|!=|&&|\|\||.', re.DOTALL)
_PRAGMA = re.compile(rb'^[ \t]*#[ \t]*pragma[ \t]+cf\b(?:[^\n]*\\\r?\n)*[^\n]*$', re.MULTILINE)
_DECLARATION = re.compile(rb'^(?!#)[^#;{}]*__global__[^;{}]*', re.MULTILINE)
_KERNEL = re.compile(rb'(?:^(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)\n)?'
                     rb'(?:^#pragma cf (?:kernel|instances)(?:[^\n]*\\\n)*[^\n]*\n)+'
                     rb'(?:^[^\n]*;$|.*?^\}$)', re.MULTILINE | re.DOTALL)

_NUMBERS = (b'0', b'-1', b'1', b'32', b'1024', b'1025', b'65536', b'2147483647', b'2147483648', b'9223372036854775807',
            b'9223372036854775808', b'-9223372036854775808', b'18446744073709551615', b'18446744073709551616',
            b'0x7fffffffffffffff', b'0xffffffffffffffffffff', b'0b101', b'0b2', b'017', b'08', b'0x', b"1'000",
            b"1''0", b'1u', b'7ull', b'1z', b'1.5', b'.5', b'1.', b'1e400', b'1e-400', b'1e', b'0x1p3', b'1.0f',
            b'nan', b'1' * 400, b'1_x', b'1e5')
_NAMES = (b'n', b'T', b'N', b'x', b'restrict', b'complex', b'I', b'_Bool', b'bool', b'true', b'false', b'NULL',
          b'stdin', b'errno', b'unix', b'linux', b'stream', b'launch', b'cf_stream', b'CF_OK', b'cf__stream', b'cf__0',
          b'int32_t', b'size_t', b'main', b'this', b'new', b'class', b'void', b'default', b'register', b'inline',
          b'and', b'not', b'_Generic', b'__func__', b'x_async', b'kernel', b'instances', b'sizeof',
          b'is_integral', b'min', b'max',
          b'auto', b'none', b'E0', b'R', b'u8R', b'_', b'__LINE__', b'__COUNTER__', b'__FILE__', b'defined',
          b'__VA_ARGS__', b'a' * 300, 'größe'.encode(), b'$n', b'args', b'grid', b'block', b'y', b'signed')
_CLAUSES = (b'grid(n)', b'grid(1)', b'blocks(1)', b'block(32)', b'block(auto)', b'items(4)', b'shared(16)',
            b'cooperative', b'in(x[n])', b'out(y[n])', b'inout(x[1:n])', b'scratch(s[n])', b'zero(s[1:n])',
            b'pitch(x: n)',
            b'check(n > 0)', b'check(0 <= x[:] < n)', b'check(0 <= x[:].y < n)', b'check(x[:].a.b[1] > 0)',
            b'check(distinct(x), ascending(x))',
            b'host(none)', b'host(f)', b'tune(N: 1, 2, 3)',
            b'tolerance(1e-6 * n)', b'flops(2.0 * n)', b'bytes(8 * n)', b'include("declared_types.h")', b'name(other)',
            b'grid', b'grid()', b'in()', b'in(x[])', b'in(x[:])', b'in(x[n:])', b'in(x[:n])', b'in(x[n][])',
            b'param(int n)', b'param(int64_t m, T limit)', b'param()', b'param(float *y)', b'param(int)',
            b'param(int n',
            b'uses(f)', b'split(n)', b'split(x)', b'split(n, n)', b'inplace(x, y)', b'inplace(x)', b'inplace(x, y;)',
            b'inplace()',
            b'block(auto, 1)', b'grid(n, n, n, n)', b'tune()', b'pitch(x)', b'check(x[:])', b'check(n, )', b'name()',
            b'name(1)', b'include()', b'include("")', b'include("a\\"b.h")', b'include("../x.h", "y")',
            b'include(<x.h>)', b'host()', b'(((', b')))',
            b'(' * 3000, b'check(' + b'-' * 3000 + b'n)')
_PIECES = (b'const', b'volatile', b'__restrict__', b'__restrict', b'unsigned', b'long', b'short', b'char', b'signed',
           b'float', b'double', b'*', b'**', b'&', b'&&', b'...', b'[]', b'[4]', b'[][4]', b'(*f)(int)', b'= 3',
           b'struct', b'enum', b'union', b'class', b'typename', b'template', b'<', b'>', b'>>', b'<int>', b'::',
           b'static', b'extern', b'"C"', b'__launch_bounds__(256)', b'__launch_bounds__(',
           b'__attribute__((noinline))', b'[[nodiscard]]', b'alignas(16)', b'__grid_constant__', b'__global__',
           b'__device__', b'__constant__', b'void', b'auto', b'decltype(1)', b'float4', b'dim3', b'int3', b'__half',
           b'cuFloatComplex', b'thrust::complex<float>', b'std::complex<double>', b'long double', b'__int128', b'bool',
           b'size_t', b'uint64_t', b'void *', b'box', b'struct body', b'color', b'grid_t', b'noexcept',
           b'requires true', b'requires', b'concept', b'(' * 300, b'{' * 300,
           b'-> void', b'operator()', b'int', b',', b'', b'inline', b'constexpr',
           b'typename T::type', b'_Complex', b'wchar_t', b'char16_t', b'std::size_t', b'::std::uint8_t')
_LINES = (b'#define n n', b'#define grid(x) grid(x) grid(x)', b'#define A B\n#define B A', b'#define F(x) F(x) F(x)',
          b'#define n (n)', b'#define float double', b'#define kernel', b'#define cf', b'#define EMPTY',
          b'#define OPEN (', b'#define G(x) x', b'#undef n', b'#pragma cf', b'#pragma cf kernel',
          b'#pragma cf kernel grid(n)', b'#pragma cf kernel grid(n) \\', b'#pragma cf instances',
          b'#pragma cf instances()', b'#pragma cf include("declared_types.h")', b'#pragma cf include("missing.h")',
          b'#pragma cf nonsense', b'#pragma cf kernel grid(OPEN n))', b'#pragma cf kernel grid(F(n))',
          b'_Pragma("cf kernel grid(n)")', b'#pragma  cf  kernel', b'# pragma cf kernel grid(__LINE__)',
          b'#line 7 "other.cu"', b'#line 3', b'#line 99999', b'# 5 "k.cu"', b'#if 0', b'#endif', b'#else', b'#if 1',
          b'#error stop', b'#', b'##', b'#include "declared_types.h"', b'#include "k.cu"', b'#pragma once', b'{', b'}',
          b'};', b'namespace a {', b'namespace {', b'namespace a::b {', b'inline namespace v {', b'extern "C" {',
          b'extern "C++" {', b'template <typename T>', b'template <', b'struct s {', b'class c;',
          b'enum e { E0, E1 = E0 + 3, };', b'typedef float n;', b'typedef T T;', b'typedef struct q q;',
          b'using T = float;', b'using namespace std;', b'using U = U;', b'typedef int (*fn)(int);',
          b'constexpr int n = n;', b'constexpr int K = 1 / 0;', b'const int K = 1 << 40;',
          b'static const long K = 9223372036854775807;', b'__constant__ float c[16];', b'__constant__ float c[n];',
          b'__constant__ float c[];', b'__constant__ int a, b[2], *p;', b'extern __constant__ double d;',
          b'__constant__ struct { int a; } s;', b'__constant__ T t = {1, 2};', b'__constant__', b'/*', b'*/', b'//',
          b'// \\', b'"', b"'", b'R"(', b'R"x()x"',
          b'R"(\n#pragma cf kernel grid(n)\n# 3 "k.cu"\n)"',
          b'R"aaaaaaaaaaaaaaaaaaaaaaa(', b'/* \\', b'asm("{");', b'"{"',
          b"'\\''", b'__global__ void k(int n);', b'__global__', b'__global__ void', b'void f(', b'operator',
          b'int x = a<b>(c);', b';')
_BYTES = (b'\0', b'\xff', b'\xc3', b'\xed\xa0\x80', b'\xef\xbb\xbf', '\u2028'.encode(), '\u00a0'.encode(),
          '\u202e'.encode(), '√'.encode(), '😀'.encode(), b'\r', b'\r\n', b'\f', b'\v', b'\t', b'\x1c', b'\x85',
          b'\x1b[31m', b'\\', b'\\\n', b'\\ \n', b'??/\n', b'\n', b'"', b"'", b'/*', b'*/', b'//', b'#', b'\n#', b'@',
          b'`', b'(', b')', b'[', b']', b'{', b'}', b'<', b'>', b';', b':', b'%:', b'<:')
# Pairs of texts to repeat before and after a name or number in an annotation.
_AROUND = ((b'(', b')'), (b'-', b''), (b'!', b''), (b'~', b''), (b'[', b']'), (b'min(1,', b')'), (b'n+', b''),
           (b'1<', b''), (b'(n)*', b''), (b'1&&', b''), (b'n?1:', b''), (b'x', b''), (b' ', b''), (b'\\\n', b''))
# Texts to repeat at the beginning of a line.
_REPEATED = (b'{', b'}', b'namespace a {\n', b'(', b'template <', b'/* ', b'// ', b'x ', b'int a;\n', b'<', b'"',
             b'typedef int a;\n', b'#pragma cf kernel grid(n)\n', b'#pragma cf instances(a: float)\n', b'#if 1\n',
             b'#define n n\n')


def split_kernels(text):
    """Returns the text around a file's kernels, and the kernels. A mutated file keeps only a few of them."""
    kernels = [m.group(0) for m in _KERNEL.finditer(text)]
    parts = _KERNEL.split(text)
    return parts, kernels


class Mutator:
    """Makes inputs from seeds; `make` returns a kernel file as bytes."""

    def __init__(self, random, seeds):
        self._random = random
        self._seeds = [split_kernels(seed) for seed in seeds]
        self._kernels = [k for _, kernels in self._seeds for k in kernels]
        self._words = [w for k in self._kernels for m in _PRAGMA.finditer(k) for w in _LEXEME.findall(m.group(0))
                       if not w.isspace()]
        self._lines = [line for seed in seeds for line in seed.split(b'\n') if line.strip()]

    def make(self):
        text = self._some_kernels()
        for _ in range(self._random.choice((0, 1, 1, 1, 1, 2, 2, 3, 5))):
            text = self._random.choices((self._annotation, self._declaration, self._line, self._byte, self._large),
                                        (50, 25, 14, 8, 3))[0](text)
        return text

    def _some_kernels(self):
        parts, kernels = self._random.choice(self._seeds)
        keep = {self._random.randrange(len(kernels)) for _ in range(self._random.choice((1, 1, 2)))} if kernels else ()
        out = [parts[0]]
        for number, part in enumerate(parts[1:]):
            out.append(kernels[number] if number in keep else b'')
            out.append(part)
        if self._random.random() < 0.1:
            out.append(b'\n' + self._random.choice(self._kernels) + b'\n')
        return b''.join(out)

    # ---- Parts of the text

    def _annotation(self, text):
        pools = (_CLAUSES, _NUMBERS, _NAMES, self._words, self._words)
        return self._within(text, _PRAGMA, self._annotation_word, pools)

    def _declaration(self, text):
        return self._within(text, _DECLARATION, self._word, (_PIECES, _PIECES, _NAMES, _NUMBERS))

    def _within(self, text, pattern, change, pools):
        places = list(pattern.finditer(text))
        if not places:
            return self._line(text)
        place = self._random.choice(places)
        words = change(_LEXEME.findall(place.group(0)), pools)
        return text[:place.start()] + b''.join(words) + text[place.end():]

    def _annotation_word(self, words, pools):
        if self._random.random() < 0.1:     # inserts a part of another annotation
            other = _LEXEME.findall(_PRAGMA.search(self._random.choice(self._kernels)).group(0))
            at, begin = self._random.randrange(len(words) + 1), self._random.randrange(len(other))
            return words[:at] + [b' '] + other[begin:begin + self._random.randrange(1, 12)] + words[at:]
        return self._word(words, pools, len(_LEXEME.findall(b'#pragma cf')))

    def _word(self, words, pools, first=0):
        """Changes one word; rarely one of the first `first` words."""
        random = self._random
        solid = [i for i, w in enumerate(words) if not w.isspace() and (i >= first or random.random() < 0.02)]
        if not solid:
            return words
        at, other = random.choice(solid), random.choice(solid)
        new = random.choice(random.choice(pools))
        kind = random.randrange(9)
        if kind == 0:
            return words[:at] + words[at + 1:]
        if kind == 1:
            return words[:at] + [words[at], b' ', words[at]] + words[at + 1:]
        if kind == 2:
            words[at], words[other] = words[other], words[at]
            return words
        if kind == 3:
            low, high = sorted((at, other))
            return words[:low] + words[high:]
        if kind == 4:
            numbers = [i for i in solid if words[i][:1].isdigit()] or [at]
            words[random.choice(numbers)] = random.choice(_NUMBERS)
            return words
        if kind == 5:                       # renames every occurrence in this part
            names = [words[i] for i in solid if words[i][:1].isalpha()] or [words[at]]
            old = random.choice(names)
            return [new if w == old else w for w in words]
        if kind == 6:
            return words[:at] + [b' ', new, b' '] + words[at:]
        words[at] = new
        return words

    def _line(self, text):
        random = self._random
        lines = text.split(b'\n')
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        kind = random.randrange(8)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(other, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines.insert(at, random.choice(self._lines))
        elif kind == 4:
            lines = lines[:at]
        else:
            lines.insert(at, random.choice(_LINES))
        return b'\n'.join(lines)

    def _byte(self, text):
        random = self._random
        at = random.randrange(len(text) + 1)
        pragma = list(_PRAGMA.finditer(text))
        if pragma and random.random() < 0.5:
            place = random.choice(pragma)
            at = random.randrange(place.start(), place.end() + 1)
        kind = random.randrange(8)
        if kind == 0:
            return text[:at] + text[at + random.randrange(1, 4):]
        if kind == 1:
            return text[:at]
        if kind == 2:
            return text.replace(b'\n', random.choice((b'\r\n', b'\r', b'\n\n', b'\\\n')), random.choice((1, -1)))
        if kind == 3:
            return text[:at] + bytes([random.randrange(256)]) + text[at + 1:]
        return text[:at] + random.choice(_BYTES) + text[at:]

    def _large(self, text):
        """Inserts deep nesting, a long text, or many repetitions."""
        random = self._random
        count = random.choice((20, 200, 2000))
        opening, closing = random.choice(_AROUND)
        pragma = list(_PRAGMA.finditer(text))
        if pragma and random.random() < 0.6:
            place = random.choice(pragma)
            names = list(re.finditer(rb'\bn\b|\d+', place.group(0))) or [re.search(rb'cf', place.group(0))]
            name = random.choice(names)
            at, end = place.start() + name.start(), place.start() + name.end()
            return text[:at] + opening * count + text[at:end] + closing * count + text[end:]
        at = random.choice([m.start() for m in re.finditer(rb'^', text, re.MULTILINE)])
        return text[:at] + random.choice(_REPEATED) * count + text[at:]
