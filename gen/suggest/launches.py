"""Finds the launches of kernels in a file: `<<<...>>>`, and the functions of CUDA's runtime that launch."""

from declare.statements import end_of_name
from suggest.definitions import Scope, tokens_of
from tokens.brackets import matching, split_at
from tokens.lexer import Token

_RUNTIME = ('cudaLaunchKernel', 'cudaLaunchCooperativeKernel')


class Launch:
    """The tokens of the parts of one launch. Names in these parts are looked up from the place `at` in `scope`."""

    def __init__(self, token, scope, at, declaration):
        self.token, self.scope, self.at, self.declaration = token, scope, at, declaration
        self.name = ''              # the kernel's name without namespaces
        self.template = None        # template arguments; None if they are deduced
        self.grid = self.block = self.shared = None
        self.arguments = None       # the kernel's arguments; None if unknown
        self.is_cooperative = False


def find_launches(declarations):
    """Yields the launches in the functions and classes of a file."""
    sizes = list(_sizes_of_file(declarations))
    for declaration in declarations:
        if not declaration.body or declaration.has('__global__'):
            continue
        tokens = sizes + tokens_of(declaration)
        scope = Scope(tokens)
        for at, token in enumerate(tokens):
            if token.text == '<' and _is_triple(tokens, at, '<') and not _is_triple(tokens, at - 1, '<'):
                launch = _read_chevrons(tokens, at, scope, declaration)
            elif token.text in _RUNTIME and tokens[at + 1].text == '(':
                launch = _read_call(tokens, at, scope, declaration)
            elif token.text == 'cudaLaunchKernelEx' and tokens[at + 1].text == '(':
                launch = _read_configured(tokens, at, scope, declaration)
            else:
                continue
            if launch:
                yield launch


def _sizes_of_file(declarations):
    """Yields the tokens of each dim3 at file scope that no function changes."""
    for declaration in declarations:
        words = [t.text for t in declaration.head if t.text not in ('const', 'constexpr', 'static', 'inline')]
        if words[:1] != ['dim3'] or len(words) < 2 or words[2:3] == ['('] and declaration.body is not None:
            continue
        if not any(_is_assigned(d.body, words[1]) for d in declarations if d.body and d is not declaration):
            yield from tokens_of(declaration)
            yield Token('punctuation', ';', '', 0, 0)


def _is_assigned(tokens, name):
    texts = [t.text for t in tokens]
    return any(text == name and (texts[at + 1:at + 2] == ['='] or texts[at + 1:at + 2] == ['.'] and
                                 texts[at + 3:at + 4] == ['=']) for at, text in enumerate(texts))


def _is_triple(tokens, at, text):
    return at >= 0 and [t.text for t in tokens[at:at + 3]] == [text] * 3


def _read_chevrons(tokens, at, scope, declaration):
    begin = at - 1
    template = None
    if tokens[begin].text == '>':
        depth, closing = 0, begin
        while begin >= 0:
            depth += (tokens[begin].text == '>') - (tokens[begin].text == '<')
            if depth == 0:
                break
            begin -= 1
        template = tokens[begin + 1:closing]
        begin -= 1
    if begin < 0 or tokens[begin].kind != 'identifier':
        return None
    end = at + 3
    depth = 0
    while end < len(tokens):
        text = tokens[end].text
        depth += (text in ('(', '[', '{')) - (text in (')', ']', '}'))
        if depth == 0 and _is_triple(tokens, end, '>') and not _is_triple(tokens, end + 1, '>'):
            break
        if text == ';':
            return None
        end += 1
    launch = Launch(tokens[begin], scope, begin, declaration)
    launch.name, launch.template = tokens[begin].text, template
    parts = split_at(tokens[at + 3:end], ',')
    if not launch.template:
        _follow_pointer(launch)
    _set_sizes(launch, parts + [None] * (3 - len(parts)))
    if end + 3 < len(tokens) and tokens[end + 3].text == '(':
        launch.arguments = _arguments(tokens[end + 4:matching(tokens, end + 3, '(', ')') - 1])
    return launch


def _arguments(tokens):
    return split_at(tokens, ',', '([{', ')]}') if tokens else []


def _set_sizes(launch, parts):
    launch.grid, launch.block, launch.shared = parts[:3]


def _follow_pointer(launch):
    """Replaces a pointer to a kernel by the kernel: `auto f = scale<float>; f<<<...>>>`."""
    found = launch.scope.find(launch.at, launch.name)
    if found and found.values and len(found.values) == 1:
        _set_kernel(launch, found.values[0])


def _set_kernel(launch, tokens):
    """Reads the name and the template arguments of a kernel, skipping casts and &."""
    at = 0
    while at < len(tokens) and tokens[at].text in ('(', '&'):
        if tokens[at].text == '(':
            end = matching(tokens, at, '(', ')')
            if end == len(tokens):
                tokens, at = tokens[at + 1:-1], 0
                continue
            at = end
        else:
            at += 1
    if tokens[at:] and tokens[at].text in ('reinterpret_cast', 'static_cast'):
        opening = matching(tokens, at + 1, '<', '>')
        return _set_kernel(launch, tokens[opening + 1:-1])
    if not tokens[at:] or tokens[at].kind != 'identifier':
        return None
    end = end_of_name(tokens, at)
    launch.name, launch.template = tokens[end - 1].text, None
    if end < len(tokens) and tokens[end].text == '<':
        launch.template = tokens[end + 1:matching(tokens, end, '<', '>') - 1]
    return launch


def _read_call(tokens, at, scope, declaration):
    """Reads cudaLaunchKernel(kernel, grid, block, arguments, shared, stream)."""
    launch = Launch(tokens[at], scope, at, declaration)
    parts = split_at(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1], ',')
    if len(parts) < 4 or not _set_kernel(launch, parts[0]):
        return None
    _follow_pointer(launch)
    _set_sizes(launch, [parts[1], parts[2], parts[4] if len(parts) > 4 else None])
    launch.is_cooperative = tokens[at].text == 'cudaLaunchCooperativeKernel'
    found = scope.find(at, parts[3][0].text) if len(parts[3]) == 1 else None
    if found and found.values:
        inside = found.values if found.is_list else [_without_braces(found.values[0])]
        parts = inside if found.is_list else split_at(inside[0], ',')
        launch.arguments = [_without_address(p) for p in parts if p]
    return launch


def _without_braces(tokens):
    return tokens[1:-1] if tokens[:1] and tokens[0].text == '{' else tokens


def _without_address(tokens):
    if tokens[0].text == '(' and tokens[-1].text != ')':
        tokens = tokens[matching(tokens, 0, '(', ')'):]
    return tokens[1:] if tokens[:1] and tokens[0].text == '&' else tokens


def _read_configured(tokens, at, scope, declaration):
    """Reads cudaLaunchKernelEx(&config, kernel, arguments...)."""
    launch = Launch(tokens[at], scope, at, declaration)
    parts = split_at(tokens[at + 2:matching(tokens, at + 1, '(', ')') - 1], ',')
    if len(parts) < 2 or not _set_kernel(launch, parts[1]):
        return None
    members = scope.members(at, parts[0][-1].text)
    _set_sizes(launch, [members.get(m) for m in ('gridDim', 'blockDim', 'dynamicSmemBytes')])
    launch.arguments = parts[2:]
    return launch
