"""Replaces the block, tiles of at most 32 threads, and coalesced groups of cooperative_groups by CUDA's functions.

    cg::thread_block block = cg::this_thread_block();
    cg::sync(block);                                    __syncthreads();
    sum += tile.shfl_down(sum, k);                      sum += __shfl_down_sync(0xffffffff, sum, k);

A kernel without groups can run as regions. If a kernel uses one group in a way that no function of CUDA offers, all of
its groups stay."""

import copy
import re
from collections import Counter

from cpu.loops import GROUPS, leads_to_group
from cpu.meanings import Meanings
from cpu.statements import parse_statements
from cpu.variables import Variables
from tokens.brackets import matching, split_at
from tokens.lexer import Token, TokenError

_SHUFFLES = {'shfl': '__shfl_sync', 'shfl_up': '__shfl_up_sync', 'shfl_down': '__shfl_down_sync',
             'shfl_xor': '__shfl_xor_sync'}
# Maps functions of tiles and coalesced groups to the names of their exchanges.
_COMBINED = {'reduce': 'cf__reduce_sync', **{f'{name}_scan': f'cf__{name}_scan_sync' for name in (
    'inclusive', 'exclusive')}}
_OPERATORS = {'plus', 'less', 'greater', 'bit_and', 'bit_or', 'bit_xor'}
_VOTES = {'any': '__any_sync', 'all': '__all_sync', 'ballot': '__ballot_sync'}
_INDICES = {'thread_index': 'threadIdx', 'group_index': 'blockIdx', 'group_dim': 'blockDim', 'dim_threads': 'blockDim'}
# The types for which the shuffle of a tile and the shuffle of a warp return the same type.
_WIDE = {'int', 'unsigned', 'long', 'float', 'double', 'const', 'int32_t', 'uint32_t', 'int64_t', 'uint64_t', 'uint',
         'register'}
_ALL = '0xffffffffu'
_SIZES = {'1', '2', '4', '8', '16', '32'}
_WORD = re.compile(r'\w+|::|\W')


def write_groups(kernel, declarations, sizes):
    """Returns a copy of a kernel in which CUDA's functions replace the groups; the kernel itself if it has no groups,
    or if a group has to stay. `sizes`: the threads of a block along each axis, 0 for an unknown number; () if all are
    unknown."""
    if not any(GROUPS in d.words for d in declarations) or not leads_to_group(kernel.words):
        return kernel
    try:
        body = _Writer(kernel, declarations, sizes).write()
    except TokenError:
        return kernel
    if leads_to_group(t.text for t in body):
        return kernel
    written = copy.copy(kernel)
    written.__dict__.pop('words', None)
    written.body = body
    return written


