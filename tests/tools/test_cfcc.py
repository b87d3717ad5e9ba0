"""test_cfcc.py - tests the compiler driver of a build folder: the files that it writes, refuses and leaves behind.

usage: test_cfcc.py BUILDDIR
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from cfcc_cache import CacheTest
from cfcc_case import KERNEL, defined, listed
from cfcc_flags import FlagTest
from cfcc_gpu import GpuTest
from cfcc_pipes import PipeTest
from cfcc_programs import ProgramTest
from cfcc_record import RecordTest
from manual import manual_problem
from tap import NEEDS_CLANG, NEEDS_NO_SANITIZER, ROOT, Tap, run

LOCKSTEP = '''#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void fold(float *x)
{
    __shared__ volatile float s[64];
    const int i = threadIdx.x;
    s[i] = x[i];
    s[i] += s[i + 16];
    s[i] += s[i + 8];
    x[i] = s[i];
}
'''

VIEW = '''struct view {
    int n;
    const float *data;
    int made[2];
};
#pragma cf kernel grid(v.n) out(y[v.n])
__global__ void take(view v, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.n)
        y[i] = v.data[i];
}
'''


class CommandTest(ProgramTest, GpuTest):
    # ---- Outputs

    def outputs(self):
        self.fresh()
        self.check('cfcc_kernel_file_gives_object_and_header', self.compile('heat.cu'), 'heat.h', 'heat.o')
        names = defined(os.path.join(self.folder, 'heat.o'), '-g')
        self.expect('cfcc_object_shows_its_functions_and_registry_alone',
                       names == {'heat_twice', 'heat_twice_async', 'heat_twice_update', 'heat_registry'}, names)
        with open(os.path.join(self.folder, 'heat.o'), 'rb') as file:
            first = file.read()
        header = os.path.join(self.folder, 'heat.h')
        os.utime(header, (1, 1))
        os.utime(os.path.join(self.folder, 'heat.o'), (1, 1))
        self.compile('heat.cu')
        times = [os.path.getmtime(os.path.join(self.folder, name)) for name in ('heat.h', 'heat.o')]
        self.expect('cfcc_unchanged_header_keeps_its_time', times[0] == 1 and times[1] > 1, times)
        self.write('heat.cu', KERNEL.replace('int64_t n', 'int32_t n'))
        self.compile('heat.cu')
        self.expect('cfcc_changed_kernel_changes_the_header', 'int32_t n' in self.read('heat.h'), self.read('heat.h'))

        self.fresh(first=KERNEL, second=KERNEL.replace('twice', 'again'))
        os.mkdir(os.path.join(self.folder, 'out'))
        result = self.compile('first.cu', '--prefix', 'x', '-o', 'out/all.o', 'second.cu', '--header',
                              'out/calls.h', '-MF', 'out/deps')
        self.check('cfcc_options_name_the_outputs', result, 'out/all.o', 'out/calls.h', 'out/deps')
        names = defined(os.path.join(self.folder, 'out', 'all.o'), '-g')
        self.expect('cfcc_files_of_one_run_are_one_library', {'x_twice', 'x_again', 'x_registry'} < names, names)

        if self.is_sanitized:
            self.tap.skip('cfcc_same_input_gives_the_same_bytes', NEEDS_NO_SANITIZER)
            return
        self.fresh()
        result = self.compile('heat.cu', '-o', 'other.o', '--header', 'heat.h', '--prefix', 'heat')
        with open(os.path.join(self.folder, 'other.o'), 'rb') as file:
            self.expect('cfcc_same_input_gives_the_same_bytes', first == file.read(), result)
        self.expect('cfcc_object_names_no_temporary_folder',
                       self.temporary.encode() not in first, 'the path of the temporary folder is in the object')

    def depfile(self):
        self.fresh()
        self.write('sub dir/in ner.h', '#define FACTOR 2\n')
        self.write('sub dir/outer.h', '#include "in ner.h"\n')
        text = KERNEL.replace('2 *', 'FACTOR * FAR * SET *')
        self.write('sub dir/heat.cu', '#include "outer.h"\n#include <far.h>\n' + text)
        self.write('far/far.h', '#define FAR 1\n')
        result = self.compile('-MD', '-I', 'far', '-DSET=(1 + 0)', 'sub dir/heat.cu')
        self.expect('cfcc_takes_headers_and_macros_as_the_source_sees_them', result == (0, '', ''), result)
        text = self.read('heat.d') if not result[0] else ''
        wanted = ['heat.o:', '  sub\\ dir/heat.cu', '  sub\\ dir/outer.h', '  sub\\ dir/in\\ ner.h', '  far/far.h']
        lost = [w for w in wanted if f'\n{w} \\' not in '\n' + text]
        self.tap.check('cfcc_md_names_every_file', f'{lost}\n{text}' if lost or self.temporary in text else '')

    def odd_paths(self):
        """Tests kernel files in folders whose names have a meaning in C, in a shell or in make, or cannot be written in
        #include."""
        # The header uses shared memory, so that its text is copied into the CPU's version of the source.
        header = ('static __device__ int two()\n{\n    __shared__ int t[2];\n    t[1] = 2;\n    __syncthreads();\n'
                  '    return t[1];\n}\n#include "in/deep.h"\n')
        text = '#include "two.h"\n' + KERNEL.replace('2 * x', 'two() * x')
        compilers = [[]]
        if shutil.which('clang++') and os.environ.get('CHECK_LONG'):
            compilers.append(['--cc', 'clang', '--cxx', 'clang++'])
        # Four folders, one of them inside another. No path has /* before */, which together would be a comment.
        paths = ("#h/d*/a'b/p%d/z\u00f6", 'a:b/*d/p$HOME/n\u00a0b', '`h`/t??/s p/c,d', 'b\\c')
        for words in compilers:
            for path in paths:
                self.fresh(unused='')
                for name, content in (('two.h', header), ('in/deep.h', '#define DEEP\n'), ('heat.cu', text)):
                    self.write(f'{path}/{name}', content)
                result = self.compile(*words, '--shared', '--manifest', 'heat.json', '-MD', f'{path}/heat.cu')
                self.tap.check(f'cfcc_sources_in_a_folder_called_{ascii(path)[1:-1].replace("#", "")}_compile'
                               f'{"_with_clang" if words else ""}', self.odd_path_problem(path, result, bool(words)))
        for name in ('q"r', 'n\nl', os.fsdecode(b'\xff')):
            self.fresh(unused='')
            os.mkdir(os.path.join(self.folder, name))
            self.write(f'{name}/heat.cu', KERNEL)
            self.refused(f'cfcc_source_in_a_folder_called_{ascii(name)[1:-1].replace(chr(92), "")}_is_refused',
                         self.compile(f'{name}/heat.cu'), 1,
                         'no #include can name a path with a quotation mark, a line end, or bytes that are no UTF-8')

    def odd_path_problem(self, path, result, is_clang):
        """Returns the output of a compilation that does not name the kernel file as the user did; '' if there is
        none."""
        if result != (0, '', ''):
            return str(result)
        file = json.loads(self.read('heat.json'))['kernels'][0]['file']
        escaped = re.sub('([ #:])', r'\\\1', path).replace('$', '$$')
        # clang writes a backslash as / in dependency files.
        is_in_depfile = f'\n  {escaped}/in/deep.h \\\n' in self.read('heat.d') or is_clang and '\\' in path
        described = run([self.cf_run, '--module', './heat.so', '--describe', 'twice'], cwd=self.folder, env=self.env)
        is_described = described[0] == 0 and f'  source    {path}/heat.cu:' in described[1]
        is_good = file == f'{path}/heat.cu' and is_in_depfile and is_described
        return '' if is_good else f'{file}\n{self.read("heat.d")}\n{described}'

    def pass_on(self):
        self.fresh()
        self.write('cxx.sh', f'echo "$@" >>"{self.folder}/log"\nexec {self.config["cxx"]} "$@"\n')
        code, out, err = self.compile('-O0', '-g', '--cxx', 'sh cxx.sh', 'heat.cu')
        body = [line for line in (self.read('log') if not code else '').splitlines() if 'host.cpp' in line]
        good = body and re.search(r'-O2.* -O0 -g ', body[0])
        self.expect('cfcc_passes_on_o_and_g', good, f'{out}{err}{body}')
        code, out, err = self.compile('heat.cu', CC='/nowhere/cc', CXX='/nowhere/c++')
        self.tap.check('cfcc_environment_does_not_choose_compilers', f'exit {code}: {out}{err}' if code else '')
        if shutil.which('clang') and shutil.which('clang++'):
            self.fresh()
            result = self.compile('--cc', 'clang', '--cxx', 'clang++', 'heat.cu')
            self.check('cfcc_works_with_clang', result, 'heat.h', 'heat.o')
        else:
            self.tap.skip('cfcc_works_with_clang', NEEDS_CLANG)

    def inputs(self):
        """cfcc reports to a cache which files a build read, which files it would read instead if they existed, and why
        the result cannot be cached."""
        self.fresh(heat='#include <far.h>\n#include <own.h>\n#include <gone.h>\n' + KERNEL)
        self.write('two/far.h', '#include "near.h"\n')
        self.write('two/near.h', '#define TIME __TIME\n#define JOIN(a) a##__\n')
        self.write('three/own.h', '')
        self.write('one/other.h', '')
        os.symlink('three', os.path.join(self.folder, 'link'))

        def told(*words, **environment):
            result = self.compile('--shared', '--kernels', '--inputs', 'inputs', '-I', 'one', '-I', 'two', '-o', 'k.so',
                                  'heat.cu', *words, **{'CPATH': os.path.join(self.folder, 'link'), **environment})
            assert result[0] == 0, result
            return [text.replace(f'{self.folder}/', '') for text in self.read('inputs').split('\0')]

        why, *lines = told('-DFAR="a"')
        self.expect('cfcc_inputs_of_macros_that_may_make_the_time_are_unknown', 'has a date' in why, why)
        self.write('two/near.h', '')
        why, *lines = told()
        cxx = shutil.which(shlex.split(self.config['cxx'])[0])
        wanted = {'+heat.cu', '+two/far.h', '+two/near.h', '+link/own.h', '-one/far.h', '-one/own.h', '-two/own.h',
                  '-one/gone.h', '-link/gone.h', f'+{cxx}'}
        ends = {'/gen/cfgen', '/gen/annotation/clauses.py', '/tools/compile/inputs.py', '/include/cuferry/registry.h',
                '/cfcc.json'}
        lost = wanted.difference(lines) | {end for end in ends if not any(line.endswith(end) for line in lines)}
        self.expect('cfcc_inputs_have_headers_compilers_and_the_generator', not why and not lost, f'{why}{lost}')
        self.write('three/own.h', '#define WHEN __DATE__\n')
        for name in ('CPATH', 'CPLUS_INCLUDE_PATH'):
            why = told(**{'CPATH': '', name: os.path.join(self.folder, 'link')})[0]
            self.expect(f'cfcc_inputs_of_{name}_are_no_headers_of_the_compiler', 'has a date' in why, why)
        self.write('three/own.h', '')
        self.write('flags', '-DOF_A_FILE')
        for name, words, variables, wanted in (
                ('time', ['-DTIME=__TIME__'], {}, 'has a date'),
                ('question', ['-DASK=__has_include(<x.h>)'], {}, 'asks'),
                ('file_of_flags', ['-Xcxx=@flags'], {}, 'the flag @flags'),
                ('flags_of_the_preprocessor', ['-Xcxx=-Wp,-Ione'], {}, 'the flag -Wp,-Ione'),
                ('included_file', ['-Xcxx=-include', '-Xcxx=one/other.h'], {}, 'the flag -include'),
                ('this_machine', ['-Xcxx=-march=native'], {}, 'the flag -march=native'),
                ('file_for_nvcc', [], {'NVCC_APPEND_FLAGS': '-optf flags'}, 'the flag -optf')):
            why = told(*words, **variables)[0]
            self.expect(f'cfcc_inputs_with_{name}_are_unknown', wanted in why, why)
        with open(os.path.join(ROOT, 'lib/program/cfcc.c'), encoding='utf-8') as file:
            of_lib = re.search(r'variables\[\] = \{([^}]*)\}', file.read()).group(1)
        with open(os.path.join(ROOT, 'tools/compile/inputs.py'), encoding='utf-8') as file:
            of_cfcc = re.search(r'ENVIRONMENT = \(([^)]*)\)', file.read()).group(1)
        self.expect('cfcc_and_the_library_know_the_same_variables',
                    re.findall(r'\w+', of_lib) == re.findall(r'\w+', of_cfcc), f'{of_lib} {of_cfcc}')

    def help(self):
        """--help agrees with the manual, and does not list the options that only cf-run and the library use."""
        code, out, err = self.compile('--help', cuda=None)
        internal = re.findall(r'--(?:check|again|bundled|private|kernels|inputs)\b', out)
        problem = manual_problem('cfcc', out)
        self.expect('cfcc_help_has_what_the_manual_has', code == 0 and not internal and not problem,
                    f'{internal}{problem}{err}')

    # ---- Refused arguments and files

    def errors(self):
        self.fresh(heat=KERNEL, **{'my kernel': KERNEL})
        self.write('sub/heat.cu', KERNEL)
        for name, arguments, code, expected in (
                ('no_file', [], 2, 'no kernel file is named'),
                ('unknown_option', ['--frobnicate', 'heat.cu'], 2, '--frobnicate'),
                ('other_kind_of_file', ['heat.txt'], 2, 'heat.txt is no kernel file'),
                ('missing_object', ['heat.cu', 'heat.o'], 1, 'heat.o: no such file'),
                ('kernels_without_shared', ['--kernels', 'heat.cu'], 2, '--kernels goes with --shared alone'),
                ('missing_file', ['nothing.cu'], 1, 'nothing.cu: no such file'),
                ('prefix_that_is_no_name', ['--prefix', '2d', 'heat.cu'], 2, "the prefix '2d'"),
                ('output_that_gives_no_prefix', ['-o', 'my-heat.o', 'heat.cu'], 2, "the prefix 'my-heat'"),
                ('prefix_of_the_library', ['--prefix', 'cf', 'heat.cu'], 2, "the prefix 'cf'"),
                ('name_with_a_blank', ['my kernel.cu', '--prefix', 'x'], 1, 'my kernel.cu: a kernel file'),
                ('two_files_of_one_name', ['heat.cu', 'sub/heat.cu'], 1, 'sub/heat.cu: heat.cu has the same name'),
                ('output_in_no_folder', ['-o', 'none/heat.o', 'heat.cu'], 1, 'none/heat.o: there is no folder none'),
                ('output_that_is_a_folder', ['-o', 'sub', 'heat.cu'], 1, 'cannot write sub: it is a folder'),
                ('object_named_as_a_source', ['-o', 'ops.c', 'heat.cu'], 1, 'an object does not end with .c'),
                ('object_named_as_a_shared_one', ['-o', 'heat.so', 'heat.cu'], 1, 'an object does not end with .so'),
                ('shared_object_named_as_an_object', ['--shared', '-o', 'heat.o', 'heat.cu'], 1, 'not end with .o'),
                ('output_that_is_an_input', ['-o', 'heat.cu', 'heat.cu'], 1, 'cannot write heat.cu: it is an input'),
                ('one_file_for_two_outputs', ['-o', 'heat.o', '--header', './heat.o', 'heat.cu'], 1, 'different files'),
                ('compiler_that_is_not_there', ['--cxx', '/nowhere/c++', 'heat.cu'], 1, 'cannot run /nowhere/c++: '),
                ('target_that_is_none', ['--targets', 'foo', 'heat.cu'], 2,
                 "--targets: 'foo' is no target; they are major, all, native, or compute capabilities such as "
                 "80,90a,100f"),
                ('target_among_others', ['--targets=80,sm_9', 'heat.cu'], 2, "--targets: 'sm_9' is no target"),
                ('target_with_another_letter', ['--targets=90b', 'heat.cu'], 2, "--targets: '90b' is no target"),
                ('target_with_another_ending', ['--targets=90-ptx', 'heat.cu'], 2, "--targets: '90-ptx' is no target"),
                ('target_of_two_kinds', ['--targets=compute_90-real', 'heat.cu'], 2, "'compute_90-real' is no target"),
                ('target_without_a_name', ['--targets=', 'heat.cu'], 2, "--targets: '' is no target"),
                ('flag_without_a_value', ['-Xcxx=', 'heat.cu'], 2, '-Xcxx has no value'),
                ('flag_of_nvcc_without_a_value', ['-Xnvcc=', 'heat.cu'], 2, '-Xnvcc has no value'),
                ('folder_without_a_name', ['-I', '', 'heat.cu'], 2, '-I has no value'),
                ('macro_without_a_name', ['-D', '', 'heat.cu'], 2, '-D has no value'),
                ('compiler_of_half_a_word', ['--cxx', "g++ '", 'heat.cu'], 2, "--cxx: 'g++ '' is no command"),
                ('compiler_without_a_name', ['--cc', '', 'heat.cu'], 2, "--cc: '' is no command"),
                ('no_compiler_at_once', ['-j', '0', 'heat.cu'], 2, '-j 0')):
            status, out, err = self.compile(*arguments)
            out += '' if err.startswith('cfcc: ') and err.count('\n') == 1 else 'this is not one line of its own:'
            self.refused(f'cfcc_{name}_is_refused_in_one_line', (status, out, err), code, expected)
        self.refused('cfcc_toolkit_that_is_not_there_is_refused', self.compile('heat.cu', cuda='--cuda=/nowhere'), 1,
                     'cfcc: --cuda=/nowhere: there is no bin/nvcc\n')
        os.mkfifo(os.path.join(self.folder, 'pipe'))
        for option in ('-o', '--header', '--manifest', '-MF'):
            result = self.compile('heat.cu', '--prefix', 'heat', option, 'pipe')
            self.expect(f'cfcc_pipe_of_{option.strip("-")}_is_refused',
                        result == (1, '', 'cfcc: cannot write pipe: it is a pipe\n') and
                        stat.S_ISFIFO(os.stat(os.path.join(self.folder, 'pipe')).st_mode), result)
        PipeTest(self).run()
        self.odd_files()
        self.fresh()
        self.write('heat.h', '/* a header of the user\'s */\n')
        code, _, err = self.compile('heat.cu')
        kept = self.read('heat.h').startswith('/* a header') and not os.path.exists(os.path.join(self.folder, 'heat.o'))
        self.expect('cfcc_header_of_another_maker_is_kept', kept and code == 1 and 'cfcc: heat.h is there' in err, err)

    def odd_files(self):
        """A folder, pipe, socket or device in the place of a file is refused, and the message names its kind."""
        self.fresh(heat=KERNEL)
        kinds = {'pipe': os.mkfifo, 'folder': os.makedirs, 'device': lambda path: os.symlink('/dev/null', path),
                 'socket': lambda path: socket.socket(socket.AF_UNIX).bind(path)}
        for kind, make in kinds.items():
            for path in ('odd.cu', 'odd.o', 'odd.c', 'odd.ptx', 'odd'):
                make(os.path.join(self.folder, path))
            for words, path in ((['odd.cu'], 'odd.cu'), (['heat.cu', 'odd.o'], 'odd.o'),
                                (['heat.cu', 'odd.c'], 'odd.c'), (['heat.cu', 'odd.ptx'], 'odd.ptx'),
                                (['--suggest', 'odd.cu'], 'odd.cu'), (['--adopt', 'numba', 'odd.ptx'], 'odd.ptx'),
                                (['heat.cu', '--tuning', 'odd'], 'odd'), (['heat.cu', '--numba', 'odd'], '--numba odd'),
                                (['--adopt', 'triton', 'odd'], 'odd')):
                if kind == 'folder' and words[-1] == 'odd' and '--tuning' not in words:
                    continue
                code, out, err = self.compile(*words, cuda=None)
                self.expect(f'cfcc_{kind}_for_{"_".join(words).replace("-", "")}_is_named',
                            (code, out) == (1, '') and err.startswith(f'cfcc: {path}: it is a {kind}'),
                            (code, out, err))
            for path in ('odd.cu', 'odd.o', 'odd.c', 'odd.ptx', 'odd'):
                path = os.path.join(self.folder, path)
                (os.rmdir if kind == 'folder' else os.unlink)(path)

    def bad_kernels(self):
        wrong = KERNEL.replace('2 * x', '2 * q')
        self.fresh(heat=wrong)
        absolute = os.path.join(self.folder, 'heat.cu')
        result = self.compile(absolute)
        self.refused('cfcc_compiler_message_names_the_source_as_given', result, 1, f'{absolute}:8:20: error: ')
        self.fresh()
        self.write('sub dir/heat.cu', wrong)
        result = self.compile('sub dir/heat.cu')
        self.refused('cfcc_message_has_a_folder_with_a_blank', result, 1, 'sub dir/heat.cu:8:20: error: ')
        self.fresh(heat=KERNEL.replace('x[n]', 'x[m]', 1))
        result = self.compile('heat.cu')
        self.refused('cfcc_generator_message_names_the_source', result, 1, "heat.cu:3:32: error: 'm' is no parameter")
        missing = ('none.h', '../common/book.h', 'sub/../other.h')
        self.fresh(heat=''.join(f'#include "{name}"\n' for name in missing) + KERNEL)
        code, out, err = self.compile('heat.cu', LC_ALL='de_DE.UTF-8', LANGUAGE='de')
        self.expect('cfcc_missing_headers_count_as_empty', (code, out, err.count('note: ')) == (0, '', 3) and all(
            f'heat.cu:{line}:10: note: {name} was not found and counts as empty on the CPU; nvcc still needs it' in err
            for line, name in enumerate(missing, 1)), (code, out, err))
        self.expect('cfcc_names_its_option_for_missing_headers', err.count(': name its folder with -I\n') == 3, err)
        err = self.compile('--shared', '--kernels', '-o', 'k.so', 'heat.cu')[2]
        self.expect('cfcc_names_the_field_of_the_library_for_missing_headers',
                    err.count(': name its folder in include_folders\n') == 3 and '-I\n' not in err, err)
        if code:
            self.fresh()
            self.compile('heat.cu')
        before = listed(self.folder), self.read('heat.h'), os.path.getmtime(os.path.join(self.folder, 'heat.o'))
        self.write('heat.cu', wrong.replace('twice', 'other'))
        code, _, err = self.compile('heat.cu')
        self.expect('cfcc_compiler_message_names_the_source', 'heat.cu:8:20: error: ' in err and '2 * q[i]' in err, err)
        after = listed(self.folder), self.read('heat.h'), os.path.getmtime(os.path.join(self.folder, 'heat.o'))
        self.expect('cfcc_failed_run_keeps_what_was_there', code == 1 and before == after, f'{before} {after}')

    # ---- Several files at once, and interrupts

    def warnings(self):
        """A warning of the generator names the source as the user did, and the outputs are still written."""
        self.fresh()
        self.write('sub/heat.cu', KERNEL.replace('in(x[n]) ', ''))
        result = self.compile('./sub/heat.cu')
        place = f'./sub/heat.cu:4:{KERNEL.splitlines()[3].index("x,") + 1}'
        wanted = (f'{place}: warning: x has no in, out or inout, so callers must pass device memory; write resident(x) '
                  'if '
                  'that is meant\n')
        good = result[:2] == (0, '') and result[2].startswith(wanted) and result[2].count('\n') == 3
        self.expect('cfcc_warns_of_a_pointer_that_no_clause_names', good and 'heat.o' in listed(self.folder), result)
        self.write('sub/heat.cu', KERNEL.replace('in(x[n]) ', 'resident(x) '))
        result = self.compile('sub/heat.cu')
        self.expect('cfcc_resident_pointer_is_meant', result == (0, '', ''), result)
        self.write('heat.cu', LOCKSTEP)
        for name, options, expected in (('warns_of_lockstep', [], True),
                                        ('warns_of_lockstep_as_told', ['-Wno-lockstep', '-Wlockstep'], True),
                                        ('is_silent_about_lockstep_as_told', ['-Wno-lockstep'], False)):
            result = self.compile(*options, 'heat.cu')
            told = result[2].startswith('heat.cu:7:13: warning: s[i + 16] reads what another lane writes') and \
                'make each step a read, __syncwarp(), the write, __syncwarp() [-Wlockstep]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)
        self.write('heat.cu', KERNEL.replace('grid(n)', 'grid(n) dependent'))
        for name, options, expected in (('warns_of_a_dependent_kernel_that_never_waits', [], True),
                                        ('is_silent_about_dependent_kernels_as_told', ['-Wno-dependent'], False)):
            result = self.compile(*options, 'heat.cu')
            told = ' never waits for the kernel before it, ' in result[2] and '[-Wdependent]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)
        self.write('heat.cu', VIEW)
        for name, options, expected in (('warns_of_a_pointer_inside_a_struct', [], True),
                                        ('is_silent_about_pointers_inside_structs_as_told', ['-Wno-pointers'], False)):
            result = self.compile(*options, 'heat.cu')
            told = result[2].startswith('heat.cu:7:27: warning: v.data is a pointer inside a struct, which calls '
                                        'neither copy nor check') and '[-Wpointers]\n' in result[2]
            self.expect(f'cfcc_{name}', result[0] == 0 and (told if expected else result[2] == ''), result)

    def parallel(self):
        self.fresh()
        runs = [self.begin('-MD', '--prefix', name, 'heat.cu', '-o', output)
                for name, output in (('one', 'one.o'), ('heat', 'heat.o'), ('heat', 'heat.o'))]
        said = [process.communicate()[0].decode() for process in runs]
        codes = [process.returncode for process in runs]
        left = [name for name in listed(self.folder) if not name.endswith('.cu')]
        expected = sorted(f'{name}.{kind}' for name in ('one', 'heat') for kind in 'dho')
        good = codes == [0] * 3 and not any(said) and left == expected
        self.expect('cfcc_runs_three_times_in_one_folder', good, f'{codes} {said} {left}')

    def threads(self):
        """If memory is very short, Python waits for ever for a thread that fails as it starts, so cfcc uses none."""
        self.fresh()
        with open(os.path.join(self.folder, 'sitecustomize.py'), 'w', encoding='utf-8') as file:
            file.write('import os, threading\nthreading.Thread.start = lambda self: os._exit(77)\n')
        result = self.compile('heat.cu', PYTHONPATH=self.folder, PYTHONDONTWRITEBYTECODE='1')
        self.expect('cfcc_starts_no_thread', result[0] == 0 and result[2] == '', result)

    def interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.fresh()
            marker = os.path.join(os.path.dirname(self.folder), 'marker')
            slow = os.path.join(os.path.dirname(self.folder), 'slow.sh')
            with open(slow, 'w', encoding='utf-8') as file:
                file.write(f'echo $$ >"{marker}.new"; mv "{marker}.new" "{marker}"; sleep 3600; exit 1\n')
            process = self.begin('--cxx', f'sh {shlex.quote(slow)}', 'heat.cu')
            deadline = time.monotonic() + 600
            while not os.path.exists(marker) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(number)
            said = process.communicate(timeout=600)[0].decode()     # the compiler ends later than cfcc
            with open(marker, encoding='utf-8') as file:
                compiler = int(file.read())
            os.remove(marker)
            left = listed(self.folder) + os.listdir(self.temporary)
            problem = f'exit {process.returncode}: {said}{left}'
            good = process.returncode == -number and not said and left == ['heat.cu']
            good = good and not os.path.exists(f'/proc/{compiler}')
            self.expect(f'cfcc_interrupted_by_{number.name.lower()}_leaves_nothing', good, problem)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = CommandTest(tap, sys.argv[1], folder)
        test.outputs()
        test.interfaces()
        test.depfile()
        test.inputs()
        test.odd_paths()
        test.pass_on()
        test.help()
        test.program()
        test.macros()
        test.given_macros()
        test.operations()
        test.system_headers()
        test.random_numbers()
        test.errors()
        test.bad_kernels()
        test.warnings()
        test.parallel()
        test.threads()
        test.interrupted()
        test.shared()
        test.functions_for_the_cpu()
        CacheTest(test).run()
        FlagTest(test).run()
        RecordTest(test).run(KERNEL)
        test.without_nvcc()
        test.with_nvcc()
        test.gpu_code()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
