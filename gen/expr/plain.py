"""Spells the tree of an expression with as few parentheses as possible."""

_BY_PRECEDENCE = (('OR', '||'), ('AND', '&&'), ('BIT_OR', '|'), ('BIT_XOR', '^'), ('BIT_AND', '&'), ('CHAIN', ''),
                  ('SHL', '<<'), ('SHR', '>>'), ('ADD', '+'), ('SUB', '-'), ('MUL', '*'), ('DIV', '/'), ('MOD', '%'))
_SPELLED = dict(_BY_PRECEDENCE)
# SELECT binds weakest; operators of equal precedence have the same number.
_LEVELS = {kind: {'SHR': 7, 'ADD': 8, 'SUB': 8, 'MUL': 9, 'DIV': 9, 'MOD': 9}.get(kind, number + 1)
           for number, (kind, _) in enumerate(_BY_PRECEDENCE)}
_SIGNS = {'NEG': '-', 'NOT': '!', 'BIT_NOT': '~'}
_UNARY, _PRIMARY = 10, 11


def spell_tree(node, least=0):
    """Spells a tree, in parentheses if it binds weaker than `least`."""
    level, text = _spell_node(node)
    return text if level >= least else f'({text})'


def _spell_node(node):
    kind, parts = node.kind, node.parts
    if kind == 'SELECT':
        return 0, f'{spell_tree(parts[0], 1)} ? {spell_tree(parts[1], 1)} : {spell_tree(parts[2])}'
    if kind == 'CHAIN':
        terms, relations = parts
        level = _LEVELS[kind]
        return level, spell_tree(terms[0], level + 1) + ''.join(
            f' {relation.text} {spell_tree(term, level + 1)}' for relation, term in zip(relations, terms[1:]))
    if kind in ('SHL', 'SHR'):      # parentheses for clarity, since few know that sums bind more strongly
        return _LEVELS[kind], f'{spell_tree(parts[0], _UNARY)} {_SPELLED[kind]} {spell_tree(parts[1], _UNARY)}'
    if kind in _LEVELS:
        level = _LEVELS[kind]
        return level, f'{spell_tree(parts[0], level)} {_SPELLED[kind]} {spell_tree(parts[1], level + 1)}'
    if kind in _SIGNS:
        return _UNARY, _SIGNS[kind] + spell_tree(parts[0], _PRIMARY)
    return _PRIMARY, _spell_primary(node)


def _spell_primary(node):
    kind, parts = node.kind, node.parts
    if kind in ('MIN', 'MAX'):
        return f'{kind.lower()}({spell_tree(parts[0])}, {spell_tree(parts[1])})'
    if kind in ('SIZEOF', 'IS_INTEGRAL'):
        words, stars = parts
        return f'{kind.lower()}({" ".join(words)}{" " * bool(stars)}{"*" * stars})'
    if kind == 'NAME':
        return parts[0]
    if kind == 'MEMBER':
        spelled, path, indices = parts
        return f'{spelled}.{path.format(*map(spell_tree, indices))}'
    if kind == 'ORDER':
        return f'{node.token.text}({parts[0].text})'
    if kind == 'ELEMENTS':
        path, indices = parts
        return f'{node.token.text}[:]{"." * bool(path)}{path.format(*map(spell_tree, indices))}'
    return node.token.text
