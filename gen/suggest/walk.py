"""Walks over a kernel's statements and records the elements that it accesses, with the guards and loops around them."""

from declare.statements import assigned, begin_of_declarators, end_of_statement, LEAVES
from suggest.accesses import Accesses
from suggest.conditions import Conditions
from suggest.sums import constant
from suggest.terms import is_step, named
from suggest.values import Names, Pointer, Values
from tokens.brackets import matching, split_at
from tokens.lexer import TokenError

MAX_NESTING = 100       # most nested statements, including those of called device functions

class Walk:
    """The walk over one kernel. `conditions`: its Conditions with the guards. `extent(array)`: see Accesses."""

    def __init__(self, terms, ranges, kernel):
        self._values, self._ranges = Values(terms, ranges, kernel), ranges
        self.conditions = Conditions(self._values)
        self._accesses = Accesses(self._values, self.conditions, self._block)
        self.extent, self.least = self._accesses.extent, self._accesses.least
        self._nesting, self._token, self._entered = 0, kernel.token, []
        body = kernel.declaration.body
        self._accesses.changed = set(assigned(body))
        if any(token.text == 'goto' for token in body):
            self._values.unknown.update(self._values.elements)
        names = Names()
        for param in kernel.params:
            name = param.token.text
            names[name] = Pointer(name, constant(0)) if param.pointer else named(name)
        self._block(body, names, [], 0)

    def _block(self, tokens, names, facts, depth):
        """Walks over statements. Returns True if they always leave the function or the present turn of a loop."""
        names, facts, at, leaves = Names(names), list(facts), 0, False
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise TokenError(self._token, f'its statements nest more than {MAX_NESTING} deep')
        self._entered.append((tokens, list(facts)))
        while at < len(tokens):
            at, leaves = self._statement(tokens, at, names, facts, depth)
        self._entered.pop()
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
            last = end_of_statement(tokens, end)
            self._forget(tokens[at:last], names)
            self._block(tokens[at + 1:end], names, facts, depth)
            self._accesses.note_all(tokens[end + 2:last - 2], names, facts, depth)
            return last, False
        end = end_of_statement(tokens, at)
        part = tokens[at:end]
        if text in ('case', 'default') and any(t.text == ':' for t in part):
            body, facts[:] = self._entered[-1]      # another case may end here
            self._forget(body, names)
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
            self._forget(condition, names)
            self._accesses.note_condition(condition, names, outer, depth)
            yes, no = (self.conditions.learn(condition, names, is_true, outer) for is_true in (True, False))
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
                for part in (tokens[begin:end], condition, step):
                    self._forget(part, inner)
                for name, start in starts.items():
                    if name not in assigned(tokens[begin:end] + condition):
                        more += self._range_of_loop(name, start, step, inner)
                self._accesses.note_condition(condition, inner, facts + more, depth)
                self._accesses.note_all(step, inner, facts, depth)
                more = self.conditions.learn(condition, inner, True, facts + more, any(
                    is_step(step, i) and step[i].text == '+' for i in range(len(step)))) + more
                self.conditions.note_loops(starts, [t.text for t in step], inner, more, facts)
        if tokens[at].text != 'for' or len(split_at(header, ';')) != 3:
            self._forget(tokens[at:end], inner)
            declared, *others = split_at(header, ':') if tokens[at].text == 'for' else [[]]
            if others:          # for (type name : array)
                inner.update({t.text: None for t in declared if t.kind == 'identifier'})
            self._accesses.note_condition(others[0] if others else header, inner, facts, depth)
            more = self.conditions.learn(header, inner, True, facts) if tokens[at].text == 'while' else []
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
        sign = texts[place + 1:place + 2] if texts[place + 1:place + 2] not in ([], [',']) else texts[place - 1:place]
        if sign in (['-'], ['/'], ['>'], ['>>'], ['>>=']):
            return [(variable, start + constant(1))]
        if sign in (['+'], ['*'], ['<'], ['<<'], ['<<=']):
            is_natural = self._ranges.has_index(start) and self._ranges.is_natural(start, [])
            self._ranges.variables[str(variable)].least = constant(0) if is_natural else (
                None if self._ranges.has_index(start) else start)
            self._ranges.variables[str(variable)].is_signed = self._ranges.has_index(start) and not is_natural
        return []

    def _forget(self, tokens, names):
        """Marks the values of variables that these tokens assign as unknown from here on."""
        for name in self._changed(tokens):
            old = names.get(name)
            if isinstance(old, Pointer):
                self._values.unknown.add(old.array)
            elif old is not None:
                names[name] = self._values.add_variable(name)
                self._ranges.variables[str(names[name])].is_signed = not self._ranges.is_natural(old, [])

    def _changed(self, tokens):
        """Returns the names that tokens assign, or pass to functions by reference or by their address."""
        found = assigned(tokens)
        for at, token in enumerate(tokens[:-1]):
            if token.text == '&' and at and tokens[at - 1].text in ('(', ',', '=') and [
                    t.text for t in tokens[at + 2:at + 3]] != ['[']:
                found.append(tokens[at + 1].text)
            numbers = self._values.terms.changed_by(token.text) if tokens[at + 1].text == '(' else ()
            if numbers:
                parts = split_at(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1], ',')
                found += [part[0].text for n, part in enumerate(parts) if n in numbers and len(part) == 1]
        return found

    def _simple(self, tokens, names, facts, depth):
        if not tokens:
            return
        begin = begin_of_declarators(tokens)
        if begin is None:
            parts = split_at(tokens, ',')
            if len(parts) > 1:
                for part in parts:
                    self._simple(part, names, facts, depth)
                return
            is_set = tokens[0].kind == 'identifier' and [t.text for t in tokens[1:2]] == ['=']
            is_update = not is_set and assigned(tokens) == assigned(tokens[:2]) != []
            self._forget([] if is_update else tokens[2:] if is_set else tokens, names)
            pointer = self._values.pointer(tokens[2:], names) if is_set else None
            if pointer is None:
                self._accesses.note_all(tokens[2:] if is_set else tokens, names, facts, depth)
            else:
                self._accesses.note_offset(tokens[2:], names, facts, depth)
                if not dict.__contains__(names, tokens[0].text):    # after this block, the value is unknown
                    self._values.unknown.add(pointer.array)
            if is_set and names.get(tokens[0].text):
                self._set(tokens[0].text, tokens[2:], names)
            elif tokens[0].kind == 'identifier' and [t.text for t in tokens[1:3]] == ['+', '='] and isinstance(
                    names.get(tokens[0].text), Pointer):
                pointer, offset = names.get(tokens[0].text), self._values.sum(tokens[3:], names)
                if offset is None:
                    self._values.unknown.add(pointer.array)
                else:
                    names[tokens[0].text] = pointer.moved(offset)
            else:
                self._forget(tokens, names)
            return
        self._forget(tokens[begin:], names)
        for part in split_at(tokens[begin:], ','):
            self._declare(part, names, facts, depth, any(t.text == 'auto' for t in tokens[:begin]))

    def _declare(self, part, names, facts, depth, is_auto):
        """Reads one declarator, with its value, into `names`."""
        plain = [t for t in part if t.text not in ('*', '&', 'const', '__restrict__', '__restrict')]
        if not plain or plain[0].kind != 'identifier':
            self._accesses.note_all(part, names, facts, depth)
            return
        name, rest = plain[0].text, plain[1:]
        value = part[part.index(rest[0]):] if rest else []
        if any(t.text == '&' for t in part[:part.index(plain[0])]):
            for token in value[:2] if len(value) == 2 else ():
                names.lose(token.text)      # the reference may change it
        names[name] = self._values.add_variable(name)
        if value and value[0].text in ('=', '(', '{'):
            value = value[1:] if value[0].text == '=' else value[1:-1]
            is_pointer = any(t.text == '*' for t in part[:part.index(plain[0])])
            pointer = self._values.pointer(value, names)
            if pointer and not is_pointer and not is_auto:      # an object that holds the pointer
                self._values.unknown.add(pointer.array)
            self._set(name, value, names, is_pointer)
            if pointer is None:
                self._accesses.note_all(value, names, facts, depth)
            else:
                self._accesses.note_offset(value, names, facts, depth)
        elif value and value[0].text == '[':
            names[name] = None      # an array of the thread or of the block
            while value and value[0].text == '[':
                end = matching(value, 0, '[', ']')
                self._accesses.note_all(value[1:end - 1], names, facts, depth)
                value = value[end:]
            self._accesses.note_all(value[1:] if value[:1] and value[0].text == '=' else value, names, facts, depth)

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
        self._ranges.variables[str(variable)].facts = self.conditions.learn(tokens, names, True, [])
        names[name] = variable
