"""Finds the variables of a kernel's body: the declaration that each name means, and all reads and writes."""

from cpu.names import FLOAT_VECTORS, VECTORS
from cpu.statements import LOOPS, Statement
from declare.statements import begin_of_declarators
from tokens.brackets import is_update, matching
from tokens.lexer import TokenError

_INDICES = {'threadIdx', 'blockIdx', 'blockDim', 'gridDim'}
_SPECIFIERS = {'__shared__', 'extern', 'static', 'constexpr', 'register', '__restrict__', '__restrict'}


class Variable:
    """A parameter or a local variable. `types`: tokens of its type; `meanings`: the Meanings of the file; `declarator`:
    tokens of its declarator; `value`: range of its initializer, or None."""

    def __init__(self, token, types, meanings, declarator, value=None, statement=None):
        self.token, self.types, self.declarator, self.value = token, types, declarator, value
        self.statement = statement      # the Statement that declares it; None for a parameter
        self.place = (0, 0)             # place of its declarator and value, up to the comma or semicolon after them
        texts = [t.text for t in declarator]
        words = {t.text for t in types}
        behind = texts[texts.index(token.text) + 1:]
        self.is_reference = '&' in texts or '&&' in texts
        self._rows = max((meanings.arrays.get(word, 0) for word in words), default=0)
        self.is_array = '[' in behind or self._rows > 0
        self.is_pointer = '*' in texts and not self.is_array
        self.is_shared = '__shared__' in words
        self.is_static = not words.isdisjoint(('static', 'constexpr')) and not self.is_shared
        self.is_constant = 'constexpr' in words or 'static' in words and 'const' in words
        self.is_auto = 'auto' in words
        self.is_volatile = 'volatile' in words or 'volatile' in texts
        self.is_number = words <= meanings.numbers | _SPECIFIERS     # the variable or its elements
        self.is_integer = not (self.is_pointer or self.is_array or self.is_reference) and (
            words <= meanings.numbers - meanings.floats)
        self.is_scalar = self.is_pointer or words <= meanings.numbers
        self.is_vector = not (self.is_pointer or self.is_array or self.is_reference) and (
            words - {'const'} <= VECTORS | FLOAT_VECTORS)
        self.is_bool = words <= {'bool', 'const'} and not self.is_pointer
        self.number = 0                         # position in the order of declarations
        self.uses, self.writes = [], []  # places in the body at which its name stands, and at which it is written
        self.escape = None                      # first place at which its address escapes
        self.lasting = None                     # first place at which the address may outlive its statement
        self.is_block = False                   # the block, and not each thread, runs the declaration
        self.is_column = False                  # an array of numbers of which only single elements are read and written
        self.is_table = False                   # a constant array whose initializer consists of numbers

    @property
    def name(self):
        return self.token.text

    @property
    def storage_name(self):
        # The number distinguishes the name from the names of __shared__ variables.
        return f'{self.number}_{self.name}'

    @property
    def is_in_place(self):
        """True if regions access a kept variable in its memory, since a copy would be large or is impossible."""
        return self.is_array or not (self.is_scalar or self.is_auto or self.is_vector)

    def is_unset(self, begin, end):
        """True if the region from `begin` to `end` declares a number or a vector without giving it a value."""
        return (self.is_scalar or self.is_vector) and not self.is_array and self.value is None and \
            self.escape is None and not any(begin <= at < end for at in self.writes)

    @property
    def may_be_table(self):
        is_const = not {'const', 'constexpr'}.isdisjoint(t.text for t in self.types)
        return self.is_array and self.is_number and is_const and not (
            self.is_shared or self.is_volatile or self._rows or '*' in (t.text for t in self.declarator))

    @property
    def may_be_column(self):
        return self.is_array and self.is_number and self.count_extents() == 1 and self._rows == 0 and \
            self.declarator[0] is self.token and self.statement is not None and \
            {t.text for t in self.types}.isdisjoint(_SPECIFIERS | {'const', 'volatile', 'bool'})

    def count_extents(self):
        """Returns the number of an array's dimensions."""
        depth, found = 0, self._rows
        for token in self.declarator:
            found += token.text == '[' and depth == 0
            depth += (token.text == '[') - (token.text == ']')
        return found


