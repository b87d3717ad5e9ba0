#!/usr/bin/env python3
"""test_loops.py - tests how the generator analyses the kernels of loop.cu, flat.cu and the bundled kernels: their
indices and guards, and which loops of scans.cu it recognizes. A kernel that it does not understand gives the right
results, but slowly, and no other test would notice that. Also tests about which steps of a warp the generator warns.

usage: test_loops.py [--cxx CXX]
"""

import argparse
import bisect
import os
import re
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../support'))
from tap import ROOT, Tap, run


# The kernels of sums.cu for which additions to `counts` are collected.
COLLECTED = {'shared_out', 'by_macros', 'seen_beside', 'element', 'pointer', 'two_terms', 'halves', 'blocks', 'wide',
             'rows'}
# Kernels of turned.cu whose x and y are exchanged.
TURNED = {'guarded', 'product', 'tile', 'by_turns'}
# For each kernel: the number of axes, "flat" or "mirrored" for its indices, and "numeric" if its threads own numbers
# only; then its guards. None: it does not become a loop.
UPPER = ('1 flat numeric', 'UPPER_X')
# The entry of EXPECTED for a flat kernel whose threads have, or may have, memory of their own.
OWN = ('1 flat', 'UPPER_X')
EXPECTED = {
    'forms_plain': UPPER,
    'forms_return': UPPER,
    'forms_end': UPPER,
    'forms_else': UPPER,
    'forms_else_braces': UPPER,
    'forms_braces': UPPER,
    'forms_static_cast': UPPER,
    'forms_mixed': UPPER,
    'forms_macro': UPPER,
    'forms_function': UPPER,
    'forms_parts': UPPER,
    'forms_lambda': None,
    'forms_stride': ('1 flat numeric', ''),
    'forms_float': UPPER,
    'forms_auto': UPPER,
    'forms_shift': ('1 flat numeric', 'UPPER_X UPPER_X'),
    'forms_literal': ('1 numeric', 'UPPER_X'),
    'forms_offset': UPPER,
    'forms_items': UPPER,
    'narrow_block': ('1 numeric', ''),
    'cast_block_i16': ('1 flat numeric', 'LOWER_X UPPER_X'),
    'cast_block_i32': ('1 flat numeric', 'LOWER_X UPPER_X'),
    'narrow_function': ('1 mirrored numeric', ''),
    'all_threads': ('1 flat numeric', ''),
    'all_else': ('1 flat numeric', ''),
    'all_after': ('1 flat numeric', ''),
    'all_before': ('1 flat numeric', ''),
    'all_counted': ('1 flat numeric', ''),
    'all_compared': ('1 flat numeric', ''),
    'bound_of_thread': ('1 flat numeric', ''),
    'narrow_index': OWN,
    'negative_limit': ('1 flat numeric', 'UPPER_X UPPER_X'),
    'signed_limit': ('1 flat numeric', 'UPPER_X UPPER_X'),
    'real_limit': ('1 flat numeric', 'UPPER_X UPPER_X'),
    'below_zero': UPPER,
    'real_steps': ('1 flat', 'UPPER_X'),
    'compared_by_class': ('1 flat', 'UPPER_X'),
    'own_filled': OWN,
    'own_pair': OWN,
    'own_pointers': OWN,
    'own_addressed': OWN,
    'own_object': OWN,
    'own_none': ('3 flat numeric', 'UPPER_X UPPER_Y'),
    'from_on': ('1 flat numeric', 'LOWER_X UPPER_X'),
    'divided': ('1 flat numeric', ''),
    'indices': ('3', 'UPPER_X UPPER_Y UPPER_Z'),
    'indices_of_rows': ('3 flat', 'UPPER_X UPPER_Y UPPER_Z'),
    'indices_by_function': ('3 mirrored numeric', 'UPPER_X UPPER_Y UPPER_Z'),
    'multiply_add_plain': None,
    'multiply_then_add': UPPER,
    'twice': OWN,
    'declared_before': UPPER,
    'other_name': UPPER,
    'without_index': ('1 flat numeric', ''),
}
for kind in ('i32', 'u32', 'i64', 'u64'):
    EXPECTED[f'interior_2d_{kind}'] = ('3 flat numeric', 'LOWER_X UPPER_X LOWER_Y UPPER_Y')
    EXPECTED[f'interior_3d_{kind}'] = ('3 flat numeric', 'LOWER_X UPPER_X UPPER_Y UPPER_Z')
    EXPECTED[f'multiply_add_{kind}'] = UPPER


# Forms of the index in flat.cu.
FLAT = {name: UPPER for name in (
    'size_first', 'thread_first', 'parentheses', 'variables', 'constant', 'constant_by_default',
    'constant_of_template_s32', 'constant_of_template_s64', 'casts', 'static_casts', 'cast_of_all', 'wide',
    'wide_variable', 'macro')}
