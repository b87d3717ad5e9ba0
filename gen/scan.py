"""Preprocessed text to tokens with the source's file, line and column; errors with a caret."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from model import Location


class GeneratorError(Exception):
    """A failure that has no place in a source file."""


class Diagnostics:
    """Collects errors, so that all of a file are reported at once, and shows each with its line and a caret."""

    def __init__(self):
        self._errors: List[Tuple[Location, str]] = []
        self._lines: Dict[str, List[str]] = {}

    def add_source(self, name, text):
        self._lines[name] = text.splitlines()

    def error(self, location, message):
        if (location, message) not in self._errors:
            self._errors.append((location, message))

    @property
    def count(self):
        return len(self._errors)

    def report(self, stream=sys.stderr):
        for location, message in sorted(self._errors):
            stream.write(f'{location.file}:{location.line}:{location.column}: error: {message}\n')
            lines = self._lines.get(location.file, [])
            if location.line <= len(lines):
                line = lines[location.line - 1]
                pad = re.sub(r'[^\t]', ' ', line[:location.column - 1])
                stream.write(f'{location.line:5} | {line}\n      | {pad}^\n')


@dataclass(frozen=True)
class Token:
    kind: str       # identifier, number, string, punctuation, end
    text: str
    location: Location


@dataclass(frozen=True)
class Pragma:
    """The text of one `#pragma cf`, after those two words, as tokens closed by an `end` token."""
    location: Location
    path: str       # of the file it stands in, as the preprocessor was given it
    tokens: Tuple[Token, ...]


_TOKEN = re.compile(r'''
    (?P<space>[ \t\f\v]+|\\\r?\n|/\*.*?\*/|//[^\n]*)
  | (?P<newline>\r?\n)
  | (?P<identifier>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<punctuation>\.\.\.|::|->|<=|>=|==|!=|&&|\|\||.)
''', re.VERBOSE | re.DOTALL)
_RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
_MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$')
_PRAGMA = re.compile(r'[ \t]*#[ \t]*pragma[ \t]+cf\b')


def preprocess(cxx, flags, path):
    """Runs the C++ preprocessor over a kernel file."""
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), 'include')
    command = [*cxx, '-E', '-x', 'c++', '-std=c++17', '-DCF__SCAN', '-D__CUDACC__', *flags,
               f'-I{include}/cuferry', f'-I{include}', path]
    if not cxx:
        raise GeneratorError('--cxx names no compiler')
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise GeneratorError(f'cannot run {cxx[0]}: {error.strerror}') from error
    if run.returncode != 0:
        raise GeneratorError(run.stderr.decode(errors='replace').rstrip())
    return run.stdout.decode(errors='replace')


def _tokens(text, file, line, column):
    """Tokens of a piece of text whose first character stands at the given place."""
    at = 0
    start = at - (column - 1)
    while at < len(text):
        match = _RAW_STRING.match(text, at) or _TOKEN.match(text, at)
        kind = match.lastgroup if match.re is _TOKEN else 'string'
        if kind not in ('space', 'newline'):
            yield Token(kind, match.group(), Location(file, line, at - start + 1))
        newlines = match.group().count('\n')
        if newlines:
            line += newlines
            start = match.start() + match.group().rindex('\n') + 1
        at = match.end()
    yield Token('end', '', Location(file, line, at - start + 1))


def _directive(lines, number):
    """The source text of the directive that starts on line `number`, its continuation lines included."""
    text = lines[number - 1]
    while text.endswith('\\') and number < len(lines):
        text += '\n' + lines[number]
        number += 1
    return text


class Scanner:
    """Splits the preprocessed text of one kernel file into pragmas and tokens, in order.

    What stands in system headers is passed over. Pragmas are read from the source itself, where their positions are
    true: the preprocessor folds their white space. Other tokens are found again in their source line."""

    def __init__(self, text, display, diagnostics):
        """`display` turns a file name of the preprocessor's into the one that messages and outputs show."""
        self._text = text
        self._display = display
        self._diagnostics = diagnostics
        self._sources: Dict[str, Optional[List[str]]] = {}
        self.path = None    # of the kernel file itself, as the preprocessor was given it
        self._first_marker()

    def _first_marker(self):
        match = _MARKER.match(self._text.split('\n', 1)[0])
        if not match:
            raise GeneratorError('the preprocessor wrote no line markers')
        self.path = _unescape(match.group(2))

    def source(self, path):
        """The lines of a source file; none where it cannot be read."""
        if path not in self._sources:
            try:
                with open(path, encoding='utf-8', errors='replace', newline='') as file:
                    text = file.read()
                self._diagnostics.add_source(self._display(path), text)
                self._sources[path] = text.splitlines()
            except OSError:
                self._sources[path] = None
        return self._sources[path] or []

    def items(self):
        """Pragmas and tokens, closed by an `end` token."""
        path, number, system, pending = self.path, 1, False, []
        first = 1
        for line in self._text.split('\n'):
            marker = _MARKER.match(line)
            if marker or _PRAGMA.match(line):
                yield from self._flush(pending, path, first)
                pending = []
            if marker:
                path, number, system = _unescape(marker.group(2)), int(marker.group(1)), '3' in marker.group(3).split()
                first = number
                continue
            if not system:
                if _PRAGMA.match(line):
                    yield self._pragma(line, path, number)
                    first = number + 1
                else:
                    pending.append(line)
            number += 1
        yield from self._flush(pending, path, first)
        yield Token('end', '', Location(self._display(path), number, 1))

    def _flush(self, lines, path, first):
        if not any(lines):
            return
        file, source = self._display(path), self.source(path)
        last, column = 0, 1
        for token in _tokens('\n'.join(lines), file, first, 1):
            if token.kind == 'end':
                return
            line = token.location.line
            if line != last:
                last, column = line, 1
            text = source[line - 1] if line <= len(source) else ''
            found = text.find(token.text, column - 1)
            if found >= 0:
                column = found + 1
            yield Token(token.kind, token.text, Location(file, line, column))
            if found >= 0:
                column += len(token.text)

    def _pragma(self, line, path, number):
        source = self.source(path)
        text = _directive(source, number) if number <= len(source) else line
        if not _PRAGMA.match(text):
            text = line
        begin = _PRAGMA.match(text).end()
        file = self._display(path)
        location = Location(file, number, text.index('#') + 1)
        return Pragma(location, path, tuple(_tokens(text[begin:], file, number, begin + 1)))


def _unescape(name):
    return re.sub(r'\\(.)', r'\1', name)


def comment_above(lines, number):
    """The comment block that ends right above line `number`, as lines without comment marks."""
    end = number - 1
    if end >= 1 and lines[end - 1].rstrip().endswith('*/'):
        begin = end
        while begin >= 1 and '/*' not in lines[begin - 1]:
            begin -= 1
        if begin >= 1 and lines[begin - 1].lstrip().startswith('/*'):
            text = '\n'.join(lines[begin - 1:end]).strip()[2:-2]
            return tuple(re.sub(r'^[ \t]*\*? ?', '', line).rstrip() for line in text.strip().split('\n'))
    begin = end
    while begin >= 1 and lines[begin - 1].lstrip().startswith('//'):
        begin -= 1
    return tuple(re.sub(r'^[ \t]*//+ ?', '', line).rstrip() for line in lines[begin:end])
