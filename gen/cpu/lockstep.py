"""Finds elements of shared memory that one thread reads and another one writes without a barrier in between, as in
s[i] += s[i + 16]; s[i] += s[i + 8]; or if the next turn of a loop writes an element that this turn reads.

The walk runs a kernel statement by statement with the indices of its first threads, which decide conditions and array
indices. Other values are unknown, and accesses that depend on them are ignored; arguments count as large numbers."""

from cpu.collective import find_reached
from cpu.onelane import BARRIER, has_barrier
from cpu.statements import parse_statements
from cpu.threads import Place, Reader, Unread, Values, plain_type
from declare.statements import assigned, begin_of_declarators
from tokens.brackets import split_at
from tokens.lexer import spell_tokens, TokenError

_ADVICE = ('reads what another lane writes, without a barrier in between; GPUs since Volta do not promise lockstep, '
           'and the CPU has none: make each step a read, __syncwarp(), the write, __syncwarp()')
_ADVICE_FOR_BLOCK = ('reads what another thread of the block writes, without a barrier in between: put a '
                     '__syncthreads() between the two, in a place that all threads reach')
_THREADS, _WARP = 64, 32
_BUDGET = 40000     # most tokens that one walk may read
_LONGEST = 2000     # most tokens of a statement that is read
_MOST_CALLS, _MOST_NESTED = 3, 30
# Turns of a loop that are walked. Eleven turns reach all distances if a shift or a product changes the distance.
_TURNS, _FEW_TURNS = 11, 3
_CHANGES = {'>>', '>>=', '<<', '<<=', '/=', '*=', '/2', '*2'}
_GUESS = 1 << 20


def find_lockstep(kernel, everything, block):
    """Yields (declaration, token, message) for each function with such an access that a kernel reaches, at most one for
    a function. `block`: expressions for the threads of a block along each axis."""
    reached = [d for d in find_reached(kernel, everything) if d.function is not None and d.body]
    if any(d.words & {'__shared__', 'volatile'} for d in reached) or any(d.has('__shared__') for d in everything):
        walk = _Walk(everything, block)
        for declaration in reached:
            walk.start(declaration)
        for declaration in reached:
            if id(declaration) in walk.found:
                place = walk.found[id(declaration)]
                advice = _ADVICE_FOR_BLOCK if id(place.tokens[0]) in walk.far else _ADVICE
                yield declaration, place.tokens[0], f'{spell_tokens(place.tokens)} {advice}'


class _Enough(Exception):
    """Raised if the walk has read too many tokens, or meets a function that it does not understand at all."""