class Variables:
    """The variables of one body. `of`: maps the place of a name to its Variable; `meanings`: the Meanings of the
    file."""

    def __init__(self, tokens, parameters, statements, meanings):
        self._tokens, self._end, self._meanings = tokens, len(tokens), meanings
        self.of, self.all, self.parameters = {}, [], []
        self._declared = {}         # maps a Statement to the variables that it declares
        self._read_brackets()
        scope = {}
        for parameter in parameters:
            texts = [t.text for t in parameter]
            end = texts.index('=') if '=' in texts else len(texts)
            at = next((i for i in range(end - 1, -1, -1) if parameter[i].kind == 'identifier'), None)
            if at is not None and at > 0:
                first = next((i for i, t in enumerate(parameter) if t.text in ('*', '&', '&&')), at)
                if first > at:
                    raise TokenError(parameter[at], 'a parameter')
                self._add(Variable(parameter[at], parameter[:first], meanings, parameter[first:end]), scope)
                self.parameters.append(self.all[-1])
        self._scopes = [scope, {}]
        self._visit_all(statements)
        self._names = {v.name for v in self.all}
        lambdas = list(self._find_references_of_lambdas())
        for variable in self.all:
            returned = {at for at in variable.uses if any(begin <= at < end for begin, end in lambdas)}
            may_change = meanings.may_change(variable)
            is_given = may_change and meanings.gives_addresses
            variable.writes = [at for at in variable.uses
                               if may_change or at in returned or self._is_write(at, variable)]
            variable.escape = next((at for at in variable.uses if not variable.is_shared and (
                is_given or at in returned or self._escapes(at, at + 1, at, variable))), None)
            variable.lasting = variable.escape
            if variable.escape is not None and variable.is_number and not (is_given or returned):
                places = [(at, self._find_vector(at, variable)) for at in variable.uses]
                variable.lasting = next((at for at, place in places if self._escapes(
                    *(place or (at, at + 1)), at, variable)), None)
            variable.is_table = variable.may_be_table and variable.value is not None and not variable.writes and all(
                self._tokens[at].kind == 'number' or self._text(at) in ('{', '}', ',', '-', '+')
                for at in range(*variable.value))
            variable.is_constant |= variable.is_table
            variable.is_column = variable.may_be_column and variable.escape is None and all(
                self._text(at + 1) == '[' for at in variable.uses)

    def find_value(self, statement):
        """Returns the place of the value if a statement is a plain assignment to a variable; None for other
        statements."""
        is_assignment = statement.kind == 'expression' and statement.begin in self.of and \
            self._text(statement.begin + 1) == '=' and \
            self._end_of_part(statement.begin, statement.end) >= statement.end - 1
        return (statement.begin + 2, statement.end - 1) if is_assignment else None

    def _add(self, variable, scope):
        variable.number = len(self.all)
        self.all.append(variable)
        scope[variable.name] = variable
        self._declared.setdefault(variable.statement, []).append(variable)

    def declared_by(self, statement):
        """Returns the variables that a statement declares."""
        return self._declared.get(statement, ())

    def _read_brackets(self):
        """Notes for each token the innermost open bracket, the beginning of its statement, and the last place before it
        at which a reference is bound: T &name = ..., auto &name = ..., or for (T &name : ...)."""
        self._opened, self._begins, self._bound = [], [], []
        opened, begin, bound = [], 0, -1
        for at, token in enumerate(self._tokens):
            if token.kind == 'punctuation' and token.text in (')', ']', '}') and opened:
                opened.pop()
            self._opened.append(opened[-1] if opened else -1)
            self._begins.append(begin)
            self._bound.append(bound)
            if token.kind == 'punctuation' and token.text in ('(', '[', '{'):
                opened.append(at)
            if token.text in (';', '{', '}'):
                begin = at + 1
            if token.text in ('&', '&&') and at > begin and self._text(at + 2) in ('=', ':', '(', '{') and \
                    self._tokens[at + 1].kind == 'identifier' and self._text(at - 1) != 'return' and (
                        self._tokens[at - 1].kind == 'identifier' or self._text(at - 1) in ('>', '*', ',', '[')):
                bound = at

    def _find_references_of_lambdas(self):
        """Yields the range of the body of each lambda that may return a reference, such as [&]() -> T & { ... }."""
        for at, token in enumerate(self._tokens):
            if token.text == '[' and not self.ends_value(at - 1):
                end = matching(self._tokens, at, '[', ']')
                end = matching(self._tokens, end, '(', ')') if self._text(end) == '(' else end
                body = next((i for i in range(end, len(self._tokens)) if self._text(i) in ('{', ';', '}')), end)
                words = [self._text(i) for i in range(end, body)]
                if '->' in words and not {'&', '&&', 'decltype'}.isdisjoint(words) and self._text(body) == '{':
                    yield body, matching(self._tokens, body, '{', '}')

    def _text(self, at):
        return self._tokens[at].text if 0 <= at < self._end else ''

    def _find(self, name):
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    # ---- Scopes

    def _visit_all(self, statements):
        for statement in statements:
            self._visit(statement)

    def _visit(self, statement):
        kind = statement.kind
        if kind == 'declaration':
            self._declare(statement, statement.begin, statement.end - 1)
        elif kind in ('block', 'if', 'switch', *LOOPS):
            self._scopes.append({})
            for number, (begin, end) in enumerate(statement.parts):
                first = begin_of_declarators(self._tokens[begin:end])
                if kind == 'for' and number == 0 and first is not None:
                    self._declare(statement, begin, end)
                elif kind == 'range':
                    self._declare_range(statement, begin, end)
                elif kind != 'for' and first is not None and any(t.text == '=' for t in self._tokens[begin:end]):
                    raise TokenError(self._tokens[begin], 'a declaration')
                else:
                    self._use(begin, end)
            for child in statement.children:
                self._scopes.append({} if kind != 'block' else self._scopes[-1])
                self._visit(child)
                self._scopes.pop()
            self._scopes.pop()
        else:
            self._use(statement.begin, statement.end)

    def _use(self, begin, end):
        for at in range(begin, end):
            token = self._tokens[at]
            if token.kind == 'identifier' and self._text(at - 1) not in ('.', '->', '::'):
                found = self._find(token.text)
                if found is not None:
                    self.of[at] = found
                    found.uses.append(at)

    def _declare_range(self, statement, begin, end):
        colon = next((i for i in range(begin, end) if self._text(i) == ':'), end)
        self._use(colon, end)
        if colon > begin:
            if self._tokens[colon - 1].kind != 'identifier':
                raise TokenError(self._tokens[begin], 'a declaration')
            types = self._tokens[begin:colon - 1]
            self._add(Variable(self._tokens[colon - 1], types, self._meanings, self._tokens[colon - 2:colon], None,
                               statement), self._scopes[-1])

    def _declare(self, statement, begin, end):
        tokens = self._tokens
        first = begin + begin_of_declarators(tokens[begin:end])
        types = tokens[begin:first]
        self._use(begin, first)
        at = first
        while at < end:
            name = at
            while name < end and tokens[name].text in ('*', '&', '&&', 'const', '__restrict__', '__restrict',
                                                        'restrict', 'volatile'):
                name += 1
            if name >= end or tokens[name].kind != 'identifier':
                raise TokenError(tokens[min(name, end - 1)], 'a declaration')
            stop = name + 1
            while self._text(stop) == '[' and stop < end:
                stop = matching(tokens, stop, '[', ']')
            last = self._end_of_part(stop, end)
            value = None
            if stop < last:
                is_equal = self._text(stop) == '='
                if not is_equal and self._text(stop) not in ('(', '{'):
                    raise TokenError(tokens[stop], 'a declaration')
                value = (stop + is_equal, last)
            self._use(name + 1, last)
            self._add(Variable(tokens[name], types, self._meanings, tokens[at:stop], value, statement),
                      self._scopes[-1])
            self.of[name], self.all[-1].place = self.all[-1], (at, last)
            at = last + 1

    def split_declarations(self, statements):
        """Gives each variable of a declaration its own Statement. Yields (place of a comma between variables, beginning
        of the type, end of the type)."""
        for number in range(len(statements) - 1, -1, -1):
            statement, declared = statements[number], self.declared_by(statements[number])
            for inner in [statement] if statement.kind == 'block' else statement.children:
                yield from self.split_declarations(inner.children if inner.kind == 'block' else [inner])
            if statement.kind == 'declaration' and len(declared) > 1 and not any(
                    v.is_shared or v.is_static or v.types[0].text == 'extern' for v in declared):
                begins = [statement.begin] + [v.place[0] - 1 for v in declared[1:]]
                ends = [v.place[1] for v in declared[:-1]] + [statement.end]
                first = declared[0].place[0]
                yield from ((v.place[0] - 1, first - len(v.types), first) for v in declared[1:])
                parts = [Statement('declaration', *place) for place in zip(begins, ends)]
                for variable, part in zip(declared, parts):
                    variable.statement, self._declared[part] = part, [variable]
                statements[number:number + 1] = parts

    def _end_of_part(self, at, end):
        """Returns the place of the comma after the declarator at `at`, or of the declaration's end."""
        while at < end and self._text(at) != ',':
            text = self._text(at)
            closing = {'(': ')', '[': ']', '{': '}'}.get(text)
            if text == '<' and self._is_template(at):
                behind = matching(self._tokens, at, '<', '>')
                if behind < end and self._text(behind) in ('(', '::', '{') and self._text(behind - 1) == '>':
                    at = behind
                    continue
            at = matching(self._tokens, at, text, closing) if closing else at + 1
        return min(at, end)

    def _is_template(self, at):
        """True if the < at `at` may open template arguments. It does not in int a = x < y, b = z > (3)."""
        behind = matching(self._tokens, at, '<', '>')
        inside = [t.text for t in self._tokens[at + 1:behind - 1] if t.kind == 'punctuation']
        return self._tokens[at - 1].kind == 'identifier' and self._find(self._text(at - 1)) is None and \
            self._text(at - 2) not in ('.', '->') and '=' not in inside and \
            all(inside.count(a) == inside.count(b) for a, b in ('()', '[]', '{}'))

    # ---- Reads and writes

    def _is_write(self, at, variable):
        """True if the use of a variable at `at` may change its value."""
        begin, end = at, at + 1
        while True:
            if self._is_address(begin) and not (variable.is_pointer and self._text(end) in ('[', '->')):
                return not variable.is_array
            if self._is_step(begin - 2):
                return True
            end = self._end_of_element(end, variable.is_pointer)
            behind = [self._text(end), self._text(end + 1)]
            if behind[:1] == ['(']:
                return not (variable.is_pointer and end == at + 1)      # a call of a member function or of the object
            if behind[:1] == ['='] or is_update(behind):
                return True
            around = self._find_group(begin, end)
            if around is None:
                break
            if self._is_changing_cast(begin):
                return True
            begin, end = around
        return not (variable.is_array and end > at + 1) and (self._is_argument(at, end) or self._is_bound(at))

    def _is_address(self, at):
        """True if an operator & takes the address of the operand that begins at `at`."""
        return self._text(at - 1) == '&' and not self.ends_value(at - 2)

    def _is_step(self, at):
        """True if the token at `at` begins the operator ++ or --."""
        return self._text(at) == self._text(at + 1) and self._text(at) in ('+', '-') and self._tokens[at + 1].joined

    def _end_of_element(self, end, is_pointer):
        """Returns the place after the members and elements that follow a name. `is_pointer`: the name is that of a
        pointer."""
        while True:
            if self._text(end) == '.' and self._tokens[end + 1].kind == 'identifier':
                end += 2
            elif self._text(end) == '[' and not is_pointer:
                end = matching(self._tokens, end, '[', ']')
            else:
                return end

    def _find_group(self, begin, end):
        """Returns the place of the parentheses around an operand; None if there are none or they belong to a call. An
        operand of ?: stands for the whole expression."""
        while self._text(begin - 1) in ('?', ':') or self._text(end) in ('?', ':'):
            first, last = self._bounds(begin, end)
            if (first, last) == (begin, end):
                return None
            begin, end = first, last
        if self._text(begin - 1) == ',' and self._text(end) == ')':      # the last operand of a comma operator
            begin = self._opening(begin - 1) + 1
        if self._text(begin - 1) == ')':                                # an operand after a cast
            opening = self._opening(begin - 2)
            return (opening, end) if self._is_changing_cast(begin) else None
        if self._text(begin - 1) != '(' or self._text(end) != ')':
            return None
        before = self._tokens[begin - 2] if begin > 1 else None
        if before is not None and (before.text in (')', ']', '}', '>') or before.kind == 'identifier' and
                                   before.text not in ('return', 'else', 'case', 'do')):
            return None
        return begin - 1, end + 1

    def _bounds(self, begin, end):
        """Returns the place between the brackets, commas or semicolons around an operand."""
        return self._opening(begin - 1, ',') + 1, self._closing(end, ',')

    def _opening(self, at, separator=''):
        """Returns the place of the innermost bracket that is open at `at`, or of a separator after this bracket."""
        depth = 0
        while at >= 0 and (depth or self._text(at) not in (';', '{', '}', separator or ';')):
            depth += (self._text(at) in (')', ']')) - (self._text(at) in ('(', '['))
            if depth < 0:
                break
            at -= 1
        return at

    def find_opening(self, at):
        """Returns the place of the bracket that belongs to the closing parenthesis at `at`."""
        return self._opening(at - 1)

    def _closing(self, at, separator):
        depth = 0
        while at < len(self._tokens) and (depth or self._text(at) not in (';', '{', '}', separator)):
            depth += (self._text(at) in ('(', '[')) - (self._text(at) in (')', ']'))
            if depth < 0:
                break
            at += 1
        return at

    def _is_changing_cast(self, begin):
        """True if a cast to a reference precedes the operand that begins at `begin`."""
        if self._text(begin - 1) != ')':
            return False
        opening = self._opening(begin - 2)
        return self._text(opening) == '(' and self._text(begin - 2) == '&'

    def ends_value(self, at):
        """True if the token at `at` ends a value, so that an operator after it is binary."""
        token = self._tokens[at] if at >= 0 else None
        if token is None or token.text != ')':
            return token is not None and (token.text == ']' or token.kind in ('identifier', 'number', 'string') and
                                          token.text not in ('return', 'else', 'case', 'do'))
        opening = self._opening(at - 1)
        before = self._tokens[opening - 1] if opening > 0 else None
        if before is not None and (before.text in (')', ']', '>') or before.kind == 'identifier' and
                                   before.text not in ('return', 'else', 'case', 'do')):
            return before.text not in ('if', 'while', 'for', 'switch')
        inside = range(opening + 1, at)
        is_type = all(self._tokens[i].kind == 'identifier' or self._text(i) in ('::', '*', '&', '<', '>', ',')
                      for i in inside)
        return not is_type or any(i in self.of for i in inside)

    def is_computed(self, begin, end):
        """True if an expression is a number, or arithmetic that gives a new value instead of naming an object."""
        if end == begin + 1:
            return self._tokens[begin].kind == 'number'
        depth, is_binary = 0, False
        for at in range(begin, end):
            if self._tokens[at].kind == 'punctuation':
                depth += (self._text(at) in '([{') - (self._text(at) in ')]}')
                is_binary |= depth == 0 and at > begin and self._text(at) in ('+', '-', '*', '/', '%') and \
                    self.ends_value(at - 1) and self._text(at + 1) not in ('+', '-')
        return is_binary and all(self._text(at) not in ('?', '=', ',') for at in range(begin, end))

    def may_be_float(self, begin, end):
        """True if the value of an expression, or of one of its operands, may be a floating-point number."""
        for at in range(begin, end):
            token, variable, before = self._tokens[at], self.of.get(at), self._text(at - 1)
            if token.kind == 'number':
                text = token.text.lower()
                if '.' in text or not text.startswith('0x') and not {'e', 'f'}.isdisjoint(text):
                    return True
            elif token.kind == 'identifier' and (
                    not variable.is_integer if variable is not None else
                    self._text(at - 2) not in _INDICES if before == '.' else
                    before == '->' or self._meanings.may_be_float(token.text, before == '::')):
                return True
        return False

    def _is_argument(self, at, end):
        """True if a function or a constructor may take the operand from `at` to `end` by reference."""
        if self._text(at - 1) not in ('(', ',', '{', '?', ':') or self._text(end) not in (')', ',', '}', '?', ':'):
            return False
        opening = self._opened[at]
        if self._text(opening) == '{':
            return self._meanings.has_references
        if opening <= 0 or self._text(opening) != '(' or self._ends_cast(opening - 1):
            return False
        return self._meanings.takes_references(self._tokens, opening, self._names, self._count_arguments(opening, at))

    def _count_arguments(self, opening, at):
        """Returns the number of arguments before the one at `at` in a call; None if a comma may separate template
        arguments."""
        count, place = 0, opening + 1
        while place < at:
            text = self._text(place)
            closing = {'(': ')', '[': ']', '{': '}'}.get(text)
            if text == '<':
                return None
            count += text == ','
            place = matching(self._tokens, place, text, closing) if closing else place + 1
        return count

    def _is_bound(self, at):
        """True if the statement of the token at `at` may bind a reference before it."""
        return self._bound[at - 1] > self._begins[at] if at else False

    def _find_vector(self, at, variable):
        """Returns the place of *(float4 *)&v[4] or *reinterpret_cast<float4 *>(&v[4]) around the name of an array of a
        thread at `at`; None for other code, and for an array in which a vector may not be aligned."""
        length = variable.declarator[2].text if variable.may_be_column else ''
        end = matching(self._tokens, at + 1, '[', ']') if self._text(at + 1) == '[' else 0
        texts = [*[''] * 6, *(t.text for t in self._tokens[max(at - 6, 0):at])]
        if not end or not length.isdigit() or int(length) % 4 or self._text(at - 1) != '&' or \
                {t.text for t in variable.types} not in ({'float'}, {'int'}, {'unsigned'}, {'double'}):
            return None
        if texts[-2:] == [')', '&'] and texts[-3] == '*' and texts[-4] in VECTORS | FLOAT_VECTORS:
            begin = at - 5 - (texts[-5] == 'const')
            is_cast = self._text(begin) == '('
        else:
            begin = at - 6 - (texts[-6:-5] == ['const'])
            is_cast = texts[-4:] == ['*', '>', '(', '&'] and texts[-5] in VECTORS | FLOAT_VECTORS and \
                self._text(begin) == '<' and self._text(begin - 1) == 'reinterpret_cast' and self._text(end) == ')'
            begin, end = begin - 1, end + 1
        is_cast = is_cast and self._text(begin - 1) == '*' and not self.ends_value(begin - 2)
        return (begin - 1, end) if is_cast else None

    def _escapes(self, begin, end, at, variable):
        """True if an address of a variable, or a reference to it, may live longer than the statement with its name at
        `at`. `begin`, `end`: the place of the operand."""
        end = self._end_of_element(end, variable.is_pointer)
        while not self._is_address(begin):
            if variable.is_pointer and self._text(end) in ('[', '->'):
                return False
            if self._decays(begin, at, end, variable):
                break
            if self._is_step(begin - 2):
                begin -= 2
                continue
            if self._text(begin - 1) == '(' and (self._text(end) == '=' or is_update(
                    [self._text(end), self._text(end + 1)])):
                end = self._closing(end, ';')
            around = self._find_cast(begin, end) or self._find_group(begin, end)
            if around is None:
                if self._text(end) == '(' and end > at + 1:
                    return self._text(begin - 1) not in (';', '{', '}')     # a member function may return an address
                return self._is_argument(begin, end) and self._keeps_references(self._opened[begin])
            begin, end = around[0], self._end_of_element(around[1], variable.is_pointer)
        if variable.is_pointer and self._text(end) in ('[', '->'):
            return False
        opening = begin
        while True:
            opening = self._opening(opening - 1)
            if self._text(opening) != '(':
                return True
            if self._meanings.only_uses(self._tokens, opening):
                return False

    def _keeps_references(self, opening):
        """True if the call whose bracket opens at `opening` may keep the address of an argument."""
        callee, before = self.of.get(opening - 1), self._text(opening - 1)
        return self._meanings.has_references or callee is not None and self._takes_references(callee) or \
            before in (']', '}') or before == ')' and self._ends_function(opening - 1) or \
            self._meanings.may_return_address(self._tokens, opening)

    def _ends_function(self, at):
        """True if the parenthesis at `at` may end an expression that names a function."""
        return self.ends_value(at) and not self._ends_cast(at)

    def _ends_cast(self, at):
        """True if the parenthesis at `at` ends the type in a cast to a number, as in (double)(n)."""
        opening = self._opening(at - 1) if self._text(at) == ')' else at
        return opening + 1 < at and self._text(opening) == '(' and all(
            self._text(i) in self._meanings.numbers for i in range(opening + 1, at))

    def _takes_references(self, callee):
        """True if a variable may be a function object that takes references."""
        if not callee.is_auto or callee.value is None or self._text(callee.value[0]) != '[':
            return callee.is_auto
        opening = matching(self._tokens, callee.value[0], '[', ']')
        return any(self._text(at) in ('&', '&&') for at in range(
            opening, matching(self._tokens, opening, '(', ')') if self._text(opening) == '(' else opening))

    def _decays(self, begin, at, end, variable):
        """True if the operand that begins with the name at `at` is an array that decays to a pointer."""
        depth, given, extents = 0, 0, variable.count_extents()
        for place in range(at + 1, end):
            text = self._text(place)
            if depth == 0 and text == '.':
                given, extents = 0, self._meanings.members.get(self._text(place + 1), 0)
            given += depth == 0 and text == '['
            depth += (text in ('(', '[')) - (text in (')', ']'))
            if depth < 0:       # the end of parentheses around the operand
                break
        is_read = self._text(begin - 1) == '*' and not self.ends_value(begin - 2)
        return given + is_read < extents and 'sizeof' not in (self._text(begin - 1), self._text(begin - 2)) and \
            self._text(begin - 1) != ':'

    def _find_cast(self, begin, end):
        """Returns the place of a cast to a reference with its operand, such as static_cast<T &>(x), around the operand;
        None without such a cast."""
        if [self._text(begin - i) for i in (1, 2, 3)] != ['(', '>', '&'] or self._text(end) != ')':
            return None
        at = begin - 3
        while at > 0 and not self._text(at).endswith('_cast') and self._text(at) not in (';', '{', '}'):
            at -= 1
        return (at, end + 1) if self._text(at).endswith('_cast') else None
