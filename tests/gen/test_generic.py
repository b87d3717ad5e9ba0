"""test_generic.py - tests calls of type-generic functions in C and C++: a right call selects the instance of its types,
a wrong call does not compile, and the compiler's message is readable. `--update` writes the messages.

usage: test_generic.py [--update] [--cc CC] [--cxx CXX]
"""

import argparse
import os
import re
import shlex
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, golden, run

CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')

# The name of a test, the call, and the instance that the call must run.
RIGHT = (
    ('arrays', 'gather(f, i, f, 3, 3)', 'gather_f32_i32'),
    ('const', 'gather(cf, ci, f, 3, 3)', 'gather_f32_i32'),
    ('pointers', 'gather(&d[0], l + 1, d, 2, 3)', 'gather_f64_i64'),
    ('volatile_element', 'gather((const double *)vd, i, d, 3, 3)', 'gather_f64_i32'),
    ('another_spelling', 'gather(f, il, f, 3, 3)', 'gather_f32_i64'),
    ('null_beside_a_type', 'gather(NULL, i, d, 0, 0)', 'gather_f64_i32'),
    ('null_for_the_output', 'gather(d, l, NULL, 0, 0)', 'gather_f64_i64'),
    ('zero_beside_a_type', 'gather(0, l, f, 0, 0)', 'gather_f32_i64'),
    ('null_beside_the_type_of_one_instance', 'sparse(NULL, sc, 3)', 'sparse_d'),
    ('cast_void', 'gather((const double *)v, (const int *)v, (double *)v, 3, 3)', 'gather_f64_i32'),
    ('compound_literal', 'gather(((float[]){1, 2, 3}), (int[]){0}, f, 1, 3)', 'gather_f32_i32'),
    ('address_of_compound_literal', 'gather(&(double){1}, &(int64_t){0}, d, 1, 1)', 'gather_f64_i64'),
    ('first_element_of_rows', 'gather(&rows[0][0], i, f, 3, 3)', 'gather_f32_i32'),
    ('sparse_first', 'sparse(f, i, 3)', 'sparse_a'),
    ('sparse_last', 'sparse(d, sc, 3)', 'sparse_d'),
    ('vector', 'fill(f4, f4[0], 3)', 'fill_f4'),
    ('struct', 'fill(pairs, pairs[0], 3)', 'fill_pair'),
    ('parameter_called_as_a_type', 'turn(pairs, 3)', 'turn_pair'),
    ('half', 'fill(h, h[0], 3)', 'fill_h'),
    ('complex', 'fill(z, z[0], 3)', 'fill_c64'),
    ('byte', 'fill(bytes, 7, 3)', 'fill_u8'),
    ('fixed_type', 'tally(d, l, 3)', 'tally_f64'),
    ('null_for_a_fixed_type', 'tally(f, NULL, 0)', 'tally_f32'),
    ('void_for_a_fixed_type', 'tally(d, (int64_t *)v, 0)', 'tally_f64'),
    ('the_only_instance_of_its_types', 'choose(d, 3)', 'choose_wide'))
# Calls for C only: no C++ overload takes a null pointer without a type, and C++ has no compound literals.
C_ALONE = ('null', 'zero', 'compound', 'address')

WRONG = (
    ('void_pointer', 'gather(v, i, f, 3, 3)'),
    ('void_pointers_alone', 'gather(v, i, v, 3, 3)'),
    ('void_index', 'gather(f, v, f, 3, 3)'),
    ('void_for_the_output', 'gather(f, i, v, 3, 3)'),
    ('null_beside_void', 'gather(NULL, i, v, 0, 0)'),
    ('unknown_type', 'gather(s, i, s, 3, 3)'),
    ('unknown_index', 'gather(f, s, f, 3, 3)'),
    ('two_types', 'gather(f, i, d, 3, 3)'),
    ('struct_for_number', 'gather(pairs, i, pairs, 3, 3)'),
    ('number_for_pointer', 'gather(3.5f, i, f, 3, 3)'),
    ('pointer_to_pointer', 'gather(&pf, i, f, 3, 3)'),
    ('array_of_rows', 'gather(rows, i, f, 3, 3)'),
    ('several_instances', 'choose(f, 3)'),
    ('several_instances_and_null', 'choose(NULL, 3)'),
    ('several_instances_and_void', 'choose(v, 3)'),
    ('several_instances_and_nullptr', 'choose(nullptr, 3)'),
    ('several_instances_and_a_template_argument', 'choose<1>(f, 3)'),
    ('unlisted_pair', 'sparse(f, sh, 3)'),
    ('nulls_alone', 'gather(NULL, NULL, NULL, 0, 0)'),
    ('null_index', 'gather(d, NULL, d, 0, 0)'),
    ('zeros', 'gather(0, l, 0, 0, 0)'),
    ('null_pointer_that_decides_alone', 'tally(NULL, l, 0)'),
    ('fixed_type_of_another_size', 'tally(f, i, 3)'),
    ('bare_compound_literal', 'gather((float[]){1, 2}, i, f, 1, 2)'),
    ('too_few', 'gather(f, i, f, 3)'))

