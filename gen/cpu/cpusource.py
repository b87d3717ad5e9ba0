"""Makes the copy of a kernel file that the CPU compiles: without code that no CPU kernel needs, with the same line
numbers."""

import os
import re

from base.text import c_string, include
from cpu.reachable import find_reachable
from cpu.sharedmem import find_edits, Outside
from tokens.brackets import without_attributes
from tokens.lexer import TokenError

# Directives for conditional compilation stay when a function is removed.
_KEPT = re.compile(r'[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|define|undef)\b')
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]')
_ONCE = re.compile(r'^[ \t]*#[ \t]*pragma[ \t]+once\b', re.MULTILINE)
_SYSTEM = re.compile(r'^[ \t]*#[ \t]*pragma[ \t]+(?:GCC|clang)[ \t]+system_header\b', re.MULTILINE)
_HEAP = {'new', 'delete', 'virtual'}
_LITERAL = (r'R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"|(?<!\w)\d(?:\'\w|[\w.])*|'      # numbers such as 1'000 too
            r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_COMMENT = re.compile(r'(?P<comment>/\*.*?\*/|//[^\n]*)|' + _LITERAL, re.DOTALL)
_PIECE = re.compile(_COMMENT.pattern + r'|<<<|[{}]', re.DOTALL)


def copy_for_cpu(scanner, path, declarations, kernels, functions, constants, loop_edits, report):
    """Returns the copy.

    `kernels`: declarations of the kernels that the CPU runs. `functions`: names of functions that the CPU runs instead
    of kernels. `constants`: names of constants whose values are checked. `loop_edits`: changes of find_loop() by
    declaration. `scanner` has read the file; headers with __shared__ memory become part of the copy. `report` takes an
    error and its token.

    Code that no name leads to is removed. So are host functions that only device code names: a wrapper may have its
    kernel's name."""
    source = scanner.lines_of
    kept = {id(d) for d in kernels}
    others = [d for d in declarations if not d.has('__global__')]
    data = [d for d in others if d.function is None and d.has('__constant__')]
    proven = [d for d in others if d.function is None and constants.intersection(d.names)]
    on_device = find_reachable(list(kernels) + data + proven, others)
    on_host = find_reachable([d for d in others if d.name in functions] +
                                   [d for d in on_device if d.function is None and not d.is_class], others)
    device, host = {id(d) for d in on_device}, {id(d) for d in on_host}
    gone = ({name for d in others if id(d) not in device | host for name in d.names} -
            {name for d in on_device + on_host for name in d.names})
    outside = Outside(declarations)
    edits = []      # (first token, last token): remove the range; (token, text): replace the token
    in_headers, reached = {}, {}
    for declaration in declarations:
        first, last = declaration.head[0], declaration.last
        is_needed = id(declaration) in host or id(declaration) in device and (
            declaration.function is None or _is_device(declaration))
        if declaration.is_directive and first.text == 'static_assert' and not gone.isdisjoint(declaration.words):
            if first.file == path:      # the error concerns removed code
                edits.append((first, last))
            continue
        if first.file != path:
            # Code that no kernel needs is copied too, and has to compile.
            is_needed = is_needed or id(declaration) in kept
            for edit in _find_shared_edits(declaration, outside, source, report if is_needed else _pass_over):
                in_headers.setdefault(edit[0].file, []).append(edit)
                if is_needed:
                    reached.setdefault(edit[0].file, edit[0])
            continue
        if id(declaration) in kept:
            # __global__ already includes the word.
            edits += [(t, '') for t in declaration.head if t.text == 'inline' and t.exact]
            edits += loop_edits.get(id(declaration), [])
        elif declaration.is_instantiation or not is_needed and not declaration.is_directive:
            edits.append((first, last))     # instantiated kernels may have one more parameter here
            continue
        elif declaration in data and not any(declaration.has(w) for w in ('static', 'extern', 'const', 'constexpr',
                                                                         'template')):
            place = _behind_attributes(declaration.head)
            edits.append((place, 'static ' + place.text))
        found = _find_shared_edits(declaration, outside, source, report)
        if id(declaration) in kept and declaration.body is not None and declaration.last.text == '}':
            # __shared__ memory outside of functions has an edit at this place too.
            closing = next((text for token, text in found if token is declaration.last), '}')
            found = [edit for edit in found if edit[0] is not declaration.last]
            if declaration.last_return is not None and declaration.last_return.exact:
                found.append((declaration.last_return, 'CF__END return'))
            found.append((declaration.last, 'CF__END ' + closing))
        for edit in found:      # a kernel's body may be in an included file
            if edit[0].file == path:
                edits.append(edit)
            else:
                in_headers.setdefault(edit[0].file, []).append(edit)
                reached.setdefault(edit[0].file, edit[0])
    text = _without_launches(_apply_edits(source(path), edits))
    inlined = _Inlined(scanner, path, {file: _apply_edits(source(file), found) for file, found in in_headers.items()})
    needed = [d for d in declarations if id(d) in device or id(d) in kept]
    heap = '#include "cuferry/cpu/runtime/heap.cuh"\n' if _uses_heap(needed) else ''
    text = inlined.text(text) if in_headers else text
    for file in sorted(reached.keys() - inlined.placed):
        report(reached[file], f'{file} has __shared__ memory, and how this file includes it is not understood: '
                                       'include it by its name, or by a longer one where several headers are called so')
    return f'{heap}#line 1 {c_string(path)}\n{text}'


def _pass_over(token, message):
    """Ignores an error; used instead of an error reporter."""


def _uses_heap(declarations):
    """True if device code has words for which the compiler calls the C++ library."""
    return any(token.text in _HEAP and token.kind == 'identifier' for d in declarations for token in d.body or ())


def _apply_edits(lines, edits):
    """Returns a file's text with its edits, which are in order."""
    lines = [line + '\n' for line in lines]
    for first, last in reversed(edits):
        if isinstance(last, str):
            _replace_range(lines, first, last)
        else:
            end = _find_closing_column(lines, first, last)
            if end is not None:
                _blank_range(lines, first, last.line, end)
    return ''.join(lines)


class _Inlined:
    """A kernel file in which changed headers, and headers that include them, replace the directives that include
    them."""

    def __init__(self, scanner, path, headers):
        self._source, self._path, self._headers = scanner.lines_of, path, headers
        self._known = {os.path.normpath(file): file for file in scanner.shown_paths}
        self._system = scanner.shown_system_paths
        self.placed = set()
        self._changed = {}      # file: True if it is part of the copy
        self._once = {}

    def text(self, text):
        return self._inline_headers(text, self._path)

    def _find_target(self, file, name):
        """Returns the file that a directive includes; None if it is unknown."""
        beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
        if beside in self._known:
            return self._known[beside]
        ends = [known for path, known in self._known.items() if path.endswith('/' + os.path.normpath(name))]
        return ends[0] if len(ends) == 1 else None

    def _is_changed(self, file):
        if file not in self._changed:
            self._changed[file] = file in self._headers     # ends a circle of inclusions
            lines = self._source(file) if not self._changed[file] else []
            targets = [self._find_target(file, m.group(2)) for m in map(_INCLUDE.match, lines) if m]
            self._changed[file] = self._changed[file] or any(t and self._is_changed(t) for t in targets)
        return self._changed[file]

    def _inline_headers(self, text, file):
        lines = text.split('\n')
        for number, line in enumerate(lines):
            match = _INCLUDE.match(line)
            target = self._find_target(file, match.group(2)) if match else None
            if target and target != file and self._is_changed(target):
                lines[number] = self._whole_text(target) + '\n' + self._line_marker(number + 2, file)
            elif target and file != self._path and match.group(1) == '"':
                # The path is relative to the kernel file.
                lines[number] = include(os.path.relpath(target, os.path.dirname(self._path) or '.')).rstrip('\n')
        return '\n'.join(lines)

    def _line_marker(self, number, file):
        """The flag keeps compiler warnings in system headers as few as before."""
        return f'# {number} {c_string(file)}{" 3" if file in self._system else ""}'

    def _whole_text(self, file):
        self.placed.add(file)
        if file in self._headers:
            text = self._headers[file]
        else:
            text = '\n'.join(self._source(file)) + '\n'
        guard = ''
        if _ONCE.search(text):
            guard = f'CF__ONCE_{self._once.setdefault(file, len(self._once))}'
            text = _ONCE.sub('', text)
        text = self._line_marker(1, file) + '\n' + self._inline_headers(_SYSTEM.sub('', text), file)
        return f'#ifndef {guard}\n#define {guard}\n{text}\n#endif' if guard else text


def _find_shared_edits(declaration, outside, source, report):
    """Returns the edits for __shared__ memory in order."""
    try:
        if outside.is_one(declaration):
            found = [*outside.edits(declaration, source)]
        else:
            found = [*outside.references(declaration), *find_edits(declaration.body or [], source)]
    except TokenError as error:
        report(error.token, str(error))
        found = []
    return sorted(found, key=lambda edit: (edit[0].line, edit[0].column))


def _replace_range(lines, token, text):
    line = lines[token.line - 1] if token.line <= len(lines) else ''
    if token.exact:
        begin = token.column - 1
        lines[token.line - 1] = line[:begin] + text + line[begin + len(token.text):]


def _behind_attributes(head):
    """Returns the first token of a variable's type: `static` must not precede alignas(...)."""
    plain = without_attributes(head)
    return next((t for t in plain if t.kind == 'identifier'), head[0])


def _without_launches(text):
    """Removes remaining host code that launches kernels, in classes and in initializers: the contents of the innermost
    braces around <<<."""
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


def _is_device(declaration):
    return any(t.text in ('__device__', '__global__', 'constexpr', 'consteval') for t in declaration.head)


def _find_closing_column(lines, first, last):
    """Returns the column after the last token of a declaration. Macro tokens may have locations at unrelated braces, so
    the text decides first. If the text has other braces, for example after #if, the token decides."""
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


def _blank_range(lines, first, last_line, column):
    """Blanks the text from a token to a column of a line, except line ends and directives."""
    begin, end = first.line - 1, last_line - 1
    before, after = lines[begin][:first.column - 1], lines[end][column:]
    region = ''.join(lines[begin:end + 1])[len(before):]
    region = region[:len(region) - len(after)]
    # Comments and raw strings may have lines that look like directives.
    region = _COMMENT.sub(lambda match: match.group() if match['comment'] is None and match['raw'] is None else
                          '\n' * match.group().count('\n'), region)
    kept, continued = [], False
    for number, line in enumerate(region.split('\n')):
        keep = continued or (number > 0 and _KEPT.match(line) is not None)
        continued = keep and line.endswith('\\')
        kept.append(line if keep else '')
    blank = (before + '\n'.join(kept) + after).split('\n')
    lines[begin:end + 1] = [line + '\n' for line in blank[:-1]] if blank[-1] == '' else [
        line + '\n' for line in blank[:-1]] + [blank[-1]]
