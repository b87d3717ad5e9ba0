"""test_setup.py - tests tools/dev/setup: the arguments that it refuses, and --with-nvcc, which installs a toolkit that
configure finds, or leaves none.

Nothing is installed or downloaded: scripts play pip, apt-get and the installed nvcc.

usage: test_setup.py
"""

import os
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_ROOT, ROOT, Tap, run


# An nvcc of a given release that creates its output file, unless PLAYED_NVCC is 'broken'.
NVCC = '''#!/bin/sh
case $1 in
--version) echo 'Cuda compilation tools, release @release@, V@release@.0'; exit 0 ;;
--help) echo "'sm_80','sm_90'"; exit 0 ;;
esac
[ "${PLAYED_NVCC:-}" != broken ] || { echo 'kernel.cu(1): error: of this compiler' >&2; exit 1; }
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || : >"$2"
    shift
done
'''

# A Python whose pip logs its arguments and then unpacks wheels, fails, or kills setup.
PYTHON = '''#!/bin/sh
[ "$1 $2" = '-m pip' ] || exit 2
[ "${PLAYED_PIP:-}" != missing ] || exit 1
[ "$3" != --version ] || exit 0
echo "$@" >>"@log@"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nvidia/cu13/bin" "$2/nvidia_cuda_nvcc-13.2.dist-info/licenses"
cp "@nvcc@" "$2/nvidia/cu13/bin/nvcc"
echo licence >"$2/nvidia_cuda_nvcc-13.2.dist-info/licenses/License.txt"
case ${PLAYED_PIP:-} in
refused) echo 'WARNING: first'; echo 'ERROR: No matching distribution found'; exit 1 ;;
offline) echo 'WARNING: Retrying after connection broken by NewConnectionError'; echo 'ERROR: No match'; exit 1 ;;
terminated) kill -TERM $PPID ;;
killed) kill -KILL $PPID ;;
esac
'''


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    if not os.path.exists(path):
        return ''
    with open(path, encoding='utf-8') as file:
        return file.read()


