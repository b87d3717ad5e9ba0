"""Replaces inline PTX in the CPU's copy of a kernel file by C++.

    asm("bfe.u32 %0, %1, %2, 8;" : "=r"(d) : "r"(x), "r"(at));

becomes a block with a reference to each output and a copy of each input:

    do { auto &cf__0 = (d); const auto cf__1 = (x); const auto cf__2 = (at); ... } while (0);

Registers that a statement declares become variables of this block. From what a statement computes, only its outputs
and the carry flag outlive the block.

The functions for the instructions are in the header cuferry/cpu/runtime/assembly.cuh."""

import re

from base.bounds import MAX_REGISTERS
from tokens.brackets import matching, split_at
from tokens.lexer import spell_tokens

WORDS = ('asm', '__asm__', '__asm')
HEADER = 'cuferry/cpu/runtime/assembly.cuh'
_VOLATILE = ('volatile', '__volatile__', '__volatile')
_STRING = re.compile(r'"((?:[^"\\]|\\[nt"\\])*)"')
_RAW_STRING = re.compile(r'R"([^()\\\s]*)\((.*)\)\1"', re.DOTALL)
_ESCAPES = {'n': '\n', 't': '\t', '"': '"', '\\': '\\'}
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.DOTALL)
# Maps the constraint of a register to its number of bits and its C++ type.
_CONSTRAINTS = {'h': (16, 'unsigned short'), 'r': (32, 'unsigned int'), 'l': (64, 'unsigned long long'),
                'f': (32, 'float'), 'd': (64, 'double'), 'n': (0, ''), 'p': (0, 'bool')}
# Maps the PTX type of a declared register to a constraint. No constraint of asm has the letter p.
_DECLARED = {**{f'{letter}{bits}': name for letter in 'bus' for bits, name in ((16, 'h'), (32, 'r'), (64, 'l'))},
             'f32': 'f', 'f64': 'd', 'pred': 'p'}
_INTEGERS = {8: 'char', 16: 'short', 32: 'int', 64: 'long long'}
_WIDE = {'u16': 'u32', 's16': 's32', 'u32': 'u64', 's32': 's64'}
_INTEGER = re.compile(r'-?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?')
_ROUNDINGS = {None: 'rn', '.rn': 'rn', '.rz': 'rz', '.rm': 'rd', '.rp': 'ru'}
_TO_WHOLE = {'n': 'rint', 'z': 'trunc', 'm': 'floor', 'p': 'ceil'}
_HALVES = {'f16': 'cf__binary16', 'bf16': 'cf__bfloat16'}
# Two maps from a PTX comparison to C++: for integers, and for floats, which may be NaN.
_COMPARE = {'eq': '{0} == {1}', 'ne': '{0} != {1}', 'lt': '{0} < {1}', 'le': '{0} <= {1}', 'gt': '{0} > {1}',
            'ge': '{0} >= {1}', 'lo': '{0} < {1}', 'ls': '{0} <= {1}', 'hi': '{0} > {1}', 'hs': '{0} >= {1}'}
_COMPARE_FLOAT = {
    **{name: _COMPARE[name] for name in ('eq', 'lt', 'le', 'gt', 'ge')}, 'ne': '{0} < {1} || {0} > {1}',
    'equ': '!({0} < {1} || {0} > {1})', 'neu': '{0} != {1}', 'ltu': '!({0} >= {1})', 'leu': '!({0} > {1})',
    'gtu': '!({0} <= {1})', 'geu': '!({0} < {1})', 'num': '{0} == {0} && {1} == {1}',
    'nan': '{0} != {0} || {1} != {1}'}

# Maps a special register to its number of bits and its value in C++.
_REGISTERS = {
    'laneid': (32, 'cf__lane()'), 'warpid': (32, 'cf__ptx_warp()'), 'nwarpid': (32, 'cf__ptx_warps()'),
    'smid': (32, '0u'), 'nsmid': (32, '1u'), 'clock': (32, '(unsigned int)clock64()'),
    'clock64': (64, '(unsigned long long)clock64()'), 'globaltimer': (64, 'cf__ptx_time()'),
    'lanemask_eq': (32, '1u << cf__lane()'), 'lanemask_lt': (32, '(1u << cf__lane()) - 1'),
    'lanemask_le': (32, '(2u << cf__lane()) - 1'), 'lanemask_gt': (32, '~((2u << cf__lane()) - 1)'),
    'lanemask_ge': (32, '~((1u << cf__lane()) - 1)'),
    **{f'{name}.{axis}': (32, f'{word}.{axis}') for axis in 'xyz' for name, word in (
        ('tid', 'threadIdx'), ('ntid', 'blockDim'), ('ctaid', 'blockIdx'), ('nctaid', 'gridDim'))}}
