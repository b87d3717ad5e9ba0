"""Rewrites loops, steps, pointers and conditions of a kernel in the one form that all later passes understand.

    i = i + n;                                  i += n;
    while (i < n) { ...; i += s; }              for (int k = i; k < n; k += s) { ... }
    float *p = x + i; *p = p[1]; p += n;        long k = 0L + i; x[k] = x[k + 1]; k += n;
    if (i < n && x[i] > 0) ...                  if (i < n) if (x[i] > 0) ...
    int i = ((blockIdx.x) * (n) + (k));         int i = blockIdx.x * n + k;
    float v = 0; if (i < n) v = x[i];           float v = 0; v = i < n ? x[i] : v;
    v = a == 3 || x[i];                         v = (((a == 3) != 0) | ((x[i]) != 0)) != 0;
"""

import copy
import re
from collections import Counter

from cpu.meanings import Meanings
from cpu.narrowed import narrow_arrays
from cpu.operands import join_operands
from cpu.renamed import is_plain, names_in_pragmas
from cpu.statements import LOOPS, parse_statements
from cpu.variables import Variables
from tokens.brackets import matching
from tokens.lexer import Token, TokenError

_COMPARISONS = ('<', '>', '<=', '>=', '!=')
_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}
# The words for which parentheses after them have a meaning.
_TOLD = {'decltype', '__attribute__', 'asm', '__asm__', 'alignas', '__align__'}
# Matches the names of barriers and operations of warps. They divide the code around them.
_MEETINGS = re.compile(r'__sync|__\w+_sync$|__activemask$')
_STORAGE = {'const', '__shared__', 'extern', '__restrict__', '__restrict', 'register'}


def unify(kernel, declarations):
    """Returns a copy of a kernel in this form, with the same meaning; the kernel itself if nothing changes."""
    body = None
    for change in (_drop_parentheses, _change_sums, _change_whiles, _change_parameters, _change_pointers,
                   _change_variables, narrow_arrays, join_operands, _change_loads, _divide_conditions):
        try:
            if body is None:
                body = Body(kernel, declarations)
            if not is_plain(kernel.body, body.statements, body.variables):
                return kernel
            change(body)
        except TokenError:
            return kernel
        changed = body.changed()
        if changed is not kernel:
            declarations = [changed if d is kernel else d for d in declarations]
            kernel, body = changed, None
    return kernel


class Body:
    """The statements and variables of a kernel, and changes of its tokens."""

    def __init__(self, kernel, declarations):
        self.kernel, self.tokens = kernel, kernel.body
        self.statements = parse_statements(kernel.body)
        self.meanings = Meanings(kernel, declarations)
        self.variables = Variables(kernel.body, kernel.parameters, self.statements, self.meanings)
        self.of = self.variables.of
        self.words = names_in_pragmas(kernel.body)
        self._front, self._texts, self._back, self._gone = {}, {}, {}, set()
        self.lists = list(self._find_lists(self.statements))

    def _find_lists(self, statements):
        """Yields each list of statements that follow one another in a block."""
        yield statements
        for statement in statements:
            for inner in statement.walk():
                if inner.kind == 'block':
                    yield inner.children

    def text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ''

    def texts(self, begin, end):
        return [t.text for t in self.tokens[begin:end]]

    def put_before(self, at, *words):
        """Inserts words or tokens before the token at `at`, after all that earlier calls have inserted there."""
        self._front.setdefault(at, []).extend(words)

    def put_behind(self, at, *words):
        """Inserts words or tokens after the token at `at`, before all that earlier calls have inserted there."""
        self._back[at] = [*words, *self._back.get(at, ())]

    def replace(self, at, text):
        self._texts[at] = text

    def remove(self, begin, end):
        self._gone.update(range(begin, end))

    def changed(self):
        """Returns a copy of the kernel with the changed tokens; the kernel itself without changes."""
        if not (self._front or self._texts or self._back or self._gone):
            return self.kernel
        body, is_new = [], False        # is_new: the token has a new predecessor, so that it must not be joined to it
        for at, token in enumerate(self.tokens):
            body += _make_all(self._front.get(at, ()), token)
            is_new |= at in self._front
            if at in self._gone:
                is_new = True
            else:
                own = copy.copy(token)
                own.text, own.joined = self._texts.get(at, token.text), token.joined and not is_new
                own.kind = _kind_of(own.text) if at in self._texts else token.kind
                body.append(own if is_new or at in self._texts else token)
                is_new = False
            body += _make_all(self._back.get(at, ()), token)
            is_new |= at in self._back
        kernel = copy.copy(self.kernel)
        kernel.__dict__.pop('words', None)
        kernel.body = body
        return kernel


