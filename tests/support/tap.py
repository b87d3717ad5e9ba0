"""tap.py - shared by the tests in Python: results in the Test Anything Protocol, goldens, and running commands."""

import os
import re
import signal
import subprocess
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# Reasons to skip a test. tools/check adds up tests with the same reason.
NEEDS_GPU = 'needs a GPU'
NEEDS_PLAYED_GPU = 'needs the played GPU'
NEEDS_NVCC = 'needs nvcc: tools/dev/setup --with-nvcc installs it'
NEEDS_CLANG = 'needs clang: tools/dev/setup installs it'
NEEDS_NO_SANITIZER = 'needs a build without sanitizers'
NEEDS_LONG = 'needs --long of tools/check'
NEEDS_ROOT = 'needs root'
NEEDS_JSONSCHEMA = "needs Python's jsonschema"


class Tap:
    """Prints results as they come; `close` returns the exit code."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, problem):
        """A test that passes if `problem` is empty."""
        self.count += 1
        self.failed += bool(problem)
        print(f'{"not ok" if problem else "ok"} {self.count} - {name}', flush=True)
        for line in readable(str(problem or '')):
            print(f'# {line}')

    def skip(self, name, reason):
        self.count += 1
        print(f'ok {self.count} - {name} # SKIP {reason}', flush=True)

    def close(self):
        print(f'1..{self.count}')
        return 1 if self.failed else 0


def readable(text, width=160):
    """Returns a text as lines. A long line, such as a tuple of outputs or JSON in JSON, is split at its escaped
    newlines, its quotes are unescaped, and pieces that are still too long are wrapped."""
    lines = []
    for line in text.splitlines():
        if len(line) > width:
            line = re.sub(r'\\+(["\'])', r'\1', re.sub(r'\\+[nr]', '\n', line))
        for part in line.splitlines() or ['']:
            lines += textwrap.wrap(part, width, replace_whitespace=False, drop_whitespace=False) or ['']
    return lines


def run(command, cwd=None, env=None, timeout=600):
    """Runs a command without standard input; returns (exit code, stdout, stderr). A command that runs past the timeout
    is killed, and stderr says so."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=timeout)
        code, out, err, late = done.returncode, done.stdout, done.stderr, ''
    except subprocess.TimeoutExpired as end:
        code, out, err, late = 124, end.stdout or b'', end.stderr or b'', f'no end within {timeout} s\n'
    return code, out.decode(errors='replace'), err.decode(errors='replace') + late


def ended(code):
    """Describes how a program ended, since a program that was killed may have printed nothing."""
    if code >= 0:
        return f'exit {code}'
    return f'ended by signal {-code} ({signal.strsignal(-code)})'


def unignore_signals():
    """Called in the child by tests that send signals. The parent may ignore those signals (nohup, a background job of a
    shell), and the child would inherit that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def path_without_nvcc(folder):
    """Makes a folder to use as PATH, with every program of the current PATH except nvcc."""
    os.mkdir(folder)
    for place in os.environ['PATH'].split(os.pathsep):
        for name in os.listdir(place) if os.path.isdir(place) else []:
            link = os.path.join(folder, name)
            if name != 'nvcc' and not os.path.lexists(link):
                os.symlink(os.path.join(place, name), link)
    return folder


def read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except OSError:
        return None


def first_difference(expected, got):
    if expected is None:
        return 'there is no golden; run with --update'
    for number, (a, b) in enumerate(zip(expected.splitlines(), got.splitlines()), 1):
        if a != b:
            return f'line {number}\nexpected: {a}\ngot:      {b}'
    if len(expected.splitlines()) != len(got.splitlines()):
        return f'{len(expected.splitlines())} lines expected, {len(got.splitlines())} given'
    return '' if expected == got else 'line ends differ'


def golden(tap, name, path, text, update):
    """Compares a text with a golden file; if `update` is set, it writes the file first."""
    if update:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    tap.check(name, first_difference(read(path), text))
