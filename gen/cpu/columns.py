"""Tells which arrays of each thread have each element beside those of the thread's neighbours, as in

    for (int k = 0; k < 3; k++)         for (int k = 0; k < 3; k++)
        queue[k] = queue[k + 1];            for each thread t: queues[k][t] = queues[k + 1][t];"""

_LOOPS = ('for', 'while', 'do', 'range')


def is_column(variable, tokens, statements, variables, layout):
    """True if loops over an array's elements are around the loop over threads, or written out where neighbours read
    neighbours of shared arrays."""
    return variable.is_column and all(
        layout.innermost.is_better(s, False) or _is_written_out(tokens, s) and not any(
            at in variables.of and variables.of[at].is_shared and layout.innermost.is_apart(at)
            for at in range(s.begin, s.end))
        for t in statements for s in t.walk() if s.kind in _LOOPS and not layout.has_barrier(s) and any(
            s.begin <= at < s.end for at in variable.uses))


def count_arrays(variable):
    """Returns about how many arrays of a block's threads keep a variable."""
    length = variable.declarator[2].text if variable.is_column else ''
    return int(length) if length.isdigit() and len(length) < 3 else 1 + variable.is_vector + 15 * variable.is_column


def _is_written_out(tokens, statement):
    """True for a loop whose header has numbers and its variable alone."""
    header = [t for begin, end in statement.parts for t in tokens[begin:end] if t.kind == 'identifier']
    return statement.kind == 'for' and len({t.text for t in header} - {'int', 'unsigned'}) == 1
