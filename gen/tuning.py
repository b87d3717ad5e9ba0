"""Which variants of tuned kernels were measured to be the fastest, from a file that cf-tune writes."""

from diagnostics import GeneratorError

HEADER = 'cuferry tuning 1'


def read(text, path):
    """The lines of each C function, as they are: the runtime reads them, as it does those of the user's own file."""
    lines = text.split('\n')
    if lines[0] != HEADER:
        raise GeneratorError(f"{path}:1: it does not begin with '{HEADER}'")
    functions = {}
    for line in lines[1:]:
        words = line.split()
        if words and line.isascii() and line.isprintable() and not line.startswith('#'):
            functions.setdefault(words[0], []).append(line)
    return functions
