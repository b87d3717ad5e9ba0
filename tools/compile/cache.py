"""cache.py - libraries that were built to be checked, kept until what they were built of changes."""

import hashlib
import json
import os
import shlex
import shutil
import tempfile


class Cache:
    """Libraries that were built again, by what they were built of."""

    KEPT = 32

    def __init__(self, options, config):
        base = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
        self.folder = os.path.join(base, 'cuferry')
        what = [os.getcwd(), options.check, options.sources, options.c_files, options.prefix, options.includes,
                options.defines, options.cxx, options.cxx_flags, config.values, shutil.which(shlex.split(options.cxx)[0])]
        key = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]
        self.library, self.index = (os.path.join(self.folder, key + end) for end in ('.so', '.json'))
        self.own = config.own_files()

    @staticmethod
    def digest(path):
        with open(path, 'rb') as file:
            return hashlib.sha256(file.read()).hexdigest()

    def find(self, target):
        """Whether the library is there, and as it would be built now: then it is in its place."""
        try:
            with open(self.index, encoding='utf-8') as file:
                inputs = json.load(file)
            library = inputs.pop('')
            if any(self.digest(path) != digest for path, digest in inputs.items()):
                return False
            shutil.copyfile(self.library, target)
            shutil.copymode(self.library, target)
            os.utime(self.index)
            return self.digest(target) == library
        except (OSError, ValueError, KeyError):
            return False

    def keep(self, library, inputs):
        """A cache that cannot be written is none."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            found = {path: self.digest(path) for path in [*inputs, *self.own]}
            found[''] = self.digest(library)
            for target, write in ((self.library, lambda f: shutil.copyfile(library, f)),
                                  (self.index, lambda f: self._write(f, json.dumps(found)))):
                handle, temporary = tempfile.mkstemp(dir=self.folder)
                os.close(handle)
                write(temporary)
                os.replace(temporary, target)
            shutil.copymode(library, self.library)
            names = [os.path.join(self.folder, n) for n in os.listdir(self.folder) if n.endswith('.json')]
            for old in sorted(names, key=os.path.getmtime)[:-self.KEPT]:
                os.remove(old)
                os.remove(old[:-len('.json')] + '.so')
        except OSError:
            pass

    @staticmethod
    def _write(path, text):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
