"""Collects the effects that a file's functions, classes and names may have on a kernel's variables."""

import re
from functools import cached_property

from cpu.collective import find_reached
from cpu.dynamicmem import only_gives_memory
from cpu.loops import find_device_data
from cpu.members import body_tokens
from cpu.names import FLOAT_VECTORS, VECTORS
from cpu.reachable import find_reachable
from declare.classdecl import split_members
from expr.cxxtypes import BUILTIN, WORDS
from tokens.brackets import matching, split_at

NUMBERS = {*WORDS, 'bool', 'size_t', 'ptrdiff_t', 'const', 'std', '::', 'uint'} | {
    f'{u}int{n}_t' for u in ('', 'u') for n in (8, 16, 32, 64)}
# Matches names of functions and keywords that do more than return a value.
EFFECTS = re.compile(r'atomic\w*|__\w*atomic\w*|printf|clock\w*|new|delete|malloc|free|asm|__asm__|volatile|curand\w*')
# Matches names whose values depend on the thread that reads them.
_OF_THREAD = re.compile(r'threadIdx|\w*thread_rank|thread_index|\w*lane\w*|this_thread\w*|__activemask')
# Functions of C++ libraries that are called without a namespace and take references.
_BY_REFERENCE = {'swap', 'exchange', 'tie', 'ref', 'forward', 'move', 'addressof'}
# Functions of libraries that get addresses and store none of them.
_ONLY_USED = {'sincos', 'sincosf', 'sincospi', 'sincospif', 'frexp', 'frexpf', 'modf', 'modff', 'remquo', 'remquof',
              'memset', 'printf'}
_BEFORE_ADDRESSES = {'(', ',', '=', '{', 'return', '?', ':'}
# The integer types that can hold an address.
_WIDE = {'long', 'size_t', 'ptrdiff_t', 'int64_t', 'uint64_t', 'intptr_t', 'uintptr_t'}
# Classes of CUDA. Their functions and operators change only the object for which they are called.
_KNOWN = {f'{name}{suffix}' for name in VECTORS | FLOAT_VECTORS for suffix in ('', '_16a', '_32a')} | {
    name for name, ctype in BUILTIN.items() if ctype.kind in ('coded', 'vector', 'complex')}
# A class with one of these words in a member is no record, a class that only holds numbers.
_OF_MEMBERS = {'const', '&', '&&', '<', '::', '{', '=', 'static', 'volatile', 'mutable'}
_CONTROLS = {'if', 'for', 'while', 'switch', 'return', 'sizeof', 'alignof', 'decltype', 'constexpr'}


