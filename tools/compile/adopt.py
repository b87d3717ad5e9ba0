"""adopt.py - writes declarations of kernels that Triton or Numba compiled."""

import json
import math
import os
import re
import sys

from base.regular import open_regular
from base.text import C_WORDS, CXX_WORDS
from failure import Failure, Refused, say_what_is
from workspace import stem

KINDS = ('triton', 'numba')
# Types in Triton's IR and in the names of Numba's kernels.
TRITON = {'i1': 'bool', 'i8': 'int8_t', 'i16': 'int16_t', 'i32': 'int32_t', 'i64': 'int64_t', 'f16': '__half',
          'bf16': '__nv_bfloat16', 'f32': 'float', 'f64': 'double', 'f8E4M3FN': '__nv_fp8_e4m3',
          'f8E5M2': '__nv_fp8_e5m2'}
NUMBA = {'a': 'int8_t', 'h': 'uint8_t', 's': 'int16_t', 't': 'uint16_t', 'i': 'int32_t', 'j': 'uint32_t',
         'x': 'int64_t', 'y': 'uint64_t', 'b': 'bool', 'f': 'float', 'd': 'double', 'Dh': '__half'}
NUMBA_ELEMENTS = {'float16': '__half', 'float32': 'float', 'float64': 'double', 'boolean': 'bool', 'bool': 'bool',
                  **{f'{sign}int{bits}': f'{sign}int{bits}_t' for sign in ('', 'u') for bits in (8, 16, 32, 64)}}
HEADERS = {'__half': 'cuda_fp16.h', '__nv_bfloat16': 'cuda_bf16.h', '__nv_fp8_e4m3': 'cuda_fp8.h',
           '__nv_fp8_e5m2': 'cuda_fp8.h'}
# Types of PTX, for cache entries without IR. PTX does not tell the type of a pointer's elements.
PTX = {'ptr': 'void *', 'f32': 'float', 'f64': 'double', 'u8': 'uint8_t', 'u16': 'uint16_t', 'u32': 'int32_t',
       'b32': 'int32_t', 'u64': 'int64_t', 'b64': 'int64_t'}
# Memory that Triton's launcher supplies: maps the key of its size in the JSON to the name of the trailing pointer.
SCRATCH = {'global_scratch_size': 'global_scratch', 'profile_scratch_size': 'profile_scratch'}
NAME = re.compile(r'[A-Za-z_]\w*', re.ASCII)
# Characters that cannot be written in a clause's string: quotes, backslashes, control characters, surrogates, and the
# braces that mark a template parameter.
UNSPEAKABLE = re.compile(r'["\\{}\x00-\x1f\x7f\ud800-\udfff]')
LARGEST, LARGEST_BLOCK = 2 ** 31 - 1, 1024


class Declaration:
    """A kernel's declaration. `params` are pairs (type, name); `clauses` are written before the arrays' clauses."""

    def __init__(self, origin, image, entry, params, clauses, scratch=()):
        if UNSPEAKABLE.search(image):
            raise Failure(f'{image!a}: image(...) cannot name a path with a quotation mark, a backslash, a brace, a '
                          'control character, or bytes that are no UTF-8; rename the file or the folder')
        self.origin, self.image, self.entry = origin, image, entry
        self.params, self.clauses, self.scratch = params, clauses, list(scratch)

    def spell(self, name):
        clauses = [f'image("{self.image}")', *[f'entry("{self.entry}")'] * (name != self.entry), *self.clauses]
        for ctype, param in self.params:
            if ctype == 'void *':
                clauses.append(f'resident({param})')
            elif ctype.endswith('*'):
                clauses.append(f'inout({param}[/* elements? */])')
        clauses += [f'scratch({", ".join(f"{param}[0]" for param in self.scratch)})'] * bool(self.scratch)
        lines = ['#pragma cf kernel']
        for clause in clauses:
            if len(f'{lines[-1]} {clause} \\') > 100:
                lines.append('   ')
            lines[-1] += f' {clause}'
        params = [f'{ctype}{"" if ctype.endswith("*") else " "}{param}' for ctype, param in self.params]
        params += [f'char *{param}' for param in self.scratch]
        return (f'/* {self.origin} */\n' + ' \\\n'.join(lines) +
                f'\n__global__ void {name}({", ".join(params)});\n')


