"""Finds the template arguments with which a file launches a kernel."""

import re

from suggest.definitions import Scope, tokens_of
from suggest.terms import template_names, Terms
from tokens.brackets import matching, split_at
from tokens.lexer import Token, tokenize

MAX_CALLERS = 4         # longest chain of host templates that call one another


class Instances:
    """The instances of one file's kernels. `declarations`: those of the file."""

    def __init__(self, declarations, types):
        self._declarations, self._types = declarations, types

    def find(self, kernel, launch):
        """Returns lists of template arguments, each a list of texts; an unknown argument is None."""
        count = len(kernel.template)
        given = self._given(launch.template, launch.scope, launch.at, launch.declaration) if launch.template else []
        if len(given) < count:
            deduced = self._deduce(kernel, launch.arguments or [], launch.scope, launch.at)
            for parameter in kernel.template[len(given):]:
                text = deduced.get(parameter.name)
                if text is None and parameter.default:
                    break
                given += [None] if text is None else self._given(tokenize(text, '', 1, 1)[:-1], launch.scope, launch.at,
                                                                 launch.declaration)
        return self._filled(given, launch.declaration, 0)

    @staticmethod
    def _given(tokens, scope, at, declaration):
        """Returns the texts of template arguments in which no local name is left; None takes the place of an unknown
        one."""
        texts = []
        for part in split_at(tokens, ',', '([{<', ')]}>'):
            plain = _resolved(part, scope, at, template_names(declaration.head))
            total = Terms(()).sum(plain) if plain and plain != part else None
            texts.append(plain and (_text(plain) if total is None or total.value is None else str(total)))
        return texts

    def _deduce(self, kernel, arguments, scope, at):
        """Returns the template arguments that follow from the types of the variables that a launch passes."""
        found = {}
        for param, argument in zip(kernel.params, arguments):
            words, stars = _type_of(argument, scope, at)
            if len(param.words) == 1 and words and words != ['auto'] and stars == len(param.pointers):
                found.setdefault(param.words[0], ' '.join(words))
        return {p.name: found[p.name] for p in kernel.template if p.is_type and p.name in found}

    def _filled(self, given, caller, depth):
        """Returns lists of arguments in which the parameters of a host template are replaced by the arguments of its
        calls."""
        names = template_names(caller.head)
        used = [n for n in names if any(n in re.findall(r'\w+', text or '') for text in given)]
        if not used or depth >= MAX_CALLERS:
            return [given]
        results = []
        for values in self._calls(caller, names, depth):
            table = dict(zip(names, values))
            filled = [text if text is None else self._replaced(text, table) for text in given]
            if filled not in results:
                results.append(filled)
        return results or [[None if set(re.findall(r'\w+', text or '')) & set(names) else text for text in given]]

    @staticmethod
    def _replaced(text, table):
        if any(table.get(word, '') is None for word in re.findall(r'\w+', text)):
            return None
        return re.sub(r'\w+', lambda m: table.get(m.group()) or m.group(), text)

    def _calls(self, caller, names, depth):
        """Yields the template arguments of calls and explicit instantiations of a host template."""
        for declaration in self._declarations:
            if declaration is caller or declaration.has('__global__'):
                continue
            tokens = tokens_of(declaration)
            for at, token in enumerate(tokens[:-1]):
                if token.text != caller.name or token.kind != 'identifier':
                    continue
                if tokens[at + 1].text == '<':
                    inside = tokens[at + 2:matching(tokens, at + 1, '<', '>') - 1]
                    values = self._given(inside, Scope(tokens), at, declaration)
                elif tokens[at + 1].text == '(' and at >= len(declaration.head):
                    values = []
                else:
                    continue
                if len(values) < len(names):
                    values += self._deduced_call(caller, names[len(values):], tokens, at)
                yield from self._filled(values, declaration, depth + 1)

    def _deduced_call(self, caller, names, tokens, at):
        opening = next((i for i in range(at, len(tokens)) if tokens[i].text == '('), len(tokens) - 1)
        arguments = split_at(tokens[opening + 1:matching(tokens, opening, '(', ')') - 1], ',')
        scope = Scope(tokens)
        begin = caller.function + 1
        params = split_at(caller.head[begin + 1:matching(caller.head, begin, '(', ')') - 1], ',', '([{<', ')]}>')
        found = {}
        for param, argument in zip(params, arguments):
            texts = [t.text for t in param]
            declared = scope.find(at, argument[0].text) if len(argument) == 1 else None
            for name in names:
                if name in texts and declared and declared.words and declared.stars == texts.count('*'):
                    found.setdefault(name, ' '.join(declared.words))
        return [found.get(name) for name in names]