class _Walk:
    """The state of a walk through several functions: the accesses since the last barrier, and facts about the file."""

    def __init__(self, everything, block):
        self._everything, self.found = everything, {}
        self.far = set()        # first tokens of accesses that conflict with accesses of another warp
        self.functions, self.constants, self._statements = {}, {}, {}
        for declaration in everything:
            if declaration.function is not None:
                self.functions.setdefault(declaration.name, []).append(declaration)
        self.shared = {name: _array_of(d.head, name) for d in everything if d.has('__shared__') for name in d.names}
        self.volatile = {name for d in everything if d.has('__shared__') and d.has('volatile') for name in d.names}
        self._guesses, self.reads, self.writes = {}, {}, {}
        self.left, self.nested, self.walked, self.active = _BUDGET, 0, set(), []
        self.unknown_exits = 0
        sizes = [self._size(node) for node, _ in block or ()]
        self.is_known = bool(sizes) and None not in sizes
        self.is_plain = self.is_known or len(sizes) < 2
        self.sizes = (sizes + [1, 1, 1])[:3] if self.is_known else [_THREADS, 1, 1]
        x, y, z = self.sizes
        self.count = max(1, min(_THREADS, x * y * z))
        self.numbers = {'x': [i % x for i in range(self.count)], 'y': [i // x % y for i in range(self.count)],
                        'z': [i // (x * y) for i in range(self.count)]}

    def _size(self, node):
        if node.kind == 'NUMBER' and node.token.text.isdigit():
            return int(node.token.text) or None
        return None

    def start(self, declaration):
        """Walks over a kernel, or over a function whose arguments are unknown, unless a walk has met the function
        before."""
        if id(declaration) in self.walked or not self.is_plain:
            return
        self.wait()
        self.nested, self.active = 0, []
        is_kernel = declaration.has('__global__')
        frame = Frame(self, declaration, is_kernel)
        for part in declaration.parameters:
            name = _name_of(part)
            if not name:
                continue
            has_star = '*' in [t.text for t in part]
            if has_star and 'volatile' in [t.text for t in part]:
                frame.names[name] = Place(name, ' '.join(plain_type(part[:-1])), 1)
                self.volatile.add(name)
            elif is_kernel:
                frame.pointers.add(name)
            else:
                frame.names[name] = None
        try:
            frame.run_body(frozenset(range(self.count)))
        except _Enough:
            pass

    def statements(self, declaration):
        if id(declaration) not in self._statements:
            try:
                self._statements[id(declaration)] = parse_statements(declaration.body)
            except TokenError:
                self._statements[id(declaration)] = None
        return self._statements[id(declaration)]

    def guess(self, key):
        """Returns the number that stands for an unknown argument. It is far from the numbers of other arguments."""
        if key not in self._guesses:
            self._guesses[key] = Values([_GUESS * (2 * len(self._guesses) + 1)] * self.count, False)
        return self._guesses[key]

    def constant_of(self, name):
        """Returns the value of the file's constant with this name; None if the value is unknown."""
        if name not in self.constants:
            self.constants[name] = None
            for declaration in self._everything:
                if declaration.function is None and name in declaration.names:
                    tokens = declaration.head if declaration.body is None else declaration.body
                    at = next((i for i in range(len(tokens) - 1) if tokens[i].text == name and
                               tokens[i + 1].text == '='), None)
                    if at is not None and (declaration.has('const') or declaration.has('constexpr') or
                                           declaration.has('enum')):
                        value = split_at(tokens[at + 2:], ',')[0]
                        value = value[:-1] if value and value[-1].text == ';' else value
                        try:
                            found = Reader(value, Frame(self, declaration, False), None).read()
                        except Unread:
                            found = None
                        self.constants[name] = found if isinstance(found, Values) and found.is_known else None
                    break
        return self.constants[name]

    def wait(self):
        self.reads, self.writes = {}, {}

    def access(self, place, mask, is_written, declaration):
        path = place.path
        indices = [part for part in path if not isinstance(part, str)]
        if not mask or not indices or None in indices:
            return
        if place.name in self.volatile and all(index.is_uniform() for index in indices):
            return      # threads spin on this flag
        for thread in mask:
            key = (place.name, *[part if isinstance(part, str) else part.of[thread] for part in path])
            if None in key:
                continue
            if not is_written:
                if key in self.writes:
                    self._note(declaration, place, thread, self._others(self.writes[key], thread))
                self.reads.setdefault(key, {})[thread] = (place, declaration)
                continue
            if key in self.reads:
                readers = self.reads[key]
                for other in self._others(readers, thread):
                    self._note(readers[other][1], readers[other][0], thread, [other])
            self.writes.setdefault(key, set()).add(thread)

    def _others(self, threads, thread):
        """Returns all threads but `thread`. If the block's size is unknown, only the threads of its warp are
        returned."""
        return [t for t in threads if t != thread and (self.is_known or t // _WARP == thread // _WARP)]

    def _note(self, declaration, place, thread, others):
        if others:
            self.found.setdefault(id(declaration), place)
        if any(t // _WARP != thread // _WARP for t in others):
            self.far.add(id(place.tokens[0]))


class Frame:
    """One call of a function: the values of its variables, and the walk over its statements."""

    def __init__(self, walk, declaration, is_open):
        self._walk, self._declaration, self._is_open = walk, declaration, is_open
        self.names, self.pointers, self._undo = {}, set(), []
        self._loops, self._results = [], []

    def run_body(self, mask):
        """Walks over the body for the threads in `mask`. Returns the result if one return statement ends all of
        them."""
        self._walk.walked.add(id(self._declaration))
        statements = self._walk.statements(self._declaration)
        if statements is None:
            raise _Enough
        self._walk.active.append(id(self._declaration))
        self._run_list(statements, mask)
        self._walk.active.pop()
        return self._results[0][1] if len(self._results) == 1 and self._results[0][0] == mask else None

    def _run_list(self, statements, mask):
        mark = len(self._undo)
        for statement in statements:
            if mask is not None and not mask:
                break
            mask = self._run(statement, mask)
        self._restore(mark)
        return mask

    def _restore(self, mark):
        """Ends a scope: undoes all changes of names that were made after the first `mark` ones."""
        while len(self._undo) > mark:
            name, old = self._undo.pop()
            if old is self:
                self.names.pop(name, None)
            else:
                self.names[name] = old

    def _tokens(self, part):
        return self._declaration.body[part[0]:part[1]]

    def _run(self, statement, mask):
        """Walks over a statement. Returns the threads that reach the next statement, None if they are unknown."""
        kind, nested = statement.kind, self._walk.nested
        if nested == _MOST_NESTED:
            raise _Enough
        self._walk.nested += 1
        if kind == 'block':
            mask = self._run_list(statement.children, mask)
        elif kind == 'if':
            mask = self._run_choice(statement, mask)
        elif kind in ('for', 'while', 'do'):
            mark = len(self._undo)
            mask = self._run_loop(statement, mask)
            self._restore(mark)
        elif kind in ('range', 'switch'):
            self._evaluate(self._tokens(statement.parts[0]), mask)
            exits = self._walk.unknown_exits
            self._loops.append(kind)
            self._run(statement.children[0], None)
            self._loops.pop()
            mask = mask if exits == self._walk.unknown_exits else None
        elif kind == 'return':
            self._results.append((mask, self._evaluate(self._tokens(statement.parts[0]), mask)))
            mask = self._exit(mask, [])
        elif kind in ('break', 'continue'):
            around = self._loops[-1] if self._loops else []
            if around not in ('range', 'switch') or around == 'switch' and kind == 'continue':
                mask = self._exit(mask, around if isinstance(around, list) else [], kind == 'break')
        elif kind in ('declaration', 'expression'):
            self._run_simple(self._declaration.body[statement.begin:statement.end - 1], kind, mask)
        elif kind == 'unknown':
            tokens = self._declaration.body[statement.begin:statement.end]
            if any(t.text in ('{', 'goto', 'operator') for t in tokens):
                raise _Enough
            if has_barrier(tokens, [t.text for t in tokens]):
                self._walk.wait()
            self._forget(tokens)
        self._walk.nested = nested
        return mask

    def _exit(self, mask, around, is_break=False):
        if mask is None:
            self._walk.unknown_exits += 1
            return None
        around.append((mask, is_break))
        return frozenset()

    def _run_choice(self, statement, mask):
        yes, no, is_maybe = self.split(self._evaluate(self._tokens(statement.parts[0]), mask), mask)
        exits, other = self._walk.unknown_exits, statement.children[1:]
        if is_maybe and other:
            before = self._walk.reads, self._walk.writes
            self._walk.reads, self._walk.writes = _copied(before[0]), _copied(before[1])
        first = self._run(statement.children[0], yes) if yes is None or yes else yes
        if is_maybe and other:
            after = self._walk.reads, self._walk.writes
            self._walk.reads, self._walk.writes = before
        second = self._run(other[0], no) if other and (no is None or no) else no
        if is_maybe and other:
            for mine, theirs in zip((self._walk.reads, self._walk.writes), after):
                for key, threads in theirs.items():
                    mine.setdefault(key, type(threads)()).update(threads)
        if yes is None:
            return mask if exits == self._walk.unknown_exits else None
        return None if first is None or second is None else first | second

    def _run_loop(self, statement, mask):
        tokens = self._declaration.body[statement.begin:statement.end]
        head = self._tokens(statement.parts[1 if statement.kind == 'for' else 0])
        step = self._tokens(statement.parts[2]) if statement.kind == 'for' else []
        if statement.kind == 'for':
            first = self._tokens(statement.parts[0])
            self._run_simple(first, 'declaration' if first and begin_of_declarators(first) is not None else
                             'expression', mask)
        texts = [t.text for t in tokens[:_LONGEST]]
        turns = _TURNS if {a + b for a, b in zip(texts, texts[1:])} & _CHANGES else _FEW_TURNS
        exits, active, gone, is_whole = self._walk.unknown_exits, mask, frozenset(), False
        for turn in range(turns):
            if head and (turn or statement.kind != 'do'):
                value = self._evaluate(head, active)
                yes, no, is_maybe = self.split(value, active)
                if yes is not None and is_maybe:
                    is_whole = bool(turn) and not any(value.of)
                    if is_whole:
                        break
                elif yes is not None:
                    active, gone = yes, gone | no
                else:
                    active = None
            if active is not None and not active:
                is_whole = True
                break
            self._loops.append([])
            after = self._run(statement.children[0], active)
            for some, is_break in self._loops.pop():
                gone |= some if is_break else frozenset()
                after = after if is_break or after is None else after | some
            if step:
                self._run_simple(step, 'expression', after)
            if after is None:
                active = None
                break
            active = after
        if not is_whole:
            self._forget(tokens)
        if active is None:
            return mask if exits == self._walk.unknown_exits else None
        return gone | active

    def _forget(self, tokens):
        for name in assigned(tokens):
            if name in self.names:
                old = self.names[name]
                is_same = isinstance(old, Values) and old.is_uniform()
                self.names[name] = self._walk.guess((name, tokens[0].line, tokens[0].column)) if is_same else None

    def _evaluate(self, tokens, mask):
        """Returns the value of an expression, None if the value is unknown."""
        self._walk.left -= len(tokens)
        if self._walk.left < 0:
            raise _Enough
        if not tokens:
            return None
        nested = self._walk.nested
        try:
            if len(tokens) > _LONGEST:
                raise Unread
            return Reader(tokens, self, mask).read()
        except Unread:
            self._walk.nested = nested
            self._forget(tokens)
            for name in assigned(tokens):
                self.names[name] = None
            if has_barrier(tokens, [t.text for t in tokens]) or any(t.text in self._walk.functions for t in tokens):
                self._walk.wait()
            return None

    def _run_simple(self, tokens, kind, mask):
        if kind == 'expression':
            self._evaluate(tokens, mask)
            return
        begin = begin_of_declarators(tokens)
        words = [t.text for t in tokens[:begin]]
        kind = ' '.join(plain_type(tokens[:begin]))
        for part in split_at(tokens[begin:], ','):
            at = next((i for i, t in enumerate(part) if t.kind == 'identifier' and t.text not in (
                'const', '__restrict__', '__restrict')), None)
            if at is None:
                continue
            name, has_star = part[at].text, '*' in [t.text for t in part[:at]]
            behind, rest = part[at + 1].text if at + 1 < len(part) else '', part[at + 2:]
            value = None
            if '__shared__' in words:
                value = Place(name, kind, _dims_in(part, name))
                if 'volatile' in words:
                    self._walk.volatile.add(name)
            elif behind == '=':
                value = self._evaluate(rest, mask)
            elif behind in ('(', '{') and len(split_at(rest[:-1], ',')) == 1:
                value = self._evaluate(rest[:-1], mask)
            if 'volatile' in words and has_star and not isinstance(value, Place):
                self._walk.volatile.add(name)
                value = Place(name, kind, 1)
            if isinstance(value, Values) and any(word in ('float', 'double') for word in words):
                value = None
            self._undo.append((name, self.names.get(name, self)))
            self.names[name] = value

    # The functions that a threads.Reader calls on its `frame`.

    def enter(self):
        self._walk.nested += 1
        if self._walk.nested > 2 * _MOST_NESTED:
            raise Unread

    def leave(self):
        self._walk.nested -= 1

    def constant(self, number):
        return None if number is None else Values([number] * self._walk.count, True)

    def value(self, name):
        """Returns the value of a variable or a constant; None if it is unknown."""
        if name in self.names:
            return self.names[name]
        if name in self._walk.shared:
            return self._walk.shared[name]
        if name in ('true', 'false', 'warpSize'):
            return self.constant({'true': 1, 'false': 0, 'warpSize': _WARP}[name])
        found = self._walk.constant_of(name)
        if found is None and self._is_open and name not in ('threadIdx', 'this', 'nullptr'):
            found = self._walk.guess(name)
        return found

    def load(self, found, index):
        """Returns an element of an array that is not shared. An element of an argument is the same for all threads."""
        if isinstance(found, str) and found in self.pointers and found not in self.names and \
                isinstance(index, Values) and index.is_uniform():
            return self._walk.guess((found, index.of[0]))
        return None

    def member(self, found, member):
        if not isinstance(found, str) or found in self.names:
            return None
        if found == 'threadIdx' and member in self._walk.numbers:
            return Values(self._walk.numbers[member], True, True)
        if found == 'blockDim' and member in self._walk.numbers:
            return Values([self._walk.sizes['xyz'.index(member)]] * self._walk.count, self._walk.is_known, True)
        if found == 'blockIdx':
            return Values([0] * self._walk.count, False)
        return self._walk.guess((found, member)) if self._is_open and found != 'this' else None

    def assign(self, name, value, mask):
        if name not in self.names and not self._is_open:
            return
        old = self.names.get(name) if name in self.names else self.value(name)
        if mask is None or not isinstance(value, Values):
            self.names[name] = value if mask and not isinstance(value, Values) else None
            return
        of = [number if thread in mask else old.of[thread] if isinstance(old, Values) else None
              for thread, number in enumerate(value.of)]
        self.names[name] = Values(of, value.is_known and (not isinstance(old, Values) or old.is_known or
                                                          len(mask) == len(of)))

    def split(self, value, mask):
        """Returns (threads for which a condition is true, threads for which it is false, True if this is a guess). None
        stands for unknown threads."""
        if mask is not None and not mask:
            return mask, mask, False
        if mask is None or not isinstance(value, Values):
            return None, None, True
        if value.is_uniform() and not value.is_known:
            return mask, mask, True
        if any(value.of[thread] is None for thread in mask):
            return None, None, True
        yes = frozenset(thread for thread in mask if value.of[thread])
        return yes, mask - yes, False

    def merge(self, first, second, yes, no):
        """Returns the value of a ?: from the values of its two operands. `yes`, `no`: threads that take the first or
        the second."""
        if yes is None or not isinstance(first, Values) or not isinstance(second, Values):
            return None
        if yes and yes == no:
            return Values(first.of, False)
        return Values([first.of[i] if i in yes else second.of[i] if i in no else None
                       for i in range(self._walk.count)], first.is_known and second.is_known)

    def access(self, place, mask, is_written):
        self._walk.access(place, mask, is_written, self._declaration)

    def wait(self):
        self._walk.wait()

    def is_function(self, name):
        return name in self._walk.functions or BARRIER.fullmatch(name)

    def call(self, name, parts, values, mask):
        """Walks over a called function and returns the function's result. A function without a body in the file counts
        as a barrier."""
        walk = self._walk
        known = [d for d in walk.functions.get(name, ()) if d.body is not None]
        fitting = [d for d in known if len([p for p in d.parameters if p]) == len(values)]
        if name in self.names or len(fitting) != 1 or len(walk.active) > _MOST_CALLS or \
                id(fitting[0]) in walk.active:
            if name in self.names or name in walk.functions or BARRIER.fullmatch(name):
                walk.wait()
            return None
        called = Frame(walk, fitting[0], True)
        params = [p for p in fitting[0].parameters if p]
        for part, value in zip(params, values):
            texts, key = [t.text for t in part], _name_of(part)
            if 'volatile' in texts and ('*' in texts or '[' in texts) and not isinstance(value, Place):
                value = Place((name, key), ' '.join(plain_type(part[:-1])), 1)
                walk.volatile.add(value.name)
            if key:
                called.names[key] = value
        depth, nested = len(walk.active), walk.nested
        try:
            result = called.run_body(mask)
        except _Enough:
            if walk.left < 0:
                raise
            del walk.active[depth:]
            walk.nested = nested
            walk.wait()
            return None
        for part, argument in zip(params, parts):
            if '&' in [t.text for t in part] and len(argument) == 1 and argument[0].text in self.names:
                self.assign(argument[0].text, called.names.get(_name_of(part)), mask)
        return result


def _array_of(tokens, name):
    """Returns the Place of the array `name` that the tokens declare."""
    at = next((i for i, token in enumerate(tokens) if token.text == name), len(tokens))
    return Place(name, ' '.join(plain_type(tokens[:at])), _dims_in(tokens, name))


def _copied(accesses):
    return {key: threads.copy() for key, threads in accesses.items()}


def _name_of(part):
    """Returns the name of a parameter; None if the parameter has no name."""
    texts = [t.text for t in part]
    end = min([texts.index(text) for text in ('=', '[') if text in texts], default=len(part))
    names = [t.text for t in part[:end] if t.kind == 'identifier']
    return names[-1] if len(names) > 1 or part and '*' in texts else None


def _dims_in(tokens, name):
    """Returns the number of dimensions with which the tokens declare the array `name`."""
    at = next((i for i, token in enumerate(tokens) if token.text == name), len(tokens))
    dims, depth = 0, 0
    for token in tokens[at + 1:]:
        if depth == 0 and token.text != '[':
            break
        dims += depth == 0
        depth += (token.text == '[') - (token.text == ']')
    return dims
