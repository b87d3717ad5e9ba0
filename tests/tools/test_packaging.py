"""test_packaging.py - tests the recipes of tools/packaging and the release script. Stand-ins replace package managers
that are not installed, and record the calls of a recipe. With CHECK_LONG set, packages for Debian and Conan are built.

usage: test_packaging.py BUILDDIR
"""

import ast
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_LONG, NEEDS_NO_SANITIZER, ROOT, Tap, run

PACKAGING = os.path.join(ROOT, 'tools', 'packaging')

# Runs a recipe of Spack with stand-ins for Spack's modules.
SPACK = '''
import sys, types
noted = []
package, cuda, generic = (types.ModuleType(name) for name in ('package', 'cuda', 'generic'))
class Base:
    pass
def note(*words, **named):
    return lambda function: function
class Executable:
    def __init__(self, path):
        self.path = path
    def __call__(self, *words):
        noted.append([str(self.path), *words])
package.Executable, generic.Package, cuda.CudaPackage = Executable, Base, type('CudaPackage', (), {})
for name in ('license', 'version', 'variant', 'depends_on', 'conflicts', 'run_after', 'on_package_attributes'):
    setattr(package, name, note)
package.which = lambda name, required: Executable(name)
for name in ('spack', 'spack_repo', 'spack_repo.builtin', 'spack_repo.builtin.build_systems'):
    sys.modules[name] = types.ModuleType(name)
sys.modules.update({'spack.package': package, 'spack_repo.builtin.build_systems.cuda': cuda,
                    'spack_repo.builtin.build_systems.generic': generic})
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import package as recipe
class Spec(dict):
    variants = {'cuda_arch': types.SimpleNamespace(value=tuple(sys.argv[3].split(',')))}
    def satisfies(self, wanted):
        return wanted in sys.argv[2].split()
one = recipe.Cuferry()
one.prefix = '/p'
one.spec = Spec(cuda=types.SimpleNamespace(prefix='/cuda'), mpi=types.SimpleNamespace(mpicc='/mpi/bin/mpicc'))
one.install(one.spec, '/p')
print(noted, recipe.TREE)
'''

# Runs a port of vcpkg with stand-ins for its functions, which print their arguments.
VCPKG = '''
cmake_minimum_required(VERSION 3.20)
macro(vcpkg_find_acquire_program name)
    set(${name} "/found/${name}")
endmacro()
function(vcpkg_execute_required_process)
    message(STATUS "RUN ${ARGN}")
endfunction()
set(CURRENT_PACKAGES_DIR "${folder}/packages")
set(CURRENT_BUILDTREES_DIR "${folder}/trees")
set(TARGET_TRIPLET x64-linux)
set(PORT cuferry)
include("${port}")
'''


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), 'w', encoding='utf-8') as file:
        file.write(text)


class PackagingTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir, self.folder = tap, builddir, folder
        header = read(ROOT, 'include', 'cuferry.h')
        self.version = '.'.join(re.findall(r'#define CF_VERSION_\w+ (\d+)', header)[:3])

    def debian(self):
        """Each installed file belongs to exactly one package. The packages are built without MPI."""
        prefix = os.path.join(self.folder, 'usr')
        run(['sh', os.path.join(ROOT, 'tools', 'dev', 'install'), ROOT, self.builddir, prefix])
        installed = read(prefix, 'lib', 'cuferry', 'installed.txt').splitlines()
        installed = {f'usr/{name}' for name in installed
                     if not name.endswith('/') and 'mpi' not in os.path.basename(name)}
        installed |= {'usr/lib/libcuferry.so', 'usr/lib/libcuferry.so.0'}
        lists = {name[:-len('.install')]: [line.split()[0] for line in read(PACKAGING, 'debian', name).splitlines()]
                 for name in os.listdir(os.path.join(PACKAGING, 'debian')) if name.endswith('.install')}
        wrong, unused = [], {entry for entries in lists.values() for entry in entries}
        for name in sorted(installed):
            found = [entry for entries in lists.values() for entry in entries
                     if fnmatch.fnmatch(name, entry) or name.startswith(entry + '/')]
            unused -= set(found)
            if len(found) != 1:
                wrong.append(f'{name} is in {found}')
        self.tap.check('debian_each_file_is_in_one_package', '\n'.join(wrong + sorted(unused)))
        control = read(PACKAGING, 'debian', 'control.in')
        self.tap.check('debian_control_has_the_packages',
                       '' if set(re.findall(r'^Package: (.*)$', control, re.MULTILINE))
                       == set(lists) else control)
        if not os.environ.get('CHECK_LONG'):
            self.tap.skip('debian_packages_are_built', NEEDS_LONG)
        elif not shutil.which('dh') or not os.path.exists(os.path.join(ROOT, '.git')):
            self.tap.skip('debian_packages_are_built', 'needs debhelper and a repository')
        else:
            env = dict(os.environ, CUFERRY_CONFIGURE='--cuda=no CFLAGS=-O0 CXXFLAGS=-O0', DEBFULLNAME='A Person',
                       DEBEMAIL='person@localhost')
            code, out, err = run([os.path.join(PACKAGING, 'build-deb'), self.folder + '/deb'], env=env, timeout=1800)
            made = [line.split('/')[-1].split('_')[0] for line in out.splitlines() if line.endswith('.deb')]
            self.tap.check('debian_packages_are_built',
                           '' if code == 0 and set(lists) <= set(made) else f'not so: {out}{err}')

    def spack(self):
        script, recipe = os.path.join(self.folder, 'played.py'), os.path.join(PACKAGING, 'spack_repo', 'cuferry',
                                                                                 'packages', 'cuferry')
        write(SPACK, script)
        for name, spec, arch, options in (
                ('cpu', '+shared', 'none', ['--enable-shared', '--cuda=no']),
                ('mpi', '+mpi', 'none', ['--mpicc=/mpi/bin/mpicc', '--cuda=no']),
                ('gpus', '+cuda +shared', '80,90a', ['--enable-shared', '--cuda=/cuda', '--targets=80,90a']),
                ('default_gpus', '+cuda', 'none', ['--cuda=/cuda'])):
            code, out, err = run([sys.executable, script, recipe, spec, arch])
            wanted = f"{[['./configure', '--prefix=/p', *options], ['ninja', '-C', 'build', 'install']]} {ROOT}\n"
            self.tap.check(f'spack_recipe_configures_{name}',
                           '' if code == 0 and out == wanted else f'not so: {out}{err}')

    def vcpkg(self):
        manifest = json.loads(read(PACKAGING, 'vcpkg', 'vcpkg.json'))
        right = manifest['version'] == self.version and manifest['name'] == 'cuferry'
        self.tap.check('vcpkg_manifest_has_the_version', '' if right else f'{manifest}')
        if not shutil.which('cmake'):
            self.tap.skip('vcpkg_port_runs', 'needs cmake')
            return
        script = os.path.join(self.folder, 'played.cmake')
        write(VCPKG, script)
        for name, flags, options in (('static', ['-DVCPKG_LIBRARY_LINKAGE=static'], '--cuda=no'),
                                     ('dynamic', ['-DVCPKG_LIBRARY_LINKAGE=dynamic', '-DFEATURES=cuda'],
                                      '--enable-shared')):
            code, out, err = run(['cmake', *flags, f'-Dfolder={self.folder}',
                                  f'-Dport={PACKAGING}/vcpkg/portfile.cmake', '-P', script])
            build = f'{self.folder}/trees/x64-linux-rel'
            wanted = [f'-- RUN COMMAND;{ROOT}/configure;--builddir={build};--prefix={self.folder}/packages;'
                      f'PYTHON=/found/PYTHON3;{options};WORKING_DIRECTORY;{self.folder}/trees;'
                      'LOGNAME;configure-x64-linux', f'-- RUN COMMAND;/found/NINJA;-C;{build};install;'
                      f'WORKING_DIRECTORY;{self.folder}/trees;LOGNAME;build-x64-linux']
            ran = [line for line in out.splitlines() if ' RUN ' in line]
            copied = os.path.exists(f'{self.folder}/packages/share/cuferry/copyright')
            self.tap.check(f'vcpkg_port_runs_{name}', '' if code == 0 and ran == wanted and copied else f'{ran}{err}')

    def conda(self):
        """A shell can read the commands of the recipe, and configure has the options in them."""
        recipe = read(PACKAGING, 'conda', 'meta.yaml')
        commands = re.findall(r'^    - (.*?)(?:  #.*)?$', recipe.split('requirements:')[0], re.MULTILINE)
        known = run([os.path.join(ROOT, 'configure'), '--help'])[1]
        lost = [word for word in re.findall(r' (--[a-z-]+)', commands[0]) if word not in known]
        code, _, err = run(['sh', '-n', '-c', '\n'.join(commands)])
        self.tap.check('conda_recipe_has_options_of_configure', '' if len(commands) == 3 and not lost and code == 0
                       else f'{commands} {lost} {err}')
        number = re.search(r'regex_pattern="(.*?)"', recipe)[1]
        self.tap.check('conda_recipe_finds_the_version', '' if re.search(number, read(ROOT, 'CHANGELOG.md'))[1] ==
                       self.version else number)

    def conan(self):
        recipe = os.path.join(PACKAGING, 'conan', 'conanfile.py')
        names = [node.name for node in ast.walk(ast.parse(read(recipe))) if isinstance(node, ast.FunctionDef)]
        self.tap.check('conan_recipe_has_its_functions', '' if {'build', 'package', 'package_info'} <= set(names) else
                       f'{names}')
        if not shutil.which('conan'):
            self.tap.skip('conan_reads_the_recipe', 'needs conan')
            return
        env = dict(os.environ, CONAN_HOME=os.path.join(self.folder, 'conan'), PYTHONDONTWRITEBYTECODE='1')
        code, out, err = run(['conan', 'inspect', recipe, '--format=json'], env=env)
        value = json.loads(out) if code == 0 else {}
        self.tap.check('conan_reads_the_recipe', '' if value.get('version') == self.version else f'not so: {out}{err}')
        if not os.environ.get('CHECK_LONG'):
            self.tap.skip('conan_packages_are_made_and_used', NEEDS_LONG)
            return
        env.update(CFLAGS='-O0', CXXFLAGS='-O0')
        run(['conan', 'profile', 'detect'], env=env)
        for shared in (False, True):
            code, out, err = run(['conan', 'create', os.path.dirname(recipe), f'--options=&:shared={shared}'], env=env,
                                 timeout=1800)
            self.tap.check(f'conan_package_is_made_and_used_shared_{shared}',
                           f'exit {code}: {out}{err}' if code else '')

    def release(self):
        """The same tag makes the same archive. A tag of another version or of an unreleased one makes no archive."""
        clone = os.path.join(self.folder, 'clone')
        if not shutil.which('git') or run(['git', '-C', ROOT, 'rev-parse', 'HEAD'])[0]:
            self.tap.skip('release', 'needs a repository')
            return
        run(['git', 'clone', '-q', '--depth=1', f'file://{ROOT}', clone])
        script = os.path.join(clone, 'tools', 'dev', 'release')
        shutil.copy(os.path.join(ROOT, 'tools', 'dev', 'release'), script)
        git = ['git', '-C', clone, '-c', 'user.name=a', '-c', 'user.email=a@localhost']
        tag = f'v{self.version}'
        run([*git, 'tag', 'v9.9.9'])
        heading = f'## {self.version}'
        text = re.sub(rf'^{re.escape(heading)}.*$', f'{heading} (not released)', read(clone, 'CHANGELOG.md'),
                      flags=re.M)
        write(text, clone, 'CHANGELOG.md')
        run([*git, 'commit', '-qam', 'x'])
        run([*git, 'tag', tag])
        for name, given, expected in (('missing', 'v0.0.0', 'there is no tag v0.0.0'),
                                      ('other', 'v9.9.9', f'include/cuferry.h has the version {self.version} there'),
                                      ('unreleased', tag, f"CHANGELOG.md has no line '{heading}'")):
            code, out, err = run([script, '--no-check', f'--dir={self.folder}/{name}', given])
            made = os.path.exists(f'{self.folder}/{name}')
            self.tap.check(f'release_of_{name}_tag_is_refused', '' if code == 1 and expected in err and not made
                           else f'{code} {out}{err}')
        write(text.replace(' (not released)', ''), clone, 'CHANGELOG.md')
        run([*git, 'commit', '-qam', 'x'])
        run([*git, 'tag', '-f', tag])
        digests, out, err = [], '', ''
        for name in ('first', 'second'):
            code, out, err = run([script, '--no-check', f'--dir={self.folder}/{name}', tag])
            path = os.path.join(self.folder, name, f'cuferry-{self.version}.tar.gz')
            if code == 0:
                with open(path, 'rb') as file:
                    digests.append(hashlib.sha256(file.read()).hexdigest())
        right = len(digests) == 2 and digests[0] == digests[1] and digests[0] in out
        self.tap.check('release_makes_the_same_archive_twice', '' if right else f'{digests} {out}{err}')
        if right:
            listed = subprocess.run(['tar', '-tf', path], stdout=subprocess.PIPE, check=True).stdout.decode().split()
            files = run([*git, 'ls-files'])[1].split()
            lost = {f'cuferry-{self.version}/{name}' for name in files} ^ {n for n in listed if not n.endswith('/')}
            self.tap.check('release_has_all_files', f'{lost}' if lost or len(files) < 100 else '')


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = PackagingTest(tap, os.path.abspath(sys.argv[1]), os.path.realpath(folder))
        if '-fsanitize' in read(sys.argv[1], 'cfcc.json'):
            tap.skip('packaging', NEEDS_NO_SANITIZER)
            return tap.close()
        test.debian()
        test.spack()
        test.vcpkg()
        test.conda()
        test.conan()
        test.release()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
