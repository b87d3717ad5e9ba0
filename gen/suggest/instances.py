"""Finds the template arguments with which a file launches a kernel."""

import re

from declare.declarations import behind_template
from suggest.definitions import Scope, tokens_of
from tokens.brackets import matching, split_at

MAX_CALLERS = 4         # longest chain of host templates that call one another


class Instances:
    """The instances of one file's kernels. `declarations`: those of the file."""

    def __init__(self, declarations, types):
        self._declarations, self._types = declarations, types

    def find(self, kernel, launch):
        """Returns lists of template arguments, each a list of texts; an unknown argument is None."""
        count = len(kernel.template)
        given = [_text(p) for p in split_at(launch.template, ',', '([{<', ')]}>')] if launch.template else []
        if len(given) < count:
            deduced = self._deduce(kernel, launch.arguments or [], launch.scope, launch.at)
            for parameter in kernel.template[len(given):]:
                text = deduced.get(parameter.name)
                if text is None and parameter.default:
                    break
                given.append(text)
        aliases = _local_aliases(launch.scope.tokens[:launch.at])
        return self._filled([text and self._replaced(text, aliases) for text in given], launch.declaration, 0)

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
        names = _template_names(caller.head)
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
                    values = [_text(p) for p in split_at(inside, ',', '([{<', ')]}>')]
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


def _local_aliases(tokens):
    """Maps the names of type aliases in functions to all of their types; macros that choose a type reuse one name."""
    found = {}
    for at, token in enumerate(tokens):
        if token.text == 'using' and [t.text for t in tokens[at + 2:at + 3]] == ['=']:
            end = next((i for i in range(at, len(tokens)) if tokens[i].text == ';'), len(tokens))
            found[tokens[at + 1].text] = _text(tokens[at + 3:end])
    return found


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


def _template_names(head):
    """Returns the names of a function template's parameters."""
    end = behind_template(head)
    names = []
    for part in split_at(head[2:end - 1], ',', '([{<', ')]}>') if end else []:
        cut = next((i for i, t in enumerate(part) if t.text == '='), len(part))
        names += [t.text for t in part[:cut] if t.kind == 'identifier'][-1:]
    return names