_REGISTER = re.compile('%(?:' + '|'.join(map(re.escape, sorted(_REGISTERS, key=len, reverse=True))) + r')\b')

_I = r'[us](?:16|32|64)'
_B = r'b(?:16|32|64)'
_SMALL = r'[us](?:8|16|32|64)'
_ORDER = r'(?:\.(volatile|relaxed\.\w+|acquire\.\w+|release\.\w+))?'
_HINTS = r'(?:\.(?:weak|global|shared(?:::cta)?|nc|ca|cg|cs|lu|cv|wb|wt|L[12]::(?!cache_hint)\w+))*'
_SUM = '(unsigned long long){0} {sign} (unsigned long long){1}'
_PRODUCT = '(unsigned long long){0} * (unsigned long long){1}'
# Each row: a pattern of instructions, the types of the result and the operands, and the value in C++. T is the type at
# the end of the instruction's name, W the type of twice its width, F the type before T. The value may use the pattern's
# groups.
_TABLE = tuple((re.compile(pattern), types.split(), value) for pattern, types, value in (
    (r'mov\.[busf](?:16|32|64)', 'T T', '{0}'),
    (rf'and\.{_B}', 'T T T', '{0} & {1}'),
    (rf'or\.{_B}', 'T T T', '{0} | {1}'),
    (rf'xor\.{_B}', 'T T T', '{0} ^ {1}'),
    (rf'not\.{_B}', 'T T', '~{0}'),
    (rf'shl\.{_B}', 'T T u32', '{1} < {bits} ? (unsigned long long){0} << {1} : 0'),
    (r'shr\.[bu](?:16|32|64)', 'T T u32', '{1} < {bits} ? {0} >> {1} : 0'),
    (r'shr\.s(?:16|32|64)', 'T T u32', '{0} >> ({1} < {bits} ? {1} : {bits} - 1)'),
    (r'popc\.b(?:32|64)', 'u32 T', '__popcll({0})'),
    (r'clz\.b(?:32|64)', 'u32 T', '__clzll((long long){0}) - (64 - {bits})'),
    (r'brev\.b(?:32|64)', 'T T', '__brevll({0}) >> (64 - {bits})'),
    (r'bfind\.[us](?:32|64)', 'u32 T', 'cf__ptx_bfind({0})'),
    (r'bfind\.shiftamt\.[us](?:32|64)', 'u32 T', 'cf__ptx_bfind_shift({0})'),
    (r'bfe\.[us](?:32|64)', 'T T u32 u32', 'cf__ptx_bfe({0}, {1}, {2})'),
    (r'bfi\.b(?:32|64)', 'T T T u32 u32', 'cf__ptx_bfi({0}, {1}, {2}, {3})'),
    (r'prmt\.b32', 'u32 u32 u32 u32', 'cf__select_bytes({0}, {1}, {2})'),
    (r'shf\.(?P<way>[lr])\.wrap\.b32', 'u32 u32 u32 u32', '__funnelshift_{way}({0}, {1}, {2})'),
    (r'shf\.(?P<way>[lr])\.clamp\.b32', 'u32 u32 u32 u32', '__funnelshift_{way}c({0}, {1}, {2})'),
    (r'dp4a\.(?P<F>[us]32)\.[us]32', 'u32 F T u32', 'cf__ptx_dp4a({0}, {1}, {2})'),
    (r'dp2a\.(?P<name>lo|hi)\.(?P<F>[us]32)\.[us]32', 'u32 F T u32', 'cf__ptx_dp2a_{name}({0}, {1}, {2})'),
    (r'fns\.b32', 'u32 u32 u32 s32', '__fns({0}, {1}, {2})'),
    (r'lop3\.b32', 'u32 u32 u32 u32 u32', 'cf__ptx_lop3({0}, {1}, {2}, {3})'),
    (rf'add\.{_I}', 'T T T', _SUM.replace('{sign}', '+')),
    (rf'sub\.{_I}', 'T T T', _SUM.replace('{sign}', '-')),
    (r'add\.sat\.s32', 'T T T', 'cf__ptx_clamp<int>((long long){0} + {1})'),
    (r'sub\.sat\.s32', 'T T T', 'cf__ptx_clamp<int>((long long){0} - {1})'),
    (r'add(?P<in>c)?(?P<out>\.cc)?\.[us](?:32|64)', 'T T T', 'cf__ptx_add({0}, {1}, {carry}, {keeps})'),
    (r'sub(?P<in>c)?(?P<out>\.cc)?\.[us](?:32|64)', 'T T T', 'cf__ptx_subtract({0}, {1}, {carry}, {keeps})'),
    (rf'mul\.lo\.{_I}', 'T T T', _PRODUCT),
    (rf'mul\.hi\.{_I}', 'T T T', 'cf__ptx_high({0}, {1})'),
    (r'mul\.wide\.[us](?:16|32)', 'W T T', '({W}){0} * {1}'),
    (rf'mad\.lo\.{_I}', 'T T T T', _PRODUCT + ' + (unsigned long long){2}'),
    (rf'mad\.hi\.{_I}', 'T T T T', '(unsigned long long)cf__ptx_high({0}, {1}) + (unsigned long long){2}'),
    (r'mad(?P<in>c)?\.lo(?P<out>\.cc)?\.[us](?:32|64)', 'T T T T',
     f'cf__ptx_add(({{T}})({_PRODUCT}), {{2}}, {{carry}}, {{keeps}})'),
    (r'mad(?P<in>c)?\.hi(?P<out>\.cc)?\.[us](?:32|64)', 'T T T T',
     'cf__ptx_add(cf__ptx_high({0}, {1}), {2}, {carry}, {keeps})'),
    (r'mad\.wide\.[us](?:16|32)', 'W T T W', '(unsigned long long)(({W}){0} * {1}) + (unsigned long long){2}'),
    (rf'div\.{_I}', 'T T T', '{1} == 0 ? ({T})-1 : cf__quotient<false, {T}>({0}, {1})'),
    (rf'rem\.{_I}', 'T T T', '{1} == 0 ? ({T})-1 : cf__remainder<false, {T}>({0}, {1})'),
    (rf'min\.{_I}', 'T T T', '{0} < {1} ? {0} : {1}'),
    (rf'max\.{_I}', 'T T T', '{0} < {1} ? {1} : {0}'),
    (r'neg\.s(?:16|32|64)', 'T T', '0 - (unsigned long long){0}'),
    (r'abs\.s(?:16|32|64)', 'T T', '{0} < 0 ? 0 - (unsigned long long){0} : (unsigned long long){0}'),
    (r'(?P<name>min|max)(?:\.ftz)?\.f32', 'T T T', 'cf__f{name}({0}, {1})'),
    (r'(?P<name>min|max)(?:\.ftz)?\.NaN\.f32', 'T T T', 'cf__ptx_keep_nan(cf__f{name}({0}, {1}), {0}, {1})'),
    (r'(?P<name>min|max)(?:\.ftz)?\.xorsign\.abs\.f32', 'T T T',
     'cf__ptx_of_signs(cf__f{name}(cf__ptx_abs({0}), cf__ptx_abs({1})), {0}, {1})'),
    (r'(?P<name>min|max)(?:\.ftz)?\.NaN\.xorsign\.abs\.f32', 'T T T',
     'cf__ptx_of_signs(cf__ptx_keep_nan(cf__f{name}(cf__ptx_abs({0}), cf__ptx_abs({1})), {0}, {1}), {0}, {1})'),
    (r'(?P<name>min|max)\.f64', 'T T T', 'cf__f{name}({0}, {1})'),
    (r'(?P<name>neg|abs)(?:\.ftz)?\.f(?:32|64)', 'T T', 'cf__ptx_{name}({0})'),
    (r'(?P<name>add|sub|mul)(?P<round>\.r[nzmp])?(?:\.ftz)?\.f32', 'T T T', '__f{name}_{round}({0}, {1})'),
    (r'(?P<name>add|sub|mul)(?P<round>\.r[nzmp])?(?:\.ftz)?\.sat\.f32', 'T T T',
     '__saturatef(__f{name}_{round}({0}, {1}))'),
    (r'fma(?P<round>\.r[nzmp])(?:\.ftz)?\.sat\.f32', 'T T T T', '__saturatef(__fmaf_{round}({0}, {1}, {2}))'),
    (r'(?P<name>add|sub|mul)(?P<round>\.rn)?\.f64', 'T T T', '__d{name}_{round}({0}, {1})'),
    (r'(?:fma|mad)(?P<round>\.r[nzmp])(?:\.ftz)?\.f32', 'T T T T', '__fmaf_{round}({0}, {1}, {2})'),
    (r'(?:fma|mad)\.rn\.f64', 'T T T T', '__fma_rn({0}, {1}, {2})'),
    (r'div(?P<round>\.r[nzmp])(?:\.ftz)?\.f32', 'T T T', '__fdiv_{round}({0}, {1})'),
    (r'div\.(?:approx|full)(?:\.ftz)?\.f32', 'T T T', '{0} / {1}'),
    (r'div\.rn\.f64', 'T T T', '{0} / {1}'),
    (r'(?P<name>rcp|sqrt)(?P<round>\.r[nzmp])(?:\.ftz)?\.f32', 'T T', '__f{name}_{round}({0})'),
    (r'(?P<name>rcp|sqrt)\.rn\.f64', 'T T', '__d{name}_rn({0})'),
    *((rf'{name}\.approx(?:\.ftz)?\.f32', 'T T', value) for name, value in (
        ('ex2', 'exp2f({0})'), ('lg2', 'log2f({0})'), ('rcp', '1 / {0}'), ('rsqrt', 'rsqrtf({0})'),
        ('sqrt', 'sqrtf({0})'), ('sin', 'sinf({0})'), ('cos', 'cosf({0})'))),
    (r'tanh\.approx\.f32', 'T T', 'tanhf({0})'),
    (r'selp\.[busf](?:16|32|64)', 'T T T pred', '{2} ? {0} : {1}'),
    (r'mov\.pred', 'pred pred', '{0}'),
    (r'not\.pred', 'pred pred', '!{0}'),
    (r'and\.pred', 'pred pred pred', '{0} && {1}'),
    (r'or\.pred', 'pred pred pred', '{0} || {1}'),
    (r'xor\.pred', 'pred pred pred', '{0} != {1}'),
    (r'cvta(?:\.to)?\.global\.u64', 'T T', '{0}'),
    (r'cvta\.to\.shared\.u64', 'T T', '__cvta_generic_to_shared((const void *)(uintptr_t){0})'),
    (r'cvta\.shared\.u64', 'T T', '(uintptr_t)__cvta_shared_to_generic({0})'),
    (rf'cvt\.(?P<F>{_SMALL})\.{_SMALL}', 'F T', '{0}'),
    (rf'cvt\.sat\.(?P<F>{_SMALL})\.{_SMALL}', 'F T', 'cf__ptx_clamp<{F}>({0})'),
    (r'cvt(?:\.ftz)?\.sat\.f32\.f32', 'T T', '__saturatef({0})'),
    (r'cvt\.r(?P<whole>[nzmp])i(?:\.ftz)?\.f32\.f32', 'T T', '__builtin_{whole}f({0})'),
    (r'cvt\.r(?P<whole>[nzmp])i\.f64\.f64', 'T T', '__builtin_{whole}({0})'),
    (r'cvt(?:\.ftz)?\.f32\.(?P<half>b?f16)', 'f32 b16', '{half}::to_float({0})'),
    (r'cvt\.rn\.(?P<half>b?f16)\.f32', 'b16 f32', '{half}::from_float({0})'),
    (r'cvt\.rn\.(?P<half>b?f16)x2\.f32', 'b32 f32 f32',
     '(unsigned int){half}::from_float({0}) << 16 | {half}::from_float({1})'),
    (r'cvt\.rn\.(?P<F>f32|f64)\.[us](?:8|16|32|64)', 'F T', '{0}'),
    (r'cvt\.r(?P<whole>[nzmp])i(?:\.ftz)?(?:\.sat)?\.(?P<F>[us](?:8|16|32|64))\.f(?:32|64)', 'F T',
     'cf__saturate<{F}>(({T})__builtin_{whole}((double){0}))'),
    (r'cvt(?:\.ftz)?\.(?P<F>f64)\.f32', 'F T', '{0}'),
    (r'cvt\.rn(?:\.ftz)?\.(?P<F>f32)\.f64', 'F T', '{0}')))
