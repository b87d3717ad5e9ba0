"""test_plot.py - tests cf-plot: its table, comparisons, drawings and every kind of error.

usage: test_plot.py BUILD_FOLDER

The results are invented, so that no test looks at a measured time. Drawings are tested with a stand-in for matplotlib
that records how it is called, and with matplotlib itself if it is installed.
"""

import importlib.util
import json
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from manual import manual_problem
from runner import Runner
from tap import Tap

# Records all calls of methods of the objects that Figure() makes, and saves the records in place of a drawing.
STAND_IN = '''import json
CALLS = []


class Recorder:
    def __init__(self, **named):
        pass

    def __getattr__(self, name):
        def call(*arguments, **named):
            CALLS.append([name, [repr(a) if hasattr(a, 'write') else a for a in arguments], named])
            if name == 'savefig':
                if named['format'] not in ('svg', 'png'):
                    raise ValueError(f"Format '{named['format']}' is not supported")
                arguments[0].write(json.dumps(CALLS).encode())
            return Recorder()
        return call


Figure = Recorder
'''


def around(median, is_busy=False):
    low, high = (0.5, 1.5) if is_busy else (0.95, 1.05)
    return {'least': low * median, 'lower': low * median, 'median': median, 'upper': high * median,
            'most': high * median, 'samples': 9}


def make_result(kernel, size, seconds=None, is_busy=False, **changes):
    """Returns a result at 10 GB/s, or with the time `seconds`."""
    return {'kernel': kernel, 'variant': None, 'size': size, 'outcome': 'measured', 'values': f'n = {size}',
            'elements': size, 'bytes': 10 * size, 'flops': None, 'copies': 1, 'batch': 1, 'verified': True,
            'seconds': around(seconds or size * 1e-9, is_busy), 'bandwidth': 0, 'fraction': 0,
            'flops_per_second': None, **changes}


def make_run(*results, busy_limit=False, **changes):
    machine = {'cuferry': '0.1.0', 'date': '2026-05-01', 'system': 'Linux', 'processor': 'P', 'threads': 2}
    device = {'driver': 'host', 'cuda': None, 'number': -1, 'name': 'CPU', 'capability': 0, 'memory': 1, 'cache': 1}
    limit = {'access': 'copy', 'device': 'CPU', 'threads': 2, 'bytes': 2e10, 'seconds': around(1, busy_limit),
             'bandwidth': 2e10}
    made = {'cf_bench': 2, 'machine': machine, 'device': device, 'limit': limit, 'results': list(results)}
    for key, value in changes.items():
        next(part for part in (made, machine, device) if key in part)[key] = value
    return made


LOST = {'kernel': 'a', 'variant': None, 'size': 64, 'outcome': 'failed', 'reason': 'x\nis wrong'}