FLAT.update({
    'variables_of_size': ('1 flat numeric', ''),
    'sign': ('1 flat numeric', ''),
    'axes': ('3 flat numeric', 'UPPER_X UPPER_Y UPPER_Z'),
    'other_constant': ('1 numeric', 'UPPER_X'),
    'other_name': ('1 numeric', 'UPPER_X'),
    'priced': ('1 flat numeric', 'UPPER_X'),
    'reread': OWN,
    'reread_beside': OWN,
    'changed': ('1 numeric', ''),
    'changed_by_call': ('1 numeric', ''),
    'changed_in_parentheses': ('1 numeric', ''),
    'changed_through_a_lambda': ('1', ''),
    'named_as_a_parameter': ('1 mirrored', ''),
    'changed_by_reference': ('1 numeric', ''),
    'declared_again': ('1 numeric', ''),
    'both': ('1 numeric', 'UPPER_X'),
})


# Kernels of mathematics.cu.
MATHEMATICS = {'floats': UPPER, 'doubles': UPPER, 'names': OWN, 'turned': None, 'fmaxf': None, 'lrint': None,
               'bessel': ('1 flat numeric', '')}


# Bundled kernels. A thread has one element; in scatter and gather_rows it has several, and a guard of its own. 16-bit
# floats are objects of a class, not numbers.
BUNDLED = {f'{family}_{tag}': (OWN if '16' in tag else UPPER)
           for family in ('fill', 'copy', 'scale', 'multiply', 'axpy', 'waxpy')
           for tag in ('f32', 'f64', 'i32', 'i64', 'f16', 'bf16')}
BUNDLED.update({f'gather_{tag}_{index}': (OWN if '16' in tag else UPPER)
                for tag in ('f32', 'f64', 'i32', 'i64', 'f16', 'bf16') for index in ('i32', 'i64')})
BUNDLED.update({f'{family}_{tag}_{index}': ('1 flat', '')
                for family in ('gather_rows', 'scatter')
                for tag in ('f32', 'f64', 'i32', 'i64', 'f16', 'bf16') for index in ('i32', 'i64')})


# The functions that replace loops of scans.cu, in order.
SCANS = {
    'steps_read_first': 'steps<CF__SUM, 96, 7, false>',
    'steps_of_floats': 'steps<CF__SUM, 96, 7, true> steps<CF__SUM, 96, 7, false>',
    'steps_elsewhere': 'steps<CF__SUM, 96, 7, true> steps<CF__SUM, 96, 7, false> steps<CF__SUM, 96, 4, true>',
    'steps_of_extremes': 'steps<CF__MAX, 96, 7, false> steps<CF__MIN, 96, 7, false>',
    'tree_steps': 'up<CF__SUM, 128, CF__BEFORE_DOWN> down<CF__SUM, 128, true> '
                  'up<CF__SUM, 64, CF__BEFORE_DOWN> down<CF__SUM, 64, true>',
    'tree_with_gaps': ' '.join(['up<CF__SUM, 128, CF__BEFORE_DOWN> down<CF__SUM, 128, true>'] * 2),
    'tree_spread': ' '.join(f'up<CF__{name}, {n}, CF__BEFORE_SPREAD> spread<CF__{name}, {n}, true>'
                            for name, n in (('SUM', 128), ('SUM', 64), ('MAX', 32))),
    'tree_interrupted': ' '.join(['up<CF__SUM, 64> down<CF__SUM, 64>'] * 3 + [
        'up<CF__SUM, 64, CF__BEFORE_DOWN> down<CF__SUM, 64, true>']),
    'steps_behind_others': ' '.join(['steps<CF__SUM, 160, 7, false, 64>'] * 3),
    'steps_of_two_types': 'steps<CF__SUM, 96, 7, true> steps<CF__SUM, 96, 7, true> steps<CF__SUM, 96, 7, true>',
    'no_steps': '', 'no_steps_alone': '', 'no_steps_of_some': ''}
# The functions that replace loops of folds.cu.
FOLDS = {'fold_pairs': ' '.join(f'fold<CF__SUM, {n}>' for n in (64, 64, 128)), 'fold_to_least': '',
         'fold_by_function': '', 'steps_by_function': 'steps<CF__SUM, 160, 7, false, 64>'}
# The number of loops over the threads of a block, for kernels of choices.cu.
PARTS = {'parted': 8, 'not_parted': 4, 'gathered': 3, 'not_gathered': 4}
# The number of sections, which the warps of a block run one after the other, for kernels of sections.cu.
SECTIONS = {'across_sections': 1, 'bounds_of_warps': 1, 'rows_in_sections': 2, 'sums_by_calls': 6, 'compared_warps': 1,
            'ranks_of_block': 2, 'widths_of_warps': 2, 'values_of_warps': 2, 'advanced_in_sections': 3,
            'ends_before_sections': 2, 'partial_warps': 2, 'ends_of_partial_warps': 1, 'moved_in_sections': 1}
# For kernels of lines.cu: the number of sections, and that of regions whose lanes run row by row.
LINES = {'pairs_of_rows': (2, 4), 'parts_of_rows': (2, 7), 'layers_of_warps': (1, 4), 'ends_of_rows': (1, 0),
         'kept_in_lines': (2, 6), 'sizes_of_launch': (1, 2)}
# The numbers of regions and of their quotients for which rows are divided, for kernels of quotients.cu.
QUOTIENTS = {'quotients': (1, 10), 'quotients_of_whole_rows': (1, 9), 'quotients_of_steps': (2, 5),
             'quotients_that_stay': (0, 0), 'quotients_of_others': (1, 2), 'quotients_of_inner': (3, 3),
             'quotients_of_changing': (1, 1), 'quotients_of_parts': (1, 1)}

