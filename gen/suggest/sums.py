"""Represents sizes of launches, indices and extents as sums of products of names with integer coefficients.

A factor is the tree of a name, a member, or an operation that a sum cannot hold, such as a division. Sums are equal if
their texts are equal; the order of additions and multiplications in the source does not matter."""

from expr.evaluate import calculate
from expr.plain import spell_tree
from expr.tree import Node
from tokens.lexer import Token

_FUNCTIONS = ('MIN', 'MAX')


def _node(kind, *parts):
    return Node(kind, Token('identifier', kind.lower(), '', 0, 0), *parts)


def number(value):
    """Returns the tree of an integer."""
    tree = Node('NUMBER', Token('number', str(abs(value)), '', 0, 0))
    return _node('NEG', tree) if value < 0 else tree


def name(text):
    """Returns the tree of a name."""
    return Node('NAME', Token('identifier', text, '', 0, 0), text)


class Sum:
    """A sum. `terms` maps the sorted texts of a product's factors to its coefficient and factors; none is 0."""

    def __init__(self, terms):
        self.terms = {key: term for key, term in terms.items() if term[0]}

    def __add__(self, other):
        terms = dict(self.terms)
        for key, (count, factors) in other.terms.items():
            terms[key] = (terms[key][0] + count if key in terms else count, factors)
        return Sum(terms)

    def __neg__(self):
        return Sum({key: (-count, factors) for key, (count, factors) in self.terms.items()})

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        total = constant(0)
        for count, factors in self.terms.values():
            for times, more in other.terms.values():
                both = factors + more
                total += Sum({tuple(sorted(map(spell_tree, both))): (count * times, both)})
        return total

    def __eq__(self, other):
        return isinstance(other, Sum) and self._counts() == other._counts()

    def _counts(self):
        return {key: count for key, (count, _) in self.terms.items()}

    @property
    def value(self):
        """The value of a sum without factors; None for other sums."""
        return None if any(self.terms) else self.terms.get((), (0,))[0]

    @property
    def offset(self):
        """The term without factors."""
        return self.terms.get((), (0,))[0]

    @property
    def factors(self):
        """Maps the texts of all factors to the factors."""
        return {spell_tree(factor): factor for _, factors in self.terms.values() for factor in factors}

    @property
    def product(self):
        """The key of a sum that is a single product with the coefficient 1; None for other sums."""
        return next(iter(self.terms)) if [t[0] for t in self.terms.values()] == [1] else None

    def tree(self):
        """Returns the tree of the sum: products with positive coefficients come first, and the constant last."""
        tree = None
        for count, factors in sorted(self.terms.values(), key=lambda term: (term[0] < 0, not term[1])):
            product = None if factors and abs(count) == 1 else number(abs(count))
            for factor in factors:
                product = factor if product is None else _node('MUL', product, factor)
            if tree is None:
                tree = product if count > 0 else _node('NEG', product)
            else:
                tree = _node('ADD' if count > 0 else 'SUB', tree, product)
        return tree or number(0)

    def __str__(self):
        return spell_tree(self.tree())


def constant(value):
    return Sum({(): (value, ())})


def factor(tree):
    """Returns the sum of one factor."""
    return Sum({(spell_tree(tree),): (1, (tree,))})


def divide(left, right):
    """Returns the quotient as C rounds it. The division is exact if the factors of `right` are factors of `left`."""
    if left.value is not None and right.value:
        return constant(calculate('DIV', left.value, right.value))
    exact = divide_exactly(left, right)
    return exact if exact is not None else factor(_node('DIV', left.tree(), right.tree()))


def divide_exactly(left, right):
    """Returns the quotient of a division that never has a remainder; None if it may have one."""
    if len(right.terms) != 1:
        return None
    (key, (times, _)), = right.terms.items()
    terms = {}
    for count, factors in left.terms.values():
        rest = {}
        for tree in factors:
            rest.setdefault(spell_tree(tree), []).append(tree)
        if count % times or any(not rest.get(text) or not rest[text].pop() for text in key):
            return None
        factors = tuple(tree for tree in factors if any(tree is kept for trees in rest.values() for kept in trees))
        terms[tuple(sorted(map(spell_tree, factors)))] = (count // times, factors)
    return Sum(terms)


def read_sum(node):
    """Returns the sum of a tree. An operation that a sum cannot hold becomes a factor, whose operands are sums."""
    kind, parts = node.kind, node.parts
    if kind == 'NUMBER':
        text = node.token.text.rstrip('uUlL').replace("'", '')
        try:
            return constant(int('0o' + text if text.isdigit() and text[0] == '0' else text, 0))
        except ValueError:
            return factor(node)
    if kind == 'CHAIN':
        return factor(Node(kind, node.token, [read_sum(term).tree() for term in parts[0]], parts[1]))
    if kind not in ('ADD', 'SUB', 'NEG', 'MUL', 'DIV', 'MOD', 'SHL', 'SHR', 'SELECT', 'AND', 'OR', 'NOT', 'BIT_AND',
                    'BIT_OR', 'BIT_XOR', 'BIT_NOT', *_FUNCTIONS):
        return factor(node)
    sums = [read_sum(part) for part in parts]
    if kind == 'NEG':
        return -sums[0]
    if kind in ('ADD', 'SUB', 'MUL'):
        return {'ADD': Sum.__add__, 'SUB': Sum.__sub__, 'MUL': Sum.__mul__}[kind](*sums)
    if kind == 'DIV':
        return divide(*sums)
    values = [s.value for s in sums]
    if len(values) == 2 and None not in values and kind not in ('AND', 'OR'):
        result = calculate(kind, *values)
        if result is not None:
            return constant(result)
    if kind in ('SHL', 'SHR') and values[1] is not None and 0 <= values[1] < 63:
        power = constant(1 << values[1])
        return sums[0] * power if kind == 'SHL' else divide(sums[0], power)
    return factor(Node(kind, node.token, *(s.tree() for s in sums)))


def replace_factors(total, replace):
    """Returns the sum with every factor replaced by the sum that `replace` returns for it; None keeps a factor."""
    result = constant(0)
    for count, factors in total.terms.values():
        product = constant(count)
        for tree in factors:
            new = replace(tree)
            product *= factor(tree) if new is None else new
        result += product
    return result