def is_name(text):
    """True for a text that is a valid name in C and in C++."""
    return NAME.fullmatch(text) and text not in C_WORDS and text not in CXX_WORDS


def adopt(options, config, runner):
    """Prints the declarations of the kernels in a file or a folder, or writes them to the output."""
    read = {'triton': read_triton, 'numba': read_numba}[options.adopt]
    found = read(options.files[0], lambda path: read_facts(config, runner, path),
                 os.path.dirname(options.output or ''))
    words = {re.sub(r'[ *]', '', ctype) for each, _ in found for ctype, _ in each.params}
    headers = ['stdint.h'] + sorted({HEADERS[word] for word in words if word in HEADERS})
    text = ''.join(f'#include <{name}>\n' for name in headers)
    text += ''.join('\n' + each.spell(name) for each, name in found)
    if not options.output:
        sys.stdout.buffer.write(text.encode())
        return 0
    with open(options.output, 'x', encoding='utf-8') as file:
        file.write(text)
    return 0


def read_facts(config, runner, path):
    """Returns the facts that the generator reads in an image."""
    try:
        facts = json.loads(runner.start([*config.start_of_generator, '--facts', '--', path]).result())
    except Refused as error:
        raise Failure(re.sub('^cfgen: ', '', str(error)).strip()) from error
    if facts['entries'] is None:
        raise Failure(f'{path}: it is compressed; give its PTX or its cubin')
    return facts


def list_targets(facts):
    return ' and '.join([f'sm_{n}' for n in facts['sm']] + [f'compute_{n}' for n in facts['ptx']])


def block_clause(block):
    """Returns a list with the block clause, without trailing dimensions of 1; [] if the kernel accepts any block."""
    while len(block) > 1 and block[-1] == 1:
        block.pop()
    return [f'block({", ".join(map(str, block))})'] if block else []


# ---- Triton

def read_triton(folder, facts_of, start):
    """Returns the declaration of the kernel in an entry of Triton's cache, which holds exactly one."""
    if not os.path.isdir(folder):
        raise Failure(f'{folder}: {say_what_is(folder)}; --adopt triton takes a folder of Triton\'s cache, such as '
                      '~/.triton/cache/HASH')
    names = [n for n in sorted(os.listdir(folder)) if n.endswith('.json') and not n.startswith('__grp__')]
    if len(names) != 1:
        raise Failure(f'{folder}: an entry of Triton\'s cache has one NAME.json, and this folder has {len(names)}')
    base = os.path.join(folder, stem(names[0]))
    options = read_options(f'{base}.json')
    image = next((base + end for end in ('.cubin', '.ptx') if os.path.isfile(base + end)), None)
    if not image:
        raise Failure(f'{folder}: there is neither {stem(base)}.cubin nor {stem(base)}.ptx')
    facts = facts_of(image)
    name = options.get('name', stem(base))
    if not isinstance(name, str) or not is_name(name):
        raise Failure(f'{base}.json: the name of its kernel is {name!a}, which is no name in C')
    if name not in facts['entries']:
        raise Failure(f'{image} has no kernel {name}, which {base}.json names; it has '
                      f'{", ".join(facts["entries"]) or "none"}')
    entry = facts['entries'][name]
    of_ptx = facts_of(f'{base}.ptx')['entries'].get(name) if os.path.isfile(f'{base}.ptx') else None
    params, scratch = triton_params(base, name, len(entry['params']), of_ptx, options)
    block = entry['block'] or (of_ptx or entry)['block'] or [options['num_warps'] * options.get('warp_size', 32)]
    if math.prod(block) > LARGEST_BLOCK:
        raise Failure(f'{base}.json: a block would have {math.prod(block)} threads; {LARGEST_BLOCK} are the most')
    clusters = cluster_sizes(f'{base}.json', options)
    # Triton's launcher starts a whole cluster for each program.
    blocks = [f'(/* programs along {axis}? */) * {n}' for axis, n in zip('xyz', clusters)] or ['/* programs? */']
    clauses = [f'blocks({", ".join(blocks)})', *block_clause(block)]
    clauses += [f'cluster({", ".join(map(str, clusters))})'] * bool(clusters)
    clauses += [f'shared({options.get("shared")})'] * bool(options.get('shared'))
    clauses += ['cooperative'] * bool(options.get('launch_cooperative_grid'))
    clauses += ['dependent'] * bool(options.get('launch_pdl'))
    origin = f'{name}, which Triton compiled for {list_targets(facts)}.'
    return [(Declaration(origin, os.path.relpath(image, start or '.'), name, params, clauses, scratch), name)]


