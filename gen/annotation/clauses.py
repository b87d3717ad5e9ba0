"""The grammar of annotations: parses the tokens of `#pragma cf` into clauses whose names are not yet looked up."""

from base.bounds import MAX_ARRAY_DIMS, MAX_GRID_DIMS
from base.diagnostics import closest
from declare.kerneldecl import read_params
from expr.tree import ORDERS, parse_expr, read_type_words, text_since
from tokens.cursor import check_names, Cursor, tell_found
from tokens.lexer import spell_tokens, TokenError

DIRECTIONS = {'in': 'CF_IN', 'out': 'CF_OUT', 'inout': 'CF_INOUT', 'scratch': 'CF_SCRATCH'}
CLAUSES = ('name', 'grid', 'blocks', 'block', 'items', 'shared', 'cooperative', 'cluster', 'dependent', 'in', 'out',
           'inout', 'resident', 'scratch', 'zero', 'rezero', 'pitch', 'check', 'inplace', 'host', 'tune', 'tolerance',
           'flops', 'bytes', 'split', 'param', 'include', 'uses', 'internal', 'image', 'entry')
# Words of annotations that no macro may replace.
WORDS = frozenset(('kernel', 'device', 'instances') + CLAUSES)
# Removed clauses with their replacement; {} is the first word in their parentheses.
GONE = {**{order: f'{order} is a condition; write check({order}({{}}))' for order in ORDERS},
        'instead': "the clause 'instead' is gone; leave it out: the caller chooses the kernel, or calls the operation "
                   'by its own name'}
# Clauses that only kernels have, because they concern one launch.
OF_KERNELS = ('grid', 'blocks', 'block', 'items', 'shared', 'cooperative', 'cluster', 'dependent', 'host', 'tune',
              'split', 'param', 'image', 'entry')

# Describes the value of a clause for messages about a place that --suggest left open.
_MISSING = {'grid': 'the number of threads', 'blocks': 'the number of blocks',
            'block': 'the threads of a block, as in 256',
            'shared': 'the bytes of extern __shared__ memory of a block, or 0',
            'instances': 'a tag and template arguments, as in f32: float'}


class Array:
    """An array in an in, out, inout or scratch clause."""

    def __init__(self, token, direction, dims):
        self.token, self.direction = token, direction
        self.dims = dims            # [(lower or None, extent)], each a (tree, text)


class Clauses:
    """The annotations of one kernel. An expression is a pair of a tree and its text."""

    def __init__(self, token):
        self.token = token          # token of `kernel` or `operation`; the first pragma's until one is read
        self.is_kernel = False      # True once `kernel` or `operation` was read
        self.is_operation = False
        self.device = None          # token of `device`: a device function that kernels of other files call
        self.numba = None           # token of `numba`: Numba can call this device function, too
        self.uses = {}              # kernels that an operation enqueues, name: token
        self.internal = None        # token of `internal`
        self.name = None            # token of the name in name(...)
        self.grid = None            # list of expressions
        self.counts_blocks = False
        self.block = None           # list of expressions; [] stands for block(auto)
        self.block_token = None
        self.items = self.shared = self.tolerance = self.flops = self.bytes = None      # an expression each
        self.cooperative = self.dependent = None        # the token of the clause
        self.cluster = None         # (token, [expression])
        self.arrays = {}            # name: Array
        self.resident = {}          # pointers of unknown extent to memory that the device can access, name: token
        self.zeros = {}             # name: (token, (lower or None, extent)), or (token, None) for the whole array
        self.rezeros = {}           # arrays that the kernel sets to 0 again, name: token
        self.pitches = {}           # name: (token, [expression])
        self.checks = []            # expression
        self.in_place = []          # lists of tokens: the arrays of each list may be the same array
        self.host = None            # token: a function's name, or none
        self.host_grid = None       # expression: number of threads on the CPU
        self.image = None           # token: the file with the kernel's code, a string
        self.entry = None           # token: the kernel's name in that file, a string
        self.split = None           # token: the parameter whose elements a call can be split by
        self.added = []             # RawParam: parameters of the C function that the kernel does not have
        self.tune = {}              # constant's name: (token, [expression])
        self.includes = []          # header's name
        self.instances = []         # (tag token, [argument])
        self.instances_token = None


