"""Inlines calls of device functions in which threads wait for one another, so that a kernel can become regions, and
calls of functions that apply atomic functions to the block's own memory.

    x = sum_of_warp(v);         { float cf__result_1; { float cf__1_value = v; ...; cf__result_1 = cf__1_value; }
                                  x = cf__result_1; }

A call is inlined if the function has one definition, or the only one for exactly the types of the arguments, and one
return at its end; its parameters are numbers, vectors, structs of these, pointers, references, groups of threads or
function objects, and its template parameters types or numbers; and the statement evaluates the call once and before any
effect in it. Calls of function objects are inlined likewise. Otherwise the kernel runs as fibers."""

import copy
import re
from functools import cached_property

from cpu.called import as_pointer, find_waiting, is_changed
from cpu.collective import find_reached, find_waits
from cpu.constants import Constants
from cpu.functors import end_of_type, find_functors, find_temporary, replace_objects
from cpu.meanings import EFFECTS, Meanings, NUMBERS
from cpu.refused import Refused
from cpu.sharedmem import find_array
from cpu.statements import parse_statements
from cpu.variables import Variables
from declare.declarations import behind_template
from tokens.brackets import is_update, matching, split_at
from tokens.lexer import Token, TokenError

_WORD = re.compile(r'[^\W\d]\w*')
_MOST_CALLS, _MOST_TOKENS = 60, 30000
_SPECIFIERS = {'__device__', '__host__', 'static', 'inline', '__forceinline__', '__noinline__', 'constexpr',
               '__inline__'}
# The types of groups that a function may take, by value or by reference, and the other words in such a type.
_GROUPS = {'thread_block', 'thread_block_tile', 'thread_group'}
_WORDS_OF_GROUPS = {'const', '::', '<', '>', '&'}
_POINTERS = {'*', '&', '__restrict__', '__restrict', 'const', 'volatile'}
_OF_STORAGE = {'const', 'constexpr', 'static', '__shared__', 'extern', 'register'}
# Maps the type of a template parameter that is a number to the suffix of such a literal.
_OF_VALUES = {'int': '', 'unsigned': 'u', 'unsigned int': 'u'}
_OF_TEMPLATES = {f'template < {word} > class' for word in ('typename', 'class')}
# A function with one of these words is not inlined.
_OTHERS = {'static', 'extern', 'sizeof', 'this', 'asm', 'decltype', 'operator', 'template', 'volatile', '&&'}
# A statement with one of these words may not evaluate a call exactly once, or not first.
_DOUBTS = {'?', '&&', '||', '->', 'sizeof', 'decltype', 'alignof', 'new', 'delete', '?:'}


def expand_calls(kernel, declarations):
    """Returns a kernel with inlined calls, or the kernel itself if it has none; and a map from the names of functions
    to the Refused that says why a call is not inlined. Raises Refused if a function with __shared__ variables has calls
    that cannot be inlined beside inlined ones, since all calls share the variables."""
    waits = list(find_waits(kernel, declarations))
    waiting, changing = find_waiting(kernel, declarations, waits)
    functors = find_functors(declarations, kernel.scope) if waits else {}
    if not (waiting or changing or functors):
        return kernel, {}
    expander = _Expander(kernel, declarations, waiting, changing, functors)
    while expander.expand_one():
        pass
    for declaration in find_reached(expander.kernel, declarations):
        if declaration in expander.moved:
            name = declaration.head[declaration.function]
            raise Refused(next((t for t in kernel.body if t.text == name.text), name),
                          'has __shared__ variables, and its statements replace only some of its calls')
    return expander.kernel, expander.refused


