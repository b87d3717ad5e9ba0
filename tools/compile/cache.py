"""cache.py - libraries built for a check, kept until their sources change."""

import hashlib
import json
import os
import shlex
import shutil
import sys

from failure import Failure
from inputs import digest, ENVIRONMENT, is_unchanged, kept_state, now
from trust import Untrusted, open_folder, read_file


def cache_folder():
    """Returns the folder for cached files, which lib/base/files.c uses, too; None if the environment names none.
    Relative paths are ignored, as the XDG standard demands."""
    for variable, below in (('XDG_CACHE_HOME', 'cuferry'), ('HOME', '.cache/cuferry')):
        if os.path.isabs(os.environ.get(variable, '')):
            return os.path.join(os.environ[variable], below)
    return None


class Cache:
    """A cache of libraries that were built for checks, found by their inputs. Since they are executed, only files that
    no other user can have written are used."""

    KEPT = 32

    def __init__(self, options, config):
        what = [os.getcwd(), options.check, options.sources, options.c_files, options.prefix, options.includes,
                options.defines, options.cxx, options.cxx_flags, config.values,
                shutil.which(shlex.split(options.cxx)[0]), [os.environ.get(name) for name in ENVIRONMENT]]
        self.key = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]
        self.library, self.index = (self.key + end for end in ('.so', '.json'))
        self.began = now()
        self._path, self._folder = cache_folder(), None
        try:
            self._folder = open_folder(self._path) if self._path else None
        except Untrusted as error:
            self._tell(error)
        except OSError:
            pass

    def find(self, target):
        """Copies the library to the output if it is cached and a new build would give the same. Returns whether it
        did."""
        if self._folder is None:
            return False
        try:
            inputs = dict(json.loads(self._read(self.index)))
            library, key = inputs.pop(''), inputs.pop('key')    # differs if the file was renamed
            if key != self.key or not all(is_unchanged(path, kept) for path, kept in inputs.items()):
                return False
            data = self._read(self.library)
            with open(target, 'wb') as file:
                file.write(data)
            os.utime(self.index, dir_fd=self._folder)
            return digest(target) == library
        except Untrusted as error:
            self._tell(error)
            return False
        except (Failure, OSError, ValueError, KeyError, TypeError, RecursionError):
            return False

    def keep(self, library, inputs):
        """Keeps a new library, unless its inputs cannot be listed completely. A cache that cannot be written is
        ignored."""
        if self._folder is None or inputs.why_not():
            return
        try:
            found = {path: kept_state(path, self.began) for path in [*inputs.read, *inputs.absent()]}
            found.update({'': digest(library), 'key': self.key})
            with open(library, 'rb') as file:
                self._write(self.library, file.read())
            self._write(self.index, json.dumps(found).encode())
            names = [name for name in os.listdir(self._folder) if name.endswith('.json')]
            for old in sorted(names, key=lambda name: os.stat(name, dir_fd=self._folder).st_mtime)[:-self.KEPT]:
                os.remove(old, dir_fd=self._folder)
                os.remove(old[:-len('.json')] + '.so', dir_fd=self._folder)
        except (Failure, OSError):
            pass

    def _tell(self, error):
        sys.stderr.write(f'cfcc: {error}: nothing that is kept there is run, and the check is built anew; set '
                         'XDG_CACHE_HOME to a folder of your own\n')

    def _read(self, name):
        return read_file(name, self._folder, os.path.join(self._path, name))

    def _write(self, name, data):
        temporary = f'{name}.{os.getpid()}'
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with open(os.open(temporary, flags, 0o600, dir_fd=self._folder), 'wb') as file:
                file.write(data)
            os.rename(temporary, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError:
            os.remove(temporary, dir_fd=self._folder)
            raise
