"""fuzz_real.py - kernel files like those that people have, combined at random from host code, headers and kernels. cfcc
must build each file as it is, and its kernels must give the results of plain loops on the CPU.

usage: fuzz_real.py BUILDDIR [--files N] [--seconds N] [--seed S] [--keep DIR]

A file that fails is reduced: pieces are removed as long as it still fails. --keep takes a folder for reduced files.
"""

import argparse
import os
import random
import re
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from typing import List

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from real_pieces import FILE_SCOPE, HOST, KERNELS, TEST
from tap import Tap, read, run


@dataclass
class Piece:
    """Host code, or a kernel. `text` is the part that may be in a header."""
    headers: List[str]
    text: str
    kernel: str = ''
    test: str = ''
    is_for_nvcc: bool = True

    def numbered(self, number):
        return replace(self, **{name: getattr(self, name).replace('@', str(number))
                                for name in ('text', 'kernel', 'test')})


@dataclass
class File:
    """A file of a case, with its pieces in order. `guard` is the kind of a header's include guard: 'once' or
    'ifndef'."""
    name: str
    guard: str = ''
    pieces: List[Piece] = field(default_factory=list)


def read_pieces(corpus, headers):
    for piece in corpus.strip('\n').split('\n----\n'):
        text, *others = piece.split('\n====\n')
        first, rest = text.split('\n', 1) if text.startswith(('<', '!', '\n')) else ('', text)
        words = first.split()
        yield Piece(headers + [word for word in words if word[0] == '<'], rest, *others,
                    is_for_nvcc='!nvcc' not in words)


def host_pieces():
    return read_pieces(HOST, [])


def kernel_pieces():
    return read_pieces(KERNELS, ['<cstdio>', '<cuda_runtime.h>'])


def make_case(rng):
    """Returns the files of a case: headers, then the kernel file."""
    hosts, kernels = list(host_pieces()), list(kernel_pieces())
    count = rng.randint(0, 3)
    headers = [File(f'{rng.choice(("", "common/", "inc/"))}part{i}.{rng.choice(("h", "hpp", "cuh"))}',
                    rng.choice(('once', 'ifndef'))) for i in range(count)]
    main = File('real.cu')
    files = headers + [main]
    numbered = [piece.numbered(number) for number, piece in enumerate(
        rng.sample(hosts, rng.randint(2, 9)) + rng.sample(kernels, rng.randint(1, 4)))]
    rng.shuffle(numbered)
    for piece in numbered:
        place = rng.choice(files)
        if piece.kernel and place is not main and rng.random() < 0.8:
            place.pieces.append(replace(piece, kernel='', test=''))
            place, piece = main, replace(piece, text='')
        elif piece.kernel:
            place = main
        place.pieces.append(piece)
    for line in rng.sample(FILE_SCOPE, rng.randint(0, 2)):
        needed = ['<cooperative_groups.h>'] if 'cooperative' in line else []
        main.pieces.insert(rng.randint(0, len(main.pieces)), Piece(needed, line))
    return files


def make_whole_case(is_for_nvcc):
    """Returns the files of the case that has every piece, or every piece that nvcc can compile."""
    files = [File('common/part0.h', 'ifndef'), File('part1.cuh', 'once'), File('real.cu')]
    pieces = [p for p in [*host_pieces(), *kernel_pieces()] if p.is_for_nvcc or not is_for_nvcc]
    for number, piece in enumerate(p.numbered(number) for number, p in enumerate(pieces)):
        place = files[number % 3]
        if piece.kernel and place is not files[2]:
            place.pieces.append(replace(piece, kernel='', test=''))
            place, piece = files[2], replace(piece, text='')
        place.pieces.append(piece)
    lines = [line for line in FILE_SCOPE if 'cub' not in line or not is_for_nvcc]
    files[2].pieces[:0] = [Piece(['<cooperative_groups.h>'], line) for line in lines]
    return files