class _Writer:
    def __init__(self, kernel, declarations, sizes):
        self._tokens = kernel.body
        self._statements = parse_statements(kernel.body)
        self._variables = Variables(kernel.body, kernel.parameters, self._statements, Meanings(kernel, declarations))
        self._wide = _WIDE | kernel.numbers
        # The names of the file. Other declarations may hide them.
        named = Counter(n for d in declarations if not (d.is_directive and d.has('using')) for n in set(d.names))
        self._own, self._fronts = set(named), {(GROUPS, '::')}
        for declaration in declarations:
            texts = [t.text for t in declaration.head]
            if declaration.is_directive and not declaration.scope and texts[-1] == GROUPS:
                if texts[0] == 'using':
                    self._fronts.add(())
                elif texts[2:3] == ['='] and named[texts[1]] == 1:
                    self._fronts.add((texts[1], '::'))
        plane = 'threadIdx.y' if len(sizes) == 2 else '(threadIdx.z * blockDim.y + threadIdx.y)'
        self._rank = 'threadIdx.x' if len(sizes) == 1 else f'({plane} * blockDim.x + threadIdx.x)'
        self._size = 'blockDim.x' if len(sizes) == 1 else '(blockDim.x * blockDim.y * blockDim.z)'
        # Maps a Variable to the number of threads in its tile, to 0 for a block, or to the name of a coalesced group's
        # mask.
        self._kinds = {}
        self._inner = set()         # tiles of which each is a part of another tile
        self._edits = []            # (begin, end, text)

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ''

    def write(self):
        """Returns the kernel's new body."""
        for statement in (s for t in self._statements for s in t.walk()):
            if statement.kind == 'declaration':
                self._read_declaration(statement)
        for variable, kind in self._kinds.items():
            for at in variable.uses:
                self._write_use(at, at + 1, kind)
        at = 0
        while at < len(self._tokens):
            end = self._read_group(at)
            if end is not None and not any(begin <= at < last for begin, last, _ in self._edits):
                self._write_use(at, end, 0)
            at += 1
        return self._apply()

    def _apply(self):
        body, at = [], 0
        for begin, end, text in sorted(self._edits):
            if begin < at:
                raise TokenError(self._tokens[begin], 'is not understood')
            body += self._tokens[at:begin]
            first = self._tokens[begin]
            for word in _WORD.findall(text):
                if word != ' ':
                    kind = 'number' if word[0].isdigit() else 'identifier' if word[0] in '_' or word[0].isalpha() \
                        else 'punctuation'
                    is_joined = word in ('<', '>') and body[-1:] != [] and body[-1].text == word
                    body.append(Token(kind, word, first.file, first.line, first.column, False, joined=is_joined))
            at = end
        return body + self._tokens[at:]

    # ---- Reading

    def _read_name(self, at, names):
        """Returns the end of the name at `at` if it is one of `names` in cooperative_groups; None for other tokens."""
        if self._text(at - 1) in ('.', '->', '::') or at in self._variables.of:
            return None
        for front in self._fronts:
            end = at + len(front)
            if tuple(self._text(i) for i in range(at, end)) == front and self._text(end) in names and (
                    front or self._text(end) not in self._own):
                return end + 1
        return None

    def _read_group(self, at, name='this_thread_block'):
        """Returns the end of the call name() of cooperative_groups at `at`; None for other tokens."""
        end = self._read_name(at, {name})
        return end + 2 if end is not None and self._text(end) == '(' and self._text(end + 1) == ')' else None

    def _read_declaration(self, statement):
        """Notes the group that a statement declares, if it declares only one."""
        declared = self._variables.declared_by(statement)
        if len(declared) != 1 or declared[0].value is None or self._tokens[statement.begin].pragmas:
            return
        variable, (begin, end) = declared[0], declared[0].value
        texts = [t.text for t in variable.types if t.text != 'const']
        if [t.text for t in variable.declarator] != [variable.name] or end < statement.end - 2:
            return
        copied = self._variables.of.get(begin) if end == begin + 1 else None
        kind = 0 if self._read_group(begin) == end else self._kinds.get(copied) if copied else \
            self._read_tile(begin, end, variable)
        mask = ''
        if kind is None and self._read_group(begin, 'coalesced_threads') == end:
            kind = f'cf__mask_{variable.number}'
            mask = f'const unsigned int {kind} = __activemask()'
        first = statement.begin + (self._text(statement.begin) == 'const')
        # A thread_group returns its size and its ranks as numbers of 64 bits.
        words = {'thread_block', 'thread_group'} if kind == 0 else {'coalesced_group'} if isinstance(kind, str) else {
            'thread_block_tile', 'thread_group'}
        if kind is None or texts != ['auto'] and self._read_name(first, words) is None:
            return
        self._kinds[variable] = kind
        if copied in self._inner:
            self._inner.add(variable)
        self._edits.append((statement.begin, statement.end - 1, mask))

    def _read_tile(self, begin, end, variable):
        """Returns the number of threads in tiled_partition<>() of a block or of a larger tile; None for other
        expressions."""
        behind = self._read_name(begin, {'tiled_partition'})
        if behind is None or self._text(behind) != '<' or self._text(behind + 1) not in _SIZES or \
                [self._text(at) for at in range(behind + 2, behind + 4)] != ['>', '(']:
            return None
        size, parent = int(self._text(behind + 1)), self._kinds.get(self._variables.of.get(behind + 4))
        if self._read_group(behind + 4) == end - 1:
            return size
        if end != behind + 6 or parent is None or isinstance(parent, str) or 0 < parent < size:
            return None
        if parent:
            self._inner.add(variable)
        return size

    # ---- Writing

    def _write_use(self, begin, end, kind):
        """Replaces the use of a group. The group is the expression from `begin` to `end`."""
        if any(first <= begin < last for first, last, _ in self._edits):
            return                  # the declaration of a tile, which is removed
        if self._text(end) == '.' and self._text(end + 2) == '(':
            close = matching(self._tokens, end + 2, '(', ')')
            write = self._write_coalesced if isinstance(kind, str) else self._write_member
            write(begin, close, self._text(end + 1), (end + 3, close - 1), kind)
            return
        names = _COMBINED.keys() - {'reduce'} if isinstance(kind, str) else _COMBINED
        front = next((at for at in range(begin - 4, begin - 1) if self._read_name(at, names) == begin - 1), None)
        if front is not None and self._text(begin - 1) == '(' and self._text(end) == ',' and kind:
            self._write_combined(front, begin, matching(self._tokens, begin - 1, '(', ')') - 1, kind)
            return
        if isinstance(kind, str):
            raise TokenError(self._tokens[begin], 'is not understood')
        front = next((at for at in range(begin - 4, begin - 1) if self._read_name(
            at, {'sync', 'thread_rank', 'group_size'}) == begin - 1), None)
        if self._text(begin - 1) != '(' or self._text(end) != ')' or front is None:
            raise TokenError(self._tokens[begin], 'is not understood')
        self._write_member(front, end + 1, self._text(begin - 2), (end, end), kind)

    def _write_combined(self, front, begin, end, kind):
        """Replaces reduce(tile, value, plus<float>()), or a scan, if the value is a variable of the operator's type.
        `end`: the place of the closing parenthesis."""
        variable, name = self._variables.of.get(begin + 2), self._text(begin - 2)
        types = [t.text for t in variable.types if t.text not in ('const', 'register')] if variable else []
        has_operator, operator = end > begin + 3 or name == 'reduce', ''
        behind = self._read_name(begin + 4, _OPERATORS) if has_operator else end
        if not self._is_wide(begin + 2, ',' if has_operator else ')') or behind is None or has_operator and \
                [self._text(at) for at in range(behind, end)] not in (
                    ['<', *types, '>', '(', ')'], ['<', *types, '>', '{', '}']):
            raise TokenError(self._tokens[begin], 'is not understood')
        if not has_operator:
            operator = f', ::cooperative_groups::plus<{" ".join(types)}>()'
        mask, size = (kind, 0) if isinstance(kind, str) else (self._mask(kind), kind)
        self._edits += [(front, begin + 2, f'{_COMBINED[name]}({mask}, '), (end, end, f'{operator}, {size}')]

    def _first(self, size):
        """Returns the text for the number of the first lane in a tile of `size` threads."""
        return f'({self._rank} % 32 / {size} * {size})'

    def _mask(self, size):
        return _ALL if size == 32 else f'({(1 << size) - 1:#x}u << {self._first(size)})'

    def _write_member(self, begin, end, name, inside, kind):
        """Replaces a call of a group's member function by a CUDA function; raises TokenError if there is no such
        function."""
        arguments = [] if inside[0] == inside[1] else split_at(self._tokens[inside[0]:inside[1]], ',')
        is_statement = any(s.begin == begin and s.end == end + 1 and s.kind == 'expression'
                           for t in self._statements for s in t.walk())
        if name == 'sync' and is_statement and not arguments:
            text = '__syncwarp()' if kind else '__syncthreads()'
        elif name in ('size', 'num_threads', 'group_size') and not arguments:
            text = f'{kind}u' if kind else self._size
        elif name == 'thread_rank' and not arguments:
            text = f'({self._rank} % {kind})' if kind else self._rank
        elif kind and name == 'meta_group_rank' and not arguments and self._variables.of.get(begin) not in self._inner:
            text = f'({self._rank} / {kind})'
        elif kind and name == 'meta_group_size' and not arguments and self._variables.of.get(begin) not in self._inner:
            text = f'(({self._size} + {kind - 1}) / {kind})'
        elif not kind and name in _INDICES and not arguments and self._text(end) == '.':
            text = _INDICES[name]
        elif kind and (name in _VOTES and len(arguments) == 1 or
                       name in _SHUFFLES and len(arguments) == 2 and self._is_wide(inside[0])):
            text = f'{ {**_VOTES, **_SHUFFLES}[name] }({self._mask(kind)}, '
            if kind < 32 and name == 'ballot':
                text = f'({text}'
                self._edits.append((end, end, f' >> {self._first(kind)})'))
            elif kind < 32 and name in _SHUFFLES:
                self._edits.append((end - 1, end - 1, f', {kind}'))
            self._edits.append((begin, inside[0], text))
            return
        else:
            raise TokenError(self._tokens[begin], 'is not understood')
        self._edits.append((begin, end, text))

    def _write_coalesced(self, begin, end, name, inside, mask):
        """Replaces a call of a coalesced group's member function by a CUDA function, like _write_member()."""
        argument = ''.join(self._text(at) for at in range(*inside))
        if name in ('any', 'all') and argument:
            self._edits.append((begin, inside[0], f'{_VOTES[name]}({mask}, '))
            return
        if name in ('size', 'num_threads') and not argument:
            text = f'static_cast<unsigned int>(__popc({mask}))'
        elif name == 'thread_rank' and not argument:
            text = f'static_cast<unsigned int>(__popc({mask} & ((1u << ({self._rank} % 32)) - 1u)))'
        elif name == 'sync' and not argument:
            text = f'__syncwarp({mask})'
        elif name == 'shfl' and self._is_wide(inside[0]) and argument == f'{self._text(inside[0])},0':
            text = f'__shfl_sync({mask}, {self._text(inside[0])}, __ffs({mask}) - 1)'
        else:
            raise TokenError(self._tokens[begin], 'is not understood')
        self._edits.append((begin, end, text))

    def _is_wide(self, at, behind=','):
        """True if the operand at `at`, before the token `behind`, is a number whose type is in _WIDE."""
        variable = self._variables.of.get(at)
        return variable is not None and self._text(at + 1) == behind and not (
            variable.is_pointer or variable.is_array or variable.is_reference or variable.is_volatile) and {
                t.text for t in variable.types} <= self._wide
