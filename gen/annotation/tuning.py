"""Reads a file of cf-tune, which lists the fastest variants of tuned kernels."""

import sys

from base.diagnostics import GeneratorError

HEADER = 'cuferry tuning 1'
WORDS = 5       # function, version, architecture, class, variant; the rest is for people


def read_tuning(text, path, files, prefix):
    """Maps each C function of these kernel files to its lines, unchanged: the library reads them in the same way as a
    user's file. Lines of other functions are ignored; if all lines are, a message says so."""
    lines = text.split('\n')
    if lines[0] != HEADER:
        raise GeneratorError(f"{path}:1: it does not begin with '{HEADER}'")
    variants = {f'{prefix}_{i.name}': {_variant_name(v) for v in i.variants} for f in files for i in f.instances}
    functions, is_there = {}, False
    for line in lines[1:-1]:    # the last line is empty, or was cut off
        words = line.split()
        if len(words) < WORDS or not line.isascii() or not line.isprintable() or line.startswith('#'):
            continue
        is_there = True
        if words[WORDS - 1] in variants.get(words[0], ()):
            functions.setdefault(words[0], []).append(line)
    if is_there and not functions:
        sys.stderr.write(f'{path}: no line of it is of a variant of these kernels, whose functions begin with '
                         f'{prefix}_\n')
    return functions


def _variant_name(instance):
    return ','.join(f'{name}={value}' for name, value in instance.constants)
