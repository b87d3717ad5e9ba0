"""Emits the C++ expression of host(grid(n)): the number of threads on the CPU for a kernel whose grid suits a GPU."""

_BINARY = {'LT': '<', 'LE': '<=', 'GT': '>', 'GE': '>=', 'EQ': '==', 'NE': '!=', 'BIT_AND': '&', 'BIT_OR': '|',
           'BIT_XOR': '^'}
# Operators whose C++ form may wrap around, because the call has checked that no value overflows.
_WRAPPING = {'ADD': '+', 'SUB': '-', 'MUL': '*', 'SHL': '<<'}


def emit_grid(node):
    """Returns an exact expression in C++ over a CPU body's locals cf__0, cf__1 and so on."""
    code, *operands = node
    if code == 'CONST':
        value = operands[0]
        return f'(int64_t)sizeof({value[1]})' if isinstance(value, tuple) else f'INT64_C({value})'
    if code == 'PARAM':
        return f'(int64_t)cf__{operands[0]}'
    if code == 'MEMBER':
        return f'(int64_t)cf__{operands[0][0]}.{operands[0][2]}'
    values = [emit_grid(operand) for operand in operands]
    if code == 'NEG':
        return f'(int64_t)(0 - (uint64_t)({values[0]}))'
    if code == 'NOT':
        return f'(int64_t)!({values[0]})'
    if code in ('AND', 'OR'):
        return f'(int64_t)(({values[0]}) {"&&" if code == "AND" else "||"} ({values[1]}))'
    if code == 'SELECT':
        return f'(({values[0]}) ? ({values[1]}) : ({values[2]}))'
    left, right = values
    if code in _WRAPPING:
        return f'(int64_t)((uint64_t)({left}) {_WRAPPING[code]} (uint64_t)({right}))'
    if code in ('DIV', 'MOD') and operands[1][0] == 'CONST' and operands[1][1] not in (0, -1):
        return f'(({left}) {"/" if code == "DIV" else "%"} {right})'
    if code in ('DIV', 'MOD'):
        return f'(({right}) == 0 ? 0 : ({left}) {"/" if code == "DIV" else "%"} ({right}))'
    if code in ('MIN', 'MAX'):
        return f'(({left}) {"<" if code == "MIN" else ">"} ({right}) ? ({left}) : ({right}))'
    if code == 'SHR':
        return f'(({left}) >> ({right}))'
    return f'(int64_t)(({left}) {_BINARY[code]} ({right}))'
