"""test_mpi.py - runs the programs of tests/mpi on several ranks.

usage: test_mpi.py BUILDDIR

BUILDDIR was configured with --mpicc. With CHECK_LONG in the environment the programs also run on 7 ranks. The launcher
and the compiler of Fortran have the name of the C compiler, with mpiexec and mpifort in place of mpicc.
"""

import os
import re
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_NO_SANITIZER, ROOT, Tap, ended, read, run

NEEDS_MPI = 'needs an MPI library: tools/dev/setup installs it'
NEEDS_MPIFORT = 'needs mpifort of the MPI library'
FORTRAN = ['-std=f2018', '-g', '-fcheck=all,no-array-temps', '-Wall', '-Wextra', '-Werror']
RANKS = [1, 2, 4] + ([7] if os.environ.get('CHECK_LONG') else [])
SECONDS = 60   # for one program; it takes a second or two
# Open MPI refuses root, and more ranks than processors, unless told otherwise. Without binding, ranks share processors.
SETTINGS = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1',
            'OMPI_MCA_hwloc_base_binding_policy': 'none', 'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
            'OMPI_MCA_btl_vader_single_copy_mechanism': 'none'}


class MpiTest(Tap):
    def __init__(self, build):
        super().__init__()
        self.build = build
        self.config = read(os.path.join(build, 'build.ninja')) or ''
        self.mpiexec, self.mpifort = self.find('mpiexec'), self.find('mpifort')

    def find(self, tool):
        found = re.search(r'^mpicc = (.*)$', self.config, re.M)
        return found and shutil.which(re.sub(r'mpicc(?=[^/]*$)', tool, found.group(1)))

    def on_ranks(self, name, ranks, *arguments, env=None):
        """Runs a program; it ends with 0 on all ranks and prints nothing."""
        program = os.path.join(self.build, 'tests/mpi', name)
        code, out, err = run([self.mpiexec, '-n', str(ranks), program, *arguments], timeout=SECONDS,
                             env={**os.environ, **SETTINGS, **(env or {})})
        problem = '' if code == 0 and not out else f'{ended(code)}\n{out}{err}'
        self.check(f'mpi_{name}_on_{ranks}' + ''.join(f'_{each}' for each in arguments), problem)

    def on_all_ranks(self, name, reason):
        for ranks in RANKS:
            if reason:
                self.skip(f'mpi_{name}_on_{ranks}', reason)
            else:
                self.on_ranks(name, ranks)

    def fortran(self):
        """Compiles the modules with the program; the linker drops what it does not call."""
        reason = (not self.mpiexec and NEEDS_MPI or not self.mpifort and NEEDS_MPIFORT or
                  '-fsanitize' in self.config and NEEDS_NO_SANITIZER)
        if not reason:
            sources = ['include/cuferry/cuferry.f90', 'include/cuferry/cuferry_mpi.f90', 'tests/mpi/fortran.f90']
            result = run([self.mpifort, *FORTRAN, *(os.path.join(ROOT, each) for each in sources), '-Jtests/mpi',
                          '-o', 'tests/mpi/fortran', '-Wl,--gc-sections', 'libcuferry_mpi.a', 'libcuferry.a',
                          '-lpthread', '-ldl'], cwd=self.build)
            self.check('mpi_fortran_compiles', '' if result == (0, '', '') else f'{ended(result[0])}\n{result[2]}')
        self.on_all_ranks('fortran', reason)

    def module(self):
        """The module of Fortran has the functions and constants of the C headers."""
        header, registry = (read(os.path.join(ROOT, 'include/cuferry', each)) for each in ('mpi.h', 'registry.h'))
        module = read(os.path.join(ROOT, 'include/cuferry/cuferry_mpi.f90'))
        wanted = set(re.findall(r'^CF_CHECKED int (cf_mpi_\w+)', header, re.M))
        found = set(re.findall(r'cf_mpi_\w+', ' '.join(re.findall(r'^    public :: (.*)$', module, re.M))))
        self.check('mpi_fortran_has_the_functions_of_c', found ^ wanted or not wanted)
        types = [(name.lower(), str(i)) for i, name in enumerate(re.findall(r'^    X\((CF_\w+), "', registry, re.M))]
        wanted = {*types[:types.index(('cf_ptr', '15'))],
                  *((name.lower(), value) for name, value in re.findall(r'\b(CF_MPI_\w+) = (\d+)', header))}
        found = set(re.findall(r'parameter, public :: (cf_\w+) = (\d+)', module))
        self.check('mpi_fortran_has_the_constants_of_c', found ^ wanted)

    def run(self):
        for name in sorted(each[:-2] for each in os.listdir(os.path.join(ROOT, 'tests/mpi')) if each.endswith('.c')):
            self.on_all_ranks(name, not self.mpiexec and NEEDS_MPI)
        self.fortran()
        self.module()


if __name__ == '__main__':
    test = MpiTest(sys.argv[1])
    test.run()
    sys.exit(test.close())
