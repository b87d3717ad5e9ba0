"""test_mpi.py - runs the programs of tests/mpi on several ranks.

usage: test_mpi.py BUILDDIR

BUILDDIR was configured with --mpicc. With CHECK_LONG in the environment the programs also run on 7 ranks. The launcher
has the name of the compiler, with mpiexec in place of mpicc.
"""

import os
import re
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, ended, read, run

NEEDS_MPI = 'needs an MPI library: tools/dev/setup installs it'
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
        found = re.search(r'^mpicc = (.*)$', read(os.path.join(build, 'build.ninja')) or '', re.M)
        self.mpiexec = found and shutil.which(re.sub(r'mpicc(?=[^/]*$)', 'mpiexec', found.group(1)))

    def on_ranks(self, name, ranks, *arguments, env=None):
        """Runs a program; it ends with 0 on all ranks and prints nothing."""
        program = os.path.join(self.build, 'tests/mpi', name)
        code, out, err = run([self.mpiexec, '-n', str(ranks), program, *arguments], timeout=SECONDS,
                             env={**os.environ, **SETTINGS, **(env or {})})
        problem = '' if code == 0 and not out else f'{ended(code)}\n{out}{err}'
        self.check(f'mpi_{name}_on_{ranks}' + ''.join(f'_{each}' for each in arguments), problem)

    def run(self):
        names = sorted(each[:-2] for each in os.listdir(os.path.join(ROOT, 'tests/mpi')) if each.endswith('.c'))
        for name in names:
            for ranks in RANKS:
                if self.mpiexec:
                    self.on_ranks(name, ranks)
                else:
                    self.skip(f'mpi_{name}_on_{ranks}', NEEDS_MPI)


if __name__ == '__main__':
    test = MpiTest(sys.argv[1])
    test.run()
    sys.exit(test.close())
