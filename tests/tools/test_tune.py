"""test_tune.py - tests cf-tune as a user runs it: the variants that it finds, their use in later processes, and every
kind of error.

usage: test_tune.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver. Where a test depends on it, the work of
variants differs by a factor of several hundred; the clock of tests/support/work_clock.c measures it.
"""

import ctypes
import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from runner import Runner
from tap import NEEDS_PLAYED_GPU, ROOT, Tap, run

QUICK = ('--time', '0.002', '--cache', '65536', '--sizes', '2^8,2^12')
PLAN = '''
import ctypes
library = ctypes.CDLL('./tuning.so')
library.cf_last_plan.restype = library.cf_last_error.restype = ctypes.c_char_p
n = 1000000
status = library.tuning_both((ctypes.c_float * n)(), (ctypes.c_int * 1)(), n)
print((library.cf_last_error() if status else library.cf_last_plan()).decode())
'''
LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
LINE = re.compile(r'(\S+) ([0-9a-f]{8}) (\S+) 2\^(\d+) (\S+) (\d+\.\d) (\d+\.\d)\n')


class TuneTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.run_program, self.program = self.program, os.path.join(self.build, 'cf-tune')
        folders = map(os.path.abspath, os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep))
        self.is_played = self.driver != 'host' and os.path.join(self.build, 'tests', 'fake') in folders
        if self.driver == 'host' or self.is_played:   # a real GPU has a clock of its own
            os.environ['LD_PRELOAD'] = os.path.join(self.build, 'tests', 'work_clock.so')

    def run(self):
        code, _, err = run([os.path.join(self.build, 'cfcc'), '--shared', '-o', 'tuning.so',
                            os.path.join(self.build, 'tests', 'tuning.o')], cwd=self.folder)
        self.tap.check('kernels_to_tune_are_linked', err or f'exit {code}' if code else '')
        if code == 0:
            for group in (self.found, self.followed, self.written, self.machine, self.failures, self.refused,
                          self.manual):
                group()

    def own(self, *arguments, **options):
        return self.good('--module', 'tuning.so', *QUICK, *arguments, **options)

    def lines(self, name):
        """Returns the rows of a tuning file as {(function, class): (variant, architecture)}."""
        with open(self.path(name), encoding='utf-8') as file:
            head, *rows = file.readlines()
        assert head == 'cuferry tuning 1\n', head
        matches = [LINE.fullmatch(row) for row in rows]
        assert all(matches), rows
        return {(m[1], int(m[4])): (m[5], m[3]) for m in matches}

    # ---- Results

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
            return '' if sorted(self.lines('bundled')) == [('cf_copy_f32', 11), ('cf_copy_f32', 15)] else (
                out or 'no text')

        def internal():
            """Tunes the kernels that a module has as internal copies for its operations."""
            self.write('call.c', b'#include "tuning_internal.h"\n'
                       b'int tuning__enqueue_call(cf_stream s, const int *x, int *y, int n)\n{\n'
                       b'    return tuning_slow_async(s, x, y, n);\n}\n')
            self.build_slow('hidden', lambda text: text.replace('kernel', 'kernel internal', 1) +
                            '#pragma cf operation in(x[n]) out(y[n]) uses(slow)\nvoid call(const int *x, int *y, int '
                            'n);\n',
                            'call.c')
            self.good('--module', 'hidden.so', *QUICK, '--file', 'hidden')
            assert {v[0] for v in self.lines('hidden').values()} == {'STEPS=1'}, self.lines('hidden')
            assert self.ran('', module='hidden.so') == 'STEPS=300'
            return '' if self.ran('hidden', module='hidden.so') == 'STEPS=1' else 'the first runs'

        self.test('kernels_that_operations_call_are_tuned', internal)
        def classes():
            """Where a number of bytes is negative, the library takes 0."""
            self.build_slow('none', lambda text: text.replace('kernel', 'kernel bytes(1.0 * n - 1e9)', 1))
            self.good('--module', 'none.so', *QUICK, '--file', 'none')
            return '' if set(self.lines('none')) == {('tuning_slow', 0)} else self.lines('none')

        self.test('classes_are_those_of_the_library', classes)
        self.test('planted_slow_variants_are_not_taken', planted)
        self.test('found_again_nothing_is_new', again)
        self.test('dry_run_writes_nothing', dry)
        self.test('bundled_kernels_are_tuned', bundled)

    def build_slow(self, name, change, *words):
        """Builds a module that has only the kernel `slow`, with a change in its text."""
        with open(os.path.join(ROOT, 'tests', 'lib', 'kernel', 'tuning.cu'), encoding='utf-8') as file:
            slow = re.search(r'#pragma cf kernel [^#]*STEPS> __global__ void slow.*?\n}\n', file.read(), re.DOTALL)[0]
        self.write(f'{name}.cu', change(slow).encode())
        code, _, err = run([os.path.join(self.build, 'cfcc'), '--shared', '--prefix', 'tuning', *words, '-o',
                            f'{name}.so',
                            f'{name}.cu', *['--cuda=no'] * (self.driver == 'host')], cwd=self.folder)
        assert code == 0, err
        return err

    def ran(self, tuning, *arguments, module='tuning.so', size=256):
        """Returns the variant that another process runs, of the kernel in `arguments` or of `slow`."""
        done = subprocess.run([self.run_program, '--driver', self.driver, '--module', module,
                               *(arguments or ('slow', f'x=fill:i32:{size}:7', 'y=y.npy'))], cwd=self.folder,
                               stdout=subprocess.PIPE,
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
            assert self.build_slow('slow', str, '--tuning', 'planted', '-MD') == ''
            with open(self.path('slow.d'), encoding='utf-8') as file:
                assert 'planted' in file.read()
            code, _, err = run([os.path.join(self.build, 'cfcc'), '--prefix', 'tuning', '--tuning', 'slow.cu',
                                '--cuda=no',
                                '-o', 'slow.o', 'slow.cu'], cwd=self.folder)
            assert code == 1 and "slow.cu:1: it does not begin with 'cuferry tuning 1'" in err, err
            variant = self.ran('', module='slow.so')
            return '' if variant == 'STEPS=1' else variant

        def none_built_in():
            """cfcc ignores lines about other kernels, lines about unknown variants, and a last line that is cut off."""
            with open(self.path('planted'), encoding='utf-8') as file:
                line = next(row for row in file if row.startswith('tuning_slow'))
            said = 'others: no line of it is of a variant of these kernels, whose functions begin with tuning_\n'
            for text, expected in ((line.replace('tuning_', 'heat_'), said), (line.replace('STEPS=1', 'STEPS=2'), said),
                                   ('', ''), (f'# {line}', ''), (line[:-3], '')):
                self.write('others', f'cuferry tuning 1\n{text}'.encode())
                err = self.build_slow('slow', str, '--tuning', 'others')
                assert err == expected, (text, err)
                assert self.ran('', module='slow.so') == 'STEPS=300', text
            return ''

        def refused():
            """Replaces the chosen variant with one that accepts only even numbers."""
            self.execute('--module', 'tuning.so', *QUICK, 'even', '--set', 'n=2', '--file', 'even')
            with open(self.path('even'), encoding='utf-8') as file:
                text = re.sub(r'WAY=\d', 'WAY=2', file.read())
            self.write('even', text.encode())
            found = [self.ran('even', 'even', 'way=y.npy', f'n={n}') for n in (4, 3)]
            return '' if found == ['WAY=2', 'WAY=1'] else found

        self.test('first_variant_is_reported_if_it_runs_instead', refused)
        self.test('following_process_runs_what_was_found', lambda: '' if self.ran('planted') == 'STEPS=1'
                  else 'the first')
        self.test('without_the_file_the_first_runs', lambda: '' if self.ran('') == 'STEPS=300' else 'another')
        self.test('damaged_file_is_not_used', self.damaged)
        self.test('what_was_found_can_be_built_in', built_in)
        self.test('what_is_of_other_kernels_is_not_built_in', none_built_in)

    def damaged(self):
        with open(self.path('planted'), 'rb') as file:
            right = file.read()
        for name, text in (('cut', right[:len(right) // 3]), ('reversed', right[::-1]), ('zeros', right + b'\0'),
                           ('other', right.replace(b'tuning 1', b'tuning 9')), ('garbage', b'\0' + os.urandom(4096))):
            with open(self.path(name), 'wb') as file:
                file.write(text)
            variant = self.ran(name, size=4096)
            assert variant == ('STEPS=1' if name == 'cut' and b'slow' in text.rpartition(b'\n')[0]
                               else 'STEPS=300'), (name, variant)
            if name in ('cut', 'zeros'):
                self.own('quick', '--file', name)
                assert ('tuning_quick', 15) in self.lines(name), name
                continue
            code, out, err = self.execute('--module', 'tuning.so', *QUICK, 'quick', '--file', name)
            with open(self.path(name), 'rb') as file:
                assert file.read() == text and (code, out) == (1, ''), (name, err)
            assert f"{name} does not begin with 'cuferry tuning 1'" in err, (name, err)
        return ''

    # ---- Output files

    def written(self):
        def together():
            """Processes that write a file at the same time keep one another's lines."""
            commands = [[self.program, '--driver', self.driver, '--module', 'tuning.so', *QUICK, '--sizes', size, name,
                         '--file', 'shared'] for name in ('slow', 'quick') for size in ('16', '64', '256')]
            started = [subprocess.Popen(c, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                       for c in commands]
            wrong = [process.communicate()[1] for process in started]
            assert not any(wrong) and not any(process.returncode for process in started), wrong
            rows = self.lines('shared')
            return '' if len(rows) == 6 else rows

        def interrupted():
            """The old file is kept, and no other file is left in its folder."""
            with open(self.path('old'), 'w', encoding='utf-8') as file:
                file.write('cuferry tuning 1\n# mine\n')
            before = sorted(os.listdir(self.folder))
            with subprocess.Popen([self.program, '--driver', self.driver, '--module', 'tuning.so', 'slow', *QUICK,
                                   '--sizes', '2^8:2^12:1.004', '--file', 'old'], cwd=self.folder,
                                   stdout=subprocess.PIPE, start_new_session=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
                process.stdout.readline()   # waits until the measurement has begun
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

        def full():
            code, _, err = self.execute('--module', 'tuning.so', *QUICK, 'quick', '--file', 'kept', '--json',
                                        '/dev/full')
            assert code == 1 and '/dev/full' in err, err
            return '' if len(self.lines('kept')) == 2 else 'lost'

        self.test('findings_are_kept_where_json_cannot_be_written', full)
        self.test('processes_that_write_at_once_lose_nothing', together)
        self.test('interrupted_it_leaves_the_old_file', interrupted)
        self.test('file_is_in_the_cache_of_the_user', environment)

    # ---- The machine

    def machine(self):
        if self.driver == 'host':
            self.test('machine_without_a_gpu_needs_no_measuring', self.nothing_to_measure)
            return
        self.test('machine_is_measured_and_plans_go_by_it', self.measured)
        self.test('machine_file_keeps_other_machines', self.others_kept)
        self.test('machine_file_is_in_the_cache_of_the_user', self.machine_in_cache)
        self.test('machine_that_is_only_shown_is_not_written', self.machine_dry)
        self.test('machine_file_past_the_limit_is_an_error', self.machine_limited)
        self.test('machines_of_processes_that_write_at_once_are_kept', self.machine_locked)
        if self.is_played:
            self.test('gpu_that_reaches_all_memory_needs_no_measuring', self.reaches)
        else:
            self.tap.skip('gpu_that_reaches_all_memory_needs_no_measuring', NEEDS_PLAYED_GPU)
        self.write('mine.txt', b'thread_random 5\n')
        self.write('later', b'cuferry machine 2\n')
        self.write('tuned', b'cuferry tuning 1\n')
        os.mkdir(self.path('taken.lock'))
        for name, words, env, culprit in (
                ('file_of_another_kind', ['--file', 'mine.txt'], {},
                 "mine.txt does not begin with 'cuferry machine 1': it is left as it is"),
                ('environments_file_of_another_kind', [], {'CF_MACHINE_FILE': 'mine.txt'}, 'mine.txt does not begin'),
                ('file_of_a_later_version', ['--file', 'later'], {}, 'later does not begin'),
                ('tuning_file', ['--file', 'tuned'], {}, 'tuned does not begin'),
                ('device', ['--file', '/dev/null'], {}, '/dev/null: it is no file'),
                ('lock_that_is_a_folder', ['--file', 'taken'], {}, 'taken.lock'),
                ('file_in_no_folder', ['--file', 'gone/machine'], {}, 'gone/machine'),
                ('no_place_for_a_file', [], {}, 'CF_MACHINE_FILE is empty')):
            before = self.bytes_of('mine.txt') + self.bytes_of('tuned')
            self.bad(f'machine_{name}_is_refused', ['--machine', *words], [culprit], needs_device=True, env=env)
            self.test(f'machine_{name}_is_left_alone', lambda before=before: '' if
                      before == self.bytes_of('mine.txt') + self.bytes_of('tuned') else 'written over')

    def bytes_of(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def nothing_to_measure(self):
        before = sorted(os.listdir(self.folder))
        out = self.good('--machine', '--file', 'none')
        is_same = sorted(os.listdir(self.folder)) == before
        return '' if out == 'calls run on the CPU: nothing needs measuring\n' and is_same else out or 'no text'

    def sections(self, name):
        """Returns the numbers in a machine file, by the lines that identify the machine."""
        header, *parts = self.bytes_of(name).decode().split('cuferry machine 1\n')
        assert header == '' and len(parts) == 1, parts
        *parts, rest = parts[0].split('end\n')
        assert rest == '', rest
        found = {}
        for part in parts:
            lines = part.splitlines(keepends=True)
            numbers = dict(line.split() for line in lines[4:])
            assert [line.split()[0] for line in lines[:4]] == ['gpu', 'driver', 'processor', 'threads'], lines
            assert len(numbers) == 10 and all(re.fullmatch(r'\d\de-?\d+', n) for n in numbers.values()), numbers
            found[''.join(lines[:4])] = numbers
        return found

    def plan(self, machine):
        """Runs another process; returns its plan for a call with arrays in host memory."""
        code, out, err = run([sys.executable, '-c', PLAN], cwd=self.folder,
                             env=dict(os.environ, CF_DRIVER=self.driver, CF_HOST_DATA='auto', CF_MACHINE_FILE=machine))
        assert code == 0 and out.startswith('tuning_both: on '), (code, out, err)
        return out

    def measured(self):
        out = self.good('--machine', '--file', 'machine')
        assert out.endswith('\nwritten to machine\n'), out
        (identity, numbers), = self.sections('machine').items()
        assert out.startswith(identity) and all(f'{k} {v}\n' in out for k, v in numbers.items()), out
        assert os.stat(self.path('machine')).st_mode & 0o777 == 0o600
        plan = self.plan('')
        assert ' ms expected; ' in plan and ', by default constants' in plan, plan
        plan = self.plan('machine')
        return '' if ' ms expected; ' in plan and 'by default constants' not in plan else plan

    def others_kept(self):
        """Sections of other machines are kept, and damaged sections are removed."""
        (identity, numbers), = self.sections('machine').items()
        lines = ''.join(f'{k} {v}\n' for k, v in numbers.items())
        other = 'gpu Another\ndriver 1\nprocessor one\nthreads 4\n'
        self.write('machine', f'cuferry machine 1\nnoise\nend\n{other}{lines}end\ngpu cut\n{identity}{lines}end\ngpu '
                              'cut off'.encode())
        self.good('--machine', '--file', 'machine')
        assert list(self.sections('machine')) == [other, identity], self.sections('machine')
        assert 'by default constants' not in self.plan('machine')
        self.write('machine', b'')
        self.good('--machine', '--file', 'machine')
        return '' if list(self.sections('machine')) == [identity] else self.sections('machine')

    def machine_in_cache(self):
        self.good('--machine', env={'CF_MACHINE_FILE': None, 'XDG_CACHE_HOME': self.path('made')})
        assert os.stat(self.path('made')).st_mode & 0o777 == os.stat(self.path('made/cuferry')).st_mode & 0o777 == 0o700
        return '' if len(self.sections('made/cuferry/machine')) == 1 else 'no machine'

    def machine_dry(self):
        before = sorted(os.listdir(self.folder))
        out = self.good('--machine', '--dry-run')
        return '' if out.endswith('\nnot written\n') and sorted(os.listdir(self.folder)) == before else out or 'no text'

    def machine_limited(self):
        """A limit on the file size has the effect of a full disk."""
        before = sorted(os.listdir(self.folder)), self.bytes_of('machine')
        code, _, err = self.execute('--machine', '--file', 'machine',
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        assert (code, err) == (1, 'cf-tune: machine: File too large\n'), (code, err)
        after = sorted(os.listdir(self.folder)), self.bytes_of('machine')
        return '' if before == after else after

    def machine_locked(self):
        """cf-tune reads the file only after it has got the lock. Here another process holds the lock until it has
        written."""
        (identity, numbers), = self.sections('machine').items()
        lock = self.path('machine.lock')
        with open(lock, 'wb') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with subprocess.Popen([self.program, '--driver', self.driver, '--machine', '--file', 'machine'],
                                  cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                while process.poll() is None and lock not in opened(process.pid):
                    time.sleep(0.01)
                is_waiting = process.poll() is None
                lines = ''.join(f'{k} {v}\n' for k, v in numbers.items())
                other = 'gpu Another\ndriver 1\nprocessor one\nthreads 4\n'
                with open(self.path('machine'), 'a', encoding='utf-8') as machine:
                    machine.write(f'{other}{lines}end\n')
                os.remove(lock)
                fcntl.flock(file, fcntl.LOCK_UN)
                err = process.communicate()[1]
        assert is_waiting and process.returncode == 0 and not os.path.exists(lock), (is_waiting, err)
        return '' if list(self.sections('machine')) == [other, identity] else self.sections('machine')

    def reaches(self):
        out = self.good('--machine', '--file', 'none', env={'FAKE_CUDA': 'pageable=1'})
        return '' if out == 'GPU 0 reaches all memory: nothing needs measuring\n' else out or 'no text'

    # ---- Errors

    def failures(self):
        def wrong():
            """A variant with wrong results is never chosen, however fast it is; the right variants are compared."""
            code, out, err = self.execute('--module', 'tuning.so', *QUICK, 'wrong', '--file', 'wrong')
            assert code == 1 and err.startswith('cf-tune: 2 runs failed; the first: wrong STEPS=0: y['), err
            assert re.search(r'^wrong STEPS=0 at 256 FAILED: y\[\d+\] = 0 and -?\d+ by the first variant; ', out,
                             re.MULTILINE), out
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
                ('machine_with_a_kernel', ['--machine', 'copy'], ['--machine goes with', 'not with copy: ']),
                *((f'machine_with_{option}', ['--machine', f'--{option}', value], [f'not with --{option}: '])
                  for option, value in (('sizes', '16'), ('time', '0.1'), ('limit', '60'), ('cache', '0'),
                                        ('set', 'n=1'),
                                        ('except', 'copy'), ('module', 'tuning.so'), ('json', 'all.json'))),
                ('machine_with_verify', ['--machine', '--verify'], ['not with --verify: ']),
                ('driver_that_is_none', ['--driver', 'gpu'], ['--driver gpu']),
                ('time_that_is_no_number', ['--time', 'long'], ['--time long']),
                ('limit_of_nothing', ['--limit', '0'], ['--limit 0']),
                ('sizes_that_are_none', ['--sizes', '2^', '--dry-run', *own], ['2^']),
                ('kernel_that_is_not_there', ['--dry-run', *own, 'nothing'], ['nothing']),
                ('kernel_without_variants', ['--dry-run', 'axpy'],
                 ['no kernel that is meant has variants', 'tune(...)']),
                ('module_that_is_not_there', ['--dry-run', '--module', 'gone.so'], ['gone.so']),
                ('setting_that_is_none', ['--dry-run', *own, '--set', 'm=1'], ['--set m=1']),
                ('file_in_no_folder', ['--file', 'gone/tuning', *own], ['gone/tuning']),
                ('json_in_no_folder', ['--dry-run', '--json', 'gone/json', *own], ['gone/json']),
                ('no_place_for_a_file', [*own], ['CF_TUNING is empty', '--file'])):
            self.bad(f'{name}_is_refused', arguments, culprits)
        self.unwritable()
        self.bad('device_that_is_not_there_is_refused', ['--dry-run', '--device', '77', *own], ['77'],
                 needs_device=True)
        self.bad('nothing_that_could_be_timed_is_a_failure',
                 ['--dry-run', *own, *QUICK, '--set', 'n=-1', 'slow'], ['nothing could be timed'],
                 needs_device=True)

    def unwritable(self):
        """cf-tune refuses a file that it cannot write before it measures; measuring would take longer than the test
        may."""
        long = ('--module', 'tuning.so', '--time', '1000')
        for name in ('closed', 'closed/cuferry', 'home', 'locked/tuning.lock'):
            os.makedirs(self.path(name))
        for name in ('closed/tuning', 'closed/cuferry/tuning', 'inside'):
            self.write(name, b'cuferry tuning 1\n')
        os.symlink('closed/tuning', self.path('link'))
        self.write('results.csv', b'a,b\n1,2\n')
        for name in ('closed', 'closed/cuferry', 'home'):
            os.chmod(self.path(name), 0o555)
        usual = {'CF_TUNING': None, 'XDG_CACHE_HOME': None, 'HOME': self.path('home')}
        for name, words, env, culprit in (
                ('environments_file_in_no_folder', [], {'CF_TUNING': 'gone/tuning'}, 'gone/tuning'),
                ('file_in_a_folder_that_is_read_only', ['--file', 'closed/tuning'], {}, 'closed/tuning'),
                ('link_to_a_file_in_a_folder_that_is_read_only', ['--file', 'link'], {}, 'link'),
                ('home_that_is_read_only', [], usual, 'home/.cache'),
                ('cache_that_is_read_only', [], {**usual, 'XDG_CACHE_HOME': self.path('closed')},
                 'closed/cuferry/tuning'),
                ('lock_that_is_a_folder', ['--file', 'locked/tuning'], {}, 'locked/tuning.lock'),
                ('file_that_is_none_of_its_kind', [], {'CF_TUNING': 'results.csv'},
                 "results.csv does not begin with 'cuferry tuning 1'"),
                ('file_that_is_a_device', ['--file', '/dev/null'], {}, '/dev/null: it is no file'),
                ('json_in_a_folder_that_is_read_only', ['--dry-run', '--json', 'closed/tuning'], {}, 'closed/tuning')):
            self.bad(f'{name}_is_refused', [*long, *words], [culprit], preexec_fn=as_any_user, env=env)
        for name in ('closed', 'closed/cuferry', 'home'):
            os.chmod(self.path(name), 0o755)


def opened(process):
    """Returns the paths of all files that a process has open."""
    paths = set()
    try:
        for number in os.listdir(f'/proc/{process}/fd'):
            paths.add(os.readlink(f'/proc/{process}/fd/{number}'))
    except OSError:  # the process has closed a file, or has ended
        pass
    return paths


def as_any_user():
    """Makes a process of root obey file permissions."""
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError('prctl')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        TuneTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
