"""Finds __shared__ elements that one lane writes and other lanes access without a barrier in between: as in
`if (lane == 0) s[w] = x;` before or after `y = s[w];`, and in `s[lane] = x;` before or after `y = s[0];`. The accesses
may be in different turns of a loop. On GPUs, warps in lockstep hide this race."""

import re
from collections import Counter

from base.bounds import MAX_STATEMENTS
from cpu.assembly import waits
from cpu.collective import find_reached
from tokens.brackets import is_update, matching, split_at
from tokens.lexer import spell_tokens

BARRIER = re.compile(r'\w*(?:sync|wait|arrive|barrier|shfl|ballot|reduce|scan|sort)\w*|(?:Block|Warp)[A-Z]\w*|'
                      r'any|all', re.IGNORECASE)
# Matches names whose values differ between lanes.
_LANES = re.compile(r'threadIdx|atomic\w+|thread_\w+|clock\w*')
# Matches functions whose result is the same for all lanes of a warp.
_VOTE = re.compile(r'__(?:any|all|ballot|reduce_\w+)_sync|__activemask|__syncthreads_\w+')
# The tokens of an index that is the number of a thread.
_NUMBER = {'threadIdx', '.', 'x', 'y', 'z', '%', '&', '(', ')', 'int', 'unsigned'}
_ROUNDS = 3     # depth of calls: a kernel, functions that it calls, and functions that these call
_DEPTH = 3      # most nested loops whose bodies are walked twice
_ADVICE = ('GPUs since Volta do not promise lockstep, and the CPU has none: write __syncwarp(), or __syncthreads() for '
           'more than a warp, between the two')


def find_written_by_one(kernel, everything):
    """Yields (declaration, token, message) for each function with such an element that a kernel reaches, at most one
    for a function."""
    shared = {name for d in everything if d.has('__shared__') for name in d.names}
    calls = {d.name: set() for d in everything if d.function is not None}
    reached = [d for d in find_reached(kernel, everything) if d.function is not None and d.body]
    if not shared and not any('__shared__' in d.words for d in reached):
        return
    walks = {}
    for _ in range(_ROUNDS):
        for declaration in reached:
            walks[id(declaration)] = _Walk(declaration, shared, calls)
            walks[id(declaration)].walk()
    for declaration in reached:
        if walks[id(declaration)].found:
            yield (declaration, *walks[id(declaration)].found)


class _TooDeep(Exception):
    """Raised for a statement within more than MAX_STATEMENTS other statements."""


