"""Opens regular files only: reading a pipe or a device could block, or never end."""

import errno
import os
import stat


def open_regular(path, mode='r', **how):
    """Opens a file for reading as open() does. Raises OSError if it is no regular file."""
    return open(path, mode, opener=_open_at_once, **how)    # pylint: disable=unspecified-encoding


def _open_at_once(path, flags):
    file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    kind = os.fstat(file).st_mode
    if not stat.S_ISREG(kind):
        os.close(file)
        number, text = (errno.EISDIR, 'Is a directory') if stat.S_ISDIR(kind) else (errno.EINVAL, 'no regular file')
        raise OSError(number, text, path)
    return file