def _divide_conditions(body):
    """Splits the condition of an `if` before the first part that reads memory or calls a function, since the parts
    before it may hold for a range of threads."""
    for statement in (s for t in body.statements for s in t.walk() if s.kind == 'if' and len(s.children) == 1):
        begin, end = statement.parts[0]
        depth, joins, reads = 0, [], []
        for at in range(begin, end):
            text = body.text(at)
            depth += (text in '([{') - (text in ')]}')
            if depth == 0 and text in ('||', '?', ',', '=', ';'):
                break
            if depth == 0 and text == '&&':
                joins.append(at)
            if text in ('[', '->') or text == '(' and body.tokens[at - 1].kind == 'identifier':
                reads.append(at)
        else:
            joins = [at for at in joins if reads and at < reads[0]]
            if joins and body.text(statement.begin + 1) == '(':
                body.replace(joins[-1], ')')
                body.put_behind(joins[-1], 'if', '(')


def _change_loads(body):
    """Turns if (i < n) v = x[i]; into a choice of values, so that the code around it stays one region. The variable has
    to have a constant before the `if`, and no barrier may stand before its uses."""
    of_thread = _find_of_thread(body)
    for statements in body.lists:
        constants = {}      # maps a variable with a constant to the end of the code without barriers after it
        for number, statement in enumerate(statements):
            for variable in body.variables.declared_by(statement) if statement.kind == 'declaration' else ():
                if _has_constant(body, variable):
                    behind = next((s for s in statements[number:] if s.kind not in (
                        'declaration', 'expression', 'if') or any(
                            map(_MEETINGS.match, body.texts(s.begin, s.end)))), None)
                    constants[variable] = behind.begin if behind is not None else statements[-1].end
            if statement.kind != 'if' or len(statement.children) > 1 or body.text(statement.begin + 1) != '(':
                continue
            child, place = statement.children[0].unwrap(), statement.parts[0]
            value = body.variables.find_value(child)
            variable = body.of.get(child.begin)
            if not value or variable not in constants or variable.uses[-1] >= constants[variable]:
                continue
            if {'[', '{'}.intersection(body.texts(*value)) == {'['} and not {'[', '=', '('}.intersection(
                    body.texts(*place)) and any(body.text(at) == 'threadIdx' or body.of.get(at) in of_thread
                                                for at in range(*place)):
                condition, operand = body.tokens[slice(*place)], body.tokens[slice(*value)]
                types = [t.text for t in variable.types if t.text != 'register']
                body.remove(statement.begin, statement.end)
                body.put_before(statement.begin, variable.name, '=', '(', *condition, ')', '?', 'static_cast', '<',
                                *types, '>', '(', *operand, ')', ':', variable.name, ';')


def _has_constant(body, variable):
    """True for a number of a thread whose declaration gives it a constant value."""
    is_plain = variable.is_number and variable.is_scalar and variable.value is not None and variable.escape is None
    return is_plain and not (
        variable.is_array or variable.is_pointer or variable.is_shared or variable.is_static or variable.is_volatile or
        variable.is_reference or variable.is_auto) and body.text(variable.value[0] - 1) == '=' and all(
            body.tokens[at].kind == 'number' or body.text(at) == '-' for at in range(*variable.value))


def _kind_of(word):
    return 'identifier' if re.match(r'[^\W\d]', word) else 'number' if word[:1].isdigit() else 'punctuation'


def _make_all(words, beside):
    """Returns new tokens for words, and copies of given tokens, with the line of the token `beside`."""
    found = []
    for word in words:
        if isinstance(word, Token):
            token = copy.copy(word)
            token.file, token.line, token.column = beside.file, beside.line, beside.column
        else:
            is_joined = word == '=' and bool(found) and found[-1].text in ('+', '-')
            token = Token(_kind_of(word), word, beside.file, beside.line, beside.column, False, joined=is_joined)
        found.append(token)
    return found