# For kernels of ranges.cu: the number of comparisons with an index that grows by more than 1, and that of conditions by
# which regions are divided.
SCALED = {'scaled': (16, 1), 'scaled_thread': (10, 2), 'given_index': (0, 5)}
# For kernels of halos.cu: the lengths of the rows of tiles, and the number of conditional loads that become choices
# between values.
TILES = {'halo_by_rows': ['20', '8', '12'], 'halo_of_zeros': ['20'], 'halo_of_threads': [], 'guarded_loads': []}
LOADS = {'halo_by_rows': 0, 'halo_of_zeros': 0, 'halo_of_threads': 0, 'guarded_loads': 3}

# (file, kernel, text, True if the regions of the kernel contain the text)
TEXTS = [
    ('groups', 'rows_beside_groups', 'cf__row_scope', True),        # one long row is divided into rows
    ('ranges', 'advanced', 'cf__ends ', False),     # threads that a condition ends before barriers are its range
    ('memory', 'pointers_to_memory', r'cf__kept_\d+_(by_class|second)', False),   # they are the same for the block
    ('memory', 'pointers_to_memory', r'cf__kept_\d+_own', True),
    ('folds', 'fold_to_least', r'{ if [(] value\[', True),          # conditions are divided
    ('regions', 'columns_to_rows', r'for [(]int j[^{]*{\s*CF__ROWS[^\n]*out\[', True),    # row by row
    ('vectors', 'forces', r'cf__T_\d+_sum sum = cf__kept', True),   # element by element
    ('columns', 'queues', 'cf__kept_column<', True),
    ('operands', 'safe_operands', r'\b(alive|few) = [^;]*(&&|[|][|])', False),
    ('operands', 'unsafe_operands', r'[)] != 0', False),
    ('operands', 'named_operands', r'[)] != 0', False),
    ('operands', 'types_of_operands', r'size_of[( ]+t > 5 [)] != 0 [)] [|]', True),
    ('operands', 'repeated_by_lanes',
     r'WARPS_OF[^|]*before = 0;[^|]*WARPS_OF[^|]*larger = 0;[^|]*INDEP[^|]*mixed = 1', True),
    ('masks', 'conditions_in_parentheses', r'cf__kept_\d+_cf__asked_\d', True),
    ('operands', 'splits', r'cf__kept_\d+_chosen', True),      # the loop that chooses places is apart from the stores
]


def regions_of(cxx, name):
    """Returns the text of the regions of each kernel in a file."""
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = run([sys.executable, f'{ROOT}/gen/cfgen', '--prefix', name, '--cxx', cxx, '-I',
                            f'{ROOT}/include/cuferry/shadow', '-I', f'{ROOT}/include', '--root', ROOT, '--outdir',
                            folder, f'{ROOT}/tests/gen/regions/{name}.cu'])
        if code:
            return {'': err}
        with open(f'{folder}/{name}.host.cu', encoding='utf-8') as file:
            parts = re.split(r'void cf__regions_(\w+)\(', file.read())
    return {name: text.split('\n}')[0] for name, text in zip(parts[1::2], parts[2::2])}


def found_scans(cxx, file, expected):
    """Returns the kernels of a file for which the generator uses functions other than those expected."""
    found = {name: ' '.join(re.findall(r'cf__scan_(\w+<[^>]*>)\(', text))
             for name, text in regions_of(cxx, file).items()}
    return ' '.join(name for name in sorted(expected.keys() | found.keys()) if found.get(name) != expected.get(name))


def wrong_parts(cxx):
    """Returns the kernels of PARTS whose number of loops is wrong."""
    found = regions_of(cxx, 'choices')
    return ' '.join(name for name, number in PARTS.items()
                    if len(re.findall(r'CF__(?:SPAN_)?ROW {', found.get(name, ''))) != number)


def wrong_tiles(cxx):
    """Returns the kernels whose rows differ from those in TILES, or whose number of choices from that in LOADS."""
    found = regions_of(cxx, 'halos')
    return ' '.join(name for name, lengths in TILES.items() if LOADS[name] != len(re.findall(
        r'[?] static_cast < ', found.get(name, ''))) or lengths != re.findall(
            r'cf__row_scope<(\d+)>', found.get(name, '')))


def wrong_sections(cxx):
    """Returns the kernels of SECTIONS whose number of sections is wrong."""
    found = regions_of(cxx, 'sections')
    lines = regions_of(cxx, 'lines')
    return ' '.join([name for name, number in SECTIONS.items() if found.get(name, '').count('CF__SECTION') != number] +
                    [name for name in LINES | lines if LINES.get(name) != tuple(
                        lines.get(name, '').count(word) for word in ('CF__SECTION', 'CF__LINES'))])


def wrong_quotients(cxx):
    """Returns the kernels whose numbers differ from those in QUOTIENTS."""
    texts = regions_of(cxx, 'quotients')
    found = {name: (texts.get(name, '').count('cf__run_ranges = '), texts.get(name, '').count('cf__first_value<'))
             for name in QUOTIENTS | texts}
    return ' '.join(f'{name}: {numbers}' for name, numbers in found.items() if numbers != QUOTIENTS.get(name))


