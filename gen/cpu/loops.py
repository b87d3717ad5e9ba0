"""Rewrites a kernel so that compilers see one loop over its threads on the CPU.

The thread's indices become a parameter of the kernel, an object that is local to the loop. The usual global index,

    int i = blockIdx.x * blockDim.x + threadIdx.x;

becomes one number, the variable of the loop. A guard at the kernel's top, `if (i < n) ...` or `if (i >= n) return;`, is
evaluated once before the loop, which then runs only over the range of i for which the guard holds:

    if (cf__index.cf__in(0, cf__is_wide(i), i, i < n)) ...

Code of an unknown form is not changed, and runs slower."""

import re

from base.model import Guard, Loop
from cpu.assembly import reads_registers
from cpu.globalindex import AXES, Index, IndexReader, INDICES, TYPES, WIDE
from cpu.members import body_tokens
from cpu.reachable import find_reachable
from cpu.refused import Refused
from tokens.brackets import matching, SPECIFIERS, without_attributes
from tokens.lexer import spell_tokens

_OPERATORS = {'<', '>', '<=', '>=', '==', '!=', '&', '|', '^', '!', 'and', 'or', 'not', 'xor', 'not_eq', 'bitand',
              'bitor'}
# The functions of the headers that read the indices are in this namespace.
GROUPS = 'cooperative_groups'
_OF_GROUPS = re.compile(r'(this|thread|block|grid|group|num|coalesced|tiled|meta)_\w+|\w+_(group|rank|partition)')
# Matches names of which one is needed to use a group of cooperative_groups.
_TO_GROUPS = re.compile(
    r'this_\w+|\w+_group|thread_block\w*|coalesced_\w+|\w+_partition|invoke_one\w*|block_tile_memory')
_PURE = TYPES | {'min', 'max', 'sizeof', 'static_cast'}
_STATEMENTS = {'return', 'for', 'while', 'do', 'switch', 'goto', 'asm', 'static', 'extern', 'using', 'typedef', 'break',
               'continue', 'if', 'else', 'case', 'default', 'constexpr', 'delete', 'new', 'throw', 'try'}
_MIRRORED = {'<': '>', '>': '<', '<=': '>=', '>=': '<='}
_LARGEST_OFFSET = 1 << 16
# The reason for the tokens of find_hidden().
HIDDEN = "begins code that cannot see the kernel's indices"


def find_loop(name, declarations, path, blocks):
    """Returns (Loop, map from a declaration's id to its edits) of the kernels with this name. Raises Refused with the
    reason if they run thread by thread. An edit is (token, replacement). `blocks`: the annotation's block size along
    each axis: a number, the name of a constant, or ''."""
    kernels = [d for d in declarations if d.has('__global__') and d.name == name]
    bodies = [d for d in kernels if d.body is not None]
    if len(bodies) != 1 or any(d.head[d.function + 1].text != '(' for d in kernels):
        raise Refused(kernels[-1].head[kernels[-1].function], 'is an overload or a specialisation')
    for token in _find_uses(name, declarations):
        raise Refused(token, 'is used in device code')
    for token in find_hidden(bodies[0].body):
        raise Refused(token, HIDDEN)
    for token in (t for part in [*(d.head[:1] for d in kernels), bodies[0].body] for t in part if t.file != path):
        raise Refused(token, 'is in another file than the annotation')
    edits = {id(kernel): insert_parameter(kernel) for kernel in kernels}
    helpers = find_helpers(declarations)
    analysis = _Analysis(bodies[0], find_device_data(declarations), helpers, blocks)
    edits[id(bodies[0])] += analysis.edits()
    is_mirrored = reads_elsewhere(bodies[0], declarations, analysis.helpers_left())
    loop = Loop(tuple(analysis.guards), not is_mirrored and not analysis.uses_thread(), is_mirrored)
    return loop, edits


def insert_parameter(kernel):
    """Returns the edits that give a kernel the parameter for the indices, before all other parameters."""
    opening = kernel.head[kernel.function + 1]
    inside = kernel.head[kernel.function + 2:matching(kernel.head, kernel.function + 1, '(', ')') - 1]
    if [t.text for t in inside] == ['void']:
        return [(inside[0], 'CF__PARAMETER')]
    return [(opening, '(CF__PARAMETER, ' if inside else '(CF__PARAMETER')]


