"""A kernel file as the CPU compiles it: the source less what no CPU kernel needs, its lines kept in their places."""

import re

import collective
import sharedmem
from brackets import without_attributes

# What is left of a function that is taken out: directives that decide what is compiled.
_KEPT = re.compile(r'[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|define|undef)\b')
_PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|<<<|[{}]', re.DOTALL)
_COMMENT = re.compile(r'(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def copy(lines, path, declarations, kernels, functions, constants, loop_edits):
    """`kernels` are the declarations of the kernels that the CPU runs as they are, `functions` the names of those that
    it runs instead of others, `constants` the names of those whose values are proven, `loop_edits` what loops.find()
    changes, by declaration. What no name leads to from there
    is taken out, and functions of host code that are reached from device code alone: a wrapper may have its kernel's
    name."""
    kept = {id(d) for d in kernels}
    others = [d for d in declarations if not d.has('__global__')]
    data = [d for d in others if d.function is None and d.has('__constant__')]
    proven = [d for d in others if d.function is None and constants.intersection(collective.names(d))]
    on_device = collective.reachable(list(kernels) + data + proven, others)
    on_host = collective.reachable([d for d in others if _name(d) in functions] +
                                   [d for d in on_device if d.function is None and not d.is_class], others)
    device, host = {id(d) for d in on_device}, {id(d) for d in on_host}
    edits = []      # (first token, last token): take all out; (token, text): put that in its place
    for declaration in declarations:
        first, last = declaration.head[0], declaration.last
        if first.file != path:
            continue
        is_needed = id(declaration) in host or id(declaration) in device and (
            declaration.function is None or _is_device(declaration))
        if id(declaration) in kept:
            # The word is in __global__ already.
            edits += [(t, '') for t in declaration.head if t.text == 'inline' and t.exact]
            edits += loop_edits.get(id(declaration), [])
        elif not is_needed and not declaration.is_directive:
            edits.append((first, last))
            continue
        elif declaration in data and not any(declaration.has(w) for w in ('static', 'extern', 'const', 'constexpr',
                                                                         'template')):
            place = _behind_attributes(declaration.head)
            edits.append((place, 'static ' + place.text))
        edits += _shared(declaration)
    lines = [line + '\n' for line in lines]
    for first, last in reversed(edits):
        if isinstance(last, str):
            _replace(lines, first, last)
        else:
            end = _closing(lines, first, last)
            if end is not None:
                _blank(lines, first, last.line, end)
    return f'#line 1 "{path}"\n' + _without_launches(''.join(lines))


def _shared(declaration):
    """The edits that __shared__ memory takes, in their order."""
    if declaration.function is None and declaration.has('__shared__'):
        found = sharedmem.edits_outside(declaration)
    else:
        found = sharedmem.edits(declaration.body or [])
    return sorted(found, key=lambda edit: (edit[0].line, edit[0].column))


def _replace(lines, token, text):
    line = lines[token.line - 1] if token.line <= len(lines) else ''
    if token.exact:
        begin = token.column - 1
        lines[token.line - 1] = line[:begin] + text + line[begin + len(token.text):]


def _behind_attributes(head):
    """The first token of a variable's type: `static` may not stand in front of alignas(...)."""
    plain = without_attributes(head)
    return next((t for t in plain if t.kind == 'identifier'), head[0])


def _without_launches(text):
    """Takes out what is left of host code that launches kernels, in classes and in what initializes variables: all of
    the innermost braces around <<<."""
    if '<<<' not in text:
        return text
    opened, regions = [], []
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece == '{':
            opened.append(match.start())
        elif piece == '}' and opened:
            opened.pop()
        elif piece == '<<<' and opened:
            regions.append(opened[-1])
    for begin in sorted(set(regions), reverse=True):
        depth = 0
        for match in _PIECE.finditer(text, begin):
            depth += (match.group() == '{') - (match.group() == '}')
            if depth == 0:
                inside = text[begin + 1:match.start()]
                kept = [line if _KEPT.match(line) else '' for line in inside.split('\n')]
                text = text[:begin + 1] + '\n'.join(kept) + ' __builtin_trap(); ' + text[match.start():]
                break
    return text


def _name(declaration):
    return declaration.head[declaration.function].text if declaration.function is not None else None


def _is_device(declaration):
    return any(t.text in ('__device__', '__global__', 'constexpr', 'consteval') for t in declaration.head)


def _closing(lines, first, last):
    """The column behind the last token of a declaration. Tokens of macros may be found at braces that are not theirs,
    so the text is asked first; where it has others, as in what #if leaves out, the token."""
    if last.line > len(lines):
        return None
    if last.text != '}':
        return last.column - 1 + len(last.text) if last.exact else None
    text = ''.join(lines[first.line - 1:last.line])[first.column - 1:]
    depth = 0
    for match in _PIECE.finditer(text):
        depth += (match.group() == '{') - (match.group() == '}')
        if match.group() == '}' and depth <= 0:
            before = text[:match.end()]
            if before.count('\n') == last.line - first.line:
                start = first.column - 1 if last.line == first.line else 0
                return start + len(before) - (before.rfind('\n') + 1)
            break
    if last.exact:
        return last.column - 1 + len(last.text)
    return lines[last.line - 1].rfind('}') + 1 or None


def _blank(lines, first, last_line, column):
    """Takes the text from a token to a column of a line out, but for line ends and directives."""
    begin, end = first.line - 1, last_line - 1
    before, after = lines[begin][:first.column - 1], lines[end][column:]
    region = ''.join(lines[begin:end + 1])[len(before):]
    region = region[:len(region) - len(after)]
    # Without comments, which may have lines that look like directives.
    region = _COMMENT.sub(lambda match: '\n' * match.group().count('\n') if match.group(1) else match.group(), region)
    kept, continued = [], False
    for number, line in enumerate(region.split('\n')):
        keep = continued or (number > 0 and _KEPT.match(line) is not None)
        continued = keep and line.endswith('\\')
        kept.append(line if keep else '')
    blank = (before + '\n'.join(kept) + after).split('\n')
    lines[begin:end + 1] = [line + '\n' for line in blank[:-1]] if blank[-1] == '' else [
        line + '\n' for line in blank[:-1]] + [blank[-1]]