# ---- ((blockIdx.x) * (n) + (k))


def _drop_parentheses(body):
    """Removes redundant parentheses, which macros leave around variables, numbers and whole values."""
    opened, pairs, single = [], {}, set()
    for at, token in enumerate(body.tokens):
        if token.text == '(':
            opened.append(at)
        elif token.text == ')' and opened:
            pairs[opened.pop()] = at
    for at, last in pairs.items():      # inner pairs come first
        texts = body.texts(at + 1, min(last, at + 5))
        is_around = pairs.get(at + 1) == last - 1
        if at + 1 in single and is_around or len(texts) == 1 and (
                at + 1 in body.of or body.tokens[at + 1].kind == 'number') or \
                len(texts) == 3 and texts[0] in _INDICES and texts[1] == '.':
            single.add(at)
        if at > 1 and body.tokens[at - 1].kind not in ('identifier', 'string') and \
                body.text(at - 1) not in (')', ']', '}', '>') and body.text(at - 2) not in _TOLD and (
                    at in single and body.text(last + 1) != '(' or
                    (pairs.get(at - 1) == last + 1 or (body.text(at - 1), body.text(last + 1)) == ('=', ';')) and
                    (is_around or _is_one_value(body, at + 1, last))):
            body.remove(at, at + 1)
            body.remove(last, last + 1)


def _is_one_value(body, begin, end):
    depth = 0
    for at in range(begin, end):
        text = body.text(at)
        depth += (text in '([') - (text in ')]')
        if text in (';', '{') or text == ',' and depth == 0:
            return False
    return True


# ---- i = i + n


def _change_sums(body):
    for statement in (s for t in body.statements for s in t.walk()):
        if statement.kind == 'expression':
            _change_sum(body, statement.begin, statement.end - 1)
        elif statement.kind == 'for':
            _change_sum(body, *statement.parts[2])


def _change_sum(body, begin, end):
    """Turns x = x + y into x += y if the sum has no other operand, since a longer sum might have another type."""
    texts, variable = body.texts(begin, end), body.of.get(begin)
    name = texts[0] if texts else ''
    if texts[1:2] == ['='] and len(texts) > 4 and (variable is not None) and _is_stepped(variable):
        if texts[2] == name and texts[3] in ('+', '-') and _is_term(body, begin + 4, end):
            body.remove(begin + 1, begin + 4)
            body.put_before(begin + 1, texts[3], '=')
        elif texts[-1] == name and texts[-2] == '+' and _is_term(body, begin + 2, end - 2):
            body.remove(begin + 1, begin + 2)
            body.remove(end - 2, end)
            body.put_before(begin + 1, '+', '=')
    elif end < len(body.tokens) and body.text(end) == ';' and len(texts) == 3:
        at = begin if texts[1] == texts[2] else begin + 2
        variable, sign = body.of.get(at), texts[1]
        if variable is not None and _is_stepped(variable) and sign in ('+', '-') and texts.count(sign) == 2:
            body.remove(begin, end)
            body.put_before(end, texts[at - begin], sign, '=', '1')


def _is_stepped(variable):
    return (variable.is_integer and not variable.is_bool or variable.is_pointer) and not (
        variable.is_shared or variable.is_volatile or variable.is_reference)


def _is_term(body, begin, end):
    """True if two places enclose a whole product or a single value."""
    depth = 0
    for at in range(begin, end):
        text, is_punctuation = body.text(at), body.tokens[at].kind == 'punctuation'
        depth += (text in '([{') - (text in ')]}') if is_punctuation else 0
        if is_punctuation and depth == 0 and text not in (')', ']', '*', '/', '%', '.', '->', '::'):
            return False
    return begin < end and body.text(begin) not in ('*', '/', '%')


# ---- while