_LOAD = re.compile(rf'ld{_ORDER}{_HINTS}(?:\.v([24]))?\.([busf](?:8|16|32|64))')
_STORE = re.compile(rf'st{_ORDER}{_HINTS}(?:\.v([24]))?\.([busf](?:8|16|32|64))')
_COPY = re.compile(r'cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::(?!cache_hint)\w+)?')
_COPIES_END = re.compile(r'cp\.async\.(?:commit_group|wait_group|wait_all)')
_ATOMIC = re.compile(r'(atom|red)((?:\.(?:relaxed|acquire|release|acq_rel|cta|cluster|gpu|sys|global|'
                     r'shared(?:::cta)?))*)'
                     r'\.(add|min|max|and|or|xor|exch|cas|inc|dec)\.([busf](?:32|64))')
_COMPARISON = re.compile(r'setp\.(\w+)(?:\.(and|or|xor))?(?:\.ftz)?\.([busf](?:16|32|64))')
_BARRIER = re.compile(r'(?:bar|barrier(?:\.cta)?)\.sync(?:\.aligned)?')
_WARP_BARRIER = re.compile(r'bar\.warp\.sync')
_PREFETCH = re.compile(r'prefetch(?:u\.L1|(?:\.global)?\.L[12](?:::\w+)?)')
_FENCE = re.compile(r'membar\.(?:gl|cta|sys)|fence(?:\.(?:sc|acq_rel))?\.(?:cta|cluster|gpu|sys)')
# Launches on the CPU run one after the other, so that a launch never waits for another one.
_LAUNCHES = re.compile(r'griddepcontrol\.(?:wait|launch_dependents)')

