"""test_gen.py - compares the generator with goldens: good input gives the expected manifest, and C and C++ that
compile; bad input gives the expected message. `--update` writes the goldens.

usage: test_gen.py [--update] [--device [--brief]] [--cc CC] [--cxx CXX]
  --device: nvcc compiles the device sources too; with --brief, those of a few cases
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shlex
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
import forked
from tap import NEEDS_JSONSCHEMA, NEEDS_NVCC, ROOT, Tap, golden, read, run

CASES = os.path.join(ROOT, 'tests', 'gen', 'cases')
EMBEDDED = ('mixed', 'reach')
# The cases for whose stubs there are goldens; tests/gen/README.md gives the reasons.
STUBS = ('adopted', 'ascending', 'constants_taken', 'mixed', 'resident', 'split', 'zero')

# The cases for whose headers there are goldens, one for each part of headers; tests/gen/README.md lists the parts.
HEADERS = ('ascending', 'attributes', 'class_template', 'declared', 'enum_class', 'mixed', 'names', 'resident',
           'restrict')

# The case for whose wrappers there are goldens: a family of kernels with checks.
WRAPPED = ('ascending',)

# Kernels whose names end with their form for the CPU: `together` (the threads of a block run together), `numbers` (a
# loop over numbers only) or `others`. The type of `pair_others` is in a header that the generator does not read.
FORMS = '''#include <utility>
using namespace std;
__device__ __shared__ int outside[32];
__device__ int *place(int i)
{
    return &outside[i];
}
#pragma cf kernel blocks(1) block(32) out(x[32])
__global__ void shared_outside_together(int *x)
{
    *place(threadIdx.x) = 1;
    x[threadIdx.x] = *place(threadIdx.x);
}
__global__ void compared_numbers(int *x, int n);
#pragma cf kernel grid(n) out(x[n])
__global__ void compared_numbers(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i < 5 && n > i;
}
#pragma cf kernel grid(n) out(x[n])
__global__ void pair_others(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    pair<int, int> both(i, n);
    if (i < n)
        x[i] = i;
}
'''


class GeneratorTest:
    def __init__(self, options, tap, folder):
        self.options, self.tap, self.folder = options, tap, folder
        self.generator = forked.load()

    def run(self):
        stems = sorted(re.sub(r'\.cu$', '', f) for f in os.listdir(CASES) if f.endswith('.cu'))
        for stem in stems:
            self.case(stem)
        if self.options.device:
            self.device(stems)
        self.language()
        self.variants()
        self.reaches()
        self.forms_for_the_cpu()
        self.registers_of_assembly()
        self.many_statements()
        self.deep_and_broken()
        self.plain_expressions()
        self.reserved_names()
        self.long_names_of_fortran()
        self.command_line()
        self.families_in_several_files()
        self.devices_in_several_files()
        self.types_in_several_files()
        self.headers_of_one_name()
        self.headers_that_a_name_may_mean()
        self.types_that_differ()
        self.unchanged_output_is_left_alone()

    def cfgen(self, outdir, *arguments, bundled=True):
        return forked.run_forked(self.generator, ['--cxx', self.options.cxx, '--outdir', outdir, *(
            ['--bundled', self.bundled()] if bundled else []), *arguments], CASES)

    def bundled(self):
        """Returns the path of a manifest of some bundled kernels, among them operations and internal kernels."""
        path = os.path.join(self.folder, 'cuferry.json')
        if not os.path.exists(path):
            self.cfgen(self.folder, *(os.path.join(ROOT, 'kernels', f'{name}.cu') for name in ('reduce', 'sort')),
                       bundled=False)
        return path

    def golden(self, name, path, text):
        golden(self.tap, name, path, text, self.options.update)

    def case(self, stem):
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.cfgen(folder, '--prefix', 't', f'{stem}.cu')
            base = os.path.join(CASES, stem)
            written = [f for _, _, files in os.walk(folder) for f in files]
            if code:
                self.golden(f'cfgen_{stem}_gives_expected_errors', base + '.err', err)
                self.tap.check(f'cfgen_{stem}_fails_without_output',
                               f'exit {code}, wrote {written}, printed {out}' if code != 1 or written or out else '')
                return
            if err and os.path.exists(base + '.err'):
                self.golden(f'cfgen_{stem}_gives_expected_warnings', base + '.err', err)
            else:
                problem = err or ('it was to fail' if os.path.exists(base + '.err') else '')
                self.tap.check(f'cfgen_{stem}_succeeds_silently', problem)
            manifest = read(os.path.join(folder, 't.json'))
            self.golden(f'cfgen_{stem}_gives_expected_manifest', base + '.json', manifest)
            for what, made, ending, stems in (('header', 't.h', '.h', HEADERS),
                                              ('internal_header', 't_internal.h', '.internal.h', HEADERS),
                                              ('stub', f'{stem}.stub.c', '.c', STUBS)):
                path = os.path.join(folder, made)
                if stem in stems and (os.path.exists(path) or os.path.exists(base + ending)):
                    self.golden(f'cfgen_{stem}_gives_expected_{what}', base + ending, read(path) or '')
            self.valid(stem, manifest)
            if stem in WRAPPED:
                self.wrappers(base, folder)
            self.compiles(stem, folder)

    def wrappers(self, base, folder):
        self.cfgen(folder, '--emit', 'cxx,fortran', os.path.join(folder, 't.json'), bundled=False)
        for language, ending in (('cxx', '.hpp'), ('fortran', '.f90')):
            self.golden(f'cfgen_{os.path.basename(base)}_gives_expected_wrapper_for_{language}', base + ending,
                        read(os.path.join(folder, f't{ending}')))

    def valid(self, stem, manifest):
        name = f'cfgen_{stem}_manifest_is_valid'
        errors = self.schema_errors(json.loads(manifest))
        if errors is None:
            self.tap.skip(name, NEEDS_JSONSCHEMA)
        else:
            self.tap.check(name, '\n'.join(f'{list(e.absolute_path)}: {e.message}' for e in errors[:5]))

    @staticmethod
    def schema_errors(manifest):
        """Returns the schema's errors for a manifest; None if the module jsonschema is not installed."""
        try:
            import jsonschema   # pylint: disable=import-outside-toplevel
        except ImportError:
            return None
        with open(os.path.join(ROOT, 'gen', 'emit', 'manifest.schema.json'), encoding='utf-8') as file:
            return list(jsonschema.Draft202012Validator(json.load(file)).iter_errors(manifest))

    def language(self):
        """LANGUAGE.md lists all clauses of an operation."""
        sys.path.insert(0, os.path.join(ROOT, 'gen'))
        from annotation.clauses import CLAUSES, OF_KERNELS     # pylint: disable=import-error,import-outside-toplevel
        text = read(os.path.join(ROOT, 'kernels', 'LANGUAGE.md'))
        listed = set(re.findall(r'`(\w+)`', re.search(r'\*\*The declaration\*\*.*?Its clauses are (.*?)\.', text,
                                                      re.DOTALL)[1]))
        self.tap.check('language_has_every_clause_of_operations', ', '.join(listed ^ (set(CLAUSES) - set(OF_KERNELS))))

    def variants(self):
        """A kernel can have variants, an operation cannot."""
        manifest = json.loads(read(os.path.join(CASES, 'operations.json')))
        kernel, operation = (next(k for k in manifest['kernels'] if ('uses' in k) == has) for has in (False, True))
        kernel['variants'], operation['variants'] = operation['variants'], kernel['variants']
        name, errors = 'cfgen_manifest_of_other_variants_is_not_valid', self.schema_errors(manifest)
        if errors is None:
            self.tap.skip(name, NEEDS_JSONSCHEMA)
        else:
            self.tap.check(name, '' if len(errors) == 2 else str(errors))

    def precompiled(self, name, text, *flags):
        """Precompiles a header for all cases with these flags; returns the header's path."""
        path = os.path.join(self.folder, 'precompiled', name)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            run([*shlex.split(self.options.cxx), *flags, f'-I{ROOT}/include', '-x', 'c++-header', path, '-o',
                 f'{path}.gch'])
        return path

    def compiles(self, stem, folder):
        """All generated code compiles without a warning. The headers also compile as C99 and C++, and if macros have
        the names of parameters."""
        include = [f'-I{ROOT}/include', f'-I{folder}', f'-I{CASES}']
        strict = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']
        cc, cxx = shlex.split(self.options.cc), shlex.split(self.options.cxx)
        as_cxx = ['-std=c++11', *strict, *include, '-include',
                  self.precompiled('standard.hpp', '#include <complex>\n', '-std=c++11', *strict[:-1])]
        body = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-Wno-unknown-pragmas', '-Wno-unused-parameter',
                '-Wno-attributes', '-isystem', f'{ROOT}/include/cuferry/shadow']
        prelude = self.precompiled('prelude.hpp', '#include "cuferry/cpu/prelude.cuh"\n', *body)
        headers = [f'"{name}"' for name in ('t.h', 't_internal.h') if os.path.exists(os.path.join(folder, name))]
        library = [f'<cuferry{name}.h>' for name in ('', '/types', '/registry', '/tuning', '/generic')]
        units = {}
        for name, files in (('all.c', ['"t.h"', f'"{stem}.stub.c"', '"t_registry.c"']),
                            ('headers.c', headers), ('within.cpp', headers + library)):
            units[name] = os.path.join(folder, name)
            with open(units[name], 'w', encoding='utf-8') as file:
                lines = ''.join(f'#include {name}\n' for name in files)
                file.write(f'extern "C" {{\n{lines}}}\n' if name == 'within.cpp' else lines)
        commands = {
            'stub': cc + ['-std=c11', *strict, '-Wmissing-prototypes', *include,
                          os.path.join(folder, f'{stem}.stub.c')],
            'stub_and_registry_beside_their_header': cc + ['-std=c11', *strict, *include, units['all.c']],
            'header_as_c99_beside_macros_of_its_names': cc + [
                '-std=c99', *strict, *include, '-DN=10', '-DT=20', '-Dn=30', units['headers.c']],
            'header_within_extern_c': cxx + [*as_cxx, units['within.cpp']],
            'host_body': cxx + [*body, *include, '-fsyntax-only', '-include', prelude,
                                os.path.join(folder, f'{stem}.host.cpp')],
        }
        for what, command in commands.items():
            code, _, err = run(command, cwd=CASES)
            self.tap.check(f'cfgen_{stem}_{what}_compiles', err or f'exit {code}' if code else '')

    def device(self, stems):
        """nvcc compiles the device source of every case, and its PTX contains the name of every entry."""
        nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
        good = [s for s in stems if os.path.exists(os.path.join(CASES, f'{s}.json')) and
                (s in EMBEDDED or not self.options.brief)]
        if not nvcc:
            self.tap.skip('nvcc_compiles_device_sources', NEEDS_NVCC)
            return

        def compiled(folder, stem, *options):
            ptx = os.path.join(folder, f'{stem}{len(options)}.ptx')
            code, out, err = run([nvcc, '-std=c++17', '--extended-lambda', '--expt-relaxed-constexpr', '-Xcompiler',
                                  '-Wno-unknown-pragmas', '-diag-suppress', '177', '-ptx', *options, f'-I{CASES}',
                                  f'-I{ROOT}/include', os.path.join(folder, f'{stem}.dev.cu'), '-o', ptx])
            return f'exit {code}: {out}{err}' if code else '', ptx

        def problem(folder, stem, ptx):
            code, out, err = run([sys.executable, os.path.join(ROOT, 'gen', 'cfgen'), '--image',
                                  os.path.join(folder, 'image.h'), '--toolkit', '12000', ptx, ptx])
            described = read(os.path.join(folder, f'{stem}.stub.c'))
            image = read(os.path.join(folder, 'image.h')) or ''
            lost = [f'{k}_{n}' for k, n in re.findall(r'^    CF__(IMAGE|DATA)\((\w+)\),$', described, re.MULTILINE)
                    if f'CF__{"ENTRY" if k == "IMAGE" else k}_{n} ' not in image]
            return f'{out}{err}' if code else ', '.join(lost)

        def embedded_problem(proof, folder, stem):
            """Returns an error unless the embedded PTX has the same entries and data, and takes no kernel's address."""
            failure, ptx = compiled(folder, stem, '-DCF__TO_BE_EMBEDDED')
            if failure:
                return failure
            proof, embedded = (names_in(path) for path in (proof, ptx))
            if not proof[0] or not proof[2] or embedded[2]:
                return f'{len(proof[0])} entries; pointers: {proof[2]}, where it is embedded: {embedded[2]}'
            return '' if proof[:2] == embedded[:2] else f'{proof[:2]}\n{embedded[:2]}'

        def names_in(path):
            text = read(path)
            return (set(re.findall(r'\.entry (\w+)', text)), set(re.findall(r'\.const .*?(\w+)[\[;]', text)),
                    'cf__e_' in text)

        def problems(stem):
            folder = os.path.join(self.folder, 'device', stem)
            failure, ptx = compiled(folder, stem)
            return (failure or problem(folder, stem, ptx),
                    (failure or embedded_problem(ptx, folder, stem)) if stem in EMBEDDED else None)

        for stem in good:
            self.cfgen(os.path.join(self.folder, 'device', stem), '--prefix', 't', f'{stem}.cu')
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for stem, (text, embedded) in zip(good, pool.map(problems, good)):
                self.tap.check(f'nvcc_compiles_{stem}_and_names_its_entries', text)
                if embedded is not None:
                    self.tap.check(f'nvcc_embeds_{stem}_with_the_same_names_and_no_pointers', embedded)

    def reaches(self):
        """The names of the kernels in reach.cu say which loops and data the generator must find."""
        manifest = json.loads(read(os.path.join(CASES, 'reach.json')))
        wrong = [k['name'] for k in manifest['kernels']
                 if k['name'].split('_')[:2] != ['bounded' if k['bounded'] else 'loops',
                                                 'closed' if k['closed'] else 'open']]
        self.tap.check('cfgen_reach_finds_loops_and_data', ', '.join(wrong))

    def forms_for_the_cpu(self):
        """The threads of a block run together or in a loop; the loop says whether its data consists of numbers only."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(FORMS)
            code, out, err = self.cfgen(folder, path)
            self.tap.check('cfgen_kernels_of_each_form_are_taken', f'{out}{err}' if code else err)
            text = read(os.path.join(folder, 'k.host.cpp')) or ''
            forms = dict(re.findall(
                r'void cf__(?:h|loop)_(\w+)\(const [^{]*\{.*?cf__(run_together|regions|loop<[^>]*>)', text, re.DOTALL))
            found = {name: 'together' if form in ('run_together', 'regions') else
                     'numbers' if form.strip('>').split(', ')[3] == 'true' else 'others'
                     for name, form in forms.items()}
            expected = {name: name.split('_')[-1] for name in re.findall(r'void (\w+)\(.*\n\{', FORMS)}
            self.tap.check('cfgen_kernels_have_the_form_of_their_names', '' if found == expected else f'{found}')
            source = read(os.path.join(folder, 'k.host.cu')) or ''
            ends, places = len(re.findall(r'CF__END\s*\}', source)), source.count('&outside = cf__shared<')
            self.tap.check('cfgen_bodies_end_with_a_mark_and_refer_to_shared_memory_where_they_use_it',
                           '' if (ends, places) == (len(expected), 1) else source)

    def registers_of_assembly(self):
        """An asm statement becomes code that declares each register that is used, once, and no other registers."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('#pragma cf kernel grid(n) out(x[n])\n__global__ void k(int *x, int n)\n{\n'
                           '    asm("{ .reg .u32 r<1000>, _x, %%x; mov.u32 r7, %1; mov.u32 _x, r7; mov.u32 %%x, _x; "\n'
                           '        "mov.u32 %0, %%x; }" : "=r"(x[0]) : "r"(n));\n}\n')
            _, _, err = self.cfgen(folder, path)
            found = re.findall(r'unsigned int (cf__\w+) = 0;', read(os.path.join(folder, 'k.host.cu')) or '')
            self.tap.check('cfgen_assembly_declares_used_registers_alone',
                           '' if len(set(found)) == len(found) == 3 else f'{found}{err}')

    def many_statements(self):
        """The search for missing barriers handles many arms of an if, and skips statements that nest too deeply."""
        arms = ' else '.join(f'if (x[0] == {i})\n        x[1] = {i};\n   ' for i in range(1000))
        for name, inner, warns in (('arms', f'{arms} else if (threadIdx.x == 0)\n        s = 1;\n', True),
                                   ('blocks', '{' * 250 + 'if (threadIdx.x == 0) s = 1;' + '}' * 250, False)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'k.cu')
                with open(path, 'w', encoding='utf-8') as file:
                    file.write('#pragma cf kernel blocks(1) block(32) inout(x[32])\n__global__ void k(int *x)\n{\n'
                               f'    __shared__ int s;\n    {inner}    x[threadIdx.x] = s;\n}}\n')
                code, _, err = self.cfgen(folder, path)
                self.tap.check(f'cfgen_takes_many_{name}_in_a_function',
                               err if code or warns != ('s is used here, and the one lane' in err) else '')

    def deep_and_broken(self):
        """Input that nests too deeply, or that no compiler accepts, causes a message or gives a result."""
        deep, head = 3000, '#pragma cf kernel grid(n) out(y[n])\n__global__ void k(float *y, int n'
        too_deep = 'brackets nest more than 256 deep'
        for name, text, wanted in (
                ('parentheses', f'{head}) {{ y[0] = {"(" * deep}1{")" * deep}; }}', too_deep),
                ('calls', f'{head}) {{ y[0] = {"f(" * deep}1{")" * deep}; }}', too_deep),
                ('brackets', f'{head}) {{ {"y[" * deep}0{"]" * deep} = 1; }}', too_deep),
                ('structs', f'{"struct S {" * deep}{"};" * deep}\n{head}) {{}}', too_deep),
                ('conditions', f'{head}) {{ {"if (n) " * deep}y[0] = 1; }}', ''),
                ('struct_members', 'struct S0 { int x; };' + ''.join(
                    f'struct S{i + 1} {{ S{i} x; }};' for i in range(deep)) + f'\n{head}, S{deep} s) {{}}', 'too deep'),
                ('member_without_a_name', f'struct S {{ int a; ) }};\n{head}, S s) {{}}', ''),
                ('member_without_a_type', f'struct S {{ struct {{ }} ; int = ; , }};\n{head}, S s) {{}}', ''),
                ('word_of_newer_languages', f'{head.replace(" k(", " concept(")}, int requires) {{}}',
                 "'requires' is a word of C++20")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'k.cu')
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text + '\n')
                for way in ((), ('--suggest',)):
                    code, out, err = self.cfgen(folder, *way, path, bundled=not way)
                    is_right = code in (0, 1) and 'Traceback' not in err and (way or wanted in err) and len(err) < 5000
                    self.tap.check(f'cfgen_{"suggests_" if way else ""}{name}_are_read_or_refused',
                                   '' if is_right else f'exit {code}: {out[-300:]}{err[-300:]}')

    def plain_expressions(self):
        """The text that is shown for an expression from macros lacks some parentheses, but has the same meaning."""
        sys.path.insert(0, os.path.join(ROOT, 'gen'))
        # pylint: disable=import-error,import-outside-toplevel
        from expr.compile import compile_expr
        from expr.cxxtypes import Types
        from expr.names import Names
        from expr.plain import spell_tree
        from expr.tree import parse_expr
        from tokens.cursor import Cursor
        from tokens.lexer import tokenize
        choose = random.Random(1)
        operators = '* / % + - << >> < <= > >= == != & ^ | && ||'.split()

        def made(depth):
            if depth == 0 or choose.random() < 0.2:
                return choose.choice(['7', '0x10', 'sizeof(float)', 'sizeof(double *)', 'is_integral(int)'])
            parts = [made(depth - 1) for _ in range(3)]
            return choose.choice([f'(({parts[0]}) {choose.choice(operators)} ({parts[1]}))'] * 6 +
                                 [f'({parts[0]}) ? ({parts[1]}) : ({parts[2]})', f'min({parts[0]}, ({parts[1]}))',
                                  f'-({parts[0]})', f'!({parts[0]})', f'~({parts[0]})',
                                  f'(({parts[0]}) < ({parts[1]}) <= ({parts[2]}))'])

        def compiled(text):
            tree = parse_expr(Cursor(tokenize(text, '', 1, 1)))
            names = Names([], {}, {}, Types(), ())
            return spell_tree(tree), compile_expr(tree, '', names).tree

        wrong, shorter, count = [], 0, 3000 if os.environ.get('CHECK_LONG') else 1000
        for _ in range(count):
            text = made(4)
            told, meaning = compiled(text)
            shorter += len(told) < len(text)
            if compiled(told)[1] != meaning:
                wrong.append(f'{text}: {told}')
        self.tap.check('plain_expressions_mean_the_same', '\n'.join(wrong[:3])
                       or (f'{shorter} are shorter' if shorter < count * 2 // 3 else ''))
        for text, told in (('((n))', 'n'), ('(((a) < (b)) ? (a) : (b))', 'a < b ? a : b'),
                           ('(n - (m - 1))', 'n - (m - 1)'),
                           ('((n) + ((m) << (2)))', 'n + (m << 2)'),
                           ('(g.n[(1)] * (x[:] < (5)))', 'g.n[1] * (x[:] < 5)')):
            tree = parse_expr(Cursor(tokenize(text, '', 1, 1)))
            self.tap.check(f'plain_expression_{told.replace(" ", "_")}',
                           '' if spell_tree(tree) == told else spell_tree(tree))

    def reserved_names(self):
        """A kernel with the library's own prefix cannot have the name of a library function."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')
            for name, good in (('call', False), ('mem_copy', False), ('kernel_at', False), ('registry', False),
                               ('locate', True), ('driver_host', True), ('k_gather', True)):
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(f'#pragma cf kernel grid(n)\n__global__ void {name}(int n)\n{{\n}}\n')
                code, _, err = self.cfgen(folder, path)
                fine = code == 0 if good else code == 1 and f"cf_{name} is a name of the library's own" in err
                self.tap.check(f'cfgen_kernel_called_{name}_is_{"taken" if good else "refused"}',
                               '' if fine else err or 'taken')

    def long_names_of_fortran(self):
        """Lines of Fortran have at most 132 characters, and none ends within a literal."""
        x, n, member = (letter * 59 for letter in 'xnm')
        text = (f'struct {member} {{ int {member}; }};\n'
                f'#pragma cf kernel grid({n}) in({x}[{n}][2 * {n} + {n[1:]} * {n}])\n'
                f'__global__ void {"k" * 53}(const float *{x}, long {n}, long {n[1:]}, {member} s) {{ }}\n')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.cu')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            _, _, err = self.cfgen(folder, '--prefix', 't', path)
            self.cfgen(folder, '--emit', 'fortran', os.path.join(folder, 't.json'), bundled=False)
            lines = (read(os.path.join(folder, 't.f90')) or '').splitlines()
        sys.path.insert(0, os.path.join(ROOT, 'gen'))
        from language.fortran_lines import fold     # pylint: disable=import-error,import-outside-toplevel
        for width in range(100):
            lines += fold(f"call f({'x' * width}, 'size(y, 1) at', z)", 8).splitlines()
        wrong = [line for line in lines if not line.lstrip().startswith('!') and (
            len(line) > 132 or line.count("'") % 2)]
        self.tap.check('cfgen_folds_long_names_of_fortran',
                       '\n'.join([err, *wrong]) if wrong or len(lines) < 200 else '')

    def command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments, expected in (
                    ('no_file', [], 'the following arguments are required'),
                    ('missing_file', ['nowhere.cu'], 'nowhere.cu'),
                    ('bad_prefix', ['--prefix', '7up', 'types.cu'], "'7up' cannot begin a C name"),
                    ('unknown_option', ['--frobnicate', 'types.cu'], '--frobnicate'),
                    ('missing_compiler', ['--cxx', '/nowhere/c++', 'types.cu'], 'cannot run /nowhere/c++'),
                    ('same_name_twice', ['types.cu', '../gen/types.cu'], 'has the same name'),
                    ('bundled_kernel_without_a_manifest', ['--prefix', 't', 'operations.cu'], 'with --bundled'),
                    ('bundled_manifest_that_is_none', ['--prefix', 't', '--bundled', 'operations.cu', 'operations.cu'],
                     'operations.cu: it is no manifest'),
                    ('unwritable_folder', ['--outdir', '/dev/null/x', 'types.cu'], '/dev/null/x')):
                code, out, err = self.cfgen(folder, *arguments, bundled=False)
                fine = code != 0 and expected in err and not out and 'Traceback' not in err
                self.tap.check(f'cfgen_{name}_is_refused', '' if fine else f'exit {code}\n{out}{err}')

    def families_in_several_files(self):
        """Instances of one kernel, or of one operation, may be in separate files."""
        kernel = ('#pragma cf kernel internal grid(n) inout(x[n])\n#pragma cf instances({0}: {1})\n'
                  'template <typename T> __global__ void {2}(T *x, int n)\n{{\n}}\n')
        operation = ('#pragma cf operation{3} inout(x[n]) uses(add)\n#pragma cf instances({0}: {1})\n'
                     'template <typename T> void {2}(T *x, int n);\n')
        for name, internal, said in (('are_used_by_tag', ' internal', ''),
                                     ('of_one_name_are_refused', '', 'give the files two prefixes')):
            with tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, f'{short}.cu') for short in ('f32', 'f64')]
                for path, (short, ctype) in zip(paths, (('f32', 'float'), ('f64', 'double'))):
                    with open(path, 'w', encoding='utf-8') as file:
                        file.write((kernel + operation.replace('{2}', 'op')).replace('{2}', 'add').format(
                            short, ctype, None, internal))
                code, _, err = self.cfgen(folder, *paths)
                text = '' if code else read(os.path.join(folder, 'f32.stub.c')) + read(os.path.join(folder,
                                                                                                    'f64.stub.c'))
                uses = re.findall(r'cf__uses_(op_\w+)\[\] = \{(.*)\};', text)
                fine = ('Traceback' not in err and code == 1 and said in err if said else
                        uses == [('op_f32', '&cf__k_add_f32'), ('op_f64', '&cf__k_add_f64')])
                self.tap.check(f'cfgen_instances_in_several_files_{name}', '' if fine else f'{uses}{err}')

    def devices_in_several_files(self):
        """Files that call device functions of one another share one image; other files have images of their own."""
        kernel = ('#include "half.cuh"\n#pragma cf kernel grid(n) inout(x[n])\n'
                  '__global__ void {0}(float *x, int n)\n{{\n    x[0] = {1};\n}}\n')
        define = '#include "half.cuh"\n#pragma cf device\n__device__ float half_of(float x) { return x / 2; }\n'
        files = {'first.cu': kernel.format('first', 'x[1]'), 'second.cu': kernel.format('second', 'half_of(x[1])'),
                 'third.cu': define, 'half.cuh': '__device__ float half_of(float x);\n'}
        for name, changed, expected, said in (
                ('share_an_image', {}, {'second': 'second', 'third': 'second'}, ''),
                ('that_define_what_they_call_have_their_own',
                 {'second.cu': files['second.cu'].replace('\n', '\nstatic __device__ float half_of(float x) '
                                                          '{ return x; }\n', 1)}, {}, ''),
                ('with_two_definitions_are_refused', {'first.cu': define}, None,
                 'third.cu:3:18: error: half_of is already defined at '),
                ('with_a_definition_in_a_header_are_refused',
                 {'half.cuh': '#pragma once\n' + define.split('\n', 1)[1], 'third.cu': kernel.format('third', 'x[1]')},
                 None, 'half.cuh:3:18: error: half_of would be defined twice: several kernel files include this')):
            with tempfile.TemporaryDirectory() as folder:
                for path, text in {**files, **changed}.items():
                    with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
                        file.write(text)
                code, _, err = self.cfgen(folder, *(os.path.join(folder, path) for path in files if '.cuh' not in path))
                images = None if code else json.loads(read(os.path.join(folder, 'cf_devices.json')))['images']
                self.tap.check(f'cfgen_device_functions_in_several_files_{name}', '' if images == expected and (
                    said in err if said else not err) else f'{images}{err}')

    def types_in_several_files(self):
        """A type is defined only once, whichever files use it; two types with the same name are refused."""
        kernel = '#pragma cf kernel{0} grid(b.n)\n__global__ void {1}(box b)\n{{\n}}\n'
        own, include = 'struct box {{\n    {} n;\n}};\n', '#include "box.h"\n'
        for name, texts, said, defined, included in (
                ('of_one_header_are_defined_once', (include, include), '', 1, 0),
                ('are_left_to_a_header_that_one_file_names', (include, f'{include}#pragma cf include("box.h")\n'), '',
                 0, 1),
                ('may_be_declared_alike', (own.format('int'), own.format('int')), '', 1, 0),
                ('of_one_name_are_refused', (own.format('int'), own.format('long')),
                 'b.cu:1:1: error: box is another type at a.cu:1', 0, 0)):
            with tempfile.TemporaryDirectory() as folder:
                files = {'a.cu': texts[0] + kernel.format('', 'a'), 'b.cu': texts[1] + kernel.format('', 'b'),
                         'box.h': '#pragma once\n' + own.format('int')}
                for file, text in files.items():
                    with open(os.path.join(folder, file), 'w', encoding='utf-8') as out:
                        out.write(text.replace('{{', '{').replace('}}', '}'))
                code, _, err = self.cfgen(folder, '--prefix', 't', '--root', folder,
                                          *(os.path.join(folder, f'{f}.cu') for f in 'ab'))
                header = '' if code else read(os.path.join(folder, 't.h'))
                found = header.count('struct box {'), header.count('#include "box.h"')
                fine = code == 1 and said in err if said else code == 0 and found == (defined, included)
                for stub in 'ab' if fine and not said else '':
                    code, _, err = run([*shlex.split(self.options.cc), '-std=c11', '-Wall', '-Werror', '-fsyntax-only',
                                        f'-I{ROOT}/include', f'-I{folder}', '-include', os.path.join(folder, 't.h'),
                                        os.path.join(folder, f'{stub}.stub.c')])
                    fine = fine and code == 0
                self.tap.check(f'cfgen_types_in_several_files_{name}', '' if fine else f'{found}{err}')

    def headers_of_one_name(self):
        """include(...) means the header that the preprocessor finds, not others with the same name."""
        headers = {'point.h': 'struct above { int n; };\n',
                   'a/point.h': '#include "part.h"\nstruct first { int n; };\n',
                   'a/part.h': 'struct part { int n; };\n', 'k/part.h': 'struct other { int n; };\n',
                   'k/point.h': 'struct beside { int n; };\n'}
        for name, included, shared in (
                ('in_a_folder_of_the_command_line', 'point.h', ('first', 'part')),
                ('beside', './point.h', ('beside',)), ('above', '../point.h', ('above',)),
                ('by_the_end_of_its_path', 'nowhere/../a/point.h', ('first', 'part'))):
            with tempfile.TemporaryDirectory() as folder:
                text = ('#include <point.h>\n#include "../point.h"\n#include "./point.h"\n#include "part.h"\n'
                        f'#pragma cf include("{included}")\n#pragma cf kernel grid(f.n)\n'
                        '__global__ void k(above v, first f, part p, other o, beside b)\n{\n}\n')
                for file, content in {**headers, 'k/k.cu': text}.items():
                    os.makedirs(os.path.dirname(os.path.join(folder, file)), exist_ok=True)
                    with open(os.path.join(folder, file), 'w', encoding='utf-8') as out:
                        out.write(content)
                code, _, err = self.cfgen(folder, '--prefix', 't', '-I', os.path.join(folder, 'a'),
                                          os.path.join(folder, 'k/k.cu'))
                header = '' if code else read(os.path.join(folder, 't.h'))
                left = {n for n in ('above', 'first', 'part', 'other', 'beside') if f'struct {n} {{' not in header}
                self.tap.check(f'cfgen_header_of_a_shared_name_{name}_is_found',
                               '' if code == 0 and left == set(shared) else f'{left}{err}')

    def headers_that_a_name_may_mean(self):
        """If an annotation could mean several headers, a warning says which one is used."""
        for name in ('one', 'two'):
            os.makedirs(os.path.join(self.folder, 'meant', name))
            with open(os.path.join(self.folder, 'meant', name, 'data.h'), 'w', encoding='utf-8') as file:
                file.write(f'struct {name} {{ int n; }};\n')
        path = os.path.join(self.folder, 'meant', 'meant.cu')
        for included, warnings in (('"one/data.h"', 0), ('"one/data.h"\n#include "two/data.h"', 1)):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(f'#include {included}\n#pragma cf include("data.h")\n#pragma cf kernel grid(n) inout(x[n])\n'
                           '__global__ void f(int *x, int n) { x[threadIdx.x] = n; }\n')
            code, out, err = self.cfgen(os.path.join(self.folder, 'meant'), '--root', os.path.dirname(path), path)
            self.tap.check(f'cfgen_header_of_{warnings + 1}_candidates', '' if code == 0 and out == '' and (
                err.count('warning') == warnings and
                (not warnings or 'meant.cu:3:20: warning: "data.h" may be one/data.h or two/data.h' in err))
                else f'{code} {out} {err}')

    def types_that_differ(self):
        """If a program declares a type with the same name, it must be the same type as in the kernel file."""
        with tempfile.TemporaryDirectory() as folder:
            self.cfgen(folder, '--prefix', 't', 'constructors.cu')
            for name, members, said in (('size', 'int v;', 'is another type in a kernel file; compile both'),
                                        ('place', 'double u; int v, after;', 'of a kernel file; compile both')):
                path = os.path.join(folder, 'own.c')
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(f'#define CUFERRY_TYPE_plain\nstruct plain {{ {members} }};\n#include "t.h"\n')
                code, _, err = run([*shlex.split(self.options.cc), '-std=c11', '-fsyntax-only', f'-I{ROOT}/include',
                                    path])
                self.tap.check(f'cfgen_type_of_another_{name}_is_refused_with_advice',
                               '' if code and said in err else err or 'taken')

    def unchanged_output_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.cfgen(folder, 'types.cu')
            paths = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
            for path in paths:
                os.utime(path, (1, 1))
            self.cfgen(folder, 'types.cu')
            touched = [p for p in paths if os.stat(p).st_mtime != 1]
            self.tap.check('cfgen_run_again_touches_nothing', ', '.join(touched) if touched or not paths else '')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--device', action='store_true')
    parser.add_argument('--brief', action='store_true')
    parser.add_argument('--cc', default=os.environ.get('CC', 'cc'))
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        GeneratorTest(options, tap, folder).run()
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
