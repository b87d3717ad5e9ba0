"""C definitions of a kernel file's classes and enumerations: members, sizes, offsets."""

import os
import re
from dataclasses import replace

from base.bounds import MAX_STRUCTS
from base.model import CType, Definition, Field, Leaf
from base.text import C_WORDS
from declare.classdecl import ClassBody, read_alignments
from declare.probe import find_known
from expr.cxxtypes import BUILTIN, pointer
from tokens.brackets import SPECIFIERS
from tokens.lexer import spell_tokens

_BIT_FIELDS = 'has bit-fields'
_POINTER = pointer('void *', 'void *')
_INT = range(-2**31, 2**31)


class _Inexpressible(Exception):
    """The reason why C cannot express a type."""


class _Part:
    """A struct or union under construction: a type with a name, or a part without a name inside of it."""

    def __init__(self, is_union, is_packed):
        self.is_union, self.is_packed = is_union, is_packed
        self.bytes, self.align = 0, 1
        self.lines, self.fields = [], []

    def place(self, size, align, asked):
        """Returns the offset of a member that is added at the end."""
        align = max([1 if self.is_packed else align] + asked)
        self.align = max(self.align, align)
        offset = 0 if self.is_union else _round_up(self.bytes, align)
        self.bytes = max(self.bytes, offset + size)
        return offset


