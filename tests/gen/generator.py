"""generator.py - runs the generator in forked processes: Python starts and loads it once."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import traceback

from tap import ROOT


def load():
    """Loads the generator; returns its module."""
    loader = importlib.machinery.SourceFileLoader('cfgen', os.path.join(ROOT, 'gen', 'cfgen'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('cfgen', loader))
    loader.exec_module(module)
    return module


def run_forked(module, arguments, cwd):
    """Runs the generator as a program; returns (exit code, stdout, stderr). No other thread may run."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os._exit(_call(module, arguments, cwd, out, err))
        code = os.waitpid(child, 0)[1]
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors='replace'))
    return (os.WEXITSTATUS(code) if os.WIFEXITED(code) else -os.WTERMSIG(code), *texts)


def _call(module, arguments, cwd, out, err):
    """Calls the generator's main function in the child; returns the exit code."""
    os.chdir(cwd)
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
