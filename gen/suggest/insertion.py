"""Inserts annotations into a source file without changing its other bytes."""

import os
import re

from base.diagnostics import GeneratorError
from base.regular import open_regular
from base.text import write_whole

WIDTH = 100
# A part of a clause up to a comma or a semicolon outside of comments.
_PIECE = re.compile(r'(?:/\*.*?\*/|[^,;])+[,;]?')


def spell_pragmas(proposal):
    """Returns the lines of an annotation, folded between clauses and, if a clause is too long, after commas."""
    return _fold('#pragma cf kernel', proposal.clauses) + (
        _fold('#pragma cf', [proposal.instances]) if proposal.instances else [])


def _fold(begin, clauses):
    lines, current = [], begin
    for clause in clauses:
        is_long = len(clause) > WIDTH - 6
        for piece in map(str.strip, _PIECE.findall(clause)) if is_long else [clause]:
            if len(current) + 1 + len(piece) > WIDTH - 2:
                lines.append(current + ' \\')
                current = '   '
            current += ' ' + piece
    return lines + [current]


def insert(path, proposals):
    """Writes annotations above the heads of their kernels, atomically. Returns pairs of a line of the old file and the
    number of lines inserted above it."""
    with open_regular(path, 'rb') as file:
        data = file.read()
    lines, added = data.split(b'\n'), []
    for proposal in sorted(proposals, key=lambda p: p.kernel.declaration.head[0].line, reverse=True):
        token = proposal.kernel.declaration.head[0]
        line = lines[token.line - 1] if token.line <= len(lines) else b''
        if token.exact and token.text.encode() not in line:
            raise GeneratorError(f'{path}:{token.line}: {proposal.kernel.token.text} is in another line than the '
                                 'preprocessor says; remove the #line directives')
        end = b'\r' if line.endswith(b'\r') else b''
        mark = b'\xef\xbb\xbf' if token.line == 1 and line.startswith(b'\xef\xbb\xbf') else b''
        column = len(mark) + len(line[len(mark):].decode(errors='replace')[:token.column - 1].encode(errors='replace'))
        if not token.exact or not line[len(mark):column].strip():
            column = len(mark)
        blanks = line[len(mark):len(line) - len(line[len(mark):].lstrip()) if not mark else len(mark)]
        indent = blanks if column == len(mark) else b''
        texts = [indent + text.encode() + end for text in spell_pragmas(proposal)]
        if column > len(mark):
            texts = [line[:column] + end, *texts, line[column:]]
        else:
            texts = [mark + texts[0], *texts[1:], line[len(mark):]]
        lines[token.line - 1:token.line] = texts
        added.append((token.line, len(texts) - 1))
    try:
        write_whole(path, b'\n'.join(lines))
    except OSError as error:
        raise GeneratorError(f'cannot write {path}: {error.strerror}') from error
    return added


def check_writable(path, is_system):
    """Refuses to change a system header, which other programs use, and a read-only file, even if the user is root."""
    if is_system:
        raise GeneratorError(f'{path}: --write changes no system header; leave it out and copy the lines, or find the '
                             'header with -I instead of -isystem')
    if not os.stat(path).st_mode & 0o222 or not os.access(path, os.W_OK):
        raise GeneratorError(f'{path}: the file is read-only; make it writable, or leave out --write and copy '
                             'the lines')
