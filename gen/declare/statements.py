"""Reads statements from tokens: where a statement ends, the names that it assigns, and its declarators."""

from expr.cxxtypes import WORDS
from tokens.brackets import is_update, matching

# First words of statements that never continue with the next statement.
LEAVES = {'return', 'break', 'continue', 'goto'}
_SPECIFIERS = {'const', 'static', 'volatile', 'register', 'constexpr', '__shared__', 'extern', 'unsigned', 'signed',
               '__restrict__', '__restrict', 'struct', 'typename', 'inline', 'long', 'short', '__device__'}
_ATTRIBUTES = {'alignas', '__align__', '__attribute__', '__builtin_align__'}


def end_of_name(tokens, at):
    """Returns the index after a name with its namespaces."""
    at += 1
    while at < len(tokens) and (tokens[at].text == '::' or tokens[at - 1].text == '::'):
        at += 1
    return at


def end_of_statement(tokens, at):
    """Returns the index after a statement."""
    around = []         # words of the enclosing statements whose bodies end with this statement
    while True:
        text = tokens[at].text if at < len(tokens) else ''
        if text in ('if', 'for', 'while', 'switch'):
            around.append(text)
            opening = next((i for i in range(at, len(tokens)) if tokens[i].text == '('), len(tokens) - 1)
            at = matching(tokens, opening, '(', ')')
            continue
        if text == 'do':
            around.append(text)
            at += 1
            continue
        at = matching(tokens, at, '{', '}') if text == '{' else end_of_line(tokens, at)
        while around:
            word = around.pop()
            if word == 'if' and [t.text for t in tokens[at:at + 1]] == ['else']:
                at += 1
                break
            if word == 'do':
                at = end_of_line(tokens, at)
        else:
            return at


def end_of_line(tokens, at):
    """Returns the index after the next semicolon outside of brackets."""
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == 'punctuation':
            depth += (token.text in ('(', '[', '{')) - (token.text in (')', ']', '}'))
            if token.text == ';' and depth <= 0:
                return at + 1
        at += 1
    return at


def assigned(tokens):
    """Returns the names that tokens assign, increment or decrement."""
    found = []
    for at, token in enumerate(tokens):
        if token.kind != 'identifier' or (at and tokens[at - 1].text in ('.', '->')):
            continue
        behind = [t.text for t in tokens[at + 1:at + 3]]
        before = [t.text for t in tokens[max(at - 2, 0):at]]
        if (behind[:1] == ['='] and not _is_declared(tokens, at) or is_update(behind) or
                before in (['+', '+'], ['-', '-'])):
            found.append(token.text)
    return found


def _is_declared(tokens, at):
    before = tokens[at - 1] if at else None
    return before is not None and (before.kind == 'identifier' and before.text not in ('else', 'do', 'return') or
                                   before.text in ('*', '&', '>'))


def _skip(tokens, at, words):
    """Returns the index after specifiers and attributes."""
    while at < len(tokens) and (tokens[at].text in words or tokens[at].text in _ATTRIBUTES):
        has_value = [t.text for t in tokens[at + 1:at + 2]] == ['('] and tokens[at].text in _ATTRIBUTES
        at = matching(tokens, at + 1, '(', ')') if has_value else at + 1
    return at


def begin_of_declarators(tokens):
    """Returns the index of the first declarator if tokens are a declaration; else None."""
    at = _skip(tokens, 0, _SPECIFIERS)
    has_type = at > 0 and any(t.text in WORDS for t in tokens[:at])
    if at < len(tokens) and tokens[at].kind == 'identifier' and not (has_type and tokens[at].text not in WORDS):
        if tokens[at].text in LEAVES or tokens[at].text in ('delete', 'throw', 'asm', 'else'):
            return None
        end = end_of_name(tokens, at)
        if end < len(tokens) and tokens[end].text == '<':
            end = matching(tokens, end, '<', '>')
        while end < len(tokens) and tokens[end].text == '::' or end < len(tokens) and tokens[end - 1].text == '::':
            end += 1
        at = end
    elif not has_type:
        return None
    begin = at = _skip(tokens, at, _SPECIFIERS | set(WORDS))
    while at < len(tokens) and tokens[at].text in ('*', '&', 'const', '__restrict__', '__restrict'):
        at += 1
    if at >= len(tokens) or tokens[at].kind != 'identifier':
        return None
    behind = tokens[at + 1].text if at + 1 < len(tokens) else ''
    return begin if behind in ('', '=', ',', '[', '(', '{') else None
