"""Reads the size of a launch: grid, block and shared memory as sums over the kernel's parameters."""

from expr.cxxtypes import builtin, UNREADABLE
from expr.plain import spell_tree
from expr.tree import Node
from suggest.ranges import AXES
from suggest.sums import constant, factor, read_sum, replace_factors
from suggest.terms import named
from tokens.brackets import matching, split_at

MAX_DEFINITIONS = 20    # most names in one expression that are replaced by their definitions


class LaunchReader:
    """Reads one launch. `types`: the types and constants of the file; `constants`: maps a number among the launch's
    template arguments to its parameter; `hosts`: collects names that only the launching function knows, with the words
    of their types if they are integers."""

    def __init__(self, terms, types, kernel, launch, constants):
        self._terms, self._types, self._launch, self._constants = terms, types, launch, constants
        self._params = {p.token.text for p in kernel.params} if launch.arguments is not None else set()
        self._scope = launch.declaration.scope
        self.hosts = {}
        self._values, self._words = {}, {}      # two maps from texts of the launching function to names of parameters
        for param, argument in zip(kernel.params, launch.arguments or []):
            tree = terms.tree(argument)
            if tree and not param.pointer and tree.kind != 'NUMBER':
                self._values.setdefault(spell_tree(read_sum(tree).tree()), param.token.text)
        for param, argument in zip(kernel.template, split_at(launch.template or [], ',')):
            if argument and argument[0].kind == 'identifier':
                table = self._words if param.is_type else self._values
                table.setdefault(' '.join(t.text for t in argument), param.name)

    def dimensions(self, tokens):
        """Returns the sums for x, y and z; None takes the place of an unknown one."""
        return self._dimensions(tokens, self._launch.at, 0) if tokens else [None] * 3

    def size(self, tokens):
        return self._size(tokens, self._launch.at, 0)

    # ---- Dimensions

    def _dimensions(self, tokens, at, depth):
        while tokens and tokens[0].text == '(' and matching(tokens, 0, '(', ')') == len(tokens):
            tokens = tokens[1:-1]
        if depth > MAX_DEFINITIONS or not tokens:
            return [None] * 3
        opening = 1 if tokens[0].text == 'dim3' else 0
        if tokens[opening:] and tokens[opening].text in ('(', '{') and (opening or tokens[0].text == '{'):
            closing = ')' if tokens[opening].text == '(' else '}'
            if matching(tokens, opening, tokens[opening].text, closing) == len(tokens):
                return self._components(split_at(tokens[opening + 1:-1], ','), at, depth)
        name = tokens[0].text
        found = self._launch.scope.find(at, name) if len(tokens) == 1 and tokens[0].kind == 'identifier' else None
        if found and (found.words[-1:] == ['dim3'] or found.words == ['auto'] and not found.is_list):
            members = self._launch.scope.members(at, name) if found.words != ['auto'] else {}
            if found.values is None:
                sums = [None if self._is_parameter(found) else constant(1)] * 3
            elif found.is_list:
                sums = self._components(found.values, found.at, depth + 1)
            else:
                sums = self._dimensions(found.values[0], found.at, depth + 1)
            return [self._size(members[axis], at, depth + 1) if members.get(axis) else
                    None if axis in members else total for axis, total in zip(AXES, sums)]
        return [self._size(tokens, at, depth), constant(1), constant(1)]

    def _is_parameter(self, found):
        tokens = self._launch.scope.tokens
        return found.at + 1 < len(tokens) and tokens[found.at + 1].text in (',', ')', '&')

    def _components(self, parts, at, depth):
        parts = [p for p in parts if p]
        if len(parts) == 1 and self._is_dim3(parts[0], at):
            return self._dimensions(parts[0], at, depth + 1)
        return [self._size(p, at, depth) for p in parts[:3]] + [constant(1)] * (3 - len(parts))

    def _is_dim3(self, tokens, at):
        found = self._launch.scope.find(at, tokens[0].text) if len(tokens) == 1 else None
        return bool(found and found.words[-1:] == ['dim3']) or tokens[0].text == 'dim3'

    # ---- Sums

    def _size(self, tokens, at, depth):
        total = self._terms.sum(tokens) if tokens else None
        return None if total is None else replace_factors(total, lambda tree: self._translate(tree, at, depth))

    def _translate(self, tree, at, depth):
        """Returns the sum over the kernel's names that replaces a factor; None keeps the factor."""
        text = spell_tree(tree)
        if text in self._values:
            return named(self._values[text])
        if tree.kind == 'NAME':
            return self._name(text, at, depth)
        if tree.kind == 'MEMBER':
            return self._member(tree, text, at, depth)
        if tree.kind == 'SIZEOF':
            words, stars = tree.parts
            return factor(Node('SIZEOF', tree.token, [self._words.get(' '.join(words), ' '.join(words))], stars))
        if tree.kind == 'CHAIN':
            terms = [replace_factors(read_sum(t), lambda t: self._translate(t, at, depth)).tree()
                     for t in tree.parts[0]]
            return factor(Node('CHAIN', tree.token, terms, tree.parts[1]))
        if tree.kind in ('NUMBER', 'IS_INTEGRAL', 'ELEMENTS', 'ORDER'):
            return None
        parts = [replace_factors(read_sum(p), lambda t: self._translate(t, at, depth)).tree() for p in tree.parts]
        return read_sum(Node(tree.kind, tree.token, *parts))

    def _name(self, text, at, depth):
        chosen = self._launch.scope.chosen(self._launch.at, text)
        if chosen:
            total = self._size([chosen], at, depth)
            return named(self._constants[total.value]) if total.value in self._constants else total
        value = self._types.constant(self._scope, text)
        found = self._launch.scope.find(at, text)
        if found is None and value is not None and value is not UNREADABLE:
            return None
        if found and found.values and len(found.values) == 1 and depth < MAX_DEFINITIONS and not found.stars:
            hosts, self.hosts = self.hosts, {}
            total = self._size(found.values[0], found.at, depth + 1)
            is_known = total is not None and not self.hosts
            self.hosts = hosts
            if is_known:
                return total
        ctype = builtin(found.words) if found and not found.stars else None
        other = f'host_{text}' if text in self._params else text    # a different parameter has this name
        self.hosts[other] = found.words if ctype and ctype.kind == 'integer' else None
        return named(other)

    def _member(self, tree, text, at, depth):
        root, path, indices = tree.parts
        if root in self._values:
            return factor(Node('MEMBER', tree.token, self._values[root], path, indices))
        found = self._launch.scope.find(at, root)
        if path in AXES and found and depth < MAX_DEFINITIONS:
            token = self._launch.scope.tokens[at]
            total = self._dimensions([type(token)('identifier', root, token.file, token.line, token.column)], at,
                                     depth + 1)[AXES.index(path)]
            if total is not None and (found.words[-1:] == ['dim3'] or found.words == ['auto']):
                return total
        self.hosts[text] = None
        return None


