"""inputs.py - lists, for caches, all that the result of a build depends on: files that were read, and paths without a
file where a new file would be found before one that was read."""

import glob
import hashlib
import os
import re
import shlex
import shutil
import stat
import sys
import time

from base.regular import open_regular
from depfile import words_of
from failure import Refused
from flags import grouped, MISSING, nvcc_environment, refused_of_record
from toolkit import find_headers, find_nvcc, toolkit_places

# Environment variables that change what compilers do. lib/program/cfcc.c has the same list for its keys.
ENVIRONMENT = ('PATH', 'CPATH', 'C_INCLUDE_PATH', 'CPLUS_INCLUDE_PATH', 'COMPILER_PATH', 'GCC_EXEC_PREFIX',
               'LIBRARY_PATH', 'LD_LIBRARY_PATH', 'LD_PRELOAD', 'LD_RUN_PATH', 'CCC_OVERRIDE_OPTIONS',
               'SOURCE_DATE_EPOCH', 'NVCC_PREPEND_FLAGS', 'NVCC_APPEND_FLAGS', 'NVCC_CCBIN', 'PYTHONPATH',
               'PYTHONHOME')
# Names whose values do not depend on the headers' text alone, such as __TIME__, and trigraphs.
UNKNOWN = ('__has_include', '__has_embed', '__DATE__', '__TIME__', '__TIMESTAMP__', '??=', '??/')
ASKED = re.compile(r'__has_include(?:_next)?\s*\(\s*[<"]([^<>"\n]+)[>"]\s*\)')
# Comments and literals, whose words ## cannot paste to names.
NO_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?', re.DOTALL)
# Flags with which nvcc reads no further file: they have no path, no file of options and no word for another program.
NVCC_FLAGS = re.compile(r'--?(?!optf|options-file|ccbin|compiler-bindir|Xcompiler|compiler-options|include|pre-include)'
                        r'[A-Za-z][\w-]*(?:=[\w.,+-]*)?')
LARGEST = 1 << 20   # most bytes of a file that is compared by its content
FOLDER = 'folder'   # the state of a folder


