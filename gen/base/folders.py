"""Paths of the generator and of the library's headers."""

import os

GENERATOR = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _find_include():
    """Returns the folder of the headers: beside the generator in the source tree, or PREFIX/include if the generator is
    installed in PREFIX/lib/cuferry/gen."""
    source, prefix = os.path.dirname(GENERATOR), os.path.dirname(os.path.dirname(os.path.dirname(GENERATOR)))
    return os.path.join(source if os.path.isdir(os.path.join(source, 'include')) else prefix, 'include')


INCLUDE = _find_include()


def source_files():
    """Returns the names of the generator's files, relative to its folder."""
    found = ['cfgen']
    for folder, _, names in os.walk(GENERATOR):
        found += [os.path.relpath(os.path.join(folder, name), GENERATOR) for name in names if name.endswith('.py')]
    return sorted(found)