def _change_whiles(body):
    """Turns while (i < n) { ...; i += s; } into a for loop. A loop within a changed one waits for the next pass."""
    for statement in (s for t in body.statements for s in t.walk()):
        is_while = statement.kind == 'while' and body.text(statement.begin + 1) == '('
        is_for = statement.kind == 'for' and statement.parts[2][0] == statement.parts[2][1]
        if not (is_while or is_for) or statement.children[0].kind != 'block' or not statement.children[0].children:
            continue
        inner = statement.children[0].children
        last = inner[-1]
        step = body.texts(last.begin, last.end - 1)
        variable = body.of.get(last.begin)
        if last.kind != 'expression' or variable is None or step[1:3] not in (['+', '='], ['-', '=']) or \
                ',' in step or body.tokens[last.begin].pragmas or not _is_stepped(variable) or any(
                    map(goes_on, inner)):
            continue
        declared = {v for s in inner for i in s.walk() for v in body.variables.declared_by(i)}
        names = {v.name for v in declared}
        if not names.isdisjoint(step):
            continue
        step = body.tokens[last.begin:last.end - 1]
        if is_while:
            body.replace(statement.begin, 'for')
            body.put_before(statement.parts[0][0], ';')
            body.put_before(statement.parts[0][1], ';', *step)
        else:
            body.put_before(statement.parts[2][1], *step)
        body.remove(last.begin, last.end)


def goes_on(statement):
    """True if a statement may contain a `continue` that belongs to the loop around the statement."""
    return statement.kind == 'continue' or statement.kind not in LOOPS and any(map(goes_on, statement.children))


# ---- Pointers


class _Pointer:
    """A pointer into an array. `base`: place of the array's name with its first indices; `offset`: place of the rest of
    the value."""

    def __init__(self, variable, base, offset):
        self.variable, self.base, self.offset = variable, base, offset
        self.name = f'cf__at_{variable.number}_{variable.name}'


def _change_parameters(body):
    """Replaces the statement x += i; by the declaration of a new pointer, if x is a parameter that was not changed
    before."""
    of_thread = _find_of_thread(body)
    for statement in body.statements:
        variable, (begin, end) = body.of.get(statement.begin), (statement.begin, statement.end)
        stars = [t for t in variable.declarator if t.text == '*'] if variable in body.variables.parameters else ()
        if statement.kind == 'expression' and len(stars) == 1 and begin == min(variable.writes, default=-1) and \
                body.texts(begin + 1, begin + 3) in (['+', '='], ['-', '=']) and ',' not in body.texts(begin, end) and \
                variable.is_pointer and not variable.is_volatile and variable.escape is None and \
                variable.name not in body.words and not body.tokens[begin].pragmas and any(
                    body.text(at) == 'threadIdx' or body.of.get(at) in of_thread for at in range(begin, end)):
            name = f'cf__moved_{variable.number}_{variable.name}'
            for at in variable.uses:
                if at >= end:
                    body.replace(at, name)
            body.put_before(begin, *variable.types, *stars, name, '=')
            body.remove(begin + 2, begin + 3)
            body.put_behind(begin + 2, '(')
            body.put_before(end - 1, ')')


def _change_pointers(body):
    """Replaces each pointer whose value depends on the thread by an array and an index."""
    counts, found, arrays = Counter(v.name for v in body.variables.all), {}, set()
    of_thread = _find_of_thread(body)
    statements = [s for statements in body.lists for s in statements if s.kind == 'declaration']
    statements += [s for t in body.statements for s in t.walk()
                   if s.kind == 'for' and len(body.variables.declared_by(s)) == 1]
    for statement in statements:
        declared = body.variables.declared_by(statement)
        for variable in declared:
            pointer = _read_pointer(body, variable, counts, found) if variable in of_thread - arrays else None
            if pointer is not None and all(_is_element(body, at) or _is_step(body, at) for at in variable.writes):
                found[variable] = pointer
                arrays.add(body.of[pointer.base[0]])
        if not found.keys().isdisjoint(declared):
            _declare_indices(body, statement, declared, found)
    for pointer in found.values():
        for at in pointer.variable.uses:
            _change_use(body, at, pointer, found)


def _find_of_thread(body):
    """Returns the variables whose values contain a thread's index, directly or through other variables."""
    found, is_new = set(), True
    values = [(v, v.value) for v in body.variables.all if v.value is not None]
    values += [(body.of[s.begin], p) for t in body.statements for s in t.walk()
               for p in [body.variables.find_value(s)] if p]
    while is_new:
        is_new = False
        for variable, value in values:
            if variable not in found and any(body.text(at) == 'threadIdx' or body.of.get(at) in found
                                             for at in range(*value)):
                found.add(variable)
                is_new = True
    return found