def wrong_texts(cxx):
    """Returns the kernels of TEXTS whose regions wrongly have or lack a text."""
    files = {file: regions_of(cxx, file) for file, *_ in TEXTS}
    return ' '.join(f'{kernel}: {text}' for file, kernel, text, is_there in TEXTS
                    if bool(re.search(text, files[file].get(kernel, ''))) != is_there or kernel not in files[file])


def wrong_ranges(cxx):
    """Returns the kernels of SCALED for which the numbers of conditions that are ranges are wrong."""
    found = regions_of(cxx, 'ranges')
    return ' '.join(name for name, numbers in SCALED.items() if numbers != tuple(
        found.get(name, '').count(text) for text in ('cf__scaled<', 'cf__piece.')))


def loops(text):
    """Returns the loop of each kernel in a file of CPU bodies."""
    found = {}
    for body in re.split(r'(?=^(?:CF__FN CF__INLINE|extern "C") void )', text, flags=re.MULTILINE):
        name = re.match(r'(?:CF__FN CF__INLINE|extern "C") void (?:cf__loop_|loop__h_)(\w+)', body)
        loop = re.search(r'cf__loop<(\d), (\w+), (\w+), (\w+)((?:, CF__\w+)*)>', body)
        if name:
            # All variants have the same loop as the first one.
            found[name.group(1).split('__')[0]] = loop and (
                ' '.join([loop.group(1)] + [word for number, word in enumerate(('flat', 'mirrored', 'numeric'))
                                            if loop.group(2 + number) == 'true']),
                loop.group(5).replace(', CF__', ' ').strip())
    return found


def generate(cxx, sources):
    """Returns the CPU bodies, the copies of the kernel files that contain them, their stubs, and an error text ('' if
    none)."""
    bodies = ''
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = run([sys.executable, f'{ROOT}/gen/cfgen', '--prefix', 'loop', '--cxx', cxx, '-I',
                            f'{ROOT}/include/cuferry/shadow', '-I', f'{ROOT}/include', '--root', ROOT, '--outdir',
                            folder, *sources])
        for file in os.listdir(folder):
            if '.host.c' in file or '.stub.c' in file:
                with open(f'{folder}/{file}', encoding='utf-8') as text:
                    bodies += text.read()
    return bodies, err or f'exit {code}' if code else ''


def wrong_sums(cxx):
    """Returns an error unless exactly the kernels in COLLECTED collect sums."""
    bodies, error = generate(cxx, [f'{ROOT}/tests/gen/sums.cu'])
    if bodies.count('cf__plain_atomicAdd') != 10:
        error = error or 'own[] does not change by plain operations'
    if 'cf__any_goes' not in bodies.partition('cf__regions_by_macros(CF__PARAMETER')[2].partition('__global__')[0]:
        error = error or 'parentheses of macros hide an index'
    shared_out = bodies.partition('cf__regions_shared_out(CF__PARAMETER')[2].partition('__global__')[0]
    if not re.search(r'cf__any_goes.*cf__plain_atomicAdd.*atomicAdd.*cf__any_goes.*atomicAdd', shared_out, re.DOTALL):
        error = error or 'threads that share elements out do not take each step together'
    found = set(re.findall(r'cf__collected_1 = cf__sums_1\.collected.*?\b(?:cf__regions_)?(\w+)\(cf__index,', bodies,
                           re.DOTALL))
    return error or ' '.join(sorted(found ^ COLLECTED))


def wrong_turns(cxx):
    """Returns an error unless exactly the kernels in TURNED have their axes exchanged."""
    bodies, error = generate(cxx, [f'{ROOT}/tests/gen/turned.cu'])
    found = {re.match(r'\w+', body).group() for body in re.split(r' void (?:cf__loop_|loop__h_)', bodies)
             if 'cf__turn(' in body}
    return error or ' '.join(sorted(found ^ TURNED))


CALLS = """#include <cuferry/cpu/prelude.cuh>
extern "C" double exp(double);
double all(float x, double y, int z)
{
    return expf(x) + exp(x) + exp(y) + __expf(x) + std::exp(x) + std::exp(y) + std::exp(z) +
           logf(x) + log(x) + log(y) + __logf(x) + std::log(x) + std::log(y) + std::log(z) +
           tanhf(x) + tanh(x) + tanh(y) + __tanhf(x) + std::tanh(x) + std::tanh(y) + std::tanh(z);
}
"""


