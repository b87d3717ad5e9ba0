"""Finds code that only GPUs run: code under conditions on the macro __CUDA_ARCH__, which is not defined on the CPU."""

import re

from cpu.collective import find_reached
from cpu.effects import list_functions
from tokens.lexer import blank_comments, TokenError

_DIRECTIVE = re.compile(r'[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif|define)\b(.*)')
_ARCH = re.compile(r'__CUDA_ARCH\w*')
_NAME = re.compile(r'(?<![\w.])(?<!->)[A-Za-z_]\w*')     # a name that follows no . or ->, so that it names no member


class _ArchCode:
    """The code of a file under conditions on __CUDA_ARCH__, or on macros that are defined under such conditions. A
    condition with an #else is left out, even if the #else is empty, because the source then says what the CPU runs."""

    def __init__(self, lines, is_defined):
        self._is_defined = is_defined
        self._of_arch = set()       # macros that conditions on __CUDA_ARCH__ define
        self._code = {}             # maps a line number to (text, line number of the condition, condition)
        self._stack = []            # open conditions: None for one without __CUDA_ARCH__, False for an unknown one
        directive = ''
        for number, line in enumerate(blank_comments('\n'.join(lines)).split('\n'), 1):
            directive += line if directive or _DIRECTIVE.match(line) else ''
            if directive.endswith('\\'):
                directive = directive[:-1] + ' '
            elif directive:
                self._read(number, *_DIRECTIVE.match(directive).groups())
                directive = ''
            elif line.strip(' \t\r{};') and any(self._stack) and False not in self._stack:
                self._code[number] = (line, *next(filter(None, reversed(self._stack))))

    def _read(self, number, word, rest):
        rest = ' '.join(rest.split())
        if word in ('if', 'ifdef', 'ifndef'):
            self._stack.append(self._judge(number, f'#{word} {rest}', rest))
        elif word == 'endif' and self._stack:
            self._stack.pop()
        elif word == 'elif' and self._stack:
            before, judged = self._stack[-1], self._judge(number, f'#elif {rest}', rest)
            if judged is not None:      # all branches of an #if have the line number of the #if
                self._stack[-1] = judged and (before[0] if before else number, judged[1])
        elif word == 'else' and self._stack and self._stack[-1]:
            begin, self._stack[-1] = self._stack[-1][0], None
            self._code = {line: code for line, code in self._code.items() if code[1] != begin}
        elif word == 'define' and (any(self._stack) or _ARCH.search(rest)):
            self._of_arch.update(_NAME.findall(rest)[:1])

    def _judge(self, number, directive, condition):
        """Judges a condition on __CUDA_ARCH__. A condition that also needs an undefined macro may be false on GPUs,
        too."""
        names = [n for n in _NAME.findall(condition) if n != 'defined']
        other = [n for n in names if not _ARCH.fullmatch(n) and n not in self._of_arch]
        if condition == '0' or not all(n.startswith('__') or self._is_defined(n) for n in other):
            return False
        return (number, directive) if len(other) < len(names) else None

    def between(self, first, last):
        """Returns (text, condition) of each line under a condition on __CUDA_ARCH__, if both stand from line `first` to
        line `last`."""
        return [(text, directive) for number, (text, begin, directive) in self._code.items()
                if first <= begin < number <= last]


class ArchOnly:
    """Finds functions whose code, or a part of it, is missing on the CPU."""

    def __init__(self, scanner, declarations):
        self._scanner, self._declarations = scanner, declarations
        self._files = {}

    def _between(self, first, last):
        if first.file not in self._files:
            self._files[first.file] = _ArchCode(self._scanner.lines_of(first.file), self._scanner.is_defined)
        return self._files[first.file].between(first.line, last.line) if first.file == last.file else []

    def check(self, kernel, token, params):
        """Raises TokenError if a kernel or a function that it calls has no code on the CPU, or if the code that writes
        one of the kernel's arrays is only for GPUs. `token`: the place of the error."""
        for declaration in find_reached(kernel, self._declarations):
            for name, first, last in _find_empty(declaration):
                self._refuse(self._between(first, last), name, f'{name.text} has no code on the CPU: all of its body')
        if kernel.body:
            words = {t.text for before, t in zip([None, *kernel.body], kernel.body)
                     if before is None or before.text not in ('.', '->')}
            for param in params:
                lost = [line for line in self._between(kernel.head[0], kernel.last)
                        if param.is_written and param.name not in words and param.name in _NAME.findall(line[0])]
                self._refuse(lost, token, f'{token.text} does not touch {param.name} on the CPU: the code for it')

    def find_parts(self, kernel):
        """Yields (token, message) for each function whose code is missing in part on the CPU. A part that contains a
        return gets no message, since the code after it computes the same result, and the CPU runs that code."""
        for declaration in find_reached(kernel, self._declarations):
            for name, first, last in _find_functions(declaration):
                lines = self._between(first, last)
                returns = {condition for text, condition in lines if 'return' in _NAME.findall(text)}
                lines = [line for line in lines if line[1] not in returns]
                if lines:
                    yield name, (f'the CPU leaves out the code of {name.text} under {lines[0][1]}: it does not define '
                                 "__CUDA_ARCH__; put the CPU's code under #else, or nothing if that is meant")

    @staticmethod
    def _refuse(lines, token, text):
        if lines:
            raise TokenError(token, f'{text} is under {lines[0][1]}, and the CPU does not define __CUDA_ARCH__; put '
                             "the CPU's code under #else, or nothing if that is meant, or add host(none) to the "
                             'annotation, or host(function) with a function for the CPU')


def _find_functions(declaration):
    """Yields (name, first token, last token) of each function in a declaration that has code."""
    if declaration.function is not None:
        if declaration.body:
            yield declaration.head[declaration.function], declaration.head[0], declaration.last
    elif declaration.is_class:
        for name, tokens in list_functions(declaration):
            if name:
                yield name, tokens[0], tokens[-1]


def _find_empty(declaration):
    """Yields (name, first token, last token) of each function in a declaration whose body is empty."""
    if declaration.function is not None:
        if declaration.body == [] and (declaration.has('__device__') or declaration.has('__global__')):
            yield declaration.head[declaration.function], declaration.head[-1], declaration.last
    elif declaration.is_class:
        for name, tokens in list_functions(declaration):
            if name and [t.text for t in tokens[-2:]] == ['{', '}']:
                yield name, tokens[-2], tokens[-1]
