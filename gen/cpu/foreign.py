"""Refuses kernels with names whose meaning depends on code outside of the kernel."""

from cpu.names import OPERATORS
from cpu.refused import Refused
from cpu.uniform import PURE


def check_names(kernel, of, meanings):
    """Raises Refused for the first name in a kernel that the kernel's text does not explain. `of` maps a place to its
    Variable."""
    tokens = kernel.body
    for at, token in enumerate(tokens):
        if token.kind == 'identifier' and token.text in OPERATORS | {'operator'}:
            raise Refused(token, 'is not understood')
        if token.text in PURE and not token.text.endswith('_cast') and tokens[at + 1].text in ('(', '<') and (
                not meanings.is_plain_function(token.text) or at > 1 and tokens[at - 1].text == '::' and
                tokens[at - 2].kind == 'identifier' and tokens[at - 2].text != 'std'):
            raise Refused(token, 'may be another function than that of CUDA')
        if token.text in meanings.references and at not in of:
            raise Refused(token, 'may be a reference')
    if meanings.changes_operands:
        raise Refused(kernel.head[kernel.function], 'has operators or constructors that may change their operands')
