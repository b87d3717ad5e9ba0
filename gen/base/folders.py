"""Where the generator stands, and the library's headers beside it."""

import os

GENERATOR = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _find_include():
    """Beside the generator in the source tree; PREFIX/include for an installed PREFIX/lib/cuferry/gen."""
    source, prefix = os.path.dirname(GENERATOR), os.path.dirname(os.path.dirname(os.path.dirname(GENERATOR)))
    return os.path.join(source if os.path.isdir(os.path.join(source, 'include')) else prefix, 'include')


INCLUDE = _find_include()


def source_files():
    """The names of the generator's own files, from its folder."""
    found = ['cfgen']
    for folder, _, names in os.walk(GENERATOR):
        found += [os.path.relpath(os.path.join(folder, name), GENERATOR) for name in names if name.endswith('.py')]
    return sorted(found)
