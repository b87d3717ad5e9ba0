"""Finds the alignment to which code casts pointers. The CPU faults if it reads a wide type at an address that is no
multiple of the type's alignment.

A cast of a pointer to floats concerns arrays of floats. A cast whose operand is not understood concerns all arrays."""

import re

from cpu.names import IN_FRONT, QUALIFIERS
from declare.classdecl import split_members
from expr.cxxtypes import BUILTIN
from tokens.brackets import matching, split_at

WIDEST = 16      # bytes; alignment of vectors, and of an unknown type unless a declaration names a wider one
_MOST = 256      # bytes; alignment of the copies that a call makes of its arrays
_LONGEST = 256   # most tokens of template arguments that are read, so that nested comparisons take linear time
_UNLISTED = {'void': 1, 'byte': 1, 'uchar': 1, 'longlong': 8, 'ulonglong': 8}      # maps a type to its size in bytes
_SKIPPED = {'const', 'volatile', 'std', '::', '*', '&', '__restrict__', '__restrict', 'restrict'}
_ALIGNMENTS = {'alignas', '_Alignas', '__align__', '__builtin_align__', 'aligned', '__aligned__'}
_NO_MEMBERS = {'using', 'typedef', 'static', 'friend', 'template', 'public', 'private', 'protected', 'static_assert'}
_AFTER_TYPES = ('*', 'const', 'volatile', '__restrict__', '__restrict', 'restrict')


def find_pointer_cast(body, at):
    """Returns the index of the first token inside the parentheses of a pointer cast that end at `at`; 0 if these
    parentheses are no pointer cast."""
    begin = _find_type(body, at)
    is_cast = (begin > 0 and body[begin - 1].text == '(' and any(t.text == '*' for t in body[begin:at]) and
               body[begin].text != '*' and at + 1 < len(body) and
               (body[at + 1].kind in ('identifier', 'number') or body[at + 1].text in ('(', '&')))
    return begin if is_cast else 0


def _find_type(body, end):
    """Returns the index of the first token of the possible type whose last token precedes `end`."""
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


class CastReader:
    """Reads the casts of a file's declarations, once per declaration."""

    def __init__(self, declarations):
        self._declarations = declarations
        self._types = None
        self._read = {}         # maps a declaration to its casts, and to the widest alignment that it asks for

    def list_casts(self, reached):
        """Returns the pointer casts of the declarations `reached` as (type that the operand points to, type that the
        result points to, alignment). An unknown type is None and has the widest alignment that a declaration names.
        Casts of a thread's own arrays and of shared memory are left out."""
        parts = [self._read_one(declaration) for declaration in reached]
        widest = max([WIDEST, *(asked for _, asked in parts)])
        return frozenset((source, key, align or widest) for casts, _ in parts for source, key, align in casts)

    def _read_one(self, declaration):
        if self._types is None:
            self._types = _Types(self._declarations)
        if id(declaration) not in self._read:
            tokens = _all_tokens(declaration)
            self._read[id(declaration)] = (_list_casts_of(declaration, tokens, self._types), _read_asked(tokens))
        return self._read[id(declaration)]