def _read_pointer(body, variable, counts, found):
    """Returns the _Pointer of a variable; None unless its value surely is an array plus an index."""
    if not variable.is_pointer or variable.value is None or variable.escape is not None or variable.is_static or \
            variable.is_reference or variable.is_volatile or variable.is_auto or variable.name in body.words or \
            body.text(variable.value[0] - 1) != '=' or [t.text for t in variable.declarator].count('*') != 1:
        return None
    begin, end = variable.value
    is_address = body.text(begin) == '&'
    begin += is_address
    array = body.of.get(begin)
    if array is None or array in found or array.writes or counts[array.name] > 1 or array.is_reference or \
            array.is_auto or not (array.is_pointer or array.is_array) or _words_of(array) != _words_of(variable) or \
            [t.text for t in array.declarator].count('*') != array.is_pointer:
        return None
    extents, last = 1 if array.is_pointer else array.count_extents(), begin + 1
    indices = []
    while body.text(last) == '[':
        behind = matching(body.tokens, last, '[', ']')
        indices.append((last + 1, behind - 1))
        last = behind
    if len(indices) != extents - (not is_address) or is_address and last != end or not all(
            _is_again(body, at, counts) for place in indices[:extents - 1] for at in range(*place)):
        return None
    if is_address:
        return _Pointer(variable, (begin, indices[-1][0] - 1), indices[-1])
    is_sum = last == end or body.text(last) in ('+', '-') and all(
        body.text(at) not in ('?', ',', '=', '<', '>', '<=', '>=', '==', '!=', '&&', '||', '|', '^', '{') and
        (body.text(at) != '&' or not body.variables.ends_value(at - 1)) for at in range(last, end))
    return _Pointer(variable, (begin, last), (last, end)) if is_sum else None


def _words_of(variable):
    return {t.text for t in variable.types} - _STORAGE


def _is_again(body, at, counts):
    """True if the token at `at`, in an index, has the same value wherever the index is computed."""
    token, variable = body.tokens[at], body.of.get(at)
    if token.kind == 'identifier':
        if body.text(at - 1) == '.':
            return body.text(at - 2) in ('threadIdx', 'blockIdx', 'blockDim', 'gridDim')
        if token.text in ('threadIdx', 'blockIdx', 'blockDim', 'gridDim'):
            return True
        return variable is not None and variable.is_integer and not variable.writes and counts[token.text] == 1
    return token.kind == 'number' or token.text in ('+', '-', '*', '/', '%', '(', ')', '.')


def _is_element(body, at):
    """True if the pointer at `at` is dereferenced by *, and not changed."""
    is_begun = body.text(at - 1) == '*' and not body.variables.ends_value(at - 2)
    return is_begun and (body.text(at + 1), body.text(at + 2)) not in (('+', '+'), ('-', '-'))


def _is_step(body, at):
    """True if a statement, or the step of a loop, adds to the pointer at `at`."""
    behind = [body.text(at + 1), body.text(at + 2)]
    is_prefix = body.text(at - 1) in ('+', '-') and body.text(at - 2) == body.text(at - 1)
    is_postfix = behind in (['+', '+'], ['-', '-'])
    begins = body.text(at - 3 if is_prefix else at - 1) in (';', '{', '}', ')')
    if is_prefix or is_postfix:
        return begins and is_prefix != is_postfix and body.text(at + 1 + 2 * is_postfix) in (';', ')')
    return begins and behind in (['+', '='], ['-', '='])


def _declare_indices(body, statement, declared, found):
    """Gives each variable of a declaration its own declaration, since pointers and indices have different types."""
    first = statement.parts[0][0] if statement.kind == 'for' else statement.begin
    types = body.tokens[first:declared[0].place[0]]
    body.remove(first, declared[0].place[0])
    for variable in declared:
        pointer, (begin, end) = found.get(variable), variable.place
        if pointer is None:
            body.put_before(begin, *types)
        else:
            at, (offset, behind) = variable.value[0], pointer.offset
            body.remove(begin, at)
            body.put_before(begin, 'long', pointer.name, '=', '0L')
            if body.text(at) == '&':
                body.remove(at, offset)
                body.remove(behind, behind + 1)
                body.put_before(offset, '+', '(')
                body.put_behind(behind, ')')
            else:
                body.remove(at, offset)
        if variable is not declared[-1]:
            body.replace(end, ';')


