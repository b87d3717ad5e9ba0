"""run_module.py - runs cf-run on a user's library of kernels: run.cu, compiled by the build folder's cfcc."""

import json
import math
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import time

from npy import npy, npy_of, pack, read_bytes, read_npy
from runner import Runner, made_floats, made_integers
from tap import ROOT, run, unignore_signals

HERE = os.path.dirname(os.path.abspath(__file__))
POISON = b'\xa5'
SIXTEENTHS_AS_E4M3 = [0, 0x18, 0x20, 0x24, 0x28, 0x2a, 0x2c, 0x2e, *range(0x30, 0x38)]
BODY = [('mass', '<f8'), ('id', '<i8'), ('kind', '|i1'), ('', '|V7')]

# A module with one kernel. The placeholders are the kernel's version, the module's version, and the value that
# cf_module_info() returns.
MODULE = """#include <cuferry/registry.h>
static const cf_kernel kernel = {.version = %s, .name = "k", .family = "k", .function = "p_k"};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = %s, .prefix = "p", .count = 1, .kernels = kernels};
const cf_module *cf_module_info(void);
const cf_module *cf_module_info(void) { return %s; }
"""


def body(mass, number=7, kind=1):
    """Returns a struct body of run_types.h as bytes."""
    return struct.pack('<dqb7x', mass, number, kind)


def fields(out):
    return dict(re.findall(r'^ *(\S+) +(\S.*)$', out, re.MULTILINE))