def called_functions(cxx):
    """Returns an error, or the functions of the C library that are called for exponentials, logarithms and hyperbolic
    tangents. There should be none, because such a call keeps a compiler from vectorizing a loop."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/calls.cpp', 'w', encoding='utf-8') as source:
            source.write(CALLS)
        code, out, err = run([*cxx.split(), '-std=c++17', '-O2', '-I', f'{ROOT}/include/cuferry/shadow', '-I',
                              f'{ROOT}/include', '-S', '-o', '-', f'{folder}/calls.cpp'])
    called = re.findall(r'\b(?:__)?(?:exp|log|tanh)f?(?:@PLT)?$', out, re.MULTILINE)
    return err if code else ' '.join(sorted(set(called)))


# Bodies of functions with a volatile array v, another pointer q and a lane i; True: -Wlockstep warns about them.
_FIRST, _SECOND, _WAIT = 'v[i] += v[i + 8];', 'v[i] += v[i + 4];', '__syncwarp();'
_FEWER, _FEW = f'if (i < 8) {_FIRST}', f'if (i < 4) {_SECOND}'
STEPS = {
    True: [f'{_FIRST} {_WAIT} {_SECOND}', f'{_FEWER} q[0] = 1; {_FEW}', f'{_FEWER} q[0] = helper; {_FEW}',
           *(f'for (int d = 16; d; {change}) v[i] += v[i + d];'
             for change in ('d >>= 1', 'd = d >> 1', 'd <<= 1', 'd = d << 1', 'd /= 2', 'd = d / 2', 'd *= 2',
                            'd = d * 2')),
           *(f'for (int d = 1; d < 32; {change}) if (i < d) v[i] += v[i + d];'
             for change in ('d <<= 1', 'd = d << 1', 'd *= 2', 'd = d * 2')),
           'int *p = v; p[i] += p[i + 8]; p[i] += p[i + 4];',
           'volatile int *p = q; p[i] += p[i + 8]; p[i] += p[i + 4];',
           *(f'if (i < 8) v[i] {change}= v[i + 8]; if (i < 4) v[i] {change}= v[i + 4];' for change in '+-*/%|&^'),
           'if (i < 8) v[i] <<= v[i + 8]; if (i < 4) v[i] >>= v[i + 4];',
           'int k = i + 1; v[k] += v[k - 4]; v[k] += v[k - 8];',
           'const int k = threadIdx.x; dynamic[k] += dynamic[k + 8]; dynamic[k] += dynamic[k + 4];',
           f'{_FEWER} {_WAIT} {_FEW} if (i < 2) v[i] += v[i + 2];', f'{_FEWER} nothing(); {_FEW}',
           f'if (i < 4) {{ q[0] = 1; }} {_FIRST} {_WAIT} {_SECOND}',
           f'if (n > 1) return; {_FIRST} {_WAIT} {_SECOND}', f'if (i >= n) return; {_FIRST}',
           *(f'int k = {index}; v[k] += v[k + 8];' for index in ('2 * i', 'i << 1', 'i / 2')),
           'int j = 2 * i; int k = j; v[k] += v[k + 8];', 'for (int d = 4; d; d /= 2) v[i] += v[i + 8];',
           f'if (n) q[0] = 1; else if (i < 16) {_FIRST}', f'if (i / 2 < 16) {_FIRST}',
           'int d; for (d = 16; d > 4; d /= 2) q[d] = 1; v[i] += v[i + d];', f'{_FIRST} v[i] += v[i + 16];',
           *(f'if (i >= {distance}) v[i] += v[i - {distance}];' for distance in (1, 2, 4, 8)),
           'int k = i ^ 3; v[i] = v[k];', 'v[i] = 1; q[i] = v[(i + 1) % 32];', 'q[i] = v[31 - i]; v[i] = 1;',
           'for (int k = 0; k < n; k++) { v[i] = k; __syncwarp(); q[k] += v[i ^ 1]; }',
           'int k = i, m = k & 15; v[k] += v[k + 8 - m % 1];', 'int k; k = i; v[k] += v[k + 4];',
           'volatile int *p = v + 3; p[i] += p[i + 1];', 'volatile int *p = &v[i]; *p += p[8];',
           'v[own(i)] += v[own(i) + 8];', 'v[i * 1] += v[(i + W / 4)];',
           'v[(int)i] += v[static_cast<int>(i) + 2];', 'v[min(i, 99)] += v[max(i, 0) + 8];',
           'int k = i > 99 ? 0 : i; v[k] += v[k + 8];', 'do { v[i] += v[i + 8]; } while (n);',
           'switch (n) { case 1: q[i] = 1; break; } v[i] += v[i + 8];'],
    False: [*(f'{_FEWER} {barrier}; {_FEW}'
              for barrier in ('wait_all()', 'arrive_one()', 'barrier_a()', 'SYNC()', 'helper()', 'o.sync()',
                              'asm volatile("bar.sync 0;")')),
            *(f'for (;;) {{ if (i >= 4) {leave}; {_FEWER} {_WAIT} {_SECOND} {_WAIT} }}'
              for leave in ('return', 'break', 'continue', 'goto end')),
            'v[2 * i] = v[2 * i + 1];', 'int k = 2 * i; v[k] += v[k + 1];', 'v[i << 1] = v[(i << 1) + 1];',
            'for (int d = 1; d < 32; d *= 2) { if (i % (2 * d) == 0) v[i] += v[i + d]; __syncwarp(); }',
            'for (int d = 16; d; d /= 2) { if (i < d) v[i] += v[i + d]; __syncwarp(); }',
            'for (int d = 1; d < 32; d *= 2) { int o = i >= d ? v[i - d] : 0; __syncwarp(); v[i] += o; __syncwarp(); }',
            'int *p = q + v[0]; p[i] += p[i + 8]; p[i] += p[i + 4];',
            f'{_FEWER} if (i < 4) dynamic[i] += dynamic[i + 4];',
            f'if (i < 8) {{ {_FIRST} }} {_WAIT} if (i < 4) {{ {_SECOND} }}',
            f'if (i >= 4) {{ return; }} {_FIRST} {_WAIT} {_SECOND}',
            f'v[i] = i < 8 ? v[i] + v[i + 8] : v[i]; {_WAIT} v[i] = i >= 4 ? v[i] : v[i] + v[i + 4];',
            f'if (i >= 4) q[0] = 1; else {{ {_FIRST} {_WAIT} {_SECOND} }}',
            'q->v[i] += q->v[i + 8]; q->v[i] += q->v[i + 4];', 'q[0] += v[i] + v[i + 8]; q[0] += v[i] + v[i + 4];',
            'v[i] += dynamic[i + 8]; v[i] += dynamic[i + 4];', 'v[i] += v[n + 8]; v[i] += v[n + 4];',
            f'{_FEWER} q[i] += q[i + 4];', f'if (i == 0) {{ {_FIRST} v[0] += v[4]; }}',
            f'if (q[i]) {_FIRST}', f'if (i == n) {_FIRST}', f'if (q[i]) return; {_FIRST}',
            'v[q[i]] += v[q[i] + 8];', 'v[i * n] += v[i * n + 8];', 'v[i + n] += v[i + 32 + n];',
            'volatile int own[8]; own[i & 3] = i; q[i] = own[0];', 'while (v[3] == 0) {} v[3] = 1;',
            'if (n) { v[i] = 1; } else { q[i] = v[i + 1]; }', 'v[i].x = v[i + 1].y;',
            'auto f = [&]() { __syncthreads(); }; v[i] = 1; f(); q[i] = v[i ^ 1];'],
}


def warned_steps(cxx):
    """Returns the bodies of STEPS for which the generator warns although it should not, or does not warn."""
    rows = [(body, is_warned) for is_warned, bodies in STEPS.items() for body in bodies]
    functions = [f'__device__ void f{i}(volatile int *v, int *q, int i) {{ {row[0]} }}\n' for i, row in enumerate(rows)]
    calls = ' '.join(f'f{i}(x, x, threadIdx.x);' for i in range(len(rows)))
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/steps.cu', 'w', encoding='utf-8') as source:
            source.write(''.join(functions) + 'extern __shared__ int dynamic[]; const int W = 32;\n'
                         '__device__ void helper() { __syncthreads(); } __device__ void nothing() {}\n'
                         '__device__ int own(int i) { return i; }\n'
                         '#pragma cf kernel blocks(1) block(32) shared(512) inout(x[32])\n'
                         f'__global__ void steps(int *x) {{ {calls} }}\n')
        _, _, err = run([sys.executable, f'{ROOT}/gen/cfgen', '--prefix', 'steps', '--cxx', cxx, '--outdir', folder,
                         f'{folder}/steps.cu'])
    lines = {int(line) for line in re.findall(r'steps\.cu:(\d+):\d+: warning: .*-Wlockstep', err)}
    wrong = [body for line, (body, is_warned) in enumerate(rows, 1) if (line in lines) != is_warned]
    return '\n'.join(wrong) if lines else err or 'no warnings'


def warned_kernels(cxx):
    """Returns the functions of steps.cu for which the generator warns although it should not, or does not warn."""
    with open(f'{ROOT}/tests/gen/steps.cu', encoding='utf-8') as file:
        source = file.read()
    with tempfile.TemporaryDirectory() as folder:
        _, _, err = run([sys.executable, f'{ROOT}/gen/cfgen', '--prefix', 'steps', '--cxx', cxx, '--outdir', folder,
                         f'{ROOT}/tests/gen/steps.cu'])
    functions = list(re.finditer(r'__(?:global|device)__ \w+ (\w+)\(', source))
    begins = [source.count('\n', 0, match.start()) + 1 for match in functions]
    lines = [int(line) for line in re.findall(r'steps\.cu:(\d+):\d+: warning: .*-Wlockstep', err)]
    warned = {functions[bisect.bisect(begins, line) - 1][1] for line in lines}
    # If a kernel calls a function that causes the warning, the warning is about the function.
    expected = {match[1] for match in functions if match.start() < source.index('/* Right')} - {
        'add', 'in_function', 'in_template'}
    return ' '.join(sorted(warned ^ expected)) if lines else err or 'no warnings'


# Expressions in a kernel with barriers; True: they are computed as signed numbers when the kernel runs as regions.
SUMS = {
    True: ['threadIdx.x + 1', 'threadIdx.x - 1', '3 + threadIdx.x', '2 * threadIdx.x + 1', '2 * (threadIdx.x - 5)',
           'threadIdx.y * 32 + threadIdx.x', '(threadIdx.x + 1) / 2', 'n > threadIdx.x + 1 ? 1 : 0',
           'blockIdx.y * 32 + threadIdx.x', '2 * (blockIdx.x * blockDim.x) + (threadIdx.x)',
           'threadIdx.x * 1024 * 1024 + 1', 'threadIdx.x + (1 - threadIdx.x | n)'],
    False: ['threadIdx.x', 'threadIdx.y + 1', 'threadIdx.x + 1u', 'threadIdx.x + 010', 'threadIdx.x + n',
            'n - threadIdx.x - 1', 'n * threadIdx.x + 1', '-threadIdx.x + 1', 'threadIdx.x * 2 % 3',
            'threadIdx.x * 4096 * 1024 + 1', 'threadIdx.x * threadIdx.x * threadIdx.x * 3 + 1', 'threadIdx.x + 1.5f',
            'x[threadIdx.x] + 1', 'threadIdx.x + x', '2 * threadIdx.x - (threadIdx.x & n)',
            'blockIdx.x * 2048 + threadIdx.x', '(blockIdx.x * 2048) * 0 + threadIdx.x',
            'gridDim.x * 8 + threadIdx.x', '(n & threadIdx.x) + threadIdx.x + 1']}


def misread_sums(cxx):
    """Returns the expressions of SUMS that the generator computes with a sign although it should not, or the
    reverse."""
    rows = [(text, is_signed) for is_signed, texts in SUMS.items() for text in texts]
    body = ''.join(f's[threadIdx.x] = {text};\n' for text, _ in rows).replace('+ x;', '+ one . x;')
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/sums.cu', 'w', encoding='utf-8') as source:
            source.write('struct point { int x; };\n#pragma cf kernel blocks(1) block(16, 2) in(x[n]) out(y[n])\n'
                         '__global__ void sums(const int *x, int *y, int n)\n{\n__shared__ float s[16];\n'
                         f'point one = {{1}};\n__syncthreads();\n{body}__syncthreads();\n'
                         'y[threadIdx.x] = s[threadIdx.x];\n}\n')
        _, _, err = run([sys.executable, f'{ROOT}/gen/cfgen', '--prefix', 'sums', '--cxx', cxx, '-I',
                         f'{ROOT}/include/cuferry/shadow', '-I', f'{ROOT}/include', '--outdir', folder,
                         f'{folder}/sums.cu'])
        with open(f'{folder}/sums.host.cu', encoding='utf-8') as file:
            found = re.findall(r'(?<=s\[threadIdx.x\] = )[^;]*', file.read().partition('cf__regions_sums')[2])
    return '\n'.join(text for (text, is_signed), own in zip(rows, found) if ('(int)threadIdx' in own) != is_signed) \
        if len(found) == len(rows) else err or f'{len(found)} sums'


# A kernel with two annotations.
TWO_BLOCKS = '''#pragma cf kernel name(by_64) grid(n) block(64) in(x[n]) out(y[n])
__global__ void turn(const float *x, float *y, int n);
#pragma cf kernel name(by_256) grid(n) block(256) in(x[n]) out(y[n])
__global__ void turn(const float *x, float *y, int n)
{
    __shared__ float part[256];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
'''


def keeps_indices_of_block(cxx):
    """Returns the text of a kernel if its threads store an index that is computed from variables of the block, or if
    each thread runs the condition that sets these variables."""
    text = regions_of(cxx, 'uses').get('set_in_branches', 'no regions')
    is_right = set(re.findall(r'cf__kept_\d+_(\w+)\(', text)) == {'from', 'end', 'at'} and \
        'CF__ENTER' not in text.partition('if (n % 5')[0]
    return '' if is_right else text


def lacks_fetches(cxx):
    """Returns an error if the rows of a step do not prefetch the rows of the next step."""
    text = regions_of(cxx, 'regions').get('moving_rows', 'no regions')
    found = re.findall(r'cf__fetch\(&\s*(in\s*\[[^]]*\]), (\d)', text)
    return '' if {('in[at]', '1'), ('in[own]', '1'), ('in[at - 1]', '1')} <= set(found) else f'{found}\n{text}'


# The number 64 in the kernel is the block size of the first annotation only.
WRITTEN_BLOCK = '''#pragma cf kernel name(by_64) blocks(n / 64) block(64) in(x[n]) out(y[n])
__global__ void copy(const float *x, float *y, int n);
#pragma cf kernel name(by_128) blocks(n / 128) block(128) in(x[n]) inout(y[n])
__global__ void copy(const float *x, float *y, int n)
{
    int i = 64 * blockIdx.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
'''


def wrong_blocks(cxx):
    """Returns an error if code for blocks of one size runs blocks of another size."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/two.cu', 'w', encoding='utf-8') as file:
            file.write(TWO_BLOCKS)
        bodies, error = generate(cxx, [f'{folder}/two.cu'])
        with open(f'{folder}/written.cu', 'w', encoding='utf-8') as file:
            file.write(WRITTEN_BLOCK)
        written, other_error = generate(cxx, [f'{folder}/written.cu'])
    if other_error or 'cf__global' in written:
        return other_error or '64 * blockIdx.x counts as the first thread of a block of 128'
    found = re.findall(r'cf__(?:regions<|block_scope<)(\d+)', bodies)
    return error or '' if set(found) == {'64'} else ' '.join(found)


