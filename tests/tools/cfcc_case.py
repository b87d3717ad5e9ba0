"""cfcc_case.py - the folder in which tests of cfcc run, and checks of the results. For test_cfcc.py and tests of
wrappers."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import forked
from tap import NEEDS_NO_SANITIZER, ROOT, run, unignore_signals

KERNEL = '''#include <stdint.h>
/* y is twice x, for n elements. */
#pragma cf kernel grid(n) in(x[n]) out(y[n])
__global__ void twice(const float *x, float *y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
'''

# A function that runs on the CPU instead of a kernel. The object contains the name of a section with GPU code, but no
# such section.
ON_CPU = '''#include <stdint.h>
extern const char text[];
const char text[] = "__nv_relfatbin";
void twice_on_cpu(const float *, float *, int64_t);
void twice_on_cpu(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
'''

# Loads a shared object, calls a function of it, and prints the prefix of its registry.
LOADER = '''import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
x, y = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_float * 3)()
status = getattr(library, sys.argv[2])(x, y, ctypes.c_int64(3))
library.cf_module_info.restype = ctypes.POINTER(ctypes.c_void_p * 2)
prefix = ctypes.string_at(library.cf_module_info().contents[1]).decode()
print(status, *y, prefix, library.cf_version())
'''


def listed(folder):
    """Returns all files below a folder, as relative paths."""
    return sorted(os.path.relpath(os.path.join(path, name), folder)
                  for path, _, names in os.walk(folder) for name in names)


def defined(path, *options):
    """Returns the names that an object or a shared object exports."""
    _, out, err = run(['nm', '--defined-only', *options, path])
    return {line.split()[-1] for line in out.splitlines()} or {err}


class CfccTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.builddir = tap, os.path.abspath(builddir)
        self.cfcc, self.cf_run = (os.path.join(self.builddir, name) for name in ('cfcc', 'cf-run'))
        with open(os.path.join(self.builddir, 'cfcc.json'), encoding='utf-8') as file:
            self.config = json.load(file)
        self.is_sanitized = '-fsanitize' in self.config['link_flags']
        # Temporary folders are made in this folder, so that the test sees any that are not removed.
        self.folder, self.temporary = os.path.join(folder, 'a folder'), os.path.join(folder, 'temporary')
        os.mkdir(self.temporary)
        self.env = dict(os.environ, TMPDIR=self.temporary, CF_DRIVER='host')
        self.loaded = forked.Loaded(self.cfcc)

    def fresh(self, **files):
        """Makes an empty folder with these kernel files, by default heat.cu."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for name, text in (files or {'heat': KERNEL}).items():
            self.write(f'{name}.cu', text)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding='utf-8') as file:
            return file.read()

    def compile(self, *arguments, cuda='--cuda=no', cfcc=None, **environment):
        # Code for the CPU only is compiled without optimization, which takes less time.
        words = [cuda, '-O0'] if cuda == '--cuda=no' else [cuda] if cuda else []
        env = dict(self.env, **environment)
        if cfcc or 'PYTHONPATH' in environment:
            return run([cfcc or self.cfcc, *words, *arguments], cwd=self.folder, env=env)
        return self.loaded.run([*words, *arguments], self.folder, env)

    def begin(self, *arguments):
        return subprocess.Popen([self.cfcc, '--cuda=no', *arguments], cwd=self.folder, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=unignore_signals)

    def check(self, name, result, *expected):
        """Tests a run that must print nothing and leave exactly these files beside the kernel files."""
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        problem = '' if result == (0, '', '') and left == sorted(expected) else f'{result}, left {left}'
        self.tap.check(name, problem or self.temporary_left())

    def refused(self, name, result, code, *expected):
        """Tests a run that must fail with all of these texts, name no temporary path, and write nothing."""
        status, out, err = result
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        lost = [text for text in expected if text not in err]
        wrong = status != code or out or lost or left or self.temporary in err or self.temporary_left()
        self.expect(name, not wrong, f'exit {status}, missing {lost}, left {left}: {out}{err}')

    def expect(self, name, is_good, detail):
        self.tap.check(name, '' if is_good else str(detail) or 'no detail')

    def temporary_left(self):
        return ', '.join(os.listdir(self.temporary))

    def listed(self, name, path):
        result = run([self.cf_run, '--module', path, '--list'], cwd=self.folder, env=self.env)
        self.expect(name, result == (0, 'twice  int heat_twice(const float *x, float *y, int64_t n);\n', ''), result)

    def loads(self, name, path):
        if self.is_sanitized:
            self.tap.skip(name, NEEDS_NO_SANITIZER)
            return
        code, out, err = run([sys.executable, '-c', LOADER, path, 'heat_twice'], cwd=self.folder, env=self.env)
        good = code == 0 and re.fullmatch(r'0 2\.0 4\.0 6\.0 heat \d+\n', out)
        self.tap.check(name, '' if good else f'exit {code}: {out}{err}')

    def prints_right(self, test, result, *files):
        """Links a program with the object of a run, and runs it; it must print `right`."""
        code, out, err = result
        if code == 0:
            command = [*shlex.split(self.config['cc']), *shlex.split(self.config['link_flags']), f'-I{ROOT}/include',
                       *files, os.path.join(self.builddir, 'libcuferry.a'), '-lpthread', '-ldl', '-lm', '-o', 'main']
            code, out, err = run(command, cwd=self.folder)
        if code == 0:
            code, out, err = run(['./main'], cwd=self.folder, env=self.env)
        self.expect(test, (code, out) == (0, 'right\n'), f'exit {code}: {out}{err}')

    def expect_targets(self, name, expected):
        """Tests that the image in heat.o has code for exactly these targets, as cf-run shows them."""
        result = run([self.cf_run, '--module', os.path.join(self.folder, 'heat.o'), '--describe', 'twice'])
        self.expect(f'cfcc_image_has_targets_{name}', f' {expected} by CUDA ' in result[1], result)
