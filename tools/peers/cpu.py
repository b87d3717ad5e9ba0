#!/usr/bin/env python3
"""cpu.py - prints the results of peers-cpu as a Markdown table: OpenMP's time divided by the kernel's, so that the
kernel is faster if it is above 1.

usage: cpu.py BUILDDIR [--threads N,...] [WORD]

Runs peers-cpu with each number of threads, by default 1, 2 and all processors. The native figures are those of loops
compiled with -march=native. With WORD, it runs only kernels whose names contain it. A ? marks a row whose threads
waited for a processor in too many rounds.
"""

import argparse
import math
import os
import subprocess
import sys

FORMS = ('loop', 'barriers')


def run(program, count, word):
    """Maps the names of rows to (form, numbers, mark); the numbers are the two ratios, and the times of the kernel and
    of both loops in us."""
    # KMP_BLOCKTIME is the time in ms for which clang's OpenMP polls for work; the default is 200.
    env = dict(os.environ, CF_THREADS=str(count), OMP_NUM_THREADS=str(count), KMP_BLOCKTIME='10')
    rows = {}
    with subprocess.Popen([program, str(count), word], env=env, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            words = line.split()
            if len(words) != 8:
                sys.stderr.write(line)
                continue
            name, form, *numbers, mark = words
            rows[name] = int(form), [float(number) for number in numbers], mark.strip('-')
            sys.stderr.write(f'{count:3} threads  {name:18} {numbers[2]} us, OpenMP {numbers[3]} us, '
                             f'native {numbers[4]} us{", disturbed" if mark == "?" else ""}\n')
    if process.returncode:
        sys.exit(f'{program} ends with {process.returncode}')
    return rows


def print_table(runs):
    titles = [f' {"native" if native else "thread" if count == 1 else "threads"} |' for native in (0, 1)
              for count in runs]
    print('| kernel | form | ms |' + ''.join(f' {count}{title}' for count, title in zip([*runs, *runs], titles)))
    print('| --- | --- | --- |' + ' --- |' * len(titles))
    first = next(iter(runs.values()))
    for form, spelled in enumerate(FORMS):
        for name, row in first.items():
            if row[0] == form:
                print(f'| `{name}` | {spelled} | {row[1][2] * 1e-3:.2f} |' + ''.join(
                    f' {rows[name][1][native]:.{3 if rows[name][1][native] < 0.1 else 2}f}{rows[name][2]} |'
                    for native in (0, 1) for rows in runs.values()))
    for form, spelled in enumerate(FORMS):
        names = [name for name, row in first.items() if row[0] == form]
        if names:
            print(f'| geometric mean of {len(names)} | {spelled} | |' + ''.join(
                f' **{math.exp(sum(math.log(rows[name][1][native]) for name in names) / len(names)):.2f}** |'
                for native in (0, 1) for rows in runs.values()))


def main():
    count = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser()
    parser.add_argument('builddir')
    parser.add_argument('--threads', metavar='N,...', default=','.join(map(str, sorted({1, min(2, count), count}))))
    parser.add_argument('word', nargs='?', default='')
    options = parser.parse_intermixed_args()
    program = os.path.join(options.builddir, 'peers-cpu')
    print_table({number: run(program, number, options.word) for number in map(int, options.threads.split(','))})


if __name__ == '__main__':
    main()
