"""Finds the definition of a name in a launching function: its declaration or its last assignment before a launch."""

from declare.statements import end_of_statement
from expr.cxxtypes import BUILTIN, WORDS
from tokens.brackets import matching, split_at
from tokens.lexer import Token

_NO_TYPES = {'return', 'case', 'else', 'goto', 'new', 'delete', 'throw', 'sizeof', 'typename', 'using', 'namespace'}
_SPECIFIERS = {'const', 'constexpr', 'static', 'volatile', 'register', 'auto', 'inline', 'extern', '__restrict__',
               '__restrict', 'thread_local'}


class Definition:
    """The definition of a name. `values`: the parts of an initializer in parentheses or braces, or the part after `=`;
    None if the value may change. `words` and `stars`: the declared type, if the declaration is in the function."""

    def __init__(self, at, values, is_list, words, stars):
        self.at, self.values, self.is_list, self.words, self.stars = at, values, is_list, words, stars


def tokens_of(declaration):
    """Returns all tokens of a definition with its braces."""
    made = [Token('punctuation', text, t.file, t.line, t.column) for text, t in (
        ('{', declaration.head[-1]), ('}', declaration.last))]
    body = [] if declaration.body is None else [made[0], *declaration.body, made[1]]
    return [*declaration.head, *body]


