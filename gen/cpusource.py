"""A kernel file as the CPU compiles it: the source less what no CPU kernel needs, its lines kept in their places."""

import re

import collective

# What is left of a function that is taken out: directives that decide what is compiled.
_KEPT = re.compile(r'[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|define|undef)\b')
_PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|<<<|[{}]', re.DOTALL)
_COMMENT = re.compile(r'(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def copy(lines, path, declarations, kernels, functions):
    """`kernels` are the declarations of the kernels that the CPU runs as they are, `functions` the names of those that it
    runs instead of others. Taken out are: functions that none of them reaches, and all that only a host program has."""
    callable_ = [d for d in declarations if d.function is not None and not d.has('__global__')]
    # What initializes variables runs on the host as well.
    on_host = {id(d) for d in collective.reachable(
        [d for d in callable_ if _name(d) in functions] +
        [d for d in declarations if d.function is None and d.body is None], callable_)}
    on_device = {id(d) for d in collective.reachable(
        list(kernels) + [d for d in declarations if d.function is None], callable_)}
    lines = [line + '\n' for line in lines]
    kept = {id(d) for d in kernels}
    edits = []      # (first token, last token, what to put before the first; '': take it out; None: take all out)
    for declaration in declarations:
        first, last = declaration.head[0], declaration.last
        if first.file != path:
            continue
        if declaration.function is not None and id(declaration) in kept:
            # The word is in __global__ already.
            edits += [(t, t, '') for t in declaration.head if t.text == 'inline' and t.exact]
        elif declaration.function is not None and declaration.body is not None:
            if id(declaration) not in on_host and not (_is_device(declaration) and id(declaration) in on_device):
                edits.append((first, last, None))
        elif declaration.has('__constant__') and declaration.function is None and not (
                declaration.has('static') or declaration.has('extern') or declaration.has('const') or
                declaration.has('constexpr')):
            edits.append((first, last, 'static '))
    for first, last, insertion in reversed(edits):
        line = lines[first.line - 1] if first.line <= len(lines) else ''
        if insertion is not None and first.exact:
            behind = first.column - 1 + (0 if insertion else len(first.text))
            lines[first.line - 1] = line[:first.column - 1] + insertion + line[behind:]
        elif insertion is None:
            end = _closing(lines, first, last)
            if end is not None:
                _blank(lines, first, last.line, end)
    return f'#line 1 "{path}"\n' + _without_launches(''.join(lines))


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
    """The column behind the brace that closes a function. Tokens of macros may be found at braces that are not theirs, so
    the text is asked first; where it has others, as in what #if leaves out, the token."""
    if last.line > len(lines):
        return None
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