_ATOMICS = {'cas': 'CAS'}
_UNTYPED = ('pred', 'f16', 'bf16')
_ADVICE_OF_NAMES = 'number the operands: %0 is the first'
_ADVICE_OF_MATCHING = 'number the operands, and write one that is read and written once, with +'
_ADVICE_OF_CONSTRAINTS = 'use h, r, l, f, d or n as its constraint, and number the operands'


class _Unknown(Exception):
    """An instruction without a CPU form, or with operands that do not fit. The exception's arguments: the instruction's
    text, and advice."""


class _Statement:
    """The asm statement whose first token has the index `at`."""

    def __init__(self, tokens, at):
        self._first = at
        self._open = at + 2 if tokens[at + 1].text in _VOLATILE else at + 1
        self.end = matching(tokens, self._open, '(', ')')
        self._tokens = tokens[at:self.end]
        self._parts = [[]]       # tokens of the template, the outputs, the inputs and the clobbers
        depth = 0
        for token in tokens[self._open + 1:self.end - 1]:
            depth += (token.text in '([{') - (token.text in ')]}') if token.kind == 'punctuation' else 0
            if depth == 0 and token.text in (':', '::'):
                self._parts += [[] for _ in token.text]
            else:
                self._parts[-1].append(token)
        self._parts += [[]] * (3 - len(self._parts))
        template = ''.join(map(_read_string, self._parts[0]))
        self._is_blank = not template.strip()
        self.text = _COMMENT.sub(' ', template)
        self._words = set(re.findall(r'[%$\w]+', self.text))
        self.instructions = list(_split_instructions(self.text))
        self._operands = []     # (name in C++, constraint, True for an output) of each operand
        self._scopes = []       # for each open block, its registers in the form of _operands
        self._registers = 0     # number of registers; part of their C++ names, since _x and %x are different registers

    def is_barrier(self):
        """True for a statement without instructions and operands, such as asm volatile("" ::: "memory"), which is
        kept."""
        return self._is_blank and not (self._parts[1] or self._parts[2])

    def edits(self):
        """Returns the edits of the statement as (token, replacement)."""
        kept, edits, number = set(), {}, 0
        for part, is_output in ((self._parts[1], True), (self._parts[2], False)):
            for operand in split_at(part, ',') if part else ():
                if operand and operand[0].text == '[':
                    raise _Unknown(f'operand {spell_tokens(operand[:3])}', _ADVICE_OF_NAMES)
                constraint = _read_string(operand[0]).lstrip('=+&' if is_output else '')
                if self.instructions and (constraint not in _CONSTRAINTS or constraint == 'p'):
                    raise _Unknown(f'operand {number}, {operand[0].text}', _ADVICE_OF_MATCHING if constraint.isdigit()
                                   else _ADVICE_OF_CONSTRAINTS)
                if [t.text for t in operand[1:2]] != ['(']:
                    raise _Unknown
                self._operands.append((f'cf__{number}', constraint, is_output))
                kept.update(map(id, operand[1:]))
                how = 'auto &' if is_output else 'const auto '
                edits[id(operand[0])] = f'[[maybe_unused]] {how}cf__{number} ='
                edits[id(operand[-1])] = operand[-1].text + ';'
                number += 1
        self._scopes = [{}]
        body = ' '.join(map(self._translate, self.instructions))
        if len(self._scopes) != 1:
            raise _Unknown
        edits[id(self._tokens[0])] = 'do {'
        edits[id(self._tokens[-1])] = f' {body} }} while (0)'
        return [(t, edits.get(id(t), '')) for t in self._tokens if id(t) in edits or id(t) not in kept]

    def _translate(self, instruction):
        if instruction in ('{', '}'):
            return self._translate_brace(instruction)
        guard = re.fullmatch(r'@(!?)\s*(\S+) (.+)', instruction)
        name, _, rest = (guard.group(3) if guard else instruction).partition(' ')
        arguments = [a.strip() for a in re.split(r',(?![^{]*\})', rest)] if rest else []
        try:
            if name == '.reg':
                return self._declare(rest)
            text = self._translate_step(name, arguments)
            if text is None:
                text = self._translate_memory(name, arguments)
            if text is None:
                text = self._translate_value(name, arguments)
            return f'if ({guard.group(1)}{self._read(guard.group(2), "pred", False)}) {{ {text} }}' if guard else text
        except _Unknown as unknown:
            raise _Unknown(*(unknown.args or (name,))) from None
        except (ValueError, LookupError):       # operands that do not fit the instruction
            raise _Unknown(name) from None

    def _translate_brace(self, brace):
        if brace == '{':
            self._scopes.append({})
        elif len(self._scopes) > 1:
            self._scopes.pop()
        else:
            raise _Unknown
        return brace

    def _declare(self, text):
        """Returns the declarations of the registers in `.u32 a, b`, or in `.u32 r<3>`, which declares r0 to r2. A
        register with a number is declared only if the statement uses it."""
        match = re.fullmatch(r'\.(\w+) ([\w%$<>, ]+)', text)
        if not match or match.group(1) not in _DECLARED:
            raise _Unknown
        constraint, names = _DECLARED[match.group(1)], []
        for name in match.group(2).split(','):
            base, _, count = name.strip().rstrip('>').partition('<')
            if count and int(count) > MAX_REGISTERS:
                raise _Unknown(f'.reg {name.strip()}', f'declare at most {MAX_REGISTERS} registers at once')
            names += [n for n in (f'{base}{i}' for i in range(int(count))) if n in self._words] if count else [base]
        for name in names:
            if not re.fullmatch(r'[%$A-Za-z_][\w$]*', name):
                raise _Unknown
            self._scopes[-1][name] = (f'cf__r{self._registers}', constraint, True)
            self._registers += 1
        return ' '.join(f'[[maybe_unused]] {_CONSTRAINTS[constraint][1]} {self._scopes[-1][name][0]} = 0;'
                        for name in names)

    def _translate_step(self, name, arguments):
        """Returns the C++ text of an instruction that waits or sets a predicate; None for other instructions."""
        if _BARRIER.fullmatch(name) and arguments == ['0']:
            return '__syncthreads();'
        if _WARP_BARRIER.fullmatch(name) and len(arguments) == 1:
            return f'__syncwarp({self._read(arguments[0], "u32", False)});'
        if _COPIES_END.fullmatch(name):
            return ';'
        match = _COMPARISON.fullmatch(name)
        if not match:
            return None
        compare, how, kind = match.groups()
        form = (_COMPARE_FLOAT if kind[0] == 'f' else _COMPARE).get(compare)
        targets = arguments[0].split('|')
        if form is None or len(arguments) != (4 if how else 3) or len(targets) > 2:
            raise _Unknown
        result = '(' + form.format(*(self._read(a, kind, False) for a in arguments[1:3])) + ')'
        text = f'{{ const bool cf__p = {result}; '
        if how:     # the first target may be the predicate from which the second target is computed
            text += f'const bool cf__q = {self._read(arguments[3], "pred", False)}; '
        for target, value in zip(targets, ('cf__p', '!cf__p')):
            if how:
                value += {'and': ' && ', 'or': ' || ', 'xor': ' != '}[how] + 'cf__q'
            text += self._write(target.strip(), 'pred', value, False)
        return text + ' }'

    def _translate_memory(self, name, arguments):
        if _FENCE.fullmatch(name) and not arguments:
            return '__threadfence();'
        if (_PREFETCH.fullmatch(name) and len(arguments) == 1) or (_LAUNCHES.fullmatch(name) and not arguments):
            return ';'
        if _COPY.fullmatch(name) and len(arguments) in (3, 4):
            size, *rest = (self._read(a, 'u32', False) for a in arguments[2:])
            return (f'cf__ptx_copy({self._address(arguments[0], True)}, {self._address(arguments[1], False)}, {size}, '
                    f'{rest[0] if rest else size});')
        match = _ATOMIC.fullmatch(name)
        if match:
            return self._translate_atomic(match, arguments)
        for pattern, is_load in ((_LOAD, True), (_STORE, False)):
            match = pattern.fullmatch(name)
            if match:
                order, count, kind = match.groups()
                target, source = arguments
                address, values = (source, target) if is_load else (target, source)
                values = _list_vector(values, int(count or 1))
                if order and count:
                    break
                ctype, size = _ctype(kind), int(kind[1:]) // 8
                how = '_ordered' if order else ''
                place = self._address(address, '.shared' in name)
                places = [f'{place} + {i * size}' for i in range(len(values))]
                if not is_load:
                    return ''.join(f'cf__ptx_store{how}<{ctype}>({place}, {self._read(value, kind, True)});'
                                   for place, value in zip(places, values))
                # A load may overwrite the register with its own address.
                names = [f'cf__v{i}' for i in range(len(values))]
                return '{ ' + ''.join(f'const {ctype} {v} = cf__ptx_load{how}<{ctype}>({place});'
                                      for v, place in zip(names, places)) + ''.join(
                    self._write(value, kind, v, True) for value, v in zip(values, names)) + ' }'
        return None

    def _translate_atomic(self, match, arguments):
        how, modifiers, operation, kind = match.groups()
        ctype = _ctype(kind)
        target = [arguments.pop(0)] if how == 'atom' else []
        if len(arguments) != (3 if operation == 'cas' else 2):
            raise _Unknown
        place = self._address(arguments[0], '.shared' in modifiers)
        values = ''.join(', ' + self._read(a, kind, False) for a in arguments[1:])
        text = (f'const {ctype} cf__v = atomic{_ATOMICS.get(operation, operation.capitalize())}'
                f'(({ctype} *)(uintptr_t)({place}){values}); ')
        if re.search('acq|release', modifiers):
            text = f'__threadfence(); {text}__threadfence(); '
        return '{ ' + text + (self._write(target[0], kind, 'cf__v', False) if target else '(void)cf__v;') + ' }'

    def _translate_value(self, name, arguments):
        register = re.fullmatch(r'mov\.[busf](32|64)', name)
        found = _REGISTERS.get(arguments[-1][1:]) if register and arguments[-1][:1] == '%' else None
        if found:
            if found[0] != int(register.group(1)) or len(arguments) != 2:
                raise _Unknown
            return self._write(arguments[0], f'u{found[0]}', found[1], False)
        pack = re.fullmatch(r'mov\.b(32|64)', name)
        if pack and len(arguments) == 2 and '{' in (arguments[0][:1], arguments[1][:1]):
            bits = int(pack.group(1))
            parts = arguments[0 if arguments[0][:1] == '{' else 1].count(',') + 1
            kind = f'b{bits // parts}'
            if arguments[0][:1] == '{':
                value = self._read(arguments[1], f'b{bits}', False)
                return f'{{ const {_ctype(f"b{bits}")} cf__v = {value}; ' + ''.join(
                    self._write(a, kind, f'cf__v >> {i * bits // parts}', False)
                    for i, a in enumerate(_list_vector(arguments[0], parts))) + ' }'
            values = (self._read(a, kind, False) for a in _list_vector(arguments[1], parts))
            return self._write(arguments[0], f'b{bits}', ' | '.join(
                f'(unsigned long long){value} << {i * bits // parts}' for i, value in enumerate(values)), False)
        for pattern, (result, *kinds), value in _TABLE:
            match = pattern.fullmatch(name)
            if match:
                return self._fill(match, result, kinds, value, arguments)
        raise _Unknown

    def _fill(self, match, result, kinds, value, arguments):
        """Returns the C++ statement for an instruction that a row of _TABLE describes."""
        groups, kind = match.groupdict(), match.group().split('.')[-1]
        letters = {'T': kind, 'W': _WIDE.get(kind), 'F': groups.get('F')}
        target, *sources = arguments
        if len(sources) != len(kinds):
            raise _Unknown
        is_loose = match.group().startswith('cvt')
        operands = [self._read(a, letters.get(k, k), is_loose) for a, k in zip(sources, kinds)]
        words = {name: _ctype(letter) for name, letter in letters.items() if letter and letter not in _UNTYPED}
        groups.update(words, bits=re.sub(r'\D', '', kind), round=_ROUNDINGS.get(groups.get('round')),
                      whole=_TO_WHOLE.get(groups.get('whole')), half=_HALVES.get(groups.get('half')),
                      carry='cf__ptx_carry' if groups.get('in') else '0',
                      keeps='true' if groups.get('out') else 'false')
        return self._write(target, letters.get(result, result), value.format(*operands, **groups), is_loose)

    def _operand(self, text):
        match = re.fullmatch(r'%(\d+)', text)
        if match and int(match.group(1)) < len(self._operands):
            return self._operands[int(match.group(1))]
        for scope in reversed(self._scopes):
            if text in scope:
                return scope[text]
        raise _Unknown

    def _read(self, text, kind, is_loose):
        """Returns the text of an operand's value, converted to the type `kind`. `is_loose`: the register may be
        wider."""
        if kind == 'pred':
            name, constraint, _ = self._operand(text.lstrip('!'))
            if constraint != 'p':
                raise _Unknown
            return ('!' if text[0] == '!' else '') + name
        ctype, bits = _ctype(kind), int(kind[1:])
        if text == 'WARP_SZ' and kind[0] != 'f':
            return f'({ctype})32'
        if _INTEGER.fullmatch(text) and kind[0] != 'f':
            return f'({ctype}){text.rstrip("U")}ull' if text[0] != '-' else f'({ctype}){text.rstrip("U")}ll'
        match = re.fullmatch(r'0([fFdD])([0-9a-fA-F]+)', text)
        if match and kind[0] == 'f' and len(match.group(2)) * 4 == bits:
            return f'cf__cast<{ctype}>(0x{match.group(2)}{"u" if bits == 32 else "ull"})'
        if kind[0] == 'f' and re.fullmatch(r'-?\d+\.\d*(?:[eE][-+]?\d+)?', text):
            return f'({ctype}){text}'
        name, constraint, _ = self._operand(text)
        own, register = _CONSTRAINTS[constraint]
        if constraint == 'n':
            return f'({ctype}){name}'
        if own == bits:
            return f'cf__cast<{ctype}>({name})'
        if not is_loose or own < bits or kind[0] == 'f' or constraint in 'fd':
            raise _Unknown
        return f'({ctype})cf__cast<{register}>({name})'

    def _write(self, text, kind, value, is_loose):
        """Returns the text of a statement that assigns a value of the type `kind` to an output. `is_loose`: the
        register may be wider."""
        name, constraint, is_output = self._operand(text)
        if (kind == 'pred') != (constraint == 'p'):
            raise _Unknown
        if kind == 'pred':
            return f'{name} = {value};'
        own, register = _CONSTRAINTS[constraint]
        bits = int(kind[1:])
        is_wider = is_loose and own > bits and kind[0] != 'f' and constraint not in 'fd'
        if not is_output or own != bits and not is_wider:
            raise _Unknown
        value = f'({_ctype(kind)})({value})'
        return f'cf__ptx_set({name}, {f"({register}){value}" if is_wider else value});'

    def _address(self, text, is_shared):
        """Returns the C++ text of an address as a number. `is_shared`: the address of 32 or 64 bits is in shared
        memory."""
        match = re.fullmatch(r'\[\s*([%$\w]+)\s*(?:\+\s*(-?[%\w]+)\s*)?\]', text)
        if not match:
            raise _Unknown
        bits = _CONSTRAINTS[self._operand(match.group(1))[1]][0] if is_shared else 64
        place = self._read(match.group(1), f'u{bits}', False)
        if match.group(2):
            place += f' + {self._read(match.group(2), "s64", False)}'
        return f'(unsigned long long)(uintptr_t)__cvta_shared_to_generic({place})' if is_shared else place


