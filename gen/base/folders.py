"""Where the generator stands, and the library's headers beside it."""

import os

GENERATOR = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
INCLUDE = os.path.join(os.path.dirname(GENERATOR), 'include')


def source_files():
    """The names of the generator's own files, from its folder."""
    found = ['cfgen']
    for folder, _, names in os.walk(GENERATOR):
        found += [os.path.relpath(os.path.join(folder, name), GENERATOR) for name in names if name.endswith('.py')]
    return sorted(found)
