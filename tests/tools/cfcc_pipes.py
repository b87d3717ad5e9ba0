"""cfcc_pipes.py - tests that cfcc refuses a pipe in the place of a header, on which a compiler would wait for ever.
Part of test_cfcc.py."""

import os
import sys
from unittest import mock

from cfcc_case import KERNEL
from tap import ROOT, run

sys.path += [os.path.join(ROOT, folder) for folder in ('gen', 'tools/compile')]
from failure import Failure
from pipe_headers import refuse_pipes

IN_HEADER = '#if 1\n#include "in/one.h"\n#endif\n'
# Source text in which no compiler opens the pipe two.h.
LEFT_OUT = '''#if 0 // a note
#include <two.h>
#ifdef A
#else
#include <two.h>
#endif
#include <two.h>
#endif
/*
#include <two.h>
*/
// \\
#include <two.h>
#define TWO <two.h>
#error "#include <two.h>"
static const char text[] = R"x(
#include <two.h>
)x";
'''


class PipeTest:
    def __init__(self, test):
        self.test = test

    def run(self):
        test = self.test
        test.fresh()
        for name, text in (('next/two.h', '#include_next <two.h>\n'), ('include/in/macro.h', '#define TWO <two.h>\n'),
                           ('include/in/user.h', '#include TWO\n'), ('regular/two.h', ''),
                           ('include/in/one.h', '#  include <two.h> // found in the folder before\n')):
            test.write(name, text)
        os.mkfifo(os.path.join(test.folder, 'include/two.h'))
        self.commands()
        folder = os.getcwd()
        try:
            os.chdir(test.folder)
            self.texts()
            self.flags()
        finally:
            os.chdir(folder)

    def commands(self):
        """cfcc checks all files that it passes on before it runs a compiler."""
        for name, words in (('header', ['-Iinclude', 'pipe.cu']),
                            ('header_of_a_c_file', ['-Iinclude', 'heat.cu', 'pipe.c']),
                            ('flag', ['-Xcxx=-include', '-Xcxx=include/two.h', 'heat.cu']),
                            ('flag_of_nvcc', ['-Xnvcc=--pre-include=include/two.h', 'heat.cu']),
                            ('suggested_header', ['--suggest', '-Iinclude', 'pipe.cu'])):
            self.test.write('pipe.cu', IN_HEADER + KERNEL)
            self.test.write('pipe.c', IN_HEADER)
            words = words if '--suggest' in words else ['--cuda=no', *words]
            result = run(['timeout', '10', self.test.cfcc, *words], cwd=self.test.folder, env=self.test.env)
            self.test.expect(f'cfcc_pipe_as_{name}_is_refused', result == (
                1, '', 'cfcc: include/two.h: it is a pipe\n'), result)

    def refused(self, name, text, words=('-Iinclude',), path='include/two.h', **environment):
        self.test.write('pipe.cu', text)
        with mock.patch.dict(os.environ, environment):
            try:
                refuse_pipes(['pipe.cu'], list(words))
                got = ''
            except Failure as error:
                got = str(error)
        self.test.expect(f'cfcc_pipe_{name}', got == (f'{path}: it is a pipe' if path else ''),
                         got or 'it is accepted')

    def texts(self):
        for name, text, *more in (
                ('of_a_header', IN_HEADER),
                ('in_quotes', '#include "include/two.h"\n', ()),
                ('in_a_branch', '#ifdef A\n#else\n#include <two.h>\n#endif\n'),
                ('after_text_that_is_left_out', '#if 0\n#if 1\n#endif\n#endif\n#include <two.h>\n'),
                ('where_other_text_is_left_out', '#if 0\n#if 1\n#else\n#endif\n#else\n%: include <two.h>\n#endif\n'),
                ('in_another_else', '#if 0\n#elif 1\n#include <two.h>\n#endif\n'),
                ('of_a_condition_that_is_not_0', '#if A0\n#include <two.h>\n#endif\n'),
                ('between_comments_in_quotes', '#define A "/*"\n#include <two.h>\n#define C "*/"\n'),
                ('after_a_quote', '#define A \'"\' /* " */\n#include <two.h> // "\n'),
                ('after_two_slashes', '#include <..//include/two.h>\n', ['-Iinclude'], 'include/..//include/two.h'),
                ('on_two_lines', '#include \\\n<two.h>\n'),
                ('after_another_header', '#include <two.h>\n', ['-Inext', '-Iinclude']),
                ('of_a_macro', '#define TWO <two.h>\n#include TWO\n'),
                ('of_a_macro_of_a_header', '#include "in/macro.h"\n#include TWO\n'),
                ('of_a_macro_for_a_header', '#define TWO "../two.h"\n#include "in/user.h"\n', ['-Iinclude'],
                 'include/in/../two.h'),
                ('of_a_macro_after_its_user', '#include "in/user.h"\n#define TWO <two.h>\n'),
                ('of_a_macro_that_names_another',
                 '#define A B\n#define B A\n#include A\n#define B TWO\n#define TWO <two.h>\n'),
                ('in_the_folder_that_comes_first', '#include <two.h>\n', ['-isystem', 'regular', '-Iinclude']),
                ('of_a_macro_of_the_command', '#include TWO\n', ['-DTWO=<two.h>', '-Iinclude'])):
            self.refused(f'{name}_is_refused', text, *more)
        self.refused('that_is_not_opened_is_accepted', LEFT_OUT, path='')
        self.refused('in_a_folder_that_comes_second_is_accepted', '#include <two.h>\n',
                     ('-isystem', 'include', '-Iregular'), '')
        self.refused('after_an_open_comment_is_accepted', '/*' * 200000 + '\n#include <two.h>\n', path='')
        self.refused('of_another_folder_is_accepted', '#include <two.h>\n', (), path='')

    def flags(self):
        for option in ('-include', '-imacros', '--include', '--imacros', '--pre-include'):
            for words in ([option, 'include/two.h'], [f'{option}=include/two.h']):
                self.refused(f'after_{option.strip("-")}_in_{len(words)}_words_is_refused', '', words)
        for option in ('-include', '-imacros', '@'):
            self.refused(f'joined_to_{option.strip("-@") or "the_mark_of_a_file"}_is_refused', '',
                         [f'{option}include/two.h'])
        for option in ('-I', '-isystem', '-iquote', '-idirafter', '--include-path', '-include-path'):
            for words in ([option, 'include'], [f'{option}include']):
                self.refused(f'in_a_folder_of_{option.strip("-")}_in_{len(words)}_words_is_refused',
                             '#include <two.h>\n', words)
        for name in ('CPATH', 'C_INCLUDE_PATH', 'CPLUS_INCLUDE_PATH'):
            self.refused(f'in_a_folder_of_{name}_is_refused', '#include <two.h>\n', (), **{name: 'none:include'})