def text_of(files, index):
    """Returns the text of a file, which includes the headers before it."""
    file = files[index]
    needed = list(dict.fromkeys(header for piece in file.pieces for header in piece.headers))
    lines = [f'#include {header}' for header in needed]
    up = '../' if '/' in file.name else ''
    others = range(index) if file.guard == '' else range(max(0, index - 1), index)
    lines += [f'#include "{up}{files[other].name}"' for other in others]
    body = '\n\n'.join(part for piece in file.pieces for part in (piece.text, piece.kernel) if part)
    text = '\n'.join(lines) + '\n\n' + body + '\n'
    if file.guard == 'once':
        return f'#pragma once\n{text}'
    return f'#ifndef PART_{index}\n#define PART_{index}\n{text}#endif\n' if file.guard else text


class Runner:
    """Builds and runs cases in a folder."""

    def __init__(self, builddir, folder, *options):
        self._cfcc, self._folder, self._options = os.path.abspath(os.path.join(builddir, 'cfcc')), folder, options
        settings = read(os.path.join(builddir, 'build.ninja'))
        self._cc = shlex.split(next(line[5:] for line in settings.splitlines() if line.startswith('cc = ')))
        self._build, self._include = os.path.abspath(builddir), os.path.join(os.path.dirname(__file__), '../../include')

    def write(self, files):
        shutil.rmtree(self._folder, ignore_errors=True)
        for index, file in enumerate(files):
            path = os.path.join(self._folder, file.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as out:
                out.write(text_of(files, index))
        with open(os.path.join(self._folder, 'test.c'), 'w', encoding='utf-8') as out:
            out.write(TEST + ''.join(piece.test + '\n' for file in files for piece in file.pieces if piece.test) +
                      '    return 0;\n}\n')

    def problem(self, files):
        """Builds and runs a case; returns the text of its failure, or ''."""
        self.write(files)
        is_for_nvcc = all(piece.is_for_nvcc for file in files for piece in file.pieces)
        commands = (
            [self._cfcc, *self._options, *([] if is_for_nvcc else ['--cuda=no']), 'real.cu'],
            [*self._cc, '-I', os.path.abspath(self._include), '-I', self._build + '/gen', 'test.c', 'real.o',
             self._build + '/libcuferry.a', '-lpthread', '-ldl', '-lm', '-o', 'test'],
            ['./test'])
        for command in commands:
            env = dict(os.environ, CF_DRIVER='host')
            code, out, err = run(command, cwd=self._folder, env=env)
            # Ignores #warning: headers of a toolkit in a system folder warn about their own use.
            if code or re.search(r'warning: (?!#warning|.*-W#warnings)', err):
                return f'{os.path.basename(command[0])}: exit {code}\n{out[-1000:]}{err[:3000]}'
        return ''

    def reduced(self, files, problem):
        """Removes pieces, many at a time in the beginning, as long as the case fails for the same cause."""
        cause, places = cause_of(problem), [(file, piece) for file in files for piece in file.pieces]

        def keep(rest):
            for file in files:
                file.pieces = [piece for place, piece in rest if place is file]

        size = len(places) // 2
        while size:
            at = 0
            while at < len(places):
                rest = places[:at] + places[at + size:]
                keep(rest)
                now = self.problem(files) if any(piece.kernel for _, piece in rest) else ''
                if now and cause_of(now) == cause:
                    problem, places = now, rest
                else:
                    at += size
            size //= 2
        keep(places)
        self.problem(files)
        return problem


def cause_of(problem):
    """Returns the first error without its position in the file; without an error, the first line, which names the
    program."""
    error = re.search(r'error: .*', problem)
    return re.sub(r'\d+', '', error[0]) if error else problem.split('\n', 1)[0]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n\n')[0])
    parser.add_argument('builddir')
    parser.add_argument('--files', type=int, default=10)
    parser.add_argument('--seconds', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep')
    options = parser.parse_args()
    tap, end = Tap(), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.builddir, os.path.join(folder, 'case'))
        number = 0
        while number < options.files or time.monotonic() < end:
            seed = options.seed + number
            number += 1
            files = make_case(random.Random(seed))
            problem = runner.problem(files)
            if problem:
                problem = runner.reduced(files, problem)
                if options.keep:
                    runner.write(files)
                    shutil.copytree(os.path.join(folder, 'case'), os.path.join(options.keep, str(seed)),
                                    dirs_exist_ok=True)
                problem += '\n' + '\n'.join(f'---- {file.name}\n{text_of(files, index)}'
                                            for index, file in enumerate(files))
            tap.check(f'file {seed} builds and runs', problem)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
