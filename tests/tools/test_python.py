"""test_python.py - tests what cfcc --emit writes for Python, Cython and TVM-FFI: the files, and calls on the CPU. A
part that needs a package is skipped if the package is not installed.

usage: test_python.py BUILDDIR
"""

import json
import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SUPPORT = os.path.join(HERE, '../support')
sys.path += [SUPPORT, HERE]
from tap import NEEDS_NO_SANITIZER, ROOT, Tap, ended, run
from cfcc_case import KERNEL, CfccTest

NEEDS_NUMPY = 'needs NumPy for this Python'
NEEDS_CYTHON = 'needs Cython and NumPy for this Python'
NEEDS_TVM_FFI = 'needs apache-tvm-ffi and NumPy for this Python'
NEEDS_PIP = 'needs pip'
CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')


def has(*packages):
    return run([sys.executable, '-c', f'import {", ".join(packages)}'])[0] == 0


class PythonTest(CfccTest):
    def make(self, *words):
        """Makes a folder with the wrappers of python.cu."""
        self.fresh(shapes='')
        shutil.copyfile(os.path.join(HERE, 'python.cu'), os.path.join(self.folder, 'shapes.cu'))
        return self.compile('--prefix', 'shapes', *words, 'shapes.cu')

    def program(self, group, script, *arguments):
        """Runs one of the programs beside this file, and passes on the lines that it prints as tests."""
        env = dict(self.env, CF_THREADS='2', PYTHONDONTWRITEBYTECODE='1',
                   PYTHONPATH=os.pathsep.join([self.folder, SUPPORT]))
        code, out, err = run([sys.executable, os.path.join(HERE, script), *arguments], cwd=self.folder, env=env)
        lines = out.splitlines()
        for line in lines:
            is_good, name, problem = line.startswith('ok '), *(line.split(' ok ' if line[:3] == 'not' else 'ok ', 1)[1]
                                                               .partition(': ')[::2])
            self.tap.check(name, '' if is_good else problem or line)
        self.expect(f'{group}_runs_to_its_end', code == 0 and lines, f'{ended(code)}: {err[-2000:]}')

    def fuzz(self, language):
        calls = 40000 if 'CHECK_LONG' in os.environ else 1500
        self.program(f'fuzz_{language}', 'fuzz_wrappers.py', language, '--calls', str(calls))

    def files(self):
        result = self.make('--shared', '-o', 'libshapes.so', '--emit', 'python,python-package,cython,tvm-ffi')
        self.check('cfcc_emits_python_cython_and_tvm_ffi', result, 'libshapes.so', 'pyproject.toml', 'shapes.h',
                   'shapes.pxd', 'shapes.py', 'shapes_build.py', 'shapes_tvm_ffi.c', 'shapes_wrapper.pyx')
        text = self.read('shapes_wrapper.pyx')
        self.expect('wrapper_says_which_kernels_it_lacks', '# No weigh(): b is struct body *.\n' in text, text[-300:])
        text = self.read('shapes.py')
        self.expect('module_says_which_kernels_it_lacks', all(
            f'# No {name}: {value} is struct {kind}, which ctypes does not pass by value.\n' in text
            for name, value, kind in (('squeeze()', 'value', 'tight'), ('lift()', 'by', 'lone'))), text[-400:])
        self.expect('module_has_the_comments_of_kernels', '    """res[i] = source[index[i]]\n' in text, text)
        self.make()
        self.refused_name()

    def refused_name(self):
        self.fresh()
        self.refused('module_and_shared_object_have_different_names', self.compile('--shared', '--emit', 'python', '-o',
                     'heat.so', 'heat.cu'), 2,
                     '-o heat.so: Python would import it in place of heat.py; call it libheat.so')
        for language in ('cxx', 'fortran', 'python', 'cython', 'tvm-ffi'):
            self.fresh()
            result = self.compile('--cuda=no', '--shared', '--emit', language, 'heat.cu')
            self.expect(f'shared_object_for_{language}_has_a_name', result == (0, '', '') and
                        os.path.exists(os.path.join(self.folder, 'libheat.so')), (result, os.listdir(self.folder)))
        self.fresh(libheat=KERNEL)
        for words, wanted in ((['libheat.cu'], 'libheat.so'), (['--prefix', 'warm', 'libheat.cu'], 'libwarm.so')):
            result = self.compile('--cuda=no', '--shared', '--emit', 'python', *words)
            self.expect(f'shared_object_is_called_{wanted[:-3]}', result == (0, '', '') and os.path.exists(
                os.path.join(self.folder, wanted)), (result, os.listdir(self.folder)))
        self.refused_modules()
        self.fresh()
        self.write('heat.py', 'print(1)\n')
        code, out, err = self.compile('--shared', '--emit', 'python', '-o', 'libheat.so', 'heat.cu')
        self.expect('module_of_the_user_is_kept', code == 1 and 'heat.py is there, and cfcc did not write it' in err and
                    self.read('heat.py') == 'print(1)\n', f'{code} {out}{err}')

    def refused_modules(self):
        """Names that are another module of Python, or cannot be modules, are refused."""
        self.fresh()
        for language, name, why in (('python', 'numpy', 'a library whose arrays'),
                                    ('python', 'operator', 'a module of its standard library'),
                                    ('cython', 'math', 'a module of its standard library'),
                                    ('python', 'test', 'a module of its standard library'),
                                    ('python', 'sitecustomize', 'a module that it imports at its start'),
                                    ('python', 'usercustomize', 'a module that it imports at its start'),
                                    ('python', 'NumPy', 'a library whose arrays'),
                                    ('python', 'ml_dtypes', 'a package that programs import'),
                                    ('python-package', 'pip', 'a package that installs'),
                                    ('python-package', 'setuptools', 'a package that installs'),
                                    ('python-package', 'wheel', 'a package that installs'),
                                    ('python', 'pkg_resources', 'a package that installs'),
                                    ('cython', 'libc', 'a package of Cython'),
                                    ('cython', 'Cython', 'a package that programs import'),
                                    ('python', 'lambda', 'a word of Python'),
                                    ('python', 'tvm_ffi', 'a package that programs import'),
                                    ('cython', 'cython', 'a package that programs import'),
                                    ('python-package', 'torch', 'a library whose arrays')):
            self.refused(f'module_{name}_of_{language}_is_refused', self.compile(
                '--cuda=no', '--shared', '--emit', language, '--prefix', name, 'heat.cu'), 1,
                         f"--emit {language}: no module of Python can have the name '{name}', which is {why}")

        self.tap.check('module_of_another_name_is_made', next((result for result in (self.compile(
            '--cuda=no', '--shared', '--emit', 'python', '--prefix', name, 'heat.cu') for name in (
                'tests', 'Queue', 'wheels')) if result[0]), ''))

    def places(self):
        """The module finds the shared object in its own folder, or in the folder that the environment variable
        names."""
        self.make('--shared', '-o', 'libshapes.so', '--emit', 'python')
        other = os.path.join(self.folder, 'other')
        os.mkdir(other)
        shutil.move(os.path.join(self.folder, 'libshapes.so'), other)
        env = dict(self.env, PYTHONDONTWRITEBYTECODE='1')
        found = [run([sys.executable, '-c', 'import shapes'], cwd=self.folder, env=dict(env, **more))
                 for more in ({}, {'SHAPES_LIBRARY_DIR': other}, {'SHAPES_LIBRARY_DIR': self.folder})]
        self.expect('module_looks_where_the_environment_says', [code for code, _, _ in found] == [1, 0, 1], found)
        self.expect('module_says_what_it_misses', all(
            'ImportError: shapes needs libshapes.so of cfcc --shared, beside it or in the folder that '
            'SHAPES_LIBRARY_DIR names' in found[n][2] for n in (0, 2)), found)
        self.compile('--shared', '--prefix', 'shapes', '-o', 'other/libshapes.so', os.path.join(CASES, 'zero.cu'))
        code, _, err = run([sys.executable, '-c', 'import shapes'], cwd=self.folder,
                           env=dict(env, SHAPES_LIBRARY_DIR=other))
        self.expect('module_refuses_the_shared_object_of_others', code == 1 and
                    'has no shapes_apply_plus; build both again' in err, err)

    def package(self):
        """pip installs the package without a network connection, and the installed module works."""
        self.make('--shared', '-o', 'libshapes.so', '--emit', 'python,python-package')
        places = [os.path.join(self.temporary, name) for name in ('isolated', 'other')]
        if run([sys.executable, '-m', 'pip', '--version'])[0]:
            self.tap.skip('package_is_installed_by_pip', NEEDS_PIP)
            return
        words = [sys.executable, '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-index']
        done = [run([*words, *more, '--target', place, self.folder], env=self.env)
                for more, place in zip(([], ['--no-build-isolation']), places)]
        self.expect('package_is_installed_by_pip', [code for code, _, _ in done] == [0, 0], done)
        result = run([sys.executable, '-c', 'import array, shapes\ny = array.array("f", [1, 2])\n'
                      'shapes.axpy(2, array.array("f", [3, 4]), y)\nprint(list(y))'], cwd=places[0], env=self.env)
        self.expect('installed_package_works', result == (0, '[7.0, 10.0]\n', ''), result)
        self.source_archive(words, os.path.join(self.temporary, 'archive'))
        for place in places:
            shutil.rmtree(place, ignore_errors=True)

    def source_archive(self, install, place):
        """pip installs the source archive that the build backend makes."""
        made = run([sys.executable, '-c', 'import shapes_build\nprint(shapes_build.build_sdist("."))'], cwd=self.folder,
                   env=self.env)
        path = os.path.join(self.folder, 'shapes-0.1.0.tar.gz')
        self.expect('package_makes_a_source_archive', made == (0, f'{os.path.basename(path)}\n', '') and
                    tarfile.open(path).getnames() == [f'shapes-0.1.0/{name}' for name in (
                        'shapes.py', 'libshapes.so', 'pyproject.toml', 'shapes_build.py', 'PKG-INFO')], made)
        done = run([*install, '--target', place, path], env=self.env)
        result = run([sys.executable, '-c', 'import shapes\nprint(shapes.__file__)'], cwd=place, env=self.env)
        self.expect('source_archive_is_installed_by_pip',
                    result == (0, f'{os.path.join(place, "shapes.py")}\n', ''), [done, result])
        shutil.rmtree(place, ignore_errors=True)

    def cython(self):
        if not has('Cython', 'numpy'):
            self.tap.skip('cython_builds_the_wrapper', NEEDS_CYTHON)
            return
        result = self.make('-o', 'shapes.o', '--emit', 'cython')
        steps = [run([sys.executable, '-m', 'cython', '-3', '-Werror', 'shapes_wrapper.pyx'], cwd=self.folder)]
        steps.append(self.link('shapes_wrapper.c', 'shapes_wrapper' + sysconfig.get_config_var('EXT_SUFFIX'),
                               f'-I{sysconfig.get_path("include")}'))
        self.expect('cython_builds_the_wrapper', not any(code for code, _, _ in [result, *steps]), [result, *steps])
        self.program('cython', 'cython_module.py')
        self.fuzz('cython')

    def tvm_ffi(self):
        if not has('tvm_ffi', 'numpy'):
            self.tap.skip('tvm_ffi_file_compiles', NEEDS_TVM_FFI)
            return
        _, include, _ = run([sys.executable, '-c', 'import tvm_ffi.libinfo as i; print(i.find_include_path())'])
        _, library, _ = run([sys.executable, '-c', 'import tvm_ffi.libinfo as i; print(i.find_libtvm_ffi())'])
        result = self.make('-o', 'shapes.o', '--emit', 'tvm-ffi')
        linked = self.link('shapes_tvm_ffi.c', 'shapes_ffi.so', '-Wall', '-Wextra', '-Werror', '-isystem',
                           include.strip(), library.strip())
        self.expect('tvm_ffi_file_compiles', not result[0] and linked == (0, '', ''), [result, linked])
        self.program('tvm_ffi', 'tvm_ffi_module.py')
        self.fuzz('tvm_ffi')

    def link(self, source, output, *flags):
        archive = self.config.get('library') or os.path.join(self.builddir, 'libcuferry.a')
        return run(['cc', '-O1', '-std=gnu11', '-shared', '-fPIC', source, *flags, 'shapes.o',
                    f'-I{os.path.join(ROOT, "include")}', os.path.join(self.builddir, archive), '-lpthread', '-ldl',
                    '-lm', '-o', output], cwd=self.folder)

    def cases(self):
        """The generator's test cases, which contain every clause of the language, give files that compile."""
        sys.path.insert(0, os.path.join(ROOT, 'gen'))
        from language import emit_languages     # pylint: disable=import-error,import-outside-toplevel
        problems, names = [], sorted(name for name in os.listdir(CASES) if name.endswith('.json'))
        self.fresh(unused='')
        for name in names:
            with open(os.path.join(CASES, name), encoding='utf-8') as file:
                manifest = json.load(file)
            for output, text in emit_languages('python,python-package,cython,tvm-ffi', manifest).items():
                if output.endswith('.py'):
                    try:
                        compile(text, output, 'exec')
                    except SyntaxError as error:
                        problems.append(f'{name}: {output}: {error}')
                self.write(output.replace('t_wrapper', f'{name[:-5]}_wrapper'), text)
        self.tap.check('modules_of_all_cases_compile', '\n'.join(problems) if names else 'there is no case')


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: test_python.py BUILDDIR')
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = PythonTest(tap, sys.argv[1], folder)
        test.files()
        test.cases()
        if test.is_sanitized:   # Python is not linked with the sanitizers' libraries
            tap.skip('module_is_called', NEEDS_NO_SANITIZER)
            return tap.close()
        test.places()
        test.package()
        test.make('--shared', '-o', 'libshapes.so', '--emit', 'python')
        test.program('buffers', 'python_module.py', 'buffers')
        for group in ('numpy', 'played'):
            if has('numpy'):
                test.program(group, 'python_module.py', group)
            else:
                tap.skip(f'{group}_arrays', NEEDS_NUMPY)
        if has('numpy'):
            test.fuzz('python')
        else:
            tap.skip('fuzz_python', NEEDS_NUMPY)
        test.cython()
        test.tvm_ffi()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