# Statements of a kernel, and the parts of the prelude that they need. Each kernel includes another header, too.
NEEDED = {'x[0] = n;': '', 'x[0] = fabsf(n);': '', 'x[0] = make_int2(n, n).x;': 'MAKE',
          'x[0] = CALL(add2)(n, n);': 'SIMD', 'x[0] = __vimax3_s32(n, n, n);': 'SIMD', 'x[0] = std::max(n, 1);': 'STD',
          'x[0] = cooperative_groups::this_thread_block().size();': 'MAKE SIMD STD'}


def wrong_prelude(cxx):
    """Returns an error if the copy for the CPU does not include exactly the parts of the prelude that it needs."""
    for statement, part in NEEDED.items():
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f'{folder}/c++')       # the paths of the C++ library's headers contain this name
            with open(f'{folder}/c++/parts.cu', 'w', encoding='utf-8') as file:
                file.write('#include <cooperative_groups.h>\n' * ('groups' in statement) +
                           f'#include <cmath>\n#define CALL(name) __v##name\n#pragma cf kernel grid(n) inout(x[n])\n'
                           f'__global__ void f(int *x, int n) {{ {statement} }}\n')
            bodies, error = generate(cxx, [f'{folder}/c++/parts.cu'])
        left_out = set(re.findall(r'^#define CF__NO_(\w+)$', bodies, re.MULTILINE))
        if error or left_out != {'MAKE', 'SIMD', 'STD'} - {*part.split()}:
            return f'{error}{statement} leaves out {", ".join(sorted(left_out))}'
    return ''


