"""Splits preprocessed text into tokens with source locations and annotations with expanded macros."""

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from base.bounds import MAX_BRACKETS
from base.diagnostics import GeneratorError
from base.folders import INCLUDE
from base.model import Location
from base.regular import open_regular
from base.text import c_string, hide_macros, remove_macros
from tokens.brackets import is_even, unclosed
from tokens.lexer import find_raw_strings, spell_tokens, Token, TokenError, tokenize
from tokens.macro import expand_macros, Macros


@dataclass(frozen=True)
class Pragma:
    """The tokens of one `#pragma cf` after these two words, ending with an `end` token."""
    location: Location
    path: str       # the file's name for the preprocessor
    tokens: Tuple[Token, ...]   # tokens with macros expanded
    is_read: bool   # macros were expanded; otherwise there was an error
    blanks: Tuple[Token, ...] = ()  # comments such as /* elements? */ where an expression is expected


MARKER = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$')
_HIDDEN = re.compile(r'(?<=\n)(?=[ \t]*#)')      # text in a raw string that looks like a directive
_CONTENT = re.compile(r'[^\n]+')
_DIRECTIVE = re.compile(r'^[^\S\n]*#[^\n]*', re.MULTILINE)
_PRAGMA = re.compile(r'[ \t]*#[ \t]*pragma[ \t]+cf\b')
_ANY_PRAGMA = re.compile(r'[ \t]*#[ \t]*pragma[ \t]+')
# Further directives that have no meaning in a copy of preprocessed text.
_SPENT_PRAGMA = re.compile(r'[ \t]*#[ \t]*pragma[ \t]+(?:once|(?:GCC|clang)[ \t]+system_header|(?:push|pop)_macro)\b')
_INCLUDE = re.compile(r'#(include|import|include_next) ["<](.*?)[">](?: /\*.*)?$')
_WORD = re.compile(r'[^\W\d]\w*')
_NAMESPACE = re.compile(r'\bnamespace[ \t\n]+(?:__attribute__[ \t]*\(\(.*?\)\)[ \t\n]*)?([\w:]+)')
_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_ANY_MARKER = re.compile(r'^' + MARKER.pattern, re.MULTILINE)
# Headers of the toolkit that only cuda_runtime.h includes.
_RUNTIME = ('crt/', 'sm_', 'channel_descriptor.h', 'common_functions.h', 'cuda_device_runtime_api.h', 'device_types.h',
            'host_config.h', 'vector_functions.hpp')
# Maps macros that leave out parts of the prelude to patterns of words; a text without such words does not need the
# part.
_PARTS = {'CF__NO_MAKE': re.compile(r'\bmake_'), 'CF__NO_SIMD': re.compile(r'\b__v(?:i\w+_[su]\d|\w*[a-z][24]\b)'),
          'CF__NO_STD': re.compile(r'\bstd\b')}
