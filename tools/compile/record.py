"""record.py - the record of a library's build, a line of JSON in a section of its object and of programs that link it;
the section is not loaded into memory."""

import json
import os
import re

from arguments import prefix_problem
from failure import Failure, Refused

SECTION = '.cuferry.build'
TEXTS = ('cxx', 'folder', 'header', 'prefix')
LISTS = ('c_files', 'cxx_flags', 'defines', 'includes', 'sources')
# Upper limits: bytes of a record, items of a list, characters of a text.
LARGEST, MOST, LONGEST = 1 << 20, 1 << 12, 1 << 12
ENDINGS = {'c_files': ('.c',), 'sources': ('.cu', '.cuh')}
CONTROL = re.compile(r'[\x00-\x08\x0a-\x1f\x7f-\x9f]')


def read_records(config, runner, folder, path):
    """Returns the records of the libraries in an object or a shared object; [] without records. Only records in the
    exact form that cfcc writes are accepted, because anyone may have written the object."""
    copy, record = os.path.join(folder, 'copy'), os.path.join(folder, 'found')
    with open(record, 'w', encoding='utf-8'):
        pass    # emptied, because objcopy succeeds without writing it if the object has no such section
    try:
        runner.start([config['objcopy'], '--dump-section', f'{SECTION}={record}', path, copy]).result()
    except Refused:
        return []
    try:
        if os.path.getsize(record) > LARGEST:
            raise ValueError(f'it has more than {LARGEST} bytes')
        with open(record, encoding='utf-8') as file:
            records = [json.loads(line) for line in file]
        problem = next(filter(None, map(problem_of, records)), '')
    except (ValueError, RecursionError) as error:
        problem = str(error)
    if problem:
        raise Failure(f'{path}: its record of how it was built is damaged: {problem}; build it again')
    return records


def problem_of(record):
    """Returns a text about the first fault of a record; '' if there is none."""
    if not isinstance(record, dict):
        return 'it is no JSON object'
    for name in sorted(set(record) ^ {*TEXTS, *LISTS}):
        return f"{name[:40]!r} is {'unknown' if name in record else 'missing'}"
    for name in TEXTS + LISTS:
        values = [record[name]] if name in TEXTS else record[name]
        if not isinstance(values, list) or len(values) > MOST:
            return f"'{name}' is no list of at most {MOST} texts"
        problem = next(filter(None, (text_problem(value, ENDINGS.get(name, ('',))) for value in values)), '')
        if problem:
            return f"'{name}' {problem}"
    if record['header'] != os.path.basename(record['header']) or record['header'] in ('.', '..'):
        return "'header' is no file's name"
    return "'prefix' is none" if prefix_problem(record['prefix']) else ''


def text_problem(value, endings):
    """Returns a text about the fault of a text in a record; '' if there is none."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST:
        return f'is no text of 1 to {LONGEST} characters'
    if CONTROL.search(value):
        return 'holds a control character'
    if not value.endswith(endings):
        return f'does not end with {" or ".join(endings)}'
    try:
        os.fsencode(value)
    except UnicodeError:
        return 'holds a character that no path has'
    return ''


def moved(record, old, new):
    """Returns a record whose paths, relative to the folder `old`, are made relative to `new`."""
    def path(name):
        return os.path.relpath(os.path.join(old, name), new)
    return dict(record, folder=path(record['folder']), sources=[path(s) for s in record['sources']],
                c_files=[path(c) for c in record['c_files']], includes=[path(i) for i in record['includes']])


class Record:
    """The records for the output of one run."""

    def __init__(self, workspace):
        self.workspace, self.options = workspace, workspace.options
        self.folder = os.path.dirname(self.options.output) or '.'

    def own(self):
        """Returns the library's own record. Paths are relative to the output's folder, so that sources may move
        together with the library."""
        options, start = self.options, self.folder
        return {'folder': os.path.relpath('.', start), 'prefix': options.prefix,
                'header': os.path.basename(options.header),
                'sources': [os.path.relpath(p, start) for p in options.sources],
                'c_files': [os.path.relpath(p, start) for p in options.c_files],
                'includes': [os.path.relpath(p, start) for p in options.includes],
                'defines': options.defines, 'cxx': options.cxx, 'cxx_flags': options.cxx_flags}

    def of_others(self, objects):
        """Returns the records of other objects, with paths relative to the output's folder."""
        workspace = self.workspace
        return [moved(record, os.path.dirname(path), self.folder) for path in objects if not path.endswith('.a')
                for record in read_records(workspace.config, workspace.runner, workspace.folder, path)]

    def flags(self, records):
        """Returns objcopy's options that put records into an object."""
        path = self.workspace.write('record', ''.join(json.dumps(r, sort_keys=True) + '\n' for r in records))
        return ['--remove-section', SECTION, '--add-section', f'{SECTION}={path}', '--set-section-flags',
                f'{SECTION}=noload,readonly']