def read_options(path):
    """Returns the JSON of a cache entry. Refuses kernels that need memory that is not among their arguments."""
    try:
        with open_regular(path, encoding='utf-8') as file:
            options = json.load(file)
        needed = {'num_warps': options['num_warps'], **{k: options.get(k, 0) for k in (*SCRATCH, 'shared')},
                  'num_ctas': options.get('num_ctas', 1), 'warp_size': options.get('warp_size', 32)}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Failure(f'{path}: it is no JSON of Triton\'s cache: {error}') from error
    for key, value in needed.items():
        least = 0 if key in (*SCRATCH, 'shared') else 1
        if type(value) is not int:      # not isinstance(), which accepts True
            raise Failure(f'{path}: {key} is {value!a} and no number')
        if not least <= value <= LARGEST:
            raise Failure(f'{path}: {key} is {value} and not in [{least}, {LARGEST}]')
    target = options.get('target')
    backend = target.get('backend', 'cuda') if isinstance(target, dict) else 'cuda'
    if backend != 'cuda':
        raise Failure(f'{path}: the kernel is for {backend!a}, and not for CUDA')
    for key in SCRATCH:
        if needed[key]:
            raise Failure(f'{path}: the kernel needs scratch memory for each block ({key} is {needed[key]}), which no '
                          'launch here supplies; compile it without')
    return options


def cluster_sizes(path, options):
    """Returns the blocks of a cluster along each axis, without trailing dimensions of 1; [] without clusters."""
    count = options.get('num_ctas', 1)
    sizes = options.get('cluster_dims', [count, 1, 1])     # versions without this key place clusters along x
    if not isinstance(sizes, list) or len(sizes) > 3 or not all(type(n) is int and n > 0 for n in sizes) or \
            math.prod(sizes) != count:
        raise Failure(f'{path}: cluster_dims is {sizes!a}, and the kernel runs in clusters of {count} blocks')
    while sizes and sizes[-1] == 1:
        sizes = sizes[:-1]
    return sizes


def triton_params(base, name, count, of_ptx, options):
    """Returns the parameters, and the names of the trailing ones that Triton's launcher passes itself."""
    if os.path.isfile(f'{base}.ttir'):
        params = ttir_params(f'{base}.ttir', name)
    elif of_ptx:
        known = max(0, count - sum(key in options for key in SCRATCH))
        types = of_ptx['types'][:known]
        params = [(ptx_type(f'{base}.ptx', t), f'arg{n}') for n, t in enumerate(types)]
    else:
        raise Failure(f'{base}.ttir: it is missing, and so is {stem(base)}.ptx; the types of parameters are there')
    extra = count - len(params)
    if not 0 <= extra <= len(SCRATCH):
        raise Failure(f'{base}.ttir: {name} has {len(params)} parameters there, and {count} in its image')
    return params, list(SCRATCH.values())[:extra]


def ptx_type(path, name):
    if name not in PTX:
        raise Failure(f'{path}: a parameter has the type .{name}, which has no form in C')
    return PTX[name]


def ttir_params(path, name):
    with open_regular(path, encoding='utf-8', errors='replace') as file:
        text = file.read()
    at = re.search(rf'\btt\.func\s+(?:public\s+)?@"?{re.escape(name)}"?\(', text)
    if not at:
        raise Failure(f'{path}: there is no function {name}')
    names = dict(re.findall(r'^(#loc\d*) = loc\("([A-Za-z_]\w*)"[()]', text, re.ASCII | re.MULTILINE))
    params = [ttir_param(path, part, names) for part in split_arguments(text[at.end():])]
    taken = [*SCRATCH.values(), *(param for _, param in params)]
    return [(ctype, param if taken.count(param) == 1 and is_name(param) else f'arg{number}')
            for number, (ctype, param) in enumerate(params)]