class _Types:
    """The classes of a file, and the types that the file names by typedefs of pointers and references."""

    def __init__(self, declarations):
        self.classes, self.pointers = {}, {}
        for declaration in declarations:
            for name in declaration.names if declaration.is_class else ():
                self.classes.setdefault(name, []).append(declaration)
            _find_pointer_types(_all_tokens(declaration), self.pointers)

    def find_alignment(self, words):
        """Returns the alignment of the type to which a pointer or a reference points, 0 if it is unknown. `words`: the
        words of the pointer's type. A pointer to pointers points to an address."""
        if words.count('*') > 1:
            return 8
        return self._find_words(words, set())

    def _find_words(self, words, seen):
        names = _names_of(words)
        if len(set(names)) != 1:
            return 0
        known = _find_builtin(names[0])
        if known:
            return known
        found = [self._find_class(d, seen) for d in self.classes.get(names[0], ())]
        return max(found) if found and all(found) else 0

    def _find_class(self, declaration, seen):
        """Returns the widest alignment that a class, its members or its bases have or ask for; 0 if it is unknown. A
        class in `seen` gives 1, since the caller already counts it."""
        if id(declaration) in seen:
            return 1
        seen.add(id(declaration))
        head = [t.text for t in declaration.head]
        found = [max(1, _read_asked([*declaration.head, *declaration.tail]))]
        if 'enum' in head:
            return self._find_words(head[head.index(':') + 1:], seen) if ':' in head else 8
        if ':' in head:
            found += [self._find_words([t.text for t in base if t.text not in _NO_MEMBERS], seen)
                      for base in split_at(declaration.head[head.index(':') + 1:], ',', '([{<', ')]}>')]
        for _, _, member in split_members(declaration.body):
            found.append(self._find_member(member, seen))
        return min(_MOST, max(found)) if all(found) else 0

    def _find_member(self, member, seen):
        texts = [t.text for t in member.head]
        if member.function is not None or texts[0] in _NO_MEMBERS:
            return 8 if 'virtual' in texts else 1
        asked = max(1, _read_asked(member.head))
        if member.body is not None and texts[0] in ('struct', 'class', 'union', 'enum'):
            return self._find_class(member, seen)
        if '*' in texts or '&' in texts:
            return max(8, asked)
        words = []
        for token in member.head:
            if token.kind != 'identifier' and token.text != '::':
                break
            words += [token.text] if token.text not in QUALIFIERS else []
        align = self._find_words(words[:-1], seen)
        return max(align, asked) if align else 0


def _all_tokens(declaration):
    return [*declaration.head, *(declaration.body or ()), *declaration.tail]


def _read_asked(tokens):
    """Returns the widest alignment that attributes among the tokens ask for: 0 if there are none, _MOST if it is an
    expression."""
    widest = 0
    for at, token in enumerate(tokens):
        if token.kind == 'identifier' and token.text.endswith(('4_16a', '4_32a')):
            widest = max(widest, _find_builtin(token.text))
        elif token.text in _ALIGNMENTS and at + 1 < len(tokens):
            is_call = tokens[at + 1].text == '('
            widest = max(widest, _read_number(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1]) if is_call else
                         WIDEST)
    return min(_MOST, widest)


def _read_number(tokens):
    """Returns the alignment that the tokens of an attribute give as a number or as a numeric type; _MOST for others."""
    texts = [t.text for t in tokens]
    if len(texts) == 1 and tokens[0].kind == 'number':
        return int(re.sub('[uUlL]+$', '', texts[0]), 0)
    return len(texts) == 1 and _find_builtin(texts[0]) or _MOST


def _find_pointer_types(tokens, pointers):
    """Adds to `pointers` the words of the type for each name that the tokens give to a pointer or a reference type."""
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


def _list_casts_of(declaration, tokens, types):
    body, found, pointees = list(declaration.body or ()), [], _find_pointees(tokens)
    own = _find_own(body)
    for at in range(len(tokens) - 1):
        words, end, align = _read_cast(tokens, at, types)
        source = _find_source(tokens, end, own, pointees) if end else 'own'
        if source != 'own':
            found.append((source, type_key(words), align))
    return found


def _read_cast(tokens, at, types):
    """Returns (words of the type, index of the operand, alignment or 0 if unknown) of the cast to a pointer or a
    reference at `at`; ([], 0, 0) if there is no such cast."""
    if tokens[at].text == '__builtin_assume_aligned' and tokens[at + 1].text == '(':
        _, *rest = split_at(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1], ',')
        return [], at + 1, _read_number(rest[0]) if rest else 0
    words, end = _read_type(tokens, at, types)
    return words, end, types.find_alignment(words) if end else 0


def _read_type(tokens, at, types):
    """Returns (words of the type, index of the operand) of the cast at `at`; ([], 0) if there is no cast."""
    pointers = types.pointers
    text, after = tokens[at].text, tokens[at + 1]
    is_operand = after.kind in ('identifier', 'number') or after.text in ('(', '&', '*')
    if text in ('reinterpret_cast', 'static_cast') and after.text == '<':
        end = matching(tokens, at + 1, '<', '>')
        words = [t.text for t in tokens[at + 2:end - 1]]
        words = next((pointers[w] for w in words if w in pointers), words)
        is_value = text == 'static_cast' or '&' not in words and 0 < types.find_alignment(words) < WIDEST
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
    if text == 'decltype' and after.text == '(':
        return [], _find_operand(tokens, at, matching(tokens, at + 1, '(', ')'))
    return [], 0


