"""Writes lines of Fortran: comments, and statements with continuation lines."""

import re

_WIDTH = 120


def spell_comment(lines, indent=0):
    return ''.join(f'{" " * indent}! {line}'.rstrip() + '\n' for line in lines)


def fold(statement, indent):
    """Returns a statement with continuation lines. It breaks after commas and before operators, and in longer pieces
    after any space or parenthesis, but never within a literal."""
    lines, current, room = [], ' ' * indent, _WIDTH - 2
    for piece in _split(statement, r', |\) '):
        for part in [piece] if len(piece) <= room - indent - 4 else _split(piece, r' |\('):
            if current.strip() and len(current + part) > room:
                lines.append(current.rstrip() + ' &\n')
                current = ' ' * (indent + 4)
            current += part
    return ''.join(lines) + current.rstrip() + '\n'


def _split(text, ends):
    return re.sub(f"('[^']*')|({ends})", lambda found: found[1] or f'{found[2]}\n', text).split('\n')