def count_elements(blocks, block):
    """Returns the number of elements whose quotient by the block size, rounded up, is `blocks`; None if `blocks` is no
    such quotient."""
    if blocks is None or block is None or blocks.value is not None:
        return None
    factors = list(blocks.factors.values())
    if len(factors) == 1 and factors[0].kind == 'SELECT':
        sides = [read_sum(part) for part in factors[0].parts[1:]]
        sides.sort(key=lambda s: s.offset)
        if (sides[1] - sides[0]).value == 1 and 'MOD' in _kinds(factors[0].parts[0]):
            return _dividend(sides[0], block)
    if len(factors) == 2 and blocks.offset == 0:
        for one, other in (factors, factors[::-1]):
            if one.kind == 'DIV' and other.kind in ('CHAIN', 'SELECT', 'NOT') and 'MOD' in _kinds(other):
                return _dividend(factor(one), block)
    if len(factors) != 1 or factors[0].kind != 'DIV' or (blocks - factor(factors[0])).value is None:
        return None
    left, right = map(read_sum, factors[0].parts)
    if not right == block:
        return None
    count = left + constant(blocks.offset) * block - block + constant(1)
    if block.value is None:
        return None if set(block.factors) & set(count.factors) else count
    return count if count.offset > -((block.value - 1) // 2) - 1 else None


def _dividend(total, block):
    factors = list(total.factors.values())
    is_quotient = len(factors) == 1 and factors[0].kind == 'DIV' and read_sum(factors[0].parts[1]) == block
    return read_sum(factors[0].parts[0]) if is_quotient else None


def _kinds(tree):
    parts = tree.parts[0] if tree.kind == 'CHAIN' else tree.parts
    return {tree.kind}.union(*(_kinds(part) for part in parts if isinstance(part, Node)))