class PlotTest(Runner):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.program = os.path.join(self.build, 'cf-plot')
        for name, text in (('with', STAND_IN), ('without', "raise ImportError('left out')\n")):
            os.makedirs(self.path(f'{name}/matplotlib'))
            self.write(f'{name}/matplotlib/__init__.py', b'')
            self.write(f'{name}/matplotlib/figure.py', text.encode())

    def run(self):
        for group in (self.tables, self.comparisons, self.drawings, self.refused):
            group()
        self.test('manual_has_what_help_has', lambda: manual_problem('cf-plot', self.plot('--help')),
                  needs_device=False)

    def test(self, name, body, needs_device=False):
        super().test(name, body, needs_device)

    def save(self, path, *results, **changes):
        return self.write(path, json.dumps(make_run(*results, **changes)).encode())

    def try_plot(self, *arguments, library='without'):
        return self.execute(*arguments, driver=False, env={'PYTHONPATH': self.path(library)})

    def plot(self, *arguments, library='without'):
        code, out, err = self.try_plot(*arguments, library=library)
        assert code == 0 and not err, (code, err)
        return out

    # ---- Tables

    def tables(self):
        def table():
            self.save('table.json', make_result('a', 64, variant='B=2'), make_result('b', 2**20, flops=2**21),
                      LOST, dict(LOST, kernel='c', outcome='not run', size=0))
            device, limit, empty, head, *rows = self.plot('table.json').splitlines()
            assert (device, limit, empty) == ('device  CPU, 2 threads', 'limit   20.0 GB/s read and written by copy; '
                                              'spread 10.0 %', ''), (device, limit)
            assert head.split() == ['kernel', 'size', 'time', 'spread', 'GB/s', 'of', 'limit', 'GFLOP/s'], head
            wanted = ['a B=2 64 64.0 ns 10.0 % 10.0 0.500 -', 'b 2^20 1.05 ms 10.0 % 10.0 0.500 2.0',
                      'a 64 FAILED: x?is wrong', 'c - not run: x?is wrong']
            found = [' '.join(row.split()) for row in rows]
            return '' if found == wanted and len(rows[0]) == len(head) else rows

        def busy():
            """A spread of more than 20 % is marked in its row, and a warning follows the table."""
            begin = 'warning: the machine was busy; a spread above 20 % (!) means that the figure means nothing: '
            for count, busy_limit, said in ((1, False, '1 of 2 results'), (0, True, 'the limit'),
                                            (2, True, '2 of 2 results, the limit')):
                self.save('busy.json', *(make_result('a', 64 + i, is_busy=i < count) for i in range(2)),
                          busy_limit=busy_limit)
                out = self.plot('busy.json')
                if out.splitlines()[-1] != begin + said or out.count('%!') != count + busy_limit:
                    return out
            return ''

        self.test('table_has_times_and_reasons', table)
        self.test('busy_machine_is_reported', busy)

    # ---- Comparisons

    def compare(self, then, now, *arguments, **changes):
        """Compares two lists of results; `changes` apply to the earlier machine."""
        self.save('then.json', *then, **changes)
        self.save('now.json', *now)
        return self.try_plot('now.json', '--against', 'then.json', *arguments)

    def comparisons(self):
        both = [make_result('a', 64), make_result('b', 64)]
        slower, faster = ([make_result('a', 64, seconds), both[1]] for seconds in (128e-9, 32e-9))

        def changes():
            for then, now, first, last in (
                    (both, slower, '2.000 slower', '1 slower, 0 faster, 1 within the spread, 0 new, 0 without a time'),
                    (both, faster, '0.500 faster', '0 slower, 1 faster, 1 within the spread, 0 new, 0 without a time'),
                    # The times differ, but their ranges from first to third quartile overlap.
                    (both, [make_result('a', 64, 70e-9), both[1]], ' 1.094',
                     '0 slower, 0 faster, 2 within the spread, 0 new, 0 without a time'),
                    ([make_result('a', 64, values='n = 3'), both[1]], slower, ' new',
                     '0 slower, 0 faster, 1 within the spread, 1 new, 0 without a time'),
                    ([make_result('a', 64, variant='B=1'), make_result('b', 32)], both, ' new',
                     '0 slower, 0 faster, 0 within the spread, 2 new, 0 without a time'),
                    (both, [LOST, both[1]], 'FAILED: x?is wrong',
                     '0 slower, 0 faster, 1 within the spread, 0 new, 1 without a time')):
                code, out, err = self.compare(then, now)
                row = next(line for line in out.splitlines() if line.startswith('a '))
                if code or err or not row.endswith(first) or out.splitlines()[-1] != f'against: {last}':
                    return code, err, out
            return ''

        def machines():
            _, out, _ = self.compare(both, both, name='G', cuda='13.0', cuferry='0.0.9', threads=8)
            found = re.findall('against: then (.*)', out)
            return '' if found == ['on G', 'with a driver for CUDA 13.0', 'by Cuferry 0.0.9', 'on 8 threads'] else out

        def strict():
            codes = [self.compare(both, slower, '--strict', t)[0] for t in ('0.5', '99%', '1.01', '5')]
            _, _, err = self.compare(both, slower + [LOST], '--strict', '0.5')
            assert err == 'cf-plot: --strict: 2 results are worse; the first: a at 64 takes 2.000 times as long\n', err
            code, _, err = self.compare(both, [LOST, both[1]], '--strict', '9')
            assert code == 1 and err.endswith('1 result is worse; the first: a at 64 has no time any more\n'), err
            assert self.compare(slower, both, '--strict', '0')[0] == 0, 'a faster result fails'
            return '' if codes == [1, 1, 0, 0] else codes

        self.test('changes_are_marked_and_counted', changes)
        self.test('differences_between_machines_are_reported', machines)
        self.test('strict_fails_past_its_tolerance', strict)

    # ---- Drawings

    def draw(self, *results, **changes):
        """Returns the calls of the stand-in for matplotlib, sorted by name."""
        self.save('drawn.json', *results, **changes)
        self.plot('drawn.json', '--output', 'drawn.svg', library='with')
        calls = {}
        with open(self.path('drawn.svg'), encoding='utf-8') as file:
            for name, arguments, named in json.load(file):
                calls.setdefault(name, []).append((arguments, named))
        return calls

    def drawings(self):
        def lines():
            calls = self.draw(make_result('a', 64), make_result('a', 128, is_busy=True), make_result('b$', 64), LOST,
                              make_result('zero', 64, bytes=0), make_result('none', 0))
            (sizes, medians), named = calls['errorbar'][0]
            assert (sizes, medians, named['label']) == ([64, 128], [10, 10], 'a'), calls['errorbar']
            # The bars extend from first to third quartile: from 10 / 1.05 to 10 / 0.95, and from 10 / 1.5 to 10 / 0.5.
            ends = [[round(length, 3) for length in side] for side in named['yerr']]
            assert ends == [[0.476, 3.333], [0.526, 10]], ends
            assert [named['label'] for _, named in calls['errorbar']] == ['a', r'b\$', 'zero'], calls['errorbar']
            (_, limit), (hollow, how) = calls['axhline'][0], calls['plot'][0]
            assert calls['axhline'][0][0] == [20] and limit['label'] == 'limit: copy, 20 GB/s', limit
            assert calls['set_xscale'] == [(['log'], {'base': 2})], calls['set_xscale']
            return '' if hollow == [[128], [10]] and how['markerfacecolor'] == 'white' and len(
                calls['plot']) == 1 else calls['plot']

        def texts():
            calls = self.draw(make_result('a', 64), make_result('b', 64, is_busy=True))
            title, caption = calls['set_title'][0][0][0], calls['text'][0][0][2]
            assert title == 'a, b: bandwidth over size, 2026-05-01\nCPU, 2 threads, Cuferry 0.1.0', title
            assert all(word in caption for word in ('bar', 'first to their third quartile', 'limit', 'a copy',
                                                    'Hollow')), caption
            calls = self.draw(*(make_result(f'kernel_{i}', 64) for i in range(30)), date=None, driver='cuda',
                              cuda='13.0', name='G')
            title = calls['set_title'][0][0][0]
            colours = {(named['color'], named['linestyle']) for _, named in calls['errorbar']}
            assert len(colours) == 28 and 'Hollow' not in calls['text'][0][0][2], colours
            return '' if re.fullmatch(r'kernel_0, .*kernel_\d and \d\d more: bandwidth over size\n'
                                      r'G, driver for CUDA 13\.0, Cuferry 0\.1\.0', title) else title

        def without():
            """Without matplotlib the table is printed, and a message says how to install matplotlib."""
            self.save('drawn.json', make_result('a', 64))
            code, out, err = self.try_plot('drawn.json', '--output', 'none.svg')
            assert code == 1 and out == self.plot('drawn.json') and not os.path.exists(self.path('none.svg')), out
            wanted = ("cf-plot: none.svg: drawing needs matplotlib; install it with 'python3 -m pip install "
                      "matplotlib', or the package python3-matplotlib (left out)\n")
            return '' if err == wanted else err

        def whole():
            self.write('kept.svg', b'old')
            os.chmod(self.path('kept.svg'), 0o604)
            os.symlink('kept.svg', self.path('link.svg'))
            for arguments, wanted in ((['kept.gif'], 1), (['gone/x.svg'], 1), (['link.svg'], 0)):
                code, _, err = self.try_plot('drawn.json', '--output', *arguments, library='with')
                assert code == wanted and bool(err) == bool(code), (arguments, code, err)
            with open(self.path('kept.svg'), encoding='utf-8') as file:
                assert file.read().startswith('[['), 'the drawing is not where the link leads'
            mode, left = os.stat(self.path('kept.svg')).st_mode & 0o777, [n for n in os.listdir(self.folder)
                                                                          if n.endswith('.tmp')]
            return '' if mode == 0o604 and os.path.islink(self.path('link.svg')) and not left else (mode, left)

        def real():
            self.save('real.json', make_result('_a', 64, is_busy=True), make_result('_a', 2**40), make_result('$b$', 1))
            code, _, err = self.execute('real.json', '--output', 'real.svg', driver=False)
            assert code == 0, err
            root = ElementTree.parse(self.path('real.svg')).getroot()
            return '' if root.tag == '{http://www.w3.org/2000/svg}svg' else root.tag

        self.test('drawing_has_a_line_for_each_kernel', lines)
        self.test('drawing_says_what_it_shows', texts)
        self.test('drawing_without_matplotlib_says_how_to_install_it', without)
        self.test('drawing_is_written_whole', whole)
        if importlib.util.find_spec('matplotlib'):
            self.test('drawing_of_matplotlib_is_svg', real)
        else:
            self.tap.skip('drawing_of_matplotlib_is_svg', 'needs matplotlib')

    # ---- Bad arguments

    def refused(self):
        self.save('good.json', make_result('a', 64))
        self.save('untimed.json', LOST)
        self.save('wrong.json', dict(LOST, outcome='lost'))
        self.save('negative.json', make_result('a', -1))
        self.save('timeless.json', make_result('a', 64, seconds=1, bytes='x'))
        self.write('none.json', b'{"cf_bench": 2}')
        self.write('newer.json', b'{"cf_bench": 3}')
        self.write('array.json', b'[]')
        self.write('broken.json', b'{\n"cf_bench": 1,\n}')
        self.write('bytes.json', b'\xff')
        self.write('deep.json', b'[' * 100000)
        for name, arguments, culprits in (
                ('no_file', [], ['FILE']),
                ('unknown_option', ['good.json', '--plot', 'x'], ['--plot']),
                ('option_without_its_value', ['good.json', '--output'], ['--output']),
                ('strict_of_letters', ['good.json', '--against', 'good.json', '--strict', 'x'], ['--strict', "'x'"]),
                ('strict_below_0', ['good.json', '--against', 'good.json', '--strict=-1'], ['--strict', "'-1'"]),
                ('strict_without_against', ['good.json', '--strict', '1'], ['--strict', '--against']),
                ('drawing_of_nothing', ['untimed.json', '--output', 'x.svg'], ['x.svg: no result has a time']),
                ('file_that_is_not_there', ['gone.json'], ['gone.json: No such file']),
                ('folder', ['.'], ['.: Is a directory']),
                ('against_a_file_that_is_not_there', ['good.json', '--against', 'gone.json'], ['gone.json: No such']),
                ('something_else', ['none.json'], ['none.json: no result of cf-bench', "'machine'"]),
                ('array', ['array.json'], ['array.json: no result of cf-bench']),
                ('another_format', ['newer.json'], ['newer.json', '"cf_bench"']),
                ('unknown_outcome', ['wrong.json'], ['wrong.json: no result of cf-bench: "outcome"']),
                ('negative_size', ['negative.json'], ['negative.json: no result of cf-bench: "size"']),
                ('bytes_of_letters', ['timeless.json'], ['timeless.json: no result of cf-bench: "bytes"']),
                ('text_that_is_no_json', ['broken.json'], ['broken.json:3: ']),
                ('bytes_that_are_no_text', ['bytes.json'], ['bytes.json: no result of cf-bench']),
                ('json_that_is_deep', ['deep.json'], ['deep.json: no result of cf-bench'])):
            self.bad(f'{name}_is_refused', arguments, culprits, driver=False, env={'PYTHONPATH': self.path('with')})

        def full():
            with open('/dev/full', 'wb') as device:
                code, _, err = self.execute('good.json', driver=False, stdout=device)
            return '' if code == 1 and err == 'cf-plot: stdout: No space left on device\n' else (code, err)

        self.test('table_that_cannot_be_written_is_a_failure', full)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        PlotTest(tap, sys.argv[1], folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