class Meanings:
    """The meanings of a file's names in the code of a kernel. `numbers`: words of numeric types; `floats`: words of
    floating-point types; `references`: typedefs of references; `shared`: the file's __shared__ variables; `data`:
    variables that device code may write; `objects`: the file's variables that are no numbers; `records`: classes that
    hold only numbers; `arrays`: maps typedefs of arrays to their number of dimensions; `members`: maps names of
    members to their numbers of dimensions."""

    def __init__(self, kernel, declarations):
        self._kernel, self._declarations = kernel, declarations
        self._functions, self._classes, self._holders, self._harmless = {}, set(), set(), {}
        self._plain, self._named, self.records = set(_KNOWN), {}, set(_KNOWN)
        self.numbers, self.floats, self.references = set(NUMBERS), {'float', 'double'}, set()
        self.shared, self.objects, self._outside = set(), set(), set()
        self.arrays, self.members = {}, {}
        for declaration in declarations:
            for name in declaration.names if declaration is not kernel else ():
                self._named.setdefault(name, []).append(declaration)
            if declaration.function is not None and declaration is not kernel:
                self._functions.setdefault(declaration.name, []).append(declaration)
            elif declaration.is_class:
                self._note_functions(declaration)
            elif declaration.function is None:
                self._note_names(declaration)
        self.numbers |= kernel.numbers
        self.floats |= kernel.numbers
        self.data = find_device_data(declarations) | self.shared
        for declaration in declarations:
            if declaration.function is None and declaration.body:
                self._note_members(declaration.body)

    def _note_functions(self, declaration):
        """Notes the friend functions in a class, whether its objects may hold addresses, and its name if it is a
        record."""
        self._classes |= set(declaration.names)
        may_hold_addresses = True
        members = [m for _, _, m in split_members(declaration.body)] if not declaration.has('enum') else []
        for member in members:
            if member.function is not None and member.has('friend'):
                self._functions.setdefault(member.name, []).append(member)
        if not any(t.text == '(' for t in declaration.body) and ':' not in {t.text for t in declaration.head}:
            self._plain |= set(declaration.names)
            pairs = zip(declaration.body, declaration.body[1:])
            if not declaration.has('enum') and not declaration.scope and declaration.head[0].text != 'template' and all(
                    t.text not in _OF_MEMBERS for t in declaration.body) and all(
                        a.text in self.numbers | self.records for a, b in pairs if
                        a.kind == 'identifier' and (b.kind == 'identifier' or b.text == '*')):
                self.records |= set(declaration.names)
                may_hold_addresses = any(t.text == '*' or t.text in self._holders for t in declaration.body)
        if may_hold_addresses:
            self._holders |= set(declaration.names)

    def _note_names(self, declaration):
        """Notes the names that a declaration gives to types and variables."""
        texts, names = [t.text for t in declaration.head], set(declaration.names)
        if declaration.has('typedef') or texts[0] == 'using':
            if '[' in texts:
                self.arrays.update((name, texts.count('[')) for name in names)
            if '&' in texts or '&&' in texts:
                self.references |= names
            elif len(names) == 1 and set(texts) - names - {'typedef', 'using', '='} <= self.numbers:
                if not names.isdisjoint(self.numbers - NUMBERS) or declaration.scope:
                    return      # the name has other types in other namespaces
                self.numbers |= names
                if not self.floats.isdisjoint(texts):
                    self.floats |= names
            return
        self._outside |= names
        if declaration.has('__shared__'):
            self.shared |= names
        types = {t.text for t in split_at(declaration.head, '=')[0]} - names - {
            '__device__', '__constant__', '__shared__', 'static', 'extern', 'inline', 'constexpr'}
        if declaration.body is not None or not {t for t in types if not re.fullmatch(r'\W+|\d\w*', t)} <= self.numbers:
            self.objects |= names

    def _note_members(self, tokens):
        """Notes the dimensions of the arrays in a class. Elements in its functions may look like members, which only
        makes decisions more careful."""
        rows = 0        # number of dimensions of the statement's type
        for at, token in enumerate(tokens[:-1]):
            rows = 0 if token.text in (';', '{', '}') else max(rows, self.arrays.get(token.text, 0))
            found, behind = rows, at + 1
            while tokens[behind].text == '[' and behind < len(tokens) - 1:
                found, behind = found + 1, matching(tokens, behind, '[', ']')
            if token.kind == 'identifier':
                self.members[token.text] = max(found, self.members.get(token.text, 0))

    def find_member(self, record, name):
        """Returns the words of the type of a record's member; None unless the member is one number or one record."""
        kind = record.rstrip('1234')
        if record in VECTORS | FLOAT_VECTORS:
            return [kind] if kind in ('int', 'float', 'double') and name in ('x', 'y', 'z', 'w') else None
        found = self._named.get(record, [None])
        declaration = found[0]
        if record not in self.records or not declaration or not declaration.is_class or any(
                d is not declaration for d in found):
            return None
        for line in split_at(declaration.body, ';'):
            count = next((i for i, t in enumerate(line) if t.text not in self.numbers | self.records), len(line))
            if any([t.text for t in part] == [name] for part in split_at(line[count:], ',')):
                return [t.text for t in line[:count]] or None
        return None

    @cached_property
    def _classes_reached(self):
        """Returns the classes that a kernel reaches, and all operators that it reaches."""
        return [d for d in find_reached(self._kernel, self._declarations)
                if d is not self._kernel and (d.is_class or d.name == 'operator')]

    @cached_property
    def has_references(self):
        """True if objects may store addresses of other objects: a class has a reference as a member, or a function of a
        class uses an address."""
        return any(b in ('&', '&&') and d == ';' or b == 'this' and a != '*' and c != '->' or
                   b == '&' and a in _BEFORE_ADDRESSES
                   for texts in self._class_texts for a, b, c, d in zip(texts, texts[1:], texts[2:], texts[3:]))

    @cached_property
    def has_copies(self):
        """True if copying or destroying an object may have other effects than to copy bytes."""
        return any('~' in texts or 'virtual' in texts or any(
            a == 'operator' and b == '=' for a, b in zip(texts, texts[1:])) for texts in self._class_texts)

    @cached_property
    def _class_texts(self):
        return [[t.text for t in d.body] for d in self._classes_reached if d.is_class]

    @cached_property
    def has_active_classes(self):
        """True if a member function or an operator of a class may read indices or have effects."""
        reached = find_reachable(self._classes_reached, [d for d in self._declarations if not d.has('__global__')])
        return any(EFFECTS.fullmatch(word) or _OF_THREAD.fullmatch(word) for d in reached for word in d.words)

    @cached_property
    def _own_classes(self):
        """Returns the classes to which the kernel's variables may belong, and the operators for them. Variables of a
        template may belong to any class."""
        if [t.text for t in self._kernel.head[:1]] != ['template']:
            return self._classes_reached
        return [d for d in self._declarations if d.is_class and not d.has('enum') or d.name == 'operator']

    @cached_property
    def has_only_plain_types(self):
        """True if no variable of the kernel can be an object of a class with functions."""
        return all(self._plain.issuperset(d.names) for d in self._own_classes)

    @cached_property
    def _has_functions(self):
        """True if variables may be objects that their functions or operators change."""
        return self._changes_objects or any(d.is_class and not self._plain.issuperset(d.names)
                                            for d in self._own_classes)

    @cached_property
    def _changes_objects(self):
        """True if an operator other than an assignment takes a reference through which it may change an object."""
        return any(self._is_reference(p) and all(t.text != 'const' for t in p) for d in self._own_classes
                   if d.name == 'operator' and not self._is_assignment(d) for p in d.parameters)

    @staticmethod
    def _is_assignment(operator):
        texts = [t.text for t in operator.head[operator.function + 1:operator.function + 4]]
        texts = texts[:texts.index('(')] if '(' in texts else texts
        return texts[-1:] == ['='] and texts not in (['=', '='], ['!', '='], ['<', '='], ['>', '=']) or \
            texts in (['+', '+'], ['-', '-'], ['++'], ['--'])

    def may_change(self, variable):
        """True if any use of a variable may change it, because it may be an object with functions."""
        words = {t.text for t in variable.types if t.kind == 'identifier'} - {
            'const', 'static', 'constexpr', 'register', '__restrict__', 'struct', '__shared__', 'typename'}
        if variable.is_pointer or words <= self.numbers or any(t.text == 'const' for t in variable.types):
            return False
        if variable.is_auto or not words.isdisjoint(self._type_parameters):
            return self._has_functions
        return self._changes_objects or not words <= self._plain

    @cached_property
    def _type_parameters(self):
        head = self._kernel.head
        behind = matching(head, 1, '<', '>') if head[0].text == 'template' else 0
        return {t.text for t in head[:behind] if t.kind == 'identifier'}

    @cached_property
    def gives_addresses(self):
        """True if an object may give its own address away without an operator &: by a conversion to a pointer, an
        operator ->, a pointer as a member beside an array, or a name of memory outside."""
        return any(self._gives_address(d) for d in self._own_classes if d.is_class and
                   not self._plain.issuperset(d.names))

    def _gives_address(self, declaration):
        texts = [t.text for t in declaration.body]
        if not self.data.isdisjoint(texts):
            return True
        for at, text in enumerate(texts):
            if text == 'operator':
                named = texts[at + 1:texts.index('(', at)] if '(' in texts[at:] else []
                if named[:1] in (['->'], ['-']) and '>' in ''.join(named) or '*' in named[1:]:
                    return True
        fields = [m for _, _, m in split_members(declaration.body) if m.function is None]
        heads = [{t.text for t in m.head} for m in fields]
        has_more = ':' in {t.text for t in declaration.head} or any('[' in head for head in heads) or any(
            not head.isdisjoint(self._classes) for head in heads)
        return has_more and any('*' in head for head in heads)

    def _is_reference(self, parameter):
        """True if a parameter may be a reference, perhaps by a typedef."""
        return any(t.text in ('&', '&&') or t.text in self.references for t in parameter) or any(
            b.text == '::' and a.text not in ('std', 'cuda', 'thrust', 'cooperative_groups', 'cg')
            for a, b in zip(parameter, parameter[1:]))

    @cached_property
    def changes_operands(self):
        """True if an operator or a constructor may change a number that is its operand."""
        return any(self._takes_number(tokens, at) for declaration in self._classes_reached
                   for tokens in [[*declaration.head, *body_tokens(declaration)]]
                   for at, token in enumerate(tokens) if token.text == 'operator' or
                   token.text in declaration.names and [t.text for t in tokens[at + 1:at + 2]] == ['('])

    def _takes_number(self, tokens, at):
        """True if the operator or constructor whose name is at `at` takes a reference to a number."""
        opening = next((i for i in range(at + 1, len(tokens)) if tokens[i].text == '('), None)
        if opening == at + 1 and [t.text for t in tokens[at + 2:at + 4]] == [')', '(']:
            return False            # a call of operator()
        if opening is None:
            return False
        inside = tokens[opening + 1:matching(tokens, opening, '(', ')') - 1]
        for parameter in split_at(inside, ',', '([{<', ')]}>'):
            words = {t.text for t in parameter if t.kind == 'identifier'}
            if any(t.text in ('&', '&&') for t in parameter) and 'const' not in words and (
                    words & self.numbers or not words & self._classes):
                return True
        return False

    def takes_references(self, tokens, opening, variables, number):
        """True if the call whose parenthesis opens at `opening` may change its argument with this number; None stands
        for any argument."""
        before = tokens[opening - 1]
        if before.text == '>':
            begin = opening - 1
            while begin > 0 and tokens[begin].text not in (';', '{', '}', '('):
                if tokens[begin].text in ('static_cast', 'reinterpret_cast', 'const_cast'):
                    return tokens[opening - 2].text == '&'
                begin -= 1
            return True
        if before.kind != 'identifier' or before.text in _CONTROLS:
            return before.text in (')', ']', '}')
        if before.text in WORDS:
            return False
        if tokens[opening - 2].text in ('.', '->', '::'):
            return tokens[opening - 3].text != 'std' or before.text in _BY_REFERENCE
        found = self._functions.get(before.text)
        if found is None:
            return before.text in _BY_REFERENCE or before.text in variables or before.text in self._outside or (
                before.text in self._classes and self.has_references) or (
                tokens[opening - 2].text in self._classes and self.has_references)
        return any(self._is_reference(p) for f in found for p in (
            f.parameters if number is None or number >= len(f.parameters) else [f.parameters[number]]))

    def find_constant(self, name):
        """Returns the head of the only declaration with a name; None if the file has no or several declarations with
        it."""
        found = [d for d in self._declarations if name in d.names]
        return found[0].head if len(found) == 1 and found[0].function is None else None

    def may_be_float(self, name, is_member):
        """True if a name that the kernel does not declare may be a floating-point type, or may have a value of such a
        type."""
        found = self._named.get(name, ())
        if name in self.floats or is_member and not found:
            return True
        words = {t.text for d in found for t in d.head}
        return any(d.function is not None or d.is_class for d in found) or not words.isdisjoint(self.floats | {'auto'})

    def is_function(self, name):
        """True if the file declares a function with this name."""
        return name in self._functions

    def is_plain_function(self, name):
        """True unless a function with this name in the file may have a result that depends on more than its
        arguments."""
        return not any(EFFECTS.fullmatch(word) or _OF_THREAD.fullmatch(word) or word in self.data or
                       word in self._functions and word != name
                       for f in self._functions.get(name, ()) for word in f.words)

    def has_no_effect(self, name):
        """True if no function with this name in the file changes memory or has another effect."""
        if name not in self._harmless:
            self._harmless[name] = True         # the value that a recursive function finds for itself
            self._harmless[name] = all(
                not any(self._is_reference(p) and not self._is_read_only(p, f.body or ()) or
                        any(t.text == '*' for t in p) for p in f.parameters) and
                not any(t.kind == 'identifier' and (EFFECTS.fullmatch(t.text) or t.text == '__shared__' or
                                                    not self.has_no_effect(t.text))
                        for t in f.body or ()) for f in self._functions.get(name, ()))
        return self._harmless[name]

    def gives_memory(self, name):
        """True if the file has functions or classes with this name that only give the address of the block's extern
        __shared__ memory."""
        found = self._named.get(name, ())
        return bool(found) and all(map(only_gives_memory, found))

    def _is_read_only(self, parameter, body):
        """True if a parameter is a reference to a constant number, or to a constant record without addresses, and no
        cast or address in the function's body evades the constancy."""
        words = {t.text for t in parameter[:-1]}
        return '&' in words and 'const' in words and all(t.text != '&' for t in body) and \
            words - {'&'} <= (self.numbers | self.records) - self._holders

    def only_uses(self, tokens, opening):
        """True if the call whose parenthesis opens at `opening` neither stores nor returns the address of an
        argument."""
        before = tokens[opening - 1]
        if before.kind != 'identifier' or before.text in _CONTROLS or before.text in WORDS or \
                tokens[opening - 2].text in ('.', '->', '::') or tokens[opening - 2].kind == 'identifier' and \
                tokens[opening - 2].text not in ('return', 'else', 'do') or before.text in self._classes:
            return before.text == 'sizeof'
        found = self._functions.get(before.text)
        if found is None:
            return before.text in _ONLY_USED or before.text.startswith('atomic')
        return all(self._returns_number(f) and self._takes_numbers(f) for f in found)

    def may_return_address(self, tokens, opening):
        """True if the call whose parenthesis opens at `opening` may store or return the address of an argument that it
        takes by reference."""
        at = opening - 1
        while at > 0 and tokens[opening - 1].text == '>' and tokens[at].text not in (';', '{', '}', '(', '<'):
            at -= 1
        name = tokens[at - (tokens[at].text == '<')].text
        return name in _BY_REFERENCE - {'swap'} or any(
            self._stores_addresses(f) or any(t.text in ('*', '&', 'auto') or t.text in self._holders
                                              for t in f.head[:f.function]) for f in self._functions.get(name, ()))

    def _stores_addresses(self, function):
        """True if a function may store the address of an argument in another argument or in memory elsewhere."""
        return any(sum(t.text == '*' for t in p) > 1 or len(function.parameters) > 1 and self._may_hold_address(p) and
                   all(t.text != 'const' for t in p) for p in function.parameters) or self._names_memory(function)

    def _names_memory(self, function):
        """True if a function, or one that it calls, may store an address in memory that is no parameter, or may convert
        an address to a number."""
        found, pending = {id(function)}, [function]
        while pending:
            texts = [t.text for t in body_tokens(pending.pop())]
            if any(text in ('__shared__', 'reinterpret_cast') or text in self.data or text in _WIDE and behind == ')'
                   for text, behind in zip(texts, texts[1:])):
                return True
            used = [d for text in texts for d in self._named.get(text, ())
                    if id(d) not in found and (d.function is not None or d.is_class)]
            found |= {id(d) for d in used}
            pending += used
        return False

    def _takes_numbers(self, function):
        """True if no argument of a function can hold an address, and the function stores no address."""
        return not self._names_memory(function) and not any(
            sum(t.text == '*' for t in p) > 1 or self._may_hold_address(p) for p in function.parameters)

    def _may_hold_address(self, parameter):
        """True if a parameter leads to an object that may hold an address."""
        return any(t.text in ('*', '&') for t in parameter) and any(t.text in self._holders for t in parameter)

    def _returns_number(self, function):
        head = function.head[:function.function]
        behind = matching(head, 1, '<', '>') if head and head[0].text == 'template' else 0
        parameters = {t.text for t in head[:behind]}
        return not any(t.text in ('*', '&', 'auto') or t.text in parameters or t.text in self._holders
                       for t in head[behind:])
