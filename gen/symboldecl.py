"""The declarations of __constant__ data: those that C programs can set."""

import expr
from brackets import matching, split, without_attributes
from expr import Cursor, ExprError
from lexer import Token
from model import Symbol
from typedecl import CLASSES


def read_symbols(declaration, declared):
    """(token of the name, Symbol) of each variable in a __constant__ declaration that a program may set."""
    words = {t.text for t in declaration.head}
    if 'extern' in words or 'const' in words or 'constexpr' in words:
        return
    head = without_attributes(declaration.head)
    if words & CLASSES and declaration.body is not None and '=' not in words:
        name = next((t for t in declaration.tail if t.kind == 'identifier'), head[0])
        _no_symbol(name, 'a struct of its own')
    for number, declarator in enumerate(split(head, ',')):
        at = next((i for i, t in enumerate(declarator) if t.text in ('=', '[')), len(declarator))
        name = declarator[at - 1] if at else declaration.head[-1]
        if name.kind != 'identifier':
            _no_symbol(name, 'a pointer to an array')
        if number == 0:
            base = [t for t in declarator[:at - 1]]
            ctype = _symbol_type(declaration, declared, base, name)
        elif any(t.text == '*' for t in declarator):
            ctype = None
        if ctype is None or any(t.text in '*&' for t in declarator[:at] if t.kind == 'punctuation'):
            raise ExprError(name, f'{name.text} is a pointer in constant memory, which a setter cannot fill from C; pass '
                                  'the pointer to the kernel')
        scope = ''.join(s + '::' for s in declaration.scope if s)
        yield name, Symbol(name.text, scope + name.text, (), name.location, ctype,
                           tuple(_symbol_extents(declarator[at:], name, declaration, declared)))


def _symbol_type(declaration, declared, base, name):
    if any(t.text in '*&<(' for t in base if t.kind == 'punctuation') and not any(t.text == 'complex' for t in base):
        return None if any(t.text == '*' for t in base) else _no_symbol(name, ' '.join(t.text for t in base))
    words = expr.type_words(Cursor([t for t in base if t.text != 'volatile'] + [Token('end', '', '', 0, 0)]))
    ctype = declared.types.find(declaration.scope, words) if words else None
    if isinstance(ctype, str):
        raise ExprError(name, ctype)
    return ctype if ctype is not None else _no_symbol(name, ' '.join(words))


def _no_symbol(name, text):
    raise ExprError(name, f"{name.text} is of a type that C does not know, '{text}'; use a scalar type, or a struct of a "
                          'header that include(...) names')


def _symbol_extents(tokens, name, declaration, declared):
    at = 0
    while at < len(tokens) and tokens[at].text == '[':
        end = matching(tokens, at, '[', ']')
        value = declared.evaluate(tokens[at + 1:end - 1], declaration.scope)
        if value is None or value < 1:
            raise ExprError(name, f'the extent of {name.text} is no integer constant that can be read here; use a literal, a '
                                  'macro, an enumerator or a constexpr integer')
        yield value
        at = end
