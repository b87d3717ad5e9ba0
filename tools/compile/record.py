"""record.py - how a library was built, as a line of JSON: in its object, and in what is linked of it, but never in
memory."""

import json
import os

from failure import Refused

SECTION = '.cuferry.build'


def read_records(config, runner, folder, path):
    """How the libraries in an object or a shared object were built; none where it does not tell."""
    copy, record = os.path.join(folder, 'copy'), os.path.join(folder, 'found')
    with open(record, 'w', encoding='utf-8'):
        pass    # objcopy succeeds where there is no such section, and leaves what another object told
    try:
        runner.start([config['objcopy'], '--dump-section', f'{SECTION}={record}', path, copy]).result()
        with open(record, encoding='utf-8') as file:
            return [json.loads(line) for line in file]
    except (Refused, OSError, ValueError):
        return []


def moved(record, old, new):
    """A record whose paths are relative to another folder."""
    def path(name):
        return os.path.relpath(os.path.join(old, name), new)
    return dict(record, folder=path(record['folder']), sources=[path(s) for s in record['sources']],
                c_files=[path(c) for c in record.get('c_files', ())], includes=[path(i) for i in record['includes']])


class Record:
    """What the output of one run tells."""

    def __init__(self, workspace):
        self.workspace, self.options = workspace, workspace.options
        self.folder = os.path.dirname(self.options.output) or '.'

    def own(self):
        """Paths are relative to the output's folder: the record holds as long as the sources move with the library."""
        options, start = self.options, self.folder
        return {'folder': os.path.relpath('.', start), 'prefix': options.prefix,
                'sources': [os.path.relpath(p, start) for p in options.sources],
                'c_files': [os.path.relpath(p, start) for p in options.c_files],
                'includes': [os.path.relpath(p, start) for p in options.includes],
                'defines': options.defines, 'cxx': options.cxx, 'cxx_flags': options.cxx_flags}

    def of_others(self, objects):
        """The records of other objects, for the output."""
        workspace = self.workspace
        return [moved(record, os.path.dirname(path), self.folder) for path in objects if not path.endswith('.a')
                for record in read_records(workspace.config, workspace.runner, workspace.folder, path)]

    def flags(self, records):
        """objcopy's options that put records into an object."""
        path = self.workspace.write('record', ''.join(json.dumps(r, sort_keys=True) + '\n' for r in records))
        return ['--remove-section', SECTION, '--add-section', f'{SECTION}={path}', '--set-section-flags',
                f'{SECTION}=noload,readonly']