def split_arguments(text):
    """Returns the parts between commas, up to the parenthesis that closes the list."""
    parts, depth, begin = [], 0, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|->|[(<{\[]|[)>}\]]|,', text):
        word = match.group()
        if word in '(<{[':
            depth += 1
        elif depth == 0 and word in ',)':
            parts.append(text[begin:match.start()].strip())
            begin = match.end()
            if word == ')':
                return [part for part in parts if part]
        elif word in ')>}]':
            depth -= 1
    return []


def ttir_param(path, text, names):
    """Returns the type and the name of one parameter. `names` maps locations, which the end of the file lists, to
    names."""
    found = re.match(r'%(\w+): (?:!tt\.ptr<(\w+)(?:, \d+)?>|(\w+))(?=[\s{]|$)', text, re.ASCII)
    ctype = TRITON.get(found[2] or found[3]) if found else None
    if not ctype:
        raise Failure(f"{path}: the parameter '{text.split(' loc(')[0][:80]}' has no form in C; pointers to numbers, "
                      'and numbers, have')
    own = re.search(r' loc\("([A-Za-z_]\w*)"[()]', text, re.ASCII)
    ref = re.search(r' loc\((#loc\d*)\)', text, re.ASCII)
    name = own[1] if own else names.get(ref[1] if ref else '', found[1])
    return ctype + ' *' * bool(found[2]), name


# ---- Numba

def read_numba(path, facts_of, start):
    """Returns the declarations of all kernels in a file."""
    facts = facts_of(path)
    if not facts['entries']:
        raise Failure(f'{path}: it has no kernel; compile a kernel, and no device function')
    found = []
    for entry, values in facts['entries'].items():
        name, ctypes = numba_name(path, entry)
        if len(ctypes) != len(values['params']):
            raise Failure(f'{path}: {name} has {len(ctypes)} arguments in its name, and {len(values["params"])} in its '
                          'code')
        clauses = ['grid(/* threads? */)', *block_clause(values['block'])]
        origin = f'{name}, which Numba compiled for {list_targets(facts)}.'
        params = [(ctype, f'arg{number}') for number, ctype in enumerate(ctypes)]
        found.append((Declaration(origin, os.path.relpath(path, start or '.'), entry, params, clauses), name))
    return found


def numba_name(path, entry):
    """Returns the function's name and the C types of its arguments, both read from the mangled name of the entry."""
    at, name, ended = 3, '', False
    while entry.startswith('_ZN') and at < len(entry) and not ended:
        tag, number = entry[at] == 'B', re.match(r'B?(\d{1,6})', entry[at:])
        if number:
            begin = at + number.end()
            at = begin + int(number[1])
            name = name if tag else entry[begin:at]
        else:
            ended = entry[at] == 'E'
            at += 1
            if not ended:
                break
    if ended and NAME.fullmatch(name) and not is_name(name):
        raise Failure(f'{path}: the name of its kernel is {name}, which is no name in C; rename the kernel')
    if not ended or not NAME.fullmatch(name):
        raise Failure(f'{path}: the name of {entry} does not tell its types as names of Numba do; declare it by hand, '
                      'with image(...) and entry(...)')
    return name, numba_types(path, name, entry[at:])


def numba_types(path, name, text):
    ctypes = []
    while text:
        number = re.match(r'\d{1,6}', text)
        if number:
            word = text[number.end():number.end() + int(number[0])]
            rest = text[number.end() + int(number[0]):]
            element = NUMBA_ELEMENTS.get(re.sub(r'(_2a|\$2a)$', '', word))
            if rest.startswith('I') or element is None or not word.endswith('2a'):
                kind = 'an array' if word == 'Array' else f'a {word}'
                raise Failure(f'{path}: argument {len(ctypes)} of {name} is {kind}; compile it with pointers and '
                              'numbers, such as types.CPointer(types.float32) and types.int64')
            ctypes.append(f'{element} *')
            text = rest
            continue
        code = text[:2] if text[:2] in NUMBA else text[:1]
        if code not in NUMBA:
            raise Failure(f"{path}: argument {len(ctypes)} of {name} has the type '{code}' of Numba, which has no form "
                          'in C')
        ctypes.append(NUMBA[code])
        text = text[len(code):]
    return ctypes
