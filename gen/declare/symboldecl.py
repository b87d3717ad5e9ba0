"""Reads declarations of __constant__ data that C programs can set."""

from base.model import Symbol
from declare.typedecl import CLASSES
from expr.tree import read_type_words
from tokens.brackets import matching, split_at, without_attributes
from tokens.cursor import Cursor
from tokens.lexer import Token, TokenError


def read_symbols(declaration):
    """Returns a function for each variable of a __constant__ declaration that a program may set. The function returns
    the Symbol, or raises TokenError with the reason why there is no setter."""
    words = {t.text for t in declaration.head}
    if words & {'extern', 'const', 'constexpr'} or declaration.head[0].text == 'template':
        return
    head = without_attributes(declaration.head)
    if words & CLASSES and declaration.body is not None and '=' not in words:
        name = next((t for t in declaration.tail if t.kind == 'identifier'), head[0])
        yield lambda declared: _no_symbol(name, 'a struct of its own')
        return
    declarators = split_at(head, ',')
    first = declarators[0]
    end = next((i for i, t in enumerate(first) if t.text in ('=', '[', '*', '&')), len(first))
    # The words of the type, without the first variable's name.
    base = first[:end] if end < len(first) and first[end].text in '*&' else first[:end - 1]
    for declarator in declarators:
        yield lambda declared, declarator=declarator: _read_symbol(declaration, declared, base, declarator)


def _read_symbol(declaration, declared, base, declarator):
    at = next((i for i, t in enumerate(declarator) if t.text in ('=', '[')), len(declarator))
    name = declarator[at - 1] if at else declaration.head[-1]
    if any(t.text in '*&' for t in declarator[:at] if t.kind == 'punctuation') or name.kind != 'identifier':
        raise TokenError(name, f'{name.text} is a pointer in constant memory, which a setter cannot fill from C; pass '
                               'the pointer to the kernel')
    ctype = _symbol_type(declaration, declared, base, name)
    scope = ''.join(s + '::' for s in declaration.scope if s)
    return Symbol(name.text, scope + name.text, (), name.location, ctype,
                  tuple(_symbol_extents(declarator[at:], name, declaration, declared)))


def _symbol_type(declaration, declared, base, name):
    words = read_type_words(Cursor([t for t in base if t.text != 'volatile'] + [Token('end', '', '', 0, 0)]))
    ctype = declared.types.find(declaration.scope, words) if words else None
    if isinstance(ctype, str):
        raise TokenError(name, ctype)
    return ctype if ctype is not None else _no_symbol(name, ' '.join(words))


def _no_symbol(name, text):
    raise TokenError(name, f"{name.text} is of a type that C does not know, '{text}'; use a scalar type, or a struct "
                           "of a "
                           'header that include(...) names')


def _symbol_extents(tokens, name, declaration, declared):
    at = 0
    while at < len(tokens) and tokens[at].text == '[':
        end = matching(tokens, at, '[', ']')
        value = declared.evaluate(tokens[at + 1:end - 1], declaration.scope)
        if value is None or value < 1:
            raise TokenError(name, f'the extent of {name.text} is no integer constant that can be read here; use a '
                                   'literal, a macro, an enumerator or a constexpr integer')
        yield value
        at = end