def _find_uses(name, declarations):
    """Yields the tokens by which device code names a kernel elsewhere than in the kernel's declaration."""
    return (t for d in declarations if d.body is not None and name in d.words and
            (d.has('__device__') or d.has('__global__') or d.has('constexpr') or d.is_class)
            for t in d.body if t.kind == 'identifier' and t.text == name)


def find_hidden(body):
    """Yields the first tokens of code in a function that cannot use the function's parameters: local classes, lambdas
    without captures, and ::threadIdx, which is a variable outside of the function."""
    for at, token in enumerate(body):
        if token.text not in ('struct', 'class', 'union', '[') and token.text not in INDICES:
            continue
        after = [t.text for t in body[at + 1:at + 4]]
        if token.text in INDICES and at and body[at - 1].text == '::':
            yield token
        if token.text in ('struct', 'class', 'union'):
            plain = [t.text for t in without_attributes(body[at + 1:at + 40]) if t.text != 'final']
            if not {'{', ':'}.isdisjoint(plain[:2]):
                yield token
        if token.text == '[' and token.kind == 'punctuation':
            before = body[at - 1] if at else token
            if (before.kind in ('identifier', 'number', 'string') and before.text not in ('return', 'else')) or \
                    before.text == ']' or (before.text == ')' and not is_behind_condition(body, at - 1)):
                continue
            if after[:1] == ['['] or before.text == '[':        # the beginning of an attribute
                continue
            if not (after[:1] in (['='], ['&']) and after[1:2] in ([']'], [','])):
                yield token


def is_behind_condition(body, at):
    """True if the closing parenthesis at `at` ends the condition or the header of an if, for, while or switch."""
    depth = 0
    while at >= 0:
        depth += (body[at].text == ')') - (body[at].text == '(')
        if depth == 0:
            return at > 0 and body[at - 1].text in ('if', 'for', 'while', 'switch', 'constexpr')
        at -= 1
    return False


def find_device_data(declarations):
    """Returns the names of the file's variables that device code may write."""
    return {name for d in declarations if d.function is None and not d.is_class and
            (d.has('__device__') or d.has('__managed__')) for name in d.names}


def find_helpers(declarations):
    """Returns a map from the name of each function that only returns the global index to (declaration, axis, type of
    the index, type of the result)."""
    found, functions = {}, {}
    for declaration in declarations:
        if declaration.function is None or declaration.has('__global__'):
            continue
        name = declaration.name
        functions[name] = functions.get(name, 0) + 1
        words = [t.text for t in declaration.head[:declaration.function]]
        body = declaration.body or []
        if [t.text for t in declaration.head[declaration.function + 1:]] not in (['(', ')'], ['(', 'void', ')']) or \
                not body or body[0].text != 'return' or body[-1].text != ';' or not words or words[0] == 'template':
            continue
        reader = IndexReader(body)
        index = reader.index(1)
        ctype = [w for w in words if w in TYPES]
        if index and index.end == len(body) - 1 and ctype and set(ctype) <= WIDE and \
                set(words) - SPECIFIERS == set(ctype) and set(index.ctype.split()) <= WIDE:
            found[name] = declaration, index.axis, index.ctype, ' '.join(ctype)
    return {name: helper for name, helper in found.items() if functions[name] == 1}


def reads_indices(function, declarations):
    """True if a function other than a kernel, or a function that it calls, reads the indices of its thread."""
    words = INDICES | {GROUPS}
    reached = find_reachable([function], [d for d in declarations if not d.has('__global__')])
    return any(not words.isdisjoint(d.words) or reads_registers(d.body or ()) for d in reached) or (
        any(GROUPS in d.words for d in declarations) and
        any(t.kind == 'identifier' and _OF_GROUPS.fullmatch(t.text) for d in reached for t in body_tokens(d)))


def list_called(kernel, declarations):
    """Returns the functions, classes and variables that a kernel reaches. A template also reaches functions of the
    classes in its arguments."""
    others = [d for d in declarations if not d.has('__global__')]
    found = find_reachable([kernel], others)[1:]
    if kernel.head[0].text == 'template':
        found += [d for d in others if d.is_class or d.has('operator')]
    return found


