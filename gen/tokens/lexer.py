"""Splits C++ text into tokens with source locations."""

import re

from base.model import Location

_TOKEN = re.compile(r'''
    (?P<identifier>[A-Za-z_$\x80-\U0010ffff][\w$\x80-\U0010ffff]*)
  | (?P<space>[ \t\f\v]+|\\\n|/\*.*?\*/|//[^\n]*)
  | (?P<newline>\n)
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<punctuation>\.\.\.|::|->|<=|>=|==|!=|&&|\|\||.)
''', re.VERBOSE | re.DOTALL | re.ASCII)
_SPACE = ' \t\n\f\v'
_MERGING = re.compile(r'[\w$\x80-\U0010ffff]{2}|\+\+|--|&&|\|\||/[/*]|"\w', re.ASCII)
RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
_RAW_BEGIN = re.compile(r'(?<![\w$])(?:u8|[uUL])?R"[^()\\\s]{0,16}\(', re.ASCII)
_COMMENT = re.compile(r'/\*.*?(?:\*/|\Z)|//(?:\\\n|[^\n])*', re.DOTALL)


def find_raw_strings(text):
    """Yields the matches of raw strings in a text without comments. An unclosed raw string ends the search."""
    at = 0
    for candidate in _RAW_BEGIN.finditer(text):
        begin = candidate.start()
        at = max(at, text.rfind('\n', 0, begin) + 1) if begin >= at else at
        while at < begin:
            at = _TOKEN.match(text, at).end()
        if at == begin:     # otherwise it is inside another string
            match = RAW_STRING.match(text, begin)
            if not match:
                return
            at = match.end()
            yield match


def blank_comments(text):
    """Returns a source text in which blank lines replace comments and raw strings."""
    parts, at = [], 0
    while at < len(text):
        match = RAW_STRING.match(text, at) if text[at] in 'uULR' else _COMMENT.match(text, at)
        if match:
            parts.append(' ' + '\n' * match.group().count('\n'))
        else:
            match = _TOKEN.match(text, at)
            parts.append(match.group())
        at = match.end()
    return ''.join(parts)


class Token:
    """A token and its location. It is no dataclass, because a plain class is faster and there are many tokens."""
    __slots__ = ('kind', 'text', 'file', 'line', 'column', 'exact', 'hidden', 'joined', 'pragmas')

    def __init__(self, kind, text, file, line, column, exact=True, hidden=frozenset(), joined=False):
        self.kind = kind        # identifier, number, string, punctuation, end
        self.text = text
        self.file, self.line, self.column = file, line, column
        self.exact = exact      # the token stands in the source; otherwise a macro in that line produced it
        self.hidden = hidden    # names of the macros that produced it
        self.joined = joined    # no space precedes it in the text
        self.pragmas = ()       # lines of #pragma directives before it

    @property
    def location(self):
        return Location(self.file, self.line, self.column)

    def __repr__(self):
        return f'{self.text!r} at {self.file}:{self.line}:{self.column}'


class TokenError(Exception):
    """An error at a token."""

    def __init__(self, token, message):
        super().__init__(message)
        self.token = token


def tokenize(text, file, line, column):
    """Returns the tokens of a text that starts at the given location, ending with an `end` token."""
    tokens = []
    at = 0
    start = at - (column - 1)
    size = len(text)
    while at < size:
        if text[at] == ' ':         # the most common case
            at += 1
            continue
        match = RAW_STRING.match(text, at) if text[at] in 'uULR' else None
        if match:
            kind = 'string'
        else:
            match = _TOKEN.match(text, at)
            kind = match.lastgroup
        if kind == 'newline':
            line += 1
            start = match.end()
        elif kind == 'space' or kind == 'string':
            word = match.group()
            if kind == 'string':
                is_joined = at > 0 and text[at - 1] not in _SPACE
                tokens.append(Token(kind, word, file, line, at - start + 1, joined=is_joined))
            newlines = word.count('\n')
            if newlines:
                line += newlines
                start = at + word.rindex('\n') + 1
        else:
            tokens.append(Token(kind, match.group(), file, line, at - start + 1,
                                joined=at > 0 and text[at - 1] not in _SPACE))
        at = match.end()
    tokens.append(Token('end', '', file, line, at - start + 1))
    return tokens


def spell_tokens(tokens):
    """Returns the source text of tokens with white space folded. Tokens from a macro may share a location; a blank
    separates them if they would join into another token, except << and >>."""
    text, previous = '', None
    for token in tokens:
        if previous:
            gap = token.column - previous.column - len(previous.text)
            if token.line != previous.line or gap > 0 or _MERGING.match(text[-1:] + token.text[:1]):
                text += ' '
        text += token.text
        previous = token
    return text


def is_floating(number):
    """True for a number's text with a point, an exponent or the suffix of a float."""
    text = number.lower()
    return any(c in text for c in ('.p' if text[:2] == '0x' else '.' if text[:2] == '0b' else '.ef'))


def integer_of(number):
    """Returns the value of an integer literal; None for other texts."""
    text = number.replace("'", '').lower().rstrip('ulz')
    is_octal = text.isdigit() and len(text) > 1 and text[0] == '0'
    try:
        return int(text, 8 if is_octal else 0)
    except ValueError:
        return None