def _find_operand(tokens, begin, end):
    """Returns the index of the operand of a cast whose type contains the tokens from `begin` to `end`; 0 if these
    tokens are no type in a cast."""
    while end < len(tokens) and tokens[end].text in (*_AFTER_TYPES, '&'):
        end += 1
    begin = _find_type(tokens, begin)
    is_cast = (0 < begin and tokens[begin - 1].text == '(' and tokens[begin - 2].text != 'sizeof' and
               end + 1 < len(tokens) and tokens[end].text == ')' and
               (tokens[end + 1].kind in ('identifier', 'number') or tokens[end + 1].text in ('(', '&')))
    return end + 1 if is_cast else 0


def find_alignment(casts, words):
    """Returns the widest alignment to which a cast, or a chain of casts, takes the elements of an array; 1 if no cast
    concerns them. `words`: the words of the elements' type."""
    keys, widest, pending = {type_key(words)}, 1, set(casts)
    while True:
        taken = {c for c in pending if None in keys or c[0] is None or c[0] in keys}
        if not taken:
            return widest
        pending -= taken
        keys |= {key for _, key, _ in taken}
        widest = max([widest, *(align for _, _, align in taken)])


def type_key(words):
    """Returns a key that is equal for types whose pointers may be exchanged, such as all integers of one size; None for
    an unknown type."""
    names = _names_of(words)
    if words.count('*') > 1 or len(set(names)) != 1 or names[0] == 'void':
        return None
    found = BUILTIN.get(names[0].replace('_32a', '_16a'))
    if names[0] in _UNLISTED or found and found.kind == 'integer':
        return f'integer {_find_builtin(names[0])}'
    return found and found.key


def _find_builtin(name):
    """Returns the alignment of the built-in type with a name, 0 if no built-in type has this name."""
    found = BUILTIN.get(name.replace('_32a', '_16a'))
    return 32 if found and name.endswith('_32a') else found.align if found else _UNLISTED.get(name, 0)


def _names_of(words):
    names = [w for w in words if w not in _SKIPPED]
    return names[1:] if len(names) > 1 and names[0] in ('unsigned', 'signed') else names


def _find_source(tokens, at, own, pointees):
    """Returns the key of the type to which the operand of a cast points; 'own' if the operand is an array that the body
    declares; None if it is unknown."""
    end, depth = at, 0
    while end < len(tokens) and not (depth == 0 and tokens[end].text in (',', ';', ')', ']', '}', '=')):
        depth += (tokens[end].text in ('(', '[', '{')) - (tokens[end].text in (')', ']', '}'))
        end += 1
    found = set()
    for name in {t.text for t in tokens[at:end] if t.kind == 'identifier'}:
        found |= {('own', name)} if name in own else {(key, name) for key in pointees.get(name, ())}
    return found.pop()[0] if len(found) == 1 else None


def _find_own(body):
    """Returns the names of the arrays that a function's body declares."""
    return {t.text for before, t, after in zip(body, body[1:], body[2:])
            if before.kind == 'identifier' and before.text not in {*IN_FRONT, 'sizeof'} and after.text == '['}


def _find_pointees(tokens):
    """Returns a map from the name of each declared pointer to the keys of its elements' types."""
    found, begin = {}, 0        # begin: first of the names, stars and :: before `at`
    for at, token in enumerate(tokens[:-1]):
        words = [t.text for t in tokens[begin:at]] if tokens[at + 1].text in (',', ')', ';', '=') else []
        if '*' in words and words[0] != '*':
            found.setdefault(token.text, set()).add(type_key(words))
        elif '*' in words and begin and tokens[begin - 1].text == '>':
            found.setdefault(token.text, set()).add(None)
        if token.text not in ('*', '::') and token.kind != 'identifier':
            begin = at + 1
    return found
