"""fuzz_gen.py - runs the generator on randomly damaged kernel files. It must never raise, hang, write partial output or
write code that does not compile, and every message must name a place in the file. Without --seconds, only the inputs of
tests/gen/cases/corpus.txt run.

usage: fuzz_gen.py [--seconds N] [--seed S] [--corpus DIR] [--cc CC] [--cxx CXX] [FILE...]
"""

import argparse
import glob
import os
import random
import re
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from fuzz_mutate import Mutator
from fuzz_run import CASES, ROOT, Judge
from tap import Tap

PROMISES = ('nothing is raised', 'it ends soon', 'success is silent', 'all outputs or none',
            'every message has a place', 'the same input gives the same output', 'what is written compiles')
CORPUS = os.path.join(CASES, 'corpus.txt')
REDUCING = 20   # seconds to reduce a failing input


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def corpus(path):
    """Yields (name, expected, bytes) for each input in a file. A line `@@ accepted NAME`, `@@ refused NAME` or `@@
    either NAME` comes before each input; the input's last newline does not belong to it. In an input, \\xNN stands for
    a byte and \\*N{text} for N times the text."""
    def repeated(match):
        return match.group(2) * int(match.group(1))

    parts = re.split(rb'^@@ (\w+) (\S+)\n', read(path), flags=re.MULTILINE)[1:]
    for expected, name, text in zip(parts[0::3], parts[1::3], parts[2::3]):
        text = re.sub(rb'\\\*(\d+)\{(.*?)\}', repeated, text, flags=re.DOTALL)
        text = re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes([int(m.group(1), 16)]), text)
        yield name.decode(), expected.decode(), text[:-1]


def seeds():
    """Returns the kernel files. A file that is accepted is listed several times, because its mutations are accepted
    more often."""
    out = []
    for place in ('tests/gen/cases', 'kernels', 'tests/ports', 'tests/ports/*'):
        for path in sorted(glob.glob(os.path.join(ROOT, place, '*.cu'))):
            out += [read(path)] * (1 if os.path.exists(path[:-3] + '.err') or 'ports' in place else 4)
    return out


def reduce(data, fails):
    """Returns a smaller input that still fails. It removes lines first, then words."""
    end = time.monotonic() + REDUCING
    for pattern in (rb'[^\n]*\n|[^\n]+', rb'\s+|\w+|.'):
        parts = re.findall(pattern, data, flags=re.DOTALL)
        size = max(1, len(parts) // 2)
        while size and time.monotonic() < end:
            at, smaller = 0, False
            while at < len(parts) and time.monotonic() < end:
                without = parts[:at] + parts[at + size:]
                if without and fails(b''.join(without)):
                    parts, smaller = without, True
                else:
                    at += size
            size = size if smaller and size == 1 else size // 2
        data = b''.join(parts)
    return data


class Fuzzer:
    def __init__(self, options, folder):
        self._options = options
        self._judge = Judge(folder, options.cc, options.cxx)
        self.failures = {}      # keys are a promise and a signature
        self.count = self.accepted = 0

    def feed(self, data, whole, compiles):
        failure = self._judge.judge(data, whole, compiles)
        self.count += 1
        self.accepted += failure is None and self._judge.accepted
        if failure and (failure.promise, failure.signature) not in self.failures:
            self.failures[failure.promise, failure.signature] = failure
            self._save(data, failure, whole, compiles)
        return failure

    def _save(self, data, failure, whole, compiles):
        def fails(smaller):
            again = self._judge.judge(smaller, whole, compiles)
            return again is not None and (again.promise, again.signature) == (failure.promise, failure.signature)

        os.makedirs(self._options.corpus, exist_ok=True)
        name = re.sub(r'\W+', '_', f'{failure.promise} {failure.signature}')[:100].strip('_')
        path = os.path.join(self._options.corpus, name + ('' if whole else '.marked'))
        with open(path + '.cu', 'wb') as file:
            file.write(reduce(data, fails))
        with open(path + '.txt', 'w', encoding='utf-8') as file:
            file.write(f'{failure.promise}: {failure.signature}\n\n{failure.detail}\n')
        failure.detail += f'\ninput: {path}.cu'

    def run_corpus(self, tap):
        wrong = []
        for name, expected, data in corpus(CORPUS):
            for whole in (True, False):
                failure = self.feed(data, whole, compiles=False)
                got = 'accepted' if self._judge.accepted else 'refused'
                if whole and not failure and expected not in ('either', got):
                    wrong.append(f'{name} was to be {expected}')
        tap.check('fuzz_corpus_is_taken_and_refused_as_before', ', '.join(wrong))

    def run_random(self, seconds, seed):
        chance = random.Random(seed)
        mutator = Mutator(chance, seeds())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            data = mutator.make()
            failure = self.feed(data, whole=False, compiles=False)
            if not failure and self._judge.accepted and chance.random() < 0.3:
                self.feed(data, whole=True, compiles=True)
            elif chance.random() < 0.1:
                self.feed(data, whole=True, compiles=False)

    def report(self, tap):
        for promise in PROMISES:
            broken = [f for f in self.failures.values() if f.promise == promise]
            tap.check('fuzz_' + promise.replace(' ', '_'),
                      '\n'.join(f'{f.signature}\n{f.detail[-3000:]}' for f in broken))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--seconds', type=float, default=0, help='how long to make inputs (default: none are made)')
    parser.add_argument('--seed', type=int, default=None, help='of the inputs (default: another every time)')
    build = os.environ.get('BUILDDIR', os.path.join(ROOT, 'build'))
    parser.add_argument('--corpus', default=os.path.join(build, 'fuzz'), metavar='DIR',
                        help='folder for inputs that fail (default: build/fuzz)')
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    parser.add_argument('files', nargs='*', metavar='FILE', help='inputs to try instead of all others')
    options = parser.parse_args()
    options.corpus = os.path.abspath(options.corpus)
    inputs = [read(path) for path in options.files]
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(options, folder)
        for data in inputs:
            for whole in (True, False):
                fuzzer.feed(data, whole, compiles=True)
        if not inputs:
            fuzzer.run_corpus(tap)
            seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10 ** 9)
            if options.seconds:
                print(f'# seed {seed}', flush=True)
            fuzzer.run_random(options.seconds, seed)
        print(f'# {fuzzer.count} inputs, {fuzzer.accepted} of them taken')
        fuzzer.report(tap)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
