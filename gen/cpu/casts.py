"""Finds the alignment to which code casts pointers, since the CPU faults at addresses that are not multiples of it.

A cast of a pointer to floats concerns arrays of floats; one whose operand is not understood concerns all arrays."""

import re

from cpu.names import IN_FRONT
from tokens.brackets import matching

WIDEST = 16      # alignment of a type that is not known: of vectors, and of structs with alignas(16)
_MOST = 256      # alignment of copies
_LONGEST = 256   # tokens of template arguments that are read, so that nested comparisons take linear time
_BYTES = {'bool': 1, 'char': 1, 'uchar': 1, 'void': 1, 'byte': 1, 'short': 2, 'ushort': 2, 'half': 2, '__half': 2,
          '__nv_bfloat16': 2, 'nv_bfloat16': 2, 'int': 4, 'uint': 4, 'unsigned': 4, 'signed': 4, 'float': 4, 'half2': 4,
          '__half2': 4, '__nv_bfloat162': 4, 'nv_bfloat162': 4, 'long': 8, 'ulong': 8, 'longlong': 8, 'ulonglong': 8,
          'double': 8, 'size_t': 8, 'ptrdiff_t': 8, 'intptr_t': 8, 'uintptr_t': 8}
_SIZED = re.compile(r'u?int(8|16|32|64)_t')
_VECTOR = re.compile(r'(u?(?:char|short|int|long|longlong)|float|double)([1-4])')
_SKIPPED = {'const', 'volatile', 'std', '::', '*', '&', '__restrict__', '__restrict', 'restrict'}
_ALIGNMENTS = {'alignas', '_Alignas', '__align__', '__builtin_align__', 'aligned', '__aligned__'}
_FLOATS = {'float': 'float', 'double': 'double', 'half': 'half', '__half': 'half', '__nv_bfloat16': 'bfloat16',
           'nv_bfloat16': 'bfloat16'}
_AFTER_TYPES = ('*', 'const', 'volatile', '__restrict__', '__restrict', 'restrict')


def find_pointer_cast(body, at):
    """Returns the index of the first token in a pointer cast's parentheses, which close at `at`; 0: it is no cast."""
    begin = _find_type(body, at)
    is_cast = (begin > 0 and body[begin - 1].text == '(' and any(t.text == '*' for t in body[begin:at]) and
               body[begin].text != '*' and at + 1 < len(body) and
               (body[at + 1].kind in ('identifier', 'number') or body[at + 1].text in ('(', '&')))
    return begin if is_cast else 0


def _find_type(body, end):
    """Returns the index of the first token of what may be a type that ends before `end`."""
    begin = end
    while begin > 0 and (body[begin - 1].text in ('*', '&', '::', ',') or body[begin - 1].kind == 'identifier' or
                         body[begin - 1].text == '>'):
        begin -= 1
        depth, parens, least = int(body[begin].text == '>'), 0, max(0, begin - _LONGEST)
        while depth and parens >= 0 and begin > least and body[begin].text not in (';', '{', '}'):
            begin -= 1
            parens += (body[begin].text == ')') - (body[begin].text == '(')
            depth += 0 if parens else (body[begin].text == '>') - (body[begin].text == '<')
    return begin


def list_casts(reached):
    """Returns the pointer casts of declarations as (type of what the operand points to, that of the result, alignment
    of that). A type is None if it is not known. Casts of the thread's own arrays and of shared memory are left out."""
    classes = {name: d for d in reached if d.is_class for name in d.names}
    pointers = {}
    for declaration in reached:
        _find_pointer_types([*declaration.head, *(declaration.body or ()), *declaration.tail], pointers)
    return frozenset(cast for declaration in reached for cast in _list_casts_of(declaration, classes, pointers))


