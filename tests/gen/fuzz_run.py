"""fuzz_run.py - runs the generator on one input, in this process, and reports which of its promises it broke."""

import io
import os
import re
import shlex
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import Dict

import forked
from tap import ROOT, run

CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')
SECONDS = 60    # CPU seconds for one input; if they are exceeded, the generator counts as hanging
_DIAGNOSTIC = re.compile(r'(\S[^\n]*?):(\d+):(\d+): (?:error|warning|note): ')
_SHOWN = re.compile(r' *(\d+) \| (.*)')


class Hang(BaseException):
    """Raised when the generator takes too long."""


@dataclass
class Result:
    code: int
    messages: str
    outputs: Dict[str, str]


@dataclass
class Failure:
    """A broken promise. Failures with the same signature are likely to have the same cause."""
    promise: str
    signature: str
    detail: str


class _Messages:
    """Replaces stderr, even where the generator kept a reference to stderr when it was loaded."""

    def __init__(self):
        self.buffer_ = io.StringIO()

    def write(self, text):
        return self.buffer_.write(text)

    def flush(self):
        pass


def load():
    """Loads the generator; returns its module, its messages, and a table that collects its outputs."""
    messages, stderr = _Messages(), sys.stderr
    sys.stderr = messages
    try:
        module = forked.load()
    finally:
        sys.stderr = stderr
    outputs = {}
    module.write_if_changed = lambda name, text: outputs.__setitem__(os.path.normpath(name), text)
    return module, messages, outputs


def marked(text, name):
    """A cheap substitute for the preprocessor: it writes line markers, local headers and macro definitions, takes the
    first branch of every #if, and drops comments. It accepts any text."""
    out, taken = [f'# 1 "{name}"'], []
    text = re.sub(r'\r\n?', '\n', text)
    text = re.sub(r'/\*.*?\*/', lambda m: ' ' + '\n' * m.group().count('\n'), text, flags=re.DOTALL)
    lines, number = text.split('\n'), 0
    while number < len(lines):
        line, extra = lines[number], 0
        while re.match(r'[ \t]*#', line) and line.endswith('\\') and number + extra + 1 < len(lines):
            extra += 1
            line = line[:-1] + ' ' + lines[number + extra]
        directive = re.match(r'[ \t]*#[ \t]*(\w*)[ \t]*(.*)', line)
        number += extra + 1
        word = directive.group(1) if directive else ''
        if word in ('if', 'ifdef', 'ifndef'):
            taken.append(directive.group(2).strip() != '0')
        elif word in ('else', 'elif') and taken:
            taken[-1] = False if word == 'elif' else not taken[-1]
        elif word == 'endif' and taken:
            taken.pop()
        elif all(taken):
            header = re.match(r'"([\w.]+\.h)"', directive.group(2)) if word == 'include' else None
            path = os.path.join(CASES, header.group(1)) if header else None
            if path and os.path.exists(path):
                out.append(marked(_read(path), path).replace('"\n', '" 1\n', 1))
                out.append(f'# {number + 1} "{name}" 2')
                continue
            if not directive or word in ('pragma', 'define', 'undef'):
                out.append(line)
                out += [''] * extra if not directive else [f'# {number + 1} "{name}"'] if extra else []
                continue
        out += [''] * (extra + 1)
    return '\n'.join(out)


def _lines(text):
    """Splits a text into lines as compilers do."""
    return re.split(r'\r\n|\n|\r', text)


def _read(path):
    with open(path, encoding='utf-8', errors='replace', newline='') as file:
        return file.read()


