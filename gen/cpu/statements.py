"""Parses the body of a function into statements. Each statement has its range in the body's tokens."""

from declare.statements import begin_of_declarators, end_of_line, end_of_name
from expr.cxxtypes import WORDS
from tokens.brackets import matching
from tokens.lexer import TokenError

LOOPS = ('for', 'range', 'while', 'do')
_MOST_NESTED = 100
_ALIASES = {'typedef', 'using', 'static_assert', 'namespace'}
_UNKNOWN = {'goto', 'try', 'throw', 'asm', '__asm__', '__asm', 'struct', 'class', 'union', 'enum', 'decltype', 'typeof',
            '__typeof__', '__typeof', 'template'}
_BEGIN_TYPES = {*WORDS, 'const', 'auto', 'bool', 'static', 'volatile', 'constexpr', 'typename', 'register', 'extern'}


class Statement:
    """One statement of a body. `begin`, `end`: its range in the body's tokens; `parts`: the range of the condition (if,
    while, do, switch) or of the value (return), or the three ranges of the header (for); `children`: statements in
    it."""

    def __init__(self, kind, begin, end, parts=(), children=()):
        self.kind, self.begin, self.end, self.parts, self.children = kind, begin, end, parts, children

    def walk(self):
        """Yields this statement and all statements within it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def unwrap(self):
        """Returns the only statement of a block; any other statement is returned unchanged."""
        return self.children[0] if self.kind == 'block' and len(self.children) == 1 else self


def parse_statements(tokens):
    """Returns the list of a body's statements. A statement of an unknown form has the kind 'unknown'."""
    return _Parser(tokens).parse_list(0, len(tokens))


class _Parser:
    def __init__(self, tokens):
        self._tokens, self._nested = tokens, 0

    def _text(self, at):
        return self._tokens[at].text if at < len(self._tokens) else ''

    def parse_list(self, at, end):
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise TokenError(self._tokens[at], f'statements nest more than {_MOST_NESTED} deep')
        found = []
        while at < end:
            found.append(self._parse(at))
            at = found[-1].end
        self._nested -= 1
        return found

    def _parse_one(self, at):
        """Returns the statement at `at`, which is the body of a control statement."""
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise TokenError(self._tokens[min(at, len(self._tokens) - 1)],
                             f'statements nest more than {_MOST_NESTED} deep')
        found = self._parse(at)
        self._nested -= 1
        return found

    def _parse(self, at):
        text = self._text(at)
        if text == '{':
            end = matching(self._tokens, at, '{', '}')
            return Statement('block', at, end, children=self.parse_list(at + 1, end - 1))
        if text in ('if', 'while', 'switch', 'for'):
            return self._parse_control(at, text)
        if text == 'do':
            body = self._parse_one(at + 1)
            opening = body.end + 1
            if self._text(body.end) != 'while' or self._text(opening) != '(':
                return Statement('unknown', at, end_of_line(self._tokens, at))
            close = matching(self._tokens, opening, '(', ')')
            return Statement('do', at, end_of_line(self._tokens, close), [(opening + 1, close - 1)], [body])
        if text in ('case', 'default'):
            return self._parse_label(at)
        if text == ';':
            return Statement('empty', at, at + 1)
        end = end_of_line(self._tokens, at)
        if text in ('return', 'break', 'continue'):
            return Statement(text, at, end, [(at + 1, end - 1)])
        if [self._text(i) for i in (at, at + 1, end - 2, end - 1)] == ['enum', '{', '}', ';']:
            return Statement('alias', at, end)      # names of numbers
        is_attribute = text == self._text(at + 1) == '['
        if not text or text in _UNKNOWN or is_attribute or self._text(at + 1) == ':' or self._text(end - 1) != ';':
            return Statement('unknown', at, end)
        if text in _ALIASES:
            return Statement('alias', at, end)
        if begin_of_declarators(self._tokens[at:end - 1]) is not None:
            return Statement('declaration', at, end)
        return Statement('expression' if self._is_expression(at) else 'unknown', at, end)

    def _is_expression(self, at):
        """True if the statement at `at` is surely an expression; False for a declaration of an unknown form, such as T
        (*rows)[8]."""
        if self._text(at + 1) == '(' and self._text(at + 2) in ('*', '&') and self._text(at + 4) == ')':
            return False
        first, second = self._tokens[at], self._tokens[at + 1]
        opening = end_of_name(self._tokens, at)
        if self._text(opening) == '<':
            opening = matching(self._tokens, opening, '<', '>')
        if first.kind == 'identifier' and self._text(opening) == '(' and not first.text.endswith('_cast'):
            close = matching(self._tokens, opening, '(', ')')
            inside = self._tokens[opening + 1:close - 1]
            if all(t.kind == 'identifier' or t.text in ('(', ')', '*', '&') for t in inside) and \
                    sum(t.kind == 'identifier' for t in inside) == 1 and (
                        first.text in WORDS or self._text(close) in ('=', '[', '(', '{', ',')):
                return False        # T (name) = ...
        if first.text in _BEGIN_TYPES:
            return first.text in WORDS and second.text == '('
        return first.kind != 'identifier' or second.kind != 'identifier'

    def _parse_control(self, at, word):
        opening = at + 1 + (self._text(at + 1) == 'constexpr')
        if self._text(opening) != '(':
            return Statement('unknown', at, end_of_line(self._tokens, at))
        close = matching(self._tokens, opening, '(', ')')
        body = self._parse_one(close)
        parts, children = [(opening + 1, close - 1)], [body]
        if word == 'for':
            parts = self._split_header(opening + 1, close - 1)
            word = 'for' if len(parts) == 3 else 'range'
        elif word == 'if' and self._text(body.end) == 'else':
            children.append(self._parse_one(body.end + 1))
        return Statement(word, at, children[-1].end, parts, children)

    def _parse_label(self, at):
        end = at
        while end < len(self._tokens) and self._text(end) not in (':', ';'):
            end += 1
        return Statement('label', at, end + 1)

    def _split_header(self, at, end):
        parts, begin, depth = [], at, 0
        for i in range(at, end):
            if self._tokens[i].kind == 'punctuation':
                depth += (self._text(i) in '([{') - (self._text(i) in ')]}')
                if self._text(i) == ';' and depth == 0:
                    parts.append((begin, i))
                    begin = i + 1
        return parts + [(begin, end)]