class Argument:
    """A template argument as the source spells it: a type or a constant."""

    def __init__(self, token, words, tree, text):
        self.token, self.words, self.tree, self.text = token, words, tree, text


def read_pragma(pragma, clauses, diagnostics):
    """Adds one pragma to the clauses of the kernel below it."""
    if not pragma.is_read:
        clauses.is_kernel = True        # an error was reported: suppress the errors that follow from it
        return
    for blank in pragma.blanks:
        clauses.is_kernel = True
        diagnostics.error(blank.location,
                          f'{blank.text} is a place to fill in; replace it by {_missing(pragma, blank)}')
    if pragma.blanks:
        return
    cursor = Cursor(pragma.tokens)
    directive = cursor.take()
    try:
        check_names(pragma.tokens)
        if directive.text == 'device' or clauses.device and directive.text != 'include':
            _read_device(cursor, clauses, directive)
        elif directive.text in ('kernel', 'operation'):
            if clauses.is_kernel:
                what = 'operation' if clauses.is_operation else 'kernel'
                raise TokenError(directive, f'a second #pragma cf {directive.text} for one {what}; put its clauses '
                                            'into the first')
            clauses.is_kernel = True
            clauses.is_operation = directive.text == 'operation'
            clauses.token = directive
            while cursor.token.kind != 'end':
                _read_clause(cursor, clauses)
                cursor.accept(',')
        elif directive.text == 'instances':
            if clauses.instances_token:
                raise TokenError(directive, 'a second #pragma cf instances for one kernel; add to the first')
            clauses.instances_token = directive
            _read_instances(cursor, clauses)
        elif directive.text == 'include':
            clauses.includes += _read_headers(cursor, directive)
        else:
            raise TokenError(directive, 'expected kernel, operation, device, instances or include after #pragma cf' +
                             tell_found(directive))
    except TokenError as error:
        diagnostics.error(error.token.location, str(error))


def _read_device(cursor, clauses, directive):
    if clauses.is_kernel or clauses.instances_token:
        raise TokenError(directive, '#pragma cf device stands alone above a function')
    clauses.is_kernel, clauses.device, clauses.token = True, directive, directive
    while cursor.token.kind != 'end':
        if cursor.at('numba'):
            clauses.numba = cursor.take()
        elif cursor.accept('host'):
            cursor.expect('(', 'after host')
            clauses.host = cursor.expect('none', 'in host(...)')
            cursor.expect(')', 'after none')
        else:
            raise TokenError(cursor.token, 'the clauses of #pragma cf device are host(none) and numba' +
                             tell_found(cursor.token))


def _missing(pragma, blank):
    """Describes the expression that belongs in the place of a comment left by --suggest."""
    before = [t for t in pragma.tokens if (t.line, t.column) < (blank.line, blank.column)]
    array, clause, depth = '', '', 0
    for token in reversed(before):
        depth += (token.text in (')', ']')) - (token.text in ('(', '['))
        if token.text == '[' and depth == -1 and not array:
            inner = 0
            for part in before[before.index(token)::-1]:
                inner += (part.text == ']') - (part.text == '[' and part is not token)
                if part.kind == 'identifier' and inner == 0:
                    array = part.text
                    break
        if depth == -1 - bool(array) and token.text == '(':
            clause = before[before.index(token) - 1].text
            break
    if array:
        return (f'the number of elements of {array} that the kernel reads or writes; or write resident({array}) for '
                'device memory of any size')
    return _MISSING.get(clause, "an expression over the kernel's integer parameters")


def is_include(pragma):
    """True for an include(...) pragma, which belongs to the file and not to a kernel."""
    return pragma.tokens[0].text == 'include'


