"""flags.py - what compilers are told."""

import os
import re

from failure import Refused

# What configure looks for in clang, by the names that its versions have for it.
CLANG_FLAGS = [['-Xclang', '-disable-noundef-analysis'], ['-Xclang', '-no-enable-noundef-analysis']]

# What is checked, and how the CPU code is compiled for it. The functions that -fsanitize=thread has called are cf-run's.
CHECKS = {
    'address': ['-fsanitize=address,alignment,bounds,null,integer-divide-by-zero', '-fno-sanitize-recover=all'],
    'race': ['-fsanitize=thread', '-DCF__CHECKED_ENDS'],
    'poison': ['-fsanitize=thread'],
}
# addr2line does not see what clang inlined in DWARF 5.
CHECK_FLAGS = ['-g', '-gdwarf-4', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls']
# clang's bounds of locals end in a trap that tells nothing, where AddressSanitizer tells all.
ADDRESS_FLAGS = [['-fno-sanitize=local-bounds']]
# Volatile accesses are told from others, reads that a write follows are not left out, nor are copies: gcc makes moves of
# those of a few bytes behind its sanitizer's back.
THREAD_FLAGS = [['-Wno-tsan'], ['-fno-builtin-memcpy'], ['-fno-builtin-memmove'], ['-fno-builtin-memset'],
                ['-mmemcpy-strategy=libcall:-1:noalign'], ['-mmemset-strategy=libcall:-1:noalign'],
                ['--param=tsan-distinguish-volatile=1'], ['-mllvm', '-tsan-distinguish-volatile=1'],
                ['-mllvm', '-tsan-instrument-read-before-write=1']]

# Flags that are taken from an object, which anyone can have written: with them a compiler runs no program, loads no
# code, and reads or writes no file but headers. The second pattern excludes flags by their names.
FLAGS_OF_RECORDS = re.compile(
    r'-(?:[IDU]|isystem|iquote|idirafter).+|-std=[\w+]+|-O\w*|-g(?:\d|gdb\d?|dwarf(?:-\d)?|line-tables-only)?|'
    r'-f[a-z][\w-]*(?:=[\w,:+-]*)?|-m(?!llvm)[a-z0-9][\w.-]*(?:=[\w.,:+-]*)?|-W[a-z][\w+-]*(?:=[\w+-]*)?|'
    r'-(?:ansi|pedantic|pedantic-errors|pipe|pthread|w)|-stdlib=\w+')
NOT_OF_RECORDS = re.compile(
    r'-f.*(?:plugin|use-ld|dump|file|module|mapper|list|index|save-|output|opt-info|callgraph|stack-usage|coverage|'
    r'trace|stat-report|xray|sections=|self-test|resolution|offload|report-bug|crash|embed|session|branch-prob|compare-debug|'
    r'diagnostics-(?:format|add|set))')
WITH_A_VALUE = ('-I', '-D', '-U', '-isystem', '-iquote', '-idirafter')
# Other flags whose value is the next word.
NOT_OF_RECORDS_WITH_A_VALUE = re.compile(
    r'-(?:[ABLTGloxuz]|include|imacros|iprefix|iwithprefix|iwithprefixbefore|isysroot|imultilib|M[FTQ]|wrapper|Xclang|'
    r'Xassembler|Xlinker|Xpreprocessor|mllvm|target|aux-info|dumpbase|dumpdir|-param|-sysroot|-include|-imacros)')


def grouped(words):
    """A command line's words as tuples: a flag and its value, or one word."""
    words = iter(words)
    groups = []
    for word in words:
        value = next(words, None) if word in WITH_A_VALUE or NOT_OF_RECORDS_WITH_A_VALUE.fullmatch(word) else None
        groups.append((word,) if value is None else (word, value))
    return groups


def refused_of_record(groups):
    """The first of an object's flags that is not taken from there, as a tuple of words; None where all are."""
    for group in groups:
        word = group[0]
        if len(group) == 2:
            if word not in WITH_A_VALUE or group[1][0] in '-@':
                return group
        elif not FLAGS_OF_RECORDS.fullmatch(word) or NOT_OF_RECORDS.match(word):
            return group
    return None


class Flags:
    """The flags of one run, some of which a compiler is asked about."""

    def __init__(self, workspace):
        self._workspace, self._options, self._config = workspace, workspace.options, workspace.config

    @property
    def kernel_includes(self):
        """Headers that stand in for the toolkit's come after the user's."""
        return ['-isystem', os.path.join(self._config.include, 'cuferry', 'shadow'), f'-I{self._config.include}']

    @property
    def user(self):
        return [f'-I{d}' for d in self._options.includes] + [f'-D{d}' for d in self._options.defines]

    def includes(self, source):
        """For generated C and C++: the user's headers as the source finds them, by its own folder first."""
        return ['-iquote', os.path.dirname(source) or '.', '-iquote', '.', *self.user]

    def mapped(self, name):
        """Keeps our folder out of objects, and what is made of random numbers the same each time."""
        return [f'-ffile-prefix-map={self._workspace.folder}/=', f'-frandom-seed={name}']

    def host(self):
        """For the kernels as the CPU runs them."""
        return [*self._config.words('body_flags'), *self._optional(self._config.words('body_flags_of_cxx')),
                *self._options.pass_on, *self._options.cxx_flags, *self._of_check()]

    def _of_check(self):
        if not self._options.check:
            return []
        kind = CHECKS[self._options.check]
        wanted = ADDRESS_FLAGS if self._options.check == 'address' else THREAD_FLAGS
        return CHECK_FLAGS + kind + [word for words in wanted if self._takes([*kind, *words]) for word in words]

    def _optional(self, flags):
        """Those of the configured compiler's own flags that another one takes too, and those of clang's."""
        if self._options.cxx == self._config['cxx']:
            return flags
        groups = [[flag] for flag in flags if flag != '-Xclang' and ['-Xclang', flag] not in CLANG_FLAGS] + CLANG_FLAGS
        return [flag for group in groups if self._takes(group) for flag in group]

    def _takes(self, flags):
        try:
            self._workspace.start(self._options.cxx, ['-Werror', *flags, '-x', 'c++', '-c', os.devnull],
                                  ['-o', self._workspace.path('none.o')]).result()
            return True
        except Refused:
            return False
