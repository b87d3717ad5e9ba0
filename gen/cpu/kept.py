"""Decides which variables regions can keep in memory. A kept variable has an element for each thread of a block."""

from cpu.refused import Refused
from tokens.brackets import ATTRIBUTES


def check_kept(tokens, variable, variables, meanings):
    """Raises Refused if a variable cannot be kept. `variables`: the Variables of its kernel."""
    is_class = not variable.is_scalar and not variable.is_auto
    starts = variable.value and tokens[variable.value[0]].text
    if any(tokens[at].text == '[' and not variables.ends_value(at - 1) for at in range(*variable.value or (0, 0))):
        raise Refused(variable.token, 'has a function as its value and lives across a barrier')
    if any(a.text == '[' and b.text == ']' for a, b in zip(variable.declarator, variable.declarator[1:])):
        raise Refused(variable.token, 'has an unknown number of elements and lives across a barrier')
    if variable.is_reference or variable.is_volatile or variable.is_static:
        raise Refused(variable.token, 'is a reference, volatile or static, and lives across a barrier')
    if variable.is_auto and (variable.is_array or variable.value is None or starts in ('[', '{', '(')):
        raise Refused(variable.token, 'has an unknown type and lives across a barrier')
    if is_class and (any(t.text == '<' for t in variable.types) or meanings.has_copies):
        raise Refused(variable.token, 'is of a class template, or of one of several classes in a file with '
                      'destructors, and lives across a barrier')
    if any(t.text in ATTRIBUTES for t in variable.types):
        raise Refused(variable.token, 'has attributes and lives across a barrier')


def is_set_once(variable, home, places, loops):
    """True if the region that declares a variable gives it no value, and only one other region uses it. `home`: the
    region of the declaration; `places`: all regions that use the variable; `loops`: maps the beginning of each loop
    around regions to its end."""
    others = list(places - {home})
    if home is None or len(others) != 1 or not variable.is_unset(home.begin, home.end):
        return False
    return all(begin <= home.begin < end or not begin <= others[0].begin < end for begin, end in loops.items())


def is_hidden(tokens, variable, region, variables):
    """True if a region writes a variable, and its name means another variable at the end of the region."""
    return any(region.begin <= at < region.end for at in variable.writes) and any(
        v is not variable and v.name == variable.name and v.statement is not None and
        v.statement.kind == 'declaration' and region.begin <= v.statement.begin < region.end and
        sum((t.text == '{') - (t.text == '}') for t in tokens[region.begin:v.statement.begin]) == 0 for v in variables)