class ModuleTest(Runner):
    module = 'run.so'

    def run(self):
        if self.prepare():
            for group in (self.loading, self.copies, self.values, self.small, self.made, self.sections, self.structs,
                          self.verify, self.variants, self.constants, self.described, self.refused, self.bad_modules,
                          self.signals):
                group()

    def prepare(self):
        """Compiles the kernels; if the driver is a GPU's, also for GPUs."""
        cfcc = os.path.join(self.build, 'cfcc')
        cuda = ['--cuda', 'no'] if self.driver == 'host' else []
        code, _, err = run([cfcc, *cuda, '-O0', '-o', 'run.o', os.path.join(HERE, 'run.cu')], cwd=self.folder)
        if code == 0:
            code, _, err = run([cfcc, '--shared', '-o', 'run.so', 'run.o'], cwd=self.folder)
        self.tap.check('kernels_of_ones_own_are_compiled', err or f'exit {code}' if code else '')
        self.write('body.npy', npy_of(BODY, body(2.5), ()))
        with open(os.path.join(self.build, 'cfcc.json'), encoding='utf-8') as file:
            self.cc = shlex.split(json.load(file)['cc'])
        return code == 0

    def own(self, *arguments, **options):
        return self.good('--module', self.module, *arguments, **options)

    def bad_own(self, name, arguments, culprits, needs_device=False):
        self.bad(f'{name}_is_refused', ['--module', self.module, *arguments], culprits, needs_device)

    def table(self, rows, check):
        """Adds a test for each row. A row is a name, followed by the arguments of `check`."""
        for name, *rest in rows:
            self.test(name, lambda rest=rest: check(*rest))

    # ---- The library

    def loading(self):
        def same():
            lists = [self.good('--module', name, '--list', driver=False)
                     for name in ('run.o', 'run.so', './run.so', self.path('run.o'))]
            first = lists[0]
            assert 'tuned       int run_tuned(int *res);\n' in first and 'gather' not in first, first
            return '' if lists == [first] * 4 else lists

        def bundled():
            self.own('shift', 'x=fill:i32:5:1', 'first=1', 'y=y.npy')
            return '' if 'gather_f32_i32' in self.good('--list', driver=False) else 'the bundled ones are gone'

        def no_folder():
            os.mkdir(self.path('tmp'))
            for arguments, code in ((['--module', 'run.o', '--list'], 0), (['--module', 'run.o', 'nothing'], 1)):
                found = run([self.program, *arguments], cwd=self.folder, env=dict(os.environ, TMPDIR=self.path('tmp')))
                assert found[0] == code, found
            return os.listdir(self.path('tmp'))

        def source():
            """cf-run builds a kernel file first. The file has one kernel only, since nvcc takes long for run.cu."""
            text = (b'#pragma cf kernel grid(n) in(x[n]) out(y[n])\n__global__ void twice(const float *x, float *y, '
                    b'int n)\n'
                    b'{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        '
                    b'y[i] = 2 * x[i];\n}\n')
            self.write('twice.cu', text)
            self.write('wrong.cu', text.replace(b'2 *', b'wrong *'))
            self.write('beyond.cu', text.replace(b'i < n', b'i <= n'))
            words = ['twice', 'x=fill:f32:5:1.5', 'y=y.npy', '--driver', 'host']
            self.good('--module', 'twice.cu', *words, driver=False)
            assert list(read_npy(self.path('y.npy'))[2]) == [3.0] * 5
            words = ['--check', 'address', 'twice', 'x=fill:f32:5:1.5', 'y=fill:f32:5:0', 'n=5', '--module']
            self.write('twice.cuh', text)
            for name, wanted, text in (('twice.cu', 0, ''), ('twice.cuh', 0, ''), ('beyond.cu', 1, 'beyond.cu:6')):
                code, out, err = run([self.program, *words, name], cwd=self.folder)
                assert code == wanted and text in out + err, f'{name}: exit {code}: {out}{err}'
            code, _, err = run([self.program, '--module', 'wrong.cu', '--list'], cwd=self.folder)
            assert code == 1 and 'wrong.cu:' in err and 'no shared object can be made of it' in err, err
            return ''

        if self.driver == 'host':   # the file runs on this driver
            self.test('kernel_file_is_built_and_runs', source, False)
        self.test('object_and_shared_object_have_the_same_kernels', same, False)
        self.test('module_and_bundled_kernels_are_apart', bundled)
        self.test('object_leaves_no_temporary_folder', no_folder, False)

    # ---- Types

    def copies(self):
        quarters = [0.25 * i for i in range(-3, 9)]
        structure = [('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('w', '<f4')]
        bodies = b''.join(body(i, -i) for i in range(3))

        def check(kernel, instance, types, data, shape):
            self.write('a.npy', npy_of(types, data, shape))
            out = self.own(kernel, 'a=a.npy', 'b=b.npy', '--verify')
            assert fields(out)['kernel'] == instance, out
            result, expected = read_bytes(self.path('b.npy')), (types, shape, data)
            return '' if result == expected else f'{result} in place of {expected}'

        self.table((
            ('array_of_bool_is_copied', 'copy', 'copy_bool', '|b1', pack('bool', [1, 0, 1]), (3,)),
            ('array_of_f16_is_copied', 'copy', 'copy_f16', '<f2', pack('f16', quarters), (12,)),
            ('array_of_c64_is_copied', 'copy', 'copy_c64', '<c8', pack('c64', [1 + 2j, -3.5j]), (2,)),
            ('array_of_c128_is_copied', 'copy', 'copy_c128', '<c16', pack('c128', [1 + 2j, -3.5j, math.inf]), (3,)),
            ('array_of_u16_is_no_bf16', 'copy', 'copy_u16', '<u2', pack('u16', [1, 2]), (2,)),
            ('array_of_bf16_as_u16_is_copied', 'copy_bf16', 'copy_bf16', '<u2', pack('u16', [0x3f80, 0xffff]), (2,)),
            ('array_of_bf16_as_bytes_is_copied', 'copy', 'copy_bf16', '|V2', pack('u16', [0x3f80, 1]), (2,)),
            ('array_of_bf16_as_ml_dtypes_writes_it_is_copied', 'copy', 'copy_bf16', '<V2', pack('u16', [1]), (1,)),
            ('array_of_e4m3_as_u8_is_copied', 'copy_e4m3', 'copy_e4m3', '|u1', bytes(range(256)), (256,)),
            ('array_of_e4m3_as_ml_dtypes_writes_it_is_copied', 'copy_e4m3', 'copy_e4m3', '<V1', bytes(range(256)),
             (256,)),
            ('array_of_float4_is_copied', 'copy', 'copy_f4', '<f4', pack('f32', quarters), (3, 4)),
            ('array_of_half2_is_copied', 'copy', 'copy_h2', '<f2', pack('f16', quarters), (6, 2)),
            ('array_of_double3_is_copied', 'copy', 'copy_d3', '<f8', pack('f64', quarters), (4, 3)),
            ('array_of_structures_like_float4_is_copied', 'copy', 'copy_f4', structure, pack('f32', quarters), (3,)),
            ('array_of_structs_is_copied', 'copy', 'copy_body', BODY, bodies, (3,)),
            ('array_of_plain_bytes_is_copied', 'copy', 'copy_body', '|V24', bodies, (3,)),
            ('array_of_nested_structures_is_copied', 'copy', 'copy_body',
             [('a', [('b', '<u2', (2, 3)), (('title', 'c'), '|S4')]), ('d', '<M8[us]')], bodies, (3,)),
            ('array_of_no_structs_is_copied', 'copy', 'copy_body', BODY, b'', (0,)),
        ), check)

        def named():
            self.write('a.npy', npy_of('<f1', bytes(range(256)), (256,)))
            found = fields(self.own('copy', 'a=a.npy', 'b=b.npy'))['kernel'], *read_bytes(self.path('b.npy'))
            return '' if found == ('copy_e5m2', '|u1', (256,), bytes(range(256))) else str(found)

        self.test('array_of_e5m2_as_ml_dtypes_writes_it_is_read', named)

        def flat():
            self.write('a.npy', npy('f32', quarters, shape=(1, 3, 4)))
            self.own('copy', 'a=a.npy', 'b=b.npy')
            return '' if read_npy(self.path('b.npy')) == ('f32', (3, 4), quarters) else read_npy(self.path('b.npy'))

        def past_ascii():
            self.write('names.npy', npy_of([('é', '<f8'), ('b', '|V16')], body(1), (1,)))
            self.own('copy', 'a=names.npy', 'b=b.npy')
            return '' if read_bytes(self.path('b.npy')) == ('|V24', (1,), body(1)) else read_bytes(self.path('b.npy'))

        def undeclared():
            self.write('x.npy', npy('i32', [10, 20, 30]))
            self.write('raw.npy', npy('i8', [-1, -2, 3]))
            self.own('raw', 'x=x.npy,y.npy', 'raw=raw.npy', 'n=3')
            return '' if read_npy(self.path('y.npy')) == ('i32', (3,), [9, 18, 33]) else 'wrong'

        self.test('structure_with_names_past_ascii_is_saved_as_bytes', past_ascii)
        self.test('array_of_more_dimensions_of_float4_is_copied', flat)
        self.test('pointers_of_undeclared_extent_take_any_array', undeclared)

    def values(self):
        given = {'flag': 'true', 'h': '1.5', 'b': '-2', 'z': '1+2j', 'v': '1,2,3', 'colour': '-5', 'body': 'body.npy'}

        def arguments(**changes):
            return ['values', *(f'{name}={value}' for name, value in {**given, **changes}.items())]

        def check(expected, **changes):
            out = self.own(*arguments(**changes), 'res=res.npy')
            result = read_npy(self.path('res.npy'))[2]
            found = dict(zip(('flag', 'h', 'b', 're', 'im', 'x', 'y', 'z', 'colour', 'mass', 'id', 'kind'), result))
            different = {name: found[name] for name, value in expected.items() if found[name] != value}
            return f'{different}: {out}' if different else ''

        everything = {'flag': 1, 'h': 1.5, 'b': -2, 're': 1, 'im': 2, 'x': 1, 'y': 2, 'z': 3, 'colour': -5, 'mass': 2.5,
                      'id': 7, 'kind': 1}
        self.test('values_of_all_types_arrive', lambda: check(everything))
        for name, text, expected in (
                ('flag', '0', {'flag': 0}), ('flag', 'false', {'flag': 0}), ('flag', '1', {'flag': 1}),
                ('h', '65504', {'h': 65504}), ('h', '65519.9', {'h': 65504}), ('h', '-inf', {'h': -math.inf}),
                ('h', '6e-8', {'h': 2**-24}), ('h', '2.98e-8', {'h': 0}), ('h', '0.1', {'h': 0.0999755859375}),
                ('h', '2049', {'h': 2048}), ('h', '2051', {'h': 2052}), ('h', '0.00006103515', {'h': 2**-14}),
                ('b', '3e38', {'b': struct.unpack('<f', b'\0\0\x62\x7f')[0]}), ('b', '257', {'b': 256}),
                ('b', '259', {'b': 260}), ('z', '2j', {'re': 0, 'im': 2}), ('z', '-1.5e1', {'re': -15, 'im': 0}),
                ('z', '1e3-2e-1j', {'re': 1000, 'im': -0.2}), ('z', 'inf-infj', {'re': math.inf, 'im': -math.inf}),
                ('v', '0x10,-1e3,.5', {'x': 16, 'y': -1000, 'z': 0.5}), ('colour', '0', {'colour': 0})):
            self.test(f'value_{name}_of_{text}_arrives', lambda n=name, t=text, e=expected: check(e, **{n: t}))

        def reported():
            found = fields(self.own(*arguments()))
            wanted = {'flag': '1', 'h': '1.5', 'z': '1+2j', 'v': '1,2,3'}
            return '' if wanted.items() <= found.items() and found['body'].endswith(' from body.npy') else found

        self.test('values_are_reported_as_they_are_given', reported)
        self.write('two.npy', npy_of('|V24', body(1) * 2, (2,)))
        self.write('short.npy', npy_of('|V8', b'12345678', ()))
        for name, text, culprits in (
                ('flag', '2', ['flag: 2', 'bool']), ('flag', 'yes', ["'yes'", 'true']), ('flag', 'TRUE', ["'TRUE'"]),
                ('h', '65520', ["'65520'", 'f16']), ('b', '3.4e38', ["'3.4e38'", 'bf16']), ('h', 'half', ["'half'"]),
                ('z', '1+2', ["'1+2'", '1+2j']), ('z', '1+2i', ["'1+2i'"]), ('z', '1+2jj', ["'1+2jj'"]),
                ('z', 'j', ["'j'"]), ('z', '', ["''"]), ('z', '1 + 2j', ["'1 + 2j'"]),
                ('v', '1,2', ["'1,2' has 2 numbers", '3']), ('v', '1,2,3,4', ['4 numbers']), ('v', '1,,3', ["''"]),
                ('v', '', ["'' has 1 number"]), ('colour', 'GREEN', ["'GREEN'"]), ('colour', '1.5', ["'1.5'"]),
                ('body', '3', ['body is a struct body of 24 bytes; give body=FILE.npy with one element of |V24 or of a '
                               'structured type of that size: 3: No such file']),
                ('body', 'two.npy', ['of 24 bytes; give body=FILE.npy', 'two.npy has 2 V24']),
                ('body', 'short.npy', ['of 24 bytes; give body=FILE.npy', 'short.npy has 1 V8']),
                ('body', 'run.o', ['no .npy file'])):
            self.bad_own(f'value_{name}_of_{text}', arguments(**{name: text}), ['values: ', *culprits])

    def small(self):
        """Values and arrays of 8-bit floats; a value that e4m3 does not hold, as infinity, is refused."""
        def check(by, x, y, tolerance):
            found = fields(self.own('scaled', f'by={by}', f'x=fill:e5m2:1:{x}', 'y=y.npy', '--verify'))
            is_right = found['y'] == f'e4m3 1 to y.npy = {y}' and f'tolerance {tolerance};' in found['verify:'] + ';'
            return '' if is_right else found

        self.table((('value_of_e4m3_is_rounded_to_even', '464', '1', '448', '112'),
                    ('value_of_e5m2_is_rounded_to_even', '1', '1.125', '1', '0.25'),
                    ('value_of_e4m3_may_be_denormal', '0.002', '1.5', '0.004', '0.000488'),
                    ('value_of_e4m3_saturates_in_cuda', '208', '-96', '-448', '52')), check)
        for text in ('465', '1e9', 'inf', '-inf', '0x1p9'):
            self.bad_own(f'e4m3_of_{text}', ['scaled', f'by={text}', 'x=fill:e5m2:1:1', 'y=-'],
                         ['scaled: ', f"by: '{text}' is not a number that e4m3 holds"])
        self.bad_own('e4m3_of_0', ['scaled', 'by=1e-9', 'x=fill:e5m2:1:1', 'y=-'], ['by != 0'])
        self.bad_own('e5m2_of_61440', ['scaled', 'by=1', 'x=fill:e5m2:1:61440', 'y=-'], ["'61440'", 'e5m2'])

    def made(self):
        def parts(short, count, seed):
            flat = made_floats('f32' if short == 'c64' else 'f64', 2 * count, seed)
            return [complex(*pair) for pair in zip(flat[::2], flat[1::2])]

        def check(kernel, spec, expected):
            self.own(kernel, f'a={spec}', 'b=b.npy')
            types, _, data = read_bytes(self.path('b.npy'))
            return '' if (types, data) == expected else f'{types}, {data}'

        bf16 = [struct.unpack('<I', struct.pack('<f', x))[0] >> 16 for x in made_floats('bf16', 50, 3)]
        self.table((
            ('random_f16_is_splitmix64', 'copy', 'random:f16:50:seed=3',
             ('<f2', pack('f16', made_floats('f16', 50, 3)))),
            ('random_bf16_is_splitmix64', 'copy', 'random:bf16:50:seed=3', ('<u2', pack('u16', bf16))),
            ('random_e4m3_is_splitmix64', 'copy', 'random:e4m3:50:seed=3',
             ('|u1', bytes(SIXTEENTHS_AS_E4M3[int(16 * x)] for x in made_floats('e4m3', 50, 3)))),
            ('random_c64_is_splitmix64', 'copy', 'random:c64:50:seed=3', ('<c8', pack('c64', parts('c64', 50, 3)))),
            ('random_c128_is_splitmix64', 'copy', 'random:c128:50:seed=3',
             ('<c16', pack('c128', parts('c128', 50, 3)))),
            ('random_float4_is_splitmix64', 'copy', 'random:f32:50x4:seed=3',
             ('<f4', pack('f32', made_floats('f32', 200, 3)))),
            ('randint_bool_is_splitmix64', 'copy', 'randint:bool:50:0:2:seed=3',
             ('|b1', pack('bool', made_integers(50, 0, 2, 3)))),
            ('fill_bool_gives_equal_elements', 'copy', 'fill:bool:3:true', ('|b1', b'\1\1\1')),
            ('fill_c64_gives_equal_elements', 'copy', 'fill:c64:3:1-2j', ('<c8', pack('c64', [1 - 2j] * 3))),
            ('fill_bf16_gives_equal_elements', 'copy', 'fill:bf16:3:1', ('<u2', b'\x80\x3f' * 3)),
            ('fill_e5m2_gives_equal_elements', 'copy', 'fill:e5m2:3:-0.3', ('|u1', b'\xb5' * 3)),
            ('fill_u8_is_taken_for_e4m3', 'copy_e4m3', 'fill:u8:3:7', ('|u1', b'\7' * 3)),
            ('fill_u16_is_taken_for_bf16', 'copy_bf16', 'fill:u16:3:7', ('<u2', b'\7\0' * 3)),
            ('fill_double3_gives_equal_elements', 'copy', 'fill:f64:2x3:-1', ('<f8', pack('f64', [-1] * 6))),
        ), check)

        for name, spec, culprits in (
                ('of_structs', 'fill:opaque:3:0', ["'opaque'", 'a FILE.npy gives structs']),
                ('of_pointers', 'fill:ptr:3:0', ["'ptr'"]),
                ('of_random_bools', 'random:bool:3', ['floating-point']),
                ('of_complex_integers', 'randint:c64:3:0:1', ['integer']),
                ('of_as_many_as_there_are_not', 'distinct:i32:4:-1:2', ['4 elements', '3 integers']),
                ('of_distinct_bools', 'distinct:bool:2:0:2', ['integer']),
                ('of_true_and_more', 'randint:bool:3:0:3', ['[0, 3)', 'bool']),
                ('of_a_bool_past_1', 'fill:bool:3:2', ['2', 'bool']),
                ('of_floats_for_vectors', 'random:f32:12', ['a f32 of 12', 'copy_f4 (a f32x4, b f32x4)', '100x4']),
                ('of_vectors_of_5', 'random:f32:3x5', ['a f32 of 3x5', 'copy_f4'])):
            self.bad_own(f'array_made_{name}', ['copy', f'a={spec}'], culprits)
        self.write('bools.npy', npy_of('|b1', b'\0\1\2', (3,)))
        self.bad_own('bool_that_is_2', ['copy', 'a=bools.npy'], ['bools.npy', 'element 2 is 2'], True)

    # ---- Shapes

    def sections(self):
        def pitched():
            self.write('u.npy', npy('f32', range(15), shape=(3, 5)))
            found = fields(self.own('rows', 'u=u.npy', 'v=v.npy', 'nx=4', '--verify'))
            assert (found['ny'], found['ld']) == ('3', '5'), found
            types, shape, data = read_bytes(self.path('v.npy'))
            expected = b''.join(pack('f32', [i + 1 for i in range(5 * y, 5 * y + 4)]) + POISON * 4 for y in range(3))
            return '' if (types, shape, data) == ('<f4', (3, 5), expected) else f'{shape}, {data}'

        def flat():
            found = fields(self.own('rows', 'u=fill:f32:15:0', 'nx=4', 'ld=5'))
            return '' if found['ny'] == '3' else found

        def halo():
            self.write('u.npy', npy('i32', [0] * 4 * 6 * 5, shape=(4, 6, 5)))
            found = fields(self.own('inside', 'u=u.npy,v.npy', 'nz=2', '--verify'))
            assert (found['nx'], found['ny']) == ('3', '3'), found
            expected = [int(1 <= x <= 3 and 1 <= y <= 3 and 1 <= z <= 2)
                        for z in range(4) for y in range(6) for x in range(5)]
            result = read_npy(self.path('v.npy'))
            return '' if result == ('i32', (4, 6, 5), expected) else result or 'no text'

        def added():
            self.write('x.npy', npy('i32', [9] * 5))
            found = fields(self.own('number', 'x=x.npy,y.npy', 'most=7', '--verify'))
            result = read_npy(self.path('y.npy'))[2]
            return '' if found['steps'] == '5' and result == [4, 3, 2, 1, 0] else f'{found}, {result}'

        def reaching():
            found = fields(self.own('inside', 'u=fill:i32:4x6x5:0'))
            return '' if (found['nx'], found['ny'], found['nz']) == ('3', '3', '3') else found

        def shifted(length, expected, *more):
            self.write('x.npy', npy('i32', range(length)))
            found = fields(self.own('shift', 'x=x.npy', 'y=y.npy', 'first=3', *more))
            types, shape, data = read_bytes(self.path('y.npy'))
            whole = POISON * 12 + pack('i32', expected)
            return '' if (types, shape, data) == ('<i4', (len(whole) // 4,), whole) else f'{found}: {shape}, {data}'

        def told_elsewhere():
            self.write('x.npy', npy('i32', range(9)))
            self.own('weigh', 'x=x.npy', 'w=fill:i32:2:10', 'y=y.npy', 'first=3')
            result = read_npy(self.path('y.npy'))
            return '' if result == ('i32', (2,), [30, 40]) else result or 'no text'

        def work():
            found = fields(self.own('rows', 'u=fill:f32:2000x1000:0', 'nx=1000', '--repeat', '5'))
            assert found['flops'] == '2000000' and found['bytes'] == '500', found
            rate = 2 / float(found['time'].split()[0])
            match = re.fullmatch(r'(\d+\.\d+) GFLOP/s', found['throughput'])
            return '' if abs(float(match.group(1)) - rate) < 0.06 + 0.05 * rate else f'{found}, not {rate}'

        self.test('rows_of_a_pitch_are_whole_in_files', pitched)
        self.test('rows_of_a_pitch_may_be_flat', flat)
        self.test('section_within_an_array_changes_nothing_else', halo)
        self.test('added_parameter_is_inferred_and_described', added)
        self.test('section_that_nothing_limits_reaches_to_the_end', reaching)
        self.test('section_from_an_element_on_is_inferred', lambda: shifted(5, [13, 14]))
        self.test('section_shorter_than_its_array_is_given', lambda: shifted(9, [13, 14], 'n=2'))
        self.test('section_told_by_another_array_is_as_long', told_elsewhere)
        self.test('section_of_no_elements_is_empty', lambda: shifted(9, [], 'n=0'))
        self.test('work_is_reported_as_real_numbers', work)
        for name, arguments, culprits in (
                ('row_length_that_nothing_tells', ['rows', 'u=fill:f32:3x5:0'], ['missing nx (i32)']),
                ('row_shorter_than_the_section', ['rows', 'u=fill:f32:3x5:0', 'nx=6'],
                 ['pitch(u: ld) is 5, shorter than its row of 6']),
                ('row_other_than_the_pitch', ['rows', 'u=fill:f32:3x5:0', 'nx=4', 'ld=4'],
                 ['u has 5 in dimension 1', 'u[ny][nx] pitch(u: ld) has 4', 'ld = 4 as given']),
                ('row_of_odd_length', ['inside', 'u=fill:i32:4x5x5:0'], ['u has 5 in dimension 1', 'cannot have']),
                ('section_past_the_end', ['inside', 'u=fill:i32:4x6x5:0', 'nz=4'],
                 ['u has 4 in dimension 0', 'u[1:nz][1:ny][1:nx] pitch(u: nx + 2, ny << 1) reaches to 5']),
                ('section_past_the_end_of_one', ['shift', 'x=fill:i32:5:0', 'first=3', 'n=3'],
                 ['x has 5 elements', 'x[first:n] reaches to 6', 'n = 3 as given']),
                ('section_from_an_unknown_element', ['shift', 'x=fill:i32:5:0', 'n=3'], ['missing first (i32)']),
                ('section_from_a_negative_element', ['shift', 'x=fill:i32:5:0', 'first=-1', 'n=2'], ['first = -1']),
                ('extent_that_divides_by_0', ['quotients', 'x=fill:i32:5:0', 'n=5', 'm=0', 'k=2'],
                 ['x has 5 elements', 'x[n / m] overflows or divides by 0 with n = 5 as given, m = 0 as given']),
                ('extent_that_is_negative', ['quotients', 'x=fill:i32:5:0', 'n=5', 'm=-1', 'k=2'],
                 ['x[n / m] has a negative extent with n = 5 as given, m = -1 as given']),
                ('extent_of_a_result_that_divides_by_0', ['quotients', 'x=fill:i32:5:0', 'n=5', 'm=1', 'k=0'],
                 ['y[n % k] overflows or divides by 0 with n = 5']),
                ('scratch_memory_given', ['shift', 'x=fill:i32:5:0', 'unused=fill:i64:6:0'],
                 ["'unused'", 'there is x, y, first, n\n'])):
            self.bad_own(name, arguments, culprits, True)

    def structs(self):
        self.write('g.npy', npy_of([('n', '<i4', (2,)), ('step', '<i4')], struct.pack('<3i', 3, 2, 40), (1,)))

        def known():
            self.write('u.npy', npy('i32', range(6), shape=(2, 3)))
            self.own('box', 'u=u.npy', 'v=v.npy', 'g=g.npy')
            result = read_npy(self.path('v.npy'))
            return '' if result == ('i32', (2, 3), [40, 41, 42, 43, 44, 45]) else result or 'no text'

        self.test('members_of_structs_give_shapes', known)
        self.bad_own('shape_other_than_the_members', ['box', 'u=fill:i32:3x3:0', 'g=g.npy'],
                     ['u has 3 in dimension 0', 'u[g.ny][g.nx] has 2', 'g = g.npy as given'])
        self.bad_own('struct_that_is_missing', ['box', 'u=fill:i32:3x3:0'],
                     ['missing g (', ' of 12 bytes; give g=FILE.npy with one element of |V12 or '])

    # ---- Verification

    def verify(self):
        """Each launch of drift() on the CPU adds `by` to its numbers; on a GPU the numbers stay the same."""
        def agrees(kernel, spec, by, limit, report):
            out = self.own(kernel, f'x={spec}', f'by={by}', f'limit={limit}', '--verify')
            return '' if report in out else out or 'no text'

        self.table((
            ('result_within_the_tolerance_agrees', 'drift', 'fill:f32:4:0', 0.25, 1,
             'verify: y: 4 of 4 elements match; largest deviation 0.25, tolerance 0.5'),
            ('loose_tolerance_is_told', 'drift', 'fill:f32:4:0', 0.25, 51,
             'deviation 0.25, tolerance 25.5, over 100 times as large'),
            ('tolerance_of_100_times_the_deviation_is_not_loose', 'drift', 'fill:f32:4:0', 0.25, 50,
             'deviation 0.25, tolerance 25;' if self.driver == 'host' else 'deviation 0.25, tolerance 25\n'),
            ('result_at_the_tolerance_agrees', 'drift', 'fill:f32:4:0', 0.25, 0.5, 'deviation 0.25, tolerance 0.25'),
            ('tolerance_is_relative_to_large_numbers', 'drift', 'fill:f32:4:65536', 128, 0.01, '4 of 4 elements match'),
            ('nan_agrees_with_other_nan', 'drift', 'fill:f32:4:nan', 1, 0, 'largest deviation 0, tolerance 0'),
            ('infinity_agrees_with_itself', 'drift', 'fill:f32:4:inf', 1, 0, 'largest deviation 0'),
            ('imaginary_parts_within_the_tolerance_agree', 'drift', 'fill:c64:4:0', 0.25, 1, 'deviation 0.25'),
            ('components_within_the_tolerance_agree', 'drift', 'fill:f32:4x4:0', 0.25, 1, '4 of 4 elements match'),
            ('result_without_tolerance_agrees_bit_for_bit', 'stray', 'fill:f32:4:5', 0, 0, '4 of 4 elements match'),
        ), agrees)
        for name, kernel, spec, by, limit, culprits in (
                ('past_the_tolerance', 'drift', 'fill:f32:4:0', 0.25, 0.4,
                 ['y[0] = ', '4 of 4 elements differ, by up to 0.25, tolerance 0.2']),
                ('past_the_tolerance_in_an_imaginary_part', 'drift', 'fill:c64:4:0', 0.25, 0.4,
                 ['y[0] = 0+', 'j in the run and 0+0.75j in another order on the CPU' if self.driver == 'host'
                  else 'j on device 0 and ',
                  '4 of 4 elements differ']),
                ('past_the_tolerance_in_a_component', 'drift', 'fill:f32:4x4:0', 0.25, 0.4, ['y[0] = 0,0,0,']),
                ('that_only_one_of_is_infinite', 'drift', 'fill:f32:4:0', 1.5e38, 1, ['4 of 4 elements differ']),
                ('without_tolerance', 'stray', 'fill:f32:4:0', 1e-30, 9, ['by up to 1e-30']),
                ('of_other_nans_without_tolerance', 'stray', 'fill:f32:4:nan', 1, 9, ['4 of 4 elements differ']),
                ('with_negative_tolerance', 'drift', 'fill:f32:4:0', 0, -1, ['tolerance(0.5 * limit) is -0.5']),
                ('with_tolerance_that_is_none', 'drift', 'fill:f32:4:0', 0, 'nan', ['tolerance(0.5 * limit) is '])):
            self.bad_own(f'result_{name}', [kernel, f'x={spec}', f'by={by}', f'limit={limit}', '--verify', 'y=bad.npy'],
                         ['verify', *culprits], True)
        if self.driver == 'host':
            self.bad_own('result_of_one_order_of_threads', ['shifts', 'x=random:f32:64', '--verify'],
                         ['verify: x[0] = ', 'in another order on the CPU; 62 of 64 elements differ'], True)

        def printed():
            """A kernel that runs several times prints its text only once: in the first call, before the report."""
            arguments = ('says', 'x=random:f64:40', 'by=2')
            for more in ((), ('--repeat', '40'), ('--verify',), ('--device', '-1', '--verify', '--repeat', '3')):
                out = self.own(*arguments, *more)
                assert out.startswith('said\nkernel ') and out.count('said') == 1, (more, out)
            assert 'in place: 40 of 40 elements match' in self.own(*arguments, '--verify')
            out = self.own('--verify', '--all', 'says')
            assert 'said' not in out and 'agree bit for bit' in out, out
            code, out, err = run([os.path.join(self.build, 'cf-bench'), '--module', self.module, '--sizes', '64',
                                  '--time', '0.002', '--cache', '0', 'says'], cwd=self.folder)
            return '' if code == 0 and 'said' not in out and 'says ' in out else (out, err)

        self.test('what_a_kernel_prints_is_there_once', printed)

        def climbs():
            out = self.own('climb', 'x=fill:f32:4:4096', '--verify')
            return '' if '4 of 4 elements match' in out else out or 'no text'

        self.test('result_within_the_tolerance_of_floats_agrees', climbs)
        for short, value in (('i32', 2**30), ('i64', 2**60)):
            self.bad_own(f'result_{short}_off_by_one_is_past_the_tolerance',
                         ['climb', f'x=fill:{short}:4:{value}', '--verify', 'y=bad.npy'],
                         ['verify', '4 of 4 elements differ', 'tolerance 0'], True)
        self.bad_own('verify_without_form_for_the_cpu', ['together', 'x=fill:i32:3:0', '--verify'],
                     ['together', 'no form for the CPU'])

    # ---- Variants and constants

    def variants(self):
        def check(expected, *options):
            out = self.own('tuned', 'res=res.npy', *options)
            result = read_npy(self.path('res.npy'))[2]
            assert fields(out)['variant'] == f'BLOCK={expected[0]},ITEMS={expected[1]}', out
            return '' if result == expected else result or 'no text'

        self.table((
            ('variant_omitted_is_the_first', [128, 1]),
            ('variant_is_picked_by_its_constants', [256, 2], '--variant', 'BLOCK=256,ITEMS=2'),
            ('variant_is_picked_in_any_order', [128, 2], '--variant=ITEMS=2,BLOCK=128'),
            ('variant_that_is_the_first_is_picked', [128, 1], '--variant', 'ITEMS=1,BLOCK=0x80'),
        ), check)
        every = 'BLOCK=128,ITEMS=1, or BLOCK=128,ITEMS=2, or BLOCK=256,ITEMS=1, or BLOCK=256,ITEMS=2'
        for name, text, culprits in (
                ('of_a_value_that_is_not_there', 'BLOCK=512,ITEMS=1', ['no such variant', every]),
                ('of_a_constant_that_is_not_there', 'BLOCK=128,UNROLL=1', ["'UNROLL'", every]),
                ('that_is_several', 'BLOCK=256', ['several', every]), ('of_nothing', '', ["''"]),
                ('without_value', 'BLOCK', ["'BLOCK'", 'NAME=VALUE']), ('of_a_word', 'BLOCK=many', ["'many'"]),
                ('with_a_constant_twice', 'BLOCK=128,BLOCK=256', ['BLOCK is given twice']),
                ('of_too_many_constants', 'BLOCK=128,ITEMS=1,BLOCK=128', ['2 constants'])):
            self.bad_own(f'variant_{name}', ['tuned', '--variant', text], [f'--variant {text}: ', *culprits])
        self.bad_own('variant_of_a_kernel_without', ['shift', 'x=fill:i32:5:0', 'first=0', '--variant', 'BLOCK=1'],
                     ['shift has no variants'])

    def constants(self):
        self.write('table.npy', npy('i32', [9, 8, 7, 6, 5, 4], shape=(2, 3)))

        def check(expected, *settings):
            options = [word for setting in settings for word in ('--set', setting)]
            out = self.own('constants', 'res=res.npy', '--verify', *options)
            result = read_npy(self.path('res.npy'))[2]
            return '' if result == expected and '10 of 10 elements match' in out else f'{result}: {out}'

        self.table((
            ('constants_omitted_are_as_in_the_source', [3, 0, 0, 0, 0, 0, 0, 1, 2, 0]),
            ('constants_are_set_from_numbers', [-0.5, 1, 2, 3, 4, 5, 6, 7, 8, 0], 'factor=-0.5', 'table=1,2,3,4,5,6',
             'pair=7,8'),
            ('constants_are_set_from_files', [3, 9, 8, 7, 6, 5, 4, 1, 2, 2.5], 'table=table.npy', 'centre=body.npy'),
        ), check)
        self.write('flat.npy', npy('i32', [1, 2, 3, 4, 5]))
        self.write('wide.npy', npy('i64', [1, 2, 3, 4, 5, 6]))
        for name, text, culprits in (
                ('without_value', 'factor', ['name=value']),
                ('that_is_not_there', 'speed=1', ["'speed'", 'there is centre, factor, pair, table']),
                ('of_a_word', 'factor=fast', ["'fast'", 'f64']),
                ('of_too_few_numbers', 'table=1,2', ['2 numbers', '6']),
                ('past_its_type', f'table=1,2,3,4,5,{2**31}', [str(2**31), 'i32']),
                ('of_a_struct_from_numbers', 'centre=1', ['24 bytes of a struct']),
                ('of_a_file_that_is_not_there', 'table=none.npy', ['none.npy: No such file']),
                ('of_a_file_of_another_length', 'table=flat.npy', ['flat.npy has i32[5]', 'table is i32[2][3]']),
                ('of_a_file_of_another_type', 'table=wide.npy', ['wide.npy has i64[6]', 'i32[2][3]'])):
            self.bad_own(f'constant_{name}', ['constants', '--set', text], culprits)
        self.bad_own('constant_twice', ['constants', '--set', 'factor=1', '--set=factor=2'], ['factor is given twice'])
        self.bad('constant_of_kernels_without_is_refused', ['gather', '--set', 'dt=1'],
                 ["'dt'", 'these kernels have none'])

    # ---- Descriptions

    def described(self):
        def has(name, *lines):
            out = self.own('--describe', name, driver=False)
            missing = [line for line in lines if not re.search(f'^ *{line}$', out, re.MULTILINE)]
            return f'{missing} in {out}' if missing else ''

        self.test('describe_takes_the_name_of_the_c_function', lambda: '' if self.own(
            '--describe', 'run_copy', driver=False) == self.own('--describe', 'copy', driver=False) else 'it differs',
            False)
        for kernel, *lines in (
                ('copy_f4', 'doc +Copies n elements', 'doc +of any type.', r'in +a\[n\], f32x4 \(const cf_float4 \*\)'),
                ('copy_body', r'out +b\[n\], V24 \(struct body \*\)'),
                ('shift', r'in +x\[first:n\], i32', r'scratch +unused\[n \+ 1\], i64', r'zero +unused\[n:1\]',
                 r'function +int run_shift\(const int \*x, int \*y, int first, int n\);'),
                ('inside', r'inout +u\[1:nz\]\[1:ny\]\[1:nx\], i32, pitch\(nx \+ 2, ny << 1\)',
                 'host +built, loops over threads'),
                ('rows', r'flops +1.0 \* nx \* ny', r'bytes +0.5 \* nx', r'launch +grid\(nx, ny\) block\(32, 8\)'),
                ('drift_f32', r'tolerance 0.5 \* limit', 'host +built, one function for all blocks'),
                ('climb_i32', 'in place +x, y may be one array'),
                ('tuned', r'launch +grid\(1\) block\(BLOCK\) items\(ITEMS\)',
                 'variant +BLOCK=128,ITEMS=1, which runs .*', 'variant +BLOCK=256,ITEMS=2'),
                ('together', r'launch +blocks\(2\) block\(32\) shared\(32 \* sizeof\(int\)\) cooperative',
                 'host +not built: .*'),
                ('in_pairs', r'launch +blocks\(2\) block\(32\) __cluster_dims__\(2, 1\)'),
                ('in_turn', r'launch +blocks\(4\) block\(32\) cluster\(2, 1\) dependent'),
                ('pointers', r'launch +grid\(n\) block\(auto\)', r'in +list\[n\], ptr'),
                ('raw', r'pointer +raw, void \(void \*\)'),
                ('constants', r'setter +int run_set_table\(const int table\[2\]\[3\]\);'),
                ('number', r'inout +x\[steps\], i32', 'param +steps, i64', 'param +most, i16',
                 r'function +int run_number\(int \*x, int64_t steps, short most\);'),
                ('set_factor', r'doc +The factor that scale\(\) uses.', 'constant +factor, f64',
                 r'function +int run_set_factor\(double factor\);'),
                ('set_table', r'constant +table\[2\]\[3\], i32')):
            self.test(f'describe_of_{kernel}_prints_all', lambda k=kernel, wanted=lines: has(k, *wanted), False)

        def listed():
            out = self.own('--list', driver=False)
            return '' if re.search(r'^set_pair +int run_set_pair\(cf_float2 pair\);$', out, re.MULTILINE) else (
                out or 'no text')

        self.test('list_prints_setters', listed, False)

    # ---- Errors

    def refused(self):
        self.bad_own('kernel_of_the_bundled_ones', ['gather'], ["'gather'"])
        self.bad_own('kernel_that_takes_pointers', ['pointers', 'list=fill:u64:3:0'], ['list holds pointers'])
        if self.driver == 'host':
            self.bad_own('kernel_that_is_not_for_the_cpu', ['together', 'x=fill:i32:3:0'], ['run_together', 'CPU'])
        self.write('odd.npy', npy_of('|V23', b'x' * 23, (1,)))
        self.bad_own('struct_of_another_size', ['copy', 'a=odd.npy'],
                     ['a V23', 'copy_body (a |V24 of a FILE.npy, b |V24)'])
        self.bad_own('array_of_structs_that_is_missing', ['copy_body'],
                     ['give a=FILE.npy with elements of |V24 or of a structured type of that size'])

    def compiled(self, name, source, *flags):
        """Compiles C source with the C compiler of the build."""
        self.write('made.c', source.encode())
        command = [*self.cc, '-std=c11', f'-I{ROOT}/include', *flags, '-o', name, 'made.c']
        code, _, err = run(command, cwd=self.folder)
        assert code == 0, err
        return name

    def patched(self, name, source, place, value):
        with open(self.path(source), 'rb') as file:
            content = bytearray(file.read())
        content[place:place + len(value)] = value
        return self.write(name, bytes(content))

    def bad_modules(self):
        shared = ('-shared', '-fPIC')
        version = 'CF_REGISTRY_VERSION'
        for name, values in (('kernel1.so', ('1', version, '&module')), ('later.so', (version, '1000', '&module')),
                             ('null.so', (version, version, 'NULL')), ('good.so', (version, version, '&module'))):
            self.compiled(name, MODULE % values, *shared)
        self.compiled('other.so', 'int x;\n', *shared)
        self.compiled('other.o', 'int x;\n', '-c')
        self.compiled('missing.so', 'int missing(void);\nint f(void);\nint f(void) { return missing(); }\n', *shared)
        self.compiled('program', 'int main(void) { return 0; }\n')
        self.write('text.so', b'INPUT(run.so)\n')
        self.write('empty.o', b'')
        self.patched('sparc.so', 'run.so', 18, b'\x2b\0')
        self.patched('narrow.o', 'run.o', 4, b'\1')
        self.patched('core.o', 'run.o', 16, b'\4\0')
        with open(self.path('run.so'), 'rb') as file:
            self.write('short.so', file.read(5000))
        shutil.copy(self.path('run.o'), self.path('object'))
        os.mkdir(self.path('folder.o'))
        os.mkfifo(self.path('pipe.so'))
        socket.socket(socket.AF_UNIX).bind(self.path('socket.o'))
        for name, path, culprits in (
                ('that_is_not_there', 'nowhere.o', ['No such file']), ('of_an_empty_name', '', [': ']),
                ('that_is_a_folder', 'folder.o', ['it is a folder, not a file']),
                ('that_is_a_pipe', 'pipe.so', ['it is a pipe, not a file']),
                ('that_is_a_socket', 'socket.o', ['it is a socket, not a file']),
                ('that_is_a_device', '/dev/null', ['it is a device, not a file']),
                ('that_is_text', 'text.so', ['neither']),
                ('that_is_empty', 'empty.o', ['neither']),
                ('of_another_machine', 'sparc.so', ['another kind of machine']),
                ('of_32_bits', 'narrow.o', ['another kind of machine']),
                ('that_is_a_core_file', 'core.o', ['core file']),
                ('that_is_a_program', 'program', ['program']), ('that_is_cut', 'short.so', ['truncated']),
                ('of_another_compiler', 'other.so', ['cfcc did not make it']),
                ('of_an_object_of_another_compiler', 'other.o', ['other.o', 'cfcc made none']),
                ('that_misses_a_function', 'missing.so', ['missing']),
                ('of_an_object_without_ending', 'object', ['object']),
                ('of_a_later_version', 'later.so', ['version 1000', 'build the kernels again']),
                ('of_a_kernel_of_version_1', 'kernel1.so', ['one of its kernels', 'version 1']),
                ('of_nothing', 'null.so', ['cfcc'])):
            self.bad(f'module_{name}_is_refused', ['--module', path, '--list'], [path, *culprits])
        self.bad('module_of_this_version_is_searched', ['--module', 'good.so', '--describe', 'nothing'],
                 ["there is no kernel 'nothing'; cf-run --list shows the 1 kernel\n"])

        os.mkdir(self.path('alone'))
        shutil.copy(self.program, self.path('alone'))
        built, self.program = self.program, self.path('alone/cf-run')
        self.bad('object_without_cfcc_is_refused', ['--module', 'run.o', '--list'],
                 ['run.o', 'alone/cfcc', 'No such file'])
        self.stand_in('echo "cannot: ../x" >&2; echo more; exit 3')
        self.bad('object_that_cfcc_refuses_is_refused', ['--module', 'run.o', '--list'], ['run.o', 'cannot: ../x\n'])
        self.stand_in('exit 3')
        self.bad('object_that_cfcc_refuses_silently_is_refused', ['--module', 'run.o', '--list'], ['run.o', 'cfcc'])
        self.program = built

    def stand_in(self, script):
        """Puts a script in place of cfcc, beside a copy of cf-run."""
        self.write('alone/cfcc', f'#!/bin/sh\n{script}\n'.encode())
        os.chmod(self.path('alone/cfcc'), 0o755)

    def signals(self):
        """A signal that ends cf-run while cfcc runs also ends cfcc, and no temporary folder is left."""
        self.stand_in('trap "echo ended >>../ended; exit 1" TERM HUP INT; touch "$4" ../started; '
                      'while :; do sleep 0.02; done')

        def ended(number):
            for name in ('started', 'ended'):
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
            process = subprocess.Popen([self.path('alone/cf-run'), '--module', '../run.o', '--list'],
                                       cwd=self.path('alone'), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=self.path('tmp')),
                                       preexec_fn=unignore_signals)
            deadline = time.monotonic() + 600
            while not os.path.exists(self.path('started')) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert os.path.exists(self.path('started')), 'cfcc was not started'
            assert os.listdir(self.path('tmp')), 'there was no folder'
            process.send_signal(number)
            code = process.wait(timeout=600)
            left = os.listdir(self.path('tmp'))
            return '' if code == -number and not left and os.path.exists(self.path('ended')) else f'exit {code}, {left}'

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.test(f'signal_{number.name}_leaves_no_folder', lambda n=number: ended(n), False)
