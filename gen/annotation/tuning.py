"""Which variants of tuned kernels were measured to be the fastest, from a file that cf-tune writes."""

import sys

from base.diagnostics import GeneratorError

HEADER = 'cuferry tuning 1'
WORDS = 5       # function, version, architecture, class, variant; what follows is for people


def read_tuning(text, path, files, prefix):
    """The lines of each C function of some kernel files, as they are: the runtime reads them, as it does those of the
    user's own file. Others are none of theirs; where all are, that is said."""
    lines = text.split('\n')
    if lines[0] != HEADER:
        raise GeneratorError(f"{path}:1: it does not begin with '{HEADER}'")
    variants = {f'{prefix}_{i.name}': {_variant(v) for v in i.variants} for f in files for i in f.instances}
    functions, is_there = {}, False
    for line in lines[1:-1]:    # what no end of a line follows was cut off
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


def _variant(instance):
    return ','.join(f'{name}={value}' for name, value in instance.constants)
