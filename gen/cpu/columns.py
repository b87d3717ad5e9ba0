"""Decides which arrays of a thread are stored as columns, so that neighbouring threads' equal elements are adjacent:

    for (int k = 0; k < 3; k++)         for (int k = 0; k < 3; k++)
        queue[k] = queue[k + 1];            for each thread t: queues[k][t] = queues[k + 1][t];"""

from cpu.statements import LOOPS


def find_columns(tokens, statements, variables, layout):
    """Clears `is_column` of arrays that would be slower as columns: a loop over the elements is inside the loop over
    threads, unless its steps are written out and it reads neighbours of shared arrays."""
    if not any(variable.is_column for variable in variables.all):
        return
    for loop in (s for t in statements for s in t.walk() if s.kind in LOOPS and not layout.has_barrier(s)):
        used = {variables.of[at] for at in range(loop.begin, loop.end) if at in variables.of}
        if any(variable.is_column for variable in used) and not layout.innermost.is_better(loop, False) and not (
                _is_written_out(tokens, loop) and not any(
                    variables.of[at].is_shared and layout.innermost.is_apart(at)
                    for at in range(loop.begin, loop.end) if at in variables.of)):
            for variable in used:
                variable.is_column = False


def count_arrays(variable):
    """Returns about how many arrays with an element per thread of a block are needed to store a variable."""
    length = variable.declarator[2].text if variable.is_column else ''
    return int(length) if length.isdigit() and len(length) < 3 else 1 + variable.is_vector + 15 * variable.is_column


def _is_written_out(tokens, statement):
    """True for a loop whose header contains only numbers and the loop's variable, so that compilers write out its
    steps."""
    header = [t for begin, end in statement.parts for t in tokens[begin:end] if t.kind == 'identifier']
    return statement.kind == 'for' and len({t.text for t in header} - {'int', 'unsigned'}) == 1
