"""test_mpi.py - runs the programs of tests/mpi on several ranks.

usage: test_mpi.py BUILDDIR [cpu] [shared] [own] [played]

BUILDDIR was configured with --mpicc. The words say where the ranks run, by default on the CPU. `shared`: all of them on
one GPU. `own`: on two GPUs, over NCCL and over MPI. `played`: each rank on a played GPU of its own, over a played NCCL.
With CHECK_LONG in the environment the programs also run on 7 ranks. The paths of the launcher and of the Fortran
compiler are that of the C compiler, with mpiexec and mpifort in place of mpicc.
"""

import json
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_NO_SANITIZER, NEEDS_NVCC, ROOT, Tap, ended, read, run

NEEDS_MPI = 'needs an MPI library: tools/dev/setup installs it'
NEEDS_MPIFORT = 'needs mpifort beside mpicc: tools/dev/setup installs it'
FORTRAN = ['-std=f2018', '-g', '-fcheck=all,no-array-temps', '-Wall', '-Wextra', '-Werror']
RESULT = '''
program result
    use, intrinsic :: iso_c_binding
    use cuferry_mpi
    type(cf_mpi_array) :: x
    KIND :: least = 0
    print *, cf_mpi_min(0, x, least)
end program
'''
LONG = bool(os.environ.get('CHECK_LONG'))
RANKS = [1, 2, 4] + ([7] if LONG else [])
SECONDS = 60   # for one program, which normally takes a second or two
# Without these settings Open MPI refuses to run as root or with more ranks than processors, and binds ranks to
# processors.
SETTINGS = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
            'OMPI_MCA_rmaps_base_oversubscribe': '1', 'OMPI_MCA_hwloc_base_binding_policy': 'none',
            'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
            'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
            # MPI libraries leak memory, so the exit code does not count. Errors, and leaks in Cuferry, are recognized
            # in the text.
            'LSAN_OPTIONS': 'exitcode=0', 'ASAN_OPTIONS': 'allocator_may_return_null=1'}
SANITIZED = re.compile(r'ERROR: AddressSanitizer|runtime error: |#1 \S+ in \w+ \S*/(lib|tests)/\w+/\w+\.c:')


