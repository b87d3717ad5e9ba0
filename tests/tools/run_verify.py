"""run_verify.py - tests cf-run --verify --all on the bundled kernels, on right and wrong kernels of verify.cu, and on
kernels of other tests."""

import os
import re
import signal
import subprocess

from runner import Runner
from tap import NEEDS_LONG, NEEDS_NO_SANITIZER, run

HERE = os.path.dirname(os.path.abspath(__file__))

# The kernels of each file that are left out, because their results may have any order, or because their arrays must be
# trees or levels instead of random numbers.
PORTS = {'port_reduce': ('compact_active',), 'port_dense': (), 'port_idioms': ('hash_count',), 'port_groups': ()}
# These files take most of the time on the CPU; tests of their own compare their kernels with plain loops.
LONG = ('port_dense',)


def rows(out):
    """Returns, for each kernel in the table, the number of sizes and the remaining text."""
    lines = re.findall(r'^(\S+(?: \S+=\S+)?) +(\d+|-)  (.*)$', out, re.MULTILINE)
    return {name: (sizes, rest) for name, sizes, rest in lines}


class VerifyTest(Runner):
    def run(self):
        cfcc = os.path.join(self.build, 'cfcc')
        cuda = ['--cuda', 'no'] if self.driver == 'host' else []
        code, _, err = run([cfcc, *cuda, '-O0', '--shared', '-o', 'verify.so', os.path.join(HERE, 'verify.cu')],
                           cwd=self.folder)
        self.tap.check('kernels_to_verify_are_compiled', err or f'exit {code}' if code else '')
        if code == 0:
            for group in (self.bundled, self.good_ones, self.wrong_ones, self.ended, self.left_out, self.refused,
                          self.ports):
                group()

    def verify(self, *arguments):
        """Returns the status, the rows of the table, its first and last line, and stderr."""
        code, out, err = self.execute('--verify', '--all', *arguments)
        lines = out.splitlines()
        return code, rows(out), lines[0] if lines else '', lines[-1] if lines else '', err

    def is_sanitized(self):
        with open(os.path.join(self.build, 'cfcc.json'), encoding='utf-8') as config:
            return '-fsanitize' in config.read()

    def own(self, *arguments):
        return self.verify('--module', 'verify.so', *arguments)

    def bundled(self):
        def everything():
            code, found, head, last, err = self.verify()
            listed = [line.split()[0] for line in self.good('--list', driver=False).splitlines()]
            assert code == 0 and not err, (code, err)
            assert sorted({name.split()[0] for name in found}) == sorted(listed), (found, listed)
            wanted = 'no GPU: only two orders of threads on the CPU' if self.driver == 'host' else 'device 0 ('
            assert head.startswith(f'verify: {wanted}'), head
            assert last == f'verify: {len(found)} of {len(found)} kernels agree, 0 differ, 0 were not run', last
            row = found['gather_f32_i64']
            return '' if row == ('13', 'agree bit for bit; in parts, 9 times') else row

        def on_the_cpu():
            code, out, err = self.execute('--verify', '--all', '--device', '-1', 'outside_i32')
            return '' if code == 0 and 'two orders of threads' in out.splitlines()[0] else (code, out, err)

        self.test('every_bundled_kernel_agrees', everything)
        self.test('device_of_the_cpu_compares_two_orders', on_the_cpu)

    def good_ones(self):
        def agree():
            code, found, _, _, err = self.own('picky', 'midst', 'indexed', 'linked', 'merged', 'tally')
            assert code == 0 and sorted(found) == ['indexed', 'linked', 'merged', 'midst', 'picky', 'tally'], (code,
                                                                                                       found, err)
            return '' if all(int(n) >= 5 and rest == 'agree bit for bit' for n, rest in found.values()) else found

        def family():
            code, out, err = self.execute('--verify', '--all', '--except', 'gather_f32_i32', '--except=gather_i64_i64',
                                          'gather')
            return '' if code == 0 and len(rows(out)) == 10 and 'gather_f32_i32' not in out else (code, out, err)

        def in_place():
            code, found, _, _, err = self.own('adds')
            self.good('--module', 'verify.so', '--verify', 'adds', 'x=randint:i32:34:20:50', 'k=randint:u32:33:20:200',
                      'y=fill:i32:33:1')
            return '' if code == 0 and found['adds'] == ('9', 'agree bit for bit; in place, 24 times') else (found, err)

        def padded():
            code, found, _, _, err = self.own('pads')
            return '' if code == 0 and found['pads'][1].startswith('agree') else (found, err)

        self.test('kernels_of_few_good_values_and_sections_agree', agree)
        self.test('structs_agree_whose_padding_differs', padded)
        self.test('kernel_agrees_with_arrays_that_are_one', in_place)
        self.test('a_family_less_two_is_verified', family)

    def wrong_ones(self):
        for kernel, culprits in (
                ('forgets', [r'n = 31: y\[30\] is not written; 1 of 31 elements are not']),
                ('spills', [r'nx = \d+, ny = \d+, ld = \d+: \d+ bytes beside the section of v are overwritten']),
                ('scribbles', [r'n = \d+: x is written, although it is an in\(\); declare it inout\(\.\.\.\); the '
                               r'first is element 5']),
                ('passes', [r'n = 33: 1 bytes beside the section of y are overwritten']),
                ('deals', [r'n = 0, m = 5: y\[0\] is not written; 5 of 5 elements are not']),
                ('precedes', [r'n = 33: 2 bytes beside the section of y are overwritten']),
                ('differences', [r'n = \d+: y is x, in place: y\[\d+\] = .* and .* on the CPU; \d+ of \d+ elements '
                                 r'differ']),
                ('reaches', [r'n = \d+: y is x, in place: \d bytes beside the section of y are overwritten']),
                ('numbers', [r'n = \d+: split\(n\) does not hold, in two calls, the first for \d+: y\[\d+\] = 0 in two '
                             r'calls '
                             r'and \d+ in one, on the CPU; \d+ of \d+ elements']),
                ('smooths', [r'rows = \d+, width = \d+: split\(rows\) does not hold, in two calls, the first for \d+: '
                             r'y\[\d+\]\[0\] = .* in two calls and .* in one, on the CPU; \d+ of']),
                ('sixteens', [r'n = \d+: split\(n\) does not hold, in two calls, the first for 16: y\[16\] = ']),
                ('tolerant', [r'n = 31: tolerance\(1 - n\) is -30'])):
            def body(kernel=kernel, culprits=culprits):
                code, found, _, last, err = self.own(kernel)
                assert code == 1 and found[kernel][1].startswith('DIFFERS: '), (code, found)
                assert last == 'verify: 0 of 1 kernels agree, 1 differ, 0 were not run', last
                assert err.startswith(f'cf-run: verify: 1 of 1 kernels differ; the first: {kernel}: '), err
                return '' if all(re.search(c, found[kernel][1]) and re.search(c, err) for c in culprits) else found
            self.test(f'kernel_that_{kernel}_is_reported', body)

        def one():
            n = 1000 if self.driver == 'host' else 1 << 20 # more elements than a GPU processes at once
            arguments = ('--module', 'verify.so', '--verify', 'differences', f'x=random:f32:{n + 1}',
                         f'w=random:f32:{n}')
            code, out, err = self.execute(*arguments)
            told = rf'verify: y: {n} of {n} .*\nverify: y is x, in place: \d+ of {n} elements match\n'
            return '' if code == 1 and re.search(told, out) and re.fullmatch(
                r'cf-run: differences: verify: y is x, in place: y\[\d+\] = .* and .* elements differ, .*\n',
                err) else (out, err)

        def scribbled():
            code, _, err = self.execute('--module', 'verify.so', '--verify', 'scribbles', 'x=fill:f32:33:2')
            wanted = ('cf-run: scribbles: verify: on the CPU, x[5] is written, although it is an in(); declare it '
                      'inout(...); 1 of 33 elements differ\n')
            return '' if code == 1 and err == wanted else (code, err)

        def counts():
            code, found, _, _, _ = self.own('counts', 'midst')
            place = 'in another order' if self.driver == 'host' else 'on device 0'
            wanted = rf'DIFFERS: count\[0\] = \d+ {place} and 11 on the CPU; 1 of 1 elements differ, by up to .*'
            return '' if code == 1 and found['midst'][1].startswith('agree') and re.fullmatch(
                wanted, found['counts'][1]) else found
        def made_members():
            _, found, _, _, _ = self.own('weighs', 'loads')
            return '' if all(text.startswith('DIFFERS: n = 1: y[0] = ') for _, text in found.values()) else found
        self.test('one_kernel_that_differs_in_place_is_reported', one)
        self.test('input_that_the_kernel_writes_is_reported', scribbled)
        if self.driver == 'host':  # a GPU counts separately, and also comes to 1
            self.test('kernel_that_differs_from_run_to_run_is_reported', counts)
            self.test('members_of_structs_are_made', made_members)
            self.members()

    def members(self):
        for kernel, size, wanted in (
                ('miscounts', 31, r'tiles\[17\]\.cells\[2\]\.row = \d+ {} \d+ {}; 1 of {} elements differ, by up to '
                                  r'\S+, tolerance 5'),
                ('reweighs', 31, r'tiles\[30\]\.cells\[1\]\.weight = \S+ {} \S+ {}; 1 of {} elements differ, by up to '
                                 r'\S+'),
                ('remarks', 1, r'y\[0\]\.set = 0x\w{{8}} {} 0x\w{{8}} {}; {} of {} elements differ, compared by '
                               r'bytes')):
            def all_sizes(kernel=kernel, size=size, wanted=wanted):
                text = wanted.format('in another order and', 'on the CPU', size, size)
                code, found, _, _, _ = self.own(kernel)
                return '' if code == 1 and re.fullmatch(f'DIFFERS: n = {size}: {text}', found[kernel][1]) else found

            def one(kernel=kernel, wanted=wanted):
                text = wanted.format('in the run and', 'in another order on the CPU', 40, 40)
                code, _, err = self.execute('--module', 'verify.so', '--verify', kernel, 'n=40')
                return '' if code == 1 and re.fullmatch(f'cf-run: {kernel}: verify: {text}\n', err) else (code, err)
            self.test(f'member_that_{kernel}_is_named', all_sizes)
            self.test(f'member_that_{kernel}_is_named_in_one_run', one)

    def ended(self):
        """Tests a run that a signal ends; sanitizers report it differently."""
        wanted = f'cf-run: strays: the run was ended by signal 11 ({signal.strsignal(signal.SIGSEGV)}); --check ' \
                 'address may '

        def alone(more):
            code, _, err = self.execute('--module', 'verify.so', 'strays', 'x=fill:i32:33:0', *more)
            return '' if code == 2 and err == wanted + 'tell where\n' else (code, err)

        def of_all(*more):
            names = ('falls', 'midst', 'picky', 'strays', 'tally')
            code, out, err = self.execute('--module', 'verify.so', '--verify', '--all', *more, *names)
            found = rows(out)
            assert tuple(found) == names and out.count('\nkernel ') == 1, out
            for kernel, number in (('falls', signal.SIGABRT), ('strays', signal.SIGSEGV)):
                assert found[kernel] == ('-', f'FAILED: it ended the process by signal {number} '
                                         f'({signal.strsignal(number)}); --check address may tell where, --except '
                                         'leaves it out'), found
            assert all(found[kernel][1] == 'agree bit for bit' for kernel in ('midst', 'picky', 'tally')), found
            assert '\nverify: 3 of 5 kernels agree, 0 differ, 0 were not run, 2 ended the process\n' in out, out
            return '' if code == 1 and ('cf-run: verify: 2 of 5 kernels fail; the first: falls: it ended the process '
                                        'by signal 6 ') in err else (code, err)

        def of_checked():
            names = ('falls', 'midst', 'picky', 'strays', 'tally')
            code, out, err = self.execute('--module', 'verify.so', '--verify', '--all', '--check', 'address', *names)
            found = rows(out)
            assert code == 1 and tuple(found) == names, (code, out, err)
            assert found['strays'][1].startswith('FAILED: the check found an error in it, and the process ended; ')
            assert all(found[kernel][1] == 'agree bit for bit' for kernel in ('midst', 'picky', 'tally')), found
            wild = re.findall(r': a wild access, of address 0x\w+; .*\[strays\]$', err, re.MULTILINE)
            return '' if len(wild) == 1 and '--check=address found 1 error' in err else err or 'no text'

        def of_random():
            code, out, err = self.execute('--module', 'verify.so', '--verify', '--all', '--check', 'address',
                                          '--repeat', '20', 'midst', 'strays')
            found = rows(out)
            assert code == 1 and found['strays'][1].startswith('FAILED: the check found an error'), (code, out, err)
            return '' if found['midst'] == ('20', 'no failure, nothing was compared') else out

        def of_one_output():
            command = [self.program, '--driver', self.driver, '--module', 'verify.so', '--verify', '--all', '--check',
                       'address', 'midst', 'strays']
            out = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, universal_newlines=True, check=False).stdout
            wild = re.findall(r'^\S+: a wild access, of address .*\[strays\]$', out, re.MULTILINE)
            return '' if len(wild) == 1 and rows(out)['strays'][1].startswith('FAILED: the check found') else out

        if not self.is_sanitized():
            self.test('signal_that_ends_the_run_is_reported', lambda: alone(['--device', '-1']))
            self.test('signal_that_ends_the_run_to_compare_is_reported', lambda: alone(['--verify']))
            self.test('others_run_after_kernels_that_signals_end', of_all)
            if self.driver == 'host':
                self.test('others_run_after_kernels_that_signals_end_in_a_check', lambda: of_all('--check', 'race'))
                self.test('others_run_after_errors_of_a_check', of_checked)
                self.test('runs_with_random_numbers_are_counted_and_checked', of_random)
                self.test('finding_does_not_split_its_row', of_one_output)

    def left_out(self):
        def reasons():
            code, found, _, last, err = self.own('never', 'elsewhere', 'too_large', 'crowded', 'picky', 'through',
                                                 'among', 'hides', 'lists', 'shows')
            assert code == 0, (code, err)
            assert last == 'verify: 2 of 10 kernels agree, 0 differ, 8 were not run', last
            wanted = {'never': 'no values pass', 'elsewhere': 'no form for the CPU', 'too_large': 'block',
                      'through': 'v.data: pointers cannot be made up',
                      'hides': 'v: its type may hold pointers, which cannot be made up',
                      'lists': 'views: its type may hold pointers, which cannot be made up',
                      'among': 'pairs.views[].data: pointers cannot be made up',
                      'crowded': 'rows: checks bound more than 32 members; bound the others in a struct of their own'}
            return '' if all(found[k][0] == '-' and text in found[k][1] for k, text in wanted.items()) else found

        def nothing():
            code, _, _, _, err = self.own('never')
            return '' if code == 1 and 'none of 1 kernels could be run' in err else (code, err)

        self.test('kernels_that_cannot_be_run_say_why', reasons)
        self.test('nothing_to_run_is_a_failure', nothing)

    def refused(self):
        for name, arguments, culprits in (
                ('all_without_verify', ['--all'], ['--all', '--verify']),
                ('except_without_all', ['--verify', '--except', 'gather', 'gather'], ['--except', '--all']),
                ('all_of_an_unknown_kernel', ['--verify', '--all', 'gahter'], ["'gahter'", "did you mean 'gather'"]),
                ('all_except_an_unknown_kernel', ['--verify', '--all', '--except', 'gahter'], ["'gahter'"]),
                ('all_with_an_argument', ['--verify', '--all', 'gather', 'N=5'], ["'N=5'"]),
                ('all_with_repeats', ['--verify', '--all', '--repeat', '2'], ['--repeat']),
                ('all_with_a_variant', ['--verify', '--all', '--variant', 'BLOCK=1'], ['--variant'])):
            self.bad(f'{name}_is_refused', arguments, culprits)

    def ports(self):
        """Verifies the kernels of the ports, except where a sanitizer makes them slow."""
        is_slow = self.is_sanitized()
        # A played GPU runs the blocks in one order only; the CPU itself runs them in two orders.
        folders = os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep)
        is_played = self.driver != 'host' and os.path.join(self.build, 'tests', 'fake') in map(os.path.abspath, folders)
        for name, exceptions in PORTS.items():
            path = os.path.join(self.build, 'tests', f'{name}.o')
            is_left = name in LONG and self.driver == 'host' and 'CHECK_LONG' not in os.environ
            reason = (NEEDS_NO_SANITIZER if is_slow else 'needs a real GPU or the CPU' if is_played else
                      NEEDS_LONG if is_left else '' if os.path.exists(path) else 'needs the kernels of all tests')
            if reason:
                self.tap.skip(f'every_kernel_of_{name}_agrees', reason)
                continue

            def body(path=path, exceptions=exceptions):
                words = [word for kernel in exceptions for word in ('--except', kernel)]
                code, _, _, last, err = self.verify('--module', os.path.abspath(path), *words)
                return '' if code == 0 and ' 0 differ, 0 were not run' in last else err + last or 'no text'
            self.test(f'every_kernel_of_{name}_agrees', body)
