"""Finds brackets, list elements and attributes in lists of tokens."""

# Words that precede a parenthesis without being function names.
ATTRIBUTES = {'__launch_bounds__', '__attribute__', '__attribute', '__align__', '__builtin_align__', 'alignas',
              '_Alignas', 'decltype', '__declspec', '__maxnreg__', '__cluster_dims__', '__block_size__', 'noexcept',
              'explicit', 'requires', 'throw', '__typeof__', 'typeof', '__nv_pure__', 'static_assert',
              '_Static_assert'}
# Specifiers that do not belong to a type.
SPECIFIERS = {'static', 'extern', 'inline', 'constexpr', 'register', 'typename', '__restrict__', '__restrict',
               '__grid_constant__', '__device__', '__constant__', '__managed__', '__host__', 'mutable', 'thread_local',
               '__extension__', '__inline__', '__forceinline__', '__noinline__'}


def is_shift(tokens, at):
    """True if << is at `at`. It is two tokens, because >> may close two template lists."""
    return (at + 1 < len(tokens) and tokens[at].text == '<' == tokens[at + 1].text and
            tokens[at + 1].column <= tokens[at].column + 1 and tokens[at + 1].line == tokens[at].line)


def is_update(texts):
    """True if texts begin with an operator that computes a variable's new value from the old one: ++, +=, <<=."""
    return (texts[:2] in (['+', '+'], ['-', '-'], ['<', '<='], ['>', '>=']) or
            texts[1:2] == ['='] and texts[0] in ('+', '-', '*', '/', '%', '&', '|', '^'))


def _is_less(tokens, at):
    """True if < inside template brackets is a comparison, because it follows a value or a constant that is declared
    there."""
    before = tokens[at - 1]
    if before.kind == 'number' or before.text in (')', ']', 'true', 'false'):
        return True
    return before.kind == 'identifier' and any(
        name.text == before.text and after.text in (',', '=', '>') and of.kind == 'identifier' and
        of.text not in ('typename', 'class')
        for of, name, after in zip(tokens[:at], tokens[1:at], tokens[2:at]))


def matching(tokens, at, opening, closing):
    """Returns the index after the closing bracket of the bracket at `at`; the end if nothing closes it."""
    depth, parens = 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if opening == '<' and depth and is_shift(tokens, at):
            at += 2
            continue
        if opening == '<' and depth and text == '<' and _is_less(tokens, at):
            at += 1
            continue
        if text == '(' and opening != '(':
            parens += 1
        elif text == ')' and opening != '(':
            parens -= 1
        elif text == opening and parens == 0:
            depth += 1
        elif text == closing and parens == 0:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def split_at(tokens, separator, opening='([{', closing=')]}'):
    """Splits tokens at separators outside of all brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        if token.kind == 'punctuation':
            if token.text in opening:
                depth += 1
            elif token.text in closing:
                depth -= 1
            elif token.text == separator and depth == 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts


def without_attributes(tokens):
    """Returns a parameter's tokens without attributes and specifiers."""
    plain, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == '[' and at + 1 < len(tokens) and tokens[at + 1].text == '[':
            at = matching(tokens, at, '[', ']')
        elif token.text in ATTRIBUTES and at + 1 < len(tokens) and tokens[at + 1].text == '(':
            at = matching(tokens, at + 1, '(', ')')
        else:
            if token.text not in SPECIFIERS or token.text == 'typename':
                plain.append(token)
            at += 1
    return plain


_CLOSING = {'(': ')', '[': ']', '{': '}'}


def is_even(texts):
    """True if texts have as many opening as closing brackets. Brackets in strings count, so uneven texts may be
    correct."""
    return all(sum(t.count(o) for t in texts) == sum(t.count(c) for t in texts) for o, c in _CLOSING.items())


def unclosed(tokens):
    """Returns the unclosed brackets as (token, wrong closing token or None). Surplus closing brackets are ignored,
    since compilers report them well."""
    brackets = [t for t in tokens if t.kind == 'punctuation' and t.text in '()[]{}']
    missing = {o: sum(t.text == o for t in brackets) - sum(t.text == c for t in brackets) for o, c in _CLOSING.items()}
    opened = []
    for token in brackets:
        if token.text in _CLOSING:
            opened.append(token)
        elif opened and _CLOSING[opened[-1].text] == token.text:
            opened.pop()
        elif opened and missing[opened[-1].text] > 0:
            return [(opened[-1], token)]
    return [(token, None) for token in opened if missing[token.text] > 0]
