"""failure.py - the exceptions that end cfcc early, and the exit statuses of a machine that is short of something."""

import errno
import re

NO_MEMORY, NO_SPACE = 3, 4      # exit statuses
# Messages of compilers and linkers. The system kills a program with signal 9 where memory is short.
SHORT = ((NO_MEMORY, re.compile(r'out of memory|memory exhausted|annot allocate memory|failed to map segment|'
                                r'std::bad_alloc|MemoryError|Killed signal terminated|died due to signal 9|'
                                r'there is no memory')),
         (NO_SPACE, re.compile(r'No space left on device|Disk quota exceeded|File too large|'
                               r'File size limit exceeded|fatal error: (?:when|error) writing ')))
# A line about the user's source, whose text may have the same words. gcc's fatal errors name the place that it reached.
OF_SOURCE = re.compile(r':\d+:\d+: (?!fatal error: )|^ |#error')


class Failure(Exception):
    """An error, reported as a line of cfcc's own."""


class Refused(Exception):
    """The messages of a failed compiler."""


class Interrupted(Exception):
    """A signal that ends cfcc."""


class Short(Failure):
    """A compiler had no memory, or no space for its files."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


def shortage(text):
    """The exit status for the messages of a failed compiler; 0: the source is wrong."""
    lines = [line for line in text.split('\n') if not OF_SOURCE.search(line)]
    return next((status for status, pattern in SHORT if any(map(pattern.search, lines))), 0)


def exit_status(error):
    """cfcc's exit status for an exception."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(error, Short):
        return error.status
    if isinstance(error, MemoryError) or getattr(cause, 'errno', 0) == errno.ENOMEM:
        return NO_MEMORY
    is_full = getattr(cause, 'errno', 0) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return NO_SPACE if is_full or 'No usable temporary directory' in str(cause) else 1
