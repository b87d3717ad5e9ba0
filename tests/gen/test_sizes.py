"""test_sizes.py - compares the size functions that the generator writes for the cases of tests/gen with the interpreter
of descriptors, through compare_sizes.h. A size function checks the arguments of a launch and computes grid and block.

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
# The number of variants per case without a compiled size function: block(auto), launches that no arguments allow, and
# expressions or checks that only the interpreter evaluates.
INTERPRETED = {'constants_taken': 4, 'in_place': 1, 'launch': 1, 'never': 2, 'real_dft': 1,
               'real_lattice': 1, 'real_md': 1, 'sizes': 2}

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


def compile_c(options, folder, *words):
    """Runs the C compiler with the flags of all cases; returns the errors."""
    code, out, err = run([*shlex.split(options.cc), '-std=gnu11', '-O1', '-fsanitize=undefined',
                          '-fno-sanitize-recover=all', f'-I{ROOT}/include', f'-I{ROOT}/lib', f'-I{ROOT}/tests/support',
                          f'-I{folder}', f'-I{CASES}', *words])
    return out + err if code else ''


def problem(stem, main_object, options):
    """Runs a case; returns the errors, or ''."""
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--prefix', 't', '--outdir', folder,
                              '--bundled', os.path.join(options.builddir, 'gen', 'cuferry.json'), f'{stem}.cu'],
                              cwd=CASES)
        if code:
            return out + err
        with open(os.path.join(folder, f'{stem}.stub.c'), encoding='utf-8') as file:
            enqueuers = sorted(set(re.findall(r'\bt__enqueue_\w+', file.read())))
        with open(os.path.join(folder, 'enqueue.c'), 'w', encoding='utf-8') as file:
            file.writelines(f'int {name}(void);\nint {name}(void) {{ return -1; }}\n' for name in enqueuers)
        program = os.path.join(folder, 'main')
        # The CPU bodies are not called, and not built. Operations are not called either, but the linker needs them.
        wrong = compile_c(options, folder, main_object,
                          *(os.path.join(folder, f) for f in ('enqueue.c', f'{stem}.stub.c', 't_registry.c')),
                          '-o', program, os.path.join(options.builddir, 'libcuferry.a'),
                          '-Wl,--unresolved-symbols=ignore-all', '-lpthread', '-ldl', '-lm')
        if wrong:
            return wrong
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
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        # The same in all cases, and most of their work for the compiler.
        main_object = os.path.join(folder, 'main.o')
        with open(os.path.join(folder, 'main.c'), 'w', encoding='utf-8') as file:
            file.write(MAIN)
        wrong = compile_c(options, folder, '-c', os.path.join(folder, 'main.c'), '-o', main_object)
        for stem, text in zip(stems, pool.map(lambda s: wrong or problem(s, main_object, options), stems)):
            tap.check(f'sizes_of_{stem}_agree_with_the_interpreter', text)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
