"""test_mpi_consumers.py - builds the programs of tests/consumers/mpi with an installed tree, and runs them.

usage: test_mpi_consumers.py BUILDDIR

BUILDDIR was configured with --mpicc. The programs compare their results with those of one rank.
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
sys.path.append(os.path.dirname(os.path.realpath(__file__)))
from tap import NEEDS_NO_SANITIZER, ROOT, Tap, ended, read, run
from test_mpi import NEEDS_MPI, NEEDS_MPIFORT, SETTINGS

SECONDS = 60   # for one program; it takes a second or two
PROGRAMS = {'gather': '262144 of 262144 match\n', 'jacobi': '25920 of 25920 cells have the same bits\n',
            'cg': 'solved after few steps, residuals of one rank: the same bits\n'}
FORTRAN = {'gather_fortran': '262144 of 262144 match\n'}


class Consumers(Tap):
    def __init__(self, build, folder):
        super().__init__()
        self.prefix, self.project = os.path.join(folder, 'prefix'), os.path.join(folder, 'mpi')
        text = read(os.path.join(build, 'build.ninja')) or ''
        found = re.search(r'^mpicc = (.*)$', text, re.M)
        self.mpicc = found and found.group(1)
        self.is_sanitized = '-fsanitize' in re.search(r'^cflags = .*$', text, re.M).group()
        self.env = {**os.environ, **SETTINGS, 'PKG_CONFIG_PATH': os.path.join(self.prefix, 'lib/pkgconfig'),
                    'CF_DRIVER': 'host'}
        if self.mpicc and not self.is_sanitized:
            run(['sh', os.path.join(ROOT, 'tools/dev/install'), ROOT, os.path.realpath(build), self.prefix])
            shutil.copytree(os.path.join(ROOT, 'tests/consumers/mpi'), self.project)

    def beside_mpicc(self, name):
        return re.sub(r'mpicc(?=[^/]*$)', name, self.mpicc)

    def make(self, target, *variables):
        code, out, err = run(['make', target, f'MPICC={self.mpicc}', 'CFCCFLAGS=--cuda=no', *variables],
                             cwd=self.project, env=self.env)
        self.check(f'mpi_consumers_{target}_builds', f'{out}{err}' if code else '')

    def run_programs(self, programs):
        for name, expected in programs.items():
            for ranks in (1, 2, 4):
                code, out, err = run([self.beside_mpicc('mpiexec'), '-n', str(ranks), './' + name], cwd=self.project,
                                     env=self.env, timeout=SECONDS)
                self.check(f'mpi_consumer_{name}_on_{ranks}',
                           '' if code == 0 and out == expected else f'{ended(code)}\n{out}{err}')

    def run(self):
        if not self.mpicc or self.is_sanitized:
            self.skip('mpi_consumers', NEEDS_NO_SANITIZER if self.mpicc else NEEDS_MPI)
            return
        self.make('all')
        self.run_programs(PROGRAMS)
        if not shutil.which(self.beside_mpicc('mpifort')):
            self.skip('mpi_consumers_in_fortran', NEEDS_MPIFORT)
            return
        self.make('fortran', 'MPIFC=' + self.beside_mpicc('mpifort'))
        self.run_programs(FORTRAN)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as work:
        test = Consumers(sys.argv[1], work)
        test.run()
        sys.exit(test.close())