class Layouts:
    """The C definitions of one file's types. Each is made when a kernel or data first use the type."""

    def __init__(self, declared, probe, is_visible):
        """`is_visible` tells whether C programs see a header."""
        self._declared, self._probe, self._is_visible = declared, probe, is_visible
        self._made = {}             # C name: completed CType or reason
        self._pointed = []          # C names of types that members point to
        self._depth = 0             # number of nested classes that are being laid out
        self.arrays = set()         # C names of types that are arrays

    def forget(self):
        """Drops everything that was computed from provisional answers of the probe."""
        self._made, self._pointed = {}, []

    def definitions(self):
        """Returns the definitions of all types used, in order of dependency."""
        while self._pointed:
            self.complete(self._declared.records[self._pointed.pop()].ctype)
        ordered = {}

        def add(definition):
            for other in definition.needs:
                add(other)
            ordered.setdefault(definition.c, definition)
        for ctype in self._made.values():
            if isinstance(ctype, CType) and ctype.definition:
                add(ctype.definition)
        return tuple(ordered.values())

    def complete(self, ctype):
        """Returns a declared type with its C definition, or the reason why C cannot have it."""
        record = self._declared.records.get(ctype.c)
        if record is None or ctype.definition or ctype.kind not in ('struct', 'enum'):
            return ctype
        if record.cxx not in self._made:
            self._made[record.cxx] = self._complete_record(record)
        return self._made[record.cxx]

    def _complete_record(self, record):
        if record.kind == 'typedef':
            return self._ask_type(record.cxx, (record.name,), record.cxx, record.declaration.head[0])
        is_visible = self._is_visible(record.file) and '::' not in record.cxx
        if is_visible:
            # Only C++ has enumerations with an underlying type; C sees the underlying type.
            return replace(record.ctype, c=record.base.c) if record.base else record.ctype
        if record.kind == 'enum':
            return self._define_enum(record)
        try:
            return self._define_class(record)
        except _Inexpressible as why:
            return self._ask_record(record, str(why))

    # ---- Leaves

    def list_leaves(self, ctype):
        """Returns the leaves of a struct; none if C sees it only as bytes."""
        leaves = tuple(self._walk_leaves(ctype, ''))
        return leaves if all(leaf.path for leaf in leaves) else ()

    def _walk_leaves(self, ctype, path):
        record = self._declared.records.get(ctype.c)
        made = self._made.get(record.cxx) if record else None
        seen = made if isinstance(made, CType) else ctype
        if ctype.c.startswith('cf_'):       # in C++, too, cuferry/types.h defines cf_half as a struct
            seen = BUILTIN.get(ctype.c, seen)
        members = {} if record and record.body and record.body.doubt else seen.members or {}
        if seen.kind == 'array' and seen.bytes != 0:
            yield from self._walk_leaves(members['[]'], path + '[]')
        elif seen.kind == 'struct' and members and all(m.kind != 'bit-field' for m in members.values()):
            for name, member in members.items():
                yield from self._walk_leaves(member, f'{path}.{name}' if path else name)
        elif seen.kind != 'array':
            yield Leaf(path, seen)

    # ---- Types that the compiler knows

    def ask(self, cxx, words, spelled, token):
        """Returns the CType of a C++ type that the compiler is asked about, or the reason why C cannot have it."""
        if cxx not in self._made:
            self._made[cxx] = self._ask_type(cxx, words, spelled, token)
        return self._made[cxx]

    def _ask_type(self, cxx, words, spelled, token):
        facts = self._probe.facts(cxx, words)
        if facts is None:
            return f"the compiler cannot tell what '{spelled}' is; define it above, or in a header"
        for number in (facts.kind, facts.under):
            known = find_known(number, self.candidates())
            if known is not None and known.c in self._declared.records:
                return self.complete(known)
            if known is not None and number == facts.kind:      # the name lets compilers check the answer
                return replace(known, cxx=known.key) if known.kind == 'integer' else known
            if known is not None:
                return replace(known, cxx=cxx)
        if facts.category == 4:
            return f'{spelled} hides a pointer behind its name; write the * in the kernel'
        if facts.category not in (1, 8):
            return f'{spelled} is no type of a single value that C has; pass a number, a struct, or a pointer to one'
        c, why = f'struct {name_type(spelled)}', 'is an instance of a class template'
        if facts.category == 8:
            self.arrays.add(c)
            why = 'is an array'
        return self._opaque(c, cxx, facts, why, token, spelled)

    def candidates(self):
        """Returns the declared types that may be the answer to a question of ask()."""
        return [r.ctype for r in self._declared.records.values() if r.kind != 'typedef']

    def _ask_record(self, record, why):
        if why == _BIT_FIELDS and '::' not in record.cxx and self._probe.is_c(record.file):
            why += f'; include("{os.path.basename(record.file)}") shows them'
        facts = self._probe.facts(record.spelled, record.cxx.split('::'))
        if facts is None:
            return f'the compiler cannot tell the size of {record.cxx}; declare it outside of the class'
        return self._opaque(record.c, record.spelled, facts, why, record.declaration.head[0], record.cxx, record)

    def _opaque(self, c, cxx, facts, why, token, spelled, record=None):
        if facts.is_virtual:
            return f'{spelled} has virtual functions, so it is not trivially copyable; pass a plain struct'
        if not facts.is_copyable:
            return f'{spelled} is not trivially copyable, so it cannot be passed from C; pass a plain struct, or a ' \
                   'pointer and a length'
        body = f'{{\n    __attribute__((aligned({facts.align}))) unsigned char bytes[{facts.bytes}];\n}}'
        text = _spell_head(record, c, body)
        definition = Definition(c, cxx, token.location, text, (c.split()[-1],), ('bytes',), facts.bytes, facts.align,
                                opaque=f'{spelled} {why}')
        return CType(c, cxx, c, 'CF_OPAQUE', c.split()[-1], 'struct', facts.bytes, facts.align, 1, {}, definition)

    # ---- Enumerations

    def _define_enum(self, record):
        scope = record.cxx + '::'
        outer = '_'.join(record.scope if record.is_scoped else record.scope[:-1])
        values = []
        for token, value in record.values:
            if value is None:
                value = self._probe.value(scope + token.text, record.cxx.split('::'))
            if value is None:
                return f'the compiler cannot tell the value of {scope}{token.text}; declare it outside of the class'
            values.append((f'{outer}_{token.text}' if outer else token.text, scope + token.text, value))
        small = [(c, value) for c, _, value in values if value in _INT]
        rows = ',\n'.join(f'    {c} = {"(-2147483647 - 1)" if value == -2**31 else value}' for c, value in small)
        if record.base:
            text = f'typedef {record.base.c} {record.c};\n' + (f'enum {{\n{rows}\n}};\n' if small else '')
        elif 0 < len(small) == len(values) and '__attribute__' not in [t.text for t in _outside(record.declaration)]:
            text = _spell_head(record, record.c, f'{{\n{rows}\n}}')
        else:
            return f'{record.name} has no values, attributes, or values that no int of C holds; give it an ' \
                   'underlying type'
        size = record.base.bytes if record.base else 4
        definition = Definition(record.c, record.spelled, record.declaration.head[0].location, text,
                                (record.c.split()[-1], *(c for c, _ in small)), (), size, size,
                                values=tuple((cxx, value) for _, cxx, value in values))
        return replace(record.ctype, bytes=size, align=size, definition=definition)

    # ---- Classes

    def _define_class(self, record):
        self._made[record.cxx] = record.ctype        # a member may point to the type itself
        if record.body.doubt:
            raise _Inexpressible(record.body.doubt)
        needs = {}
        if self._depth == MAX_STRUCTS:
            raise _Inexpressible(f'has structs nested more than {MAX_STRUCTS} deep')
        self._depth += 1
        try:
            part = self._lay_out(record, _outside(record.declaration), record.body, record.scope, '', needs)
        finally:
            self._depth -= 1
        if not part.fields:
            raise _Inexpressible('has no members')
        attributes = ['packed'] * part.is_packed
        asked = self._read_alignments(_outside(record.declaration), record)
        attributes += [f'aligned({max(asked)})'] if asked else []
        text = _spell_head(record, record.c, '{\n' + ''.join(f'    {line}\n' for line in part.lines) + '}', attributes)
        definition = Definition(record.c, record.spelled, record.declaration.head[0].location, text,
                                tuple(dict.fromkeys(filter(None, (record.tag, record.alias)))),
                                tuple(sorted({w for f in part.fields for w in re.findall(r'[A-Za-z_]\w*', f.path)})),
                                part.bytes, part.align, tuple(part.fields), needs=tuple(needs.values()))
        return replace(record.ctype, bytes=part.bytes, align=part.align, definition=definition)

    def _lay_out(self, record, head, body, scope, prefix, needs):
        """Lays out a class body; raises _Inexpressible if C cannot have it."""
        texts = [t.text for t in head]
        part = _Part('union' in texts[:2], 'packed' in texts or '__packed__' in texts)
        for member in body.members:
            self._add_member(record, part, member, scope, prefix, needs)
        part.align = max([part.align] + self._read_alignments(head, record))
        part.bytes = _round_up(part.bytes, part.align)
        return part

    def _add_member(self, record, part, member, scope, prefix, needs):
        if member.is_bit_field:
            raise _Inexpressible(_BIT_FIELDS)
        if member.is_reference:
            raise _Inexpressible('has a reference')
        name = member.token.text if member.token else ''
        if name in C_WORDS or not name.isascii():
            raise _Inexpressible(f'has a member {name}, which is no name in C')
        path = prefix + name
        extents = tuple(self._read_extent(record, member, number, path, scope)
                        for number in range(len(member.extents)))
        asked = self._read_alignments(member, record)
        brackets = ''.join(f'[{e}]' for e in extents)
        aligned = f'__attribute__((aligned({max(asked)}))) ' if asked else ''
        if member.nested is not None and not member.stars:
            self._add_nested(record, part, member, scope, (path, extents, asked, f'{aligned}{name}{brackets}'), needs)
            return
        c, cxx, size, align = self._member_type(record, member, scope, needs)
        if c.startswith('cf_complex') and not member.stars:     # C aligns a complex number as its parts
            aligned = f'__attribute__((aligned({max([align, *asked])}))) '
        count = 1
        for extent in extents:
            count *= extent
        offset = part.place(size * count, align, asked)
        space = '' if c.endswith('*') else ' '
        part.lines.append(f'{aligned}{c}{space}{name}{brackets};' if not member.is_function else
                          f'{aligned}void (*{name}{brackets})(void);')
        part.fields.append(Field(path, c, extents, offset, cxx))

    def _add_nested(self, record, part, member, scope, named, needs):
        path, extents, asked, declarator = named
        if member.nested.head[0].text == 'enum':
            raise _Inexpressible(f'has a member {path} of an enumeration without a name')
        body = ClassBody(member.nested, '', scope)
        if body.doubt or body.declarations:
            raise _Inexpressible(f'has {path or "a part without a name"}, which is more than a list of members')
        inner = self._lay_out(record, member.nested.head, body, scope, f'{path}{"[0]" * len(extents)}.' if path else
                              path, needs)
        count = 1
        for extent in extents:
            count *= extent
        offset = part.place(inner.bytes * count, inner.align, asked)
        keyword = member.nested.head[0].text.replace('class', 'struct')
        part.lines += ['__extension__ ' * (not path) + f'{keyword} {{', *(f'    {line}' for line in inner.lines),
                       f'}} {declarator};' if declarator else '};']
        part.fields += [replace(f, offset=offset + f.offset, cxx=None) for f in inner.fields]

    def _member_type(self, record, member, scope, needs):
        """Returns a member's type without extents: its text in C, in C++ or None, its size, its alignment."""
        if member.is_function:
            return 'void (*)(void)', None, 8, 8
        found = self._declared.find_member_type(member, scope)
        words = [t.text for t in member.words]
        qualifiers = [q for q in ('const', 'volatile') if q in words]
        if member.stars:
            c, cxx = self._pointed_type(found, words, record, needs)
            first = ' '.join(qualifiers + [c])
            stars = ' ' + ''.join('*' + ''.join(f'{q} ' for q in sorted(s)) for s in member.stars[:-1]) + '*'
            return (first + stars, f'{" ".join(qualifiers + [cxx])}{stars}' if cxx else None, 8, 8)
        is_asked = not isinstance(found, CType)
        if is_asked and not (member.token and words):       # the compiler's own error will tell what is wrong
            raise _Inexpressible('has a member without a type or a name')
        if is_asked:
            found = self._ask_member(record, member)
        if found is _POINTER:
            return 'void *', None, 8, 8
        found = self.complete(found) if isinstance(found, CType) else found
        if isinstance(found, str):
            raise _Inexpressible(f'has a member {member.token.text} of no type that C has')
        if found.definition:
            needs[found.definition.c] = found.definition
        size, align = found.bytes, found.align
        if size is None:
            words = re.findall(r'\w+', found.cxx)
            size, align = (self._probe.value(f'{what}({found.cxx})', words) for what in ('sizeof', 'alignof'))
        if size is None or align is None:
            raise _Inexpressible(f'has a member {member.token.text} of an unknown size')
        return found.c, None if is_asked else ' '.join(qualifiers + [found.cxx]), size, align

    def _ask_member(self, record, member):
        """Asks the compiler for the type of a member whose words the generator does not know. Returns _POINTER for any
        pointer."""
        at = next((i for i, t in enumerate(member.words) if t.text == '<'), 0)
        spelled = spell_tokens([t for i, t in enumerate(member.words) if i >= at or t.text not in SPECIFIERS | {
            'const', 'volatile'}])
        cxx = f'__typeof__((({record.cxx} *)0)->{member.token.text}{"[0]" * len(member.extents)})'
        words = (*record.cxx.split('::'), *re.findall(r'\w+', spelled))
        facts = self._probe.facts(cxx, words)
        return _POINTER if facts and facts.category == 4 else self.ask(cxx, words, spelled, member.token)

    def _pointed_type(self, found, words, record, needs):
        """Returns the type that a member points to, in C and in C++; void if C has no such type."""
        if words and words[-1] == 'void':
            return 'void', 'void'
        if not isinstance(found, CType):
            return 'void', None
        other = self._declared.records.get(found.c)
        if other is None or other.kind == 'enum':
            completed = self.complete(found)
            if isinstance(completed, str):
                return 'void', None
            if completed.definition:
                needs[completed.definition.c] = completed.definition
            return completed.c, completed.cxx
        if other.kind == 'typedef' or other.tag is None and other is not record:
            completed = self.complete(found)
            if isinstance(completed, str) or not completed.definition:
                return ('void', None) if isinstance(completed, str) else (completed.c, completed.cxx)
            needs[completed.definition.c] = completed.definition
            return completed.c, completed.cxx
        if other.c not in self._pointed and other.cxx not in self._made:
            self._pointed.append(other.c)
        return (f'{other.keyword} {other.tag}' if other.tag else 'void'), found.cxx

    # ---- Constants

    def _read_extent(self, record, member, number, path, scope):
        value = self._declared.evaluate(member.extents[number], scope)
        if value is None:
            value = self._probe.value(f'std::extent<decltype(std::declval<{record.cxx} &>().{path}), {number}>::value',
                                      record.cxx.split('::'))
        if value is None or value < 1:
            raise _Inexpressible(f'has a member {path} of an unknown extent')
        return value

    def _read_alignments(self, of, record):
        """Returns the alignments that a class's head or a member asks for."""
        values = []
        for tokens in of.alignments if hasattr(of, 'alignments') else read_alignments(of):
            value = self._declared.evaluate(tokens, record.scope)
            if value is None:
                found = self._declared.types.find(record.scope, [t.text for t in tokens])
                value = found.align if isinstance(found, CType) else None
            if value is None:
                raise _Inexpressible('has an alignment that is no constant here')
            values.append(value)
        return values


def _outside(declaration):
    """Returns the tokens of a class outside of its braces, among them its attributes."""
    return declaration.head + declaration.tail


def name_type(spelled):
    """Returns a C name for a C++ type."""
    return re.sub(r'\W+', '_', re.sub(r'-(?=\d)', 'm', spelled).replace('*', 'p')).strip('_')


def _spell_head(record, c, body, attributes=()):
    """Returns the beginning of a definition in C."""
    attribute = f'__attribute__(({", ".join(attributes)})) ' if attributes else ''
    if record is None or record.alias is None:
        keyword, tag = c.split()
        return f'{keyword} {attribute}{tag} {body};\n'
    tag = f'{record.tag} ' if record.tag else ''
    return f'typedef {record.keyword} {attribute}{tag}{body} {record.alias};\n'


def _round_up(value, step):
    return (value + step - 1) // step * step