class Scope:
    """A function's tokens, with the place from which names are looked up."""

    def __init__(self, tokens):
        self.tokens = tokens
        self._pairs = _match_braces(tokens)

    def find(self, at, name):
        """Returns the definition of a name that holds before the token at `at`; None if the function has none."""
        tokens, begin = self.tokens, at - 1
        assigned = None
        while begin >= 0:
            if tokens[begin].text == '}' and begin in self._pairs:
                begin = self._pairs[begin] - 1
                continue
            if tokens[begin].text == name and tokens[begin].kind == 'identifier':
                before = tokens[begin - 1].text if begin else ''
                if self._declares(begin):
                    return self._declared(begin, at, assigned)
                if assigned is None and before in (';', '{', '}') and self._text(begin + 1) == '=':
                    assigned = begin
            begin -= 1
        return None

    def chosen(self, at, name):
        """Returns the token of the number that a name has to equal at `at`, because an `if` or `switch` around it tests
        this; None if there is no such test."""
        for begin in range(at - 1, 0, -1):
            if self._text(begin) not in ('if', 'switch') or self._text(begin + 1) != '(':
                continue
            end = matching(self.tokens, begin + 1, '(', ')')
            if end_of_statement(self.tokens, end) <= at:
                continue
            found, condition = None, self.tokens[begin + 2:end - 1]
            if self._text(begin) == 'switch':
                labels = [i for i in range(end, at) if self._text(i) in ('case', 'default')]
                is_one = labels and self._text(labels[-1] - 1) != ':' and [t.text for t in condition] == [name]
                return self.tokens[labels[-1] + 1] if is_one and self.tokens[labels[-1] + 1].kind == 'number' else None
            for part in split_at(condition, '&&'):
                if len(part) == 3 and part[1].text == '==' and name in (part[0].text, part[2].text):
                    found = part[2] if part[0].text == name else part[0]
            if found and found.kind == 'number':
                return found
        return None

    def members(self, at, name):
        """Maps members that are assigned once between the declaration and `at`, as in `grid.x = n;`, to their
        values."""
        found = self.find(at, name)
        values = {}
        for begin in range(found.at if found else 0, at):
            if (self.tokens[begin].text == name and self._text(begin + 1) == '.' and self._text(begin + 3) == '=' and
                    self._text(begin - 1) in (';', '{', '}')):
                member = self._text(begin + 2)
                values[member] = None if member in values else self.tokens[begin + 4:self._end(begin + 4)]
        return values

    def _text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ''

    def _end(self, at):
        """Returns the index of the comma, semicolon or bracket that ends an initializer."""
        depth = 0
        while at < len(self.tokens):
            text = self.tokens[at].text
            if self.tokens[at].kind == 'punctuation':
                if text in ('(', '[', '{'):
                    depth += 1
                elif text in (')', ']', '}'):
                    depth -= 1
                if depth < 0 or depth == 0 and text in (',', ';'):
                    return at
            at += 1
        return at

    def _declares(self, at):
        before, behind = self._text(at - 1), self._text(at + 1)
        if behind not in ('=', '(', '{', ';', ',', ')', '[', ':') or before in _NO_TYPES or at == 0:
            return False
        if before in ('*', '&', '>') or self.tokens[at - 1].kind == 'identifier':
            words, _ = self._type_before(at)
            return bool(words)
        return before == ',' and bool(self._type_before(at)[0])

    def _type_before(self, at):
        """Returns the words of the type before a declared name and the number of its *s; ([], 0) if no type
        precedes."""
        tokens, begin, depth = self.tokens, at - 1, 0
        while begin >= 0:
            text = tokens[begin].text
            if text in (')', ']') or text == '}' and (depth or self._text(begin + 1) == ','):
                depth += 1
            elif text in ('(', '[', '{') and depth:
                depth -= 1
            elif depth == 0 and text in (';', '{', '}', '(', ':'):
                break
            begin -= 1
        statement = tokens[begin + 1:at]
        parts = split_at(statement, ',', '([{<', ')]}>')
        is_parameter = self._text(begin) == '(' and self._text(begin - 1) not in ('for', 'if', 'while')
        if is_parameter or len(parts) == 1:
            return _read_type(parts[-1], len(parts) == 1)
        first = parts[0]
        end = next((i for i, t in enumerate(first) if t.text in ('=', '(', '[', '{')), len(first))
        words, _ = _read_type(first[:end - 1], True)
        if any(t.text not in ('*', 'const', '__restrict__', '__restrict', '&') for t in parts[-1]):
            return [], 0
        return words, sum(t.text == '*' for t in parts[-1])

    def _declared(self, at, use, assigned):
        words, stars = self._type_before(at)
        behind, begin = self._text(at + 1), at
        values, is_list = None, False
        if assigned is not None:
            values, begin = [self.tokens[assigned + 2:self._end(assigned + 2)]], assigned
        elif behind == '=':
            values = [self.tokens[at + 2:self._end(at + 2)]]
        elif behind == '[':
            end = matching(self.tokens, at + 1, '[', ']')
            if self._text(end) == '=':
                values = [self.tokens[end + 1:self._end(end + 1)]]
        elif behind in ('(', '{'):
            end = matching(self.tokens, at + 1, behind, ')' if behind == '(' else '}')
            values, is_list = split_at(self.tokens[at + 2:end - 1], ','), True
        if self._is_changed(self._text(at), begin, at, use):
            values = None
        return Definition(begin, values, is_list, words, stars)

    def _is_changed(self, name, begin, declared, use):
        """True if the variable may have another value at its use."""
        end = use
        for opening, closing in ((b, e) for e, b in self._pairs.items()):
            if declared < opening < use < closing and self._is_loop(opening):
                end = max(end, closing)
        for at in range(begin + 1, end):
            if self.tokens[at].text == name and self.tokens[at].kind == 'identifier' and at != declared and (
                    at > begin and self._is_written(at)):
                return True
        header = self._enclosing_parenthesis(declared)
        return header is not None and self._text(header - 1) == 'for'

    def _enclosing_parenthesis(self, at):
        depth = 0
        for begin in range(at - 1, -1, -1):
            text = self.tokens[begin].text
            if text == ')':
                depth += 1
            elif text == '(':
                if depth == 0:
                    return begin
                depth -= 1
            elif text in ('{', '}'):
                return None
        return None

    def _is_written(self, at):
        before, behind, third = self._text(at - 1), self._text(at + 1), self._text(at + 2)
        if before in ('.', '->'):
            return False
        is_stepped = behind == third and behind in ('+', '-') or (
            before == self._text(at - 2) and before in ('+', '-'))
        is_taken = before == '&' and self._text(at - 2) in ('(', ',', '=', '{')
        return behind == '=' or is_stepped or is_taken and not self._is_argument_list(at) or (
            behind in ('+', '-', '*', '/', '%', '&', '|', '<', '>', '^') and third in ('=', '<=', '>=') and
            self.tokens[at + 2].column == self.tokens[at + 1].column + 1)

    def _is_argument_list(self, at):
        """True for &name in `void *args[] = {&name}`, which passes the variable to a launch."""
        depth = 0
        for begin in range(at - 1, -1, -1):
            text = self.tokens[begin].text
            if text in (')', '}'):
                depth += 1
            elif text in ('(', '{'):
                if depth == 0:
                    return text == '{' and self._text(begin - 1) == '='
                depth -= 1
            elif text == ';':
                return False
        return False

    def _is_loop(self, opening):
        before = self._text(opening - 1)
        if before == 'do':
            return True
        depth = 0
        for begin in range(opening - 1, -1, -1):
            text = self.tokens[begin].text
            depth += (text == ')') - (text == '(')
            if depth == 0:
                return text == '(' and self._text(begin - 1) in ('for', 'while')
        return False


def _read_type(tokens, is_statement):
    words = [t.text for t in tokens if t.text not in ('*', '&') and t.text not in _SPECIFIERS]
    is_auto = any(t.text in ('auto', 'const', 'constexpr') for t in tokens)
    if any(t.kind == 'string' or t.text in ('=', '.', '->', '?', '+', '/', '(', '-') for t in tokens) or (
            words[:1] and words[0] in _NO_TYPES):
        return [], 0
    if not words:
        return (['auto'], 0) if is_auto else ([], 0)
    # a * b is a product unless a is a type; a declaration of one name begins its statement
    is_known = words[-1] in BUILTIN or words[-1] in WORDS or words[-1] in ('void', '>')
    if not is_known and not is_statement and len(words) > 3:
        return [], 0
    return words, sum(t.text == '*' for t in tokens)


def _match_braces(tokens):
    """Maps the index of each closing brace to that of its opening brace."""
    opened, pairs = [], {}
    for at, token in enumerate(tokens):
        if token.kind == 'punctuation' and token.text == '{':
            opened.append(at)
        elif token.kind == 'punctuation' and token.text == '}' and opened:
            pairs[at] = opened.pop()
    return pairs