def _ctype(kind):
    if kind[0] == 'f':
        return {'32': 'float', '64': 'double'}[kind[1:]]
    sign = 'signed' if kind == 's8' else '' if kind[0] == 's' else 'unsigned'
    return f'{sign} {_INTEGERS[int(kind[1:])]}'.lstrip()


def _list_vector(text, count):
    """Returns the operands between braces as a list; an operand without braces makes a list of one."""
    inside = [part.strip() for part in text.strip('{}').split(',')]
    if len(inside) != count or (count > 1) != text.startswith('{'):
        raise _Unknown
    return inside


def _split_instructions(text):
    """Yields the instructions in the text of an asm statement, and the braces of its blocks. Braces around operands
    belong to their instruction."""
    for part in text.split(';'):
        part = ' '.join(part.split())
        while part[:1] in ('{', '}'):
            yield part[0]
            part = part[1:].lstrip()
        if part:
            yield part


def _read_string(token):
    raw = _RAW_STRING.fullmatch(token.text) if token.kind == 'string' else None
    if raw:
        return raw.group(2).replace('%%', '%')
    match = _STRING.fullmatch(token.text) if token.kind == 'string' else None
    if not match:
        raise _Unknown
    return re.sub(r'\\(.)', lambda m: _ESCAPES[m.group(1)], match.group(1)).replace('%%', '%')


