"""test_bench.py - tests cf-bench as a user runs it: tables, files, comparisons, kernels that fail, and every kind of
error.

usage: test_bench.py BUILD_FOLDER

Runs on the CPU, or with CF_DRIVER=cuda in the environment on that driver, at small sizes. No test looks at a measured
time: comparisons use files that the test changes.
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
import xml.etree.ElementTree as ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from runner import TIMEOUT, Runner
from tap import Tap, run

SVG = '{http://www.w3.org/2000/svg}'
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
    """Returns True for a row with a time, its spread, GB/s, a fraction, GFLOP/s, samples and, in comparisons, a ratio.
    """
    return bool(re.fullmatch(r'[0-9.]+ (ns|us|ms|s) +[0-9.]+ %!? +[0-9.]+ +[0-9.]+ +([0-9.]+|-) +\d+( .*)?', row))


def outside(root):
    """Returns the parts of a plot that lie outside of it: lines, points and letters. The letter widths are estimates
    that few letters exceed."""
    width, height = (float(number) for number in root.get('viewBox').split()[2:])
    letter, lost = {'monospace': 0.61, 'sans-serif': 0.58}, []
    for element in root.iter():
        numbers = {key: float(element.get(key)) for key in ('x', 'x1', 'x2', 'cx', 'y', 'y1', 'y2', 'cy')
                   if element.get(key)}
        places = [(key.strip('c12'), number) for key, number in numbers.items()]
        if element.tag == SVG + 'text' and 'x' in numbers:
            size = float(element.get('font-size') or root.get('font-size'))
            long = len(''.join(element.itertext())) * size * letter[element.get('font-family')
                                                                    or root.get('font-family')]
            begin = numbers['x'] - long * {'end': 1, 'middle': 0.5}.get(element.get('text-anchor'), 0)
            places += [('x', begin), ('x', begin + long), ('y', numbers['y'] - size), ('y', numbers['y'] + size / 3)]
        lost += [(element.tag, element.text, axis, place) for axis, place in places
                 if not 0 <= place <= (width if axis == 'x' else height)]
    return lost


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


class BenchTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.program = os.path.join(self.build, 'cf-bench')

    def run(self):
        if not self.prepare():
            return
        for group in (self.tables, self.files, self.busy, self.comparisons, self.settings, self.failures, self.refused,
                      self.manual):
            group()

    def prepare(self):
        """Links the kernels of bench.cu, which the build has compiled."""
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
            """Each column has a name that ends where its numbers end; the last two columns depend on the options."""
            self.own('--sizes', '64', 'twice_f32', '--json', 'columns.json')
            for more, last in (((), 'samples'), (('--against', 'columns.json'), 'now/then')):
                lines = self.good('--from', 'columns.json', *more, driver=False).splitlines()
                head, row = next((a, b) for a, b in zip(lines, lines[1:]) if a.startswith('kernel '))
                names = ['kernel', 'size', 'time', 'spread', 'GB/s', 'of', 'limit', 'GFLOP/s', 'samples', 'now/then']
                assert head.split() == names[:names.index(last) + 1] and len(head) == len(row), (head, row)
            return ''

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
                except OSError:  # Linux reports the end in this way
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

    def draw(self, to, kernels, sizes, date='2026-05-01', busy=0, busy_limit=False, factor=1, variant=None, **device):
        """Draws the plot of invented results; the first `busy` results have a spread above 20 %."""
        def around(median, is_busy):
            lower, upper = (0.5, 1.5) if is_busy else (0.95, 1.05)
            return {'least': lower * median, 'lower': lower * median, 'median': median, 'upper': upper * median,
                    'most': upper * median, 'samples': 9}
        with open(self.path('results.json'), encoding='utf-8') as file:
            found = json.load(file)
        found['machine']['date'] = date
        found['device'].update(device)
        found['limit']['seconds'] = around(found['limit']['seconds']['median'], busy_limit)
        pattern, found['results'] = found['results'][0], []
        for kernel in kernels:
            for size in sizes:
                seconds = around(12 * size / (factor * found['limit']['bandwidth']), len(found['results']) < busy)
                found['results'].append(dict(pattern, kernel=kernel, variant=variant, size=size,
                                             bytes=min(12 * size, 1e18),
                                             seconds=seconds))
        self.write(f'{to}.json', json.dumps(found).encode())
        self.good('--from', f'{to}.json', '--plot', f'{to}.svg', driver=False)
        return ElementTree.parse(self.path(f'{to}.svg')).getroot()

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
            """The limit is of the threads that run kernels."""
            code, out, err = self.execute('--module', 'bench.so', *QUICK, '--sizes', '64', 'twice_f32', '--json',
                                          'one.json', env={'CF_THREADS': '1'})
            with open(self.path('one.json'), encoding='utf-8') as file:
                limit = json.load(file)['limit']
            return '' if code == 0 and limit['threads'] == 1 and ', on the CPU with 1 thread; ' in out else (out, err)

        def again():
            self.good('--from', 'results.json', '--json', 'again.json', driver=False)
            with open(self.path('results.json'), 'rb') as one, open(self.path('again.json'), 'rb') as other:
                return '' if one.read() == other.read() else 'the two files differ'

        def plot():
            self.own('--sizes', '2^4:2^8:4', 'twice', 'field', '--plot', 'plot.svg')
            root = ElementTree.parse(self.path('plot.svg')).getroot()
            assert root.tag == SVG + 'svg' and not root.findall(f'.//{SVG}script'), root

            def of(tag, name):
                return [e for e in root.iter(SVG + tag) if e.get('class') == name]
            paths = of('path', 'kernel')
            assert len(of('circle', 'point')) == 9 and len(paths) == 3, 'points'
            assert all(path.get('d').count('L') == 2 for path in paths), [path.get('d') for path in paths]
            assert len(of('line', 'limit')) == 1 and len(of('line', 'spread')) == 9, 'limit'
            assert [e.text for e in of('text', 'legend')] == ['field', 'twice_f32', 'twice_i64'], 'legend'
            xs = [float(e.get('cx')) for e in of('circle', 'point')][:3]
            ticks = [e.text for e in root.iter(SVG + 'tspan')]
            return '' if abs(xs[0] + xs[2] - 2 * xs[1]) < 0.1 and ticks == ['4', '5', '6', '7', '8'] else (xs, ticks)

        def texts():
            """The plot has a title with kernels and date, and explains its bars, its limit and its hollow points."""
            root = self.draw('texts', ['twice_f32', 'field'], [64, 128], busy=1)
            title, = (e.text for e in root.iter(SVG + 'text') if e.get('class') == 'title')
            assert title == root.find(SVG + 'title').text == 'twice_f32, field: bandwidth over size, 2026-05-01', title
            caption = ' '.join(e.text for e in root.iter(SVG + 'text') if e.get('class') == 'caption')
            assert all(word in caption for word in ('bar', 'first to their third quartile', 'limit', 'a copy',
                                                    'Hollow')), caption
            fills = [e.get('fill') == '#fff' for e in root.iter(SVG + 'circle')]
            assert fills == [True, False, False, False], fills
            root = self.draw('quiet', [f'kernel_{i}' for i in range(30)], [64], date=None)
            title = root.find(SVG + 'title').text
            return '' if re.fullmatch(r'kernel_0, .*kernel_\d and \d\d more: bandwidth over size', title) and \
                'Hollow' not in ElementTree.tostring(root).decode() else title

        def inside():
            """Nothing lies outside of the drawing for any results, and bars have the right ends."""
            for number, (kernels, sizes, options) in enumerate((
                    (['twice_f32'], [64], {}), (['k' * 150, 'x'], [64, 2**40], {'variant': 'B' * 80 + '=1'}),
                    ([f'kernel_{i}' for i in range(60)], [3**i for i in range(38)], {}),
                    (['one'], [1], {'factor': 1e-15}),
                    (['large'], [2**61], {'factor': 1e12}), (['wide', 'busy'], [64, 128], {'busy': 2, 'factor': 50}),
                    (['far'], [64], {'name': 'W' * 150}))):
                problem = outside(self.draw(f'inside{number}', kernels, sizes, **options))
                if problem:
                    return f'{number}: {problem}'
            root = self.draw('bars', ['wide'], [64], busy=1, factor=50)
            bottom = max(float(e.get('y2')) for e in root.iter(SVG + 'line') if e.get('class') == 'tick')
            point, = (bottom - float(e.get('cy')) for e in root.iter(SVG + 'circle'))
            bar, = (e for e in root.iter(SVG + 'line') if e.get('class') == 'spread')
            ends = [round((bottom - float(bar.get(key))) / point, 2) for key in ('y1', 'y2')]
            return '' if ends == [2, 0.67] else ends

        def failed_row():
            code, _, _ = self.execute('--module', 'bench.so', *QUICK, 'traps', 'small', '--sizes', '32,64,1024',
                                      '--json',
                                      'failed.json', '--plot', 'failed.svg')
            with open(self.path('failed.json'), encoding='utf-8') as file:
                found = {(r['kernel'], r['size']): r for r in json.load(file)['results']}
            points = [e for e in ElementTree.parse(self.path('failed.svg')).getroot().iter(SVG + 'circle')]
            assert code == 1 and found['traps', 64]['outcome'] == 'failed' and '__trap' in found['traps', 64]['reason']
            assert 'seconds' not in found['traps', 64] and found['small', 1024]['outcome'] == 'not run', found
            return '' if len(points) == 3 else len(points)

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
            code, _, err = self.execute('--from', 'results.json', '--json', 'kept.json', driver=False,
                                        preexec_fn=limit_file_size)
            with open(self.path('kept.json'), 'rb') as file:
                kept = file.read()
            left = [name for name in os.listdir(self.folder) if name.endswith('.tmp')]
            return '' if code == 1 and 'kept.json' in err and kept == b'old' and not left else (code, err, kept, left)

        def locale():
            environ = dict(os.environ, LC_ALL='de_DE.UTF-8', LC_NUMERIC='de_DE.UTF-8')
            code, _, err = run([self.program, '--from', 'results.json', '--json', 'german.json'], cwd=self.folder,
                               env=environ)
            with open(self.path('results.json'), 'rb') as one, open(self.path('german.json'), 'rb') as other:
                return '' if code == 0 and one.read() == other.read() else err or 'no text'

        self.test('json_has_what_the_manual_says', schema)
        if self.driver == 'host':
            self.test('limit_is_of_the_threads_in_use', one_thread)
        self.test('results_from_a_file_are_the_same', again)
        self.test('plot_has_a_point_for_each_result', plot)
        self.test('plot_says_what_it_shows', texts)
        self.test('plot_clips_nothing', inside)
        self.test('what_failed_has_no_times_and_no_points', failed_row)
        if self.driver == 'host':  # a GPU would be lost
            self.test('kernel_that_ends_the_process_is_reported_with_its_signal', ended)
        self.test('file_that_cannot_be_written_is_left_alone', whole)
        self.test('numbers_are_the_same_in_any_locale', locale)

    def busy(self):
        """A spread above 20 % is marked, with a warning at the end."""
        def told(name, *arguments, **options):
            self.draw(name, *arguments, **options)
            out = self.good('--from', f'{name}.json', driver=False)
            return out.splitlines()[-1], sum('%!' in line for line in out.splitlines())

        def results():
            begin = 'warning: the machine is busy; a spread above 20 % (!) means that the figure means nothing: '
            for options, wanted, said in (({'busy': 3}, 3, '3 of 4 results; '),
                                          ({'busy_limit': True}, 1, 'the limit; '),
                                          ({'busy': 1, 'busy_limit': True}, 2, '1 of 4 results, the limit; ')):
                last, marks = told('busy', ['a', 'b'], [64, 128], **options)
                assert marks == wanted and last.startswith(begin + said), (last, marks)
            return ''

        def none():
            last, marks = told('idle', ['a'], [64])
            return '' if not marks and last.startswith('a ') else (last, marks)

        self.test('results_of_a_busy_machine_are_reported', results)
        self.test('results_of_an_idle_machine_are_not', none)

    # ---- Comparisons

    def plant(self, name, factor, kernel='twice_f32', **changes):
        """Copies the results; in the copy a kernel took `factor` times as long, with a narrow spread."""
        with open(self.path('base.json'), encoding='utf-8') as file:
            found = json.load(file)
        for result in found['results']:
            median = result['seconds']['median']
            result['seconds'] = {'least': median, 'lower': median, 'median': median, 'upper': median, 'most': median,
                                 'samples': 9}
            if result['kernel'] == kernel:
                for key in ('least', 'lower', 'median', 'upper', 'most'):
                    result['seconds'][key] *= factor
                result.update(changes)
        self.write(name, json.dumps(found).encode())

    def comparisons(self):
        def compare(*arguments, now='now.json', then='then.json'):
            return self.execute('--from', now, '--against', then, *arguments, driver=False)

        def planted():
            self.own('--sizes', '64,2^10', 'twice', '--json', 'base.json')
            self.plant('then.json', 1)
            self.plant('now.json', 2)
            code, out, err = compare()
            found = rows(out)
            assert code == 0 and not err, err
            assert all(found['twice_f32', size].endswith('2.000 slower') for size in ('64', '2^10')), found
            assert all(found['twice_i64', size].endswith(' 1.000') for size in ('64', '2^10')), found
            last = 'against: 2 slower, 0 faster, 2 within the spread, 0 new, 0 without a time'
            return '' if out.splitlines()[-1] == last else out or 'no text'

        def strict():
            codes = [compare('--strict', tolerance)[0] for tolerance in ('0.5', '99%', '1.01', '5')]
            _, _, err = compare('--strict', '0.5')
            assert err == ('cf-bench: --strict: 2 results are worse; the first: twice_f32 at 64 takes 2.000 times as '
                           'long\n'), err
            return '' if codes == [1, 1, 0, 0] else codes

        def faster():
            code, out, _ = compare('--strict', '0', now='then.json', then='now.json')
            return '' if code == 0 and '2 faster' in out and rows(out)['twice_f32', '64'].endswith(
                '0.500 faster') else out

        def new():
            self.plant('other.json', 1, kernel='twice_i64', values='n = 3')
            _, out, _ = compare(then='other.json')
            found = rows(out)
            return '' if found['twice_i64', '64'].endswith('new') and '2 new' in out else out or 'no text'

        def broken():
            with open(self.path('base.json'), encoding='utf-8') as file:
                found = json.load(file)
            found['results'][0] = {'kernel': 'twice_f32', 'variant': None, 'size': 64, 'outcome': 'failed',
                                   'reason': 'x'}
            self.write('broken.json', json.dumps(found).encode())
            code, out, err = compare('--strict', '9', now='broken.json')
            return '' if code == 1 and '1 without a time' in out and 'has no time any more' in err else (code, out, err)

        def measured():
            """Compares with recent results whose times were changed beyond any real difference."""
            self.plant('slow.json', 1e6)
            self.plant('fast.json', 1e-6)
            slow = self.own('--sizes', '64', 'twice_f32', '--against', 'slow.json')
            fast = self.own('--sizes', '64', 'twice_f32', '--against', 'fast.json')
            return '' if rows(slow)['twice_f32', '64'].endswith('faster') and rows(fast)['twice_f32', '64'].endswith(
                'slower') else slow + fast

        self.test('planted_slowdown_is_marked', planted)
        self.test('strict_fails_past_its_tolerance', strict)
        self.test('planted_speedup_is_marked', faster)
        self.test('results_without_an_earlier_one_are_new', new)
        self.test('result_that_is_lost_fails_where_strict', broken)
        self.test('what_is_measured_is_compared', measured)

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
        self.write('newer.json', b'{"cf_bench": 3}')
        self.write('broken.json', b'{\n"cf_bench": 1,\n}')
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
            ('strict_of_letters', ['--against', 'none.json', '--strict', 'x'], ['--strict x']),
            ('strict_without_against', ['--strict', '1'], ['--strict', '--against']),
            ('set_without_a_value', ['--set', 'n'], ['--set n', 'NAME=VALUE']),
            ('set_of_an_unknown_name', ['--set', 'zz=1', 'axpy'], ['--set zz=1']),
            ('set_of_another_type', ['--set', 'n=1.5', 'axpy'], ['axpy_bf16: n', '1.5']),
            ('module_that_is_none', ['--module', 'none.json'], ['none.json']),
            ('from_with_a_kernel', ['--from', 'none.json', 'axpy'], ['--from none.json']),
            ('against_a_file_that_is_not_there', ['--against', 'gone.json'], ['gone.json: No such file']),
            ('against_a_pipe', ['--against', 'pipe.json'], ['pipe.json: it is a pipe, not a file']),
            ('against_something_else', ['--against', 'none.json'], ['none.json: no result of cf-bench', '"cuferry"']),
            ('against_another_format', ['--against', 'newer.json'], ['newer.json', '"cf_bench"']),
            ('against_no_json', ['--against', 'broken.json'], ['broken.json:3: ']))
        os.mkfifo(os.path.join(self.folder, 'pipe.json'))
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
