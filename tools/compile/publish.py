"""publish.py - moves complete files to their destinations."""

import os
import shutil
import tempfile

from failure import Failure


def publish(results):
    """Moves complete files to their destinations, all or none. A header with an unchanged text is not replaced."""
    staged = []
    try:
        for path, target in results:
            if target.endswith('.o') or target.endswith('.so') or not same(path, target):
                handle, temporary = tempfile.mkstemp(prefix='.cfcc-', dir=os.path.dirname(target) or '.')
                os.close(handle)
                staged.append((temporary, target))
                shutil.copyfile(path, temporary)
                shutil.copymode(path, temporary)
        while staged:
            os.replace(*staged[0])
            staged.pop(0)
    except OSError as error:
        raise Failure(f'cannot write {target}: {error.strerror}') from error
    finally:
        for temporary, _ in staged:
            if os.path.exists(temporary):
                os.remove(temporary)


def same(one, other):
    try:
        with open(one, 'rb') as a, open(other, 'rb') as b:
            return a.read() == b.read()
    except OSError:
        return False