def find_unknown(tokens, at):
    """Returns (text, advice or None) of the first instruction without a CPU form in the asm statement at `at`; None if
    the CPU runs all of its instructions."""
    try:
        statement = _Statement(tokens, at)
        if not statement.is_barrier():
            statement.edits()
    except _Unknown as unknown:
        return (*unknown.args, None)[:2] if unknown.args else (tokens[at].text, None)
    return None


def _find_statements(tokens):
    """Yields a _Statement for each asm statement among the tokens whose form is known."""
    for at, token in enumerate(tokens[:-1]):
        if token.text in WORDS and token.kind == 'identifier' and find_unknown(tokens, at) is None:
            yield _Statement(tokens, at)


def find_assembly_edits(tokens):
    """Yields the edits of all asm statements in a function as (token, replacement)."""
    for statement in _find_statements(tokens):
        if not statement.is_barrier():
            yield from statement.edits()


def waits(tokens):
    """True if inline assembly in the tokens waits for other threads."""
    return any(_BARRIER.search(statement.text) or _WARP_BARRIER.search(statement.text)
               for statement in _find_statements(tokens))


def needs_block(tokens):
    """True if inline assembly in the tokens waits for other threads, or needs an address in shared memory."""
    return waits(tokens) or any('cvta.to.shared' in statement.text for statement in _find_statements(tokens))


def reads_registers(tokens):
    """True if inline assembly in the tokens reads special registers. Some of these registers hold thread indices."""
    return any(_REGISTER.search(statement.text) for statement in _find_statements(tokens))
