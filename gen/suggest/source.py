"""Scans a kernel file for suggestions, even one that the preprocessor refuses, and restores the names of macros that
expand to numbers."""

import os
import re

from base.diagnostics import GeneratorError
from base.regular import open_regular
from tokens.lexer import blank_comments, Token, tokenize
from tokens.scan import hide_directives, MARKER, preprocess, unescape_name

_DEFINE = re.compile(r'#define (\w+) (.+)')
_CONDITION = re.compile(r'[ \t]*#[ \t]*(if(?:n?def)?|else|elif|endif)\b(?:[ \t]+(?:0|false)[ \t]*$)?')
_WORD = re.compile(r'[A-Za-z_]\w*')


def read_source(cxx, flags, path):
    """Returns the preprocessed text of a file, or the text of the file itself if the preprocessor refuses it."""
    try:
        return preprocess(cxx, flags, path)
    except GeneratorError as error:
        if not os.access(path, os.R_OK) or 'cannot run' in str(error):
            raise
    with open_regular(path, encoding='utf-8-sig', errors='replace') as file:
        return f'# 1 "{path}"\n' + '\n'.join(_live_lines(blank_comments(file.read()).split('\n')))


def _live_lines(lines):
    """Yields the lines; lines between #if 0 and its #else or #endif become empty."""
    is_dead, depth = False, 0
    for line in lines:
        directive = _CONDITION.match(line)
        if not is_dead:
            is_dead = bool(directive and directive.group().endswith(('0', 'false')))
            yield line
            continue
        word = directive.group(1) if directive else ''
        depth += word.startswith('if')
        is_dead = depth > 0 or word not in ('else', 'elif', 'endif')
        depth -= word == 'endif' and depth > 0
        yield '' if is_dead else line


class Macros:
    """Macros of a file that stand for an integer."""

    def __init__(self, text):
        self._bodies, self._places = {}, {}
        path, number = '', 0
        for line in hide_directives(text).split('\n'):
            marker = MARKER.match(line) if line.startswith('#') else None
            define = _DEFINE.match(line) if line.startswith('#define ') else None
            if marker:
                path, number = unescape_name(marker.group(2)), int(marker.group(1)) - 1
            elif define:
                self._bodies[define.group(1)] = define.group(2).strip()
                self._places[define.group(1)] = path, number
            number += 1

    def restore(self, items, source):
        """Replaces tokens that one of these macros produced by the macro's name. `source(file)` returns the lines of a
        file by its displayed name."""
        restored, at = [], 0
        while at < len(items):
            if not isinstance(items[at], Token) or items[at].exact or items[at].kind == 'end':
                restored.append(items[at])
                at += 1
                continue
            end = at
            while end < len(items) and isinstance(items[end], Token) and not items[end].exact and (
                    items[end].line == items[at].line and items[end].kind != 'end'):
                end += 1
            restored += self._run(items, at, end, source(items[at].file))
            at = end
        return restored

    def _run(self, items, at, end, lines):
        """Returns the tokens that replace a run of tokens which do not stand in the source."""
        run, line = items[at:end], items[at].line
        text = lines[line - 1] if line <= len(lines) else ''
        before = items[at - 1] if at else None
        begin = before.column + len(before.text) - 1 if _is_on(before, line) else 0
        behind = items[end] if end < len(items) else None
        gap = text[begin:behind.column - 1 if _is_on(behind, line) else len(text)]
        words = [w for w in _WORD.findall(gap) if self._value(w)]
        if len(words) != 1 or self._value(words[0]) != [t.text for t in run]:
            return run
        return [Token('identifier', words[0], run[0].file, line, begin + gap.index(words[0]) + 1)]

    def _value(self, name, depth=0):
        """Returns the texts of a macro's tokens if they are a number, perhaps in parentheses; else None."""
        body = self._bodies.get(name)
        if body is None or depth > 10:
            return None
        if _WORD.fullmatch(body):
            return self._value(body, depth + 1)
        texts = [t.text for t in tokenize(body, '', 1, 1) if t.kind != 'end']
        plain = [t for t in texts if t not in '()']
        return texts if len(plain) == 1 and plain[0][:1].isdigit() else None

    def line(self, name, path):
        """Returns the line of a macro's definition in this file; 0 if it is defined elsewhere."""
        where, line = self._places[name]
        return line if where == path else 0

    def values(self):
        """Yields the names of the macros with their integers."""
        for name in self._bodies:
            texts = self._value(name)
            digits = next(t for t in texts if t not in '()').rstrip('uUlL') if texts else ''
            if re.fullmatch(r'0[xX][\da-fA-F]+|[1-9]\d*|0', digits):
                yield name, int(digits, 0)


def _is_on(token, line):
    return isinstance(token, Token) and token.line == line and token.exact
