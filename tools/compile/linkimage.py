"""linkimage.py - links the GPU code of kernel files to one image with machine code for some targets.

The build of the library runs this file: linkimage.py NVCC SM,... OUTPUT.fatbin INPUT.fatbin..."""

import os
import shutil
import subprocess
import sys

from failure import Failure
from toolkit import Toolkit

JITLINK = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'jitlink.py')


def link_command(toolkit, options, output, inputs):
    """Returns the command that links code to a cubin for the target that `options` name."""
    return [sys.executable, JITLINK, toolkit.nvjitlink, output, *options, '--', *inputs]


def pack_command(toolkit, output, cubins):
    """Returns the command that makes a fatbin; `cubins` maps targets to cubins."""
    flags = [f'-{flag}' for flag in toolkit.flags if flag.startswith('-compress-mode')]
    return [toolkit.fatbinary, '-64', *flags, f'--create={output}', '-link',
            *(f'--image3=kind=elf,sm={sm},file={path}' for sm, path in cubins.items())]


def main():
    nvcc, targets, output, *inputs = sys.argv[1:]
    if not targets:
        sys.exit(f'{output}: code of several files is linked to machine code, and no target has any; configure with '
                 '--targets=90 or the like')
    try:
        toolkit = Toolkit(shutil.which(nvcc), ','.join(f'{sm}-real' for sm in targets.split(',')),
                          ['-compress-mode=size'])
    except Failure as failure:
        sys.exit(str(failure))
    cubins = {sm: f'{output}.{sm}.cubin' for sm in toolkit.targets.sm}
    commands = [link_command(toolkit, [f'-arch=sm_{sm}', '-lto'], path, inputs) for sm, path in cubins.items()]
    try:
        for command in (*commands, pack_command(toolkit, output, cubins)):
            code = subprocess.run(command, check=False).returncode
            if code != 0:
                sys.exit(code)
    finally:
        for path in filter(os.path.exists, cubins.values()):
            os.remove(path)


if __name__ == '__main__':
    main()
