"""test_bench.py - tests cf-bench as a user runs it: tables, files, kernels that fail, and every kind of error.

usage: test_bench.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver, at small sizes. No test looks at a measured
time.
"""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from runner import TIMEOUT, Runner
from tap import Tap, run

AXPY = tuple(f'axpy_{tag}' for tag in ('f32', 'f64', 'i32', 'i64', 'f16', 'bf16'))
QUICK = ('--time', '0.002', '--cache', '65536')


def rows(out):
    """Returns the row of the table for each kernel and size."""
    found = {}
    for line in out.splitlines():
        match = re.match(r'^(\S+(?: \S+=\S+)?) +(2\^\d+|\d+|-)  (.*)$', line)
        if match and match.group(1) not in ('device', 'threads', 'limit'):
            found[match.group(1), match.group(2)] = match.group(3).strip()
    return found


def is_measured(row):
    """Returns True if the row has a time, its spread, GB/s, a fraction, GFLOP/s and the number of samples."""
    return bool(re.fullmatch(r'[0-9.]+ (ns|us|ms|s) +[0-9.]+ %!? +[0-9.]+ +[0-9.]+ +([0-9.]+|-) +\d+', row))


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


class BenchTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.program = os.path.join(self.build, 'cf-bench')

    def run(self):
        if not self.prepare():
            return
        for group in (self.tables, self.files, self.settings, self.failures, self.refused, self.manual):
            group()

    def prepare(self):
        """Links the kernels of bench.cu, which the build has already compiled."""
        code, _, err = run([os.path.join(self.build, 'cfcc'), '--shared', '-o', 'bench.so',
                            os.path.join(self.build, 'tests', 'bench.o')], cwd=self.folder)
        self.tap.check('kernels_to_time_are_linked', err or f'exit {code}' if code else '')
        return code == 0

    def own(self, *arguments, **options):
        return self.good('--module', 'bench.so', *QUICK, *arguments, **options)

    def failing(self, *arguments):
        """Returns the rows and the last line of stderr of a run that must fail."""
        code, out, err = self.execute('--module', 'bench.so', *QUICK, *arguments)
        assert code == 1 and err, (code, out, err)
        return rows(out), err.splitlines()[-1]

    # ---- Tables

    def tables(self):
        def bundled():
            out = self.good('axpy', 'gather_f32_i64', '--sizes', '1,1000,2^12', *QUICK)
            found = rows(out)
            assert sorted(found) == sorted((k, s) for k in AXPY + ('gather_f32_i64',)
                                           for s in ('1', '1000', '2^12')), found
            limit = r'a copy of [0-9.]+ MiB, on the GPU;'
            if self.driver == 'host':
                limit = r'an? (copy|update|read) of [0-9.]+ MiB, on the CPU with \d+ threads?;'
            assert re.search(rf'^limit +[0-9.]+ GB/s read and written by {limit}', out, re.MULTILINE), out
            place = r'device  CPU \(' if self.driver == 'host' else r'device  0 \(.*driver for CUDA \d+\.\d'
            assert re.match(place, out), out
            return '' if all(is_measured(row) for row in found.values()) else found

        def columns():
            """The name of each column ends where the column's numbers end."""
            lines = self.own('--sizes', '64', 'twice_f32').splitlines()
            head, row = next((a, b) for a, b in zip(lines, lines[1:]) if a.startswith('kernel '))
            names = ['kernel', 'size', 'time', 'spread', 'GB/s', 'of', 'limit', 'GFLOP/s', 'samples']
            return '' if head.split() == names and len(head) == len(row) else (head, row)

        def family():
            found = rows(self.own('--sizes', '64', 'twice', '--except', 'twice_i64'))
            return '' if list(found) == [('twice_f32', '64')] else found

        def variants():
            one, both = self.own('--sizes', '64', 'count'), self.own('--sizes', '64', '--variants', 'count')
            return '' if list(rows(one)) == [('count', '64')] and list(rows(both)) == [
                ('count BLOCK=64', '64'), ('count BLOCK=128', '64')] else one + both

        def constant():
            found = rows(self.own('constant', '--sizes', '1:2^20'))
            return '' if list(found) == [('constant', '64')] and is_measured(found['constant', '64']) else found

        def changed():
            found = rows(self.own('once', '--sizes', '1,100,2^10', '--cache', '0'))
            return '' if len(found) == 3 and all(map(is_measured, found.values())) else found

        def progress():
            command = [self.program, '--driver', self.driver, '--module', 'bench.so', *QUICK, 'twice_f32', '--sizes',
                       '64']
            primary, replica = pty.openpty()
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=replica) as process:
                os.close(replica)
                said = b''
                try:
                    while part := os.read(primary, 4096):
                        said += part
                except OSError:  # Linux reports the end of a terminal's output in this way
                    pass
                out = process.stdout.read().decode()
                process.wait(TIMEOUT)
            os.close(primary)
            assert ('twice_f32', '64') in rows(out) and '\r' not in out, out
            return '' if b'1 of 1: twice_f32 at 64' in said and said.endswith(b'\r\x1b[K') else said or 'no text'

        self.test('bundled_kernels_are_timed', bundled)
        self.test('columns_have_names', columns)
        self.test('family_less_one_is_timed', family)
        self.test('variants_of_a_tuned_kernel_are_timed', variants)
        self.test('kernel_of_one_size_is_timed_once', constant)
        self.test('arrays_that_change_are_made_good_before_they_come_again', changed)
        self.test('progress_is_reported_to_a_terminal_alone', progress)

    # ---- Files

    def results(self, *arguments):
        self.own('--json', 'results.json', *arguments)
        with open(self.path('results.json'), encoding='utf-8') as file:
            return json.load(file)

    def files(self):
        def schema():
            found = self.results('--sizes', '64,2^10,2^33', 'twice_f32', 'field', '--device', '-1') \
                if self.driver == 'host' else self.results('--sizes', '64,2^10', 'twice_f32', 'field')
            assert found['cf_bench'] == 2 and set(found) == {'cf_bench', 'machine', 'device', 'limit', 'results'}, found
            assert set(found['machine']) == {'cuferry', 'date', 'system', 'processor', 'threads'}
            assert re.fullmatch(r'\d{4}-\d\d-\d\d', found['machine']['date']), found['machine']
            assert found['device']['driver'] == self.driver and found['device']['cache'] == 65536, found['device']
            for result in found['results'][:2]:
                seconds = result['seconds']
                order = [seconds[key] for key in ('least', 'lower', 'median', 'upper', 'most')]
                assert order == sorted(order) and order[0] > 0 and seconds['samples'] >= 5, seconds
                assert result['outcome'] == 'measured' and result['verified'] is True, result
                assert abs(result['bandwidth'] * seconds['median'] / result['bytes'] - 1) < 1e-12, result
                assert result['flops'] is None or abs(result['flops_per_second'] * seconds['median'] / result['flops'] -
                                                      1) < 1e-12, result
                assert abs(result['bandwidth'] / found['limit']['bandwidth'] / result['fraction'] - 1) < 1e-12, result
            limit = found['limit']
            assert limit['device'] == found['device']['name'] and limit['access'] in (
                ('copy', 'update', 'read') if self.driver == 'host' else ('copy',)), limit
            assert limit['threads'] == (found['machine']['threads'] if self.driver == 'host' else None), limit
            field, twice = found['results'][0], [r for r in found['results'] if r['kernel'] == 'twice_f32']
            assert (field['values'], field['elements'], field['flops']) == ('nx = 8, ny = 8, ld = 9', 64, None), field
            assert field['bytes'] == 2 * 4 * 64, field
            return '' if [r['flops'] for r in twice[:2]] == [64, 1024] and twice[1]['bytes'] == 8192 else twice

        def one_thread():
            """The limit applies to the threads that run kernels."""
            code, out, err = self.execute('--module', 'bench.so', *QUICK, '--sizes', '64', 'twice_f32', '--json',
                                          'one.json', env={'CF_THREADS': '1'})
            with open(self.path('one.json'), encoding='utf-8') as file:
                limit = json.load(file)['limit']
            return '' if code == 0 and limit['threads'] == 1 and ', on the CPU with 1 thread; ' in out else (out, err)

        def plotted():
            """cf-plot reads the results, and prints the same rows without the samples."""
            out = self.own('--sizes', '64', 'twice', 'field', '--json', 'plotted.json')
            code, again, err = run([os.path.join(self.build, 'cf-plot'), 'plotted.json'], cwd=self.folder)
            wanted = {key: re.split(r'  +', row)[:-1] for key, row in rows(out).items()}
            found = {key: re.split(r'  +', row) for key, row in rows(again).items()}
            return '' if code == 0 and not err and len(found) == 3 and found == wanted else (err, again, out)

        def failed_row():
            code, _, _ = self.execute('--module', 'bench.so', *QUICK, 'traps', 'small', '--sizes', '32,64,1024',
                                      '--json', 'failed.json')
            with open(self.path('failed.json'), encoding='utf-8') as file:
                found = {(r['kernel'], r['size']): r for r in json.load(file)['results']}
            assert code == 1 and found['traps', 64]['outcome'] == 'failed' and '__trap' in found['traps', 64]['reason']
            return '' if 'seconds' not in found['traps', 64] and found['small', 1024]['outcome'] == 'not run' else found

        def ended():
            code, _, _ = self.execute('--module', 'bench.so', *QUICK, 'strays', 'twice_f32', '--sizes', '32,64',
                                      '--json',
                                        'ended.json')
            with open(self.path('ended.json'), encoding='utf-8') as file:
                found = {(r['kernel'], r['size']): r for r in json.load(file)['results']}
            with open(os.path.join(self.build, 'cfcc.json'), encoding='utf-8') as config:
                is_sanitized = '-fsanitize' in config.read()
            reason = found['strays', 64]['reason']
            assert [found[key]['outcome'] for key in (('strays', 32), ('strays', 64), ('twice_f32', 64))] == [
                'measured', 'failed', 'measured'], found
            wanted = f'{signal.strsignal(signal.SIGSEGV)}; cf-run --check address may tell where'
            return '' if code == 1 and (reason == f'it ended the process: {wanted}' or is_sanitized) else reason

        def whole():
            self.write('kept.json', b'old')
            code, _, err = self.execute('--module', 'bench.so', *QUICK, 'twice_f32', '--sizes', '64', '--json',
                                        'kept.json', preexec_fn=limit_file_size)
            with open(self.path('kept.json'), 'rb') as file:
                kept = file.read()
            left = [name for name in os.listdir(self.folder) if name.endswith('.tmp')]
            return '' if code == 1 and 'kept.json' in err and kept == b'old' and not left else (code, err, kept, left)

        def locale():
            self.own('--sizes', '64', 'twice_f32', '--json', 'german.json',
                     env={'LC_ALL': 'de_DE.UTF-8', 'LC_NUMERIC': 'de_DE.UTF-8'})
            with open(self.path('german.json'), encoding='utf-8') as file:
                return '' if json.load(file)['results'][0]['seconds']['median'] > 0 else 'no time'

        self.test('json_has_what_the_manual_says', schema)
        if self.driver == 'host':
            self.test('limit_is_of_the_threads_in_use', one_thread)
        self.test('results_are_read_by_cf_plot', plotted)
        self.test('what_failed_has_no_times', failed_row)
        if self.driver == 'host':  # on a GPU the crash would lose the device
            self.test('kernel_that_ends_the_process_is_reported_with_its_signal', ended)
        self.test('file_that_cannot_be_written_is_left_alone', whole)
        self.test('numbers_are_the_same_in_any_locale', locale)

    # ---- Settings

    def settings(self):
        def parameter():
            found = self.results('--sizes', '2^12', '--set', 'nx=100', 'field')['results'][0]
            return '' if found['values'] == 'nx = 100, ny = 40, ld = 101' and found['elements'] == 4000 else found

        def constant():
            found = rows(self.own('constant', '--set', 'offset=7'))
            return '' if is_measured(found['constant', '64']) else found

        def device():
            out = self.own('twice_f32', '--sizes', '64', '--device', '-1')
            return '' if out.startswith('device  CPU (') else out or 'no text'

        def verify():
            found = self.results('--sizes', '64', '--verify', 'twice_i64')['results'][0]
            return '' if found['verified'] is True else found

        self.test('set_fixes_a_parameter', parameter)
        self.test('set_sets_a_constant', constant)
        self.test('device_of_the_cpu_is_taken', device)
        self.test('verify_compares_before_timing', verify)

    # ---- Kernels that fail

    def failures(self):
        def go_on():
            found, last = self.failing('crashes', 'forgets', 'traps', 'twice_f32', '--sizes', '32,64')
            assert found['crashes', '32'].startswith('FAILED: '), found
            assert re.match(r'FAILED: y\[30\] is not written; 1 of 32 elements are not', found['forgets', '32']), found
            assert is_measured(found['traps', '32']) and found['traps', '64'].startswith('FAILED: '), found
            assert ('crashes', '64') not in found and ('forgets', '64') not in found, found
            assert is_measured(found['twice_f32', '32']) and is_measured(found['twice_f32', '64']), found
            return '' if last.startswith('cf-bench: 3 kernels failed; the first: crashes: ') else last

        def hang():
            found, last = self.failing('hangs', '--sizes', '64', '--limit', '1')
            assert found['hangs', '64'] == 'FAILED: it has taken more than 1 s', found
            return '' if 'hangs: it has taken more than 1 s' in last else last

        def left_out():
            found = rows(self.own('never', 'small', 'undeclared', 'twice_f32', '--sizes', '32,2^10'))
            assert found['never', '32'] == 'not run: no values of this size pass its checks', found
            assert found['undeclared', '-'] == 'not run: y: nothing is declared of its extent', found
            assert is_measured(found['small', '32']), found
            return '' if found['small', '2^10'].endswith('allow 100 elements') else found

        def memory():
            found = rows(self.own('twice_f32', 'twice_i64', '--sizes', '64,2^50,2^51', '--limit', '1e15'))
            assert ('twice_f32', '2^51') not in found, found
            return '' if all(found[k, '2^50'].startswith('not run: out of memory: ') and is_measured(found[k, '64'])
                             for k in ('twice_f32', 'twice_i64')) else found

        def too_long():
            found = rows(self.own('twice_f32', '--sizes', '64,2^60'))
            return '' if re.fullmatch(r'not run: a launch would take some [0-9.e+]+ s, and the limit is 60 s',
                                      found['twice_f32', '2^60']) else found

        def nothing():
            _, last = self.failing('never')
            return '' if last.startswith('cf-bench: nothing could be timed; the first: never: ') else last

        self.test('kernels_that_fail_end_their_rows_alone', go_on)
        self.test('kernel_that_hangs_is_given_up', hang)
        self.test('kernels_that_cannot_be_run_say_why', left_out)
        self.test('sizes_past_the_memory_are_not_run', memory)
        self.test('sizes_that_would_take_too_long_are_not_run', too_long)
        self.test('nothing_to_time_is_a_failure', nothing)

    # ---- Bad arguments

    def refused(self):
        self.write('none.json', b'{"cf_bench": 2}')
        table = (
            ('sizes_of_letters', ['--sizes', 'x'], ['--sizes x']),
            ('sizes_past_2_62', ['--sizes', '1:2^63'], ['2^63', '2^62']),
            ('sizes_of_a_bad_factor', ['--sizes', '1:9:1'], ['1:9:1', 'factor']),
            ('unknown_kernel', ['gahter'], ["'gahter'", "did you mean 'gather'"]),
            ('unknown_exception', ['--except', 'gahter'], ["'gahter'"]),
            ('no_kernel', ['gather', '--except', 'gather'], ['no kernel']),
            ('unknown_option', ['--size', '1'], ["'--size'"]),
            ('option_without_its_value', ['--json'], ['--json needs a value']),
            ('option_with_a_value_too_much', ['--verify=1'], ['--verify takes no value']),
            ('driver_of_another_name', ['--driver', 'opencl'], ['--driver opencl']),
            ('device_that_is_no_number', ['--device', 'x'], ['--device x']),
            ('time_that_is_no_number', ['--time', '1s'], ['--time 1s']),
            ('time_below_0', ['--time', '-1'], ['--time -1']),
            ('limit_of_0', ['--limit', '0'], ['--limit 0']),
            ('cache_that_is_no_number', ['--cache', '1M'], ['--cache 1M']),
            ('set_without_a_value', ['--set', 'n'], ['--set n', 'NAME=VALUE']),
            ('set_of_an_unknown_name', ['--set', 'zz=1', 'axpy'], ['--set zz=1']),
            ('set_of_another_type', ['--set', 'n=1.5', 'axpy'], ['axpy_bf16: n', '1.5']),
            ('module_that_is_none', ['--module', 'none.json'], ['none.json']))
        for name, arguments, culprits in table:
            self.bad(f'{name}_is_refused', arguments, culprits, driver='--driver' not in arguments)

        def no_folder():
            code, _, err = self.execute('--module', 'bench.so', *QUICK, 'twice_f32', '--sizes', '64', '--json',
                                        'gone/results.json')
            return '' if code == 1 and err.startswith('cf-bench: gone/results.json: ') else (code, err)

        self.test('file_in_no_folder_is_refused', no_folder)
        self.bad('device_that_is_not_there_is_refused', ['--device', '77', 'axpy'], ['77'], needs_device=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        BenchTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
