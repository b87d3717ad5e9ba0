"""test_tune.py - cf-tune as a user runs it: what it finds, what following processes make of that, and every way to go wrong.

usage: test_tune.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver. Variants that are to be told apart differ by a
factor of some hundred.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from runner import Runner
from tap import Tap, run

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = ('--time', '0.002', '--cache', '65536', '--sizes', '2^8,2^12')
LINE = re.compile(r'(\S+) ([0-9a-f]{8}) (\S+) 2\^(\d+) (\S+) (\d+\.\d) (\d+\.\d)\n')


class TuneTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.run_program, self.program = self.program, os.path.join(self.build, 'cf-tune')

    def run(self):
        code, _, err = run([os.path.join(self.build, 'cfcc'), '--shared', '-o', 'tuning.so',
                            os.path.join(self.build, 'tests', 'tuning.o')], cwd=self.folder)
        self.tap.check('kernels_to_tune_are_linked', err if code else '')
        if code == 0:
            for group in (self.found, self.followed, self.written, self.failures, self.refused, self.manual):
                group()

    def own(self, *arguments, **options):
        return self.good('--module', 'tuning.so', *QUICK, *arguments, **options)

    def lines(self, name):
        """Rows of a file: {(function, class): (variant, architecture)}."""
        with open(self.path(name), encoding='utf-8') as file:
            head, *rows = file.readlines()
        assert head == 'cuferry tuning 1\n', head
        matches = [LINE.fullmatch(row) for row in rows]
        assert all(matches), rows
        return {(m[1], int(m[4])): (m[5], m[3]) for m in matches}

    # ---- What is found

    def found(self):
        def planted():
            out = self.own('slow', 'quick', '--file', 'planted')
            rows = self.lines('planted')
            assert {k: v[0] for k, v in rows.items()} == {
                (f'tuning_{name}', c): 'STEPS=1' for name in ('slow', 'quick') for c in (11, 15)}, rows
            place = {v[1] for v in rows.values()}
            assert place == {'host'} if self.driver == 'host' else re.fullmatch(r"\{'sm_\d+'\}", str(place)), place
            assert re.search(r'^slow +2\^12 +2\^15 +STEPS=1 .* \d+\.\d{3}  new$', out, re.MULTILINE), out
            assert re.search(r'^quick +2\^12 +2\^15 +STEPS=1 .* 1\.000$', out, re.MULTILINE), out
            assert out.endswith('\n4 results written to planted\n'), out
            return ''

        def again():
            out = self.own('slow', '--file', 'planted')
            rows = self.lines('planted')
            return '' if len(rows) == 4 and ' new\n' not in out else (out, rows)

        def dry():
            out = self.own('slow', '--file', 'dry', '--dry-run', '--json', 'all.json')
            assert not os.path.exists(self.path('dry')) and 'not written to dry' in out, out
            with open(self.path('all.json'), encoding='utf-8') as file:
                results = json.load(file)['results']
            variants = [r['variant'] for r in results if r['kernel'] == 'slow' and r['outcome'] == 'measured']
            return '' if sorted(variants) == ['STEPS=1'] * 4 + ['STEPS=300'] * 4 else variants

        def bundled():
            out = self.good('copy_f32', *QUICK, '--file', 'bundled')
            return '' if sorted(self.lines('bundled')) == [('cf_copy_f32', 11), ('cf_copy_f32', 15)] else out

        self.test('planted_slow_variants_are_not_taken', planted)
        self.test('found_again_nothing_is_new', again)
        self.test('dry_run_writes_nothing', dry)
        self.test('bundled_kernels_are_tuned', bundled)

    def ran(self, tuning, module='tuning.so', size=256):
        """The variant that another process runs."""
        done = subprocess.run([self.run_program, '--driver', self.driver, '--module', module, 'slow',
                               f'x=fill:i32:{size}:7', 'y=y.npy'], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, env=dict(os.environ, CF_TUNING=tuning))
        assert done.returncode == 0, done.stderr
        told, planned = (re.search(p, done.stdout.decode(), re.MULTILINE)
                         for p in (r'^variant +(\S+)$', r'^plan .*; variant (\S+)$'))
        assert told[1] == planned[1], done.stdout
        return told[1]

    def followed(self):
        def built_in():
            with open(self.path('planted'), 'a', encoding='utf-8') as file:
                file.write('another_kernel 00000000 host 2^1 A=1 1.0 1.0\n')
            with open(os.path.join(HERE, 'tuning.cu'), encoding='utf-8') as file:
                slow = re.search(r'#pragma cf kernel [^#]*STEPS> __global__ void slow.*?\n}\n', file.read(), re.DOTALL)[0]
            with open(self.path('slow.cu'), 'w', encoding='utf-8') as file:
                file.write(slow)
            code, _, err = run([os.path.join(self.build, 'cfcc'), '--shared', '--prefix', 'tuning', '--tuning', 'planted',
                                '-MD', '-o', 'slow.so', 'slow.cu', *['--cuda=no'] * (self.driver == 'host')],
                               cwd=self.folder)
            assert code == 0, err
            with open(self.path('slow.d'), encoding='utf-8') as file:
                assert 'planted' in file.read()
            code, _, err = run([os.path.join(self.build, 'cfcc'), '--prefix', 'tuning', '--tuning', 'slow.cu', '--cuda=no',
                                '-o', 'slow.o', 'slow.cu'], cwd=self.folder)
            assert code == 1 and "slow.cu:1: it does not begin with 'cuferry tuning 1'" in err, err
            variant = self.ran('', module='slow.so')
            return '' if variant == 'STEPS=1' else variant

        self.test('following_process_runs_what_was_found', lambda: '' if self.ran('planted') == 'STEPS=1' else 'the first')
        self.test('without_the_file_the_first_runs', lambda: '' if self.ran('') == 'STEPS=300' else 'another')
        self.test('damaged_file_is_not_used', self.damaged)
        self.test('what_was_found_can_be_built_in', built_in)

    def damaged(self):
        with open(self.path('planted'), 'rb') as file:
            right = file.read()
        for name, text in (('cut', right[:len(right) // 3]), ('reversed', right[::-1]), ('zeros', right + b'\0'),
                           ('other', right.replace(b'tuning 1', b'tuning 9')), ('garbage', os.urandom(4096))):
            with open(self.path(name), 'wb') as file:
                file.write(text)
            variant = self.ran(name, size=4096)
            assert variant == ('STEPS=1' if name == 'cut' and b'slow' in text.rpartition(b'\n')[0] else 'STEPS=300'), (name, variant)
            self.own('quick', '--file', name)
            assert ('tuning_quick', 15) in self.lines(name), name
        return ''

    # ---- What is written

    def written(self):
        def together():
            """Each of several that write at once keeps what the others have written."""
            commands = [[self.program, '--driver', self.driver, '--module', 'tuning.so', *QUICK, '--sizes', size, name,
                         '--file', 'shared'] for name in ('slow', 'quick') for size in ('16', '64', '256')]
            started = [subprocess.Popen(c, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                       for c in commands]
            wrong = [process.communicate()[1] for process in started]
            assert not any(wrong) and not any(process.returncode for process in started), wrong
            rows = self.lines('shared')
            return '' if len(rows) == 6 else rows

        def interrupted():
            """The old file stays, and nothing beside it."""
            with open(self.path('old'), 'w', encoding='utf-8') as file:
                file.write('cuferry tuning 1\n# mine\n')
            before = sorted(os.listdir(self.folder))
            with subprocess.Popen([self.program, '--driver', self.driver, '--module', 'tuning.so', 'slow', *QUICK,
                                   '--sizes', '2^8:2^12:1.004', '--file', 'old'], cwd=self.folder, stdout=subprocess.PIPE, start_new_session=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
                process.stdout.readline()   # it has begun to measure
                os.killpg(process.pid, signal.SIGINT)
                process.wait()
            assert process.returncode == -signal.SIGINT, process.returncode
            assert sorted(os.listdir(self.folder)) == before, os.listdir(self.folder)
            with open(self.path('old'), encoding='utf-8') as file:
                return '' if file.read() == 'cuferry tuning 1\n# mine\n' else 'another file'

        def environment():
            env = dict(os.environ, XDG_CACHE_HOME=self.path('cache'))
            del env['CF_TUNING']
            done = subprocess.run([self.program, '--driver', self.driver, '--module', 'tuning.so', *QUICK, 'quick'],
                                  cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            assert done.returncode == 0, done.stderr
            return '' if len(self.lines('cache/cuferry/tuning')) == 2 else done.stdout

        self.test('processes_that_write_at_once_lose_nothing', together)
        self.test('interrupted_it_leaves_the_old_file', interrupted)
        self.test('file_is_in_the_cache_of_the_user', environment)

    # ---- What goes wrong

    def failures(self):
        def wrong():
            """A variant that is wrong is not taken, however quick; the others are."""
            code, out, err = self.execute('--module', 'tuning.so', *QUICK, 'wrong', '--file', 'wrong')
            assert code == 1 and err.startswith('cf-tune: 2 runs failed; the first: wrong STEPS=0: y['), err
            assert re.search(r'^wrong STEPS=0 at 256 FAILED: y\[\d+\] = 0 and -?\d+ by the first variant; ', out, re.MULTILINE), out
            assert re.search(r'^wrong STEPS=-1 at 256 FAILED: ', out, re.MULTILINE), out
            taken = {v[0] for v in self.lines('wrong').values()}
            return '' if taken and taken <= {'STEPS=1', 'STEPS=300'} else taken

        self.test('wrong_variants_are_never_taken', wrong)

    def refused(self):
        own = ('--module', 'tuning.so')
        for name, arguments, culprits in (
                ('option_that_is_none', ['--fast'], ["unknown option '--fast'"]),
                ('option_without_value', ['--file'], ['--file needs a value']),
                ('empty_file', ['--file', ''], ['--file']),
                ('driver_that_is_none', ['--driver', 'gpu'], ['--driver gpu']),
                ('time_that_is_no_number', ['--time', 'long'], ['--time long']),
                ('limit_of_nothing', ['--limit', '0'], ['--limit 0']),
                ('sizes_that_are_none', ['--sizes', '2^', '--dry-run', *own], ['2^']),
                ('kernel_that_is_not_there', ['--dry-run', *own, 'nothing'], ['nothing']),
                ('kernel_without_variants', ['--dry-run', 'axpy'], ['no kernel that is named has variants', 'tune(...)']),
                ('module_that_is_not_there', ['--dry-run', '--module', 'gone.so'], ['gone.so']),
                ('setting_that_is_none', ['--dry-run', *own, '--set', 'm=1'], ['--set m=1']),
                ('file_in_no_folder', ['--file', 'gone/tuning', *own], ['gone/tuning']),
                ('json_in_no_folder', ['--dry-run', '--json', 'gone/json', *own], ['gone/json']),
                ('no_place_for_a_file', [*own], ['CF_TUNING is empty', '--file'])):
            self.bad(f'{name}_is_refused', arguments, culprits)
        self.bad('device_that_is_not_there_is_refused', ['--dry-run', '--device', '77', *own], ['77'], needs_device=True)
        self.bad('nothing_that_could_be_timed_is_a_failure',
                 ['--dry-run', *own, *QUICK, '--set', 'n=-1', 'slow'], ['nothing could be timed'],
                 needs_device=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        TuneTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
