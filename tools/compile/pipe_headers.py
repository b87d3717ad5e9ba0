"""pipe_headers.py - refuses pipes in the places of headers: a compiler would wait for their writers for ever."""

import os
import re
import stat

from base.regular import open_regular
from failure import Failure

# Directives of any branch; the names of #include MACRO are not known.
INCLUDE = re.compile(rb'^[ \t]*(?:#|%:)[ \t]*(?:include|include_next|import|embed)[ \t]*([<"])([^<>"\n]+)[>"]',
                     re.MULTILINE)
COMMENT = re.compile(rb'//[^\n]*|/\*.*?\*/', re.DOTALL)
FOLDERS = ('-I', '-isystem', '-iquote', '-idirafter', '--include-path', '-include-path')
FILES = ('-include', '-imacros', '--include', '--imacros', '--pre-include', '-optf', '--options-file')


def folders_and_files(words):
    """The folders of headers, and the files, that flags of compilers name."""
    folders, files, words = [], [], iter(words)
    for word in words:
        name, equals, value = word.partition('=')
        joined = next(filter(word.startswith, FOLDERS), '')
        if name in FOLDERS + FILES:
            (folders if joined else files).append(value if equals else next(words, ''))
        elif joined:
            folders.append(word[len(joined):])
        elif word.startswith('@'):
            files.append(word[1:])
    return folders, files


def refuse_pipes(sources, words):
    """Raises Failure if a file that a source includes, or a flag names, is a pipe or a device."""
    folders, files = folders_and_files(words)
    waiting, seen = [*sources, *files], set()
    for path in waiting:                    # grows
        text = _read(path, seen)
        for mark, name in INCLUDE.findall(text):
            name = os.fsdecode(name)
            own = [os.path.dirname(path)] if mark == b'"' else []
            places = (os.path.join(folder, name) for folder in [*own, *folders])
            waiting += [path for path in places if os.path.exists(path) and not os.path.isdir(path)][:1]


def _read(path, seen):
    """The text of a regular file that was not read yet."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return b''      # the compiler reports it
    if (found.st_dev, found.st_ino) in seen:
        return b''
    seen.add((found.st_dev, found.st_ino))
    if stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode) and found.st_rdev != os.makedev(1, 3):
        raise Failure(f'{path}: it is no regular file')
    if not stat.S_ISREG(found.st_mode):
        return b''
    try:
        with open_regular(path, 'rb') as file:
            return COMMENT.sub(rb' ', file.read().replace(b'\\\n', b''))
    except OSError:
        return b''
