"""Walks over a kernel's statements and records the elements that it accesses, with the guards and loops around them."""

from declare.statements import assigned, begin_of_declarators, end_of_statement, LEAVES
from suggest.accesses import Accesses
from suggest.conditions import Conditions
from suggest.sums import constant
from suggest.terms import named
from suggest.values import Names, Pointer, Values
from tokens.brackets import matching, split_at
from tokens.lexer import TokenError

MAX_NESTING = 100       # most nested statements, including those of called device functions

class Walk:
    """The walk over one kernel. `conditions`: its Conditions with the guards. `extent(array)`: see Accesses."""

    def __init__(self, terms, ranges, kernel):
        self._values, self._ranges = Values(terms, ranges), ranges
        self.conditions = Conditions(self._values)
        self._accesses = Accesses(self._values, self.conditions, self._block)
        self.extent = self._accesses.extent
        self._nesting, self._token = 0, kernel.token
        names = Names()
        for param in kernel.params:
            name = param.token.text
            names[name] = Pointer(name, constant(0)) if param.pointer else named(name)
        self._block(kernel.declaration.body, names, [], 0)

    def _block(self, tokens, names, facts, depth):
        """Walks over statements. Returns True if they always leave the function or the present turn of a loop."""
        names, facts, at, leaves = Names(names), list(facts), 0, False
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TokenError(self._token, f'its statements nest more than {MAX_NESTING} deep')
        while at < len(tokens):
            at, leaves = self._statement(tokens, at, names, facts, depth)
        self._nesting -= 1
        return leaves

    def _statement(self, tokens, at, names, facts, depth):
        """Walks over one statement. Returns the index after it, and True if control always leaves the function or the
        loop's turn."""
        text = tokens[at].text
        if text == '{':
            end = matching(tokens, at, '{', '}')
            leaves = self._block(tokens[at + 1:end - 1], names, facts, depth)
            self._forget(tokens[at:end], names)
            return end, leaves
        if text == 'if':
            return self._if(tokens, at, names, facts, depth)
        if text in ('for', 'while', 'switch'):
            return self._loop(tokens, at, names, facts, depth), False
        if text == 'do':
            end = end_of_statement(tokens, at + 1)
            self._forget(tokens[at:end], names)
            self._block(tokens[at + 1:end], names, facts, depth)
            return end_of_statement(tokens, end), False
        end = end_of_statement(tokens, at)
        part = tokens[at:end]
        if text in ('case', 'default') and any(t.text == ':' for t in part):
            return at + next(i for i, t in enumerate(part) if t.text == ':') + 1, False
        self._simple([t for t in part if t.text != ';'], names, facts, depth)
        return end, text in LEAVES

    def _if(self, tokens, at, names, facts, depth):
        """Walks over an `if` with all of its `else if` branches, without recursion."""
        begin, outer, branches, leaves_else = at, list(facts), [], False
        while True:
            opening = next((i for i in range(at, len(tokens)) if tokens[i].text == '('), len(tokens) - 1)
            body = matching(tokens, opening, '(', ')')
            condition = tokens[opening + 1:body - 1]
            self._accesses.note_all(condition, names, outer, depth)
            yes, no = self.conditions.learn(condition, names, True), self.conditions.learn(condition, names, False)
            last = end_of_statement(tokens, body)
            self.conditions.note_guards(yes, outer)
            branches.append((self._block(tokens[body:last], names, outer + yes, depth), yes, no))
            if [t.text for t in tokens[last:last + 1]] != ['else']:
                break
            self.conditions.note_guards(no, outer)
            outer, at = outer + no, last + 1
            if [t.text for t in tokens[at:at + 1]] != ['if']:
                last = end_of_statement(tokens, at)
                leaves_else = self._block(tokens[at:last], names, outer, depth)
                break
        self._forget(tokens[begin:last], names)
        leaves, yes, no = branches[0]
        leaves_too = leaves_else and all(branch[0] for branch in branches[1:])
        if leaves and not leaves_too:
            self.conditions.note_guards(no, facts)
            facts += no
        elif leaves_too and not leaves:
            facts += yes
        return last, leaves and leaves_too

    def _loop(self, tokens, at, names, facts, depth):
        begin = matching(tokens, at + 1, '(', ')')
        header, end = tokens[at + 2:begin - 1], end_of_statement(tokens, begin)
        inner, more = Names(names), []
        if tokens[at].text == 'for':
            parts = split_at(header, ';')
            if len(parts) == 3:
                first, condition, step = parts
                self._simple(first, inner, facts, depth)
                starts = {n: inner.get(n) for n in assigned(step)}
                self._forget(tokens[begin:end] + step, inner)
                for name, start in starts.items():
                    more += self._range_of_loop(name, start, step, inner)
                more = self.conditions.learn(condition, inner, True) + more
                self.conditions.note_loops(starts, [t.text for t in step], inner, more, facts)
                self._accesses.note_all(condition, inner, facts + more, depth)
        else:
            self._forget(tokens[at:end], inner)
            self._accesses.note_all(header, inner, facts, depth)
            more = self.conditions.learn(header, inner, True) if tokens[at].text == 'while' else []
        self.conditions.note_guards(more, facts)
        self._block(tokens[begin:end], inner, facts + more, depth)
        self._forget(tokens[at:end], names)
        return end

    def _range_of_loop(self, name, start, step, names):
        """Records the range of a loop's counter, which starts at its smallest value if it steps up, else at its
        largest."""
        variable = names.get(name)
        if isinstance(start, Pointer) or isinstance(variable, Pointer) or start is None or variable is None:
            return []
        start = self._ranges.expand(start)
        texts = [t.text for t in step]
        place = texts.index(name)
        is_down = texts[place + 1:place + 2] in (['-'], ['/']) or '>' in texts or '>=' in texts or texts[:1] == ['-']
        if is_down:
            self._ranges.variables[str(variable)].least = constant(0)
            return [(variable, start + constant(1))]
        self._ranges.variables[str(variable)].least = start if not self._ranges.has_index(start) else constant(0)
        return []

    def _forget(self, tokens, names):
        """Marks the values of variables that these tokens assign as unknown from here on."""
        for name in assigned(tokens):
            if isinstance(names.get(name), Pointer):
                self._values.unknown.add(names.get(name).array)
            elif names.get(name) is not None:
                names[name] = self._values.add_variable(name)

    def _simple(self, tokens, names, facts, depth):
        if not tokens:
            return
        begin = begin_of_declarators(tokens)
        if begin is None:
            self._accesses.note_all(tokens, names, facts, depth)
            if (tokens[0].kind == 'identifier' and len(tokens) > 2 and tokens[1].text == '=' and
                    names.get(tokens[0].text)):
                self._set(tokens[0].text, tokens[2:], names)
            elif tokens[0].kind == 'identifier' and [t.text for t in tokens[1:3]] == ['+', '='] and isinstance(
                    names.get(tokens[0].text), Pointer):
                pointer, offset = names.get(tokens[0].text), self._values.sum(tokens[3:], names)
                if offset is None:
                    self._values.unknown.add(pointer.array)
                else:
                    names[tokens[0].text] = Pointer(pointer.array, pointer.offset + offset)
            else:
                self._forget(tokens, names)
            return
        for part in split_at(tokens[begin:], ','):
            self._declare(part, names, facts, depth)

    def _declare(self, part, names, facts, depth):
        """Reads one declarator, with its value, into `names`."""
        plain = [t for t in part if t.text not in ('*', '&', 'const', '__restrict__', '__restrict')]
        if not plain or plain[0].kind != 'identifier':
            self._accesses.note_all(part, names, facts, depth)
            return
        name, rest = plain[0].text, plain[1:]
        value = part[part.index(rest[0]):] if rest else []
        names[name] = self._values.add_variable(name)
        if value and value[0].text in ('=', '(', '{'):
            value = value[1:] if value[0].text == '=' else value[1:-1]
            self._set(name, value, names, is_pointer=any(t.text == '*' for t in part[:part.index(plain[0])]))
            pointer = self._values.pointer(value, names)
            if pointer is None:
                self._accesses.note_all(value, names, facts, depth)
            else:
                self._accesses.note_offset(value, names, facts, depth)
        elif value and value[0].text == '[':
            names[name] = None      # an array of the thread or of the block
            self._accesses.note_all(value, names, facts, depth)

    def _set(self, name, tokens, names, is_pointer=False):
        pointer = self._values.pointer(tokens, names)
        if pointer is not None:
            names[name] = pointer
            return
        if is_pointer:
            names[name] = None
            return
        old = names.get(name)
        if isinstance(old, Pointer):
            self._values.unknown.add(old.array)
        total = self._values.sum(tokens, names)
        if total is not None and total.product and len(total.product) == 1 and self._ranges.has_index(total):
            names[name] = total       # the name stands for another variable or for threadIdx.x
            return
        variable = self._values.add_variable(name, total)
        self._ranges.variables[str(variable)].facts = self.conditions.learn(tokens, names, True)
        names[name] = variable