class _Function:
    """A function that can be inlined. Raises TokenError if this declaration cannot be inlined. `free`: tokens of names
    that the function uses and does not declare."""

    def __init__(self, declaration, kernel, declarations, meanings, functors):
        self.declaration, self.is_functor = declaration, declaration.is_class
        if self.is_functor:
            declaration = functors[next(iter(declaration.names))][1]
        head, self.name = declaration.head, declaration.head[declaration.function]
        if not self.is_functor:
            _demand(declaration.body, self.name, 'has several declarations')
            _demand(not declaration.is_member, self.name, 'is a member of a class')
            _demand(declaration.scope in ([], (), kernel.scope), self.name, 'is in another namespace than the kernel')
        behind, of_class = behind_template(head), self.declaration.head[:behind_template(self.declaration.head)]
        self.template = _read_template(of_class if self.is_functor and of_class else head[:behind])
        self.types = {name for name, types, _ in self.template if types == ''}
        self.template_names = {name for name, _, _ in self.template}
        known = meanings.numbers | meanings.records | self.types
        passed = known | {n for n, (d, _) in functors.items() if d.head[0].text != 'template'}
        self.result = [t for t in head[behind:declaration.function] if t.text not in _SPECIFIERS]
        texts = [t.text for t in self.result]
        self.is_void = texts == ['void']
        _demand(self.is_void or texts and set(texts) <= known and 'void' not in texts, self.name,
                'returns another type than numbers, vectors and structs of these')
        parameters = [as_pointer(p) for p in declaration.parameters if [t.text for t in p] not in ([], ['void'])]
        self.parameters = [self._read_parameter(p, passed) for p in parameters]
        self.body = declaration.body
        self.statements = parse_statements(self.body)
        self.variables = Variables(self.body, parameters, self.statements, meanings)
        self._check_body()
        self.free = [t for types in (self.result, *(types for types, _ in self.parameters))
                     for before, t in zip([None, *types], types) if before is None or before.text != '::']
        self.free += [t for at, t in enumerate(self.body) if at not in self.variables.of and (
            at == 0 or self.body[at - 1].text not in ('.', '->', '::'))]
        self.free = [t for t in self.free if t.kind == 'identifier' and t.text not in self.template_names]
        self._check_names(kernel, declarations)
        self.shared = [s for t in self.statements for s in t.walk() if s.kind == 'declaration' and any(
            v.is_shared for v in self.variables.declared_by(s))]
        _demand(not (self.is_functor and self.shared), self.name)
        for statement in self.shared:
            for at in range(statement.begin, statement.end):
                variable = self.variables.of.get(at)
                _demand(variable is None or variable.is_shared, self.body[at])
            _demand(all((v.is_number or {t.text for t in v.types} <= known | {'__shared__', 'static', 'extern'}) and
                        v.value is None for v in self.variables.declared_by(statement)), self.body[0])

    @staticmethod
    def _read_parameter(tokens, known):
        """Returns the tokens of a parameter's type, and the parameter's name."""
        types, name = tokens[:-1], tokens[-1]
        if not _GROUPS.isdisjoint(t.text for t in types) and name.kind == 'identifier':
            _demand(all(t.text in _WORDS_OF_GROUPS or t.kind in ('identifier', 'number') for t in types), name)
            return [t for t in types if t.text != '&'], name.text
        _demand(types and name.kind == 'identifier' and name.text not in known and
                all(t.text in known | _POINTERS for t in types) and sum(t.text in ('*', '&') for t in types) < 2, name,
                'is a parameter of another type than numbers, vectors, structs of these, and pointers to them')
        return types, name.text

    def is_only_followed(self, parameter):
        """True if each use of a pointer is *pointer."""
        return all(self.body[at - 1].text == '*' and not self.variables.ends_value(at - 2) and
                   self.body[at + 1].text not in ('[', '(', '->') and
                   [t.text for t in self.body[at + 1:at + 3]] not in (['+', '+'], ['-', '-']) for at in parameter.uses)

    def _check_body(self):
        returns = [s for t in self.statements for s in t.walk() if s.kind == 'return']
        last = self.statements[-1]
        for statement in self.statements:
            for inner in statement.walk():
                _demand(inner.kind not in ('unknown', 'alias', 'label', 'switch'), self.body[inner.begin])
        for statement in returns if self.is_void else [s for s in returns if s is not last]:
            _demand(False, self.body[statement.begin], "is not at its function's end")
        _demand(self.is_void or returns and last.parts[0][0] < last.parts[0][1] and len(split_at(
            self.body[last.parts[0][0]:last.parts[0][1]], ',')) == 1, self.name)
        for at, token in enumerate(self.body):
            _demand(token.text not in _OTHERS or token.text == '&&' and self.variables.ends_value(at - 1) or
                    token.text in ('static', 'extern') and '__shared__' in (
                        self.body[at - 1].text, self.body[at + 1].text), token)
            _demand(token.text != '[' or self.variables.ends_value(at - 1), token)
            _demand(self.template_names.isdisjoint(w for line in token.pragmas for w in _WORD.findall(line)), token)

    def _check_names(self, kernel, declarations):
        """Raises TokenError if a name in the function may mean something else in the kernel: another declaration of the
        name stands after the function, or in a namespace that does not enclose both."""
        function, number = self.declaration, declarations.index(self.declaration)
        names = {t.text for t in self.free}
        scopes = {}
        for other in declarations[:number]:
            for name in names.intersection(other.names):
                _demand(scopes.setdefault(name, other.scope) == other.scope == function.scope[:len(other.scope)] ==
                        kernel.scope[:len(other.scope)], other.head[0])
        for other in declarations[number + 1:]:
            _demand(names.isdisjoint(other.names) and [t.text for t in other.head[:2]] != ['using', 'namespace'],
                    other.head[0])


