"""cuferry - commands of the wheel, which contains an installed tree of Cuferry: runs its programs, and
cuferry-config."""

import argparse
import os
import shlex
import string
import sys

PREFIX = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'prefix')


def read_fields():
    """Returns the fields of the pkg-config file."""
    fields = {}
    with open(os.path.join(PREFIX, 'lib', 'pkgconfig', 'cuferry.pc'), encoding='utf-8') as file:
        for line in file:
            name, _, text = line.partition(':')
            fields[name] = text.split()
    return fields


def config():
    parser = argparse.ArgumentParser(prog='cuferry-config', allow_abbrev=False,
                                     description='Prints what compilers need for programs with Cuferry.')
    parser.add_argument('--cflags', action='store_true', help='flags for the compiler')
    parser.add_argument('--libs', action='store_true', help='flags for the linker')
    parser.add_argument('--prefix', action='store_true', help='the folder of include, lib and share')
    parser.add_argument('--version', action='store_true', help='the version')
    options = parser.parse_args()
    fields = read_fields()
    folders = {'includedir': os.path.join(PREFIX, 'include'), 'libdir': os.path.join(PREFIX, 'lib')}
    flags = [string.Template(word).substitute(folders)
             for word in fields['Cflags'] * options.cflags + fields['Libs'] * options.libs]
    lines = [PREFIX] * options.prefix + fields['Version'] * options.version
    if flags:
        lines.append(' '.join(map(shlex.quote, flags)))
    if not lines:
        parser.error('give one of --cflags, --libs, --prefix and --version')
    print('\n'.join(lines))


def run():
    """Executes the installed program that has the command's name, in place of this process."""
    name = os.path.basename(sys.argv[0])
    path = os.path.join(PREFIX, 'bin', name)
    command = [sys.executable, path] if name in ('cf-plot', 'cfcc') else [path]
    os.execv(command[0], command + sys.argv[1:])
