"""test_sizes.py - the functions that check a launch and work its size out, as they are generated for the cases of
tests/gen, against the interpreter of the descriptors: compare_sizes.h says how.

usage: test_sizes.py BUILDDIR [--cc CC] [--trials N]
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run

CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')
# Kernels that no trial gets in order, or that are left to the interpreter: block(auto), two of sizes.cu, and all of
# constants_taken.cu, for which the generator writes no compiled form, and a combination of in_place.cu that is none.
INTERPRETED = {'constants_taken': 4, 'in_place': 1, 'launch': 1, 'real_dft': 1, 'real_lattice': 1, 'real_md': 1,
               'sizes': 2}

MAIN = '''#include "compare_sizes.h"

extern const cf_module t_registry;

int main(int argc, char *argv[])
{
    char wrong[4096];
    int compiled = 0, variants = 0, status = argc != 2;
    for (size_t i = 0; i < t_registry.count; i++)
        variants += t_registry.kernels[i]->nvariants ? (int)t_registry.kernels[i]->nvariants : 1;
    if (status == 0)
        status = compare_sizes(&t_registry, atoi(argv[1]), &compiled, wrong, sizeof wrong);
    if (status == 0)
        printf("%d\\n", variants - compiled);
    else
        puts(wrong);
    return status != 0;
}
'''


def problem(stem, options):
    """What is wrong with a case; '' where nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--prefix', 't', '--outdir', folder,
                              '--bundled', os.path.join(options.builddir, 'gen', 'cuferry.json'), f'{stem}.cu'], cwd=CASES)
        if code:
            return out + err
        with open(os.path.join(folder, 'main.c'), 'w', encoding='utf-8') as file:
            file.write(MAIN)
        with open(os.path.join(folder, f'{stem}.stub.c'), encoding='utf-8') as file:
            enqueuers = sorted(set(re.findall(r'\bt__enqueue_\w+', file.read())))
        with open(os.path.join(folder, 'enqueue.c'), 'w', encoding='utf-8') as file:
            file.writelines(f'int {name}(void);\nint {name}(void) {{ return -1; }}\n' for name in enqueuers)
        program = os.path.join(folder, 'main')
        # The CPU bodies are not called, and so not built. Operations are not either, but linkers leave no calls of theirs
        # open.
        code, out, err = run([*shlex.split(options.cc), '-std=gnu11', '-O1', '-fsanitize=undefined',
                              '-fno-sanitize-recover=all', f'-I{ROOT}/include', f'-I{ROOT}/lib', f'-I{ROOT}/tests/support',
                              f'-I{folder}', f'-I{CASES}',
                              *(os.path.join(folder, f) for f in ('main.c', 'enqueue.c', f'{stem}.stub.c', 't_registry.c')),
                              '-o', program, os.path.join(options.builddir, 'libcuferry.a'),
                              '-Wl,--unresolved-symbols=ignore-all', '-lpthread', '-ldl', '-lm'])
        if code:
            return out + err
        code, out, err = run([program, str(options.trials)])
        if code:
            return f'exit {code}: {out}{err}'
        expected = INTERPRETED.get(stem, 0)
        return '' if int(out) == expected else f'{out.strip()} kernels are left to the interpreter, and not {expected}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('builddir')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--trials', type=int, default=20000)
    options = parser.parse_args()
    options.builddir = os.path.abspath(options.builddir)
    tap = Tap()
    stems = sorted(f[:-5] for f in os.listdir(CASES) if f.endswith('.json'))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for stem, text in zip(stems, pool.map(lambda s: problem(s, options), stems)):
            tap.check(f'sizes_of_{stem}_agree_with_the_interpreter', text)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