def _read_clause(cursor, clauses):
    name = cursor.take()
    if name.kind != 'identifier':
        raise TokenError(name, 'expected a clause' + tell_found(name))
    if name.text in GONE:
        cursor.accept('(')
        raise TokenError(name, GONE[name.text].format(cursor.token.text))
    if name.text not in CLAUSES:
        near = closest(name.text, CLAUSES)
        hint = f"did you mean '{near}'?" if near else 'the clauses are ' + ', '.join(CLAUSES)
        raise TokenError(name, f"unknown clause '{name.text}'; {hint}")
    if clauses.is_operation and name.text in OF_KERNELS:
        raise TokenError(name, f'an operation is no launch of its own, and has no {name.text}; the kernels that it '
                               'uses have')
    if name.text == 'uses' and not clauses.is_operation:
        raise TokenError(name, 'uses(...) lists what an operation enqueues; a kernel enqueues nothing')
    if name.text in ('cooperative', 'dependent', 'internal'):
        if getattr(clauses, name.text):
            raise TokenError(name, f'a second {name.text} clause')
        setattr(clauses, name.text, name)
        return
    if name.text == 'include':
        clauses.includes += _read_headers(cursor, name)
        return
    if name.text == 'param':
        _read_added(cursor, clauses, name)
        return
    cursor.expect('(', f'after {name.text}')
    if name.text in DIRECTIONS:
        _read_arrays(cursor, clauses, DIRECTIONS[name.text])
    elif name.text in ('name', 'host', 'split'):
        _read_identifier(cursor, clauses, name)
        if name.text == 'host' and clauses.host.text == 'grid' and cursor.at('('):
            _read_host_grid(cursor, clauses)
    elif name.text in ('image', 'entry'):
        _read_string(cursor, clauses, name)
    elif name.text == 'resident':
        _read_names(cursor, name, clauses.resident, 'pointers, as in resident(table)')
    elif name.text == 'rezero':
        _read_names(cursor, name, clauses.rezeros, 'arrays, as in rezero(work)')
    elif name.text == 'uses':
        _read_names(cursor, name, clauses.uses, 'kernels, as in uses(count, sort_f32)')
    elif name.text == 'zero':
        _read_zeros(cursor, clauses)
    elif name.text == 'inplace':
        _read_in_place(cursor, clauses.in_place)
    elif name.text in ('pitch', 'tune'):
        _read_lists(cursor, name, clauses.pitches if name.text == 'pitch' else clauses.tune)
    elif name.text == 'block' and cursor.at('auto'):
        cursor.take()
        _set_expressions(name, [], clauses)
    else:
        _set_expressions(name, _read_expressions(cursor), clauses)
    cursor.expect(')', f'to close {name.text}')


def _read_expression(cursor):
    mark = cursor.mark()
    tree = parse_expr(cursor)
    return tree, text_since(cursor, mark, tree)


def _read_expressions(cursor):
    items = [_read_expression(cursor)]
    while cursor.accept(','):
        items.append(_read_expression(cursor))
    return items


def _read_identifier(cursor, clauses, name):
    value = cursor.take()
    if value.kind != 'identifier':
        raise TokenError(value, f'{name.text} takes a name' + tell_found(value))
    if getattr(clauses, name.text) is not None or (name.text == 'host' and clauses.host_grid):
        raise TokenError(name, f'a second {name.text} clause')
    setattr(clauses, name.text, value)


def _read_string(cursor, clauses, name):
    """Reads a file's or a kernel's name in parentheses: ("softmax.cubin")."""
    value = cursor.take()
    if not _is_name(value):
        raise TokenError(value, f'{name.text} takes ' + ('the name of a file, as in image("softmax.cubin")'
                                                         if name.text == 'image' else
                                                         "a kernel's name, as in entry(\"softmax_kernel\")") +
                         tell_found(value))
    if getattr(clauses, name.text) is not None:
        raise TokenError(name, f'a second {name.text} clause')
    setattr(clauses, name.text, value)


def _is_name(token):
    """True for a string literal that is not empty and has no prefix and no escapes."""
    return token.kind == 'string' and token.text[0] == '"' and len(token.text) > 2 and '\\' not in token.text


def _read_host_grid(cursor, clauses):
    """Reads host(grid(n)), which gives the number of threads on the CPU."""
    cursor.take()
    clauses.host = None
    clauses.host_grid = _read_expression(cursor)
    cursor.expect(')', "to close grid, which has one dimension on the CPU")


