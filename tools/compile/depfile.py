"""depfile.py - reads the compilers' depfiles, and writes the user's."""

import os
import re

from failure import Failure
from workspace import stem


def inputs_of(workspace, made):
    """Maps the real path of each input to its path as named. The headers in `made` are left out: they are outputs, even
    if a compiler read their older versions."""
    inputs, options = {}, workspace.options
    made = list(map(os.path.realpath, made))
    for word in words_of(workspace):
        if not os.path.abspath(word).startswith(f'{workspace.folder}/') and os.path.realpath(word) not in made:
            word = re.sub(r'^(\./)+', '', word)
            inputs.setdefault(os.path.realpath(word), workspace.shown.get(word, word))
    for path in [*options.gpu_code, *filter(None, [options.tuning])]:
        inputs.setdefault(os.path.realpath(path), path)
    return inputs


def words_of(workspace):
    """Returns all files that the depfiles of the run's compilers name."""
    names = [f'{name}.{kind}.d' for name in workspace.stems for kind in ('scan', 'host', 'device', 'adopted')]
    names += [f'{stem(path)}.operations.d' for path in workspace.options.c_files]
    return [word for path in map(workspace.path, names) if os.path.exists(path) for word in _names(path)]


def write_depfile(workspace, made):
    paths = [workspace.options.output, *inputs_of(workspace, made).values()]
    broken = next((path for path in paths if '\n' in path), None)
    if broken:
        raise Failure(f'{broken!a}: {workspace.options.depfile} cannot name a path with a line end')
    lines = [f'{_escaped(paths[0])}:', *map(_escaped, paths[1:])]
    return workspace.write('d', ' \\\n  '.join(lines) + '\n')


def _names(path):
    """Returns the files that a compiler's depfile names."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        text = file.read().replace('\\\n', ' ')
    words = re.findall(r'(?:\\.|[^ \t\n\\])+', text.split(': ', 1)[1])
    return [re.sub(r'\\([ #:\\])', r'\1', word).replace('$$', '$') for word in words]


def _escaped(path):
    return re.sub(r'([ #:])', r'\\\1', path).replace('$', '$$')
