"""test_check.py - tests tools/check, .ci/run, tools/dev/tap.sh and functions that tests in Python share: how tests are
selected by name, the line after each test, the last lines, the environment, forks, and the texts of failures.

usage: test_check.py
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
from tap import ROOT, Tap, readable, run


# The first test ends after the second one's line was printed. With one job, the file for which it waits exists from the
# start.
SCRIPT = r'''
set -eu
results=$1 go=$2
. tools/dev/tap.sh
only=$4
start_results
start_jobs $3
start_ticker
tap 'late, here' sh -c 'while [ ! -e "$0" ]; do sleep 0.01; done; echo "ok 1 - a"' "$go"
tap 'early, here' sh -c 'echo "ok 1 - a"; echo "ok 2 - b # SKIP needs a GPU"; echo "# skip: needs gdb"; echo "not ok 3 # SKIP"'
tap 'wrong, here' sh -c 'echo "not ok 1 - a"; echo "# because"; exit 3'
tap 'dies, here' sh -c 'echo "ok 1 - a"; kill -KILL $$'
tap 'empty, here' true
tap 'skips, here' sh -c 'echo "ok 1 - a # SKIP needs a GPU"'
skip 'all, here' 'needs nvcc: more' 1911
skip 'last, here' 'the time was over'
finish_jobs
print_results
'''  # noqa: E501
BUSY = r'''
set -eu
results=$1
. tools/dev/tap.sh
start_results
start_jobs $2
tap 'busy, here' sh -c '(exec "$0" -c "$1"); echo "ok 1 - a"' "$3" \
    'from time import process_time as spent; print([0 for _ in iter(lambda: spent() < 0.5, False)][:0])'
tap 'idle, here' echo 'ok 1 - a'
finish_jobs
cat "$results/cpu"
print_results
'''
WORK = r'''
set -eu
results=$1
. tools/dev/tap.sh
printf '[1/470] A\n[231/470] B\n' >"$results/log"
printf '%s\n' "$(date +%s) $results/log" 'building here' >"$results/at_work.1"
printf '%s\n' "$(date +%s) $results/log" 'test, here' >"$results/at_work.2"
list_work
'''
# A test program that prints its environment and its arguments.
BLANKS = r'''
set -eu
results=$1 folder=$2
. tools/dev/tap.sh
start_results
LD_LIBRARY_PATH='/another place'
run_test test_x "$folder" sanitized CF_DRIVER=host 'OWN=a word'
run_test test_x "$folder" 'sanitized, played' CF_DRIVER=cuda "$(fake_of "$folder")" 'OWN=a word'
prints 'demo, here' 'a line' printf '%s\n' 'a line' 'another line'
build_env='MADE=a place' targets=cfcc
build "$folder" --cuda=no
cat "$results"/*.log
print_results
'''  # noqa: E501
# Prints text that is still in a buffer when run_forked() forks; then prints how often the child printed that text, and
# the child's own text.
FORKS = '''
import sys
sys.path.append(sys.argv[1])
import forked
print('of the parent')
sys.stderr.write('of the parent, ')
code, out, err = forked.run_forked(forked.load(sys.argv[2]), ['word'], '.')
print(code, out, err)
'''
FORKED = '''
import sys
def main():
    print('out', *sys.argv[1:], end='')
    sys.stderr.write('err')
    return 3
'''


class CheckTest:
    def __init__(self, tap, folder):
        self.tap, self.folder = tap, folder

    def results(self, name, jobs, only=''):
        """Returns (exit code, lines); the paths of logs are replaced by LOG."""
        results, go = os.path.join(self.folder, name), os.path.join(self.folder, name + '.go')
        if jobs == 1:
            open(go, 'wb').close()
        with subprocess.Popen(['sh', '-c', SCRIPT, 'sh', results, go, str(jobs), only], cwd=ROOT,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            lines = []
            for line in process.stdout:
                lines.append(re.sub(re.escape(results) + r'/\w+\.log', 'LOG', line.decode().rstrip()))
                if lines[-1].startswith('early'):
                    open(go, 'wb').close()
        return process.returncode, lines

    def check(self, name, good, *details):
        self.tap.check(name, '' if good else '\n'.join(map(str, details)))

    def lines(self):
        expected = ['late, here                                      1 passed',
                    'early, here                                     1 passed, 2 skipped: needs a GPU; needs gdb',
                    'wrong, here                                     0 passed, 1 FAILED (exit 3, LOG)',
                    '    not ok 1 - a', '    # because',
                    'dies, here                                      1 passed, 1 FAILED (signal 9, LOG)',
                    'empty, here                                     0 passed, 1 FAILED (exit 0, LOG)',
                    'skips, here                                     0 passed, 1 skipped: needs a GPU',
                    'all, here                                    1911 skipped: needs nvcc: more',
                    'last, here                                      1 skipped: the time was over']
        closing = ['skipped:', '    1,911 need nvcc: more', '        2 need a GPU', '        1 needs gdb',
                   '        1: the time was over', 'failed:', '    dies, here: LOG', '    empty, here: LOG',
                   '    wrong, here: LOG', '0 min', '3 passed, 3 failed, 1915 skipped']
        for jobs in (1, 2):
            code, lines = self.results(f'jobs{jobs}', jobs)
            # Some shells report a program that was killed, each in other words.
            lines = [re.sub(r'^\d+ min \d+ s, \d+ s of processors$', '0 min', line) for line in lines
                     if 'Killed' not in line]
            at = lines.index('skipped:')
            tests, rest = lines[:at], lines[at:]
            self.check(f'check_{jobs}_jobs_print_each_test_when_it_ends', sorted(tests) == sorted(expected) and
                       (tests == expected if jobs == 1 else tests.index(expected[1]) < tests.index(expected[0])),
                       *tests)
            self.check(f'check_{jobs}_jobs_list_skips_and_failures', code == 1 and rest == closing, code, *rest)
        code, lines = self.results('named', 2, 'early skips')
        tests = {line.split(',')[0] for line in lines if ', here  ' in line}
        self.check('check_named_tests_run_alone', code == 0 and tests == {'early', 'skips', 'all', 'last'}, code,
                   *lines)

    def times(self):
        """The processor time of a test includes everything that the test runs, here a child that runs for half a
        second."""
        for jobs in (1, 2):
            code, out, err = run(['sh', '-c', BUSY, 'sh', os.path.join(self.folder, f'times{jobs}'), str(jobs),
                                  sys.executable], cwd=ROOT)
            spent = {name: float(seconds) for seconds, name in re.findall(r'^([\d.]+)\t(.*)$', out, re.MULTILINE)}
            whole = re.search(r' min \d+ s, (\d+) s of processors\n', out)
            self.check(f'check_{jobs}_jobs_count_processor_time', code == 0 and list(sorted(spent)) ==
                       ['busy, here', 'idle, here'] and spent['busy, here'] >= 0.5 and spent['idle, here'] <
                       spent['busy, here'] and whole and int(whole[1]) == int(sum(spent.values())), code, out, err)

    def work(self):
        code, out, err = run(['sh', '-c', WORK, 'sh', self.folder], cwd=ROOT)
        self.check('check_tells_how_far_builds_are',
                   code == 0 and re.fullmatch(r'building here: 231 of 470; test, here: \d+ s\n', out), code, out, err)

    def blanks(self):
        """Runs a test on both drivers, a demo, and a build, in a folder with a blank in its path."""
        folder, results = os.path.join(self.folder, 'a build'), os.path.join(self.folder, 'its results')
        os.makedirs(os.path.join(folder, 'tests', 'fake'))
        with open(os.path.join(folder, 'tests', 'test_x'), 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\necho "# $CF_DRIVER, ${LD_LIBRARY_PATH-}, $OWN"\necho "ok 1 - a"\n')
        os.chmod(file.name, 0o755)
        code, out, err = run(['sh', '-c', BLANKS, 'sh', results, folder], cwd=ROOT)
        fake = os.path.join(folder, 'tests', 'fake')
        self.check('check_works_in_a_folder_with_blanks', code == 0
                   and f'# cuda, {fake}:/another place, a word\n' in out and
                   '# host, ' in out and out.endswith('4 passed, 0 failed, 0 skipped\n'), code, out, err)

    def names(self):
        builddir = os.path.join(self.folder, 'build')
        for words, expected in ((['test_nothing'], 'there is no test test_nothing'),
                                (['test_pool', 'tests/pol.c'], 'there is no test tests/pol.c'),
                                (['--often'], 'usage: '), (['--sanitize', 'test_pool'], 'usage: ')):
            code, out, err = run([os.path.join(ROOT, 'tools', 'check'), *words],
                                 env=dict(os.environ, BUILDDIR=builddir))
            self.check(f'check_{"_".join(words)}_is_refused', code == 1 and re.search(expected, err) and not out and
                       not os.path.exists(builddir), code, out, err)

    def environment(self):
        """CI passes on no environment variables of the machine except those that every machine needs."""
        for name in ('.ci/run', 'tools/dev/environment.sh'):
            os.makedirs(os.path.dirname(os.path.join(self.folder, 'ci', name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.folder, 'ci', name))
        check = os.path.join(self.folder, 'ci', 'tools', 'check')
        with open(check, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nenv\n')
        os.chmod(check, 0o755)
        kept = {'PATH': os.environ['PATH'], 'HOME': '/a home', 'LANG': 'C', 'CI': '', 'https_proxy': "http://a'b:1",
                'NO_PROXY': '*', 'SSL_CERT_FILE': '/a "b".crt'}
        own = {'PYTHONUNBUFFERED': '1', 'PYTHONPATH': '/x', 'CF_DRIVER': 'cuda', 'MAKEFLAGS': '-j'}
        code, out, err = run([os.path.join(self.folder, 'ci', '.ci', 'run')], env={**kept, **own}, cwd='/')
        got = dict(line.split('=', 1) for line in out.splitlines())
        for name in ('PWD', 'SHLVL', '_'):      # set by the shells
            got.pop(name, None)
        self.check('check_of_ci_has_a_clean_environment', code == 0 and not err and got == kept, code, got, err)

    def forks(self):
        """A forked child does not print the text in its parent's buffers a second time."""
        program = os.path.join(self.folder, 'program')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(FORKED)
        env = {name: value for name, value in os.environ.items() if name != 'PYTHONUNBUFFERED'}
        result = run([sys.executable, '-c', FORKS, os.path.dirname(forked.__file__), program], env=env)
        self.check('forked_child_prints_its_own_text_alone',
                   result == (0, 'of the parent\n3 out word err\n', 'of the parent, '), result)

    def texts(self):
        """The text of a failed test has short lines, even if it is a tuple of outputs or JSON in JSON."""
        said = 'cfcc: a.cu: line 3\n' + 'not ok 1 - "a name"\n' * 20
        nested = json.dumps([1, json.dumps([2, said]), 'x' * 500])
        lines = readable(f'{(1, said, "")}\n\n{nested}\n  short \\n')
        self.check('texts_of_failures_have_short_lines', max(map(len, lines)) <= 200 and
                   lines.count('not ok 1 - "a name"') == 40 and lines[-1] == '  short \\n' and '' in lines, *lines)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = CheckTest(tap, folder)
        test.lines()
        test.times()
        test.work()
        test.blanks()
        test.names()
        test.environment()
        test.forks()
        test.texts()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
