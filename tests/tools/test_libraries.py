"""test_libraries.py - tests the shared library, `ninja uninstall`, and projects that link libraries with kernels or
build the source tree as a part of them.

usage: test_libraries.py BUILDDIR
"""

import glob
import json
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_NO_SANITIZER, ROOT, Tap, run

CONSUMERS = os.path.join(ROOT, 'tests', 'consumers')
PROGRAM = '''#include <stdio.h>
#include <cuferry.h>
#include <cuferry/kernels.h>
#include "own.h"
int main(void)
{
    float source[3] = {1, 2, 3}, res[2];
    int32_t index[2] = {2, 0};
    int x[2] = {5, 7};
    int status = cf_gather(source, index, res, 2, 3) || own_twice(x, 2);
    printf("%d %g %g %d %d\\n", status, res[0], res[1], x[0], x[1]);
    index[1] = 9;
    status = cf_gather(source, index, res, 2, 3);
    printf("%s\\n", cf_last_error());
    status = own_twice(x, -1);
    printf("%s\\n", cf_last_error());
    return status == CF_OK;
}
'''
KERNEL = '''#pragma cf kernel grid(n) inout(x[n])
__global__ void twice(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}
'''


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def tree(folder):
    """Returns all files and folders below a folder."""
    return {os.path.relpath(os.path.join(path, name), folder) for path, folders, names in os.walk(folder)
            for name in folders + names}


class LibrariesTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir, self.folder = tap, builddir, folder
        self.library = os.path.join(builddir, 'libcuferry.so.0')
        self.cc, self.cxx = (re.search(rf'^{name} = (.*)$', read(os.path.join(builddir, 'build.ninja')),
                                       re.MULTILINE)[1]
                             for name in ('cc', 'cxx'))

    def install(self, name, *options, **values):
        """Installs the build and moves the installed tree. The pkg-config file is the one that configure writes for
        `options`; `values` are set in cfcc.json."""
        copy = os.path.join(self.folder, f'build-{name}')
        os.mkdir(copy)
        for path in glob.glob(os.path.join(self.builddir, '*')):
            os.symlink(os.path.abspath(path), os.path.join(copy, os.path.basename(path)))
        text, config = self.pkg_config(*options), dict(json.loads(read(os.path.join(copy, 'cfcc.json'))), **values)
        for file, content in (('cuferry.pc', text), ('cfcc.json', json.dumps(config, indent=4))):
            os.remove(os.path.join(copy, file))
            write(os.path.join(copy, file), content)
        prefix, moved = os.path.join(self.folder, f'installed-{name}'), os.path.join(self.folder, name)
        code, out, err = run(['sh', os.path.join(ROOT, 'tools', 'dev', 'install'), ROOT, copy, prefix])
        self.tap.check(f'install_{name}', f'exit {code}: {out}{err}' if code else '')
        os.rename(prefix, moved)
        return moved

    def pkg_config(self, *options):
        """Returns the pkg-config file of the build, or of another configuration."""
        text = read(os.path.join(self.builddir, 'cuferry.pc'))
        if ('Libs.private' in text) == ('--enable-shared' in options):
            return text
        probe = os.path.join(self.folder, 'probe')
        run([os.path.join(ROOT, 'configure'), f'--builddir={probe}', '--cuda=no', f'CC={self.cc}', f'CXX={self.cxx}',
             *options])
        return read(os.path.join(probe, 'cuferry.pc'))

    def env(self, prefix):
        return dict(os.environ, PKG_CONFIG_PATH=os.path.join(prefix, 'lib', 'pkgconfig'), CMAKE_PREFIX_PATH=prefix,
                    CF_DRIVER='host', CC=self.cc, LD_LIBRARY_PATH=os.path.join(prefix, 'lib'))

    def exports(self):
        """Tests the list of exported symbols: removed and changed symbols are errors; new ones are added on demand."""
        copy = os.path.join(self.folder, 'exports')
        os.makedirs(os.path.join(copy, 'tools', 'dev'))
        for name in ('include', 'lib'):
            os.symlink(os.path.join(ROOT, name), os.path.join(copy, name))
        script, listed = (os.path.join(copy, 'tools', 'dev', name) for name in ('exports', 'exports.txt'))
        shutil.copy(os.path.join(ROOT, 'tools', 'dev', 'exports'), script)
        text = read(os.path.join(ROOT, 'tools', 'dev', 'exports.txt'))
        line = re.search(r'^cf_call .*\n', text, re.MULTILINE)[0]
        for name, given, options, expected in (
                ('the_list_is_right', text, [], (0, '', '')),
                ('removed_symbol_is_an_error', text + 'cf_zero CUFERRY_0 int cf_zero(void)\n', [],
                 (1, '', 'exports: symbols that are gone: cf_zero\n')),
                ('removed_symbol_stays_an_error', text + 'cf_zero CUFERRY_0 int cf_zero(void)\n', ['--update'],
                 (1, '', 'exports: symbols that are gone: cf_zero\n')),
                ('changed_declaration_is_an_error', text.replace(line, line.replace('int cf_call', 'long cf_call')), [],
                 (1, '', f'exports: cf_call has changed:\n  {line.replace("int cf_call", "long cf_call")}  {line}')),
                ('new_symbol_is_reported', text.replace(line, ''), [],
                 (0, 'exports: new symbols, to be added with --update: cf_call\n', '')),
                ('new_symbol_is_added', text.replace(line, ''), ['--update'], (0, '', ''))):
            write(listed, given)
            got = run([sys.executable, script, *options, self.builddir])
            self.tap.check(f'exports_{name}', '' if got == expected else f'{got}')
        self.tap.check('exports_update_writes_the_list', '' if read(listed) == text else 'another list')

    def shared(self, prefix):
        _, out, _ = run(['readelf', '-d', os.path.join(prefix, 'lib', 'libcuferry.so')])
        needed = set(re.findall(r'NEEDED.*\[([^.\]]*)', out))
        right = '[libcuferry.so.0]' in out and needed <= {'libc', 'libm', 'libdl', 'libpthread', 'ld-linux-x86-64',
                                                          'ld-linux-aarch64'} and 'TEXTREL' not in out
        self.tap.check('shared_library_has_soname_and_needs_libc_alone', '' if right else out or 'no text')
        env = self.env(prefix)
        for name, options, expected in (('libs', ['--libs'], ['-lcuferry']),
                                        ('libs_static', ['--static', '--libs'],
                                         ['-lcuferry', '-lpthread', '-ldl', '-lm'])):
            code, out, err = run(['pkg-config', *options, 'cuferry'], env=env)
            words = [word for word in shlex.split(out) if not word.startswith('-L')]
            self.tap.check(f'pkg_config_{name}', '' if code == 0 and words == expected else f'not so: {out}{err}')
        program = os.path.join(self.folder, 'program')
        write(f'{program}.c', PROGRAM)
        write(os.path.join(self.folder, 'own.cu'), KERNEL)
        flags = shlex.split(run(['pkg-config', '--cflags', '--libs', 'cuferry'], env=env)[1])
        said = ''
        for command in ([os.path.join(prefix, 'bin', 'cfcc'), '--cuda=no', 'own.cu'],
                        [*shlex.split(self.cc), f'{program}.c', 'own.o', *flags, '-o', program], [program]):
            code, out, err = run(command, cwd=self.folder, env=env)
            said = f'{out}{err}'
            if code:
                break
        expected = ('0 3 1 10 14\ncf_gather_f32_i32: index[1] = 9 is outside [0, 3)\n'
                    'own_twice: the extent x[n] is negative with n = -1\n')
        self.tap.check('program_with_own_kernel_runs_with_the_shared_library',
                       '' if said == expected else said or 'no text')
        _, out, _ = run(['ldd', program], env=env)
        _, names, _ = run(['nm', program])
        is_shared = 'libcuferry.so.0 =>' in out and ' U cf_gather' in names and 'cf__k_gather' not in names
        self.tap.check('program_contains_nothing_of_the_shared_library', '' if is_shared else f'{out}{names}')

    def cmake(self, name, prefix, generator, last, *flags):
        """Builds the project whose parts are libraries."""
        folder = os.path.join(self.folder, f'{name} libraries')
        shutil.copytree(os.path.join(CONSUMERS, 'cmake_libraries'), folder)
        built, said = os.path.join(folder, 'build'), ''
        env = self.env(prefix)
        build = ['cmake', '--build', built, '-j2']
        for command in (['cmake', '-G', generator, '-S', folder, '-B', built, *flags], build,
                        [os.path.join(built, 'main')]):
            code, out, err = run(command, env=env)
            if code:
                said += out + err
                break
            said = out
        self.tap.check(f'libraries_by_{name}_build_and_run',
                       '' if said == f'18 94 1214\nCF_EINVAL {last}\n' else said or 'no text')
        _, out, _ = run(build, env=env)
        self.tap.check(f'libraries_by_{name}_build_nothing_again',
                       '' if not re.search('Building|Compiling|Linking', out) else out or 'no text')
        _, out, _ = run(['nm', '-D', '--defined-only', os.path.join(built, 'libshift.so')])
        names = sorted(line.split()[-1] for line in out.splitlines())
        self.tap.check(f'libraries_by_{name}_export_their_kernels', '' if names == [
            'shift_by_one', 'shift_kernels_add', 'shift_kernels_add_async', 'shift_kernels_add_update'] else f'{names}')

    def source_tree(self):
        """A project builds the source tree through FetchContent; the tree is reduced to a few kernels, without
        operations."""
        small = os.path.join(self.folder, 'a tree')
        shutil.copytree(ROOT, small, ignore=shutil.ignore_patterns('build', 'build-*', '.git', '__pycache__'))
        for path in glob.glob(os.path.join(small, 'kernels', '*.c')) + glob.glob(
                os.path.join(small, 'kernels', '*.cu')):
            if os.path.splitext(os.path.basename(path))[0] not in ('axpy', 'fill', 'gather', 'outside'):
                os.remove(path)
        for path in glob.glob(os.path.join(small, 'kernels', '*.cu')):
            # The check of gather's indices is kept, as an instance for int32_t.
            write(path, re.sub(r'(instances\()[^)]*?([fi]32\w*:[^;)]*)[^)]*', r'\1\2', read(path)))
        self.cmake('fetch_content', self.folder, 'Ninja', '', f'-DCUFERRY_SOURCE={small}',
                   "-DCUFERRY_CONFIGURE=--cuda=no;CFLAGS=-O0;CXXFLAGS=-O0")

    def cmake_refusal(self):
        folder = os.path.join(self.folder, 'refused')
        code, out, err = run(['cmake', '-S', ROOT, '-B', folder, '-DCUFERRY_CONFIGURE=--frobnicate'],
                             env=self.env(self.folder))
        self.tap.check('wrong_option_of_configure_is_reported',
                       '' if code and 'unknown option: --frobnicate' in ' '.join(err.split()) else f'{code} {out}{err}')

    def meson(self, prefix):
        if not shutil.which('meson'):
            self.tap.skip('meson_project_builds_and_runs', 'needs meson')
            return
        folder = os.path.join(self.folder, 'meson')
        shutil.copytree(os.path.join(CONSUMERS, 'meson'), folder)
        built, said = os.path.join(folder, 'build'), ''
        for command in (['meson', 'setup', built, folder], ['ninja', '-C', built], [os.path.join(built, 'heat')]):
            code, out, err = run(command, env=self.env(prefix))
            said = out if code == 0 else said + out + err
        self.tap.check('meson_project_builds_and_runs', '' if said == '0 2 4 2 0\n' else said or 'no text')
        write(os.path.join(folder, 'weight.h'), '#define WEIGHT 0.5\n')
        run(['ninja', '-C', built], env=self.env(prefix))
        _, out, err = run([os.path.join(built, 'heat')], env=self.env(prefix))
        self.tap.check('meson_project_builds_again_with_a_header',
                       '' if out == '0 4 0 4 0\n' else out + err or 'no text')

    def uninstall(self):
        prefix = os.path.join(self.folder, 'with others')
        others = ('lib/pkgconfig/other.pc', 'bin/other', 'share/man/man1/other.1', 'lib/cuferry/mine')
        for name in others[:-1]:
            os.makedirs(os.path.dirname(os.path.join(prefix, name)), exist_ok=True)
            write(os.path.join(prefix, name), 'other')
        os.makedirs(os.path.join(prefix, 'include'))
        before = tree(prefix)
        script = os.path.join(ROOT, 'tools', 'dev', 'uninstall')
        install = ['sh', os.path.join(ROOT, 'tools', 'dev', 'install'), ROOT, self.builddir, prefix]
        run(install)
        run(install)    # installs over the existing files
        write(os.path.join(prefix, others[-1]), 'other')
        after = tree(prefix)
        code, out, err = run(['sh', script, prefix])
        left = tree(prefix)
        wanted = before | {'lib/cuferry', others[-1]}
        removed = {os.path.relpath(line, prefix) for line in out.splitlines()}
        is_right = code == 0 and left == wanted and {'bin/cfcc', 'lib/libcuferry.a'} <= removed <= after - left
        self.tap.check('uninstall_removes_what_was_installed',
                       '' if is_right else f'{sorted(left ^ wanted)} {out}{err}')
        code, out, err = run(['sh', script, prefix])
        self.tap.check('uninstall_without_an_installation_removes_nothing',
                       '' if code == 0 and not err and f'nothing is installed in {prefix}' in out and
                       tree(prefix) == left else out + err)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = LibrariesTest(tap, os.path.abspath(sys.argv[1]), os.path.realpath(folder))
        if '-fsanitize' in read(os.path.join(sys.argv[1], 'cfcc.json')):
            tap.skip('libraries', NEEDS_NO_SANITIZER)
            return tap.close()
        test.exports()
        # Programs of the static library have kernels for the CPU only; test_install.py builds some for GPUs.
        shared, static = test.install('shared', '--enable-shared'), test.install('static', cuda='no')
        test.shared(shared)
        test.meson(static)
        test.uninstall()
        if shutil.which('cmake'):
            text = 'shift_kernels_add: the check n > 1 fails with n = 1'
            test.cmake('shared', shared, 'Ninja', text)
            test.cmake('static', static, 'Unix Makefiles', '')
            test.source_tree()
            test.cmake_refusal()
        else:
            tap.skip('libraries_by_cmake', 'needs cmake')
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