class Judge:
    """Runs inputs in a folder of its own; `judge` returns the promise that an input breaks."""

    def __init__(self, folder, cc, cxx):
        self.folder, self.cc, self.cxx = folder, shlex.split(cc), shlex.split(cxx)
        self._module, self._messages, self._outputs = load()
        self.path = os.path.join(folder, 'k.cu')
        self._host = ['-std=c++17', '-w', '-fsyntax-only', '-isystem', f'{ROOT}/include/cuferry/shadow', '-I.']
        self.accepted = False   # True if the last input was accepted
        signal.signal(signal.SIGPROF, self._alarm)

    @staticmethod
    def _alarm(number, frame):
        raise Hang()

    def judge(self, data, whole, compiles):
        """Returns a Failure or None. With `whole`, the real preprocessor runs; with `compiles`, the outputs are also
        compiled."""
        with open(self.path, 'wb') as file:
            file.write(data)
        text = data.decode('utf-8', errors='replace')
        if not whole:
            with open(os.path.join(self.folder, 'k.ii'), 'w', encoding='utf-8', newline='') as file:
                file.write(marked(text, 'k.cu'))
        first = self._run(whole)
        if isinstance(first, Failure):
            return first
        self.accepted = first.code == 0
        failure = self._check(first, text, whole)
        if failure:
            return failure
        if compiles or not whole:
            second = self._run(whole)
            if isinstance(second, Failure) or (second.code, second.messages, second.outputs) != \
                    (first.code, first.messages, first.outputs):
                return Failure('the same input gives the same output', 'second run', f'{first}\n{second}')
        if compiles and whole and first.code == 0:
            return self._own_process(first) or self._compile(first)
        return None

    # ---- One run

    def _run(self, whole):
        self._outputs.clear()
        self._messages.buffer_ = io.StringIO()
        before, streams, folder = sys.argv, (sys.stdout, sys.stderr), os.getcwd()
        sys.argv = ['cfgen', *self._arguments(whole)]
        sys.stdout, sys.stderr = io.StringIO(), self._messages
        os.chdir(self.folder)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            code = self._module.main()
        except SystemExit as error:
            code = error.code
        except Hang:
            return Failure('it ends soon', 'hang', self._place())
        except BaseException as error:  # pylint: disable=broad-except
            return Failure('nothing is raised', f'{type(error).__name__} in {self._place()}',
                           traceback.format_exc(limit=-12))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.argv, (sys.stdout, sys.stderr) = before, streams
            os.chdir(folder)
        return Result(code, self._messages.buffer_.getvalue(), dict(self._outputs))

    def _arguments(self, whole):
        return ['--prefix', 't', '--cxx', ' '.join(self.cxx), '-I', CASES, '-I', os.path.join(ROOT, 'include'),
                'k.cu' if whole else 'k.ii']

    @staticmethod
    def _place():
        """Returns the place in the generator where the exception was raised."""
        frames = [f for f in traceback.extract_tb(sys.exc_info()[2]) if os.sep + 'gen' + os.sep in f.filename]
        return f'{os.path.basename(frames[-1].filename)}:{frames[-1].name}' if frames else 'the start'

    # ---- Promises about a single run

    def _check(self, result, text, whole):
        if result.code == 0:
            if ': error: ' in result.messages or not result.outputs:
                return Failure('success is silent', 'success',
                               f'printed {result.messages}, wrote {list(result.outputs)}')
            return self._check_messages(result.messages, text) if result.messages else None     # only warnings
        if result.code != 1 or result.outputs:
            return Failure('all outputs or none', f'exit {result.code}',
                           f'wrote {list(result.outputs)}\n{result.messages}')
        if whole and result.messages.startswith('cfgen: ') and self._preprocessor_fails():
            return None
        if 'name their manifest, cuferry.json, with --bundled' in result.messages:
            return None     # the message is about the command line
        return self._check_messages(result.messages, text)

    def _preprocessor_fails(self):
        code, _, _ = run([*self.cxx, '-E', '-x', 'c++', '-std=c++17', '-DCF__SCAN', '-D__CUDACC__', f'-I{CASES}',
                          f'-I{ROOT}/include/cuferry/shadow', f'-I{ROOT}/include', 'k.cu'], cwd=self.folder)
        return code != 0

    def _check_messages(self, messages, text):
        """Each message must name a place that exists, and show the line at that place."""
        # A file may change its line numbers by #line.
        is_renumbered = re.search(r'#[ \t]*(?:line[ \t]+)?\d|%:', text)
        place, sources = None, {'k.cu': _lines(text)}
        if not messages.endswith('\n'):
            return Failure('every message has a place', 'no message', messages)
        for line in messages.split('\n')[:-1]:
            diagnostic, shown = _DIAGNOSTIC.match(line), _SHOWN.fullmatch(line)
            if diagnostic:
                place = diagnostic.group(1), int(diagnostic.group(2)), int(diagnostic.group(3))
                name = place[0]
                if name not in sources and os.path.exists(os.path.join(self.folder, name)):
                    sources[name] = _lines(_read(os.path.join(self.folder, name)))
                if is_renumbered:
                    continue
                if name not in sources:
                    return Failure('every message has a place', 'file ' + _general(line), messages)
                lines = sources[name]
                if not 1 <= place[1] <= len(lines) + 1 or not 1 <= place[2] <= len((lines + [''])[place[1] - 1]) + 2:
                    return Failure('every message has a place', 'place ' + _general(line), messages)
            elif not place:
                return Failure('every message has a place', 'placeless ' + _general(line), messages)
            elif shown and not is_renumbered and int(shown.group(1)) == place[1]:
                stands = ''.join(sources[place[0]][place[1] - 1:place[1]]).lstrip('\ufeff')
                # Messages show control characters as blanks.
                if shown.group(2) != re.sub(r'[\x00-\x08\x0a-\x1f\x7f]', ' ', stands):
                    return Failure('every message has a place', 'shows another line', messages)
        return None if place else Failure('every message has a place', 'no message', messages)

    # ---- The outputs

    def _own_process(self, result):
        """A process of its own, with another hash seed, must write the same outputs."""
        out = os.path.join(self.folder, 'out')
        for folder, _, files in os.walk(out):
            for name in files:
                os.remove(os.path.join(folder, name))
        env = dict(os.environ, PYTHONHASHSEED=str(len(result.outputs) + len(result.messages) + 1))
        cfgen = [sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--outdir', 'out']
        code, _, err = run([*cfgen, *self._arguments(whole=True)], cwd=self.folder, env=env)
        paths = [os.path.join(d, f) for d, _, files in os.walk(out) for f in files]
        written = {os.path.relpath(path, out): _read(path) for path in paths}
        if code or written != result.outputs:
            names = sorted(n for n in set(written) | set(result.outputs) if written.get(n) != result.outputs.get(n))
            return Failure('the same input gives the same output', 'own process',
                           f'exit {code}\n{err}\ndiffer: {names}')
        return None

    def _compile(self, result):
        """The outputs must compile if the kernel file does."""
        include = [f'-I{ROOT}/include', '-Iout', f'-I{CASES}']
        strict = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']
        stub = [name for name in result.outputs if name.endswith('.stub.c')]
        host = [name for name in result.outputs if name.endswith('.host.cpp')]
        header = ['-include', 'out/t.h', '/dev/null']
        commands = [
            ('stub', self.cc + ['-std=c11', *strict, *include, *(f'out/{name}' for name in stub)]),
            ('registry', self.cc + ['-std=c11', *strict, *include, 'out/t_registry.c']),
            ('header as C99', self.cc + ['-std=c99', *strict, *include, '-x', 'c', *header]),
            ('header as C++', self.cxx + ['-std=c++11', *strict, *include, '-x', 'c++', *header]),
            *(('CPU body', self.cxx + [*self._host, *include, f'out/{name}']) for name in host)]
        for what, command in commands:
            code, _, err = run(command, cwd=self.folder)
            if code and not (what == 'CPU body' and self._kernel_is_at_fault(err)) and self._source_compiles():
                first = next((line for line in err.split('\n') if 'error' in line), err)
                return Failure('what is written compiles', f'{what}: {_general(first)}', err)
        return None

    @staticmethod
    def _kernel_is_at_fault(err):
        """Returns True if the first error is in the kernel file itself, whose body does not accept its template
        arguments."""
        first = re.search(r'^([^\s:]+):\d+:\d+: (?:fatal )?error', err, re.MULTILINE)
        return bool(first) and not re.search(r'\.host\.cpp$|include/cuferry/', first.group(1))

    def _source_compiles(self):
        code, _, _ = run([*self.cxx, *self._host, f'-I{ROOT}/include', f'-I{CASES}', '-include',
                          'cuferry/cpu/prelude.cuh',
                          '-x', 'c++', 'k.cu'], cwd=self.folder)
        return code == 0


def _general(message):
    """Returns a message without the parts that depend on the particular input."""
    message = re.sub(r'^\S*:\d+:\d+: ', '', message)
    message = re.sub(r"'[^']*'|‘[^’]*’|\"[^\"]*\"", "''", message)
    return re.sub(r'\d+', '0', message)[:80]
