"""test_sizes.py - compares the size functions that the generator writes for the cases of tests/gen with the interpreter
of descriptors, using compare_sizes.h. A size function checks the arguments of a launch and computes grid and block.

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
import forked
from tap import ROOT, Tap, read, run

CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')
# For each case, the number of variants that have no compiled size function. They have block(auto), a launch that fails
# for all arguments, or expressions or checks that only the interpreter evaluates.
INTERPRETED = {'constants_taken': 4, 'in_place': 1, 'launch': 1, 'never': 2, 'sizes': 2}

# One program contains all cases, each with a prefix of its own; its argument names the case to test.
MAIN = '''#include "compare_sizes.h"

#define CASE(STEM) extern const cf_module of_##STEM##_registry;
CASES
#undef CASE
#define CASE(STEM) {#STEM, &of_##STEM##_registry},
static const struct { const char *stem; const cf_module *module; } cases[] = {CASES};

static int test(const cf_module *module, int trials)
{
    char wrong[4096];
    int compiled = 0, variants = 0;
    for (size_t i = 0; i < module->count; i++)
        variants += module->kernels[i]->nvariants ? (int)module->kernels[i]->nvariants : 1;
    if (compare_sizes(module, trials, &compiled, wrong, sizeof wrong))
        return puts(wrong), 1;
    return printf("%d\\n", variants - compiled) < 0;
}

int main(int argc, char *argv[])
{
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].stem, argv[1]) == 0)
            return test(cases[i].module, atoi(argv[2]));
    return puts("no such case"), 2;
}
'''


def compile_c(options, folder, *words):
    """Runs the C compiler with the flags of all cases; returns the errors."""
    code, out, err = run([*shlex.split(options.cc), '-std=gnu11', '-O1', '-fsanitize=undefined',
                          '-fno-sanitize-recover=all', f'-I{ROOT}/include', f'-I{ROOT}/lib', f'-I{ROOT}/tests/support',
                          f'-I{folder}', f'-I{CASES}', *words])
    return out + err or f'exit {code}' if code else ''


def generate(options, program, folder, stem):
    """Generates the C file of a case; returns the errors, or ''."""
    os.mkdir(folder)
    bundled = os.path.join(options.builddir, 'gen', 'cuferry.json')
    code, out, err = forked.run_forked(program, ['--prefix', f'of_{stem}', '--outdir', folder, '--bundled', bundled,
                                                    f'{stem}.cu'], CASES)
    if code:
        return f'{out}{err}'
    with open(os.path.join(folder, 'case.c'), 'w', encoding='utf-8') as file:
        file.write(f'#include "{stem}.stub.c"\n#include "of_{stem}_registry.c"\n')
    return ''


def link(options, folder, stems):
    """Links the cases that were compiled to a program; returns the errors, or ''."""
    main, stubs = os.path.join(folder, 'main.c'), [read(os.path.join(folder, stem, f'{stem}.stub.c')) for stem in stems]
    enqueuers = sorted(set(re.findall(r'\bof_\w+__enqueue_\w+', '\n'.join(stubs))))
    with open(main, 'w', encoding='utf-8') as file:
        file.write(f'#define CASES {" ".join(f"CASE({stem})" for stem in stems)}\n' + MAIN)
        # CPU bodies are not called and not built. Operations are not called either, but the linker needs a definition.
        file.writelines(f'int {name}(void);\nint {name}(void) {{ return -1; }}\n' for name in enqueuers)
    return compile_c(options, folder, main, *(os.path.join(folder, stem, 'case.o') for stem in stems), '-o',
                     os.path.join(folder, 'main'), os.path.join(options.builddir, 'libcuferry.a'),
                     '-Wl,--unresolved-symbols=ignore-all', '-lpthread', '-ldl', '-lm')


def problem(options, folder, stem):
    """Runs a case; returns the errors, or ''."""
    code, out, err = run([os.path.join(folder, 'main'), stem, str(options.trials)])
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
    program = forked.load()
    with tempfile.TemporaryDirectory() as folder:
        places = {stem: os.path.join(folder, stem) for stem in stems}
        wrong = {stem: generate(options, program, places[stem], stem) for stem in stems}
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            texts = pool.map(lambda stem: wrong[stem] or compile_c(
                options, places[stem], '-c', os.path.join(places[stem], 'case.c'), '-o',
                os.path.join(places[stem], 'case.o')), stems)
            wrong = dict(zip(stems, texts))
            unlinked = link(options, folder, [stem for stem in stems if not wrong[stem]])
            texts = pool.map(lambda stem: wrong[stem] or unlinked or problem(options, folder, stem), stems)
            for stem, text in zip(stems, texts):
                tap.check(f'sizes_of_{stem}_agree_with_the_interpreter', text)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
