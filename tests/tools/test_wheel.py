"""test_wheel.py - builds the wheel and the source archive with pip's interface, installs the wheel into a clean
environment without a network, and compiles a program there.

usage: test_wheel.py BUILDDIR
"""

import os
import re
import shlex
import shutil
import sys
import tarfile
import tempfile
import zipfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_LONG, NEEDS_NO_SANITIZER, ROOT, Tap, run

KERNEL = '''#pragma cf kernel grid(n) inout(x[n])
__global__ void triple(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 3;
}
'''
PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include "own.h"
int main(void)
{
    int x[2] = {5, 7}, status = own_triple(x, 2);
    printf("%d %d %d %s\\n", status, x[0], x[1], cf_status_name(own_triple(x, -1)));
    return 0;
}
'''


class WheelTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir, self.folder = tap, builddir, folder
        self.venv = os.path.join(folder, 'a venv')
        self.env = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'PYTHONPYCACHEPREFIX')}
        self.env.update(PATH=os.path.join(self.venv, 'bin') + os.pathsep + os.environ['PATH'], CF_DRIVER='host',
                        PIP_NO_INDEX='1', PIP_DISABLE_PIP_VERSION_CHECK='1')
        self.python = os.path.join(self.venv, 'bin', 'python')

    def run(self, *command, timeout=600):
        return run(command, cwd=self.folder, env=self.env, timeout=timeout)

    def build(self):
        """Builds the wheel; returns its path."""
        wheels = []
        for folder in ('first', 'second'):
            code, out, err = self.run(self.python, '-m', 'pip', 'wheel', '--no-deps', '-w', folder,
                                      f'--config-settings=builddir={self.builddir}', ROOT)
            made = os.listdir(os.path.join(self.folder, folder)) if code == 0 else []
            if len(made) != 1:
                self.tap.check('pip_builds_the_wheel', f'{made} {out}{err}')
                return None
            wheels.append(os.path.join(self.folder, folder, made[0]))
        self.tap.check('pip_builds_the_wheel', '')
        first, second = (open(path, 'rb').read() for path in wheels)
        self.tap.check('equal_trees_make_equal_wheels', '' if first == second else 'they differ')
        return wheels[0]

    def tag(self, wheel):
        """The wheel's tag names the newest version of glibc whose symbols the programs use, according to objdump."""
        newest = 17
        for name in ('cf-run', 'cf-bench', 'cf-info', 'cf-tune'):
            _, out, _ = run(['objdump', '-T', os.path.join(self.builddir, name)])
            newest = max([newest, *map(int, re.findall(r'\(?GLIBC_2\.(\d+)', out))])
        wanted = f'-py3-none-manylinux_2_{newest}_{os.uname().machine}.whl'
        self.tap.check('wheel_names_its_glibc', '' if wheel.endswith(wanted) else f'{wheel}, not {wanted}')
        with zipfile.ZipFile(wheel) as file:
            names = file.namelist()
            record = file.read(next(name for name in names if name.endswith('/RECORD'))).decode()
        listed = [line.split(',')[0] for line in record.splitlines()]
        self.tap.check('record_lists_all_files',
                       '' if sorted(names) == sorted(listed) else f'{set(names) ^ set(listed)}')

    def use(self, wheel):
        code, out, err = self.run(self.python, '-m', 'pip', 'install', '--no-deps', wheel)
        self.tap.check('pip_installs_the_wheel', f'exit {code}: {out}{err}' if code else '')
        _, prefix, _ = self.run('cuferry-config', '--prefix')
        prefix = prefix.strip()
        inside = prefix.startswith(os.path.realpath(self.venv)) and os.path.exists(f'{prefix}/include/cuferry.h')
        self.tap.check('cuferry_config_tells_the_prefix', '' if inside else prefix)
        for name, text in (('own.cu', KERNEL), ('main.c', PROGRAM)):
            with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        code, flags, err = self.run('cuferry-config', '--cflags', '--libs')
        with open(os.path.join(self.builddir, 'build.ninja'), encoding='utf-8') as file:
            cc = re.search(r'^cc = (.*)$', file.read(), re.MULTILINE).group(1)
        said = err
        for command in (['cfcc', '--cuda=no', 'own.cu'],
                        [*shlex.split(cc), 'main.c', 'own.o', *shlex.split(flags), '-o',
                                                          'main'], ['./main']):
            code, out, err = self.run(*command)
            said = f'{out}{err}'
            if code:
                break
        self.tap.check('program_with_own_kernel_runs', '' if said == '0 15 21 CF_EINVAL\n' else said or 'no text')
        code, out, err = self.run('cf-run', 'fill_f32', 'n=3', 'y=-', 'value=2')
        self.tap.check('cf_run_runs', f'exit {code}: {out}{err}' if code else '')
        code, out, err = self.run('cuferry-config')
        self.tap.check('cuferry_config_without_an_option_is_refused',
                       '' if code == 2 and '--cflags' in err else err or 'no text')
        code, out, err = self.run(self.python, '-m', 'pip', 'uninstall', '-y', 'cuferry')
        left = os.path.exists(prefix) or os.path.exists(os.path.join(self.venv, 'bin', 'cfcc'))
        self.tap.check('pip_uninstalls_all', f'{os.listdir(prefix)}{out}{err}' if left else '')

    def archive(self):
        """The source archive contains what a build needs. A build from a tree other than the repository first unpacks
        this archive."""
        code, out, err = self.run(sys.executable, '-c',
                                  f'import sys; sys.path.insert(0, {ROOT + "/tools/packaging"!r})\n'
                                  'sys.dont_write_bytecode = True\nimport backend; print(backend.build_sdist("."))')
        problem = f'exit {code}: {out}{err}' if code else ''
        if not problem:
            with tarfile.open(os.path.join(self.folder, out.strip())) as file:
                names = {name.split('/', 1)[1] for name in file.getnames()}
            lost = {'configure', 'build.ninja.in', 'pyproject.toml', 'PKG-INFO', 'lib/ROOMS', 'gen/cfgen',
                    'tools/packaging/backend.py', 'kernels/gather.cu', 'include/cuferry.h'} - names
            problem = f'lost: {lost}' if lost or any(name.startswith('build/') for name in names) else ''
        self.tap.check('source_archive_is_complete', problem)
        if not os.environ.get('CHECK_LONG'):
            self.tap.skip('wheel_is_built_from_the_source_archive', NEEDS_LONG)
        elif not problem:
            code, out, err = self.run(self.python, '-m', 'pip', 'install', '--no-deps', out.strip(),
                                      '--config-settings=configure=--cuda=no CFLAGS=-O0 CXXFLAGS=-O0', timeout=1800)
            said = self.run('cf-run', 'fill_f32', 'n=3', 'y=-', 'value=2')[1] if code == 0 else f'{out}{err}'
            self.tap.check('wheel_is_built_from_the_source_archive',
                           '' if code == 0 and 'fill_f32' in said else said or 'no text')
        code, out, err = self.run(self.python, '-m', 'pip', 'wheel', '--no-deps', '-w', 'third',
                                  '--config-settings=builddir=/nowhere', ROOT)
        self.tap.check('build_folder_that_is_not_there_is_reported',
                       '' if code and 'builddir=/nowhere: there is no libcuferry.a' in out + err
                       else f'not so: {out}{err}')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = WheelTest(tap, os.path.abspath(sys.argv[1]), folder)
        with open(os.path.join(sys.argv[1], 'cfcc.json'), encoding='utf-8') as file:
            is_sanitized = '-fsanitize' in file.read()
        code, out, err = run([sys.executable, '-m', 'venv', test.venv])
        if is_sanitized:
            tap.skip('wheel', NEEDS_NO_SANITIZER)
        elif code:
            shutil.rmtree(test.venv, ignore_errors=True)
            tap.skip('wheel', "needs Python's venv and pip")
        else:
            wheel = test.build()
            if wheel:
                test.tag(wheel)
                test.use(wheel)
            test.archive()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
