#!/usr/bin/env python3
"""mpi_scaling.py - measures weak scaling of Jacobi's method and of CG on 1, 2, 4 and 8 ranks, as far as there are GPUs.

usage: mpi_scaling.py BUILDDIR [--launcher MPIEXEC] [--ranks N,...] [--jacobi SIDE] [--cg SIDE]

Runs peers-mpi-jacobi and peers-mpi-cg with SIDE^3 cells or rows on each rank. Prints a table and Mermaid charts for
kernels/SCALING.md. The efficiency on N ranks is the time of a step on the first number of ranks divided by that on N.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys

RANKS = (1, 2, 4, 8)
SECONDS = 120   # limit of one run


def count_gpus(build):
    info = subprocess.run([os.path.join(build, 'cf-info'), '--json'], check=True, capture_output=True)
    return sum(device['number'] >= 0 for device in json.loads(info.stdout)['devices'])


def measure(launcher, ranks, program, side):
    """Runs a program and returns the milliseconds of a step that it prints."""
    result = subprocess.run([*launcher, '-n', str(ranks), program, str(side)], check=False, capture_output=True,
                            text=True, timeout=SECONDS)
    found = re.search(r'a step ([\d.]+) ms', result.stdout)
    if result.returncode or not found:
        sys.exit(f'{program} on {ranks} ranks ends with {result.returncode}\n{result.stdout}{result.stderr}')
    return float(found.group(1))


def print_table(ranks, times):
    print('| ranks |' + ''.join(f' {name}, ms per step | efficiency |' for name in times))
    print('| --- |' + ' --- | --- |' * len(times))
    for i, count in enumerate(ranks):
        print(f'| {count} |' + ''.join(f' {each[i]:.3f} | {each[0] / each[i]:.2f} |' for each in times.values()))


def print_curve(ranks, name, times):
    """Prints a chart with a single curve, because an xychart has no legend."""
    print(f'\n```mermaid\nxychart-beta\n    title "{name}: efficiency"\n    x-axis "ranks" {list(ranks)}\n'
          f'    y-axis "time of {ranks[0]} / time" 0 --> 1.1\n'
          f'    line [{", ".join(f"{times[0] / each:.2f}" for each in times)}]\n```')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('build')
    parser.add_argument('--launcher', default='mpiexec', type=shlex.split)
    parser.add_argument('--ranks', type=lambda text: [int(each) for each in text.split(',')])
    parser.add_argument('--jacobi', type=int, default=512)
    parser.add_argument('--cg', type=int, default=256)
    options = parser.parse_args()
    ranks = options.ranks or [each for each in RANKS if each <= max(1, count_gpus(options.build))]
    times = {}
    for name, program, side in (('Jacobi', 'peers-mpi-jacobi', options.jacobi), ('CG', 'peers-mpi-cg', options.cg)):
        path = os.path.abspath(os.path.join(options.build, program))
        times[f'{name}, {side}^3 per rank'] = [measure(options.launcher, each, path, side) for each in ranks]
    print_table(ranks, times)
    for name, each in times.items():
        print_curve(ranks, name, each)


if __name__ == '__main__':
    main()
