"""test_suggest.py - tests cfcc --suggest of a build folder: which annotations it proposes for files like those that
people have, that the generator accepts complete annotations and names the gaps in others, and how --write edits a file.

usage: test_suggest.py BUILDDIR
"""

import os
import re
import stat
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
from suggest_cases import CASES
from suggest_sound import SOUND_CASES
from tap import ROOT, Tap, run

sys.path.append(os.path.join(ROOT, 'gen'))
from annotation.clauses import CLAUSES

SAXPY = '''__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
'''
PRAGMA = '#pragma cf kernel grid(n) in(x[n]) inout(y[n])\n'


class SuggestTest:
    def __init__(self, builddir, folder):
        self.tap = Tap()
        self.cfcc = os.path.join(os.path.abspath(builddir), 'cfcc')
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def suggest(self, *arguments):
        return run([self.cfcc, '--suggest', *arguments], cwd=self.folder)

    def expect(self, name, is_good, detail):
        self.tap.check(name, '' if is_good else str(detail) or 'no detail')

    # ---- Kernels like those that people have

    def cases(self):
        """Runs cfcc once for all files that take the same flags; it suggests their annotations."""
        everything = CASES + SOUND_CASES
        for case in everything:
            self.write(f'{case.name}/case.cu', case.source)
            for name, text in case.headers.items():
                self.write(f'{case.name}/{name}', text)
        program = forked.load()
        for flags in {tuple(case.flags): None for case in everything}:
            cases = [case for case in everything if tuple(case.flags) == flags]
            result = self.suggest('--write', *flags, *(f'{case.name}/case.cu' for case in cases))
            for case in cases:
                self.case(case, result, program)

    def case(self, case, result, program):
        """The printed annotation is the expected one. The generator accepts the written file, or names each gap in
        it."""
        expected = case.with_parameters if case.with_parameters and 'param' in CLAUSES else case.expected
        code, out, err = result
        place = re.escape(f'{case.name}/case.cu')
        lines = [line[1:] for part in re.findall(rf'^{place}:\d+: .*\n((?:\+.*\n)+)', out, re.MULTILINE)
                 for line in part.splitlines()]
        notes = '\n'.join(re.findall(rf'^{place}:.*', err, re.MULTILINE))
        wanted = expected.strip('\n').split('\n')
        self.expect(f'suggest_{case.name}_gives_the_annotation', (code, lines) == (0, wanted) and
                    all(text in notes for text in case.notes), f'{code} {notes}\nexpected {wanted}\ngot      {lines}')
        for name in case.missing:
            self.write(f'{case.name}/{name}', '')
        code, out, err = forked.run_forked(program, ['-I.', '--outdir', 'out', 'case.cu'], self.path(case.name))
        gaps = len(re.findall(r'\? (?:at least [^*]*(?:\*[^/][^*]*)*)?\*/', expected))
        told = sum(': error: /* ' in line and ' is a place to fill in; ' in line for line in err.splitlines())
        is_good = (code, told, err.count(': error: ')) == (1, gaps, gaps) if gaps else (code, out, err) == (0, '', '')
        self.expect(f'suggest_{case.name}_is_read_by_the_generator', is_good, f'{code} {gaps} {err}')

    # ---- The list and the messages

    def output(self):
        self.write('one.cu', '\n' + SAXPY)
        result = self.suggest('one.cu')
        self.expect('suggest_kernel_is_listed_with_its_place', result == (0, f'one.cu:2: saxpy\n+{PRAGMA}', ''), result)
        self.expect('suggest_without_write_changes_nothing', self.read('one.cu').decode() == '\n' + SAXPY, 'changed')
        self.write('two.cuh', SAXPY)
        self.write('two.cu', '#include "two.cuh"\n' + SAXPY.replace('saxpy', 'other'))
        result = self.suggest('two.cu')
        self.expect('suggest_leaves_out_kernels_of_headers', 'other' in result[1] and 'saxpy' not in result[1], result)
        self.write('two.cu', '#include "two.cuh"\nvoid run(float *x, int n) '
                             '{ saxpy<<<(n + 63) / 64, 64>>>(n, 2, x, x); }\n')
        result = self.suggest('two.cu')
        wanted = 'two.cuh:1: saxpy\n+' + PRAGMA.replace('grid(n)', 'grid(n) block(64)')
        self.expect('suggest_kernels_of_headers_for_a_file_that_launches_them', result == (0, wanted, ''), result)
        self.suggest('--write', 'two.cu')
        written = self.read('two.cuh').decode()
        self.expect('suggest_writes_into_the_header', written == wanted.split('+')[1] + SAXPY, written)
        result = self.suggest('two.cu')
        self.expect('suggest_leaves_annotated_kernels_of_headers_alone',
                    result == (0, '', 'two.cu: all kernels have an annotation\n'), result)
        self.write('two.cuh', SAXPY)
        result = self.suggest('two.cuh', 'one.cu')
        self.expect('suggest_takes_headers_and_several_files', result[0] == 0 and 'two.cuh:1: saxpy' in result[1] and
                    'one.cu:2: saxpy' in result[1], result)
        self.write('three.cu', PRAGMA + SAXPY)
        result = self.suggest('--write', 'three.cu')
        self.expect('suggest_leaves_annotated_kernels_alone', result == (0, '', 'three.cu: all kernels have an '
                                                                                'annotation\n')
                    and self.read('three.cu').decode() == PRAGMA + SAXPY, result)
        self.write('three.cu', 'int main() { return 0; }\n')
        result = self.suggest('three.cu')
        self.expect('suggest_file_without_a_kernel_fails', result[:2] == (1, '') and 'there is no kernel' in result[2],
                    result)
        self.write('three.cu', '#include <nowhere/at_all.h>\n#include "also missing.h"\n' + SAXPY)
        result = self.suggest('three.cu')
        self.expect('suggest_survives_missing_headers', result == (0, f'three.cu:3: saxpy\n+{PRAGMA}', ''), result)
        self.write('words.h', '#define KERNEL __global__\n')
        self.write('three.cu', '#include "../none.h"\n#include "words.h"\n' + SAXPY.replace('__global__', 'KERNEL'))
        result = self.suggest('three.cu')
        self.expect('suggest_survives_missing_headers_above', result == (0, f'three.cu:3: saxpy\n+{PRAGMA}', ''),
                    result)
        self.write('three.cu', '#include "also missing.h"\n#error no\n' + SAXPY)
        result = self.suggest('three.cu')
        self.expect('suggest_reads_the_text_of_a_file_that_has_no_preprocessed_form',
                    result == (0, f'three.cu:3: saxpy\n+{PRAGMA}', ''), result)
        pragma, fake = '#pragma cf kernel grid(n)\n', '__global__ void fake(float *x, int n) { x[0] = n; }\n'
        self.write('three.cu', f'#error no\n#if 0\n#ifdef A\n#else\n#endif\n{fake}#else\nconst char *raw = R"(\n'
                   f'{pragma}/*)";\n/*\n{pragma}*/\n// \\\n{pragma}' + SAXPY + '#endif\n')
        result = self.suggest('three.cu')
        self.expect('suggest_takes_no_text_for_a_kernel', result == (0, f'three.cu:16: saxpy\n+{PRAGMA}', ''), result)
        self.write('three.cu', 'template <> __global__ void f<int>(int *x) {}\n__global__ void g(int &x) {}\n')
        result = self.suggest('three.cu')
        self.expect('suggest_says_why_a_kernel_gets_none', result[:2] == (0, '') and
                    'three.cu:1:11: note: f gets no annotation: annotate the template' in result[2] and
                    'note: g gets no annotation: an entry point cannot take a reference' in result[2], result)

    def several(self):
        """A note names the launch from which the annotation was made, by its line in the written file. Files may share
        a header."""
        text = (SAXPY + 'void run(float *x, int n)\n{\n    saxpy<<<(n + 63) / 64, 64>>>(n, 2, x, x);\n'
                '    saxpy<<<(n + 31) / 32, 32>>>(n, 2, x, x);\n}\n' + SAXPY.replace('saxpy', 'other') +
                '__global__ void refused(int &x) {}\n')
        note = ('several.cu:{}:17: note: saxpy is launched in several ways; the annotation is for the launch at '
                'several.cu:{}:5, not for several.cu:{}:5\n')
        self.write('several.cu', text)
        result = self.suggest('several.cu')
        self.expect('suggest_names_the_launch_that_it_took', note.format(1, 9, 10) in result[2] and
                    'several.cu:18:29: note: refused' in result[2], result)
        result = self.suggest('--write', 'several.cu')
        self.expect('write_gives_the_places_in_the_written_file', 'several.cu:2: saxpy\n' in result[1] and
                    'several.cu:14: other\n' in result[1] and note.format(2, 10, 11) in result[2] and
                    'several.cu:20:29: note: refused' in result[2], result)
        self.write('both.cuh', SAXPY)
        for name in 'ab':
            self.write(f'{name}.cu', '#include "both.cuh"\n'
                       'void run(float *x, int n) { saxpy<<<n, 64>>>(n, 2, x, x); }\n')
        result = self.suggest('--write', 'a.cu', 'b.cu')
        self.expect('write_annotates_a_header_of_two_files_once', self.read('both.cuh').count(b'#pragma') == 1 and
                    result[1].count('saxpy') == 1, result)

    def depth(self):
        """A chain of `else if` counts as one level of nesting, however long it is; deep nesting causes a note."""
        arms = ''.join(f'    else if (kind == {number})\n        y[i] += {number};\n' for number in range(1000))
        self.write('deep.cu', SAXPY.replace('int n,', 'int n, int kind,').replace('        y', '    if (!kind) y', 1)
                   .replace('}\n', arms + '}\n'))
        result = self.suggest('deep.cu')
        self.expect('suggest_follows_a_thousand_else_if', result == (0, f'deep.cu:1: saxpy\n+{PRAGMA}', ''), result)
        self.write('deep.cu', SAXPY.replace('        y', 'if (n) ' * 1000 + 'y'))
        result = self.suggest('deep.cu')
        self.expect('suggest_says_that_statements_nest_too_deep', result == (
            0, '', 'deep.cu:1:17: note: saxpy gets no annotation: its statements nest more than 100 deep\n'), result)
        self.write('deep.cu', SAXPY.replace('        y', '{' * 90 + 'y').replace('}\n', '}' * 91 + '\n'))
        result = self.suggest('deep.cu')
        self.expect('suggest_follows_ninety_blocks', result == (0, f'deep.cu:1: saxpy\n+{PRAGMA}', ''), result)

    def refusals(self):
        self.write('one.cu', SAXPY)
        for name, arguments, texts in (
                ('output', ['-o', 'x.o', 'one.cu'], ['-o has no effect with --suggest']),
                ('c_file', ['main.c'], ['main.c is no kernel file', '.cuh']),
                ('no_file', [], ['no kernel file is named'])):
            result = self.suggest(*arguments)
            self.expect(f'suggest_{name}_is_refused', result[0] == 2 and all(t in result[2] for t in texts), result)
        result = self.suggest('nowhere.cu')
        self.expect('suggest_missing_file_is_refused', result[0] == 1 and 'nowhere.cu: no such file' in result[2],
                    result)
        for option in ('--write', '--verify'):
            result = run([self.cfcc, option, 'one.cu'], cwd=self.folder)
            self.expect(f'{option[2:]}_without_suggest_is_refused', result[0] == 2 and
                        f'{option} goes with --suggest' in result[2], result)
        result = self.suggest('--cxx', '/nowhere/c++', 'one.cu')
        self.expect('suggest_missing_compiler_is_refused', result[0] == 1 and 'cannot run /nowhere/c++' in result[2],
                    result)

    # ---- Verifying

    def verifying(self):
        """Complete suggestions are run: one is right, in one the kernel needs more than its suggestion demands, one
        cannot be built for the CPU, and one has a comment. Findings have the lines of the file as it is afterwards."""
        self.write('verified/sizes.h', '#define OWN 32\n')
        self.write('verified/case.cu', '#include "sizes.h"\n' + SAXPY + '''
__global__ void wrong(const float *x, float *y, int k, int n)
{
    __shared__ float own[OWN];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        own[k] = y[i] = x[i];
}
template <typename T> __global__ void sums(T *x, unsigned n)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += VALUE;
}
__global__ void beyond(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = nothing_of_this_name(i);
}
__global__ void open(float *x, const int *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[at[i]] = 0;
}
void host(float *x, double *y, int n)
{
    wrong<<<(n + 63) / 64, 64>>>(x, x, n, n);
    sums<<<(n + 63) / 64, 64>>>(x, n);
    sums<<<(n + 63) / 64, 64>>>(y, n);
}
''')
        code, out, err = self.suggest('--verify', '-DVALUE=2', 'verified/case.cu')
        lines = [line for line in out.splitlines() if re.match(r'\S+: \w+: ', line)]
        place = 'verified/case.cu:'
        self.expect('verify_confirms_right_suggestions', {f'{place}2: saxpy: confirmed by 20 runs',
                                                          f'{place}16: sums: confirmed by 20 runs'} <= {*lines},
                    (code, out, err))
        self.expect('verify_refutes_a_wrong_suggestion_with_its_line', code == 1 and re.fullmatch(
            rf'{place}9: wrong: refuted: {place}14: index \d+ is outside of .*', lines[1]), (code, out, err))
        self.expect('verify_says_why_suggestions_do_not_run',
                    lines[3].startswith(f'{place}20: beyond: not run: {place}24:') and lines[4:] == [
                        f'{place}26: open: not run: a comment stands for a part of it'], (code, out, err))
        code, out, err = self.suggest('--verify', '--write', '-DVALUE=2', 'verified/case.cu')
        self.expect('verify_names_the_lines_of_the_written_file',
                    f'{place}11: wrong: refuted: {place}16: index' in out, (code, out, err))

    # ---- Writing

    def writing(self):
        files = (
            ('crlf', SAXPY.replace('\n', '\r\n'), (PRAGMA + SAXPY).replace('\n', '\r\n')),
            ('tabs', 'namespace a {\n\t' + SAXPY + '}\n', 'namespace a {\n\t' + PRAGMA + '\t' + SAXPY + '}\n'),
            ('byte_order_mark', '\ufeff' + SAXPY, '\ufeff' + PRAGMA + SAXPY),
            ('no_line_end', SAXPY.rstrip(), PRAGMA + SAXPY.rstrip()),
            ('one_line_namespace', 'namespace a { ' + SAXPY + '}', 'namespace a { \n' + PRAGMA + SAXPY + '}'),
            ('linkage', 'extern "C" ' + SAXPY, PRAGMA + 'extern "C" ' + SAXPY),
            ('comment', '/* Doc. */\n// \u00e4\n' + SAXPY, '/* Doc. */\n// \u00e4\n' + PRAGMA + SAXPY),
            ('no_text', b'// caf\xe9 \x0c\n' + SAXPY.encode(), b'// caf\xe9 \x0c\n' + (PRAGMA + SAXPY).encode()))
        for name, text, _ in files:
            self.write(f'{name}.cu', text)
        result = self.suggest('--write', *(f'{name}.cu' for name, _, _ in files))
        for name, _, expected in files:
            written = self.read(f'{name}.cu')
            self.expect(f'write_{name}_keeps_every_other_byte', result[0] == 0 and
                        written == (expected if isinstance(expected, bytes) else expected.encode()),
                        f'{result}\n{written}')
        self.write('one.cu', 'template <typename T>\n__global__ void f(T *x, int n)\n{\n    x[threadIdx.x] = n;\n}\n'
                   'void g(int *x) { f<int><<<1, 32>>>(x, 3); }\n')
        os.chmod(self.path('one.cu'), 0o640)
        os.symlink('one.cu', self.path('link.cu'))
        self.suggest('--write', 'link.cu')
        self.expect('write_goes_above_the_template_head', self.read('one.cu').startswith(
            b'#pragma cf kernel blocks(1) block(32) inout(x[32])\n#pragma cf instances(i32: int)\ntemplate <typename '
            b'T>\n'),
            self.read('one.cu'))
        mode = stat.S_IMODE(os.stat(self.path('one.cu')).st_mode)
        self.expect('write_keeps_mode_and_link', mode == 0o640 and os.path.islink(self.path('link.cu')), oct(mode))
        before = self.read('one.cu')
        self.suggest('--write', 'one.cu')
        self.expect('write_twice_adds_nothing', self.read('one.cu') == before, self.read('one.cu'))
        self.write('two.cu', SAXPY)
        os.chmod(self.path('two.cu'), 0o444)
        result = self.suggest('--write', 'two.cu')
        self.expect('write_refuses_a_read_only_file', result[0] == 1 and
                    'two.cu: the file is read-only' in result[2] and
                    self.read('two.cu').decode() == SAXPY, result)
        self.of_headers()
        left = [n for n in os.listdir(self.folder) if n.endswith('.tmp')]
        self.expect('write_leaves_no_temporary_file', not left, left)

    def of_headers(self):
        """If a header may not be changed, no file is changed."""
        os.mkdir(self.path('system'))
        self.write('system/kept.cuh', SAXPY)
        self.write('open.cuh', SAXPY.replace('saxpy', 'other'))
        self.write('launch.cu', '#include "open.cuh"\n#include <kept.cuh>\nvoid run(float *x, int n) '
                                '{ saxpy<<<n, 64>>>(n, 2, x, x); other<<<n, 64>>>(n, 2, x, x); }\n')
        before = self.read('open.cuh'), self.read('system/kept.cuh')
        result = self.suggest('--write', '--cxx', 'c++ -isystem system', 'launch.cu')
        after = self.read('open.cuh'), self.read('system/kept.cuh')
        self.expect('write_refuses_system_headers', result[0] == 1 and
                    'system/kept.cuh: --write changes no system header; leave it out' in result[2] and after == before,
                    result)
        os.chmod(self.path('system/kept.cuh'), 0o444)
        result = self.suggest('--write', '-I', 'system', 'launch.cu')
        after = self.read('open.cuh'), self.read('system/kept.cuh')
        self.expect('write_that_fails_changes_no_file', result[0] == 1 and
                    'system/kept.cuh: the file is read-only' in result[2] and after == before, result)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix='test_suggest-') as folder:
        test = SuggestTest(sys.argv[1], folder)
        test.cases()
        test.output()
        test.several()
        test.depth()
        test.refusals()
        test.verifying()
        test.writing()
    return test.tap.close()


if __name__ == '__main__':
    sys.exit(main())