class SetupTest:
    def __init__(self, tap, folder):
        self.tap = tap
        self.folder = folder
        # The path of the tree has a blank. Folders outside PATH where this machine may have nvcc and pip are replaced
        # by others.
        self.tree = os.path.join(folder, 'a tree')
        shutil.copytree(ROOT, self.tree, ignore=shutil.ignore_patterns('build', 'build-*', '.git', '__pycache__'))
        self.hide('tools/dev/setup', '/usr/local/cuda/bin/nvcc')
        self.hide('tools/dev/setup', '/usr/bin/python3')
        self.hide('configure', '/usr/local/cuda/bin/nvcc')
        # A folder with all programs of PATH except nvcc.
        self.machine = os.path.join(folder, 'machine')
        os.makedirs(self.machine)
        for place in os.environ['PATH'].split(os.pathsep):
            for name in os.listdir(place) if os.path.isdir(place) else []:
                if name != 'nvcc' and not os.path.lexists(os.path.join(self.machine, name)):
                    os.symlink(os.path.join(place, name), os.path.join(self.machine, name))
        # A folder that comes first in PATH and plays the programs that would install something.
        self.played = os.path.join(folder, 'played')
        self.pip_log, self.apt_log = os.path.join(folder, 'pip.log'), os.path.join(folder, 'apt.log')
        for name in ('cc', 'c++', 'ninja', 'pkg-config', 'make', 'clang', 'clang++', 'gfortran', 'mpicc'):
            write(os.path.join(self.played, name), '#!/bin/sh\n', 0o755)
        write(os.path.join(self.played, 'id'), '#!/bin/sh\necho 0\n', 0o755)
        write(os.path.join(self.played, 'apt-get'), f'#!/bin/sh\necho "$@" >>"{self.apt_log}"\n', 0o755)
        wheel = os.path.join(folder, 'wheel', 'nvcc')
        write(wheel, NVCC.replace('@release@', '13.2'), 0o755)
        python = PYTHON.replace('@log@', self.pip_log).replace('@nvcc@', wheel)
        write(os.path.join(self.played, 'python3'), python, 0o755)
        self.builddir = ''
        self.count = 0

    def hide(self, name, place):
        path = os.path.join(self.tree, name)
        text = read(path)
        if place not in text:
            raise SystemExit(f'{name} does not look in {place}')
        write(path, text.replace(place, '/nowhere/nvcc'), 0o755)

    def setup(self, *arguments, path=(), **environment):
        """Returns (exit code, stdout, stderr, log of pip)."""
        for log in (self.pip_log, self.apt_log):
            if os.path.exists(log):
                os.remove(log)
        env = {name: value for name, value in os.environ.items()
               if name not in ('CC', 'CXX', 'PYTHON', 'BUILDDIR') and not name.startswith('PLAYED_')}
        env.update(environment, PATH=os.pathsep.join([*path, self.played, self.machine]))
        done = run([os.path.join(self.tree, 'tools', 'dev', 'setup'), *arguments], cwd=self.folder, env=env)
        return done + (read(self.pip_log),)

    def new_builddir(self):
        self.count += 1
        self.builddir = os.path.join(self.folder, f'a build {self.count}')
        return f'--builddir={self.builddir}'

    def left(self):
        """Returns the names of the files in the build folder."""
        return sorted(os.listdir(self.builddir)) if os.path.isdir(self.builddir) else []

    def check(self, name, good, *details):
        self.tap.check(name, '' if good else ' '.join(str(detail) for detail in details) or 'no')

    def options(self):
        code, out, err, _ = self.setup('--help')
        self.check('setup_help_names_its_options', code == 0 and '--with-nvcc' in out and not err, code, out, err)
        for name, argument in (('option', '--frobnicate'), ('word', 'frobnicate'), ('empty_folder', '--builddir=')):
            code, out, err, pip = self.setup('--with-nvcc', argument)
            self.check(f'setup_unknown_{name}_is_refused',
                       code == 1 and f'unknown option: {argument}' in err and not pip, code, out, err, pip)

    def clang(self):
        """If clang does not work, setup installs another one and the sanitizers of its version. If that is impossible,
        setup still succeeds."""
        broken = os.path.join(self.folder, 'broken')
        write(os.path.join(broken, 'clang'), '#!/bin/sh\nexit 1\n', 0o755)
        write(os.path.join(broken, 'apt-cache'), '#!/bin/sh\n[ "$1" = show ] && exec test $2 = libclang-rt-77-dev\n'
              "printf 'clang\\n  Depends: clang-77\\n  Breaks: clang-3\\n'\n", 0o755)
        for name, words, expected in (
                ('installed', [], 'update\ninstall -y --no-install-recommends clang libclang-rt-77-dev\n'),
                ('not_installed_for_the_demo', ['demo'], ''),
                ('not_installed_where_it_is_not_wanted', ['--without-clang'], '')):
            code, out, err, _ = self.setup(*words, self.new_builddir(), path=[broken])
            self.check(f'setup_clang_is_{name}', code == 0 and read(self.apt_log) == expected and not err, code, out,
                       err,
                       read(self.apt_log))
        write(os.path.join(broken, 'apt-get'), '#!/bin/sh\nexit 1\n', 0o755)
        code, out, err, _ = self.setup(self.new_builddir(), path=[broken])
        self.check('setup_clang_that_cannot_be_installed_is_no_failure',
                   code == 0 and 'setup: could not install clang libclang-rt-77-dev: tests that need them are skipped'
                   in err, code, out, err)
        write(os.path.join(broken, 'id'), '#!/bin/sh\necho 1\n', 0o755)
        write(os.path.join(broken, 'sudo'), '#!/bin/sh\nexit 1\n', 0o755)
        code, out, err, _ = self.setup(self.new_builddir(), path=[broken])
        self.check('setup_clang_without_root_is_no_failure',
                   code == 0 and 'clang with its sanitizers is missing' in out,
                   code, out, err)
        write(os.path.join(broken, 'cc'), '#!/bin/sh\nexit 1\n', 0o755)
        code, out, err, _ = self.setup(self.new_builddir(), path=[broken])
        self.check('setup_without_root_names_all_packages', code == 1 and
                   'gcc libc6-dev libcmocka-dev clang libclang-rt-77-dev\'\n' in err, code, out, err)

    def for_tests(self):
        """A missing gfortran or MPI library is installed for the tests, together with clang; without root, setup names
        it."""
        for title, commands, packages, said in (
                ('gfortran', ['gfortran'], 'gfortran', 'gfortran is'),
                ('mpi', ['mpicc', 'mpicc.openmpi', 'mpicc.mpich'], 'libopenmpi-dev openmpi-bin', 'an MPI library is')):
            broken = os.path.join(self.folder, f'without {title}')
            for command in commands:
                write(os.path.join(broken, command), '#!/bin/sh\nexit 1\n', 0o755)
            for name, words, expected in (
                    ('installed', [], f'update\ninstall -y --no-install-recommends {packages}\n'),
                    ('not_installed_for_the_demo', ['demo'], '')):
                code, out, err, _ = self.setup(*words, self.new_builddir(), path=[broken])
                self.check(f'setup_{title}_is_{name}', code == 0 and read(self.apt_log) == expected and not err, code,
                           out, err)
            write(os.path.join(broken, 'id'), '#!/bin/sh\necho 1\n', 0o755)
            write(os.path.join(broken, 'sudo'), '#!/bin/sh\nexit 1\n', 0o755)
            code, out, err, _ = self.setup(self.new_builddir(), path=[broken])
            self.check(f'setup_{title}_without_root_is_no_failure',
                       code == 0 and f'setup: {said} missing, and only apt-get as root' in out and 'clang' not in out,
                       code, out, err)

    def not_brought(self):
        done = self.setup(self.new_builddir())
        self.check('setup_without_the_option_brings_no_nvcc', done == (0, '', '', '') and not self.left(),
                   done, self.left())

        installed = os.path.join(self.folder, 'installed')
        write(os.path.join(installed, 'nvcc'), NVCC.replace('@release@', '12.0'), 0o755)
        code, out, err, pip = self.setup('--with-nvcc', self.new_builddir(), path=[installed])
        self.check('setup_nvcc_in_path_is_enough',
                   code == 0 and f'is there: {installed}/nvcc' in out and not pip and not self.left(),
                   code, out, err, pip, self.left())

        self.new_builddir()
        write(os.path.join(self.builddir, 'cuda', 'bin', 'nvcc'), NVCC.replace('@release@', '13.2'), 0o755)
        code, out, err, pip = self.setup('--with-nvcc', f'--builddir={self.builddir}')
        self.check('setup_folder_that_it_did_not_make_is_refused',
                   code == 1 and f'{self.builddir}/cuda is in the way' in err and not pip and self.left() == ['cuda'],
                   code, out, err, pip, self.left())

    def brought(self):
        argument = self.new_builddir()
        code, out, err, pip = self.setup('--with-nvcc', argument)
        nvcc = os.path.join(self.builddir, 'cuda', 'bin', 'nvcc')
        self.check('setup_brings_nvcc',
                   code == 0 and 'nvcc 13.2 is in' in out and os.access(nvcc, os.X_OK) and self.left() == ['cuda'],
                   code, out, err, self.left())
        self.check('setup_asks_pip_for_the_pinned_wheels_alone', '--no-deps' in pip and '--require-hashes' in pip
                   and f'-r {self.tree}/tools/dev/nvcc-wheels.txt' in pip, pip)
        self.check('setup_keeps_the_licence', 'licence' in read(os.path.join(self.builddir, 'cuda', 'EULA.txt')))

        write(os.path.join(self.builddir, 'cuda', 'mark'), '')
        code, out, err, pip = self.setup('--with-nvcc', argument)
        self.check('setup_second_run_leaves_the_toolkit_alone', code == 0 and f'is there: {nvcc}' in out and not pip
                   and os.path.exists(os.path.join(self.builddir, 'cuda', 'mark')), code, out, err, pip)

        write(os.path.join(self.builddir, 'cuda', 'wheels.txt'), 'nvidia-cuda-nvcc==13.0\n')
        code, out, err, pip = self.setup('--with-nvcc', argument)
        self.check('setup_other_pins_replace_the_toolkit', code == 0 and pip and self.left() == ['cuda']
                   and not os.path.exists(os.path.join(self.builddir, 'cuda', 'mark')), code, out, err, self.left())

        code, out, err, _ = self.setup('--with-nvcc', '--builddir=relative')
        self.builddir = os.path.join(self.folder, 'relative')
        self.check('setup_relative_folder_is_the_callers', code == 0 and self.left() == ['cuda'], code, out, err)
        code, out, err, _ = self.setup('--with-nvcc', 'demo')
        self.builddir = os.path.join(self.tree, 'build')
        self.check('setup_default_folder_is_in_the_tree', code == 0 and self.left() == ['cuda'], code, out, err)
        shutil.rmtree(self.builddir)

        old = os.path.join(self.folder, 'old')
        write(os.path.join(old, 'nvcc'), NVCC.replace('@release@', '11.8'), 0o755)
        code, out, err, pip = self.setup('--with-nvcc', self.new_builddir(), path=[old])
        self.check('setup_nvcc_in_path_that_is_too_old_is_not_enough', code == 0 and pip and self.left() == ['cuda'],
                   code, out, err)

    def failures(self):
        for name, environment, expected in (
                ('pip_that_refuses', {'PLAYED_PIP': 'refused'}, 'wheels of nvcc: No matching distribution found ('),
                ('no_network', {'PLAYED_PIP': 'offline'}, 'wheels of nvcc: no connection to a package index ('),
                ('nvcc_that_compiles_nothing', {'PLAYED_NVCC': 'broken'}, 'kernel.cu(1): error: of this compiler (')):
            code, out, err, _ = self.setup('--with-nvcc', self.new_builddir(), **environment)
            self.check(f'setup_{name}_is_reported_in_one_line_and_leaves_no_toolkit', code == 1 and err.count('\n') == 1
                       and expected in err and self.left() == ['cuda.log'], code, out, err, self.left())

        code, out, err, pip = self.setup('--with-nvcc', self.new_builddir(), PLAYED_PIP='missing')
        apt = read(self.apt_log)
        self.check('setup_pip_that_is_missing_is_installed', code == 1 and apt.endswith('python3-pip\n')
                   and 'needs a Python with pip' in err and not pip, code, out, err, apt)

    def interrupted(self):
        argument = self.new_builddir()
        code, out, err, _ = self.setup('--with-nvcc', argument, PLAYED_PIP='terminated')
        self.check('setup_terminated_leaves_no_toolkit', code == 1 and self.left() == ['cuda.log'], code, out, err,
                   self.left())
        code, out, err, _ = self.setup('--with-nvcc', argument, PLAYED_PIP='killed')
        self.check('setup_killed_leaves_no_toolkit', code == -9 and self.left() == ['cuda.log', 'cuda.part'],
                   code, out, err, self.left())
        write(os.path.join(self.builddir, 'cuda.part', 'wheels', 'nvidia', 'cu13', 'half'), '')
        code, out, err, pip = self.setup('--with-nvcc', argument)
        self.check('setup_begins_again_after_it', code == 0 and pip and self.left() == ['cuda']
                   and not os.path.exists(os.path.join(self.builddir, 'cuda', 'half')), code, out, err, pip,
                   self.left())

    def configured(self):
        """Tests the line about the toolkit that configure prints."""
        top = os.path.join(self.folder, 'configured')
        toolkit = os.path.join(top, 'cuda')

        def toolkit_line(folder, *arguments, path=()):
            code, out, err = run([os.path.join(self.tree, 'configure'), f'--builddir={os.path.join(top, folder)}',
                                  f'PYTHON={sys.executable}', *arguments], cwd=self.folder,
                                 env=dict(os.environ, PATH=os.pathsep.join([*path, self.machine])))
            lines = [line for line in out.splitlines() if line.startswith('CUDA toolkit')]
            return lines[0] if code == 0 and lines else f'exit {code}: {out}{err}'

        line = toolkit_line('.')
        self.check('configure_without_nvcc_names_what_brings_one',
                   'CPU code alone; tools/dev/setup --with-nvcc' in line, line)
        nvcc = os.path.join(toolkit, 'bin', 'nvcc')
        write(nvcc, NVCC.replace('@release@', '13.2'), 0o755)
        line = toolkit_line('.')
        self.check('configure_folder_that_setup_did_not_complete_is_not_taken', 'CPU code alone' in line, line)
        write(os.path.join(toolkit, 'wheels.txt'), '')
        for folder in ('.', 'demo', 'check/gpu'):
            line = toolkit_line(folder)
            self.check(f'configure_finds_what_setup_brought_from_{folder}', f'{nvcc} (13.2)' in line, line)
        line = toolkit_line('a/b/c')
        self.check('configure_looks_two_folders_up_and_no_further', 'CPU code alone' in line, line)
        line = toolkit_line('a/b/c', f'--cuda={toolkit}')
        self.check('configure_takes_it_by_option', f'{nvcc} (13.2)' in line, line)
        line = toolkit_line('.', path=[os.path.join(self.folder, 'installed')])
        self.check('configure_nvcc_in_path_goes_first', 'installed/nvcc (12.0)' in line, line)
        line = toolkit_line('.', path=[os.path.join(self.folder, 'old')])
        self.check('configure_nvcc_in_path_that_is_too_old_does_not', f'{nvcc} (13.2)' in line, line)
        if os.getuid() == 0:
            os.chown(toolkit, 1, 1)
            line = toolkit_line('.')
            self.check('configure_folder_of_a_stranger_is_not_taken', 'CPU code alone' in line, line)
        else:
            self.tap.skip('configure_folder_of_a_stranger_is_not_taken', NEEDS_ROOT)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = SetupTest(tap, folder)
        test.options()
        test.clang()
        test.for_tests()
        test.not_brought()
        test.brought()
        test.failures()
        test.interrupted()
        test.configured()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