def reads_elsewhere(kernel, declarations, helpers):
    """True if functions that a kernel calls read the indices. `helpers`: functions whose calls were replaced."""
    words = INDICES | {h.name for h in helpers}
    reached = list_called(kernel, [d for d in declarations if not any(d is h for h in helpers)])
    return (not all(words.isdisjoint(d.words) for d in reached) or
            any(GROUPS in d.words for d in declarations) and any(leads_to_group(d.words) for d in [kernel, *reached]) or
            any(reads_registers(d.body or ()) for d in [kernel, *reached]))


def leads_to_group(words):
    """True if code with these words may use a group of cooperative_groups."""
    return any(map(_TO_GROUPS.fullmatch, words))


class Indices(IndexReader):
    """Finds and replaces the global indices in a kernel's body. `blocks`: as in find_loop()."""

    def __init__(self, kernel, body, helpers, blocks):
        parameters = {t.text for t in kernel.head[kernel.function + 1:]}
        super().__init__(body, ['' if size in parameters else size for size in blocks])
        self._helpers = helpers
        self._replaced = {}     # maps the index of a token to its replacement
        self._taken = {}        # maps the index of a token in a global index to the number of the axis
        self._types = {}  # maps the first token of a global index to the type of its cast, if that may be too narrow
        for at, _ in enumerate(body):
            self._take_index(at)

    def replaced(self):
        """Returns a map from the indices of tokens to their replacements."""
        return self._replaced

    def is_global(self, begin, end):
        """True if the tokens from `begin` to `end` are one global index along x."""
        return begin < end and all(self._taken.get(at) == 0 for at in range(begin, end))

    def _take_index(self, at):
        before = self._text_at(at - 1)
        if at in self._taken or before not in ('=', '(', ',', 'return', '{', '[', ';', '?', ':', ''):
            return
        if before == '(' and at > 1 and self._body[at - 2].text == 'static_cast':
            return
        found = self.index(at) or self._read_helper(at)
        if found is None or self._text_at(found.end) in ('*', '/', '%', '.', '[', '('):
            return
        end, axis, ctype = found.end, found.axis, found.ctype
        self._taken.update({number: AXES[axis] for number in range(at, end)})
        self._replaced.update({number: '' for number in range(at, end)})
        if not found.result and not set(ctype.split()) <= WIDE:
            self._types[at] = ctype
        value = f'cf__index.cf__global<{ctype or "unsigned int"}>({AXES[axis]})'
        self._replaced[at] = f'(({found.result}){value})' if found.result else value

    def _read_helper(self, at):
        """Returns the Index that the function called at `at` returns; None if the function does not return a global
        index."""
        helper = self._helpers.get(self._text_at(at))
        if helper is None or self._text_at(at + 1) != '(' or self._text_at(at + 2) != ')':
            return None
        return Index(at + 3, *helper[1:])

    def are_all(self):
        """True if all indices that the body reads are parts of global indices, and no block size is read elsewhere."""
        declared = {number for alias in self._aliases.values() for number in alias.declared}
        return not any(
            t.text in ('threadIdx', 'blockIdx', 'blockDim') or t.text in self._aliases and
            self._aliases[t.text].word != 'gridDim'
            for at, t in enumerate(self._body) if at not in self._taken and at not in declared)

    def helpers_left(self):
        """Returns the declarations of the functions in `helpers` that the body still calls."""
        left = {t.text for number, t in enumerate(self._body) if number not in self._taken}
        return [helper[0] for name, helper in self._helpers.items() if name not in left]