def _read_headers(cursor, name):
    """Reads the names of headers: ("types.h", "more.h")."""
    cursor.expect('(', f'after {name.text}')
    headers = []
    while True:
        token = cursor.take()
        if not _is_name(token):
            raise TokenError(token, 'include takes the names of headers, as in include("types.h")' + tell_found(token))
        headers.append(token)
        if not cursor.accept(','):
            break
    cursor.expect(')', f'to close {name.text}')
    return headers


def _read_added(cursor, clauses, name):
    """Reads parameters that are only the C function's: (int rows, float slack)."""
    if clauses.added:
        raise TokenError(name, 'a second param clause; list all parameters in the first')
    clauses.added = read_params(cursor, 'param')
    if not clauses.added:
        raise TokenError(name, 'param lists parameters that the C function has and the kernel has not, as in '
                               'param(int rows)')


def _set_expressions(name, items, clauses):
    if name.text == 'check':
        clauses.checks += items
        return
    if name.text in ('items', 'shared', 'tolerance', 'flops', 'bytes'):
        if getattr(clauses, name.text) or len(items) != 1:
            raise TokenError(name, f'{name.text} takes one expression, once')
        setattr(clauses, name.text, items[0])
        return
    if name.text == 'cluster':
        if clauses.cluster:
            raise TokenError(name, 'a second cluster clause')
        clauses.cluster = name, items
        return
    field = 'block' if name.text == 'block' else 'grid'
    if getattr(clauses, field) is not None:
        raise TokenError(name, f'a second {name.text} clause; a kernel has one ' +
                         ('block' if field == 'block' else 'grid or blocks'))
    if len(items) > MAX_GRID_DIMS:
        raise TokenError(items[MAX_GRID_DIMS][0].token, f'{name.text} has at most {MAX_GRID_DIMS} dimensions')
    setattr(clauses, field, items)
    if field == 'grid':
        clauses.counts_blocks = name.text == 'blocks'
    else:
        clauses.block_token = name


def _read_dimension(cursor, name):
    """Reads a dimension: [extent], [:extent] or [lower:extent]."""
    cursor.expect('[', f'after {name.text}')
    lower = None
    if not cursor.at(':'):
        extent = _read_expression(cursor)
        if not cursor.at(':'):
            cursor.expect(']', f'after an extent of {name.text}')
            return None, extent
        lower = extent
    cursor.take()
    if cursor.at(']'):
        raise TokenError(cursor.token, f'the section of {name.text} needs its length: write {name.text}[lower:length]')
    extent = _read_expression(cursor)
    if cursor.at(':'):
        raise TokenError(cursor.token, 'a section has no stride: declare all that lies between its elements, with '
                                       'inout where it is written')
    cursor.expect(']', f'after an extent of {name.text}')
    return lower, extent


def _read_arrays(cursor, clauses, direction):
    while True:
        name = cursor.take()
        if name.kind != 'identifier':
            raise TokenError(name, 'expected the name of an array parameter' + tell_found(name))
        dims = []
        while cursor.at('['):
            dims.append(_read_dimension(cursor, name))
        if not dims:
            raise TokenError(name, f'{name.text} needs its extent: write {name.text}[n]')
        if len(dims) > MAX_ARRAY_DIMS:
            raise TokenError(name, f'{name.text} has more than {MAX_ARRAY_DIMS} dimensions')
        if name.text in clauses.arrays:
            raise TokenError(name, f'{name.text} stands in two clauses; name it once, inout where it is read and '
                                   'written')
        clauses.arrays[name.text] = Array(name, direction, dims)
        if not cursor.accept(','):
            return


def _read_names(cursor, clause, names, what):
    """(name, ...)"""
    while True:
        name = cursor.take()
        if name.kind != 'identifier':
            raise TokenError(name, f'{clause.text} takes names of {what}' + tell_found(name))
        if name.text in names:
            raise TokenError(name, f'a second {clause.text} of {name.text}')
        names[name.text] = name
        if not cursor.accept(','):
            return


