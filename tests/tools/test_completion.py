"""test_completion.py - tests the completions for bash and zsh, whose options must be those that --help lists.

usage: test_completion.py BUILDDIR
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import Tap, run

PROGRAMS = ('cf-bench', 'cf-info', 'cf-plot', 'cf-run', 'cf-tune', 'cfcc')


class CompletionTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir, self.folder = tap, builddir, folder
        self.env = dict(os.environ, PATH=builddir + os.pathsep + os.environ['PATH'], CF_DRIVER='host')
        for name in ('one.json', 'two.npy'):
            with open(os.path.join(folder, name), 'w', encoding='utf-8'):
                pass
        os.mkdir(os.path.join(folder, 'three'))

    def candidates(self, *words):
        """Returns the candidates that bash finds for the last word."""
        script = ('source "$0" && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && '
                  '"_${1//-/_}" && printf "%s\\n" "${COMPREPLY[@]}"')
        code, out, err = run(['bash', '--norc', '-c', script,
                              os.path.join(self.builddir, 'completion', 'bash', words[0]),
                              *words], cwd=self.folder, env=self.env)
        return set(out.split()) if code == 0 and not err else {f'exit {code}: {out}{err}'}

    def options(self, program):
        _, out, _ = run([os.path.join(self.builddir, program), '--help'])
        listed = out[out.lower().index('options:'):]
        heads = re.findall(r'^  (-.*?)(?:  .*)?$', listed, re.MULTILINE)
        return {option for head in heads for option in re.findall(r'(?:^|(?<= ))--?\w[\w-]*', head)}

    def of_bash(self):
        for program in PROGRAMS:
            got, wanted = self.candidates(program, '-'), self.options(program)
            self.tap.check(f'bash_{program}_completes_the_options_of_help',
                           '' if got == wanted and len(got) > 3 else f'{sorted(got ^ wanted)}')
        code, out, _ = run([os.path.join(self.builddir, 'cf-run'), '--list'], env=self.env)
        kernels = {line.split()[0] for line in out.splitlines()} if code == 0 else set()
        gathers = {name for name in kernels if name.startswith('gather_f32')}
        files = {'one.json', 'two.npy', 'three'}
        for words, wanted in (
                (['cf-run', '--dr'], {'--driver'}), (['cf-run', '--driver', ''], {'cuda', 'host'}),
                (['cf-run', '--driver', '=', 'h'], {'host'}), (['cf-run', '--driver', '='], {'cuda', 'host'}),
                (['cf-run', '--check', 'r'], {'race'}), (['cf-run', '--repeat', ''], set()),
                (['cf-run', 'gather_f32'], gathers), (['cf-run', '--describe', ''], kernels),
                (['cf-run', '--module', ''], files), (['cf-bench', '--json', 'o'], {'one.json'}),
                (['cf-plot', 'o'], {'one.json'}),
                (['cf-tune', '--mach'], {'--machine'}), (['cf-info', '--cache', ''], {'three'}),
                (['cfcc', '-I', ''], {'three'}), (['cfcc', '--adopt', ''], {'numba', 'triton'}),
                (['cfcc', '-o', 'tw'], {'two.npy'})):
            got = self.candidates(*words)
            self.tap.check(f'bash_completes_{"_".join(words)}', '' if got == wanted else f'{sorted(got)}')

    def of_zsh(self):
        for program in PROGRAMS:
            path = os.path.join(self.builddir, 'completion', 'zsh', f'_{program}')
            with open(path, encoding='utf-8') as file:
                text = file.read()
            got, wanted = set(re.findall(r"^    '\*(-[\w-]+)", text, re.MULTILINE)), self.options(program)
            self.tap.check(f'zsh_{program}_has_the_options_of_help', '' if got == wanted else f'{sorted(got ^ wanted)}')
            name = f'zsh_reads_the_completion_of_{program}'
            if not shutil.which('zsh'):
                self.tap.skip(name, 'needs zsh')
                continue
            # Prints the words that _arguments would get.
            code, out, err = run(['zsh', '-f', '-c', '_arguments() { print -rl -- "$@" }; source "$0"', path])
            specs = out.splitlines()
            self.tap.check(name,
                           '' if code == 0 and not err and len(specs) == len(wanted) + 1 else f'not so: {out}{err}')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = CompletionTest(tap, os.path.abspath(sys.argv[1]), folder)
        test.of_bash()
        test.of_zsh()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
