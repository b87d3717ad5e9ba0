"""forked.py - runs a program of Python, such as the generator, in forked processes: Python starts and loads it once.

usage: forked.py PROGRAM    (for Loaded)
"""

import atexit
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback

GENERATOR = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..', 'gen', 'cfgen')


def load(program=GENERATOR):
    """Loads a program that consists of a function main() and what it calls; returns its module."""
    sys.dont_write_bytecode |= sys.pycache_prefix is None
    name = os.path.basename(program)
    loader = importlib.machinery.SourceFileLoader(name, program)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Loaded:
    """A process that has loaded a program. It keeps the program's modules apart from modules of the test with the same
    names."""

    def __init__(self, program):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([sys.executable, os.path.realpath(__file__), program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        atexit.register(self.end)       # tools/check counts the time of a process only if it was waited for

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def run(self, arguments, cwd, env):
        """Runs the program with these environment variables; returns (exit code, stdout, stderr)."""
        self.process.stdin.write(json.dumps((arguments, cwd, env)).encode() + b'\n')
        self.process.stdin.flush()
        return tuple(json.loads(self.process.stdout.readline()))


def run_forked(module, arguments, cwd, env=None):
    """Runs a loaded program; returns (exit code, stdout, stderr). The caller must have no other threads."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        for stream in (sys.stdout, sys.stderr):     # otherwise the child prints this buffered text a second time
            stream.flush()
        child = os.fork()
        if child == 0:
            os._exit(_call(module, arguments, cwd, env, out, err))
        code = os.waitpid(child, 0)[1]
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors='replace'))
    return (os.WEXITSTATUS(code) if os.WIFEXITED(code) else -os.WTERMSIG(code), *texts)


def _call(module, arguments, cwd, env, out, err):
    """Calls the program's main function in the child; returns the exit code."""
    os.chdir(cwd)
    if env is not None:
        os.environ.clear()
        os.environ.update(env)
        tempfile.tempdir = None     # TMPDIR may have changed
    for file, number in ((out, 1), (err, 2)):
        os.dup2(file.fileno(), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [module.__file__, *arguments]
    try:
        code = module.main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0


def main():
    module = load(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(run_forked(module, *json.loads(line))), flush=True)


if __name__ == '__main__':
    main()
