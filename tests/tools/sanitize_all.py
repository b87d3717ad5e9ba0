"""sanitize_all.py - runs the bundled kernels and the kernels of the tests under every check of cf-run, with arrays of
many sizes.

usage: sanitize_all.py BUILD_FOLDER [--only FILE] [--cc CC --cxx CXX]

FILE is the name of one of the kernel files, such as port_dense. A line after each check has its CPU time.
"""

import glob
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, ended, run

TESTS = os.path.join(ROOT, 'tests')
KINDS = ('address', 'undefined', 'race', 'poison')

# Kernels that fail on purpose, or that need particular values and not random ones.
EXCEPT = {
    'barrier': ['divided', 'lacks', 'ranges', 'wide'],
    'block': ['wait_for_ever', 'check_all', 'fail_after_barrier'],
    'features': ['wide'],
    'groups': ['grid_that_is_not_resident', 'wrong_tile'],
    'cpu_launch': ['check', 'order_after_barrier', 'order_after_shuffle', 'order_of_loop'],
    'port_reduce': ['compact_active'],
    'warp': ['operations', 'shuffle_by', 'sum_of_first', 'wrong_mask', 'wrong_operation'],
}
# Values for kernels of EXCEPT that need them: here, a count that begins at 0.
GIVEN = {'port_reduce': [['compact_active', 'x=randint:i32:1000:0:100', 'kept=fill:i32:1000:0', 'count=fill:u32:1:0',
                          'limit=50']]}
# Files whose kernels fail on purpose, are only compiled, or need cuRAND.
LEFT_OUT = {'bench', 'draws', 'planted', 'fault', 'interop_cuda', 'language', 'operation', 'verify', 'run', 'tuning'}


def processor_time():
    return sum(os.times()[2:4])


class SanitizeAll:
    def __init__(self, tap, build, folder, compilers):
        self.tap, self.build, self.folder, self.compilers = tap, build, folder, compilers
        self.environment = dict(os.environ, TMPDIR=folder, XDG_CACHE_HOME=os.path.join(folder, 'cache'))

    def run(self, tool, *words):
        return run([os.path.join(self.build, tool), *words], cwd=ROOT, env=self.environment, timeout=1800)

    def module(self, name, path):
        """Builds a kernel file; returns the options with which cf-run loads it, or None on failure."""
        module = os.path.join(self.folder, f'{name}.so')
        code, out, err = self.run('cfcc', *self.compilers, '--shared', '--cuda=no', '--prefix', f'all_{name}', '-o',
                                  module,
                                  '-I', 'tests/support', os.path.relpath(path, ROOT))
        if code:
            self.tap.check(f'sanitize_{name}_is_built', f'{ended(code)}\n{out}{err}')
        cxx = self.compilers[self.compilers.index('--cxx'):][:2] if '--cxx' in self.compilers else []
        return None if code else [*cxx, '--module', module]

    def check(self, name, kind, *words):
        began = processor_time()
        code, out, err = self.run('cf-run', '--check', kind, *words)
        self.tap.check(f'sanitize_{name}_{kind}', '' if code == 0 else f'{ended(code)}\n{out[-2000:]}\n{err}')
        print(f'# {processor_time() - began:.1f} s', flush=True)

    def file(self, name, words):
        exceptions = [word for kernel in EXCEPT.get(name, []) for word in ('--except', kernel)]
        for kind in KINDS:
            self.check(name, kind, *words, '--verify', '--all', *exceptions)
            for kernel, *arguments in GIVEN.get(name, []):
                self.check(f'{name}_{kernel}', kind, *words, kernel, *arguments)


def main():
    tap = Tap()
    arguments = sys.argv[2:]
    only = arguments.pop(arguments.index('--only') + 1) if '--only' in arguments else None
    compilers = [word for word in arguments if word != '--only']
    files = {os.path.splitext(os.path.basename(path))[0]: path
             for pattern in ('gen/*.cu', 'lib/*/*.cu', 'ports/*.cu', 'tools/*.cu', 'whole/*.cu')
             for path in sorted(glob.glob(os.path.join(TESTS, pattern)))}
    with tempfile.TemporaryDirectory() as folder:
        checks = SanitizeAll(tap, os.path.abspath(sys.argv[1]), os.path.realpath(folder), compilers)
        if only in (None, 'bundled'):
            checks.file('bundled', [])
        for name, path in files.items():
            if name not in LEFT_OUT and only in (None, name):
                words = checks.module(name, path)
                if words:
                    checks.file(name, words)
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
