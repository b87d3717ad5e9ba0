"""failure.py - the exceptions that end cfcc early, and the exit statuses for a lack of memory or disk space."""

import errno
import os
import re
import resource
import signal
import stat

NO_MEMORY, NO_SPACE = 3, 4      # exit statuses
# Patterns of compilers' and linkers' messages about a lack of memory or disk space. The kernel kills a program with
# signal 9 if memory is short.
SHORT = ((NO_MEMORY, re.compile(r'out of memory|memory exhausted|annot allocate memory|failed to map segment|'
                                r'std::bad_alloc|MemoryError|Killed signal terminated|died due to signal 9|'
                                r'there is no memory')),
         (NO_SPACE, re.compile(r'No space left on device|Disk quota exceeded|File too large|'
                               r'File size limit exceeded|fatal error: (?:when|error) writing ')))
# Patterns of messages about a compiler's crash; some compilers crash if a write or an allocation fails.
CRASH = re.compile(r'internal compiler error|died due to signal|\(core dumped\)|terminated by signal|bug report|'
                   r'command failed due to signal|^LLVM ERROR|^Fatal Python error|Segmentation fault|Bus error|Aborted')
# Lines about the user's source, which may contain the same words. Fatal errors of gcc do not count, since they name a
# place in the source whatever their cause is.
OF_SOURCE = re.compile(r':\d+:\d+: (?!(?:fatal|internal compiler) error: )|\(\d+\): (?:error|warning)|^ |#error')


class Failure(Exception):
    """An error that cfcc reports as one line."""


class Refused(Exception):
    """The messages of a failed compiler."""


class Interrupted(Exception):
    """A signal that ends cfcc."""


class Short(Failure):
    """A compiler had no memory, or no space for its files."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


def say_what_is(path):
    """Returns the end of a message that says which kind of file is at a path, where another kind is needed."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        code = getattr(error, 'errno', errno.ENOENT)
        return 'no such file' if code == errno.ENOENT else os.strerror(code)
    return 'it is ' + ('a folder' if stat.S_ISDIR(mode) else 'a pipe' if stat.S_ISFIFO(mode) else
                       'a socket' if stat.S_ISSOCK(mode) else 'a file' if stat.S_ISREG(mode) else 'a device')


def is_limited(*limits):
    """True if this process has one of the resource limits, which its compilers inherit."""
    return any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for limit in limits)


def shortage(code, text):
    """Returns cfcc's exit status for the exit status and the output of a compiler that failed; 0 if the source is
    wrong."""
    lines = [line for line in text.split('\n') if not OF_SOURCE.search(line)]
    status = next((status for status, pattern in SHORT if any(map(pattern.search, lines))), 0)
    status = status or {-signal.SIGKILL: NO_MEMORY, -signal.SIGXFSZ: NO_SPACE}.get(code, 0)
    if status or not (code < 0 or any(map(CRASH.search, lines))):
        return status
    if is_limited(resource.RLIMIT_AS, resource.RLIMIT_DATA):
        return NO_MEMORY
    return NO_SPACE if is_limited(resource.RLIMIT_FSIZE) else 0


def exit_status(error):
    """Returns cfcc's exit status for an exception."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(error, Short):
        return error.status
    if isinstance(error, MemoryError) or getattr(cause, 'errno', 0) == errno.ENOMEM:
        return NO_MEMORY
    is_full = getattr(cause, 'errno', 0) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return NO_SPACE if is_full or 'No usable temporary directory' in str(cause) else 1
