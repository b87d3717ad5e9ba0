"""Finds integer variables that each region computes again, instead of storing an element per thread. The value of such
a variable depends only on indices and on values that all threads share, and may change only directly after its
declaration:

    int west = x - 1;
    west = west < 0 ? 0 : west;"""

_PLAIN_OPERATORS = set('+-*/%&|^()<>.!~?:,') | {'::', '==', '!=', '<=', '>=', '&&', '||'}


def find_changes(statements, variables):
    """Returns a map from a variable to the statements that change it, if all of them stand in the block of its
    declaration. Each statement is an assignment, or an `if` that contains only an assignment."""
    found, pending = {}, [statements]
    while pending:
        declared = set()
        for statement in pending.pop():
            if statement.kind == 'declaration':
                declared |= {v for v in variables.declared_by(statement) if v.writes and v.value is not None and
                             v.is_integer and v.escape is None and not (v.is_static or v.is_shared or v.is_volatile)}
            change = _find_change(statement)
            if variables.find_value(change) and variables.of[change.begin] in declared:
                found.setdefault(variables.of[change.begin], []).append((statement, change))
            pending += [statement.children] if statement.kind == 'block' else [
                inner.children if inner.kind == 'block' else [inner] for inner in statement.children]
    return {variable: [statement for statement, _ in changes] for variable, changes in found.items()
            if {change.begin for _, change in changes} == set(variable.writes)}


def _find_change(statement):
    """Returns the only statement in the branch of an `if`; a statement of another kind is returned unchanged."""
    if statement.kind != 'if' or len(statement.children) > 1:
        return statement
    return statement.children[0].unwrap()


def places_of(variable, changes):
    """Returns the places of the expressions from which a variable is computed. `changes`: result of find_changes()."""
    found = [variable.value]
    for statement in changes.get(variable, ()):
        inner = _find_change(statement)
        found += [*(statement.parts if inner is not statement else ()), (inner.begin + 2, inner.end - 1)]
    return found


class Again:
    """Decides which variables of one kernel are computed again. `changes`: result of find_changes(); `declared`: maps a
    name to the number of variables with this name; `home`: maps a variable to the region that declares it; `cheap`: the
    variables that are already known to be computed again."""

    def __init__(self, tokens, variables, layout, changes, declared, home, cheap):
        self._tokens, self._variables, self._layout, self._changes = tokens, variables, layout, changes
        self._declared, self._home, self._cheap = declared, home, cheap

    def is_cheap(self, variable, is_advanced):
        """True if a variable can be computed again in each region. `is_advanced`: all threads add the same to it."""
        changes, home = self._changes.get(variable, ()), self._home[variable]
        if variable.writes and not is_advanced and not (changes and home is not None and all(
                home.begin <= s.begin and s.end <= home.end for s in changes)):
            return False
        if variable.value is None or not variable.is_integer or self._tokens[variable.value[0] - 1].text != '=':
            return False
        # A compiler may contract float operations in one region and not in another, so that the values would differ.
        return all(not self._variables.may_be_float(begin, end) and all(
            self._is_plain(at, variable) for at in range(begin, end)) for begin, end in places_of(
                variable, self._changes if changes else {}))

    def _is_plain(self, at, variable):
        """True if the token at `at`, in the value of a variable, has the same meaning and the same value in other
        regions."""
        token, used = self._tokens[at], self._variables.of.get(at)
        if token.kind == 'identifier' and self._tokens[at - 1].text not in ('.', '->') and (
                self._declared.get(token.text, 0) > (used is not None) or self._layout.is_data(at)):
            return False
        if token.kind == 'punctuation' and (token.text not in _PLAIN_OPERATORS or
                                            token.text in ('*', '&') and not self._variables.ends_value(at - 1)):
            return False
        if token.kind == 'identifier' and used is None and self._tokens[at + 1].text == '(' and \
                token.text not in ('min', 'max') or token.kind == 'string':
            return False
        if used is None or used is variable:
            return True
        changes = self._changes.get(used, ())
        # All additions to `used` follow the place that reads its value.
        is_advanced = not changes and used in self._cheap and self._home[used] is self._home.get(variable) and all(
            place > at for place in used.writes)
        # All assignments to `used`, which the block makes, precede the place that reads its value.
        is_over = self._is_of_block(used) and max(used.writes, default=at) < at
        return not (used.is_shared or used.is_array or used.writes and not (
            is_advanced or is_over or changes and changes[-1].end <= at)) and (
                used not in self._home or used in self._cheap and used.number < variable.number)

    def _is_of_block(self, variable):
        """True for a variable whose declaration the block runs, and not a region's threads."""
        begin = 0 if variable.statement is None else variable.statement.begin
        return variable not in self._home and variable not in self._layout.varying and not any(
            region.begin <= begin < region.end for region in self._layout.regions)