def _type_of(argument, scope, at):
    """Returns the words of an argument's type and the number of its *s, if the argument is a name, x + i, &x[i] or a
    cast; ([], 0) for other arguments."""
    texts = [t.text for t in argument]
    if texts[:1] == ['('] or texts[:2] in (['reinterpret_cast', '<'], ['static_cast', '<']):
        begin = texts.index('(' if texts[0] == '(' else '<')
        cast = texts[begin + 1:matching(argument, begin, texts[begin], ')' if texts[0] == '(' else '>') - 1]
        words = [t for t in cast if t not in ('*', 'const', 'volatile')]
        is_pointer = cast[-1:] == ['*'] and all(re.fullmatch(r'\w+', word) for word in words)
        return (words, cast.count('*')) if is_pointer else ([], 0)
    first = 1 if texts[:1] == ['&'] and texts[2:3] == ['['] and texts[-1] == ']' else 0
    is_plain = first or len(texts) == 1 or texts[1:2] == ['+']
    declared = scope.find(at, texts[first]) if is_plain and argument[first].kind == 'identifier' else None
    is_pointer = declared and (len(texts) == 1 or declared.stars)
    return (declared.words, declared.stars) if is_pointer else ([], 0)


def _find_alias(tokens, name):
    """Returns the tokens of the last type that a function names by using or typedef; None if there is none."""
    found = None
    for at, token in enumerate(tokens):
        end = next((i for i in range(at, len(tokens)) if tokens[i].text == ';'), len(tokens))
        if token.text == 'using' and [t.text for t in tokens[at + 1:at + 3]] == [name, '=']:
            found = tokens[at + 3:end]
        elif token.text == 'typedef' and tokens[end - 1].text == name:
            found = tokens[at + 1:end - 1]
    return found


def _resolved(tokens, scope, at, kept, depth=0):
    """Returns the tokens of a template argument in which the values of local types and constants replace their names;
    None if a local name has no known value. `kept`: names of template parameters."""
    result = []
    for number, token in enumerate(tokens):
        is_name = token.kind == 'identifier' and token.text not in kept and not (
            number and tokens[number - 1].text in ('::', '.'))
        value = _find_alias(scope.tokens[:at], token.text) if is_name else None
        found = scope.find(at, token.text) if is_name and value is None else None
        if found:
            value = found.values[0] if found.values and len(found.values) == 1 and not found.stars else ()
        if value is None:
            result.append(token)
            continue
        inner = _resolved(value, scope, at, kept, depth + 1) if value and depth < MAX_CALLERS else None
        if inner is None:
            return None
        is_list = found and len(inner) > 1
        marks = [Token('punctuation', text, token.file, token.line, token.column) for text in '()' if is_list]
        result += marks[:1] + inner + marks[1:]
    return result


def tag_of(kernel, arguments, types, scope):
    """Returns a tag for an instance; None if an argument is unknown."""
    parts = []
    for parameter, text in zip(kernel.template, arguments):
        if parameter.is_type:
            ctype = types.find(scope, text.split())
            parts.append(ctype.short if ctype is not None and not isinstance(ctype, str) else
                         re.sub(r'\W+', '_', text).strip('_').lower())
        else:
            value = types.constant(scope, text)
            value = value if isinstance(value, int) and text not in ('true', 'false') else text
            parts.append(re.sub(r'\W+', '_', str(value).replace('-', 'm')).strip('_'))
    tag = '_'.join(parts)
    if not tag[:1].isalpha() and tag[:1] != '_':
        tag = f'{kernel.template[0].name.lower()}{tag}'
    return tag


def _text(tokens):
    words = [t.text for t in tokens]
    return re.sub(r' ?(::|<|>|\(|\)) ?', r'\1', ' '.join(words))
