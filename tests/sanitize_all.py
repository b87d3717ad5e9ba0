"""sanitize_all.py - runs the bundled kernels and those of the tests under every check of cf-run, over arrays of many sizes.

usage: sanitize_all.py BUILD_FOLDER [--cc CC --cxx CXX]
"""

import glob
import os
import sys
import tempfile

from tap import Tap, run

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
KINDS = ('address', 'race', 'poison')

# Kernels that fail as they should, or need what no random choice gives: a tree's parents, counts that begin at 0.
EXCEPT = {
    'barrier': ['divided', 'lacks', 'ranges', 'wide'],
    'block': ['wait_for_ever', 'check_all'],
    'groups': ['grid_that_is_not_resident', 'wrong_tile'],
    'port_graph': ['flatten', 'label_step', 'union_edges'],
    'port_scan': ['compact', 'compact_active'],
    'warp': ['operations', 'shuffle_by', 'wrong_mask', 'wrong_operation'],
}
# Files whose kernels are there to go wrong, or to be compiled.
LEFT_OUT = {'planted', 'fault', 'interop_cuda', 'language', 'verify', 'run'}


def main():
    tap = Tap()
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder, XDG_CACHE_HOME=os.path.join(folder, 'cache'))
        modules = {'bundled': []}
        for path in sorted(glob.glob(os.path.join(HERE, '*.cu')) + glob.glob(os.path.join(HERE, 'ports', '*.cu'))):
            name = os.path.splitext(os.path.basename(path))[0]
            if name in LEFT_OUT:
                continue
            module = os.path.join(folder, f'{name}.so')
            code, _, err = run([os.path.join(build, 'cfcc'), *sys.argv[2:], '--shared', '--cuda=no', '--prefix', f'all_{name}',
                                '-o', module, os.path.relpath(path, TREE)], cwd=TREE, env=environment)
            if code:
                tap.check(f'sanitize_{name}_is_built', err)
            else:
                modules[name] = ['--module', module]
        for name, words in modules.items():
            exceptions = [word for kernel in EXCEPT.get(name, []) for word in ('--except', kernel)]
            for kind in KINDS:
                code, out, err = run([os.path.join(build, 'cf-run'), '--check', kind, *words, '--verify', '--all',
                                      *exceptions], cwd=TREE, env=environment, timeout=3600)
                tap.check(f'sanitize_{name}_{kind}', '' if code == 0 else f'{out[-2000:]}\n{err}')
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