class MpiTest(Tap):
    def __init__(self, build):
        super().__init__()
        self.build = os.path.realpath(build)
        self.config = read(os.path.join(build, 'build.ninja')) or ''
        self.mpiexec, self.mpifort = self.find('mpiexec'), self.find('mpifort')

    def find(self, tool):
        found = re.search(r'^mpicc = (.*)$', self.config, re.M)
        return found and shutil.which(re.sub(r'mpicc(?=[^/]*$)', tool, found.group(1)))

    def on_ranks(self, place, name, ranks, *arguments, own='', **env):
        """Runs a program, which must end with 0 on all ranks and print nothing. `own` is an environment variable for
        each rank, in which %d becomes the rank's number."""
        title = '_'.join(['mpi', name, 'on', str(ranks), place, *arguments]).replace(' ', '_')
        if not self.mpiexec:
            self.skip(title, NEEDS_MPI)
            return
        program = [os.path.join(self.build, 'tests/mpi', name), *arguments]
        command = [self.mpiexec, '-n', str(ranks), *program]
        if own:
            command = [self.mpiexec, *(word for rank in range(ranks)
                                       for word in (':', '-n', '1', 'env', own.replace('%d', str(rank)), *program))]
            del command[1]
        code, out, err = run(command, timeout=SECONDS, env={**os.environ, **SETTINGS, **env})
        self.check(title, '' if code == 0 and not out and not SANITIZED.search(err) else f'{ended(code)}\n{out}{err}')

    def programs(self):
        return sorted(each[:-2] for each in os.listdir(os.path.join(ROOT, 'tests/mpi')) if each.endswith('.c'))

    def cpu(self):
        os.environ['CF_DRIVER'] = 'host'
        for name in self.programs():
            for ranks in RANKS:
                self.on_ranks('cpu', name, ranks, CF_DRIVER='host')
        for name in ('gather', 'halo'):   # these programs give memory of cf_mem_alloc() to MPI
            self.on_ranks('cpu_aware', name, 2, CF_DRIVER='host', CF_MPI_AWARE='1')
        self.fortran()
        self.module()
        self.other_library()
        self.info('cpu', 'the CPU, as there is no GPU', 'MPI: the device of rank 0 is the CPU')

    def fortran(self):
        """Compiles the modules together with the program; the linker removes what the program does not call."""
        reason = (not self.mpiexec and NEEDS_MPI or not self.mpifort and NEEDS_MPIFORT or
                  '-fsanitize' in self.config and NEEDS_NO_SANITIZER)
        if not reason:
            sources = ['include/cuferry/cuferry.f90', 'include/cuferry/cuferry_mpi.f90', 'tests/mpi/fortran.f90']
            result = run([self.mpifort, *FORTRAN, *(os.path.join(ROOT, each) for each in sources), '-Jtests/mpi',
                          '-o', 'tests/mpi/fortran', '-Wl,--gc-sections', 'libcuferry_mpi.a', 'libcuferry.a',
                          '-lpthread', '-ldl'], cwd=self.build)
            self.check('mpi_fortran_compiles', '' if result == (0, '', '') else f'{ended(result[0])}\n{result[2]}')
            self.results()
        for ranks in RANKS:
            if reason:
                self.skip(f'mpi_fortran_on_{ranks}_cpu', reason)
            else:
                self.on_ranks('cpu', 'fortran', ranks)

    def results(self):
        """The compiler refuses result types that no array can have."""
        for kind in ('real(c_double)', 'complex(c_double)', 'integer(c_int16_t)', 'real(c_float), parameter'):
            with tempfile.NamedTemporaryFile('w', suffix='.f90') as program:
                program.write(RESULT.replace('KIND', kind))
                program.flush()
                code, _, err = run([self.mpifort, '-fsyntax-only', '-Itests/mpi', program.name], cwd=self.build)
            good = code == 0 if kind == 'real(c_double)' else 'cf_mpi_min' in err and 'Error: ' in err
            self.check('mpi_fortran_result_' + re.sub(r'\W+', '_', kind), '' if good else f'{ended(code)}\n{err}')

    def module(self):
        """The Fortran module has all functions and constants of the C headers."""
        header, scalars = (read(os.path.join(ROOT, 'include/cuferry', each)) for each in ('mpi.h', 'scalar.h'))
        module = read(os.path.join(ROOT, 'include/cuferry/cuferry_mpi.f90'))
        wanted = set(re.findall(r'^CF_CHECKED int (cf_mpi_\w+)', header, re.M))
        found = set(re.findall(r'cf_mpi_\w+', ' '.join(re.findall(r'^    public :: (.*)$', module, re.M))))
        self.check('mpi_fortran_has_the_functions_of_c', found ^ wanted or not wanted)
        types = [(name.lower(), str(i)) for i, name in enumerate(re.findall(r'^    X\((CF_\w+), "', scalars, re.M))]
        wanted = {*types[:[name for name, _ in types].index('cf_ptr')],
                  *((name.lower(), value) for name, value in re.findall(r'\b(CF_MPI_\w+) = (\d+)', header))}
        found = set(re.findall(r'parameter, public :: (cf_\w+) = (\d+)', module))
        self.check('mpi_fortran_has_the_constants_of_c', found ^ wanted)

    def other_library(self):
        """A program for another MPI library does not link, and the linker's message names the program's MPI library."""
        compilers = ['mpicc.openmpi', 'mpicc.mpich']
        title, reason = 'mpi_program_for_another_library_does_not_link', (
            not all(map(shutil.which, compilers)) and 'needs Open MPI and MPICH' or
            '-fsanitize' in self.config and NEEDS_NO_SANITIZER)
        if reason:
            self.skip(title, reason)
            return
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'main.c')
            with open(program, 'w', encoding='utf-8') as file:
                file.write('#include <cuferry/mpi.h>\nint main(void) { return 0; }\n')
            results = [run([each, '-I' + os.path.join(ROOT, 'include'), '-Igen', program, '-o',
                            os.path.join(folder, 'main'), 'libcuferry_mpi.a', 'libcuferry.a', '-lpthread', '-ldl',
                            '-lm'],
                           cwd=self.build) for each in compilers]
        failed = [err for code, _, err in results if code]
        self.check(title, '' if len(failed) == 1 and 'cf__mpi_is_for_' in failed[0] else str(results))

    def info(self, place, device, transport):
        """Tests `cf-info --mpi` as text and as JSON."""
        if not self.mpiexec:
            self.skip(f'cf_info_{place}', NEEDS_MPI)
            return
        command = [self.mpiexec, '-n', '2', os.path.join(self.build, 'cf-info'), '--mpi']
        env = {**os.environ, **SETTINGS}
        code, out, err = run(command, timeout=SECONDS, env=env)
        self.check(f'cf_info_{place}', '' if code == 0 and transport in out and out.count(device) == 2 else
                   f'{ended(code)}\n{out}{err}')
        code, out, err = run([*command, '--json'], timeout=SECONDS, env=env)
        facts = json.loads(out) if code == 0 else {}
        good = code == 0 and facts['reason'] == transport and facts['ranks'] == len(facts['devices']) == 2 and all(
            device in each['reason'] for each in facts['devices'])
        self.check(f'cf_info_{place}_as_json', '' if good else f'{ended(code)}\n{out}{err}')

    def shared(self):
        os.environ['CF_DRIVER'] = 'cuda'
        for name in self.programs():
            for ranks in RANKS:
                self.on_ranks('shared', name, ranks)

    def own(self):
        os.environ['CF_DRIVER'] = 'cuda'
        for name in self.programs():
            self.on_ranks('own', name, 2, own='CUDA_VISIBLE_DEVICES=%d')
            if name != 'transport':
                self.on_ranks('own_mpi', name, 2, own='CUDA_VISIBLE_DEVICES=%d', CF_MPI_TRANSPORT='mpi')
        self.on_ranks('own', 'transport', 2, 'every rank has a GPU of its own', own='CUDA_VISIBLE_DEVICES=%d')

    def played(self):
        """Work in the default stream runs late; with --long, also at once."""
        driver, nccl = (os.path.join(self.build, 'tests', name) for name in ('fake', 'fake_nccl'))
        if not os.path.exists(os.path.join(driver, 'libcuda.so.1')):
            self.skip('mpi_on_played_gpus', NEEDS_NVCC)
            return
        path = os.environ.get('LD_LIBRARY_PATH', '')
        os.environ.update(CF_DRIVER='cuda', LD_LIBRARY_PATH=os.pathsep.join([driver, nccl, path]))
        for name in ('CF_CUDA_HOME', 'CONDA_PREFIX', 'VIRTUAL_ENV'):   # each of these folders may contain an NCCL
            os.environ.pop(name, None)
        own = 'FAKE_CUDA=devices=1,first=%d'
        for name in self.programs():
            for ranks in RANKS if LONG else [2]:
                self.on_ranks('played', name, ranks, own=own + ',late=1')
                self.on_ranks('shared_played', name, ranks, FAKE_CUDA='late=1')
                if LONG:
                    self.on_ranks('early_played', name, ranks, own=own)
        self.on_ranks('played', 'device', 4)
        self.on_ranks('played', 'transport', 4, 'NCCL 2.27.3: every rank has a GPU of its own', own=own)
        self.on_ranks('played', 'transport', 2, 'ranks 0 and 1 share a GPU')
        for error, text in (('refuse', 'ncclCommInitRankConfig: unhandled system'), ('join', 'NCCL: remote'),
                            ('split', 'NCCL: remote')):
            self.on_ranks('played', 'transport', 4, f'MPI: rank 1: {text}', own=own, FAKE_NCCL=error)
        self.on_ranks('played', 'transport', 2, 'aborted', own=own, FAKE_NCCL='group')
        self.on_ranks('played', 'transport', 2, 'late', own=own, FAKE_NCCL='late')
        self.on_ranks('played', 'transport', 2, 'lone', own=own, FAKE_NCCL='lone')
        self.on_ranks('played', 'transport', 2, 'fault', own=own)
        for fault in ('fault', 'source'):
            self.on_ranks('shared_played', 'transport', 2, fault, FAKE_CUDA='devices=2')
        self.info('played', ' of 2 (GPU-', 'NCCL 2.27.3: every rank has a GPU of its own')
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'libnccl.so.2'), 'w', encoding='utf-8'):
                os.environ['LD_LIBRARY_PATH'] = os.pathsep.join([driver, folder, path])
            self.on_ranks('played', 'transport', 2, 'libnccl.so.2: file too short', own=own)


if __name__ == '__main__':
    test = MpiTest(sys.argv[1])
    for each in sys.argv[2:] or ['cpu']:
        getattr(test, each)()
    sys.exit(test.close())
