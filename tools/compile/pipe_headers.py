"""pipe_headers.py - refuses named pipes in place of headers, because a compiler would wait forever for a writer."""

import os
import re
import stat

from base.regular import open_regular
from failure import Failure, say_what_is

DIRECTIVE = re.compile(rb'[ \t]*(?:#|%:)[ \t]*(\w+)[ \t]*(.*)')
INCLUDES = (b'include', b'include_next', b'import', b'embed')
NAMED = re.compile(rb'(?:"([^"\n]+)"|<([^>\n]+)>)')
# A macro whose value is a header's name or another macro's name.
MACRO = re.compile(rb'(\w+)[ \t=]+(["<].*|\w+[ \t]*$)')
# Comments and raw strings. Other literals and headers' names are matched, too, because they may contain // and /*.
COMMENT = re.compile(rb'//[^\n]*|/\*.*?(?:\*/|\Z)|R"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z)|'
                     rb'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|include(?:_next)?[ \t]*<[^>\n]*>)', re.DOTALL)
# Maps flags and environment variables that name folders to their position in the order of the search.
FOLDERS = {'-iquote': 0, '-I': 1, '--include-path': 1, '-include-path': 1, 'CPATH': 2, '-isystem': 3,
           'C_INCLUDE_PATH': 4, 'CPLUS_INCLUDE_PATH': 4, '-idirafter': 5}
VARIABLES = ('CPATH', 'C_INCLUDE_PATH', 'CPLUS_INCLUDE_PATH')
FILES = ('-include', '-imacros', '--include', '--imacros', '--pre-include')
JOINED = ('-include', '-imacros')


def folders_and_files(words):
    """Returns the folders of headers and the files that compilers' flags and environment variables name."""
    folders = [(name, folder) for name in VARIABLES for folder in os.environ.get(name, '').split(os.pathsep)]
    files, words = [], iter(words)
    for word in words:
        name, equals, value = word.partition('=')
        joined = next(filter(word.startswith, (*FOLDERS, *JOINED)), '')
        if name in (*FOLDERS, *FILES):
            value = value if equals else next(words, '')
        elif joined:
            name, value = joined, word.removeprefix(joined)
        elif word.startswith('@'):
            name, value = FILES[0], word[1:]
        if name in FOLDERS:
            folders.append((name, value))
        elif name in FILES:
            files.append(value)
    return [folder for _, folder in sorted(folders, key=lambda found: FOLDERS[found[0]])], files


class Search:
    """The files that sources may include, with the values of macros without arguments in `#include MACRO`."""

    def __init__(self, sources, words):
        self._folders, files = folders_and_files(words)
        self._waiting, self._seen = [*sources, *files], set()
        self._values, self._users = {}, {}      # maps of a macro to its values, and to the files that include it
        for word in words:
            self._define(os.fsencode(word.removeprefix('-D')))

    def run(self):
        """Raises Failure if a file is a pipe or a device."""
        for path in self._waiting:                  # the list grows during the loop
            for word, rest in directives(_read(path, self._seen)):
                if word == b'define':
                    self._define(rest)
                elif word in INCLUDES:
                    self._include(path, rest, word)

    def _define(self, text):
        macro = MACRO.match(text)
        if macro:
            self._values.setdefault(macro[1], []).append(macro[2])
            for path in list(self._users.get(macro[1], ())):
                self._include(path, macro[2])

    def _include(self, path, text, word=b'include'):
        found, macro = NAMED.match(text), re.match(rb'\w+', text)
        if macro and path not in self._users.setdefault(macro[0], {}):
            self._users[macro[0]][path] = None
            for value in list(self._values.get(macro[0], ())):
                self._include(path, value, word)
        if found:
            own = [os.path.dirname(path)] if found[1] else []
            places = [os.path.join(folder, os.fsdecode(found[1] or found[2])) for folder in [*own, *self._folders]]
            places = [place for place in places if os.path.exists(place) and not os.path.isdir(place)]
            self._waiting += places if word == b'include_next' else places[:1]


def directives(text):
    """Yields the directives of a text outside of #if 0, as pairs (word, rest of the line)."""
    depth = 0       # number of open conditions that begin at or within an #if 0
    for line in text.split(b'\n'):
        found = DIRECTIVE.match(line)
        if not found:
            continue
        word, rest = found.groups()
        if depth:
            depth += word.startswith(b'if') - (word == b'endif')
            depth -= depth == 1 and word.startswith(b'el')
        elif word == b'if' and rest.strip() == b'0':
            depth = 1
        else:
            yield word, rest


def refuse_pipes(sources, words):
    """Raises Failure if a file that a source may include, or a flag names, is a pipe or a device."""
    Search(sources, words).run()


def _read(path, seen):
    """Returns the text of a regular file; b'' if it was read before."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return b''      # the compiler reports it
    if (found.st_dev, found.st_ino) in seen:
        return b''
    seen.add((found.st_dev, found.st_ino))
    if stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode) and found.st_rdev != os.makedev(1, 3):
        raise Failure(f'{path}: {say_what_is(path)}')
    if not stat.S_ISREG(found.st_mode):
        return b''
    try:
        with open_regular(path, 'rb') as file:
            return COMMENT.sub(lambda part: part[2] or b' ', file.read().replace(b'\\\n', b''))
    except OSError:
        return b''
