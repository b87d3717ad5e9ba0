"""depfile.py - the files that were read, of the compilers' depfiles and for the user's."""

import os
import re


def inputs_of(workspace):
    """Real path to the path as it is known."""
    inputs = {}
    for name in workspace.stems:
        for kind in ('scan', 'host', 'device'):
            path = workspace.path(f'{name}.{kind}.d')
            for word in _names(path) if os.path.exists(path) else []:
                if os.path.dirname(os.path.abspath(word)) != workspace.folder:
                    word = re.sub(r'^(\./)+', '', word)
                    inputs.setdefault(os.path.realpath(word), workspace.shown.get(word, word))
    if workspace.options.tuning:
        inputs.setdefault(os.path.realpath(workspace.options.tuning), workspace.options.tuning)
    return inputs


def write_depfile(workspace):
    lines = [f'{_escaped(workspace.options.output)}:', *map(_escaped, inputs_of(workspace).values())]
    return workspace.write('d', ' \\\n  '.join(lines) + '\n')


def _names(path):
    """The files that a depfile of a compiler's names."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        text = file.read().replace('\\\n', ' ')
    words = re.findall(r'(?:\\.|[^\s\\])+', text.split(': ', 1)[1])
    return [re.sub(r'\\([ #:\\])', r'\1', word).replace('$$', '$') for word in words]


def _escaped(path):
    return re.sub(r'([ #])', r'\\\1', path).replace('$', '$$')