def _find_pointer_types(tokens, pointers):
    """Adds the names that typedefs and the like give to pointers and references, with the words of the type."""
    for at, token in enumerate(tokens):
        is_using = token.text == 'using' and at + 2 < len(tokens) and tokens[at + 2].text == '='
        if token.text != 'typedef' and not is_using:
            continue
        first = at + 3 if is_using else at + 1
        end = next((i for i in range(first, len(tokens)) if tokens[i].text in (';', '{')), len(tokens))
        words = [t.text for t in tokens[first:end]]
        if '*' in words or '&' in words:
            name = tokens[at + 1].text if is_using else words.pop()
            pointers[name] = words if pointers.get(name, words) == words else []


def _list_casts_of(declaration, classes, pointers):
    body, found = list(declaration.body or ()), []
    tokens = [*declaration.head, *body, *declaration.tail]
    for at in range(len(tokens) - 1):
        words, end = _read_cast(tokens, at, classes, pointers)
        source = _find_source(tokens, body, end) if end else 'own'
        if source != 'own':
            found.append((source, type_key(words), _alignment_of(words, classes)))
    return found


def _read_cast(tokens, at, classes, pointers):
    """Returns (words of the type, index of the operand) of a cast of a pointer or to a reference; ([], 0) elsewhere."""
    text, after = tokens[at].text, tokens[at + 1]
    is_operand = after.kind in ('identifier', 'number') or after.text in ('(', '&', '*')
    if text in ('reinterpret_cast', 'static_cast') and after.text == '<':
        end = matching(tokens, at + 1, '<', '>')
        words = [t.text for t in tokens[at + 2:end - 1]]
        words = next((pointers[w] for w in words if w in pointers), words)
        is_value = text == 'static_cast' or '&' not in words and _alignment_of(words, classes) < WIDEST
        return ([], 0) if '*' not in words and is_value else (words, end)
    if text == ')' and at and tokens[at - 1].text in _AFTER_TYPES and find_pointer_cast(tokens, at):
        return [t.text for t in tokens[find_pointer_cast(tokens, at):at]], at + 1
    if text == ')' and at and tokens[at - 1].text == '&' and is_operand and after.text not in _AFTER_TYPES:
        return [t.text for t in tokens[_find_type(tokens, at):at]], at + 1
    if text == '(' and after.text == '*' and [t.text for t in tokens[at + 2:at + 4]] == [')', '[']:    # (T (*)[4])
        words, end = [t.text for t in tokens[_find_type(tokens, at):at]] + ['*'], at + 3
        while end < len(tokens) and tokens[end].text == '[':
            end = matching(tokens, end, '[', ']')
        return words, end + 1
    if text in pointers:
        end = at + 1 if after.text == '(' else _find_operand(tokens, at, at + 1)
        return (pointers[text], end) if end else ([], 0)
    if text == '__builtin_assume_aligned':
        return [], at + 1
    if text == 'decltype' and after.text == '(':
        return [], _find_operand(tokens, at, matching(tokens, at + 1, '(', ')'))
    return [], 0


def _find_operand(tokens, begin, end):
    """Returns the index of the operand after parentheses around a type of which these tokens are a part; 0: there is
    none."""
    while end < len(tokens) and tokens[end].text in (*_AFTER_TYPES, '&'):
        end += 1
    begin = _find_type(tokens, begin)
    is_cast = (0 < begin and tokens[begin - 1].text == '(' and tokens[begin - 2].text != 'sizeof' and
               end + 1 < len(tokens) and tokens[end].text == ')' and
               (tokens[end + 1].kind in ('identifier', 'number') or tokens[end + 1].text in ('(', '&')))
    return end + 1 if is_cast else 0


def find_alignment(casts, words):
    """Returns the widest alignment to which an array's elements are cast, by one cast or several; 1: none is.
    `words`: the elements' type."""
    keys, widest, pending = {type_key(words)}, 1, set(casts)
    while True:
        taken = {c for c in pending if None in keys or c[0] is None or c[0] in keys}
        if not taken:
            return widest
        pending -= taken
        keys |= {key for _, key, _ in taken}
        widest = max([widest, *(align for _, _, align in taken)])