def _change_use(body, at, pointer, found):
    base = body.tokens[slice(*pointer.base)]
    if at in range(*pointer.variable.place):
        return
    behind = body.text(at + 1)
    if _is_element(body, at) and behind not in ('[', '(', '.', '->'):
        body.remove(at - 1, at)
        body.replace(at, base[0].text)
        body.put_behind(at, *base[1:], '[', pointer.name, ']')
    elif at in pointer.variable.writes:
        body.replace(at, pointer.name)
    elif behind == '[':
        body.replace(at, base[0].text)
        body.put_behind(at, *base[1:])
        body.put_behind(at + 1, pointer.name, '+', '(')
        body.put_before(matching(body.tokens, at + 1, '[', ']') - 1, ')')
    elif behind == '->':
        body.replace(at, base[0].text)
        body.put_behind(at, *base[1:], '[', pointer.name, ']')
        body.replace(at + 1, '.')
    elif behind in _COMPARISONS and body.text(at - 1) in ('(', ';', '&&', '||') and \
            _is_pointer_behind(body, at + 2, pointer):
        other = found.get(body.of[at + 2])
        body.replace(at, pointer.name)
        if other is None or body.texts(*other.base) != [t.text for t in base]:
            body.put_behind(at + 2, '-', *base)
    else:
        body.remove(at, at + 1)
        body.put_before(at, '(', *base, '+', pointer.name, ')')


def _is_pointer_behind(body, at, pointer):
    """True if the operand at `at`, after a comparison with a pointer, is a pointer and nothing else."""
    variable = body.of.get(at)
    return variable is not None and variable.is_pointer and _words_of(variable) == _words_of(pointer.variable) and \
        body.text(at + 1) in (')', ';', '&&', '||') and not variable.writes


# ---- Variables of loops


def _change_variables(body):
    """Moves the declaration of a loop's integer into the loop's header, if no later code reads the integer."""
    loops = {}
    for statements in body.lists:
        for number, statement in enumerate(statements):
            if statement.kind == 'for':
                variable = _find_stepped(body, statement)
                if variable is not None:
                    loops.setdefault(variable, []).append((statement, statements[:number]))
    for variable, found in loops.items():
        if variable.name in body.words or len(found) > 1 and any(s.parts[0][0] == s.parts[0][1] for s, _ in found):
            continue
        first, before = found[0]
        if first.parts[0][0] == first.parts[0][1]:
            is_own = variable.statement in before and variable.uses[-1] < first.end
        else:
            is_own = all(any(s.begin <= at < s.end for s, _ in found) for at in variable.uses)
        for statement, _ in found if is_own else ():
            _declare_own(body, variable, statement)


def _find_stepped(body, statement):
    """Returns the integer that is declared outside of a loop and changed only in the loop's header; None if there is
    none."""
    head, _, step = statement.parts
    at = next((at for at in range(*step) if at in body.of), None)
    variable = body.of.get(at)
    if variable is None or variable.statement is None or variable.statement.kind != 'declaration' or \
            not variable.is_integer or variable.is_auto or not _is_stepped(variable) or \
            variable.escape is not None or variable.is_static or ',' in body.texts(*head):
        return None
    writes = [w for w in variable.writes if statement.begin <= w < statement.end]
    if head[0] < head[1]:
        is_set = body.of.get(head[0]) is variable and body.text(head[0] + 1) == '=' and \
            variable not in [body.of.get(i) for i in range(head[0] + 1, head[1])]
        return variable if is_set and writes == [head[0], at] else None
    return variable if writes == [at] else None


def _declare_own(body, variable, statement):
    name, head = f'cf__own_{statement.begin}_{variable.name}', statement.parts[0]
    types = [t for t in variable.types if t.text != 'register']
    for at in variable.uses:
        if statement.begin <= at < statement.end:
            body.replace(at, name)
    if head[0] < head[1]:
        body.put_before(head[0], *types)
    else:
        body.put_before(head[0], *types, name, '=', variable.name)
