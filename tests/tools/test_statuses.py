"""test_statuses.py - compiles and runs the examples of include/statuses.md, and writes manual pages.

usage: test_statuses.py BUILD_FOLDER
"""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_GPU, NEEDS_PLAYED_GPU, ROOT, Tap, ended, run

PROGRAM = """#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/program.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int status = CF_OK;
    {
%s
    }
    printf("%%s\\n%%s\\n", cf_status_name(status), cf_last_error());
    fflush(stdout);
    (void)waitpid(-1, NULL, 0);
    return 0;
}
"""


def sections():
    """Returns each status with its example and its message."""
    with open(os.path.join(ROOT, 'include', 'statuses.md'), encoding='utf-8') as file:
        parts = re.split(r'^## (\w+)\n', file.read(), flags=re.MULTILINE)[1:]
    for name, body in zip(parts[::2], parts[1::2]):
        blocks = re.findall(r'```(\w+)\n(.*?)```', body, re.DOTALL)
        assert [language for language, _ in blocks] in (['c', 'text'], ['c']), f'{name}: {blocks}'
        yield name, blocks[0][1], blocks[1][1].rstrip('\n') if len(blocks) > 1 else None


class StatusTest:
    def __init__(self, tap, build, folder):
        self.tap, self.build, self.folder = tap, os.path.abspath(build), folder
        with open(os.path.join(build, 'cfcc.json'), encoding='utf-8') as file:
            config = json.load(file)
        self.compiler, self.has_cuda = shlex.split(config['cc']), bool(config['nvcc'])
        self.flags = shlex.split(config['link_flags'])
        self.played = os.path.join(self.build, 'tests', 'fake')

    def environment(self, name):
        """Returns what the example of a status needs in its environment, or the reason to skip it."""
        host, gpu = {'CF_DRIVER': 'host'}, {'CF_DRIVER': 'cuda'}
        if name == 'CF_ECOMPILE':
            return {**host, 'CF_CFCC': os.path.join(self.build, 'cfcc')}
        if name == 'CF_EDRIVER':
            if not self.has_cuda:
                return 'needs a build with nvcc'
            run([*self.compiler, '-shared', '-o', 'libcuda.so.1', '-xc', os.devnull], cwd=self.folder)
            return {'LD_LIBRARY_PATH': self.folder}
        if name == 'CF_EFAULT':
            return gpu if self.has_cuda and os.path.exists('/dev/nvidiactl') else NEEDS_GPU
        if name in ('CF_ENOCODE', 'CF_EFORK'):
            return {**gpu, 'LD_LIBRARY_PATH': self.played} if os.path.isdir(self.played) else NEEDS_PLAYED_GPU
        return host

    def example(self, name, code, message):
        test, env = f'status_{name}_has_its_example', self.environment(name)
        if isinstance(env, str):
            self.tap.skip(test, env)
            return
        with open(os.path.join(self.folder, 'main.c'), 'w', encoding='utf-8') as file:
            file.write(PROGRAM % code)
        status, _, err = run([*self.compiler, *self.flags, '-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror',
                              f'-I{ROOT}/include', f'-I{self.build}/gen', 'main.c', f'{self.build}/libcuferry.a',
                              '-lpthread', '-ldl', '-lm', '-o', 'main'], cwd=self.folder)
        if status:
            self.tap.check(test, err)
            return
        status, out, err = run(['./main'], cwd=self.folder, env={**os.environ, **env})
        found = list(zip(out.split('\n')[::2], out.split('\n')[1::2]))
        if name == 'CF_ECALL':      # no call causes this status on every machine
            wanted = [('CF_OK', '')]
        elif name == 'CF_ENOTREADY':
            wanted = [(name, ''), ('CF_OK', '')]
        else:
            wanted = [(name, message)]
        good = status == 0 and any(said == each[0] and re.fullmatch(pattern_of(each[1]), detail)
                                   for said, detail in found for each in wanted)
        self.tap.check(test, '' if good else f'{ended(status)}: {out}{err}; expected {wanted}')

    def pages(self, names):
        """Each status has a manual page that man formats without a warning."""
        code, out, err = run([sys.executable, os.path.join(ROOT, 'tools', 'dev', 'status-pages'), self.folder])
        with open(os.path.join(ROOT, 'include', 'cuferry.h'), encoding='utf-8') as file:
            listed = re.findall(r'^    X\((CF_E\w+),', file.read(), re.MULTILINE)
        made = [os.path.basename(path)[:-2] for path in out.split()]
        problem = err or f'exit {code}' if code else '' if listed == names == made else f'{listed}, {names}, {made}'
        self.tap.check('status_pages_are_those_of_the_header', problem)
        if not shutil.which('groff'):
            self.tap.skip('status_pages_are_formatted', 'needs groff')
            return
        said = [run(['groff', '-man', '-Tutf8', '-ww', path])[2] for path in out.split()]
        self.tap.check('status_pages_are_formatted', ''.join(said))

    def functions(self):
        """man finds a page for each exported function and each type-generic name, and that page leads to an existing
        one."""
        folder = os.path.join(self.folder, 'functions')
        kernels = os.path.join(self.build, 'gen', 'cuferry', 'kernels.h')
        os.mkdir(folder)
        code, out, err = run([sys.executable, os.path.join(ROOT, 'tools', 'dev', 'function-pages'), folder, kernels,
                              'mpi'])
        made = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                made[name[:-2]] = re.fullmatch(r'\.so man3/(\w+\.3)\n', file.read())[1]
        with open(os.path.join(ROOT, 'tools', 'dev', 'exports.txt'), encoding='utf-8') as file:
            wanted = set(re.findall(r'\b(cf_\w+)\(', file.read()))
        wanted |= {'cf_mpi_gather', 'cf_program_compile', 'cf_gather'}
        with open(kernels, encoding='utf-8') as file:
            wanted |= set(re.findall(r'^#define (cf_[a-z]\w*)\(\w+,', file.read(), re.MULTILINE))
        lost = sorted(wanted.difference(made))
        more = sorted(name for name in set(made).difference(wanted) if not name.startswith('cf_mpi_'))
        wrong = [name for name, page in made.items() if not os.path.exists(os.path.join(ROOT, 'include', page))]
        self.tap.check('functions_have_pages', f'{out}{err}' if code or out else
                       f'lost {lost[:9]}, too many {more[:9]}, wrong {wrong[:9]}' if lost or more or wrong else '')


def pattern_of(message):
    return '.*'.join(re.escape(part) for part in message.split('...'))


def main(build):
    tap, found = Tap(), list(sections())
    with tempfile.TemporaryDirectory() as folder:
        test = StatusTest(tap, build, folder)
        test.pages([name for name, _, _ in found])
        test.functions()
        for each in found:
            test.example(*each)
    return tap.close()


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