class _Analysis(Indices):
    """Finds the guards at the top of a kernel, and the edits for them."""

    def __init__(self, kernel, data, helpers, blocks):
        # A `return;` at the kernel's end has no effect.
        super().__init__(kernel, kernel.body[:-2] if kernel.last_return else kernel.body, helpers, blocks)
        self._data = data
        self._in_front = {}     # maps the index of a token to the text before it
        self._axis = {}         # maps a variable that is a global index, or grows with it, to its axis
        self._wide = set()      # variables in _axis whose types surely hold the index
        self._casts = {}        # maps a variable in _axis to the types of its conversions, which the compiler checks
        self._factors = {}      # maps a variable in _axis to operands of its value, which have to be integers
        self._passed, self._used = [], []
        self._varying = set()   # variables outside of _axis that may differ between threads
        self.guards = []
        self._read_statements()

    def edits(self):
        for at in sorted(self._replaced.keys() | self._in_front.keys()):
            token = self._body[at]
            yield token, self._in_front.get(at, '') + self._replaced.get(at, token.text)

    def uses_thread(self):
        """True if the kernel reads an index along x outside of a global index. The declaration of a variable for an
        index does not count, but its uses do."""
        declared = {number for alias in self._aliases.values() for number in alias.declared}
        for at, token in enumerate(self._body):
            if at in self._taken or at in declared:
                continue
            if token.text in ('threadIdx', 'blockIdx'):
                axis = self._text_at(at + 2) if self._text_at(at + 1) == '.' else ''
                if axis not in ('y', 'z'):
                    return True
            elif token.text in self._aliases and self._aliases[token.text].axis == 'x':
                return True
        return False

    # ---- Guards

    def _read_statements(self):
        """Reads the declarations and guards at the beginning of the body, up to the first other statement."""
        at = 0
        while at < len(self._body):
            after = self._read_guard(at) if self._text_at(at) == 'if' else self._read_declaration(at)
            if after is None:
                return
            at = after

    def _find_end(self, at):
        """Returns the index of the semicolon that ends the statement at `at`."""
        while at < len(self._body) and self._text_at(at) != ';':
            closing = {'(': ')', '[': ']', '{': '}'}.get(self._text_at(at))
            at = matching(self._body, at, self._text_at(at), closing) if closing else at + 1
        return at

    def _read_declaration(self, at):
        """Reads a declaration of variables whose values have no effect; returns the index after it, or None for
        others."""
        end = self._find_end(at)
        if self._text_at(at) in _STATEMENTS or end >= len(self._body):
            return None
        begin, is_first, words = at, True, []
        while begin < end:
            stop = begin
            while stop < end and self._text_at(stop) != ',':
                closing = {'(': ')', '[': ']'}.get(self._text_at(stop))
                stop = matching(self._body, stop, self._text_at(stop), closing) if closing else stop + 1
            equals = next((i for i in range(begin, stop) if self._text_at(i) == '='), None)
            front = self._body[begin:equals]
            if equals is None or not all(t.kind == 'identifier' or t.text in ('::', '*') for t in front) or \
                    len([t for t in front if t.kind == 'identifier']) < (2 if is_first else 1) or \
                    not self._is_pure(equals + 1, stop):
                return None
            words = [t.text for t in front[:-1]] if is_first else words
            self._note_variable(front[-1].text, words, equals + 1, stop)
            begin, is_first = stop + 1, False
        return end + 1

    def _note_variable(self, name, words, at, end):
        """Notes how the value from `at` to `end` of the variable `name` depends on the thread. `words`: its type."""
        self._axis.pop(name, None)
        self._varying.discard(name)
        self._wide.discard(name)
        self._passed, self._used = [], []
        behind, axis = self._read_sum(at, end)
        if behind == end and axis is not None:
            self._axis[name] = axis
            self._casts[name] = self._passed
            self._factors[name] = self._used
            if set(words) <= WIDE and not self._passed:
                self._wide.add(name)
        elif not self._is_uniform(at, end):
            self._varying.add(name)

    # A value that grows in equal steps with the global index is a sum of products with one varying factor; generated
    # code verifies the steps. Each reader returns the index after such a value, or -1, and its axis, or None for a
    # value that is the same in all threads.

    def _read_sum(self, at, end):
        at, axis = self._product_of(at, end)
        while 0 <= at < end and self._text_at(at) == '+':
            at, other = self._product_of(at + 1, end)
            if axis is not None and other is not None and axis != other:
                return -1, None
            axis = other if axis is None else axis
        return at, axis

    def _product_of(self, at, end):
        at, axis = self._read_operand(at, end)
        while 0 <= at < end and self._text_at(at) == '*':
            at, other = self._read_operand(at + 1, end)
            if axis is not None and other is not None:
                return -1, None
            axis = other if axis is None else axis
        return at, axis

    def _read_operand(self, at, end):
        if at >= end:
            return -1, None
        if at in self._taken:
            axis = self._taken[at]
            self._passed += [self._types[at]] if at in self._types else []
            while at in self._taken:
                at += 1
            return at, axis
        cast = self._read_cast(at)
        if cast and set(cast[1].split()) <= WIDE:
            if not cast[2]:
                return self._read_operand(cast[0], end)
            close = matching(self._body, cast[0] - 1, '(', ')') - 1
            behind, axis = self._read_sum(cast[0], close)
            return (close + 1, axis) if behind == close else (-1, None)
        token = self._body[at]
        if token.text == '(':
            close = matching(self._body, at, '(', ')') - 1
            behind, axis = self._read_sum(at + 1, close)
            return (close + 1, axis) if behind == close else (-1, None)
        for word in ('threadIdx', 'blockIdx'):
            found = self._read_component(at, word)
            if found:
                return found[0], AXES[found[1]]
        if token.text in self._wide:
            self._used += self._factors[token.text]
            return at + 1, self._axis[token.text]
        stop = at + 1
        while self._text_at(stop) == '.' and stop + 1 < end:
            stop += 2
        if token.kind == 'identifier' and self._is_uniform(at, stop):
            self._used.append(self._spell_tokens(at, stop))
            return stop, None
        is_whole = token.kind == 'number' and re.fullmatch(r'(?:0[xX][\da-fA-F]+|\d+)[uUlL]*', token.text)
        return (stop, None) if is_whole else (-1, None)

    def _spell_tokens(self, at, end):
        return spell_tokens(self._body[at:end])

    def _is_offset(self, at, end):
        return (end == at + 2 and self._text_at(at) == '+' and
                re.fullmatch(r'\d{1,5}', self._text_at(at + 1)) is not None and
                int(self._text_at(at + 1)) < _LARGEST_OFFSET)

    def _is_pure(self, at, end):
        """True if no word in an expression can have an effect, so that any thread may compute it."""
        for i in range(at, end):
            token, after = self._body[i], self._text_at(i + 1)
            if token.kind == 'string' or token.text in ('{', '}', '?', '[', '->', '=', 'new', 'delete', 'throw'):
                return False
            if token.text in ('+', '-') and after == token.text:
                return False
            if token.text in ('/', '%') and self.guards and self._body[i + 1].kind != 'number':
                return False        # a guard may prevent a division by 0
            if token.text in ('*', '&') and not self._is_operand(i - 1, at):
                return False
            if token.text == '(' and i > at and i not in self._taken and not self._may_open(i):
                return False
        return True

    def _is_operand(self, at, begin):
        """True if the token at `at` ends a value, so that an operator after it is binary."""
        return at >= begin and (self._body[at].kind in ('identifier', 'number') or self._text_at(at) == ')')

    def _may_open(self, at):
        """True if the parenthesis at `at` belongs to no call that may have an effect."""
        before = self._body[at - 1]
        if before.kind == 'identifier':
            return before.text in _PURE
        if before.text == '>':
            begin = at - 1
            while begin > 0 and self._text_at(begin) != '<':
                begin -= 1
            return self._text_at(begin - 1) == 'static_cast' or begin == 0
        if before.text == ')':
            begin, depth = at - 1, 0
            while begin >= 0:
                depth += (self._text_at(begin) == ')') - (self._text_at(begin) == '(')
                if depth == 0:
                    break
                begin -= 1
            inside = self._body[begin + 1:at - 1]
            return all(t.kind == 'identifier' or t.text == '::' for t in inside)      # the parentheses of a cast
        return before.text != ']'

    def _is_uniform(self, at, end):
        """True if an expression surely has the same value in all threads."""
        if not self._is_pure(at, end):
            return False
        for i in range(at, end):
            token = self._body[i]
            if token.kind == 'identifier' and (
                    token.text in ('threadIdx', 'blockIdx', 'warpSize') or token.text in self._axis or
                    token.text in self._varying or token.text in self._data):
                return False
        return True

    def _read_guard(self, at):
        """Reads the `if` at `at` as a guard, a condition for threads; returns the index after it if more guards may
        follow."""
        close = matching(self._body, at + 1, '(', ')') - 1
        if self._text_at(at + 1) != '(':
            return None
        rest = [self._text_at(close + i) for i in range(1, 5)]
        after = close + 3 if rest[:2] == ['return', ';'] else close + 5 if rest == ['{', 'return', ';', '}'] else None
        if after is not None:
            # Threads that this condition ends do not test the guards after it.
            return after if self._text_at(after) != 'else' and self._read_atoms(at + 2, close, '||', '&&') else None
        end = (matching(self._body, close + 1, '{', '}') if self._text_at(close + 1) == '{'
               else self._find_end(close + 1) + 1)
        if [self._text_at(end + i) for i in range(3)] == ['else', 'return', ';']:
            end += 3
        elif [self._text_at(end + i) for i in range(5)] == ['else', '{', 'return', ';', '}']:
            end += 5
        if end == len(self._body) and self._text_at(close + 1) not in ('if', 'do', 'for', 'while', 'switch'):
            self._read_atoms(at + 2, close, '&&', '||')
        return None

    def _read_atoms(self, at, end, connective, other):
        """Reads the comparisons at the beginning of a guard's condition; returns True if the condition has no other
        part."""
        parts, begin, depth = [], at, 0
        for i in range(at, end):
            text = self._text_at(i)
            depth += (text in '([{') - (text in ')]}')
            if depth == 0 and text in (other, '?', ',', '='):
                return False
            if depth == 0 and text == connective:
                parts.append((begin, i))
                begin = i + 1
        for first, last in parts + [(begin, end)]:
            if not self._read_atom(first, last, connective == '||'):
                return False
        return True

    def _read_atom(self, at, end, is_outside):
        """Reads the comparison of a global index with a value that all threads share; returns False for other
        expressions."""
        while self._text_at(at) == '(' and matching(self._body, at, '(', ')') == end:
            at, end = at + 1, end - 1
        depth, operators = 0, []
        for i in range(at, end):
            text = self._text_at(i)
            depth += (text in '([{') - (text in ')]}')
            if depth == 0 and text in _OPERATORS:
                operators.append(i)
        if len(operators) != 1 or self._text_at(operators[0]) not in _MIRRORED:
            return False
        middle, relation = operators[0], self._text_at(operators[0])
        if self._is_index(at, middle) and self._is_uniform(middle + 1, end):
            index, limit = (at, middle), (middle + 1, end)
        elif self._is_index(middle + 1, end) and self._is_uniform(at, middle):
            index, limit, relation = (middle + 1, end), (at, middle), _MIRRORED[relation]
        else:
            return False
        name = next(self._text_at(i) for i in range(*index) if self._text_at(i) in self._axis)
        conditions = [f'cf__is_wide({name})', f'cf__is_number({self._spell_tokens(*limit)})']
        if index[1] > index[0] + 1:
            conditions.append(f'cf__is_wide({self._spell_tokens(*index)})')
        conditions += [f'cf__number<{ctype}>::cf__is_wide' for ctype in self._casts[name]]
        conditions += [f'cf__is_whole({factor})' for factor in dict.fromkeys(self._factors[name])]
        grows = ' && '.join(conditions)
        is_upper = relation in ('<', '<=')
        number = len(self.guards)
        self.guards.append(Guard(self._axis[name], is_upper != is_outside))
        opening, closing = ('!', ('!(', '))')) if is_outside else ('', ('', ')'))
        self._put_edit(at, f'{opening}cf__index.cf__in({number}, {grows}, {name}, {closing[0]}')
        self._put_edit(end, closing[1])
        return True

    def _put_edit(self, at, text):
        self._in_front[at] = self._in_front.get(at, '') + text

    def _is_index(self, at, end):
        """True if an expression is a variable with a global index, perhaps with a cast or plus a number."""
        while self._text_at(at) == '(' and matching(self._body, at, '(', ')') == end:
            at, end = at + 1, end - 1
        cast = self._read_cast(at)
        if cast and not cast[2]:
            at = cast[0]
        if at >= end or self._text_at(at) not in self._axis:
            return False
        return end == at + 1 or self._is_offset(at + 1, end)
