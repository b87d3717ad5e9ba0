"""Finds classes whose objects only serve as functions: classes without data that have one operator().

    Max<T> op; v = op(v, w);        v = Max<T>()(v, w);

A kernel's objects of such classes give way to temporary objects, whose calls `expand` inlines like those of
functions."""

from declare.classdecl import split_members
from tokens.brackets import matching
from tokens.lexer import Token

_ACCESS = {'public', 'private', 'protected'}
_TEMPORARIES = (['(', ')'], ['{', '}'])


def find_call_operator(declaration):
    """Returns the Declaration of a class's operator(); None if the class has data, bases, or other functions that need
    an object, or if its operator() may change more than its result."""
    if not declaration.is_class or declaration.has('enum') or declaration.has('typedef') or declaration.tail or \
            ':' in {t.text for t in declaration.head}:
        return None
    found, others = [], set()
    for _, _, member in split_members(declaration.body):
        is_access = len(member.head) == 1 and member.head[0].text in _ACCESS
        if not is_access and (member.function is None or member.name != 'operator' and not member.has('static')):
            return None
        if member.name == 'operator':
            found.append(member)
        else:
            others.add(member.name)
    if len(found) != 1 or not found[0].body or not others.isdisjoint(t.text for t in found[0].body):
        return None
    operator, at = found[0], found[0].function
    texts = [t.text for t in operator.head]
    end = matching(operator.head, at + 3, '(', ')') if texts[at + 1:at + 4] == ['(', ')', '('] else at
    is_template = 'template' in (texts[0], declaration.head[0].text)
    if 'const' not in texts[end:] or is_template and texts[0] == declaration.head[0].text or any(
            not {'*', '&&'}.isdisjoint(words) or '&' in words and 'const' not in words
            for words in ({t.text for t in p} for p in operator.parameters)):
        return None
    return operator


def find_functors(declarations, scope):
    """Returns a map from the names of such classes, which code in the namespace `scope` can use, to their declaration
    and their operator()."""
    found = {}
    for declaration in declarations:
        names = set(declaration.names) if declaration.is_class else ()
        operator = find_call_operator(declaration) if len(names) == 1 else None
        if operator is not None and tuple(declaration.scope) in ((), tuple(scope)) and sum(
                not names.isdisjoint(d.names) for d in declarations) == 1:
            found[next(iter(names))] = (declaration, operator)
    return found


def end_of_type(tokens, at):
    """Returns the place after a class's name at `at` and after its template arguments."""
    is_template = [t.text for t in tokens[at + 1:at + 2]] == ['<']
    return matching(tokens, at + 1, '<', '>') if is_template else at + 1


def find_temporary(tokens, begin, end, functors):
    """Returns the words of the type if the tokens from `begin` to `end` are a temporary object of a class in
    `functors`; otherwise None."""
    if begin >= end or tokens[begin].text not in functors:
        return None
    behind = end_of_type(tokens, begin)
    is_temporary = [t.text for t in tokens[behind:end]] in _TEMPORARIES
    return [t.text for t in tokens[begin:behind]] if is_temporary else None


def replace_objects(tokens, statements, variables, functors, inlined):
    """Returns the tokens of a body in which temporary objects take the place of a variable whose class is in
    `functors`; None if it has no such variable. `inlined`: names of functions whose calls may be inlined."""
    for statement in (s for t in statements for s in t.walk() if s.kind == 'declaration'):
        declared = variables.declared_by(statement)
        words = _find_type(tokens, declared[0], functors) if len(declared) == 1 else None
        if words is None or not all(_is_use(tokens, at, variables, inlined) for at in declared[0].uses):
            continue
        found, places = [], set(declared[0].uses)
        for at, token in enumerate(tokens):
            if at in places:
                found += [Token('identifier' if w[0].isalpha() or w[0] == '_' else 'number' if w[0].isdigit() else
                                'punctuation', w, token.file, token.line, token.column, False)
                          for w in (*words, '(', ')')]
            elif not statement.begin <= at < statement.end:
                found.append(token)
            elif at == statement.end - 1:
                found.append(token)         # the semicolon, since the declaration may be the only statement of a loop
        return found
    return None


def _find_type(tokens, variable, functors):
    """Returns the words of the class of a variable that is an object of a class in `functors`; None for others."""
    types = [t for t in variable.types if t.text not in ('const', 'constexpr')]
    if len(variable.declarator) > 1 or not types:
        return None
    if variable.is_auto:
        return find_temporary(tokens, *variable.value, functors) if len(types) == 1 and variable.value else None
    if types[0].text not in functors or end_of_type(types, 0) < len(types):
        return None
    words = [t.text for t in types]
    given = [t.text for t in tokens[slice(*variable.value)]] if variable.value else ['{', '}']
    return words if given == ['{', '}'] or given[:-2] == words and given[-2:] in _TEMPORARIES else None


def _is_use(tokens, at, variables, inlined):
    """True if the object whose name stands at `at` is called, or is an argument of a function in `inlined`."""
    if tokens[at + 1].text == '(':
        return True
    if tokens[at - 1].text not in ('(', ',') or tokens[at + 1].text not in (',', ')'):
        return False
    name = variables.find_opening(at) - 1
    depth = 0
    while name > 0 and (depth or tokens[name].text == '>'):
        depth += (tokens[name].text == '>') - (tokens[name].text == '<')
        name -= 1
    return tokens[name].text in inlined