# Statements of kernels, and the reasons why these have no better form. `one` and `two` are functions with shuffles.
REASONS = {
    'v = n > 3 ? one(v) : 0;': 'one in line 2 waits for other threads, and ? in line 2 keeps the call from being '
                               'inlined',
    'const float &a = one(v); v += a;': 'one in line 2 waits for other threads, and one in line 2 is called where its '
                                        'statements cannot stand',
    'v = two(v);': "two in line 2 waits for other threads, and return in line 1 is not at its function's end",
    'v += [] { return threadIdx.x; }();': "[ in line 2 begins code that cannot see the kernel's indices"}
WAITING = '__device__ float one(float v) { return __shfl_xor_sync(~0u, v, 1); } ' \
    '__device__ float two(float v) { if (v < 0) return 0; return __shfl_xor_sync(~0u, v, 1); }\n'


def wrong_reasons(cxx):
    """Returns an error if a kernel's form does not come with its reason."""
    for statement, reason in REASONS.items():
        with tempfile.TemporaryDirectory() as folder:
            with open(f'{folder}/reason.cu', 'w', encoding='utf-8') as file:
                file.write(f'{WAITING}__global__ void turn(float *x, int n) {{ float v = x[threadIdx.x]; {statement} '
                           'x[threadIdx.x] = v; }\n#pragma cf kernel grid(n) inout(x[n])\n'
                           '__global__ void turn(float *x, int n);\n')
            bodies, error = generate(cxx, [f'{folder}/reason.cu'])
        if error or f': {reason}"' not in bodies:
            return error or f'{reason}\n{re.findall(".*(?:fibers|by thread).*", bodies)}'
    return ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--cxx', default=os.environ.get('CXX', 'c++'))
    options = parser.parse_args()
    tap = Tap()
    bundled = [f'{ROOT}/kernels/{family}.cu' for family in ('fill', 'multiply', 'axpy', 'gather', 'scatter')]
    for name, sources, expected in (('loop_cu', [f'{ROOT}/tests/gen/loop.cu'], EXPECTED),
                                    ('flat_cu', [f'{ROOT}/tests/gen/flat.cu'], FLAT),
                                    ('mathematics_cu', [f'{ROOT}/tests/gen/mathematics.cu'], MATHEMATICS),
                                    ('kernels', bundled, BUNDLED)):
        bodies, error = generate(options.cxx, sources)
        found = loops(bodies)
        tap.check(f'{name}_is_generated' if name.endswith('_cu') else f'{name}_are_generated', error)
        for kernel in sorted(expected.keys() | found.keys()):
            wanted, actual = expected.get(kernel, 'nothing'), found.get(kernel, 'nothing')
            tap.check(f'loop_of_{kernel}', '' if actual == wanted else f'{actual}, and not {wanted}')
    tap.check('sums_of_integers_are_collected', wrong_sums(options.cxx))
    tap.check('scans_are_found', found_scans(options.cxx, 'scans', SCANS))
    tap.check('folds_are_found', found_scans(options.cxx, 'folds', FOLDS))
    tap.check('blocks_of_two_annotations_have_their_own_forms', wrong_blocks(options.cxx))
    tap.check('parts_of_the_prelude_are_left_out', wrong_prelude(options.cxx))
    tap.check('forms_come_with_their_reasons', wrong_reasons(options.cxx))
    tap.check('axes_are_exchanged', wrong_turns(options.cxx))
    tap.check('stores_to_chosen_elements_are_apart', wrong_parts(options.cxx))
    tap.check('warps_run_sections', wrong_sections(options.cxx))
    tap.check('rows_are_divided_by_quotients', wrong_quotients(options.cxx))
    tap.check('flat_loops_run_by_rows', wrong_tiles(options.cxx))
    tap.check('regions_have_the_texts_of_their_forms', wrong_texts(options.cxx))
    tap.check('indices_that_grow_by_factors_or_are_chosen_have_ranges', wrong_ranges(options.cxx))
    tap.check('indices_from_variables_that_a_block_sets_are_computed_again', keeps_indices_of_block(options.cxx))
    tap.check('rows_fetch_those_of_the_next_step', lacks_fetches(options.cxx))
    tap.check('exponential_functions_are_arithmetic', called_functions(options.cxx))
    tap.check('sums_of_indices_are_signed', misread_sums(options.cxx))
    tap.check('steps_without_lockstep_are_told_apart', warned_steps(options.cxx))
    tap.check('kernels_that_rely_on_lockstep_are_told_apart', warned_kernels(options.cxx))
    return tap.close()


if __name__ == '__main__':
    sys.exit(main())
