"""test_readme.py - runs README.md and kernels/TUTORIAL.md as a newcomer does: every block, in order, in a clean folder.

usage: test_readme.py BUILD_FOLDER

Indented blocks and blocks marked `sh` are commands. They run one after the other in one folder, with a home folder of
their own; the results of ./configure and ninja are taken from BUILD_FOLDER. tools/dev/setup, tools/demo and
tools/check do not run; blocks with `# long` run only if CHECK_LONG is set. If the line before a block ends with a file
name, as in `app.c`:, the block is written to that file. All other blocks of C, C++, CUDA, CMake, Python and Fortran are
compiled or run; `...` in them stands for omitted code. A block of text below commands is the output of these commands.
"""

import os
import re
import shutil
import stat
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import NEEDS_LONG, NEEDS_NO_SANITIZER, ROOT, Tap, ended, read, run

SHELL = ('sh', 'bash', 'shell')
PLAIN = ('text', 'json', 'console')  # these blocks are only read
SET_UP = r'tools/(dev/setup|demo|check)\b'  # these commands have tests of their own
OPTIONAL = ('cmake', 'gfortran')

# Declarations of the names that fragments of C may use.
PRELUDE = """#include <cuferry.h>
#include <cuferry/kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int status;
static int64_t N, M, n;
static size_t bytes;
static cf_stream stream;
"""

# Stand-ins for the checkout's configure and ninja: the build folder is already configured and built.
CONFIGURE = """#!/bin/sh
for word; do
    case $word in --prefix="$HOME"/*) mkdir -p build && echo "${word#*=}" >build/prefix && exit ;; esac
done
echo 'configure: the prefix is not below HOME' >&2
exit 1
"""
NINJA = """#!/bin/sh
if [ "${1-}" = -C ] && [ -e "${2-}/prefix" ]; then
    [ "${3-}" != install ] || sh "$ROOT/tools/dev/install" "$ROOT" "$BUILT" "$(cat "$2/prefix")"
else
    exec "$NINJA" "$@"
fi
"""


class Block:
    def __init__(self, line, language, name, lines):
        self.line, self.language, self.name = line, language, name
        self.text = '\n'.join(lines) + '\n'


def blocks_of(text):
    """Returns all code blocks, each with the file name that ends the line before it."""
    lines, found, said, i = text.splitlines(), [], '', 0
    while i < len(lines):
        fence, end = re.match(r'```(\S*)$', lines[i]), i + 1
        if fence:
            while lines[end] != '```':
                end += 1
            name = re.search(r'`([\w.-]+\.\w+)`:$', said)
            found.append(Block(i + 1, fence[1], name[1] if name else None, lines[i + 1:end]))
            said, i = '', end + 1
        elif re.match(r'    \S', lines[i]) and not lines[i - 1] and not re.match(r'\s|[-*] |\d+\. ', said):
            while end < len(lines) and (not lines[end] or lines[end].startswith('    ')):
                end += 1
            found.append(Block(i + 1, 'sh', None, [line[4:] for line in lines[i:end]]))
            said, i = '', end
        else:
            said, i = lines[i] or said, end
    return found