def type_key(words):
    """Returns the same for types whose pointers may be alike: all integers of a size; None if the type is not known."""
    names = _names_of(words)
    if words.count('*') > 1 or len(set(names)) != 1 or names[0] == 'void':
        return None
    sized = _SIZED.fullmatch(names[0])
    if sized:
        return f'integer {int(sized.group(1)) // 8}'
    if names[0] in _BYTES and names[0] not in _FLOATS:
        return f'integer {_BYTES[names[0]]}'
    return _FLOATS.get(names[0]) or (names[0] if _VECTOR.fullmatch(names[0]) else None)


def _names_of(words):
    names = [w for w in words if w not in _SKIPPED]
    return names[1:] if len(names) > 1 and names[0] in ('unsigned', 'signed') else names


def _find_source(tokens, body, at):
    """Returns the type of what a cast's operand points to; 'own' for an array that the body declares."""
    end, depth = at, 0
    while end < len(tokens) and not (depth == 0 and tokens[end].text in (',', ';', ')', ']', '}', '=')):
        depth += (tokens[end].text in ('(', '[', '{')) - (tokens[end].text in (')', ']', '}'))
        end += 1
    found = set()
    for name in {t.text for t in tokens[at:end] if t.kind == 'identifier'}:
        found |= {('own', name)} if _is_own(body, name) else {(key, name) for key in _find_pointees(tokens, name)}
    return found.pop()[0] if len(found) == 1 else None


def _is_own(body, name):
    return any(t.text == name and before.kind == 'identifier' and before.text not in {*IN_FRONT, 'sizeof'} and
               after.text == '[' for before, t, after in zip(body, body[1:], body[2:]))


def _find_pointees(tokens, name):
    """Returns the types of the elements of pointers that are declared with this name."""
    found = set()
    for at, token in enumerate(tokens[:-1]):
        if token.text != name or tokens[at + 1].text not in (',', ')', ';', '='):
            continue
        begin = at - 1
        while begin >= 0 and (tokens[begin].text in ('*', '::') or tokens[begin].kind == 'identifier'):
            begin -= 1
        words = [t.text for t in tokens[begin + 1:at]]
        if '*' in words and words[0] != '*':
            found.add(type_key(words))
        elif '*' in words and tokens[begin].text == '>':
            found.add(None)
    return found


def _alignment_of(words, classes):
    """Returns the alignment of a pointer's or reference's target. A pointer to pointers reads addresses."""
    if words.count('*') > 1:
        return 8
    names = _names_of(words)
    if names and names[0] in classes:
        return _alignment_of_class(classes[names[0]], classes, ())
    if not names or len(set(names)) > 1:
        return WIDEST
    vector, sized = _VECTOR.fullmatch(names[0]), _SIZED.fullmatch(names[0])
    if vector:
        lanes = int(vector.group(2))
        return min(WIDEST, _BYTES[vector.group(1)] * (lanes if lanes % 2 == 0 else 1))
    return int(sized.group(1)) // 8 if sized else _BYTES.get(names[0], WIDEST)


def _alignment_of_class(declaration, classes, within):
    """Returns the alignment of vectors if a class, or one that it names, has a vector or asks for an alignment, that
    number if it is larger; else the alignment of numbers."""
    tokens = [*declaration.head, *(declaration.body or ()), *declaration.tail]
    asked = [int(number.text) for word, _, number in zip(tokens, tokens[1:], tokens[2:])
             if word.text in _ALIGNMENTS and number.text.isdecimal()]
    names = {t.text for t in tokens if t.kind == 'identifier'}
    is_wide = names & _ALIGNMENTS or any(_VECTOR.fullmatch(n) and _alignment_of([n], {}) == WIDEST for n in names)
    inner = [classes[n] for n in names & classes.keys() if classes[n] is not declaration and classes[n] not in within]
    return min(_MOST, max([WIDEST if is_wide else 8, *asked,
                           *(_alignment_of_class(d, classes, (*within, declaration)) for d in inner)]))