def _read_template(tokens):
    """Returns (name, type of a number or '' for a type, tokens of the default or None) of each template parameter."""
    found = []
    for part in split_at(tokens[2:-1], ',') if tokens[2:-1] else []:
        part, *default = split_at(part, '=')
        types = ' '.join(t.text for t in part[:-1])
        _demand(len(default) < 2 and (types in ('typename', 'class') or types in _OF_VALUES or
                                      types in _OF_TEMPLATES and not default), tokens[0])
        found.append((part[-1].text, types if types in _OF_VALUES else '', *(default or [None])))
    return found


def _demand(condition, token=None, why=''):
    if not condition:
        raise TokenError(token, why)


class _Expander:
    """Inlines the calls in one kernel. `kernel`: the kernel with all calls that were inlined so far; `moved`: maps a
    function whose __shared__ variables were moved to the kernel to the template arguments of its instances; `refused`:
    maps the name of a function to the Refused with the reason why its last call is not inlined."""

    def __init__(self, kernel, declarations, waiting, changing, functors):
        self.kernel, self._declarations, self._waiting = kernel, declarations, waiting | changing
        self._changing, self._functors = changing, functors
        self._meanings, self._constants = Meanings(kernel, declarations), Constants(kernel, declarations)
        self._functions, self.moved, self.refused, self._count = {}, {}, {}, 0

    def _function(self, at, variables):
        """Returns the function that the call at `at` means; raises TokenError if it cannot be inlined."""
        call, opening = self.kernel.body[at], at + 1
        found = [self._functors[call.text][0]] if call.text in self._functors else [
            d for d in self._declarations if d.function is not None and d.name == call.text]
        if len(found) > 1:
            is_template = self.kernel.body[opening].text == '<'
            if is_template:
                opening = matching(self.kernel.body, opening, '<', '>')
            self._check_overloads(found, call)
            given = self._find_types(opening + 1, variables)
            found = [d for d in found if (d.head[0].text == 'template' or not is_template) and given == [
                [t.text for t in p[:-1] if t.text != 'const'] for p in d.parameters]]
            _demand(len(found) == 1, call, 'has several declarations, and none is surely that of these arguments')
        key = id(found[0])
        if key not in self._functions:
            try:
                self._functions[key] = _Function(found[0], self.kernel, self._declarations, self._meanings,
                                                 self._functors)
            except TokenError as error:
                self._functions[key] = TokenError(error.token, str(error) or 'keeps its function from being inlined')
        if isinstance(self._functions[key], TokenError):
            raise self._functions[key]
        return self._functions[key]

    def _check_overloads(self, found, call):
        """Raises TokenError if a call may see only some of the functions of one name, or if one of them takes arguments
        of any type."""
        first, last = (self._declarations.index(found[n]) for n in (0, -1))
        between = [d for d in self._declarations[first:last] if call.text in d.words and d not in found]
        takes_any = any(not types for d in found for _, types, _ in _read_template(d.head[:behind_template(d.head)]))
        _demand(not (between or takes_any) and all(
            d.scope == found[0].scope and all(t.text != call.text for t in d.body or ()) for d in found), call,
                'has several declarations, which other code divides, or which take any type')

    def _find_types(self, at, variables):
        """Returns the words of the types of a call's arguments, None for an unknown type. `at`: the place behind the
        opening parenthesis."""
        found = []
        for part in split_at(self.kernel.body[at:matching(self.kernel.body, at - 1, '(', ')') - 1], ','):
            found.append(self._find_type(at, at + len(part), variables))
            at += len(part) + 1
        return found

    def expand_one(self):
        """Inlines the first call that can be inlined; returns False if there is none."""
        body = self.kernel.body
        places = [at for at, token in enumerate(body) if token.text in self._waiting or token.text in self._functors]
        if not places or self._count >= _MOST_CALLS or len(body) > _MOST_TOKENS:
            return False
        try:
            statements = parse_statements(body)
            variables = Variables(body, self.kernel.parameters, statements, self._meanings)
        except TokenError:
            return False
        replaced = replace_objects(body, statements, variables, self._functors, self._waiting)
        if replaced:
            self._set_body(replaced)
            return True
        parts = [s for t in statements for s in t.walk() if s.kind in ('expression', 'declaration')]
        for at in places:
            if body[at - 1].text in ('.', '->', '::') or self._find_opening(at) is None:
                continue
            statement = next((s for s in parts if s.begin <= at < s.end), None)
            try:
                _demand(statement is not None, body[at], 'is called in a condition, a header or a return')
                function = self._function(at, variables)
                self._check_hidden(function, statements, variables)
                self._expand(statement, at, function, variables, statements)
                return True
            except TokenError as error:
                token, why = error.token or body[at], 'keeps the call from being inlined'
                if token is body[at]:
                    why = 'is called where its statements cannot stand'
                self.refused[body[at].text] = Refused(token, str(error) or why)
        return False

    def _find_opening(self, at):
        """Returns the place of a call's parenthesis if the name at `at` is that of a function or of a function object
        whose calls may be inlined; otherwise None."""
        body, name = self.kernel.body, self.kernel.body[at].text
        if name not in self._waiting and name not in self._functors:
            return None
        behind = end_of_type(body, at)
        if name in self._functors and find_temporary(body, at, behind + 2, self._functors):
            behind += 2
        elif name in self._functors:
            return None
        return behind if [t.text for t in body[behind:behind + 1]] == ['('] else None

    def _set_body(self, tokens):
        self.kernel = copy.copy(self.kernel)
        self.kernel.__dict__.pop('words', None)
        self.kernel.body = tokens

    def _expand(self, statement, at, function, variables, statements):
        body, opening = self.kernel.body, self._find_opening(at)
        _demand(at not in variables.of, body[at])
        end = matching(body, opening, '(', ')')
        if self._keep_right(statement, at, end):
            return
        self._check_around(statement, at, end, variables)
        _demand(not function.is_void or (statement.begin, statement.end) == (at, end + 1), body[at])
        arguments = [p for p in split_at(body[opening + 1:end - 1], ',') if p]
        _demand(len(arguments) == len(function.parameters), body[at], 'has default arguments')
        # An atomic function on memory that all blocks share needs no inlining.
        _demand(body[at].text not in self._changing or any(self._is_shared(a, opening, variables) for a in arguments),
                body[at])
        if len(arguments) > 1:
            self._check_order(opening + 1, end - 1, variables)
        texts = self._read_arguments(function, at + 2, end_of_type(body, at) - 1, variables, statements)
        given = self._bind(function, texts, arguments, opening + 1, variables)
        # The pointers whose targets take their place.
        followed = {v for v, a in zip(function.variables.parameters, arguments) if a[0].text == '&' and v.name in given}
        around = {t.text for t in (*body[statement.begin:at], *body[end:statement.end])}
        _demand(around.isdisjoint(given[v.name] for v, (types, _) in zip(
            function.variables.parameters, function.parameters) if v in followed or is_changed(types)), body[at])
        # Each instance of a function template has __shared__ variables of its own.
        instances = self.moved.setdefault(function.declaration, []) if function.shared else []
        is_first = texts not in instances
        if is_first:
            # Two values with the kernel's template parameters may be equal, so that their instances would be the same.
            words = {w for t in (texts, *instances) for text in t.values() for w in text.split()}
            _demand(not instances or words.isdisjoint(self._own), body[at])
            instances.append(texts)
        instance = instances.index(texts)
        self._count += 1
        mark, call = f'cf__{self._count}_', body[at]
        result = f'cf__result_{self._count}'

        def put(text, kind='punctuation'):
            return Token(kind, text, call.file, call.line, call.column, False)

        def spell_types(tokens):
            found = []
            for token in tokens:
                words = texts[token.text].split() if token.text in texts else [token.text]
                found += [put(word, 'number' if word[0].isdigit() else 'identifier' if word.isidentifier() else
                              'punctuation') for word in words]
            return found

        inner, skipped = [], {i for s in function.shared for i in range(s.begin, s.end)}
        hoisted = []
        for i, token in enumerate(function.body):
            variable = function.variables.of.get(i)
            if variable is not None:
                name = given.get(variable.name) if variable in function.variables.parameters else None
                new = copy.copy(token)
                new.text = name or (f'cf__of_{function.declaration.name}_{instance}_{variable.number}_{token.text}'
                                    if variable.is_shared else mark + token.text)
                new = [new]
            elif token.text in texts and token.kind == 'identifier':
                new = spell_types([token])
                behind = [t.text for t in function.body[i + 1:i + 3]]
                if len(new) > 1 and behind[:1] in (['('], ['{']) and new[0].text not in self._functors:
                    # T(0), where T has several words
                    _demand(behind[0] == '(' and behind != ['(', ')'] and i and
                            function.body[i - 1].text not in (';', '{', '}'), call)
                    new = [put('('), *new, put(')')]
            elif token.text == 'static':
                new = []
            elif token.text == 'return':
                new = [put(result, 'identifier'), put('=')]
            elif function.variables.of.get(i + 1) in followed:      # the * before a pointer
                new = []
            else:
                new = [copy.copy(token)]
            (hoisted if i in skipped else inner).extend(new)
        front = [] if function.is_void else [*spell_types(function.result), put(result, 'identifier'), put(';')]
        front = [t for t in front if t.text != 'const']
        block = [put('{'), *self._declare(function, arguments, given, mark, put, spell_types), *inner, put('}')]
        rest = [] if function.is_void else [*body[statement.begin:at], put(result, 'identifier'),
                                            *body[end:statement.end]]
        new = [*front, *block, *rest]
        if statement.kind == 'expression':
            new = [put('{'), *new, put('}')]
        self._set_body([*(hoisted if is_first else ()), *body[:statement.begin], *new, *body[statement.end:]])

    def _is_shared(self, argument, opening, variables):
        """True if an argument is a pointer into a __shared__ array. `opening`: place of the call's opening
        parenthesis."""
        first = next(i for i in range(opening, len(self.kernel.body)) if self.kernel.body[i] is argument[0])
        return find_array(self.kernel.body, variables.of, first, first + len(argument)) is not None

    def _check_hidden(self, function, statements, variables):
        """Raises TokenError if the function uses a name that the kernel declares with another meaning."""
        body, head = self.kernel.body, self.kernel.head
        names = {v.name for v in variables.all} | {t.text for t in head[:behind_template(head)]} - NUMBERS
        for statement in (s for t in statements for s in t.walk() if s.kind == 'alias'):
            words = {t.text for t in body[statement.begin:statement.end]}
            _demand(not {'using', 'namespace'} <= words, body[statement.begin])
            names |= words - NUMBERS if 'static_assert' not in words else set()
        for token in function.free:
            _demand(token.text not in names, token)
        _demand(names.isdisjoint(w for t in function.body for line in t.pragmas for w in _WORD.findall(line)))

    def _check_order(self, begin, end, variables):
        """Raises TokenError if an argument has an effect, as in f(q++, q), since C++ may evaluate the arguments in any
        order."""
        body = self.kernel.body
        for i in range(begin, end):
            texts, is_variable = [t.text for t in body[i:i + 2]], i in variables.of
            _demand(texts[0] != '=' and not is_update(texts), body[i])
            if body[i].kind == 'identifier':
                is_call = texts[1] == '(' and (is_variable or body[i - 1].text in ('.', '->'))
                _demand(not is_call and (is_variable or not EFFECTS.fullmatch(texts[0]) and
                                         self._meanings.has_no_effect(texts[0])), body[i])

    def _declare(self, function, arguments, given, mark, put, spell_types):
        """Yields the tokens that declare a variable for each parameter without a replacement in `given`."""
        for (types, name), argument in zip(function.parameters, arguments):
            if name not in given:
                types = [t for t in types if t.text != '&']
                yield from (*spell_types(types), put(mark + name, 'identifier'), put('='), *argument, put(';'))

    def _read_arguments(self, function, at, end, variables, statements):
        """Returns a map from template parameters to the texts of the arguments between two places, which a call spells
        out."""
        tokens, texts = self.kernel.body[at:end], {}
        parts = split_at(tokens, ',') if tokens else []
        _demand(len(parts) <= len(function.template), *tokens[:1])
        for (name, types, _), part in zip(function.template, parts):
            words = [t.text for t in part]
            if types:
                texts[name] = self._read_number(function, types, at, at + len(part), variables, statements)
            else:
                _demand(set(words) <= self._meanings.numbers - {'const'} or words[0] in self._meanings.records and
                        len(words) == 1 or len(words) == 1 and
                        self._own.get(words[0]) == '' and self._meanings.has_only_plain_types or
                        words[0] in self._functors and end_of_type(part, 0) == len(part), part[0])
                _demand(all(v.name not in words for v in variables.all), part[0])
                texts[name] = ' '.join(words)
            at += len(part) + 1
        return texts

    def _read_number(self, function, types, at, end, variables, statements):
        """Returns the text of the number between two places, which is the argument of a template parameter."""
        part = self.kernel.body[at:end]
        words = [t.text for t in part]
        value = self._constants.evaluate_local(self.kernel.body, at, end, variables, statements, set(self._own))
        if value is not None:
            return str(value) + _OF_VALUES[types]
        variable = variables.of.get(at) if len(part) == 1 else None
        if variable is not None:
            # The __shared__ memory of the function is declared at the kernel's beginning, where the constant is
            # unknown.
            kind = ' '.join(t.text for t in variable.types if t.text not in ('const', 'constexpr', 'static'))
            _demand(kind == types and len(variable.declarator) == 1 and not function.shared, part[0])
            return words[0]
        _demand(all(v.name not in words for v in variables.all), part[0])
        if words[1:]:       # an expression of numbers and of the kernel's own template parameters, all of type int
            _demand(types == 'int' and all(self._own.get(w) == 'int' or re.fullmatch(r'0|[1-9]\d{0,8}|[-+*/%()]', w)
                                           for w in words), part[0])
            return ' '.join(['(', *words, ')'])
        _demand(self._own.get(words[0]) == types, part[0])
        return words[0]

    @cached_property
    def _own(self):
        """Returns a map from the kernel's template parameters to their types, '' for a parameter that is a type."""
        head = self.kernel.head
        return {name: types for name, types, _ in _read_template(head[:behind_template(head)])}

    def _add_defaults(self, function, texts):
        """Adds to `texts` the defaults of template parameters that neither the call nor its arguments determine."""
        for name, types, default in function.template:
            if name in texts or not default:
                continue
            words = [t.text for t in default]
            value = self._constants.evaluate(default) if types and function.template_names.isdisjoint(words) else None
            _demand(value is not None if types else set(words) <= NUMBERS - {'const'}, default[0])
            texts[name] = str(value) + _OF_VALUES[types] if types else ' '.join(words)

    def _bind(self, function, texts, arguments, at, variables):
        """Adds to `texts` the types of template parameters. Returns a map from the names of parameters to the kernel's
        variables that take their place: for references, and for pointers that nothing changes."""
        given = {}
        for (types, name), argument in zip(function.parameters, arguments):
            words = [t.text for t in types]
            variable = variables.of.get(at) if len(argument) == 1 else None
            own = [t.text for t in variable.types if t.text not in ('__shared__', 'extern', 'register')] \
                if variable is not None else []
            found = self._find_type(at, at + len(argument), variables)
            plain = [w for w in words if w not in ('const', '&')] if not is_changed(types) else words
            if not function.types.intersection(words) <= set(texts) and variable is None and found and len(plain) == 1:
                texts[plain[0]] = ' '.join(found)
            if not function.types.intersection(words) <= set(texts):
                _demand(variable is not None and not variable.is_reference and not variable.is_auto and
                        not variable.is_volatile and (variable.is_number or self._meanings.records.issuperset(
                            w for w in own if w != 'const')), argument[0])
                _demand(('*' in words) == (variable.is_pointer or variable.is_array), argument[0])
                _demand('*' not in words or 'const' not in own or words[0] == 'const', argument[0])
                _demand(not {'static', 'constexpr'} & set(own) and sum(
                    t.text == '*' for t in variable.declarator) == variable.is_pointer, argument[0])
                word = next(w for w in words if w in function.types)
                texts[word] = ' '.join(w for w in own if w != 'const')
            parameter = next(v for v in function.variables.parameters if v.name == name)
            pointed = variables.of.get(at + 1) if [t.text for t in argument[:-1]] == ['&'] else None
            # A variable with the value may take the place of a reference to an object that nothing changes.
            if '&' in words and not is_changed(types) and (
                    function.is_functor or find_temporary(self.kernel.body, at, at + len(argument), self._functors) or
                    variables.is_computed(at, at + len(argument))):
                pass
            elif pointed is not None and pointed.is_scalar and function.is_only_followed(parameter) and \
                    '__shared__' not in [t.text for t in pointed.types] and \
                    [w for w in words if w not in ('const', '*')] == self._find_type(at + 1, at + 2, variables) and (
                        'const' in words[:words.index('*')] or all(t.text != 'const' for t in pointed.types)):
                given[name] = pointed.name
            elif '&' in words:
                types = ' '.join(texts.get(w, w) for w in words if w not in ('const', '&'))
                _demand(variable is not None and types == ' '.join(w for w in own if w != 'const') and not (
                    variable.is_reference or variable.is_volatile or variable.is_static or variable.is_array or
                    variable.is_pointer or variable.is_auto) and ('const' not in own or 'const' in words) and
                        '__shared__' not in [t.text for t in variable.types], argument[0])
                given[name] = variable.name
            elif variable is not None and '*' in words and not parameter.writes and (
                    variable.is_array and variable.statement is not None or
                    variable.is_pointer and not variable.writes) and not variable.is_reference and \
                    'const' not in words[words.index('*'):]:
                given[name] = variable.name
            at += len(argument) + 1
        self._add_defaults(function, texts)
        _demand(set(texts) == function.template_names, function.declaration.head[0])
        return given

    def _find_type(self, at, end, variables):
        """Returns the words of the type of a variable's element or member, or of a function object; None for other
        expressions."""
        body, variable = self.kernel.body, variables.of.get(at)
        found = find_temporary(body, at, end, self._functors)
        if found:
            return found
        if variable is None or variable.is_auto or variable.is_volatile or sum(
                t.text == '*' for t in variable.declarator) != variable.is_pointer:
            return None
        words = [t.text for t in variable.types if t.text not in _OF_STORAGE]
        extents, at = variable.count_extents() + variable.is_pointer, at + 1
        while at < end and words is not None:
            if extents and body[at].text == '[':
                extents, at = extents - 1, matching(body, at, '[', ']')
            elif not extents and body[at].text == '.' and len(words) == 1:
                words, at = self._meanings.find_member(words[0], body[at + 1].text), at + 2
            else:
                return None
        is_known = words and set(words) <= self._meanings.numbers | self._meanings.records
        return words if is_known and not extents and at == end else None

    def _keep_right(self, statement, at, end):
        """Gives the right side of an assignment a variable, if the call is on the left side, since C++ evaluates the
        right side first. Returns False for other statements."""
        body = self.kernel.body
        equals = next((i for i in range(end, statement.end) if body[i].text == '='), None)
        if statement.kind != 'expression' or equals is None or equals + 3 == statement.end or \
                body[equals - 1].text not in (']', ')') or body[equals + 1].text == '=' or \
                len(split_at(body[equals + 1:statement.end - 1], ',')) > 1:
            return False
        self._count += 1

        def put(text, kind='punctuation'):
            return Token(kind, text, body[at].file, body[at].line, body[at].column, False)

        name = put(f'cf__right_{self._count}', 'identifier')
        self._set_body([*body[:statement.begin], put('{'), put('auto', 'identifier'), name,
                        *body[equals:statement.end], *body[statement.begin:equals + 1], name, put(';'), put('}'),
                        *body[statement.end:]])
        return True

    def _check_around(self, statement, at, end, variables):
        """Raises TokenError if the statement may not evaluate the call exactly once, or if code before the call has an
        effect or depends on the call's effects. Values in braces are evaluated in their order."""
        body = self.kernel.body
        around = [i for i in range(statement.begin, statement.end) if not at <= i < end]
        first = next((i for i in around if body[i].text == '='), statement.begin - 1)
        if first > at:      # the right side is evaluated first, and is a single variable or number
            _demand(first + 3 == statement.end and body[first - 1].text in (']', ')'), body[at])
            variable = variables.of.get(first + 1)
            is_plain = variable is not None and (variable.is_scalar or variable.is_auto) and \
                not variable.is_shared and variable.escape is None
            _demand(is_plain or body[first + 1].kind == 'number', body[at])
            around = [i for i in around if i < first]
            first = statement.begin + 1     # the token after the array and its bracket
        depth = 0
        for i in around:
            texts = [t.text for t in body[i:i + 2]]
            if body[i].kind == 'punctuation':
                depth += (texts[0] in '([{') - (texts[0] in ')]}')
            _demand(texts[0] not in _DOUBTS and not (texts[0] == ',' and depth == 0) and (
                texts[0] != ';' or i == statement.end - 1), body[i])
            _demand(texts not in (['+', '+'], ['-', '-']) or not body[i + 1].joined, body[i])
            if i > first:
                variable = variables.of.get(i)
                _demand(texts[0] not in ('[', '=') and not is_update(texts), body[i])
                _demand(texts[0] not in ('*', '&') or variables.ends_value(i - 1), body[i])
                _demand(variable is None or not variable.is_shared, body[i])
                _demand(texts[0] not in self._meanings.data and (
                    body[i].kind != 'identifier' or texts[1:] != ['('] or
                    self._meanings.has_no_effect(texts[0]) and texts[0] not in self._waiting and variable is None or
                    i > at and depth == 1 and body[first + 1].text == '{' and body[i - 1].text == ','), body[i])
            elif texts[0] == '(':
                _demand(statement.kind != 'declaration' and body[i - 1].kind != 'identifier', body[i])
        if statement.kind == 'declaration':
            declared = variables.declared_by(statement)
            _demand(len(declared) == 1 and not declared[0].is_static and not declared[0].is_reference and
                    not declared[0].is_array and all(body[i].text != declared[0].name for i in range(at, end)),
                    body[at])
