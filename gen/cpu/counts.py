"""Counts the steps of loops whose headers contain only numbers, and tells whether a number is small."""

import re

from cpu.comparisons import MIRRORED
from cpu.statements import LOOPS

# Most steps, and most tokens after unrolling, of a loop that compilers should unroll.
_MOST_STEPS, MOST_TOKENS = 32, 1024
_MOST_TERMS = 40


def count_steps(tokens, statement):
    """Returns the number of times that the innermost of nested loops runs its body; 0 if compilers should not unroll
    them."""
    found = 1
    for inner in statement.walk():
        if inner.kind in LOOPS:
            texts = [[t.text for t in tokens[begin:end]] for begin, end in inner.parts]
            found *= _count_of_loop(texts) if inner.kind == 'for' else 0
    return found if found <= _MOST_STEPS and found * (statement.end - statement.begin) <= MOST_TOKENS else 0


def _count_of_loop(header):
    """Returns the number of steps of a loop with numbers, such as for (int k = -4; k <= 4; k++); 0 for other loops."""
    first, condition, step = header
    equals = first.index('=') if '=' in first else 0
    name = first[equals - 1] if equals > 0 else ''
    if not name or condition[:1] != [name] or step not in (
            [name, '+', '+'], ['+', '+', name], [name, '+', '=', '1']):
        return 0
    begin, end = evaluate(first[equals + 1:]), evaluate(condition[2:])
    return max(end - begin + (condition[1] == '<='), 0) if condition[1:2] in (['<'], ['<=']) and not (
        begin is None or end is None) else 0


def evaluate(texts):
    """Returns the value of a sum of products of small integers, which is a usual expansion of a macro; None for
    others."""
    if not 0 < len(texts) <= _MOST_TERMS or not all(re.fullmatch(r'0|[1-9]\d{0,6}|[-+*()]', t) for t in texts):
        return None
    try:
        return int(eval(' '.join(texts), {'__builtins__': {}}))
    except (SyntaxError, TypeError):
        return None


def has_few_steps(tokens, statement):
    """True for a loop of few steps with only numbers in its header, such as for (int k = 16; k > 0; k /= 2), that
    contains no other loop."""
    header = [t.text for begin, end in statement.parts for t in tokens[begin:end]]
    step = [t.text for t in tokens[slice(*statement.parts[2])]]
    if len(header) < 3 or not step or not all(
            t in (header[1], header[0], 'warpSize') or not t.isidentifier() for t in header):
        return False
    changes = step[0] == header[1] and (step[1:3] in (['/', '='], ['*', '=']) and step[3:] == ['2'] or
                                        step[1:] in (['>', '>=', '1'], ['<', '<=', '1']))
    return changes and statement.end - statement.begin <= MOST_TOKENS // 8 and not any(
        s.kind in LOOPS for s in statement.walk() if s is not statement)


def counts_by_number(tokens, statement):
    """True if a loop counts up or down to a limit, and the step is a number."""
    _, (first, last), step = statement.parts
    texts = [tokens[at].text for at in range(*step)]
    signs = [t for t in texts if t in '+-']
    relations = [tokens[at].text for at in range(first, last) if tokens[at].text in MIRRORED]
    if len(texts) == 3 and len(signs) == 2:
        variable = texts[2 if texts[0] in '+-' else 0]
    elif len(texts) == 4 and texts[2] == '=' and re.fullmatch(r'0*[1-9]\d*[uUlL]*', texts[3]):
        variable = texts[0]
    else:
        return False
    if len(set(signs)) != 1 or len(relations) != 1:
        return False
    limits = {'+': '<', '-': '>'}[signs[0]]
    relation = relations[0] if tokens[first].text == variable else MIRRORED[relations[0]] \
        if tokens[last - 1].text == variable and tokens[last - 2].text == relations[0] else ''
    return relation[:1] == limits and (tokens[first].text != variable or tokens[first + 1].text == relations[0])


def is_small(texts):
    """True if the texts are a number of at most 1024, warpSize, or warpSize / 2."""
    return len(texts) == 1 and (texts[0] == 'warpSize' or bool(re.fullmatch(
        r'([1-9]\d{0,2}|0|10[01]\d|102[0-4])[uU]?', texts[0]))) or \
        len(texts) == 3 and texts[1] == '/' and texts[2] == '2' and is_small(texts[:1])