def _read_zeros(cursor, clauses):
    """Reads arrays and sections: (name, name[count], name[first:count], ...)."""
    while True:
        name = cursor.take()
        if name.kind != 'identifier':
            raise TokenError(name, 'zero takes names of arrays, as in zero(count[1])' + tell_found(name))
        if name.text in clauses.zeros:
            raise TokenError(name, f'a second zero of {name.text}; name one section of it')
        section = _read_dimension(cursor, name) if cursor.at('[') else None
        if cursor.at('['):
            raise TokenError(cursor.token, f'zero takes one section, of an array of one dimension; write '
                                           f'zero({name.text}) for all of it')
        clauses.zeros[name.text] = name, section
        if not cursor.accept(','):
            return


def _read_in_place(cursor, lists):
    """Reads lists of names: (name, name, ...; name, name, ...)."""
    while True:
        names = []
        while not names or cursor.accept(','):
            name = cursor.take()
            if name.kind != 'identifier':
                raise TokenError(name, 'inplace takes names of arrays, as in inplace(x, y)' + tell_found(name))
            if name.text in [n.text for others in (*lists, names) for n in others]:
                raise TokenError(name, f'a second inplace of {name.text}')
            names.append(name)
        if len(names) < 2:
            raise TokenError(names[0], f'{names[0].text} stands alone; inplace takes two arrays or more that may be '
                                       'one, as in inplace(x, y)')
        lists.append(names)
        if not cursor.accept(';') or cursor.at(')'):
            return


def _read_lists(cursor, clause, lists):
    """Reads expressions by name: (name: expression, ...; name: ...)."""
    while True:
        name = cursor.take()
        if name.kind != 'identifier':
            raise TokenError(name, f'{clause.text} takes a name and values, as in {clause.text}(' +
                             ('u: ld)' if clause.text == 'pitch' else 'BLOCK: 128, 256)') + tell_found(name))
        if name.text in lists:
            raise TokenError(name, f'a second {clause.text} of {name.text}')
        cursor.expect(':', f'after {name.text}')
        lists[name.text] = (name, _read_expressions(cursor))
        if not cursor.accept(';') or cursor.at(')'):
            return


def _skip_template(cursor):
    """Skips the template arguments of a type and the names behind them; stops at the first token that is neither."""
    depth = 0
    while cursor.token.kind != 'end':
        depth += cursor.at('<', '(') - cursor.at('>', ')')
        if depth < 0 or depth == 0 and not cursor.at('>', '::') and cursor.token.kind != 'identifier':
            return
        cursor.take()


def _read_argument(cursor):
    """Reads a type or a constant. It tries a type first, and accepts the words as one if the argument ends after
    them."""
    mark, token = cursor.mark(), cursor.token
    words = read_type_words(cursor)
    if words and cursor.at(',', ';', ')') or cursor.token.kind == 'end':
        return Argument(token, words, None, ' '.join(words))
    if words and cursor.at('*'):
        raise TokenError(cursor.token, 'an instance over pointer types cannot be called; let the kernel take T *')
    if words and cursor.at('<'):
        _skip_template(cursor)
        text = spell_tokens(cursor.tokens_since(mark))
        if cursor.at(',', ';', ')') and text.count('<') == text.count('>'):
            return Argument(token, [text], None, text)
    cursor.reset(mark)
    tree, text = _read_expression(cursor)
    return Argument(token, None, tree, text)


def _read_instances(cursor, clauses):
    cursor.expect('(', 'after instances')
    while True:
        tag = cursor.take()
        if tag.kind != 'identifier':
            raise TokenError(tag, "expected an instance's tag, as in instances(f32: float)" + tell_found(tag))
        if tag.text in [t.text for t, _ in clauses.instances]:
            raise TokenError(tag, f"a second instance '{tag.text}'")
        cursor.expect(':', f'after the tag {tag.text}')
        arguments = []
        if not cursor.at(';', ')'):
            while True:
                if cursor.token.kind == 'end' or cursor.at(',', ';', ')'):
                    raise TokenError(cursor.token, 'expected a template argument' + tell_found(cursor.token))
                arguments.append(_read_argument(cursor))
                if not cursor.accept(','):
                    break
        clauses.instances.append((tag, arguments))
        if not cursor.accept(';') or cursor.at(')'):
            break
    cursor.expect(')', 'to close instances')
    if cursor.token.kind != 'end':
        raise TokenError(cursor.token, 'nothing may follow instances(...)' + tell_found(cursor.token))