class ReadmeTest:
    def __init__(self, tap, builddir, folder):
        self.tap, self.folder, self.printed = tap, os.path.join(folder, 'work'), ''
        self.state = os.path.join(folder, 'state')
        home, programs = (os.path.join(folder, name) for name in ('home', 'programs'))
        for path in (self.folder, home, programs):
            os.mkdir(path)
        for path, text in ((os.path.join(self.folder, 'configure'), CONFIGURE),
                           (os.path.join(programs, 'ninja'), NINJA)):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            os.chmod(path, stat.S_IRWXU)
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(('CF_', 'XDG_', 'PKG_CONFIG', 'CMAKE_'))}
        self.env.update(HOME=home, PATH=programs + os.pathsep + os.environ['PATH'], CF_DRIVER='host', ROOT=ROOT,
                        BUILT=os.path.abspath(builddir), NINJA=shutil.which('ninja') or 'ninja')

    def shell(self, commands):
        """Runs commands in the folder, and with the variables, that earlier commands left; returns the errors."""
        before = f'. "{self.state}"\n' if os.path.exists(self.state) else ''
        after = f'{{ export -p; echo "cd \'$(pwd)\'"; }} >"{self.state}.new"\n'
        code, out, err = run(['sh', '-e', '-c', before + commands + after], cwd=self.folder, env=self.env)
        self.printed = out
        if code == 0:
            os.rename(f'{self.state}.new', self.state)
        return f'{commands}{ended(code)}\n{out}{err}' if code else ''

    def write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)

    # ---- Kinds of blocks; each function returns the errors

    def c(self, name, text):
        """Compiles a block that is a whole program, some functions, or statements of a function."""
        whole = re.sub(r'\.\.\.', '', text)
        includes = ''.join(re.findall(r'^#.*\n', whole, re.MULTILINE))
        rest = re.sub(r'^#.*\n', '', whole, flags=re.MULTILINE)
        wrapped = f'{PRELUDE}{includes}int fragment(void);\nint fragment(void)\n{{\n{rest}    return 0;\n}}\n'
        problems = []
        for text in [whole] if re.search(r'\bmain\(', whole) else [wrapped, PRELUDE + whole]:
            self.write(name, text)
            compiler = 'c++' if name.endswith('cpp') else ('cc -std=gnu11 -Werror=implicit '
                                                           '-Werror=incompatible-pointer-types')
            problems.append(self.shell(f'{compiler} -fsyntax-only {name} $(pkg-config --cflags cuferry)\n'))
            if not problems[-1]:
                return ''
        return problems[0]

    def cu(self, name, text):
        self.write(name, text)
        return self.shell(f'cfcc {name}\n')

    def py(self, name, text):
        self.write(name, text)
        return self.shell(f'{sys.executable} {name}\n')

    def f90(self, name, text):
        self.write(name, text if re.search(r'^ *program\b', text, re.MULTILINE)
                   else f'program fragment\n{text}end program\n')
        return self.shell(f'gfortran -fsyntax-only {name}\n')

    def cmake(self, name, text):
        """Builds a project; its program `main` is built from main.c."""
        begin = 'cmake_minimum_required(VERSION 3.20)\nproject(fragment C CXX)\nadd_executable(main main.c)\n'
        self.write('CMakeLists.txt', text if 'project(' in text else begin + text)
        return self.shell(f'cmake -S . -B {name} && cmake --build {name} && {name}/main\n')

    # ---- All blocks

    def commands(self, block):
        name = f'commands_of_line_{block.line}'
        commands = re.sub(rf'(?m)^{SET_UP}.*\n', '', block.text)
        missing = [tool for tool in OPTIONAL if re.search(rf'(?m)^{tool}\b', commands) and not shutil.which(tool)]
        if '# long' in commands and not os.environ.get('CHECK_LONG'):
            self.tap.skip(name, NEEDS_LONG)
        elif missing:
            self.tap.skip(name, f'needs {missing[0]}')
        elif commands.strip():
            self.tap.check(name, self.shell(commands))
        return bool(commands.strip())

    def fragment(self, block):
        kinds = {'c': 'c', 'c++': 'cpp', 'cpp': 'cpp', 'cuda': 'cu', 'python': 'py', 'fortran': 'f90', 'cmake': 'cmake'}
        kind, name = kinds.get(block.language), f'{block.language}_of_line_{block.line}'
        tool = {'f90': 'gfortran', 'cmake': 'cmake'}.get(kind)
        if not kind:
            self.tap.check(name, f'there is no test of a block of "{block.language}"; {", ".join(PLAIN)} are for '
                                 'people alone')
        elif tool and not shutil.which(tool):
            self.tap.skip(name, f'needs {tool}')
        else:
            check = self.c if kind == 'cpp' else getattr(self, kind)
            self.tap.check(name, check(f'fragment_{block.line}.{kind}', block.text))

    def enter(self, name):
        self.folder = os.path.join(os.path.dirname(self.folder), name)
        os.makedirs(self.folder, exist_ok=True)
        self.shell(f'cd "{self.folder}"\n')

    def output(self, block):
        printed, told = ([line.strip() for line in text.splitlines()] for text in (self.printed, block.text))
        self.tap.check(f'output_of_line_{block.line}', '' if printed == told else self.printed)

    def run(self, text):
        counts = dict.fromkeys(('commands', 'files'), 0)
        for block in blocks_of(text):
            if block.name:
                self.write(block.name, block.text)
                counts['files'] += 1
            elif block.language in SHELL:
                self.printed = ''
                counts['commands'] += self.commands(block)
                continue
            elif block.language not in PLAIN:
                self.fragment(block)
            elif self.printed:
                self.output(block)
            self.printed = ''
        self.tap.check('document_has_commands_and_files', '' if min(counts.values()) >= 2 else counts)


def demo(tap, builddir, text):
    """The README contains every command that cf-demo suggests; cf-demo prints them after its verdict."""
    code, out, err = run([os.path.join(builddir, 'cf-demo')], env=dict(os.environ, CF_DRIVER='host'))
    lines = out.splitlines()
    named = [line.split('  ')[1] for line in lines if line.startswith('  ')]
    missing = [command for command in named if command not in text]
    # The output ends with the verdict, an empty line, a heading, and the suggestions.
    is_verdict_first = lines[-len(named) - 3:][:1] == ['1048576 of 1048576 match']
    good = code == 0 and len(named) > 2 and not missing and is_verdict_first
    tap.check('demo_says_what_to_try_next', '' if good else f'{ended(code)}, {missing}\n{out}{err}')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tap, builddir = Tap(), sys.argv[1]
    texts = [read(os.path.join(ROOT, name)) for name in ('README.md', 'kernels/TUTORIAL.md')]
    with open(os.path.join(builddir, 'build.ninja'), encoding='utf-8') as file:
        sanitized = '-fsanitize' in file.read()
    if sanitized:
        tap.skip('readme', NEEDS_NO_SANITIZER)
        return tap.close()
    with tempfile.TemporaryDirectory() as folder:
        test = ReadmeTest(tap, builddir, folder)
        for text in texts:      # the tutorial uses the README's installation
            test.run(text)
            test.enter('tutorial')
    demo(tap, builddir, texts[0])
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
