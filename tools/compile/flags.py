"""flags.py - the flags of compilers."""

import os
import re

from failure import Refused
from toolkit import find_headers, is_toolkit

# Flags that configure looks for in clang, spelled as its different versions name them.
CLANG_FLAGS = [['-Xclang', '-disable-noundef-analysis'], ['-Xclang', '-no-enable-noundef-analysis']]

# Folder in the workspace for the empty headers that replace missing ones.
MISSING = 'missing/1/2/3/4'       # deep, so that up to four ../ stay within `missing`

# Maps each check to its flags for CPU code. cf-run defines the functions that code with -fsanitize=thread calls.
CHECKS = {
    'address': ['-fsanitize=address,alignment,bounds,null', '-fno-sanitize-recover=all'],
    'undefined': ['-fsanitize=address,alignment,bounds,null,integer-divide-by-zero,shift-exponent,float-cast-overflow',
                  '-fno-sanitize-recover=all', '-DCF__CHECKED_UNDEFINED'],
    'race': ['-fsanitize=thread', '-DCF__CHECKED_ENDS'],
    'poison': ['-fsanitize=thread'],
}
# DWARF 4, because addr2line does not find functions that clang inlined in DWARF 5.
CHECK_FLAGS = ['-g', '-gdwarf-4', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls']
# clang's bounds check of locals ends in a trap without a message; AddressSanitizer reports the same accesses.
ADDRESS_FLAGS = [['-fno-sanitize=local-bounds']]
# Flags for checks of races: volatile accesses are distinguished, reads before a write are kept, and copies stay calls
# of functions, since gcc would turn small ones into moves that its sanitizer does not see.
THREAD_FLAGS = [['-Wno-tsan'], ['-U_FORTIFY_SOURCE'], ['-fno-builtin-memcpy'], ['-fno-builtin-memmove'],
                ['-fno-builtin-memset'], ['-mmemcpy-strategy=libcall:-1:noalign'],
                ['-mmemset-strategy=libcall:-1:noalign'], ['--param=tsan-distinguish-volatile=1']]
THREAD_FLAGS_OF_CLANG = [['-mllvm', '-tsan-distinguish-volatile=1'], ['-mllvm', '-tsan-instrument-read-before-write=1']]

# Flags that are accepted from an object, which anyone may have written. With them a compiler runs no other program,
# loads no code, and accesses no files except headers. The second pattern excludes some by name.
FLAGS_OF_RECORDS = re.compile(
    r'-(?:[IDU]|isystem|iquote|idirafter).+|-std=[\w+]+|-O\w*|-g(?:\d|gdb\d?|dwarf(?:-\d)?|line-tables-only)?|'
    r'-f[a-z][\w-]*(?:=[\w,:+-]*)?|-m(?!llvm)[a-z0-9][\w.-]*(?:=[\w.,:+-]*)?|-W[a-z][\w+-]*(?:=[\w+-]*)?|'
    r'-(?:ansi|pedantic|pedantic-errors|pipe|pthread|w)|-stdlib=\w+')
NOT_OF_RECORDS = re.compile(
    r'-f.*(?:plugin|use-ld|dump|file|module|mapper|list|index|save-|output|opt-info|callgraph|stack-usage|coverage|'
    r'trace|stat-report|xray|sections=|self-test|resolution|offload|report-bug|crash|embed|session|branch-prob|'
    r'compare-debug|diagnostics-(?:format|add|set))')
WITH_A_VALUE = ('-I', '-D', '-U', '-isystem', '-iquote', '-idirafter')
# Other flags whose value is the next word.
NOT_OF_RECORDS_WITH_A_VALUE = re.compile(
    r'-(?:[ABLTGloxuz]|include|imacros|iprefix|iwithprefix|iwithprefixbefore|isysroot|imultilib|M[FTQ]|wrapper|Xclang|'
    r'Xassembler|Xlinker|Xpreprocessor|mllvm|target|aux-info|dumpbase|dumpdir|-param|-sysroot|-include|-imacros)')

# Flags that cfcc refuses, with the reason: a compiler accepts them, but makes code that cannot be loaded, or other code
# than cfcc reports. `-rdc=false` and `-fPIC` are accepted, since cfcc passes them itself.
USELESS_FLAGS = {
    'nvcc': [
        (r'--?(?:rdc|relocatable-device-code)(?:=(?!false$).*)?|--?(?:dc|device-c|r|relocatable-link|dlink|device-link|'
         r'ewp|extensible-whole-program|dlto|ltoir)|--?(?:Xptxas|ptxas-options)=(?:.*,)?--?(?:c|compile-only|ewp|'
         r'extensible-whole-program)(?:,.*)?',
         'its code needs another link before a GPU can load it, and cfcc links files that call one another itself'),
        (r'--?(?:arch|gpu-architecture|code|gpu-code|gencode|generate-code)(?:=.*)?', '--targets chooses the GPUs'),
        (r'--?(?:optf|options-file)(?:=.*)?', 'cfcc cannot see the options in that file; give each with -Xnvcc'),
        (r'--?(?:keep|save-temps)', 'cfcc runs several compilations, whose files would have the same names'),
        (r'--?(?:run|fdevice-syntax-only|ptx|cubin|optix-ir|cuda|E|preprocess|M|MM|generate-dependencies|'
         r'generate-nonsystem-dependencies|dryrun|h|help|V|version)', 'it makes no image'),
    ],
    'cxx': [
        (r'-m(?:32|x32|16)', 'the library has 64 bits'),
        (r'-mabi=ms', 'the library has the calls of System V'),
        (r'-std=(?:c|gnu)\+\+(?:98|03|0x|11|1y|14)', 'kernels on the CPU need C++17'),
        (r'-fno-(?:pic|PIC|pie|PIE)', 'programs and shared objects cannot contain the code'),
        (r'-(?:M|MM|P|dM)', 'it leaves no text of the kernels for the generator'),
    ],
}


def useless_flag(compiler, words):
    """Returns the first of a compiler's flags that cfcc refuses, and the reason; None if there is none."""
    words = iter(words)
    for word in words:
        if re.fullmatch(r'--?(?:Xptxas|ptxas-options|rdc|relocatable-device-code)', word):
            word = f'{word}={next(words, "")}'
        for pattern, reason in USELESS_FLAGS[compiler]:
            if re.fullmatch(pattern, word):
                return word, reason
    return None


def nvcc_environment():
    """Maps the names of nvcc's environment variables to the flags in them."""
    return {name: os.environ.get(name, '').split() for name in ('NVCC_PREPEND_FLAGS', 'NVCC_APPEND_FLAGS')}


def link_flags(nvcc_flags):
    """Returns nvcc's link flags, spelled for nvJitLink."""
    found = []
    for flag in nvcc_flags:
        name, _, value = flag.lstrip('-').partition('=')
        if name == 'maxrregcount':
            found.append(f'-maxrregcount={value}')
        elif name in ('Xptxas', 'ptxas-options'):
            found += [f'-Xptxas={word}' for word in value.split(',')]
        elif name in ('lineinfo', 'generate-line-info', 'G', 'device-debug'):
            found.append('-g' if name in ('G', 'device-debug') else '-lineinfo')
    return found


def grouped(words):
    """Groups a command line's words into tuples: a flag with its value, or one word."""
    words = iter(words)
    groups = []
    for word in words:
        value = next(words, None) if word in WITH_A_VALUE or NOT_OF_RECORDS_WITH_A_VALUE.fullmatch(word) else None
        groups.append((word,) if value is None else (word, value))
    return groups


def refused_of_record(groups):
    """Returns the first of an object's flags that is not accepted, as a tuple of words; None if all are accepted."""
    for group in groups:
        word = group[0]
        if len(group) == 2:
            if word not in WITH_A_VALUE or group[1][:1] in ('', '-', '@'):
                return group
        elif not FLAGS_OF_RECORDS.fullmatch(word) or NOT_OF_RECORDS.match(word):
            return group
    return None


class Flags:
    """The flags of one run. Some are passed only if the compiler accepts them, which a test compilation finds out."""

    def __init__(self, workspace):
        self._workspace, self._options, self._config = workspace, workspace.options, workspace.config

    @property
    def kernel_includes(self):
        """Returns flags for generated C. The toolkit's headers are searched after the user's."""
        toolkits = [d for d in self._options.includes if is_toolkit(d)]
        toolkits += filter(None, [find_headers(self._options, self._config)])
        last = dict.fromkeys([*toolkits, self._workspace.path(MISSING)])
        return ['-isystem', os.path.join(self._config.include, 'cuferry', 'shadow'), f'-I{self._config.include}',
                *(word for folder in last for word in ('-idirafter', folder))]

    @property
    def user(self):
        return [f'-I{d}' for d in self._options.includes] + self._defines

    @property
    def _defines(self):
        return [f'-D{d}' for d in self._options.defines]

    @property
    def user_on_cpu(self):
        """Returns flags for kernel files on the CPU. The toolkit's headers are left out, since they must not be found
        before Cuferry's versions of them."""
        return [f'-I{d}' for d in self._options.includes if not is_toolkit(d)] + self._defines

    def includes(self, source):
        """Returns include flags for generated C. The source's own folder is searched first, as for the source
        itself."""
        return [*self._beside(source), *self.user]

    def includes_on_cpu(self, source):
        """Returns include flags for generated C++, in the same order."""
        return [*self._beside(source), *self.user_on_cpu]

    @staticmethod
    def _beside(source):
        return ['-iquote', os.path.dirname(source) or '.', '-iquote', '.']

    def mapped(self, name):
        """Returns flags that keep the workspace's path out of objects, and make names with random parts
        reproducible."""
        return [f'-ffile-prefix-map={self._workspace.folder}/=', f'-frandom-seed={name}']

    def host(self):
        """Returns flags for the kernels' CPU bodies."""
        return [*self._config.words('body_flags'), *self._optional(self._config.words('body_flags_of_cxx')),
                *self._options.pass_on, *self._options.cxx_flags, *self._without_lto(), *self._of_check()]

    def _without_lto(self):
        """Returns a flag that overrides the user's -flto, since GNU ld -r and objcopy find no code in objects for
        link-time optimisation."""
        return self._taken([['-fno-lto']]) if any(flag.startswith('-flto') for flag in self._options.cxx_flags) else []

    def _of_check(self):
        if not self._options.check:
            return []
        kind = CHECKS[self._options.check]
        lists = [ADDRESS_FLAGS] if '-fno-sanitize-recover=all' in kind else [THREAD_FLAGS, THREAD_FLAGS_OF_CLANG]
        return CHECK_FLAGS + kind + [word for groups in lists for word in self._taken(groups, kind)]

    def _optional(self, flags):
        """Returns those of the configured compiler's flags, and of clang's, that the user's compiler accepts."""
        if self._options.cxx == self._config['cxx']:
            return flags
        groups = [[flag] for flag in flags if flag != '-Xclang' and ['-Xclang', flag] not in CLANG_FLAGS]
        return self._taken(groups) + self._taken(CLANG_FLAGS)

    def _taken(self, groups, beside=()):
        """Returns the words of those groups of flags that the compiler accepts. Tries all together, and if that fails,
        each half."""
        words, half = [word for group in groups for word in group], len(groups) // 2
        if not words or self._takes([*beside, *words]):
            return words
        return self._taken(groups[:half], beside) + self._taken(groups[half:], beside) if half else []

    def _takes(self, flags):
        try:
            self._workspace.start(self._options.cxx, ['-Werror', *flags, '-x', 'c++', '-c', os.devnull],
                                  ['-o', self._workspace.path('none.o')]).result()
            return True
        except Refused:
            return False