_OF_CXX = re.compile(r'/c\+\+/')     # part of the path of a header of the C++ library
_DEEPER = {'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}
_BLANK = re.compile(r'/\*(?:(?!\*/).)*\?(?:[ \t]+at least (?:(?!\*/).)*)?[ \t]*\*/', re.DOTALL)
_OPENS_BLANK, _CLOSES_BLANK = ('[', '(', ',', ':', ';'), (']', ')', ',', ':', ';')
# Words that mark a header as device code, outside of macro definitions.
_DEVICE = re.compile(r'\b__(?:shared|device|global|constant|managed)__\b')


def preprocess(cxx, flags, path):
    """Runs the C++ preprocessor on a kernel file and returns the output."""
    command = [*cxx, '-E', '-dD', '-dI', '-x', 'c++', '-std=c++17', '-DCF__SCAN', '-D__CUDACC__',
               '-D__CUDACC_EXTENDED_LAMBDA__', '-D__CUDACC_RELAXED_CONSTEXPR__', '-D__HOST_DEFINES_H__', '-include',
               'limits.h', *flags, '-isystem', f'{INCLUDE}/cuferry/shadow', f'-I{INCLUDE}', path]
    if not cxx:
        raise GeneratorError('--cxx names no compiler')
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise GeneratorError(f'cannot run {cxx[0]}: {error.strerror}') from error
    if run.returncode != 0:
        raise GeneratorError(run.stderr.decode(errors='replace').rstrip())
    # Only \n and \r end a line here; str.splitlines() would also split at form feeds and other characters.
    return run.stdout.decode(errors='replace').replace('\r\n', '\n').replace('\r', '\n')


def _read_directive(lines, number):
    """Returns the directive that starts at line `number`, with its continuation lines."""
    text = lines[number - 1]
    while text.endswith('\\') and number < len(lines):
        text += '\n' + lines[number]
        number += 1
    return text


def hide_directives(text):
    """Returns preprocessed text in which a NUL precedes each line of a raw string that looks like a directive."""
    parts, at = [], 0
    for match in find_raw_strings(text):
        parts += text[at:match.start()], _HIDDEN.sub('\0', match.group())
        at = match.end()
    return ''.join([*parts, text[at:]]) if at else text


def _show_directives(text):
    return text.replace('\n\0', '\n')


class Scanner:
    """Splits the preprocessed text of a kernel file into pragmas and tokens, in order.

    The text contains macro definitions at their places (-dD) for use in annotations, because compilers leave pragmas
    unexpanded. System headers are skipped unless they contain device code or belong to the toolkit. Pragmas are read
    from the source, because the preprocessor folds their white space; other tokens are located in their source line."""

    def __init__(self, text, display, diagnostics, fixed_words):
        """`display` maps the preprocessor's file names to the names in messages and outputs. Annotations do not expand
        macros whose names are in `fixed_words`."""
        self._text = hide_directives(_with_letters(text))
        self._display = display
        self._diagnostics = diagnostics
        self._fixed = fixed_words
        self._sources: Dict[str, Optional[List[str]]] = {}
        self._macros = Macros()
        self.paths = set()      # all files read, by the preprocessor's names
        self.path = None    # the kernel file, by the preprocessor's name
        self._first_marker()
        if 'R"' in text:
            self._text = ''.join(self._settled_pieces())
        self._read, self._system = _find_read(self._text)   # files whose tokens are read, by the preprocessor's names
        self._forced = set()    # files of the compiler's options, such as -include
        self._pragmas = []      # directives that precede the next token: (line, text)
        self._defined = set()   # macros that these files define
        self._included = {}     # file: map from the headers' names in its directives to their paths, if known
        self._kept = {}         # header that the copy for the CPU includes, too: True for the library's own
        self.macros = {}        # macros of the compiler's options whose names are not reserved
        self._removed = {}      # other macros that these files undefine

    def _settled_pieces(self):
        """Yields pieces of the text. Clang adds empty lines to compensate for lines of raw strings; the pieces lack
        these lines."""
        markers = [*_ANY_MARKER.finditer(self._text)]
        for marker, following in zip(markers, [*markers[1:], None]):
            text = self._text[marker.start():following.start() if following else len(self._text)]
            if 'R"' in text and not _is_of_system(marker):
                text = _without_excess(text, self.source(unescape_name(marker.group(2))), int(marker.group(1)))
            yield text

    def _first_marker(self):
        match = MARKER.match(self._text.split('\n', 1)[0])
        if not match:
            raise GeneratorError('the preprocessor wrote no line markers')
        self.path = unescape_name(match.group(2))

    def source(self, path):
        """Returns the lines of a source file; none if it cannot be read."""
        if path not in self._sources:
            try:
                with open_regular(path, encoding='utf-8-sig', errors='replace') as file:
                    text = file.read()
                self._diagnostics.add_source(self._display(path), text)
                self._sources[path] = text.split('\n')
            except OSError:
                self._sources[path] = None
        return self._sources[path] or []

    def lines_of(self, name):
        """Returns the lines of a source file by its displayed name."""
        return self.source(self.path_of(name))

    @functools.cached_property
    def given_paths(self):
        """Returns the displayed names of headers that the compiler reads before the copy for the CPU."""
        return {self._display(path) for path in self.paths if _is_ours(path) or path in self._forced}

    @functools.cached_property
    def markers(self):
        """Maps the displayed names of files to the texts of their line markers, without the line numbers."""
        return {self._display(path): self._spell_marker(path) for path in self._read}

    @property
    def shown_paths(self):
        """Returns the displayed names of all files read."""
        return {self._display(path) for path in self.paths}

    @property
    def text(self):
        """Returns the preprocessed text."""
        return _show_directives(self._text)

    def path_of(self, name):
        """Returns the preprocessor's name of a file that was read, by its displayed name."""
        return next((p for p in [self.path, *self.paths] if self._display(p) == name), name)

    def find_included(self, file, name, location=None):
        """Returns the displayed name of the header that a file calls by this name in a directive or an annotation; None
        if no such header was read. `location`: the annotation's, for a warning if several headers match."""
        includer = self.path_of(file)
        found = self._included.get(includer, {}).get(name) or self._find_beside(includer, name)
        candidates = [found] if found else self._included_elsewhere(name) or self._nearest(includer, name)
        shown = [self._display(path) for path in candidates]
        if location and len({os.path.realpath(path) for path in candidates}) > 1:
            self._diagnostics.warn(location, f'"{name}" may be {shown[0]} or {shown[1]}; the first is taken; name the '
                                   'header as from the folder of this file')
        return shown[0] if shown else None

    def _find_beside(self, includer, name):
        beside = os.path.abspath(os.path.join(os.path.dirname(includer), name))
        return next((path for path in self.paths if os.path.abspath(path) == beside), None)

    def _included_elsewhere(self, name):
        """Returns the headers that directives of other files call by this name."""
        return [files[name] for files in self._included.values() if files.get(name)]

    def _nearest(self, includer, name):
        """Returns the headers whose paths end with the name: first the one whose path has most in common with the
        includer's, then those whose tokens are read."""
        place = os.path.abspath(os.path.join(os.path.dirname(includer), name))
        tail = '/' + '/'.join(part for part in os.path.normpath(name).split('/') if part not in ('', '..'))
        same = sorted((path for path in self.paths if os.path.abspath(path).endswith(tail)), key=os.path.abspath)
        same.sort(key=lambda path: len(os.path.commonpath([os.path.abspath(path), place])), reverse=True)
        return same[:1] + [path for path in same[1:] if path in self._read]

    def is_system(self, path):
        """True if the preprocessor's name `path` is that of a system header."""
        return path in self._system

    def includes_of(self, file):
        """Returns the names of the headers that a file includes."""
        return self._included.get(self.path_of(file), {})

    def _spell_marker(self, path):
        """Returns the text of a line marker. Files outside of the root keep absolute names; the flag for system headers
        suppresses warnings."""
        shown = self._display(path)
        name = path if os.path.isabs(path) and shown.startswith(os.pardir) else shown
        return c_string(name) + (' 3' if path in self._system else '')

    @functools.cached_property
    def given_words(self):
        """Returns the words of the headers that the copy for the CPU includes."""
        return set(_WORD.findall(self._given_text))

    @functools.cached_property
    def given_namespaces(self):
        """Returns the names of the namespaces in the headers that the copy for the CPU includes."""
        return {name for names in _NAMESPACE.findall(self._given_text) for name in names.split('::')}

    @functools.cached_property
    def _given_text(self):
        """Returns the source text of the library's headers, which the generator does not see preprocessed. Headers of
        other languages are left out, since no kernel file includes them."""
        markers = [*_ANY_MARKER.finditer(self._text)]
        ends = [marker.start() for marker in markers[1:]] + [len(self._text)]
        names = [unescape_name(marker.group(2)) for marker in markers]
        parts = [self._text[marker.end():end] for marker, end, name in zip(markers, ends, names)
                 if name not in self._read and not _toolkit_name(name)]
        for folder, _, names in os.walk(os.path.join(INCLUDE, 'cuferry')):
            for name in names:
                if name.endswith(('.hpp', '.f90')):
                    continue
                with open(os.path.join(folder, name), encoding='utf-8') as file:
                    parts.append(_COMMENT.sub(' ', file.read()))
        return '\n'.join(parts)

    def is_defined(self, name):
        """True if the file defines a macro of this name. All items have to be read."""
        return self._macros.find(name) is not None

    def unclosed(self):
        """Returns the unclosed brackets; see brackets.unclosed(). System headers are skipped, but not the expansions of
        their macros in other files."""
        parts = list(self._own_parts())
        if is_even([text for text, _, _ in parts]):
            return []
        return unclosed([token for text, path, first in parts
                         for token in self._read_lines(text.split('\n'), path, first)])

    def _own_parts(self):
        """Yields (text, path, first line) for the text between line markers, without directives and system headers."""
        markers = [*_ANY_MARKER.finditer(self._text)]
        own = {m.group(2) for m in markers if not _is_of_system(m)}
        for marker, following in zip(markers, [*markers[1:], None]):
            if marker.group(2) in own:
                text = self._text[marker.end() + 1:following.start() if following else len(self._text)]
                yield _DIRECTIVE.sub('', text), unescape_name(marker.group(2)), int(marker.group(1))

    def read_items(self):
        """Returns the items as a list. Raises TokenError where brackets nest too deep for parsers that recurse."""
        items, depth = list(self.items()), 0
        for item in items:
            if isinstance(item, Token) and item.text in _DEEPER and item.kind == 'punctuation':
                depth = max(depth + _DEEPER[item.text], 0)
                if depth > MAX_BRACKETS:
                    raise TokenError(item, f'brackets nest more than {MAX_BRACKETS} deep')
        return items

    def items(self):
        """Yields pragmas and tokens, ending with an `end` token."""
        path, number, system, skipped, given, pending = self.path, 1, False, False, False, []
        first, named, is_forced = 1, None, False
        for line in self._text.split('\n'):
            if line.startswith(('#define ', '#undef ')):       # most directives are one of these
                if not given or is_forced and not system and path != '<built-in>':
                    self._note_macro(line, is_forced)
                self._macros.directive(line)
                line = ''
            elif line.startswith('#') or (not system and _PRAGMA.match(line)):
                marker = MARKER.match(line)
                if marker:
                    yield from self._read_lines(pending, path, first)
                    pending = []
                    includer, path = path, unescape_name(marker.group(2))
                    self.paths.add(path)
                    if named in self._included.get(includer, ()) and '1' in marker.group(3).split():
                        self._included[includer][named] = path
                    number, system = int(marker.group(1)), _is_of_system(marker)
                    first, was_given = number, given
                    skipped = path not in self._read
                    is_forced = path.startswith('<') or is_forced and path != self.path     # <command-line>
                    given = skipped or is_forced or _is_ours(path)
                    if is_forced:
                        self._forced.add(path)
                    if given and not (is_forced or was_given) and '1' in marker.group(3).split():
                        name = _toolkit_name(path)
                        self._kept.setdefault(name or named or path, bool(name) or _is_ours(path))
                    continue
                if not system and _PRAGMA.match(line):
                    yield from self._read_lines(pending, path, first)
                    pending = []
                    yield self._read_pragma(line, path, number)
                    first = number + 1
                    number += 1
                    continue
                if line.startswith('#in'):
                    named = _included_name(line)
                    if named:
                        self._included.setdefault(path, {}).setdefault(named)
                if not given and _ANY_PRAGMA.match(line) and not _SPENT_PRAGMA.match(line):
                    self._pragmas.append((number, self._expand_pragma(line)))
                line = ''
            if not skipped:
                pending.append(line)
            number += 1
        yield from self._read_lines(pending, path, first)
        end = Token('end', '', self._display(path), number, 1)
        end.pragmas = tuple(text for _, text in self._pragmas)
        yield end

    def _note_macro(self, line, is_forced):
        name = _WORD.search(line, line.index(' ')).group()
        if is_forced:
            if not name.startswith(('_', 'CF_')) and name != 'NDEBUG':
                self.macros.setdefault(name)
        elif line.startswith('#define'):
            self._defined.add(name)
        elif name in self._defined:
            self._defined.remove(name)
        else:
            self._removed.setdefault(name)

    def spell_includes(self, *own):
        """Returns the directives that precede a copy of declarations. They include the prelude, headers of the library,
        those in `own`, and other headers. Macros of the compiler's options are hidden from the library's headers."""
        ours = ['cuferry/cpu/prelude.cuh', *(name for name, is_ours in self._kept.items() if is_ours), *own]
        others = [name for name, is_ours in self._kept.items() if not is_ours]
        return (self._spell_unneeded() + hide_macros(self.macros, ''.join(f'#include <{name}>\n' for name in ours)) +
                ''.join(f'#include <{name}>\n' for name in others) + remove_macros({**self.macros, **self._removed}))

    def _spell_unneeded(self):
        """Returns definitions of macros that leave out parts of the prelude that the file does not use; these parts
        take half of the prelude's compile time. Nothing is left out if other headers of the library are included, since
        they may need all of it, and some include toolkit headers, which the scan does not read."""
        if any(self._kept.values()):
            return ''
        markers = [*_ANY_MARKER.finditer(self._text)]
        ends = [marker.start() for marker in markers[1:]] + [len(self._text)]
        text = ''.join(self._text[marker.end():end] for marker, end in zip(markers, ends)
                       if '3' not in marker.group(3) or not _OF_CXX.search(marker.group(2)))
        return ''.join(f'#define {name}\n' for name, word in _PARTS.items() if not word.search(text))

    def _expand_pragma(self, line):
        """Returns a directive other than #pragma cf with macros expanded, as compilers do for some directives."""
        match = _ANY_PRAGMA.match(line)
        try:
            tokens = expand_macros(tokenize(line[match.end():], '', 1, 1), self._macros, frozenset())
        except TokenError:
            return line
        return '#pragma ' + spell_tokens(tokens)

    def _read_lines(self, lines, path, first):
        if not any(lines):
            self._pragmas = [(0, text) for _, text in self._pragmas]
            return
        file, source = self._display(path), self.source(path)
        count = len(source)
        last, column, text = 0, 0, ''
        for token in tokenize('\n'.join(lines), file, first, 1):
            if token.kind == 'end':
                break
            if token.kind == 'string':
                token.text = _show_directives(token.text)
            if self._pragmas and self._pragmas[0][0] <= token.line:
                token.pragmas = tuple(text for number, text in self._pragmas if number <= token.line)
                self._pragmas = self._pragmas[len(token.pragmas):]
            if token.line != last:
                last, column = token.line, 0
                text = source[last - 1] if last <= count else ''
            found = text.find(token.text, column)
            if found >= 0:
                token.column = found + 1
                column = found + len(token.text)
            else:
                token.column, token.exact = column + 1, False
            yield token
        self._pragmas = [(0, text) for _, text in self._pragmas]

    def _read_pragma(self, line, path, number):
        source = self.source(path)
        text = _read_directive(source, number) if number <= len(source) else line
        file = self._display(path)
        column = len(text) - len(text.lstrip()) + 1
        match = _PRAGMA.match(text)
        placed = tokenize(text[match.end():], file, number, match.end() + 1) if match else []
        # Most pragmas differ only in white space between the source and the preprocessor's output.
        is_same = match is not None and text.replace('\\\n', ' ').split() == line.split()
        tokens = placed if is_same else tokenize(line[_PRAGMA.match(line).end():], file, number, 1)
        # Otherwise the preprocessor's text counts: the pragma may come from a _Pragma() in a macro, or may continue
        # behind a comment of several lines.
        last = Token('', '', file, number, column)
        for at, token in enumerate(tokens):
            if at < len(placed) and placed[at].text == token.text and last is not None:
                last = placed[at]
                token.line, token.column = last.line, last.column
            else:
                token.line, token.column, token.exact = last.line, last.column, False
        location = Location(file, number, column)
        is_read = True
        try:
            tokens = expand_macros(tokens, self._macros, self._fixed)
        except TokenError as error:
            self._diagnostics.error(error.token.location, str(error))
            is_read = False
        blanks = _find_blanks(text, match.end(), placed) if match and text.rstrip().find('?') > 0 else ()
        return Pragma(location, path, tuple(tokens), is_read, tuple(blanks))


def _find_blanks(text, begin, placed):
    """Yields as tokens the comments between brackets or commas that end with a question mark, perhaps with a smallest
    value after it."""
    starts = [0, *(m.end() for m in re.finditer('\n', text))]
    first = placed[0].line
    places = [starts[t.line - first] + t.column - 1 for t in placed]
    for match in _BLANK.finditer(text, begin):
        behind = next(i for i, place in enumerate(places) if place >= match.end() or i == len(places) - 1)
        if behind and placed[behind - 1].text in _OPENS_BLANK and placed[behind].text in _CLOSES_BLANK:
            line = text.count('\n', 0, match.start())
            yield Token('comment', match.group(), placed[0].file, first + line, match.start() - starts[line] + 1)


def _with_letters(text):
    """Decodes non-ASCII letters of names: gcc writes them as \\U000000f6."""
    def letter(match):
        code = int(match.group(1) or match.group(2) or '0', 16)
        return chr(code) if 0xa0 <= code < 0xd800 or 0xe000 <= code < 0x110000 else match.group()
    return re.sub(r'\\\\|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})', letter, text) if re.search(r'\\[uU]', text) else text


@functools.lru_cache(maxsize=None)
def unescape_name(name):
    """Decodes a file name in a line marker; clang writes non-ASCII bytes as octal numbers."""
    def byte(match):
        text = match.group(1)
        return b'\n' if text == b'n' else bytes([int(text, 8)]) if len(text) == 3 else text
    return re.sub(rb'\\([0-7]{3}|.)', byte, os.fsencode(name)).decode(errors='replace') if '\\' in name else name


def _without_excess(text, source, first):
    """Returns the text behind a marker for line `first`, without empty lines that the source lacks."""
    def is_there(line, number):
        return 0 < number <= len(source) and source[number - 1].split() == line.split()

    parts, done, at, number = [], 0, 0, first - 1
    for match in find_raw_strings(text):
        count, end = match.group().count('\n'), text.find('\n', match.end())
        content = _CONTENT.search(text, end) if count and end >= 0 else None
        if content:
            number += text.count('\n', at, content.start())
            at = content.start()
            if count < at - end and is_there(content.group(), number - count) and \
                    not is_there(content.group(), number):
                parts.append(text[done:end])
                done = end + count
                number -= count
    return ''.join([*parts, text[done:]])


def _is_of_system(marker):
    return '3' in marker.group(3)      # flags are single digits


def _has_device_code(text, begin, end):
    return any(text[text.rfind('\n', 0, match.start()) + 1] != '#' for match in _DEVICE.finditer(text, begin, end))


def _find_read(text):
    """Returns the files whose tokens are read, and the system headers among them. Not read are system headers without
    device code, and toolkit headers that the library replaces, although other toolkit headers may still include the
    originals."""
    found, system, before, entered = set(), set(), None, {}
    for marker in [*_ANY_MARKER.finditer(text), None]:
        if before and before.group(2) not in found:
            end = marker.start() if marker else len(text)
            name = before.group(2)
            toolkit = _toolkit_name(unescape_name(name))
            # In gcc's output, a line of a system header that uses a macro of the compiler's options has no mark of
            # system headers.
            is_of_system = entered.setdefault(name, _is_of_system(before))
            if not _is_replaced(toolkit) if toolkit else (
                    not is_of_system or _has_device_code(text, before.end(), end)):
                found.add(name)
                if is_of_system:
                    system.add(name)
        before = marker
    return {unescape_name(name) for name in found}, {unescape_name(name) for name in system}


@functools.lru_cache(maxsize=None)
def _is_ours(path):
    """True for the library's headers."""
    return os.path.realpath(path).startswith(os.path.realpath(INCLUDE) + os.sep)


@functools.lru_cache(maxsize=None)
def _toolkit_folder(folder):
    """Returns the folder of the toolkit's headers in or above a folder; None if there is none."""
    if folder in ('', '/') or _is_ours(folder):
        return None
    if os.path.isfile(os.path.join(folder, 'cuda_runtime_api.h')):
        return folder
    return _toolkit_folder(os.path.dirname(folder))


@functools.lru_cache(maxsize=None)
def _toolkit_name(path):
    """Returns the name by which programs include a header of the toolkit; None for other files."""
    folder = _toolkit_folder(os.path.dirname(path))
    if folder is None or not _has_notice(path):
        return None
    return os.path.relpath(path, folder)


def _has_notice(path):
    """True for a header with NVIDIA's notice. A folder such as /usr/include has other headers, too."""
    try:
        with open_regular(path, encoding='utf-8', errors='replace') as file:
            return 'NVIDIA' in file.read(4096)
    except OSError:
        return False


def _is_replaced(name):
    """True for toolkit headers that the library's headers replace, or that only such headers include."""
    return name.startswith(_RUNTIME) or os.path.isfile(os.path.join(INCLUDE, 'cuferry', 'shadow', name))


def _included_name(line):
    """Returns the header's name in an #include directive; None for #include_next, whose header depends on the file."""
    match = _INCLUDE.match(line)
    return match.group(2) if match and match.group(1) != 'include_next' else None


def comment_above(lines, number):
    """Returns the comment block directly above line `number`, as lines without comment marks."""
    end = number - 1
    if end > len(lines):
        return ()       # a #line directive changes the line numbers
    if end >= 1 and lines[end - 1].rstrip().endswith('*/'):
        begin = end
        while begin >= 1 and '/*' not in lines[begin - 1]:
            begin -= 1
        if begin >= 1 and lines[begin - 1].lstrip().startswith('/*'):
            text = '\n'.join(lines[begin - 1:end]).strip()[2:-2]
            return tuple(re.sub(r'^[ \t]*\*? ?', '', line).rstrip() for line in text.strip().split('\n'))
    begin = end
    while begin >= 1 and lines[begin - 1].lstrip().startswith('//'):
        begin -= 1
    return tuple(re.sub(r'^[ \t]*//+ ?', '', line).rstrip() for line in lines[begin:end])