def state(path):
    """Returns the state of a regular file, or None. A user can set a file's modification time, but not its change time
    (ctime)."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return [found.st_size, found.st_dev, found.st_ino, found.st_ctime_ns]


def digest(path):
    with open_regular(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def kept_state(path, began):
    """Returns a file's state for a cache, FOLDER for a folder, or None if there is neither. Raises OSError if the file
    has changed since the time `began`, in nanoseconds of now(), because the build may have read an older version."""
    found = state(path) or (FOLDER if os.path.isdir(path) else None)
    if found == FOLDER:
        return found
    if found and found[3] >= began:
        raise OSError(f'{path} has changed meanwhile')
    return found and [*found, digest(path) if found[0] <= LARGEST else '']


def is_unchanged(path, kept):
    """True if a path still has the file with the state `kept`, or one with the same content; if `kept` is FOLDER or
    None, true if there still is a folder, or nothing."""
    found = state(path)
    if found is None or kept in (FOLDER, None):
        return found is None and kept == (FOLDER if os.path.isdir(path) else None)
    return found[0] == kept[0] and (found == kept[:4] or found[0] <= LARGEST and digest(path) == kept[4])


def now():
    """Returns the time of the clock that file systems use, in nanoseconds."""
    return time.clock_gettime_ns(5)     # CLOCK_REALTIME_COARSE


def unknown_names(texts):
    """True if the texts use one of the names in UNKNOWN, or if ## may build one from their words of more than one
    letter."""
    tokens, is_pasted = set(), False
    for text in texts:
        text = re.sub(r'\\[ \t\r]*\n', '', text)
        if any(name in text for name in UNKNOWN):
            return True
        is_pasted |= '##' in text or '%:%:' in text
        tokens.update(re.findall(r'\b(?:_|\w\w+)\b', NO_TOKENS.sub(' ', text)))
    return is_pasted and any(is_made_of(tokens, name) for name in UNKNOWN)


def is_made_of(tokens, name):
    """True if a name can be put together from tokens."""
    ends = {0}
    for end in range(1, len(name) + 1):
        ends.update({end} if any(name[begin:end] in tokens for begin in ends) else ())
    return len(name) in ends


def read_text(path):
    try:
        with open_regular(path, encoding='utf-8', errors='surrogateescape') as file:
            return file.read()
    except OSError:
        return ''


def is_flag(word):
    return word.startswith(('-', '@'))


def joined(folder, path):
    """Returns an absolute path. Only /./ is taken out; without ../ removed, the path follows the same symbolic
    links."""
    return re.sub(r'/(?:\./)+', '/', os.path.join(folder, path) + '/').rstrip('/') or '/'


class Inputs:
    """The inputs of a finished build."""

    def __init__(self, compilation, made):
        self.workspace, self.options = compilation.workspace, compilation.options
        self.config, self.flags, self.toolkit = compilation.config, compilation.flags, compilation.toolkit
        self.folder = os.getcwd()
        own = self.workspace.folder + '/'
        made = set(map(os.path.realpath, made))
        named = [*words_of(self.workspace), *self.options.gpu_code, *filter(None, [self.options.tuning])]
        self.sources = [path for path in dict.fromkeys(joined(self.folder, word) for word in named)
                        if not path.startswith(own) and os.path.realpath(path) not in made]
        own_folders, _, _ = self._folders_of_compiler()
        searched, doubles, lacking = self._searched()
        self.searched = [*doubles, *searched]
        headers = find_headers(self.options, self.config)
        self._top = self._top_of_nvcc() if self.toolkit else None
        self._system = tuple(os.path.realpath(path) + '/' for path in [
            *own_folders, self.config.include, *filter(None, [headers, self._top])])
        self.programs = self._programs()
        own_files = self.config.own_files()     # packages may leave some out
        self._lacking = [*(path for path in own_files if not state(path)), *lacking]
        # A folder that is searched under two names may later become two folders. Its headers are then found under the
        # other name first, so that both names are listed.
        names = self._names(self.searched) if doubles else ()
        twice = (f'{folder}/{name}' for folder in doubles for name, _ in names)
        self.read = [*dict.fromkeys([*self.sources, *filter(state, own_files), *self.programs, *filter(state, twice)])]

    def _is_systems(self, path):
        """True for a header of a compiler or of Cuferry."""
        return os.path.realpath(path).startswith(self._system)

    def why_not(self):
        """Returns the reason why the result cannot be kept; '' if it can."""
        commands = [word for command in (self.options.cxx, self.options.cc) for word in shlex.split(command)[1:]]
        words = [*commands, *self.options.cxx_flags]
        refused = refused_of_record([*grouped(self.options.cxx_flags), *grouped(filter(is_flag, commands))])
        native = next((word for word in words if word.endswith('=native')), None)
        nvcc = [*self.options.nvcc_flags, *(word for words in nvcc_environment().values() for word in words)]
        wrong = [*(refused or ()), *filter(None, [native]), *(
            word for word in nvcc if not NVCC_FLAGS.fullmatch(word) and not word.startswith('-D'))]
        if wrong:
            return f'the flag {wrong[0]} may read further files'
        if self.options.targets == 'native':
            return '--targets=native depends on the machine'
        if self.toolkit and len({*self.toolkit.targets.sm, *self.toolkit.targets.ptx}) > 1:
            return 'the depfile is that of one target among several'
        barred = next((place for place in self._passed_over()
                       if os.path.exists(place) and not os.access(place, os.X_OK)), None)
        if barred:
            return f'{barred} cannot be run, and a program of this name in another folder was'
        texts = [read_text(path) for path in self.sources if not self._is_systems(path)]
        if unknown_names([*texts, *self.options.defines, *words, *nvcc]):
            return 'a source has a date, or asks for headers'
        return ''

    def absent(self):
        """Returns paths without a file where a new header or program would be found before one that was used."""
        users = [os.path.dirname(path) for path in self.sources if not self._is_systems(path)]
        folders = [*dict.fromkeys(users), *self.searched]     # a user's folder may also be searched
        found, known = set(self._lacking), {}
        for name, number in self._names(folders):
            for folder in folders[:number]:
                place = self._missing(folder, name.split('/'), known)
                if place:
                    found.add(place)
        found.update(place for place in self._passed_over() if not os.path.exists(place))
        places = toolkit_places(self.options, self.config)
        found.update(place for place in (joined(self.folder, path) for path in places) if not os.path.exists(place))
        return sorted(found)

    def _names(self, folders):
        """Returns the names of headers, each with the number of folders that were searched before it was found."""
        missing = self.workspace.path(MISSING) + '/'
        names = {(word[len(missing):], len(folders)) for word in words_of(self.workspace) if word.startswith(missing)}
        for path in self.sources:
            names.update((path[len(folder) + 1:], number) for number, folder in enumerate(folders)
                         if path.startswith(f'{folder}/'))
            if self._is_systems(path):
                names.update((name, len(folders)) for name in ASKED.findall(read_text(path)))
        return names

    def _passed_over(self):
        """Yields paths where a new program would be found before one that ran."""
        for path in self.programs:
            for folder in os.get_exec_path() if os.path.dirname(path) in os.get_exec_path() else ():
                place = joined(self.folder, os.path.join(folder, os.path.basename(path)))
                if place == path:
                    break
                yield place

    def write(self, path):
        """Writes the inputs for lib/program/headers.c: the reason of why_not(), each file after '+', and each path
        without a file after '-'. A zero byte ends each entry."""
        why = self.why_not()
        texts = [why] if why else ['', *(f'+{name}' for name in self.read), *(f'-{name}' for name in self.absent())]
        with open(path, 'wb') as file:
            file.write(b''.join(os.fsencode(text) + b'\0' for text in texts))

    @staticmethod
    def _missing(folder, parts, known):
        """Returns the first part of the path folder/parts that does not exist, or the whole path if it is no file; None
        if it is a file."""
        for part in parts:
            folder = f'{folder}/{part}'
            if folder not in known:     # also False for a dangling link
                known[folder] = os.path.exists(folder)
            if not known[folder]:
                return folder
        return None if state(folder) else folder

    def _searched(self):
        """Returns the results of _ask() for the sources' flags."""
        beside = [word for path in self.options.sources for word in self.flags.includes_on_cpu(path)]
        return self._ask([*self.options.cxx_flags, *beside, *self.flags.kernel_includes])

    def _folders_of_compiler(self):
        return self._ask([], ['env', '-u', 'CPATH', '-u', 'C_INCLUDE_PATH', '-u', 'CPLUS_INCLUDE_PATH'])

    def _ask(self, flags, before=()):
        """Returns three lists: the folders that a compiler searches for headers, in its order; other names under which
        it was given the same folders; and folders that do not exist."""
        try:
            text = self.workspace.runner.start([*before, *shlex.split(self.options.cxx), *flags, '-E', '-v', '-x',
                                                'c++', os.devnull]).result()
        except Refused:
            return [], [], []
        found = re.search(r'^#include "\.\.\." search starts here:$(.*)^End of search list', text,
                          re.MULTILINE | re.DOTALL)
        searched = self._joined(line[1:] for line in (found.group(1).split('\n') if found else ())
                                if line.startswith(' '))
        doubles, lacking = (self._joined(re.findall(rf'^ignoring {kind} directory "(.*)"$', text, re.MULTILINE))
                            for kind in ('duplicate', 'nonexistent'))
        return searched, [folder for folder in doubles if folder not in searched], lacking

    def _joined(self, folders):
        return [joined(self.folder, folder) for folder in folders if not folder.startswith(self.workspace.folder)]

    def _top_of_nvcc(self):
        """Returns the toolkit's folder as nvcc itself reports it, because nvcc may be a script that runs another
        nvcc."""
        try:
            said = self.workspace.runner.start([self.toolkit.nvcc, '--dryrun', '-x', 'cu', '-c', os.devnull, '-o',
                                                os.devnull]).result()
        except Refused:
            said = ''
        found = re.search(r'^#\$ TOP=(.*)$', said, re.MULTILINE)
        return os.path.realpath(found.group(1) if found else f'{os.path.realpath(self.toolkit.nvcc)}/../..')

    def _programs(self):
        """Returns the files of compilers, linkers and the Python interpreter."""
        words = [word for name in ('cxx', 'cc') for word in shlex.split(getattr(self.options, name))
                 if not word.startswith('-')] + [self.config['ld'], self.config['objcopy']]
        found = [sys.executable, find_nvcc(self.config), *(shutil.which(word) or word for word in words)]
        for name, parts in (('cxx', ('cc1plus', 'as', 'collect2', 'ld')), ('cc', ('cc1',))):
            for part in parts:
                try:
                    found.append(self.workspace.runner.start([*shlex.split(getattr(self.options, name)),
                                                              f'-print-prog-name={part}']).result().strip())
                except Refused:
                    pass
        if self.toolkit:
            top = glob.escape(self._top)
            found += [self.toolkit.nvcc, *glob.glob(f'{top}/bin/*'), *glob.glob(f'{top}/nvvm/bin/*'),
                      *glob.glob(f'{top}/nvvm/libdevice/*')]
        paths = (joined(self.folder, shutil.which(path) or path) for path in found if path)
        return [path for path in dict.fromkeys(paths) if state(path)]
