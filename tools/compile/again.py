"""again.py - rebuilds a library as before, or builds a kernel file, for a check."""

import json
import os
import shlex
import subprocess
import sys

from arguments import check_names
from failure import Failure, say_what_is
from flags import grouped, refused_of_record
from record import moved, read_records


def build_again(options, config, runner, folder):
    """Sets the options to those of an earlier build, and makes that build's folder the working directory."""
    options.output = os.path.abspath(options.output or f'{options.check}.so')
    root_programs(options)
    if options.bundled:
        record, place = bundled_record(options, config), os.path.abspath(config.bundled)
    else:
        record, place = own_record(options, config, runner, folder), os.path.dirname(os.path.abspath(options.again))
    check_flags(options, config, record)
    where = os.path.normpath(os.path.join(place, record['folder']))
    if os.path.isdir(where):  # the compiler's flags may contain relative paths
        os.chdir(where)
    else:
        where = os.getcwd()
    record = moved(record, place, where)
    missing = [s for s in record['sources'] + record['c_files'] if not os.path.isfile(s)]
    if missing or not record['sources']:
        raise Failure(f'{options.again or "the bundled kernels"} cannot be built again: the source '
                      f'{os.path.abspath(missing[0]) if missing else ""} is gone')
    options.sources, options.c_files, options.prefix = record['sources'], record['c_files'], record['prefix']
    options.includes, options.defines = record['includes'], record['defines']
    options.cxx_flags = record['cxx_flags']
    # C files may include an older header of this name, but both have the same include guard, so that the older one adds
    # nothing.
    options.header = os.path.join(folder, record['header'])
    option = next((s for s in record['sources'] + record['c_files'] if s[0] in '-@'), None)
    if option:
        raise Failure(f'{options.again} cannot be built again: a compiler takes the name {option} for an option')
    check_names(options)


def new_record(config, prefix, sources, c_files):
    return {'folder': '.', 'prefix': prefix, 'header': 'again.h', 'includes': [], 'defines': [], 'cxx': config['cxx'],
            'cxx_flags': [], 'sources': sources, 'c_files': c_files}


def bundled_record(options, config):
    kernels = os.path.join(config.bundled, 'kernels')
    names = sorted(os.listdir(kernels)) if os.path.isdir(kernels) else []
    if not names:
        raise Failure(f'the bundled kernels cannot be built again: their sources are not in {kernels}; install '
                      'Cuferry again')
    paths = [os.path.join('kernels', n) for n in names]
    if options.bundled is not True:
        needed = bundled_files(config, options.bundled)
        paths = [path for path in paths if os.path.splitext(path)[0] + '.cu' in needed]  # also their C files
    return new_record(config, 'bundled', [path for path in paths if path.endswith('.cu')],
                      [path for path in paths if path.endswith('.c')])


def bundled_files(config, family):
    """Returns the kernel files of a bundled family, and those of other kernels that its operations use."""
    with open(config.manifest, encoding='utf-8') as file:
        kernels = json.load(file)['kernels']
    files = {kernel['name']: kernel['file'] for kernel in kernels}
    needed, found = set(), {kernel['file'] for kernel in kernels if kernel['family'] == family}
    while found:
        needed |= found
        found = {files[name] for kernel in kernels if kernel['file'] in needed for name in kernel.get('uses', [])}
        found -= needed
    return needed


def own_record(options, config, runner, folder):
    if not os.path.isfile(options.again):
        raise Failure(f'{options.again}: {say_what_is(options.again)}')
    if options.again.endswith(('.cu', '.cuh')):
        return new_record(config, 'module', [os.path.basename(options.again)], [])
    records = read_records(config, runner, folder, options.again)
    if len(records) != 1:
        raise Failure(f'{options.again} cannot be built again: ' + (
            'it holds several libraries' if records else
            'it does not tell how it was built; an older cfcc made it, or it was stripped'))
    return records[0]


def root_programs(options):
    """Makes paths of programs absolute while the user's folder is still the working directory."""
    os.environ['PATH'] = os.pathsep.join(map(os.path.abspath, os.get_exec_path()))
    for name in ('cc', 'cxx'):
        words = shlex.split(getattr(options, name))
        setattr(options, name, shlex.join(os.path.abspath(word) if is_program(word, before) else word
                                          for word, before in zip(words, [None, *words])))


def is_program(word, before):
    """True for a word that names a program: the first word if it is a path, or a later path of a file, such as a
    script, unless it may be the value of the flag `before` it."""
    return '/' in word and (before is None or word[0] != '-' and not before.startswith('-') and os.path.isfile(word))


def check_flags(options, config, record):
    """Refuses a record's flags that only the user may give, and reports if the record names another compiler, since
    that one is not run."""
    named = grouped(shlex.split(options.cxx))
    groups = [group for group in grouped(record['cxx_flags']) if group not in named]
    record['cxx_flags'] = [word for group in groups for word in group]
    refused = refused_of_record(groups)
    if refused:
        compiler = f'{options.cxx} {shlex.join(refused)}'
        raise Failure(f'{options.again} cannot be built again: it was built with the flag {refused[0]}, which is not '
                      f'taken from an object; where you trust it, name it: --cxx={shlex.quote(compiler)}')
    if record['cxx'] != config['cxx'] == options.cxx:
        sys.stderr.write(f"cfcc: {options.again} was built with '{record['cxx']}'; the check is built with "
                         f"'{options.cxx}': name another compiler with --cxx\n")


def runtime_of(options):
    """Returns the path of AddressSanitizer's runtime, which must be loaded before all other libraries."""
    machine = os.uname().machine
    for name in (f'libclang_rt.asan-{machine}.so', 'libclang_rt.asan.so', 'libasan.so'):
        try:
            run = subprocess.run([*shlex.split(options.cxx), f'-print-file-name={name}'], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            found = run.stdout.decode().strip()
        except (OSError, subprocess.CalledProcessError):
            continue
        if os.path.isabs(found) and os.path.exists(found):
            return os.path.realpath(found)
    raise Failure(f'{options.cxx} has no shared runtime of AddressSanitizer; install it, as libasan or '
                  'libclang-rt, or name another compiler with --cxx')