# Calls with pointers without a type, which fit several instances.
NULLS = ('nulls_alone', 'null_index', 'zeros', 'null_pointer_that_decides_alone')

# Calls for which the first message of a C compiler comes from the library's header.
LISTED = ('unknown_type', 'unknown_index', 'two_types', 'struct_for_number', 'pointer_to_pointer', 'array_of_rows',
          'unlisted_pair', 'fixed_type_of_another_size')

VARIABLES = '''    static float f[3]; static const float cf[3] = {0}; static int i[3]; static int64_t l[3];
    static long il[3]; static double d[3]; static volatile double vd[3]; static short sh[3]; static signed char sc[3];
    static unsigned short s[3]; static const int *ci = i; static void *v; static cf_float4 f4[3];
    static struct pair pairs[3]; static cf_half h[3]; static cf_complex64 z[3]; static unsigned char bytes[3];
    static float *pf, rows[2][3];
    (void)f, (void)cf, (void)i, (void)l, (void)il, (void)d, (void)vd, (void)sh, (void)sc, (void)s, (void)ci, (void)v;
    (void)f4, (void)pairs, (void)h, (void)z, (void)bytes, (void)pf, (void)rows;
'''


class GenericTest:
    def __init__(self, options, tap, folder):
        self.options, self.tap, self.folder = options, tap, folder
        self.includes = [f'-I{folder}', f'-I{ROOT}/include', f'-I{CASES}']
        self.cc, self.cxx = shlex.split(options.cc), shlex.split(options.cxx)
        code, _, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--cxx', options.cxx, '--prefix', 't',
                            '--outdir',
                            folder, os.path.join(CASES, 'generic.cu')])
        tap.check('cfgen_generic_succeeds', err or f'exit {code}' if code else '')

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def stand_ins(self):
        """Writes functions with the names of the entry points; each records its name when called."""
        with open(os.path.join(self.folder, 'generic.stub.c'), encoding='utf-8') as file:
            heads = re.findall(r'^int (\(*t_\w+\)*\([^{]*\))\n\{', file.read(), re.MULTILINE)
        text = '#include "t.h"\nextern const char *called;\nconst char *called;\n'
        for head in heads:
            name = re.match(r'\(*t_(\w+)', head).group(1)
            text += f'int {head}\n{{\n    called = "{name}";\n    return 0;\n}}\n'
        names = [re.match(r'\W*t_(\w+?)(?:_async|_update)?\W', head).group(1) for head in heads]
        templates = {'choose', 'fill', 'gather', 'sparse', 'tally', 'turn'}.intersection(names)
        self.tap.check('no_function_has_the_name_of_a_template', '' if names and not templates else f'{templates}')
        return self.write('called.c', text)

    def right(self):
        called = os.path.join(self.folder, 'called.o')
        code, _, err = run([*self.cc, '-std=c11', '-w', '-c', *self.includes, self.stand_ins(), '-o', called])
        self.tap.check('stand_ins_compile', err or f'exit {code}' if code else '')
        for language, compiler, suffix, std in (('c', self.cc, 'c', 'c11'), ('cxx', self.cxx, 'cpp', 'c++11')):
            rows = [r for r in RIGHT if language == 'c' or not r[0].startswith(C_ALONE)]
            text = ('#include <stdio.h>\n#include "t.h"\n' + ('extern "C" ' if language == 'cxx' else 'extern ') +
                    'const char *called;\nint main(void)\n{\n' + VARIABLES)
            for suffix_of in ('', '_async'):
                for _, call, _ in rows:
                    function, arguments = re.match(r'(\(?\w+\)?)\((.*)\)$', call, re.DOTALL).groups()
                    function = re.sub(r'(\w+)', rf't_\1{suffix_of}', function)
                    stream = '(cf_stream)0, ' if suffix_of else ''
                    text += f'    if ({function}({stream}{arguments}))\n        return 1;\n    puts(called);\n'
            program = os.path.join(self.folder, 'right')
            code, _, err = run([*compiler, f'-std={std}', '-Wall', '-Wextra', '-Werror', *self.includes,
                                self.write(f'right.{suffix}', text + '    return 0;\n}\n'), called, '-o', program])
            self.tap.check(f'generic_{language}_calls_compile_without_a_warning', err or f'exit {code}' if code else '')
            _, out, _ = run([program]) if code == 0 else (1, '', '')
            lines = out.split() + [''] * 2 * len(rows)
            for number, (name, call, instance) in enumerate(rows):
                got = (lines[number], lines[len(rows) + number])
                self.tap.check(f'generic_{language}_call_with_{name}_is_of_its_instance',
                               '' if got == (instance, instance + '_async') else f'{call}: {got}, not {instance}')

    def c99(self):
        """C99 has no type-generic calls, but prototypes of the instances; the error for such a call lists these."""
        for name, call, wanted in (('instance', 'gather_f64_i32(d, i, d, 3, 3)', ''),
                                   ('template', 'gather(d, i, d, 3, 3)', 'error: t_gather: types choose an instance in '
                                    'C11 and C++ alone; in C99 call one by its own name: t_gather_f32_i32, t_gather_'),
                                   ('stream', 'tally_async(0, d, l, 3)', 'name: t_tally_f32_async, t_tally_f64_async')):
            path = self.write('c99.c', f'#include "t.h"\nint main(void)\n{{\n{VARIABLES}    return t_{call};\n}}\n')
            code, _, err = run([*self.cc, '-std=c99', '-Wall', '-Wpedantic', '-Werror', '-fsyntax-only',
                                *self.includes, path], env=dict(os.environ, LC_ALL='C'))
            self.tap.check(f'c99_call_of_a_{name}', '' if wanted in err and bool(code) == bool(wanted) else err)

    def wrong(self):
        """Compiles each wrong call alone; reports its errors and warnings, without their places in the file."""
        for language, compiler, suffix, std in (('c', self.cc, 'c', 'c11'), ('cxx', self.cxx, 'cpp', 'c++11')):
            report = []
            for name, call in WRONG:
                if name.startswith('bare') if language == 'cxx' else name.endswith(('_nullptr', '_template_argument')):
                    continue
                path = self.write(f'wrong.{suffix}', '#include "t.h"\nint main(void)\n'
                                                     f'{{\n{VARIABLES}    return t_{call};\n}}\n')
                code, _, err = run([*compiler, f'-std={std}', '-Wall', '-fsyntax-only', *self.includes, path],
                                   env=dict(os.environ, LC_ALL='C'))
                self.tap.check(f'generic_{language}_call_with_{name}_does_not_compile',
                               '' if code else f'{call} compiles')
                said = re.findall(r'(?:error|warning): (.*)', err)
                if language == 'c' and name in LISTED:
                    wanted = f't_{call.split("(")[0]}: no instance has these element types; '
                    self.tap.check(f'generic_c_call_with_{name}_names_the_instances',
                                   '' if wanted in said[0] else err or 'no text')
                if language == 'c' and name in NULLS:
                    self.tap.check(f'generic_c_call_with_{name}_lists_the_instances', '' if re.search(
                        r'NULL has no element type, .*: t_(gather_f32_i32, t_gather_f32_i64|tally_f32, t_tally_f64)\b',
                        said[0]) else err or 'no text')
                if name == 'several_instances_and_void':
                    self.tap.check(f'generic_{language}_call_with_void_names_no_several_instances',
                                   err if ': several instances' in err else '')
                if language == 'cxx' and name in ('several_instances_and_null', 'several_instances_and_nullptr'):
                    self.tap.check(f'generic_cxx_call_with_{name}_lists_them', '' if all(
                        instance in err for instance in ('t_choose_low', 't_choose_high', 't_choose_wide')) else err)
                if name == 'several_instances':
                    self.tap.check(f'generic_{language}_call_of_several_instances_lists_them', '' if re.search(
                        'choose: several instances .*: t_choose_low or t_choose_high', said[0]) else err)
                report.append(f'{call}\n' + ''.join(f'    {line}\n' for line in dict.fromkeys(said)))
            self.messages(language, compiler, '\n'.join(report))

    def messages(self, language, compiler, report):
        """A golden names the version of its compiler; messages of other versions are not compared with it."""
        _, version, _ = run([*compiler, '--version'])
        family = 'clang' if 'clang' in version else 'gcc'
        major = re.search(r'\s(\d+)\.\d', version).group(1)
        path = os.path.join(CASES, f'generic.{language}.{family}.err')
        text = f'{family} {major}\n\n{report}'
        name = f'generic_{language}_messages_are_those_of_{family}'
        if os.path.exists(path) and not self.options.update:
            with open(path, encoding='utf-8') as file:
                if file.readline().split() != [family, major]:
                    self.tap.skip(name, 'needs the version of the compiler that the expected messages are of')
                    return
        golden(self.tap, name, path, text, self.options.update)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        test = GenericTest(parser.parse_args(), tap, folder)
        test.right()
        test.wrong()
        test.c99()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