class _Walk:
    """One walk over the statements of a function, in order. The bodies of loops are walked twice, so that accesses at
    the end of one turn meet accesses at the beginning of the next turn."""

    def __init__(self, declaration, shared, calls):
        """`shared`: names of __shared__ arrays of the file; `calls`: maps a function to the positions of the arguments
        that differ between lanes in some call."""
        self._body, self._calls = declaration.body, calls
        self._scalars, self._arrays = set(), set(shared)
        # `_differing`: names whose values differ between lanes; `_ranks`: those of them that only thread numbers
        # determine.
        params = declaration.parameters
        self._memory = {t.text for part in params for t in part}    # arrays whose elements are the same for all lanes
        self._differing = {part[-1].text for at, part in enumerate(params) if part and at in calls[declaration.name]}
        self._ranks = {'threadIdx'} | self._differing
        # Elements that were accessed since the last barrier: by all lanes; by one lane; s[lane], which each lane has
        # written for itself; and elements that lanes have read of others.
        self._by_all, self._by_one, self._by_own, self._by_others = {}, {}, {}, {}
        self._has_left = False  # some lanes have left, and skip the later statements
        self._plain = set()     # names whose value is the number of a thread
        assigned = [a.text for a, b in zip(self._body, self._body[1:]) if b.text == '=' and a.kind == 'identifier']
        self._counters = _find_counters(self._body)
        self._changing = {name for name, count in Counter(assigned).items() if count > 1} | self._counters
        self.found, self._is_dry, self._depth, self._nesting = None, False, 0, 0

    def walk(self):
        """Walks over the function, finds the first such element, and notes the calls; ends at a statement that is
        nested too deeply."""
        try:
            self._walk(0, len(self._body), False, False)
        except _TooDeep:
            pass

    def _walk(self, at, end, is_one, is_divergent):
        while at < end:
            at = self._statement(at, end, is_one, is_divergent)

    def _statement(self, at, end, is_one, is_divergent):
        """Walks over the statement at `at`. Returns the index after the statement."""
        if self._nesting == MAX_STATEMENTS:
            raise _TooDeep
        self._nesting += 1
        after = self._any(at, end, is_one, is_divergent)
        self._nesting -= 1
        return after

    def _any(self, at, end, is_one, is_divergent):
        body, text = self._body, self._body[at].text
        if text == '{':
            after = min(matching(body, at, '{', '}'), end)
            self._walk(at + 1, after - 1, is_one, is_divergent)
            return after
        if text in ('if', 'switch') and at + 1 < end:
            return self._choice(at, end, is_one, is_divergent)
        if text in ('for', 'while') and at + 1 < end:
            head, after = self._head(at, end)
            parts = split_at(head, ';') if text == 'for' else [head]
            self._simple(parts[0], is_one, is_divergent)
            inner = is_divergent or any(self._differs(part) for part in parts[:2])
            return self._loop(after, end, is_one, inner, parts[1:] or parts)
        if text == 'do' and at + 1 < end:
            after = self._skip(at + 1, end)
            if [t.text for t in body[after:after + 4]] in (['while', '(', '0', ')'], ['while', '(', 'false', ')']):
                return self._statement(at + 1, end, is_one, is_divergent)
            return self._loop(at + 1, end, is_one, is_divergent, ())
        after = next((i for i in range(at, end) if body[i].text in ';{}'), end)
        self._simple(body[at:after], is_one, is_divergent)
        return after + 1 if after < end and body[after].text != '{' else max(after, at + 1)

    def _head(self, at, end):
        """Returns the tokens in the parentheses of the control statement at `at`, and the index after them."""
        begin = next((i for i in range(at, end) if self._body[i].text == '('), end)
        after = min(matching(self._body, begin, '(', ')'), end)
        return self._body[begin + 1:after - 1], after

    def _choice(self, at, end, is_one, is_divergent):
        """Walks over an if or a switch with all of its `else if` branches. It is a loop, since a long chain would
        exceed the recursion limit."""
        while True:
            head, at = self._head(at, end)
            self._simple(head, is_one, is_divergent)
            is_divergent = is_divergent or self._differs(head)
            if at < end:
                at = self._statement(at, end, is_one or self._is_of_one(head), is_divergent)
            if at >= end or self._body[at].text != 'else':
                return at
            at += 1
            if at + 1 >= end or self._body[at].text != 'if':
                return self._statement(at, end, is_one, is_divergent) if at < end else end

    def _skip(self, at, end):
        if self._body[at].text == '{':
            return min(matching(self._body, at, '{', '}'), end)
        return next((i + 1 for i in range(at, end) if self._body[i].text == ';'), end)

    def _loop(self, at, end, is_one, is_divergent, parts):
        """Walks over the body of a loop. The first of the rounds only notes which names differ between lanes."""
        if at >= end:
            return end
        self._depth += 1
        for is_dry in (True,) if self._is_dry else (True, False, False) if self._depth <= _DEPTH else (True, False):
            was_dry, self._is_dry = self._is_dry, self._is_dry or is_dry
            after = self._statement(at, end, is_one, is_divergent)
            for part in parts[::-1]:
                self._simple(part, is_one, is_divergent)
            is_divergent = is_divergent or any(self._differs(part) for part in parts[:1])
            self._is_dry = was_dry
        self._depth -= 1
        return after

    def _simple(self, tokens, is_one, is_divergent):
        if not tokens:
            return
        texts = [t.text for t in tokens]
        if '__shared__' in texts:
            for part in split_at(tokens, ','):
                name = next((a.text for a, b in zip(part, part[1:]) if b.text == '['), None)
                if name:
                    self._arrays.add(name)
                elif part:
                    self._scalars.add(part[-1].text)
            return
        self._has_left |= is_divergent and texts[0] in ('return', 'break', 'continue')
        is_call = self._call(tokens, texts)
        if is_call or has_barrier(tokens, texts):
            for elements in (self._by_all, self._by_one, self._by_own, self._by_others):
                elements.clear()
        if not is_call:
            self._access(tokens, texts, is_one, is_divergent)
        self._assign(tokens, is_divergent)

    def _call(self, tokens, texts):
        """True if the tokens call a function of the file, since the function may contain a barrier."""
        is_call = False
        for at, text in enumerate(texts):
            begin = at + 1
            if text in self._calls and texts[begin:begin + 1] == ['<']:
                begin = matching(tokens, begin, '<', '>')
            if text in self._calls and texts[begin:begin + 1] == ['(']:
                is_call = True
                arguments = split_at(tokens[begin + 1:matching(tokens, begin, '(', ')') - 1], ',')
                self._calls[text].update(i for i, argument in enumerate(arguments) if self._differs(argument))
                self._differing |= {a[1].text for a in arguments if len(a) == 2 and a[0].text == '&'}
        return is_call

    def _assign(self, tokens, is_divergent):
        """Notes which names differ between lanes after an assignment."""
        for part in split_at(tokens, ','):
            texts = [t.text for t in part]
            at = next((i for i, text in enumerate(texts) if i and (
                text == '=' or is_update(texts[i - 1:i + 1]) and text[-1] == '=')), None)
            if at is None:
                continue
            keeps_old = texts[at - 1] in '+-*/%&|^<>])'
            target = [t.text for t in part[:at] if t.kind == 'identifier']
            name = target[0] if keeps_old and target else texts[at - 1]
            if texts[at - 1] == ']' and name in self._memory or name in self._arrays | self._scalars:
                continue
            value = part[at + 1:]
            if not keeps_old and self._is_number(value) and name not in self._changing:
                self._plain.add(name)
            if is_divergent or self._differs(value):
                self._differing.add(name)
                if '[' not in texts[at:] and {t.text for t in value} & self._ranks:
                    self._ranks.add(name)
            elif not keeps_old:
                self._differing.discard(name)
                self._ranks.discard(name)

    def _differs(self, tokens):
        texts = [t.text for t in tokens]
        if not any(text in self._differing or text in self._calls or _LANES.fullmatch(text) for text in texts):
            return False
        if texts[:2] == ['__shfl_sync', '('] and matching(tokens, 1, '(', ')') == len(tokens):
            return any(map(self._differs, split_at(tokens[2:-1], ',')[2:3]))
        if _VOTE.fullmatch(texts[0]):
            return False
        # A division or a shift gives the number of a warp, and all lanes of the warp have the same number.
        depth = 0
        for at, text in enumerate(texts):
            depth += (text in '([') - (text in ')]')
            if depth == 0 and (text == '/' or texts[at:at + 2] == ['>', '>']):
                return not self._ranks & set(texts[:at]) or '[' in texts or bool(self._differing & set(texts[at:]))
        return True

    def _is_of_one(self, condition):
        """True if a condition is true for one lane only, as lane == 0 && x and !lane are."""
        texts = [t.text for t in condition]
        if '||' in texts or '?' in texts:
            return False
        for part in split_at(condition, '&&'):
            words = {t.text for t in part}
            if words & self._ranks and '[' not in words and self._differs(part) and (
                    '==' in words or part[0].text == '!' and len(part) in (2, 4)):
                return True
        return False

    def _is_number(self, tokens):
        """True if the tokens are the number of a thread, such as threadIdx.x % 32."""
        texts = [t.text for t in tokens]
        return ('threadIdx' in texts or not self._plain.isdisjoint(texts)) and all(
            text in _NUMBER or text in self._plain or text.isdigit() for text in texts)

    def _access(self, tokens, texts, is_one, is_divergent):
        for at, token in enumerate(tokens):
            if token.text not in self._arrays and token.text not in self._scalars or token.kind != 'identifier' or \
                    at and texts[at - 1] in ('.', '->', '::'):
                continue
            if at and texts[at - 1] == '&' and (at == 1 or texts[at - 2] in ('(', ',', '=', ')', 'return')):
                continue        # the operator & takes the address of the element, as for atomic functions
            end = at + 1
            while end < len(tokens) and texts[end] in ('[', '.'):
                end = matching(tokens, end, '[', ']') if texts[end] == '[' else end + 2
            element = tokens[at:end]
            is_written = texts[end:end + 1] == ['='] or is_update(texts[end:end + 2])
            if texts[at + 1:at + 2] == ['['] and texts[end:end + 1] != ['['] and not self._is_dry:
                self._note_row(element, is_written, is_one, is_divergent)
            if token.text in self._arrays and texts[at + 1:at + 2] != ['['] or self._differs(element[1:]) or \
                    texts[end:end + 1] == ['(']:
                continue
            self._note(spell_tokens(element), token, is_one, is_written)

    def _note(self, element, token, is_one, is_written):
        if self._is_dry or is_one and not is_written:
            return
        others = self._by_all if is_one else self._by_one
        if element in others and not self.found:
            what = 'is written by one lane, and other lanes may not have' if is_one else \
                'is used here, and the one lane that writes it may not have'
            self.found = (token, f'{element} {what} {"used it" if is_one else "done so"} yet; {_ADVICE}')
        (self._by_one if is_one else self._by_all)[element] = token


    def _note_row(self, element, is_written, is_one, is_divergent):
        """Notes an element whose index is the lane's own number if the lane writes it, or an element at another number
        if lanes read it."""
        rows, at = [], 1
        while at < len(element) and element[at].text == '[':
            begin, at = at + 1, matching(element, at, '[', ']')
            rows.append(element[begin:at - 1])
        for place, row in enumerate(rows):
            others = rows[:place] + rows[place + 1:]
            texts, is_own = [t.text for t in row], self._is_number(row)
            is_of_any = texts in (['0'], ['blockDim', '.', 'x', '-', '1']) or \
                len(row) == 1 and texts[0] in self._counters and (is_one or not self._differs(row))
            if not all(self._is_number(other) or len(other) == 1 and other[0].text.isdigit() for other in others):
                continue
            key = element[0].text, place, spell_tokens([t for other in others for t in other] + element[at:])
            if is_written and is_own and not is_one:
                self._find_row(element, 'is written by its lane, and others may not have used {} yet', key,
                               self._by_others)
                self._by_own[key] = spell_tokens(element)
            elif is_of_any and not is_written and (
                    texts != ['0'] if is_one else not is_divergent and not self._has_left):
                self._find_row(element, 'is used here, and its lane may not have written {} yet', key, self._by_own)
                self._by_others[key] = spell_tokens(element)

    def _find_row(self, element, what, key, others):
        if key in others and not self.found:
            self.found = (element[0], f'{spell_tokens(element)} {what.format(others[key])}; {_ADVICE}')


def _find_counters(body):
    """Returns the names that ++ or an operator such as += changes."""
    texts = [t.text for t in body]
    return {token.text for at, token in enumerate(body) if token.kind == 'identifier' and (
        is_update(texts[at + 1:at + 3]) or at > 1 and texts[at - 2:at] in (['+', '+'], ['-', '-']))}


def has_barrier(tokens, texts):
    """True if the tokens wait for other threads: by a call, with or without template arguments, or in assembly."""
    for at, text in enumerate(texts[:-1]):
        if BARRIER.fullmatch(text):
            end = matching(tokens, at + 1, '<', '>') if texts[at + 1] == '<' else at + 1
            if texts[end:end + 1] == ['('] or end == len(texts) and texts[-1] == '>':   # the tokens end at a brace
                return True
    return waits(tokens)
