"""A cursor over a list of tokens, for parsers."""

import re

from base.bounds import MAX_OPERATORS
from tokens.lexer import TokenError


def check_names(tokens):
    """Raises TokenError for a name that is invalid in C. Only ASCII is accepted, because compilers differ in their
    support and spelling of other letters."""
    for token in tokens:
        if token.kind == 'identifier' and not re.fullmatch(r'\w+', token.text, re.ASCII):
            raise TokenError(token, f"'{token.text}' is no name that C programs can write everywhere; make it of the "
                                    'letters a to z and A to Z, digits and _')


class Cursor:
    """A position in a list of tokens."""

    def __init__(self, tokens):
        self._tokens = tokens
        self._at = 0
        self.nesting = 0
        self._operators = 0

    @property
    def token(self):
        return self._tokens[self._at]

    def at(self, *texts):
        return self.token.text in texts and self.token.kind not in ('string', 'end')

    def take(self):
        token = self.token
        if token.kind != 'end':
            self._at += 1
        return token

    def accept(self, text):
        return self.take() if self.at(text) else None

    def expect(self, text, after):
        if not self.at(text):
            raise TokenError(self.token, f"expected '{text}' {after}{tell_found(self.token)}")
        return self.take()

    def operator(self):
        """Takes a binary operator and counts it for MAX_OPERATORS."""
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise TokenError(self.token, f'more than {MAX_OPERATORS} operators in one clause; make it simpler')
        return self.take()

    def mark(self):
        return self._at

    def reset(self, mark):
        """Returns the cursor to the position of a mark."""
        self._at = mark

    def tokens_since(self, mark):
        """Returns the tokens taken since a mark."""
        return self._tokens[mark:self._at]

    def adjacent(self, first, second):
        """True if the next tokens are these two, without a blank between them, as in << and >>."""
        token = self.token
        if not self.at(first) or self._at + 1 >= len(self._tokens):
            return False
        after = self._tokens[self._at + 1]
        return (after.kind == 'punctuation' and after.text == second and after.line == token.line and
                (after.column == token.column + 1 or after.column == token.column))


def tell_found(token):
    """Returns the words of an error message that name an unexpected token."""
    shown = token.text if token.text.isprintable() else ascii(token.text)[1:-1]
    return ', found the end of the line' if token.kind == 'end' else f", found '{shown}'"
