"""test_install.py - tests the files that `ninja install` writes, and programs that users build with them.

usage: test_install.py BUILDDIR
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from manual import section, spell_roff
from tap import NEEDS_NO_SANITIZER, ROOT, Tap, path_without_nvcc, run

CONSUMERS = os.path.join(ROOT, 'tests', 'consumers')


def built_with(builddir, variable):
    """Returns a variable of the build, such as its compiler; None if there is no such variable."""
    with open(os.path.join(builddir, 'build.ninja'), encoding='utf-8') as file:
        found = re.search(rf'^{variable} = (.*)$', file.read(), re.MULTILINE)
        return found and found.group(1)


class InstallTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.folder = tap, folder
        self.builddir = os.path.join(folder, 'build')
        self.prefix = os.path.join(folder, 'prefix')
        # Copies the build folder, in order to configure the copy for another prefix.
        shutil.copytree(builddir, self.builddir, symlinks=True)
        self.cc, self.cxx = built_with(builddir, 'cc'), built_with(builddir, 'cxx')
        self.mpicc = built_with(builddir, 'mpicc')
        self.sanitized = '-fsanitize' in built_with(builddir, 'cflags')

    @property
    def env(self):
        """Returns the environment of a user who builds with the installed tree and runs on the CPU."""
        return dict(os.environ, PKG_CONFIG_PATH=os.path.join(self.prefix, 'lib', 'pkgconfig'),
                    CMAKE_PREFIX_PATH=self.prefix, CF_DRIVER='host')

    def install(self):
        for name, destdir in (('ninja_install_fills_the_prefix', ''),
                              ('ninja_install_obeys_destdir', self.folder + '/stage')):
            code, out, err = run(['sh', os.path.join(ROOT, 'tools', 'dev', 'install'), ROOT, self.builddir,
                                  self.prefix],
                                 env=dict(os.environ, DESTDIR=destdir))
            wanted = ['bin/cf-bench', 'bin/cf-info', 'bin/cf-plot', 'bin/cf-run', 'bin/cf-tune', 'bin/cfcc',
                      'include/cuferry.h', 'include/cuferry/kernels.h', 'include/cuferry/kernels.hpp',
                      'include/cuferry/cuferry.hpp', 'include/cuferry/cuferry.f90',
                      'include/cuferry/cuferry_kernels.f90', 'include/cuferry/program.h', 'include/cuferry/registry.h',
                      'include/cuferry/scalar.h', 'include/cuferry/tuning.h',
                      'lib/libcuferry.a', 'lib/pkgconfig/cuferry.pc',
                      'lib/cmake/Cuferry/CuferryConfig.cmake', 'lib/cmake/Cuferry/CuferryConfigVersion.cmake',
                      'lib/cuferry/cfcc.json', 'lib/cuferry/compile/linking.py', 'lib/cuferry/gen/cfgen',
                      'share/man/man1/cfcc.1', 'share/man/man1/cf-bench.1', 'share/man/man1/cf-plot.1',
                      'share/man/man1/cf-info.1', 'share/man/man1/cf-run.1', 'share/man/man1/cf-tune.1',
                      'share/man/man3/cf_gather.3', 'share/man/man3/cf_gather_f32_i32_async.3',
                      'share/man/man3/cf_last_error.3', 'share/man/man3/cf_program_compile.3',
                      'share/man/man3/cuferry.3', 'share/man/man3/CF_EINVAL.3', 'share/man/man3/CF_ECOMPILE.3',
                      'share/bash-completion/completions/cfcc',
                      'share/zsh/site-functions/_cfcc', 'lib/cuferry/installed.txt',
                      'share/cuferry/cuferry.json', 'share/cuferry/kernels/gather.cu',
                      'share/cuferry/manifest.schema.json', 'share/cuferry/WRAPPERS.md',
                      *(f'share/cuferry/kernels/{name}.md' for name in ('LANGUAGE', 'CPU', 'CHECKS', 'KERNELS'))]
            if self.mpicc:
                wanted += ['bin/cf-info-mpi', 'include/cuferry/mpi.h', 'lib/libcuferry_mpi.a',
                           'lib/pkgconfig/cuferry_mpi.pc', 'share/man/man3/cuferry_mpi.3']
            with open(destdir + os.path.join(self.prefix, 'lib/cuferry/installed.txt'), encoding='utf-8') as file:
                entries = ['lib/cuferry/installed.txt', *file.read().split('\n')]
            lost = [w for w in wanted if not os.path.exists(destdir + os.path.join(self.prefix, w)) or
                    w not in entries]
            self.tap.check(name, f'{out}{err}lost: {lost}' if code or lost else '')
        os.rename(os.path.join(self.builddir, 'cfcc.json'), os.path.join(self.folder, 'away'))
        half = os.path.join(self.folder, 'half')
        code, out, err = run(['sh', os.path.join(ROOT, 'tools', 'dev', 'install'), ROOT, self.builddir, half])
        self.tap.check('installation_that_stops_has_no_programs', '' if code and os.path.exists(half) and not (
            os.path.exists(os.path.join(half, 'bin'))) else f'{code} {out}{err}')
        # The following tests use an installed tree that was moved, and cannot refer to the source tree or the build
        # folder.
        moved = os.path.join(self.folder, 'a moved prefix')
        os.rename(self.prefix, moved)
        named = []
        for path, _, names in os.walk(moved):
            for name in names:
                with open(os.path.join(path, name), 'rb') as file:
                    text = file.read()
                # These files contain the folders' names in their debug information.
                if name not in ('libcuferry.a', 'libcuferry_mpi.a', 'cf-bench', 'cf-info', 'cf-info-mpi', 'cf-run',
                                'cf-tune'):
                    named += [name for folder in (ROOT, self.prefix, self.builddir) if folder.encode() in text]
        self.tap.check('installed_files_name_no_folder_of_the_build', ', '.join(named))
        self.prefix = moved
        shutil.rmtree(self.builddir)

    def manual(self):
        """The manual pages have the declarations of all functions of their headers, and every name that they mention
        exists."""
        def read(*path):
            with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
                return file.read()
        headers = ('cuferry.h', 'cuferry/find.h', 'cuferry/mpi.h', 'cuferry/program.h', 'cuferry/tuning.h')
        header = re.sub(r'/\*.*?\*/', '', ''.join(read('include', name) for name in headers), flags=re.DOTALL)
        pages = [read('include', name) for name in ('cuferry.3', 'cuferry_mpi.3')]
        page = ''.join(pages).replace('\\-', '-')
        functions = set(re.findall(r'\b(cf_[a-z0-9_]+)\(', header)) | {'cf_gather_async'}
        for name in os.listdir(os.path.join(ROOT, 'kernels')):
            flat = re.sub(r'\s+', ' ', read('kernels', name)) if name.endswith('.cu') else ''
            for clauses, function in re.findall(
                    r'#pragma cf (?:kernel|operation) (.*?)(?:__global__ )?void '
                    r'(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\) )?'
                    r'(\w+)\(', flat):
                given = re.search(r'\bname\((\w+)\)', clauses)
                if not re.search(r'\binternal\b', clauses):
                    functions.add(f'cf_{given[1] if given else function}')
        statuses = set(re.findall(r'X\((CF_[A-Z]+),', header))
        variables = set()
        for folder, _, names in os.walk(os.path.join(ROOT, 'lib')):
            for name in names:
                variables |= set(re.findall(r'\b(?:get_text|cf__env_file)\("(CF_[A-Z_]+)"\)', read(folder, name)))
        named = set(re.findall(r'\bcf_[a-z0-9_]+(?=\(| \(\))', page))
        wrong = sorted(named - functions) + [word for word in sorted(functions | statuses | variables)
                                             if word not in page]
        synopsis = re.sub(r'\s+', ' ', spell_roff(''.join(section(each, 'SYNOPSIS') for each in pages)))
        wrong += [text for text in (re.sub(r'\s+', ' ', found) for found in re.findall(
            r'^(?:CF_CHECKED )?((?!typedef)[a-z][\w ]*[ *]cf_\w+\([^;{}]*\);)', header, re.MULTILINE))
            if text not in synopsis]
        wrong += [word for word in sorted(variables) if f'`{word}=' not in read('README.md')]
        self.tap.check('manual_names_all_that_there_is', ', '.join(wrong))

    def flags(self, *options):
        return shlex.split(subprocess.run(['pkg-config', *options, 'cuferry'], env=self.env, stdout=subprocess.PIPE,
                                          check=True).stdout.decode())

    def program(self, name, text, *options, flags=()):
        """Builds a C program with the command of the README, plus options of pkg-config and compiler flags."""
        source, program = os.path.join(self.folder, f'{name}.c'), os.path.join(self.folder, name)
        with open(source, 'w', encoding='utf-8') as file:
            file.write(text)
        command = [*shlex.split(self.cc), source, *self.flags('--cflags', '--libs', *options), *flags, '-o', program]
        code, out, err = run(command, env=self.env)
        return program, f'{shlex.join(command)}\n{out}{err}' if code else ''

    def make_project(self):
        project = os.path.join(self.folder, 'make')
        shutil.copytree(os.path.join(CONSUMERS, 'make'), project)
        code, out, err = run(['make', f'CC={self.cc}', f'CXX={self.cxx}'], cwd=project, env=self.env)
        self.tap.check('consumer_make_project_builds', f'exit {code}: {out}{err}' if code else '')
        for name, expected in (('generic', '40 0 30\ncf_gather_f32_i32: index[1] = 7 is outside [0, 3)\n'),
                               ('plain', '4 3 1\n'), ('overloads', '7 5 1 cf_gather_i64_i32\n')):
            code, out, err = run([os.path.join(project, name)], env=self.env)
            self.tap.check(f'consumer_{name}_runs', '' if code == 0 and out == expected else f'exit {code}: {out}{err}')
        return os.path.join(project, 'plain')

    def over_mpi(self):
        """Builds an MPI program with pkg-config and with CMake, and runs it on one rank."""
        if not self.mpicc:
            self.tap.skip('consumer_over_mpi', 'needs an MPI library: tools/dev/setup installs it')
            return
        folder = os.path.join(self.folder, 'over mpi')
        os.makedirs(folder)
        for name, text in (('app.c', '#include <cuferry/mpi.h>\nint main(void)\n{\n    int status = cf_mpi_init();\n'
                            '    if (!status)\n        status = cf_mpi_device(MPI_COMM_WORLD, NULL, NULL, 0);\n'
                            '    MPI_Finalize();\n    return status != CF_OK;\n}\n'),
                           ('CMakeLists.txt', 'cmake_minimum_required(VERSION 3.20)\nproject(app C)\n'
                            'find_package(Cuferry REQUIRED COMPONENTS ${wanted})\nadd_executable(app app.c)\n'
                            'target_link_libraries(app Cuferry::mpi)\n')):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        flags = shlex.split(run(['pkg-config', '--cflags', '--libs', 'cuferry_mpi'], env=self.env)[1])
        for name, commands in (('pkg_config', [[*shlex.split(self.mpicc), 'app.c', *flags, '-o', 'app']]),
                               ('cmake', [['cmake', '-Dwanted=mpi', f'-DMPI_C_COMPILER={self.mpicc}', '-S', '.', '-B',
                                           'built'],
                                          ['cmake', '--build', 'built'], ['cp', 'built/app', '.']])):
            if not shutil.which(commands[0][0]):
                self.tap.skip(f'consumer_over_mpi_by_{name}', f'needs {name}')
                continue
            for command in [*commands, ['./app']]:
                code, out, err = run(command, cwd=folder, env=dict(self.env, OMPI_ALLOW_RUN_AS_ROOT='1',
                                                                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1'))
                if code:
                    break
            self.tap.check(f'consumer_over_mpi_by_{name}', f'{command}: {out}{err}' if code else '')
        where = ''.join(shlex.split(run(['pkg-config', '--variable=includedir', 'cuferry_mpi'], env=self.env)[1]))
        self.tap.check('pkg_config_says_where_the_module_over_mpi_is',
                       '' if os.path.exists(os.path.join(where, 'cuferry', 'cuferry_mpi.f90')) else repr(where))
        self.wrong_components(folder)

    def wrong_components(self, folder):
        """CMake refuses a component that is not installed, and the target mpi if it finds no MPI."""
        for name, wanted, said in (('component_that_is_unknown', 'nonsense', "component 'nonsense' is not installed"),
                                   ('target_without_its_component', 'cuferry', 'MPI::MPI_C')):
            if not shutil.which('cmake'):
                self.tap.skip(f'cmake_refuses_a_{name}', 'needs cmake')
                continue
            code, out, err = run(['cmake', f'-Dwanted={wanted}', '-S', '.', '-B', name], cwd=folder, env=self.env)
            self.tap.check(f'cmake_refuses_a_{name}',
                           '' if code and said in re.sub(r'\s+', ' ', err) else f'{code}: {out}{err}')

    def project(self, kind):
        """Copies a downstream project to a folder with a blank in its path."""
        folder = os.path.join(self.folder, 'projects of users', kind)
        shutil.copytree(os.path.join(CONSUMERS, kind), folder)
        return folder

    def cmake_project(self, name, generator, env):
        """Builds the CMake project, builds it again without a change, and again after changes. Dry runs show what a
        newer header, C file or tuning file would cause to be built. Returns the output of the first build."""
        folder = self.project('cmake')
        built = os.path.join(folder, 'build')
        build = ['cmake', '--build', built, '-j4']
        code, out, err = run(['cmake', '-G', generator, '-S', folder, '-B', built], env=dict(env, CC=self.cc))
        said = out + err
        if code == 0:
            code, out, err = run(build, env=env)
            said += out + err
        if code == 0:
            code, out, err = run([os.path.join(built, 'diffusion')], env=env)
            code = code or out != 'largest difference after 20 steps: 0, center: 31.879\n'
        self.tap.check(f'consumer_cmake_{name}_builds_and_runs', f'{said}{out}{err}' if code else '')
        _, unchanged, _ = run(build, env=env)
        good = unchanged and 'Compiling' not in unchanged
        self.tap.check(f'consumer_cmake_{name}_builds_nothing_again', '' if good else unchanged)
        for file, of_file, other in (('include/stencil.h', 'diffusion', 'norm'), ('largest.c', 'norm', 'diffusion'),
                                     ('norm.tuning', 'norm', 'diffusion')):
            path = os.path.join(folder, file)
            before = os.stat(path)
            os.utime(path)
            _, planned, _ = run([*build, '--', '-n'], env=env)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            good = f'kernels {of_file}' in planned and f'kernels {other}' not in planned
            self.tap.check(f'consumer_cmake_{name}_builds_again_with_{re.split("[/.]", file)[-2]}',
                           '' if good else planned)
        kernels = os.path.join(folder, 'diffusion.cu')
        with open(kernels, encoding='utf-8') as file:
            text = file.read()
        with open(kernels, 'w', encoding='utf-8') as file:
            file.write(text.replace('scratch(v', 'scratch(w').replace('void two_steps(double *u, double *v',
                                                                      'void two_steps(double *u, double *w'))
        _, changed, _ = run(build, env=env)
        _, again, _ = run(build, env=env)
        good = ('kernels diffusion' in changed and 'kernels norm' not in changed and 'two_steps.c' in changed and
                'main.c' not in changed and not re.search('Compiling|Building', again))
        self.tap.check(f'consumer_cmake_{name}_builds_c_files_of_operations_at_once', '' if good else changed + again)
        shutil.rmtree(folder)
        return said

    def cmake_by_pkg_config(self):
        """CMake's pkg_check_modules gets the flags of a shared library; the prefix has no blanks."""
        folder, prefix = self.project('cmake_pkg_config'), os.path.join(self.folder, 'prefix')
        os.symlink(self.prefix, prefix)
        env = dict(self.env, PKG_CONFIG_PATH=os.path.join(prefix, 'lib', 'pkgconfig'), CC=self.cc)
        built = os.path.join(folder, 'build')
        said = ''
        for command in (['cmake', '-S', folder, '-B', built], ['cmake', '--build', built, '-j2'],
                        [os.path.join(built, 'by_target')], [os.path.join(built, 'by_variables')]):
            code, out, err = run(command, env=env)
            said = f'{said}{out}{err}'
            if code:
                break
        self.tap.check('consumer_cmake_pkg_config_builds_and_runs',
                       '' if said.endswith('9\n9\n') else said or 'no text')
        os.remove(prefix)

    def cmake_refusals(self, env):
        """Errors in a call are reported when the project is configured. Files that the build makes may be missing at
        that time."""
        folder = os.path.join(self.folder, 'a cmake project')
        os.makedirs(os.path.join(folder, 'made'))
        with open(os.path.join(folder, 'main.c'), 'w', encoding='utf-8') as file:
            file.write('int main(void)\n{\n    return 0;\n}\n')
        there = os.path.join(folder, 'heat.cu')
        with open(there, 'w', encoding='utf-8') as file:
            file.write('#pragma cf kernel grid(n) inout(x[n])\n__global__ void step(float *x, int n)\n{\n'
                       '    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] = 1;\n}\n')
        with open(os.path.join(folder, 'made', 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
            file.write('add_custom_command(OUTPUT other.cu COMMAND ${CMAKE_COMMAND} -E copy '
                       '"${CMAKE_SOURCE_DIR}/heat.cu" other.cu)\nadd_custom_target(other DEPENDS other.cu)\n')
        copied = ('add_custom_command(OUTPUT later.cu COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_SOURCE_DIR}/heat.cu" '
                  'later.cu)')
        rows = (('file_that_is_not_there', 'app het.cu', '', f'there is no file {folder}/het.cu'),
                ('second_file_that_is_not_there', 'app heat.cu sub/het.cu', '', f'{folder}/sub/het.cu'),
                ('file_of_another_kind', 'app heat.c', '', 'no kernel file (.cu, .cuh) is named'),
                ('c_file_that_is_not_there', 'app heat.cu het.c', '', f'there is no file {folder}/het.c'),
                ('tuning_file_that_is_not_there', 'app TUNING tuned heat.cu', '', f'there is no file {folder}/tuned'),
                ('target_that_is_not_there', 'ap heat.cu', '', 'there is no target ap'),
                ('prefix_that_is_no_name', 'app PREFIX my-heat heat.cu', '', "'my-heat'"),
                ('prefix_of_the_library', 'app PREFIX cf heat.cu', '', "'cf'"),
                ('gpu_that_is_none', 'app TARGETS 80 foo heat.cu', '', "'foo' is no target"),
                ('file_that_a_command_makes', 'app "${CMAKE_CURRENT_BINARY_DIR}/later.cu"', copied, ''),
                ('file_that_another_folder_makes', 'app "${CMAKE_BINARY_DIR}/made/other.cu"',
                 'add_subdirectory(made)\nadd_dependencies(app other)', ''),
                ('targets_in_one_word', 'app TARGETS 80,90 heat.cu', '', ''),
                ('targets_as_in_nvcc', 'app TARGETS sm_80 90a 100f-real 90-virtual compute_90 heat.cu', '', ''),
                ('gpu_of_another_letter', 'app TARGETS 80 90b heat.cu', '', "'90b' is no target"))
        for name, call, more, expected in rows:
            with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
                file.write('cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfind_package(Cuferry REQUIRED)\n'
                           f'add_executable(app main.c)\ncuferry_add_kernels({call})\n{more}\n')
            built = self.known_compiler(folder)
            code, out, err = run(['cmake', '-S', folder, '-B', built], env=dict(env, CC=self.cc))
            if expected:
                said = ' '.join(err.split())
                self.tap.check(f'cmake_{name}_is_refused_at_once',
                               '' if code and expected in said else f'{code}: {out}{err}')
            else:
                if code == 0 and more:
                    code, out, err = run(['cmake', '--build', built], env=env)
                self.tap.check(f'cmake_{name}_is_taken', f'exit {code}: {out}{err}' if code else '')
            shutil.rmtree(built)
        self.cmake_architectures(folder)

    def cmake_headers(self, env):
        """Each kernel file of a target gets a header, in addition to the target's common one. No header takes the place
        of a user's."""
        folder = os.path.join(self.folder, 'headers of files')
        kernel = ('#pragma cf kernel grid(n) inout(x[n])\n__global__ void {0}(int *x, int n)\n{{\n'
                  '    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] += {1};\n}}\n')
        own = '#define OWN 100\n'
        for name, text in (('heat.cu', kernel.format('step', 1)), ('a/app.cu', kernel.format('other', 2)),
                           ('b/cool.cu', '#include "cool.h"\n' + kernel.format('down', 'OWN')), ('b/cool.h', own),
                           ('warm.cu', '#include "warm.h"\n' + kernel.format('up', 'OWN0')),
                           ('include/warm.h', own.replace('OWN', 'OWN0')), ('c/heat.cu', kernel.format('twice', 3)),
                           ('main.c', '#include <stdio.h>\n#include "app.h"\n#include "heat.h"\n#include "b/cool.h"\n'
                            '#include "warm.h"\n#define JOIN(a, b) a##b\n#define JOINED(a, b) JOIN(a, b)\n'
                            '#define NAME(name) JOINED(PREFIX, name)\nint main(void)\n{\n'
                            '    int x = 1000 * (OWN == OWN0);\n'
                            '    if (NAME(step)(&x, 1) || NAME(other)(&x, 1) || NAME(down)(&x, 1) || NAME(up)(&x, 1))\n'
                            '        return 1;\n    printf("%d\\n", x);\n    return 0;\n}\n')):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        # The build folder is kept between these cases: headers of another prefix are replaced.
        for name, prefix, words in (('by_the_first_file', 'heat', ''), ('by_a_prefix', 'all', 'PREFIX all'),
                                    ('by_another_file', 'heat', 'HEADER app.h')):
            with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
                file.write('cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfind_package(Cuferry REQUIRED)\n'
                           'add_executable(app main.c)\ntarget_include_directories(app PRIVATE include)\n'
                           f'target_compile_definitions(app PRIVATE PREFIX={prefix}_)\n'
                           f'cuferry_add_kernels(app {words} heat.cu a/app.cu b/cool.cu warm.cu)\n')
            said = ''
            for command in (['cmake', '-S', folder, '-B', folder + '/build'], ['cmake', '--build', folder + '/build'],
                            [folder + '/build/app']):
                code, out, err = run(command, env=dict(env, CC=self.cc))
                said += out + err
                if code:
                    break
            self.tap.check(f'cmake_headers_of_files_{name}', '' if code == 0 and out == '1203\n' else said or 'no text')
        with open(os.path.join(folder, 'CMakeLists.txt'), 'a', encoding='utf-8') as file:
            file.write('cuferry_add_kernels(app PREFIX two heat.cu c/heat.cu)\n')
        code, _, err = run(['cmake', folder + '/build'], env=env)
        self.tap.check('cmake_two_files_of_one_name_are_refused', '' if code and 'two files are called heat; rename' in
                       ' '.join(err.split()) else err)

    def known_compiler(self, folder):
        """Makes the build folder of a project and lets CMake examine the compiler there; returns its path."""
        built, known = (os.path.join(folder, name) for name in ('build', 'known'))
        if not os.path.isdir(known):
            path = os.path.join(folder, 'CMakeLists.txt')
            os.rename(path, path + '.kept')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('cmake_minimum_required(VERSION 3.20)\nproject(app C)\n')
            run(['cmake', '-G', 'Unix Makefiles', '-S', folder, '-B', built], env=dict(self.env, CC=self.cc))
            os.rename(path + '.kept', path)
            os.rename(built, known)
        return shutil.copytree(known, built, symlinks=True)

    def cmake_architectures(self, folder):
        """The targets come from CMAKE_CUDA_ARCHITECTURES and the property that it initializes, unless TARGETS is
        given."""
        for name, given, properties, words, expected in (
                ('honoured', '80-real;90a', '', '', "['--targets=80-real,90a']"),
                ('native', 'native', '', '', "['--targets=native']"), ('all', 'all', '', '', "['--targets=all']"),
                ('all_major', 'all-major', '', '', "['--targets=all-major']"),
                ('off', 'OFF', '', '', '[]'), ('not_set', '', '', '', '[]'),
                ('of_the_target', '80', 'CUDA_ARCHITECTURES 90', '', "['--targets=90']"),
                ('of_the_target_off', '80', 'CUDA_ARCHITECTURES OFF', '', '[]'),
                ('not_before_targets', '80', '', 'TARGETS 100', "['--targets=100']"),
                ('set_late', None, '', '', "['--targets=75']"),
                ('wrong', 'Ampere', '', '', "'Ampere' is no target; they are major, all, native, or compute")):
            properties = properties and f'set_target_properties(app PROPERTIES {properties})\n'
            late = 'set(CMAKE_CUDA_ARCHITECTURES 75)\n' if given is None else ''
            with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
                file.write('cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfind_package(Cuferry REQUIRED)\n'
                           f'add_executable(app main.c)\n{properties}{late}cuferry_add_kernels(app {words} heat.cu)\n')
            built = self.known_compiler(folder)
            defined = [f'-DCMAKE_CUDA_ARCHITECTURES={given}'] if given else []
            _, out, err = run(['cmake', '-S', folder, '-B', built, *defined],
                              env=dict(self.env, CC=self.cc))
            said = ' '.join(err.split())
            if not said:
                with open(os.path.join(built, 'CMakeFiles', 'app.dir', 'build.make'), encoding='utf-8') as file:
                    said = f'{re.findall("--targets=[^ ]*", file.read())}'
            self.tap.check(f'cmake_architectures_{name}', '' if expected in said else f'not {expected}: {said}{out}')
            shutil.rmtree(built)

    def without_nvcc(self):
        """Makes the installation look like that of a machine without nvcc; returns the environment of such a
        machine."""
        config = os.path.join(self.prefix, 'lib', 'cuferry', 'cfcc.json')
        with open(config, encoding='utf-8') as file:
            values = json.load(file)
        with open(config, 'w', encoding='utf-8') as file:
            json.dump(dict(values, nvcc='/nowhere/nvcc', cuda=''), file)
        return dict(self.env, PATH=path_without_nvcc(os.path.join(self.folder, 'programs')))

    def kernels_of_users(self):
        """Builds projects that have kernels of their own. The first is also built for GPUs if the library is; the
        others are built as on a machine without nvcc."""
        has_cmake = shutil.which('cmake')
        if has_cmake:
            self.cmake_project('by_ninja', 'Ninja', self.env)
        env = self.without_nvcc()
        self.languages(env)
        if has_cmake:
            self.cmake_by_pkg_config()
            self.cmake_refusals(env)
            self.cmake_headers(env)
            said = self.cmake_project('by_make_without_nvcc', 'Unix Makefiles', env)
            told = re.search(r'^cfcc: no nvcc was found: .*/diffusion\.o runs on the CPU alone$', said, re.MULTILINE)
            self.tap.check('consumer_without_nvcc_is_reported', '' if told else said or 'no text')
        else:
            self.tap.skip('consumer_cmake', 'needs cmake')
        for kind, command, program, expected in (
                ('make_kernels', ['make', '-j2', f'CC={self.cc}'], 'vectors',
                 '11 22 33, 64 1\n0.1667 0.3333 0.5000\nvec_distance: index[1] = 3 is outside [0, 3)\n'),
                ('two_libraries', ['make', '-j2', f'CC={self.cc}'], 'both',
                 '1 100\n3 105\n21 150\nleft_scale right_scale\n'),
                ('ninja', ['ninja'], 'horner', '1 10 49 -2\n')):
            folder = self.project(kind)
            code, out, err = run(command, cwd=folder, env=env)
            if code == 0:
                code, said, err = run([os.path.join(folder, program)], env=env)
                code, out = code or said != expected, said
            self.tap.check(f'consumer_{kind}_builds_and_runs', f'exit {code}: {out}{err}' if code else '')
            code, out, err = run(command, cwd=folder, env=env)
            self.tap.check(f'consumer_{kind}_builds_nothing_again',
                           '' if code == 0 and re.search('up to date|no work to do', out) else f'not so: {out}{err}')

    def python_projects(self):
        """Calls kernels from Python and Cython. A program that lacks something prints what it needs and ends with
        77."""
        env = dict(self.env, PATH=f'{self.prefix}/bin:{os.environ["PATH"]}', PYTHONDONTWRITEBYTECODE='1')
        make = ['make', f'CC={self.cc}', f'PYTHON={sys.executable}', 'CFCCFLAGS=--cuda=no']
        folder = self.project('python')
        done = run(make, cwd=folder, env=env)
        self.tap.check('consumer_python_builds', '' if done[0] == 0 else done)
        for library in ('numpy', 'cupy', 'torch'):
            code, out, err = run([sys.executable, 'vectors_check.py', library], cwd=folder, env=env)
            if code == 77:
                self.tap.skip(f'consumer_python_with_{library}', out.strip())
            else:
                self.tap.check(f'consumer_python_with_{library}', '' if code == 0 else f'exit {code}: {out}{err}')
        folder = self.project('cython')
        has_cython = run([sys.executable, '-c', 'import Cython, numpy'])[0] == 0
        done = run(make if has_cython else [*make, 'libhello.so', 'hello'], cwd=folder, env=env)
        self.tap.check('consumer_cython_builds', '' if done[0] == 0 else done)
        os.mkdir(os.path.join(folder, 'library'))
        os.rename(os.path.join(folder, 'libhello.so'), os.path.join(folder, 'library', 'libhello.so'))
        env['HELLO_LIBRARY_DIR'] = os.path.join(folder, 'library')
        greeting = ''.join(f'Hello from thread {n}\n' for n in range(3))
        for name, command, expected, is_cython in (
                ('ctypes', [sys.executable, 'hello_ctypes.py'], greeting, False),
                ('dlopen', ['./hello'], greeting, False),
                ('cython', [sys.executable, 'hello_cython.py'], greeting, True),
                ('gather', [sys.executable, 'gather.py', '1048576', '65536'], '65536 of 65536 match\n', True)):
            if is_cython and not has_cython:
                self.tap.skip(f'consumer_cython_{name}', 'needs Cython and NumPy for this Python')
                continue
            code, out, err = run(command, cwd=folder, env=env)
            same = sorted(out.splitlines()) == sorted(expected.splitlines())
            self.tap.check(f'consumer_cython_{name}', '' if code == 0 and same else f'exit {code}: {out}{err}')

    def languages(self, env):
        """Projects in C++ and Fortran call their own kernels and the bundled ones through wrappers."""
        said = {'both': 'cf_gather_f32_i32: index[{}] = 7 is outside [0, 3)\n', 'openacc': '1000\n', 'openmp': '1000\n'}
        for kind, command, programs, at in (('cxx', [f'CXX={self.cxx}'], ['both'], 2),
                                            ('fortran', [], ['both', 'openacc', 'openmp'], 1)):
            if kind == 'fortran' and not shutil.which('gfortran'):
                self.tap.skip('consumer_fortran', 'needs gfortran: tools/dev/setup installs it')
                continue
            folder = self.project(kind)
            code, out, err = run(['make', '-j2', *command], cwd=folder, env=env)
            self.tap.check(f'consumer_{kind}_builds', f'exit {code}: {out}{err}' if code else '')
            for program in programs if code == 0 else ():
                code, out, err = run([os.path.join(folder, program)], env=env)
                expected = ['12', '24', '36', '11', '22', '33', '3', '1'] if program == 'both' else []
                numbers = [f'{float(word):g}' for word in out.split()[:len(expected)]] if code == 0 else []
                good = code == 0 and numbers == expected and out.endswith(said[program].format(at))
                self.tap.check(f'consumer_{kind}_{program}_runs', '' if good else f'exit {code}: {out}{err}')

    def readme_program(self):
        with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as file:
            text = file.read()
        code = re.search(r'```c\n(.*?)```', text, re.DOTALL).group(1)
        for name, options in (('its_one_line', []), ('a_static_line_too', ['--static'])):
            program, problem = self.program('app', code, *options)
            if not problem:
                exit_code, out, err = run([program], env=self.env)
                problem = '' if exit_code == 0 and out else f'exit {exit_code}: {out}{err}'
            self.tap.check(f'readme_program_builds_with_{name}_and_runs', problem)
        line = 'cc app.c $(pkg-config --cflags --libs cuferry)'
        self.tap.check('readme_gives_that_line', '' if line in text else f'not found: {line}')

    def needs_libc_alone(self, program):
        _, out, err = run(['ldd', program])
        libraries = {re.split(r'[ .]', line.strip())[0] for line in out.splitlines()}
        other = libraries - {'linux-vdso', 'libc', 'libm', 'libdl', 'libpthread', '/lib64/ld-linux-x86-64',
                             '/lib/ld-linux-aarch64', 'libasan', 'libubsan'}
        self.tap.check('consumer_links_libc_alone', f'{other}\n{out}{err}' if other or 'libc' not in libraries else '')

    def symbols(self, program):
        archive = os.path.join(self.prefix, 'lib', 'libcuferry.a')
        _, out, _ = run(['nm', '-g', '--defined-only', archive])
        names = {line.split()[2] for line in out.splitlines() if len(line.split()) == 3}
        foreign = sorted(n for n in names if not n.startswith('cf_') and not n.startswith(('_Z', '__asan', '__odr_asan',
                                                                                           'DW.')))
        self.tap.check('archive_defines_its_prefix_alone', ', '.join(foreign) if foreign or not names else '')
        _, out, _ = run(['nm', '-u', archive])
        needed = {line.split()[-1] for line in out.splitlines() if ' U ' in line}
        runtime = sorted(n for n in needed if re.match(r'_Z|__cxa|__gxx|cuda|cu[A-Z]|__cuda', n))
        self.tap.check('archive_needs_no_cxx_runtime_and_no_cudart', ', '.join(runtime))
        _, out, _ = run(['nm', program])
        linked = {line.split()[-1] for line in out.splitlines()}
        extra = sorted(n for n in linked if n == 'cf_registry')
        self.tap.check('consumer_of_one_kernel_links_no_registry',
                       '' if 'cf__k_gather_f32_i32' in linked and not extra else f'{extra}')
        self.tap.check('consumer_objects_hide_their_symbols', self.exported_by_shared_object())
        self.tap.check('consumer_shared_object_unloads_without_shutdown', self.unloads())

    def size(self):
        """A program that calls one function contains that function's kernel and the kernel that checks its indices, and
        no others."""
        program, problem = self.program('small', '#include <cuferry/kernels.h>\nint main(void)\n{\n    float x[1] = '
                                                 '{1}, y[1];\n'
                                        '    int32_t i[1] = {0};\n    return cf_gather_f32_i32(x, i, y, 1, 1);\n}\n',
                                        flags=['-Wl,--gc-sections'])
        if problem:
            self.tap.check('program_of_one_function_is_small', problem)
            return
        _, out, _ = run(['nm', program])
        symbols = {line.split()[-1]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}
        kernels = sorted(name for name in symbols if re.match(r'cf__[kbh]_', name))
        wanted = [f'cf__{part}_{kernel}' for part in 'bhk' for kernel in ('gather_f32_i32', 'outside_i32')]
        self.tap.check('program_of_one_function_has_no_other_kernel', '' if kernels == wanted else f'{kernels}')
        run(['strip', program])
        code, out, err = run([program], env=self.env)
        self.tap.check('program_of_one_function_runs', f'exit {code}: {out}{err}' if code else '')
        # Does not count GPU code, which is one image per kernel file.
        images = sum(symbols[name.replace('__i_', '__j_')] - begin for name, begin in symbols.items()
                     if name.startswith('cf__i_'))
        size = os.path.getsize(program) - images
        self.tap.check('program_of_one_function_is_small', f'{size} bytes and {images} of images' if size >= 400000
                       else '')

    def exported_by_shared_object(self):
        """A shared object that embeds the archive exports no symbol of it."""
        source, library = os.path.join(self.folder, 'embed.c'), os.path.join(self.folder, 'embed.so')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('#include <cuferry.h>\n#include <cuferry/kernels.h>\nint embed(void);\nint embed(void)\n{\n'
                       '    return cf_gather((float *)0, (int32_t *)0, (float *)0, 0, 0);\n}\n')
        command = [*shlex.split(self.cc), '-shared', '-fPIC', source, *self.flags('--cflags', '--libs'), '-o',
                   library]
        code, out, err = run(command, env=self.env)
        if code:
            return f'{out}{err}'
        _, out, _ = run(['nm', '-D', '--defined-only', library])
        names = {line.split()[-1] for line in out.splitlines()}
        return '' if names == {'embed'} else f'exported: {sorted(names)}'

    def unloads(self):
        """A shared object that embeds the archive is opened, used by all threads, and closed without a call of
        cf_shutdown()."""
        library, loader = os.path.join(self.folder, 'large.so'), os.path.join(self.folder, 'loader')
        files = {'large.c': '#include <cuferry.h>\n#include <cuferry/kernels.h>\nint large(void);\nint large(void)\n{\n'
                            '    enum { COUNT = 300000 };\n    static float source[COUNT], res[COUNT];\n'
                            '    static int32_t index[COUNT];\n    for (int i = 0; i < COUNT; i++) {\n'
                            '        source[i] = (float)i;\n        index[i] = COUNT - 1 - i;\n    }\n'
                            '    return cf_gather_f32_i32(source, index, res, COUNT, COUNT) || res[0] != COUNT - 1;\n'
                            '}\n',
                 'loader.c': '#include <dlfcn.h>\n#include <stdio.h>\nint main(int count, char **words)\n{\n'
                             '    for (int i = 0; i < 200; i++) {\n        void *library = dlopen(words[count - 1], '
                             'RTLD_NOW);\n'
                             '        int (*large)(void) = library ? (int (*)(void))dlsym(library, "large") : 0;\n'
                             '        if (!large || large() || dlclose(library))\n            return 1;\n    }\n'
                             '    FILE *status = fopen("/proc/self/status", "r");\n    char line[256];\n'
                             '    while (status && fgets(line, sizeof line, status))\n'
                             '        if (line[0] == \'T\' && line[1] == \'h\')\n            fputs(line, stdout);\n'
                             '    return 0;\n}\n'}
        for name, text in files.items():
            with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        cc = shlex.split(self.cc)
        for command in ([*cc, '-shared', '-fPIC', 'large.c', *self.flags('--cflags', '--libs'), '-o', library],
                        [*cc, 'loader.c', '-ldl', '-o', loader]):
            code, out, err = run(command, cwd=self.folder, env=self.env)
            if code:
                return f'{out}{err}'
        code, out, err = run([loader, library], env=dict(self.env, CF_THREADS='4'))
        return '' if code == 0 and out.split() == ['Threads:', '1'] else f'exit {code}: {out}{err}'

    def checks(self):
        """The installed cf-run finds the sources of the bundled kernels and checks these kernels."""
        cf_run, kernels = (os.path.join(self.prefix, *part) for part in (('bin', 'cf-run'),
                                                                         ('share', 'cuferry', 'kernels')))
        env = dict(self.env, XDG_CACHE_HOME=os.path.join(self.folder, 'cache'))
        command = [cf_run, '--check', 'race', 'gather', 'source=random:f32:100', 'index=randint:i32:1000:0:100']
        code, out, err = run(command, cwd=self.folder, env=env)
        good = code == 0 and out.endswith('check: race: nothing found\n')
        self.tap.check('installed_cf_run_checks_bundled_kernels', '' if good else f'exit {code}: {out}{err}')
        os.rename(kernels, kernels + '.away')
        code, out, err = run(command, cwd=self.folder, env=env)
        os.rename(kernels + '.away', kernels)
        told = code == 1 and 'their sources are not in ' in err and 'install Cuferry again' in err
        self.tap.check('installed_cf_run_without_sources_says_so', '' if told else f'exit {code}: {out}{err}')

    def headers(self):
        _, out, _ = run([*shlex.split(self.cc), '-M', '-x', 'c', os.path.join(CONSUMERS, 'make', 'plain.c'),
                         *self.flags('--cflags')], env=self.env)
        foreign = [h for h in out.split() if re.search(r'/cuda|/driver_types|/nv', h)]
        self.tap.check('headers_include_nothing_of_the_toolkit', ', '.join(foreign) if foreign or not out else '')
        bare, problem = self.program('bare', '#include <cuferry/registry.h>\nint main(void)\n{\n'
                                     '    return cf_kernel_find(&cf_registry, "gather_f32_i32") ? 0 : 1;\n}\n')
        if not problem:
            code, out, err = run([bare], env=self.env)
            problem = f'exit {code}: {out}{err}' if code else ''
        self.tap.check('registry_header_stands_alone', problem)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = InstallTest(tap, sys.argv[1], folder)
        test.install()
        test.manual()
        if test.sanitized:
            # With sanitizers, the archive needs libraries that a user's link command does not name.
            tap.skip('consumer_programs', NEEDS_NO_SANITIZER)
        else:
            test.over_mpi()
            program = test.make_project()
            test.readme_program()
            test.needs_libc_alone(program)
            test.symbols(program)
            test.size()
            test.checks()
            test.headers()
            test.python_projects()
            test.kernels_of_users()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
