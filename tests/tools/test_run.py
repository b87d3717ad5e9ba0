"""test_run.py - tests cf-run as a user runs it: arrays from files and generated arrays, inference, reports, and every
kind of error.

usage: test_run.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver. Outputs go to a temporary folder only: a
faulty program that runs as root could replace even /dev/null.
"""

import os
import random
import re
import resource
import signal
import socket
import stat
import struct
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from npy import LETTERS, npy, npy_bytes, pack, read_npy
from run_module import ModuleTest
from run_verify import VerifyTest
from runner import MASK, Runner, made_distinct, made_floats, made_integers
from tap import NEEDS_NO_SANITIZER, Tap, run

# ---- The tests

def limit_file_size():
    """Called in the child: makes it an error to write beyond this file size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


class RunTest(Runner):
    # ---- Kernels, and the arrays that they read and write

    def gather(self):
        generator = random.Random(1)
        source_count, count = 1000, 3000
        for source_type in ('f32', 'f64', 'i32', 'i64'):
            for index_type in ('i32', 'i64'):
                if source_type[0] == 'f':
                    values = struct.unpack(f'<{source_count}{LETTERS[source_type]}', pack(
                        source_type, [generator.uniform(-1e6, 1e6) for _ in range(source_count)]))
                else:
                    half = 2**(int(source_type[1:]) - 1)
                    values = [generator.randrange(-half, half) for _ in range(source_count)]
                index = [generator.randrange(source_count) for _ in range(count)]
                self.write('source.npy', npy(source_type, values))
                self.write('index.npy', npy(index_type, index))
                expected = (source_type, (count,), [values[i] for i in index])
                for kernel in ('gather', f'gather_{source_type}_{index_type}'):
                    def body(kernel=kernel, expected=expected, called=f'gather_{source_type}_{index_type}'):
                        out = self.good(kernel, 'source=source.npy', 'index=index.npy', 'res=res.npy')
                        assert f'{called}\n' in out, out
                        return '' if read_npy(self.path('res.npy')) == expected else 'the result differs from the loop'
                    self.test(f'{kernel}_of_{source_type}_by_{index_type}_equals_a_loop', body)

    def outside(self):
        self.write('x.npy', npy('i32', [5, 6, 7, 99, 8, -1]))
        self.write('first.npy', npy('i64', [6]))
        self.write('scalar.npy', npy('i64', [6], shape=()))
        limits = ('x=x.npy', 'lower=0', 'upper=0x14')

        def from_file():
            self.good('outside', *limits, 'first=first.npy,after.npy', '--repeat', '3', '--verify')
            before, after = read_npy(self.path('first.npy')), read_npy(self.path('after.npy'))
            return '' if (before[2], after) == ([6], ('i64', (1,), [3])) else f'{before}, {after}'

        def made():
            self.good('outside_i32', *limits, 'first=fill:i64:1:6,after.npy')
            return '' if read_npy(self.path('after.npy'))[2] == [3] else 'wrong'

        def in_place():
            self.write('both.npy', npy('i64', [6]))
            self.good('outside_i32', *limits, 'first=both.npy,both.npy')
            return '' if read_npy(self.path('both.npy'))[2] == [3] else 'wrong'

        def unsaved():
            before = sorted(os.listdir(self.folder))
            self.good('outside_i32', *limits, 'first=first.npy')
            self.good('outside_i32', *limits, 'first=first.npy,-')
            after = sorted(os.listdir(self.folder))
            return '' if before == after and read_npy(self.path('first.npy'))[2] == [6] else f'{before}, {after}'

        def scalar():
            self.good('outside', *limits, 'first=scalar.npy,after.npy')
            result = read_npy(self.path('after.npy'))
            return '' if result == ('i64', (), [3]) else result or 'no text'

        self.test('inout_from_file_is_written_elsewhere', from_file)
        self.test('inout_made_is_written', made)
        self.test('inout_in_place_replaces_the_file', in_place)
        self.test('inout_without_output_is_not_saved', unsaved)
        self.test('inout_of_no_dimensions_is_one_element', scalar)

    def formats(self):
        values = {'f32': [1.5, -0.0, float('inf')], 'f64': [0.1, -1e300, 5e-324], 'i32': [-2**31, 0, 2**31 - 1],
                  'i64': [-2**63, 0, 2**63 - 1], 'f16': [1.5, -0.0, 2**-24],
                  'u16': [0, 0x3f80, 2**16 - 1]}        # the bits of bfloat16, a type that NumPy's format lacks
        for version in ((1, 0), (2, 0), (3, 0)):
            for short in LETTERS:
                content = npy(short, values.get(short, [1, 2, 3]), version=version)

                def body(short=short, content=content):
                    self.write('source.npy', content)
                    if short not in values:  # no kernel takes this type; the error message shows how the file was read
                        _, _, err = self.execute('gather', 'source=source.npy', 'index=fill:i32:1:0')
                        return '' if f'takes source {short},' in err else err or 'no text'
                    self.write('index.npy', npy('i32', [0, 1, 2]))
                    self.good('gather', 'source=source.npy', 'index=index.npy', 'res=res.npy')
                    result = read_npy(self.path('res.npy'))
                    return '' if result == (short, (3,), values[short]) else result or 'no text'
                self.test(f'npy_version_{version[0]}_of_{short}_is_read', body, short in values)

        def mask():
            self.write('x.npy', npy('f32', [5, 6, 7, 8]))
            self.write('mask.npy', npy('bool', [1, 0, 0, 1]))
            self.good('select', 'x=x.npy', 'flag=mask.npy', 'y=fill:f32:4:0,y.npy', 'count=count.npy')
            result = read_npy(self.path('y.npy'))[2], read_npy(self.path('count.npy'))[2]
            return '' if result == ([5, 8, 0, 0], [2]) else result or 'no text'

        self.test('npy_of_bool_is_read_as_flags', mask)

        data = pack('f32', [3, 4])
        for name, header in (
                ('fortran_order_of_one_dimension', "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"),
                ('other_quotes_and_order', '{"shape":(2,),"fortran_order":False,"descr":"<f4"}'),
                ('python_2_integers', "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }"),
                ('two_dimensions', "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}")):
            def body(header=header):
                self.write('source.npy', npy_bytes(header, data))
                self.write('index.npy', npy('i32', [1, 0]))
                self.good('gather', 'source=source.npy', 'index=index.npy', 'res=res.npy')
                result = read_npy(self.path('res.npy'))
                return '' if result == ('f32', (2,), [4, 3]) else result or 'no text'
            self.test(f'npy_with_{name}_is_read', body)

    def outputs(self):
        arguments = ('gather', 'source=fill:f32:1:7', 'index=fill:i32:2:0')

        def names():
            self.write('a=b,c.npy', npy('f32', [7]))
            self.good('gather', 'source=a=b,c.npy', 'index=fill:i32:2:0', 'res=d=e,f.npy')
            return '' if read_npy(self.path('d=e,f.npy'))[2] == [7, 7] else 'wrong'

        def unsaved():
            before = sorted(os.listdir(self.folder))
            self.good(*arguments)
            self.good(*arguments, 'res=-')
            return '' if sorted(os.listdir(self.folder)) == before else 'a file was left'

        def replaced():
            self.write('target.npy', b'old')
            os.chmod(self.path('target.npy'), 0o640)
            os.symlink('target.npy', self.path('link.npy'))
            self.good(*arguments, 'res=link.npy')
            mode = stat.S_IMODE(os.stat(self.path('target.npy')).st_mode)
            return '' if os.path.islink(self.path('link.npy')) and mode == 0o640 and read_npy(
                self.path('target.npy'))[2] == [7, 7] else f'mode {mode:o}'

        def pipe():
            os.mkfifo(self.path('target.pipe'))
            reader = os.open(self.path('target.pipe'), os.O_RDONLY | os.O_NONBLOCK)
            self.good(*arguments, 'res=target.pipe')
            content = os.read(reader, 4096)
            os.close(reader)
            is_one = stat.S_ISFIFO(os.stat(self.path('target.pipe')).st_mode)
            return '' if is_one and content.endswith(pack('f32', [7, 7])) else f'{is_one}, {content}'

        def unread():
            os.mkfifo(self.path('unread.pipe'))
            code, out, err = self.execute(*arguments, 'res=unread.pipe')
            return '' if code and 'unread.pipe: nobody reads this pipe' in err else f'{code} {out} {err}'

        def empty():
            self.good('gather', 'source=fill:f32:0:0', 'index=fill:i32:0:0', 'res=res.npy', '--verify')
            result = read_npy(self.path('res.npy'))
            return '' if result == ('f32', (0,), []) else result or 'no text'

        self.test('names_with_equals_and_commas_are_names', names)
        self.test('output_omitted_or_dash_is_not_saved', unsaved)
        self.test('output_that_exists_keeps_its_mode_and_links', replaced)
        self.test('output_to_a_pipe_leaves_it_one', pipe)
        self.test('output_to_a_pipe_without_a_reader_is_refused', unread)
        self.test('output_of_no_elements_is_written', empty)

    def made(self):
        count = 200
        self.write('identity.npy', npy('i32', range(count)))

        def through(spec):
            self.good('gather', f'source={spec}', 'index=identity.npy', 'res=res.npy')
            return read_npy(self.path('res.npy'))[2]

        for short in ('f32', 'f64'):
            def floats(short=short):
                return '' if through(f'random:{short}:{count}:seed=7') == made_floats(short, count, 7) else 'wrong'
            self.test(f'random_{short}_is_splitmix64', floats)
        for short, low, high in (('i32', -3, 1000), ('i32', -2**31, 2**31), ('i64', 0, 10), ('i64', -2**63, 2**63)):
            def integers(short=short, low=low, high=high):
                result = through(f'randint:{short}:{count}:{low}:{high}:seed=0xffffffffffffffff')
                return '' if result == made_integers(count, low, high, MASK) else 'wrong'
            self.test(f'randint_{short}_from_{low}_to_{high}_is_splitmix64', integers)
        for short, low, high in (('i32', 0, count), ('i32', -3, 1000), ('i32', -2**31, 2**31), ('i64', 5, 5 + count),
                                 ('i64', -2**63, 2**63)):
            def distinct(short=short, low=low, high=high):
                result = through(f'distinct:{short}:{count}:{low}:{high}:seed=0xffffffffffffffff')
                assert len(set(result)) == count and low <= min(result) and max(result) < high, result
                return '' if result == made_distinct(count, low, high, MASK) else 'wrong'
            self.test(f'distinct_{short}_from_{low}_to_{high}_differ', distinct)

        for short, low, high in (('i32', 0, 1), ('i32', -3, count // 3), ('i32', -2**31, 2**31),
                                 ('i64', 0, 100 * count),
                                 ('i64', -2**63, 2**63)):
            def ascending(short=short, low=low, high=high):
                spec = f'ascending:{short}:{count}:{low}:{high}'
                result = through(f'{spec}:seed=3')
                steps = [b - a for a, b in zip(result, result[1:])]
                if min(steps) < 0 or (result[0], result[-1]) != (low, high - 1):
                    return f'{result[0]} to {result[-1]}, least step {min(steps)}'
                if high - low > 10 * count and max(steps) * count < 5 * (high - low):
                    return f'no step is larger than {max(steps)}'
                if through(f'{spec}:seed=3') != result or (high > 1 and through(f'{spec}:seed=4') == result):
                    return 'what seed it is says nothing'
                return ''
            self.test(f'ascending_{short}_from_{low}_to_{high}_ascend', ascending)

        def position():
            self.good('gather', 'source=random:f32:100', 'index=randint:i32:50:0:100', 'res=res.npy')
            source, index = made_floats('f32', 100, 0), made_integers(50, 0, 100, 1)
            return '' if read_npy(self.path('res.npy'))[2] == [source[i] for i in index] else 'wrong'

        self.test('seed_omitted_is_the_position', position)
        self.test('fill_gives_equal_elements',
                  lambda: '' if through(f'fill:f64:{count}:-2.5e-3') == [-2.5e-3] * count else 'wrong')
        self.test('count_as_a_shape_is_its_product',
                  lambda: '' if through('fill:i64:20x5x2:-7') == [-7] * count else 'wrong')

    # ---- Scalars and the report

    def report(self):
        arguments = ('gather', 'source=random:f32:100', 'index=randint:i32:30:0:100')

        def fields(out):
            return dict(re.findall(r'^(\S+) +(\S.*)$', out, re.MULTILINE))

        def inferred():
            found = fields(self.good(*arguments))
            return '' if (found['N'], found['M']) == ('30', '100') else found

        def given():
            found = fields(self.good(*arguments, 'N=30', 'M=0x64'))
            return '' if (found['N'], found['M']) == ('30', '100') else found

        def partly():
            found = fields(self.good('outside', 'x=randint:i64:10x7:0:9', 'first=fill:i64:1:70', 'lower=-1',
                                     'upper=+9'))
            return '' if (found['n'], found['lower'], found['upper']) == ('70', '-1', '9') else found

        def keys():
            out = self.good(*arguments, '--repeat', '5')
            found = fields(out)
            assert found['kernel'] == 'gather_f32_i32' and found['driver'] == self.driver, found
            assert re.fullmatch(r'CPU \(.+\)' if self.driver == 'host' else r'0 \(.+\)', found['device']), found
            assert re.fullmatch(r'\d+\.\d+ ms median of 5, \d+\.\d+ ms min', found['time']), found
            assert found['bytes'] == '360', found  # from the kernel's annotation: 30 * (2 * 4 + 4)
            assert re.match(r'\d+\.\d+ ms', found['call']) and found['bandwidth'].endswith(' GB/s'), found
            assert found['plan'] == ('on the CPU, the thread\'s device; nothing was copied' if self.driver == 'host'
                                     else 'on device 0, 3 arrays used in place; nothing was copied'), found
            columns = {len(match.group()) for match in re.finditer(r'^\S+ +', out, re.MULTILINE)}
            return '' if len(columns) == 1 else f'not aligned: {out}'

        def sums():
            found = fields(self.good('outside', 'x=fill:i64:10:0', 'first=fill:i64:1:10', 'lower=0', 'upper=0'))
            return '' if found['bytes'] == '96' else found  # no annotation: x counts once, `first` twice

        def numbers():
            """A number is printed with the fewest digits from which the same number can be read."""
            for short, texts in (('f64', ('0.1', '100', '-2.5e-07', '1e+20', '0.30000000000000004', '5e-324',
                                          '9007199254740992',
                                          '1.7976931348623157e+308', 'inf', 'nan', '-0', '123456.789')),
                                 ('f32', ('0.1', '16777216', '3.4028235e+38', '1e-45', '1.1754944e-38', '0.33333334')),
                                 ('bf16', ('0.1', '256', '3.39e+38')), ('f16', ('0.1', '65504', '0.3333'))):
                for text in texts:
                    found = fields(self.good(f'fill_{short}', f'value={text}', 'n=1'))
                    assert found['y'] == f'{short} 1 = {text}', found
                    assert found['value'] == text or short.endswith('16'), found
            return ''

        def work():
            """Work of 0 has no rate; a rate that is not 0 is not printed as 0."""
            found = fields(self.good('fill_f32', 'value=1', 'n=1'))
            assert 'flops' not in found and 'throughput' not in found, found
            found = fields(self.good('fill_f32', 'value=1', 'n=0'))
            assert 'bytes' not in found and 'bandwidth' not in found, found
            found = fields(self.good('scale_f32', 'a=1', 'x=fill:f32:1:1'))
            assert found['flops'] == '1', found
            rates = found['throughput'], found['bandwidth']
            return '' if all(re.fullmatch(r'[0-9.]*[1-9][0-9.]* G(FLOP|B)/s', rate) for rate in rates) else rates

        def verified():
            out = self.good(*arguments, '--verify', '--repeat=2')
            honest = 'compared only with another order of threads on the CPU' in out
            return '' if 'verify: res: 30 of 30 elements match' in out and honest == (self.driver == 'host') else (
                out or 'no text')

        def on_the_cpu():
            out = self.good(*arguments, '--verify', '--device', '-1')
            return '' if fields(out)['driver'] == 'host' and 'order of threads on the CPU' in out else out or 'no text'

        self.test('scalars_omitted_are_inferred', inferred)
        self.test('scalars_given_and_equal_are_taken', given)
        self.test('scalars_partly_given_are_completed', partly)
        self.test('report_has_its_keys_aligned', keys)
        self.test('bytes_without_annotation_are_those_of_the_arrays', sums)
        self.test('numbers_have_the_fewest_digits_that_tell_them', numbers)
        self.test('work_that_is_none_has_no_rate', work)
        self.test('verify_of_a_right_result_says_so', verified)
        self.test('device_minus_one_is_the_cpu', on_the_cpu)

    def about(self):
        def listed():
            lines = self.good('--list', driver=False).splitlines()
            assert lines == sorted(lines) and len(lines) >= 10, lines
            wanted = ('int cf_gather_f32_i64(const float *source, const int64_t *index, float *res, int64_t N, '
                      'int64_t M);')
            return '' if re.search(rf'^gather_f32_i64 +{re.escape(wanted)}$', '\n'.join(lines), re.M) else lines

        def described():
            out = self.good('--describe', 'gather_i64_i32', driver=False)
            wanted = ('gather_i64_i32\n', 'in        source[M], i64\n', 'in        index[N], i32\n',
                      'out       res[N], i64\n', 'value     N, i64\n', 'check     0 <= index[:] < M\n',
                      'launch    grid(N) block(256) items(4)\n', 'kernels/gather.cu:')
            missing = [text for text in wanted if text not in out]
            return f'{missing} missing in {out}' if missing else ''

        def family():
            out = self.good('--describe=gather', driver=False)
            return '' if out.count('\n  function ') == 12 else out or 'no text'

        def helped():
            out = self.good('--help', driver=False)
            return '' if out.startswith('usage: cf-run') and '--verify' in out else out or 'no text'

        def counted():
            """The message has the same number of kernels as --list."""
            count = len(self.good('--list', driver=False).splitlines())
            for program, *more in (('cf-run',), ('cf-bench',), ('cf-tune', '--dry-run')):
                _, _, err = run([os.path.join(self.build, program), *more, 'frobnicate'])
                wanted = f"{program}: there is no kernel 'frobnicate'; cf-run --list shows the {count} kernels\n"
                assert err == wanted, (err, wanted)
            return ''

        self.test('list_prints_names_and_prototypes', listed, False)
        self.test('unknown_kernel_error_counts_listed_ones', counted, False)
        self.test('describe_of_a_kernel_prints_all', described, False)
        self.test('describe_of_a_family_prints_each', family, False)
        self.test('help_prints_usage', helped, False)
        self.test('version_prints_three_numbers', lambda: '' if re.fullmatch(
            r'cf-run \d+\.\d+\.\d+\n', self.good('--version', driver=False)) else 'wrong', False)

    # ---- Errors

    def bad_files(self):
        data = pack('f32', [1, 2, 3])
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
        whole = npy_bytes(head, data)

        def header(old, new):
            assert old in head
            return npy_bytes(head.replace(old, new), data)

        for name, content, culprit in (
                ('of_no_bytes', b'', 'no .npy file'),
                ('of_nine_bytes', whole[:9], 'no .npy file'),
                ('with_wrong_magic', b'\x93NUMPX' + whole[6:], 'no .npy file'),
                ('that_is_text', b'1 2 3\n' * 100, 'no .npy file'),
                ('of_version_4', npy_bytes(head, data, version=(4, 0)), '4.0'),
                ('of_version_1_1', npy_bytes(head, data, version=(1, 1)), '1.1'),
                ('cut_in_its_length', b'\x93NUMPY\x02\x00\x00\x00', 'truncated'),
                ('with_header_past_the_end', npy_bytes(head, data, length=60000), 'truncated'),
                ('with_header_of_4_gib', npy_bytes(head, data, version=(2, 0), length=2**32 - 1), 'truncated'),
                ('with_header_of_2_mib', npy_bytes(head + ' ' * 2**21, data, version=(2, 0)), 'header'),
                ('with_garbage_header', npy_bytes('\x00\xff' * 30, data), 'dictionary'),
                ('with_unclosed_header', header(', }', ''), 'dictionary'),
                ('with_code_behind_its_header', header('}', '} + x'), 'dictionary'),
                ('without_descr', header("'descr': '<f4', ", ''), 'descr'),
                ('without_order', header("'fortran_order': False, ", ''), 'fortran_order'),
                ('without_shape', header("'shape': (3,), ", ''), 'shape'),
                ('with_shape_twice', header('(3,), ', "(3,), 'shape': (3,), "), "'shape' twice"),
                ('with_unknown_key', header('(3,), ', "(3,), 'colour': 1, "), "'colour'"),
                ('with_order_that_is_none', header('False', 'false'), 'fortran_order'),
                ('with_shape_that_is_a_number', header('(3,)', '(3)'), 'shape'),
                ('with_negative_shape', header('(3,)', '(-3,)'), 'shape'),
                ('with_unclosed_shape', header('(3,), }', '(3, '), 'shape'),
                ('with_shape_past_64_bits', header('(3,)', '(99999999999999999999,)'), 'too large'),
                ('with_product_past_64_bits', header('(3,)', '(4294967296, 4294967296, 3)'), 'too large'),
                ('with_bytes_past_63_bits', header('(3,)', f'({2**62},)'), 'too large'),
                ('with_40_dimensions', header('(3,)', f'({"1, " * 40})'), 'dimensions'),
                ('of_big_endian_elements', header('<f4', '>f4'), "'>f4', are big-endian"),
                ('of_objects', header('<f4', '|O'), "'|O'"),
                ('of_native_order', header('<f4', '=f4'), "'=f4'"),
                ('of_one_byte_in_any_order', header('<f4', '=i1'), "'=i1'"),
                ('of_quadruple_precision', header('<f4', '<f16'), "'<f16'"),
                ('of_text', header('<f4', '<U3'), "'<U3'"),
                ('of_times', header('<f4', '<M8[ns]'), "'<M8[ns]'"),
                ('of_voids_of_no_bytes', header('<f4', '|V0'), "'|V0'"),
                ('of_a_size_past_64_bits', header('<f4', '|V99999999999999999999'), "'|V99999"),
                ('of_no_fields', header("'<f4'", '[]'), 'descr'),
                ('of_an_unclosed_field', header("'<f4'", "[('a', '<f4'"), 'descr'),
                ('of_a_field_without_type', header("'<f4'", "[('a',)]"), 'descr'),
                ('of_a_field_without_name', header("'<f4'", "[('<f4')]"), 'descr'),
                ('of_fields_without_comma', header("'<f4'", "[('a', '<f4') ('b', '<f4')]"), 'descr'),
                ('of_a_field_of_unclosed_shape', header("'<f4'", "[('a', '<f4', (2, 3)]"), 'descr'),
                ('of_a_field_of_objects', header("'<f4'", "[('a', '|O')]"), "'a'"),
                ('of_a_big_endian_field', header("'<f4'", "[('a', '>f4')]"), 'big-endian'),
                ('of_a_field_past_64_bits', header("'<f4'", f"[('a', '<f8', ({2**62}, 4))]"), 'too large'),
                ('of_fields_past_31_bits', header("'<f4'", f"[('a', '|V{2**30}'), ('b', '|V{2**30}')]"), 'too large'),
                ('of_structures_past_reason', header("'<f4'", "[('a', " * 12 + "'<f4'" + ')]' * 12), 'structures'),
                ('with_descr_that_is_none', header("'<f4'", '4'), 'descr'),
                ('in_fortran_order', npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1), }", data),
                 'Fortran'),
                ('one_byte_short', whole[:-1], 'truncated'),
                ('one_byte_long', whole + b'x', '1 bytes after')):
            self.write('bad.npy', content)
            self.bad(f'file_{name}_is_refused', ['gather', 'source=bad.npy', 'index=fill:i32:1:0', 'res=out.npy'],
                     ['bad.npy: ', culprit])

        os.mkdir(self.path('folder.npy'))
        os.mkfifo(self.path('pipe.npy'))
        socket.socket(socket.AF_UNIX).bind(self.path('socket.npy'))
        self.write('secret.npy', whole)
        os.chmod(self.path('secret.npy'), 0)
        for name, path, culprit in (
                ('that_is_not_there', 'nowhere.npy', 'No such file'),
                ('that_is_a_directory', 'folder.npy', 'it is a folder, not a file'),
                ('that_is_a_pipe', 'pipe.npy', 'it is a pipe, not a file'),
                ('that_is_a_socket', 'socket.npy', 'it is a socket, not a file'),
                ('that_is_dev_zero', '/dev/zero', 'it is a device, not a file'),
                ('that_may_not_be_read', 'secret.npy', 'Permission denied'),
                ('that_is_a_tty', '/dev/tty', '/dev/tty: ')):
            if name == 'that_may_not_be_read' and os.geteuid() == 0:
                self.tap.skip(f'file_{name}_is_refused', 'needs a user who is not root')
                continue
            self.bad(f'file_{name}_is_refused', ['gather', f'source={path}', 'index=fill:i32:1:0', 'res=out.npy'],
                     [path, culprit])
        self.bad('file_whose_name_has_a_newline_gives_one_line', ['gather', 'source=a\nb', 'index=fill:i32:1:0'],
                 ['a?b'])

    def bad_arguments(self):
        source, index = 'source=fill:f32:3:0', 'index=fill:i32:4:0'
        for name, arguments, culprits in (
                ('kernel_omitted', [], ['--help']),
                ('kernel_misspelt', ['gahter', source, index], ["'gahter'", "did you mean 'gather'"]),
                ('kernel_misspelt_instance', ['gather_f32_i23'], ["did you mean 'gather_f32_i"]),
                ('kernel_unknown', ['frobnicate_everything'], ["'frobnicate_everything'", '--list']),
                ('kernel_empty', [''], ["''"]),
                ('describe_of_unknown_kernel', ['--describe', 'gahter'], ["did you mean 'gather'"]),
                ('describe_with_arguments', ['--describe', 'gather', 'x'], ["'x'"]),
                ('list_with_arguments', ['--list', 'x'], ["'x'"]),
                ('list_with_check', ['--check', 'race', '--list'], ['--check: ', 'nothing is run']),
                ('list_with_describe', ['--list', '--describe', 'gather'], ['--list and --describe']),
                ('option_unknown', ['--frobnicate', 'gather'], ["'--frobnicate'"]),
                ('option_abbreviated', ['--verif', 'gather'], ["'--verif'"]),
                ('option_short', ['-v'], ["'-v'"]),
                ('option_without_value', ['gather', source, index, '--repeat'], ['--repeat', 'value']),
                ('option_with_value_it_does_not_take', ['gather', '--verify=yes'], ['--verify']),
                ('repeat_of_zero', ['gather', '--repeat', '0'], ['--repeat 0']),
                ('repeat_of_a_word', ['gather', '--repeat', 'often'], ['--repeat often']),
                ('driver_unknown', ['gather', '--driver', 'metal'], ['--driver metal']),
                ('device_of_a_word', ['gather', '--device', 'first'], ['--device first']),
                ('argument_unknown', ['gather', 'sauce=x.npy'], ["'sauce'", 'source', 'index', 'res', 'N', 'M']),
                ('argument_without_equals', ['gather', 'source'], ["'source'", 'name=value']),
                ('argument_without_name', ['gather', '=x'], ["''"]),
                ('argument_twice', ['gather', source, index, source], ['source', 'twice']),
                ('array_missing', ['gather', source], ['index', 'missing']),
                ('array_of_nothing', ['gather', 'source=', index], ['source=']),
                ('output_of_nothing', ['gather', source, index, 'res='], ['res=']),
                ('inout_output_of_nothing', ['outside', 'x=fill:i32:1:0', 'first=fill:i64:1:1,'], ['first=']),
                ('type_wrong', ['gather_f32_i32', 'source=fill:f64:3:0', index],
                 ['gather_f32_i32', 'source f64', 'source f32']),
                ('type_that_no_instance_takes', ['gather', 'source=fill:f32:3:0', 'index=fill:u8:3:0'],
                 ['source f32, index u8; there is gather_f32_i32 (source f32, index i32, res f32), '
                  'gather_f32_i64 (source f32, index i64, res f32)\n']),
                ('types_that_no_instance_takes', ['gather', 'source=fill:u8:3:0', 'index=fill:u8:3:0'],
                 ['res bf16), gather_bf16_i64', ', and 8 more, which --describe gather shows\n']),
                ('types_of_several_instances', ['fill', 'y=fill:u8:3:0', 'n=3'],
                 ['name one of them: fill_bf16 (y bf16)', ', and 2 more, which']),
                ('length_other_than_given', ['gather', source, index, 'N=5'],
                 ['index', '4 elements', 'N = 5 as given']),
                ('length_negative', ['gather', source, index, 'M=-1'], ['source', 'M = -1']),
                ('length_of_inout', ['outside', 'x=fill:i32:1:0', 'first=fill:i64:2:1', 'lower=0', 'upper=1'],
                 ['first', '2 elements', 'first[1] means 1']),
                ('scalar_missing', ['outside', 'x=fill:i32:1:0', 'first=fill:i64:1:1'], ['lower (i32), upper (i32)']),
                ('scalar_of_a_word', ['gather', source, index, 'N=four'], ['N', "'four'"]),
                ('scalar_of_nothing', ['gather', source, index, 'N='], ['N', "''"]),
                ('scalar_with_fraction', ['gather', source, index, 'N=4.0'], ['N', "'4.0'"]),
                ('scalar_hexadecimal_of_nothing', ['gather', source, index, 'N=0x'], ['N', "'0x'"]),
                ('scalar_past_its_type', ['gather', source, index, f'N={2**63}'], ['N', str(2**63), 'i64']),
                ('scalar_past_everything', ['gather', source, index, f'N={2**200}'], ['N', str(2**200)])):
            self.bad(f'{name}_is_refused', arguments, culprits)

        for name, spec, culprit in (
                ('too_few_fields', 'random:f32', 'random:TYPE:COUNT'),
                ('too_many_fields', 'fill:f32:1:2:3', 'fill:TYPE:COUNT:VALUE'),
                ('far_too_many_fields', 'randint:i32:1:2:3:4:5:6:7:8', 'randint:TYPE:COUNT:LOW:HIGH'),
                ('unknown_type', 'random:f8:3', "'f8'"),
                ('random_integers', 'random:i32:3', 'randint:TYPE:COUNT:LOW:HIGH makes integers'),
                ('randint_floats', 'randint:f32:3:0:1', 'integer'),
                ('count_of_a_word', 'random:f32:many', "'many'"),
                ('count_of_nothing', 'random:f32:', "''"),
                ('count_negative', 'random:f32:-1', "'-1'"),
                ('count_unfinished', 'random:f32:3x', "'3x'"),
                ('count_past_64_bits', 'random:f32:99999999999999999999', '99999999999999999999'),
                ('product_past_64_bits', 'random:f32:4294967296x4294967296', '4294967296x4294967296'),
                ('seed_of_a_word', 'random:f32:3:seed=x', "'x'"),
                ('seed_without_name', 'random:f32:3:5', "'5'"),
                ('seed_negative', 'random:f32:3:seed=-1', '-1'),
                ('range_empty', 'randint:i32:3:5:5', '[5, 5)'),
                ('range_past_the_type', 'randint:i32:3:0:2147483649', 'i32'),
                ('bound_of_a_word', 'randint:i32:3:low:5', "'low'"),
                ('value_of_a_word', 'fill:f32:3:seven', "'seven'"),
                ('value_past_the_type', 'fill:f32:3:1e39', '1e39'),
                ('value_past_the_integer_type', 'fill:i8:3:128', '128')):
            self.bad(f'made_with_{name}_is_refused', ['gather', f'source={spec}', index], [f'source={spec}', culprit])

    def bad_runs(self):
        source = 'source=fill:f32:3:0'
        self.write('index.npy', npy('i32', [0, 1, 3, 7]))
        self.bad('index_outside_is_named', ['gather', source, 'index=index.npy', 'res=out.npy'],
                 ['index[2] = 3', '[0, 3)'], True)
        self.bad('index_negative_is_named', ['gather', source, 'index=fill:i64:5:-1', 'res=out.npy'],
                 ['index[0] = -1', '[0, 3)'], True)
        good = ['gather', source, 'index=fill:i32:4:0']
        for name, path, culprit in (('folder_missing', 'nowhere/out.npy', 'No such file'),
                                    ('in_a_file', 'index.npy/out', 'Not a dir'),
                                    ('that_is_a_directory', 'folder.npy', 'it is a folder, not a file'),
                                    ('that_is_a_socket', 'socket.npy', 'it is a socket, not a file'),
                                    ('of_a_long_name', 'x' * 300, 'too long')):
            self.bad(f'output_{name}_is_refused', [*good, f'res={path}'], [path, culprit], True)

            def before(path=path):
                code, out, _ = self.execute(*good, f'res={path}')
                return '' if code == 1 and not out else out or 'no text'
            self.test(f'output_{name}_is_refused_before_the_run', before)
        self.bad('output_past_the_limit_is_refused', ['gather', source, 'index=fill:i32:100000:0', 'res=out.npy'],
                 ['out.npy', 'too large'], True, preexec_fn=limit_file_size)
        with open(self.program, 'rb') as program:
            sanitized = b'__asan_init' in program.read()
        if sanitized:
            self.tap.skip('memory_past_the_machine_is_refused', NEEDS_NO_SANITIZER)
        else:
            self.bad('memory_past_the_machine_is_refused',
                     ['gather', f'source=fill:f32:{2**60}:0', 'index=fill:i32:4:0'], ['memory', str(2**62)], True)
        self.bad('device_that_is_not_there_is_refused', [*good, '--device', '1000'], ['device 1000'], True)
        with open('/dev/full', 'wb') as full:
            self.bad('stdout_that_is_full_is_an_error', ['--list'], ['stdout', 'No space'], stdout=full)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = RunTest(tap, sys.argv[1], folder)
        if test.no_device:  # tests that need no device have already run on the CPU
            tap.skip('cf_run', test.no_device)
            return tap.close()
        for group in (test.gather, test.outside, test.formats, test.outputs, test.made, test.report, test.about,
                      test.bad_files, test.bad_arguments, test.bad_runs):
            group()
    with tempfile.TemporaryDirectory() as folder:
        ModuleTest(tap, sys.argv[1], folder).run()
    with tempfile.TemporaryDirectory() as folder:
        VerifyTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
