"""test_mpi_consumers.py - builds the programs of tests/consumers/mpi with an installed tree, and runs them.

usage: test_mpi_consumers.py BUILDDIR

BUILDDIR was configured with --mpicc. The programs compare their results with those of one rank. With CHECK_LONG in the
environment they also run on 7 ranks, and on the played GPUs, one for each rank.
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
sys.path.append(os.path.dirname(os.path.realpath(__file__)))
from tap import NEEDS_LONG, NEEDS_NO_SANITIZER, NEEDS_NVCC, ROOT, Tap, ended, read, run
from test_mpi import NEEDS_MPI, NEEDS_MPIFORT, LONG, RANKS, SETTINGS

SECONDS = 60   # for one program, which normally takes a second or two
SOLVED = 'solved after few steps, residuals of one rank: the same bits\n'
PROGRAMS = {'gather': '262144 of 262144 match\n', 'jacobi': '25920 of 25920 cells have the same bits\n',
            'cg': SOLVED, 'map': '100003 of 100003 points match\n'}
FORTRAN = {'gather_fortran': '262144 of 262144 match\n', 'jacobi_fortran': '4522 of 4522 cells match\n',
           'cg_fortran': SOLVED}
# Gives the program's kernels to the played GPUs, which run their CPU bodies. It does so before any image is loaded.
ADD_KERNELS = '''
#include <dlfcn.h>
#include <stdlib.h>

#include <cuferry/registry.h>

extern const cf_module cfmpi_registry;
extern const cf_module stencil_registry __attribute__((weak)), sphere_registry __attribute__((weak));

__attribute__((constructor)) static void add_kernels(void)
{
    void (*add)(const cf_module *module);
    *(void **)&add = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_add");
    add(&cfmpi_registry);
    if (&stencil_registry)
        add(&stencil_registry);
    if (&sphere_registry)
        add(&sphere_registry);
}
'''


class Consumers(Tap):
    def __init__(self, build, folder):
        super().__init__()
        self.build, self.place = os.path.realpath(build), []
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
        self.check('_'.join(['mpi_consumers', target, *self.place, 'builds']),
                   f'exit {code}: {out}{err}' if code else '')

    def run_programs(self, programs):
        for name, expected in programs.items():
            for ranks in RANKS:
                own = (word for rank in range(ranks) for word in
                       (':', '-n', '1', 'env', f'FAKE_CUDA=devices=1,first={rank},late=1', './' + name))
                code, out, err = run([self.beside_mpicc('mpiexec'), *list(own)[1:]], cwd=self.project,
                                     env=self.env, timeout=SECONDS)
                self.check('_'.join(['mpi_consumer', name, 'on', str(ranks), *self.place]),
                           '' if code == 0 and out == expected else f'{ended(code)}\n{out}{err}')

    def fortran(self, *variables):
        if not shutil.which(self.beside_mpicc('mpifort')):
            self.skip('_'.join(['mpi_consumers_in_fortran', *self.place]), NEEDS_MPIFORT)
            return
        self.make('fortran', 'MPIFC=' + self.beside_mpicc('mpifort'), *variables)
        self.run_programs(FORTRAN)

    def played(self):
        driver, nccl = (os.path.join(self.build, 'tests', name) for name in ('fake', 'fake_nccl'))
        reason = not LONG and NEEDS_LONG or not os.path.exists(os.path.join(driver, 'libcuda.so.1')) and NEEDS_NVCC
        if reason:
            self.skip('mpi_consumers_on_played_gpus', reason)
            return
        self.place = ['played']
        self.env.update(CF_DRIVER='cuda', LD_LIBRARY_PATH=os.pathsep.join([driver, nccl]))
        with open(os.path.join(self.project, 'add.c'), 'w', encoding='utf-8') as file:
            file.write(ADD_KERNELS)
        libraries = run(['pkg-config', '--libs', 'cuferry_mpi'], env=self.env)[1].strip()
        self.make('add.o', f'CC={self.mpicc}')
        with_kernels = ['-B', 'CFCCFLAGS=', f'LDLIBS={self.project}/add.o {libraries}']
        self.make('all', *with_kernels)
        self.run_programs(PROGRAMS)
        self.fortran(*with_kernels)

    def run(self):
        if not self.mpicc or self.is_sanitized:
            self.skip('mpi_consumers', NEEDS_NO_SANITIZER if self.mpicc else NEEDS_MPI)
            return
        self.make('all')
        self.run_programs(PROGRAMS)
        self.fortran()
        self.played()


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as work:
        test = Consumers(sys.argv[1], work)
        test.run()
        sys.exit(test.close())
