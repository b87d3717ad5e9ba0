"""trust.py - opens folders and files that only the user and root can have changed; lib/base/trust.c has the same
rule."""

import os
import pwd
import stat

from failure import Failure


class Untrusted(Failure):
    """A folder or a file that others can change. The message does not advise to change its owner or mode, since what
    others have put there would then be trusted."""


def open_folder(path):
    """Returns a descriptor of a folder that no other user can have changed; creates the folder if it is missing. Each
    folder of the path is checked by its descriptor, relative to which the next one is opened."""
    words = [word for word in os.path.realpath(path).split('/') if word]
    flags, done = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, '/'
    folder = os.open('/', flags | os.O_PATH)
    try:
        for i, word in enumerate(words):
            refuse(os.fstat(folder), done, is_above=True)
            here, done = folder, os.path.join(done, word)
            try:
                folder = open_or_make(word, flags | (os.O_PATH if i + 1 < len(words) else os.O_RDONLY), here)
            finally:
                if folder != here:
                    os.close(here)
        refuse(os.fstat(folder), done)
        return folder
    except BaseException:
        os.close(folder)
        raise


def open_or_make(name, flags, folder):
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        try:
            os.mkdir(name, 0o700, dir_fd=folder)
        except FileExistsError:
            pass    # another process has created it meanwhile
        return os.open(name, flags, dir_fd=folder)


def read_file(name, folder, path):
    """Returns the content of a file in a folder from open_folder(); messages call the file `path`."""
    with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=folder),
              'rb') as file:
        status = os.fstat(file.fileno())
        refuse(status, path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f'{path} is not a file')
        return file.read()


def refuse(status, path, is_above=False):
    """Raises Untrusted if others can change a file or folder. A parent folder (`is_above`) may be writable if it is
    sticky, as /tmp is, where nobody can rename another user's files."""
    # Parents may belong to the owner of /, which is root; in some user namespaces, root has another user id, which
    # other users may have there, too.
    if status.st_uid not in (os.geteuid(), 0) and not (is_above and status.st_uid == os.stat('/').st_uid):
        raise Untrusted(f'{path} belongs to {name_of(status.st_uid)}')
    if status.st_mode & 0o022 and not (is_above and status.st_mode & stat.S_ISVTX):
        raise Untrusted(f'others can write to {path}, whose mode is {stat.S_IMODE(status.st_mode):04o}')


def name_of(uid):
    try:
        return f'{pwd.getpwuid(uid).pw_name} (uid {uid})'
    except KeyError:
        return f'uid {uid}'
