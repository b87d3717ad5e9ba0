"""regular.py - opens files of which only regular ones are meant: a pipe or a device would block, or never end."""

import os
import stat

from failure import Failure


def open_regular(path, mode='r', **how):
    """Opens a file as open() does. Raises Failure if it is no regular file."""
    return open(path, mode, opener=_open_at_once, **how)    # pylint: disable=unspecified-encoding


def _open_at_once(path, flags):
    file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, 0o666)
    kind = os.fstat(file).st_mode
    if not stat.S_ISREG(kind):
        os.close(file)
        raise Failure(f'{path}: ' + ('it is a folder' if stat.S_ISDIR(kind) else 'it is no regular file'))
    return file
