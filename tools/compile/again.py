"""again.py - builds a library again as it was built before, to check it."""

import os
import shlex
import subprocess

from failure import Failure
from record import moved, read_records


def build_again(options, config, runner, folder):
    """Sets the options to those of a library that was built before, and goes to where that was."""
    options.output = os.path.abspath(options.output or f'{options.check}.so')
    options.header = os.path.join(folder, 'again.h')
    if options.bundled:
        kernels = os.path.join(config.bundled, 'kernels')
        names = sorted(os.listdir(kernels)) if os.path.isdir(kernels) else []
        if not names:
            raise Failure(f'the bundled kernels cannot be built again: their sources are not in {kernels}; install '
                          'Cuferry again')
        record = {'folder': '.', 'prefix': 'bundled', 'includes': [], 'defines': [], 'cxx': config['cxx'],
                  'cxx_flags': [], 'sources': [os.path.join('kernels', n) for n in names if n.endswith('.cu')],
                  'c_files': [os.path.join('kernels', n) for n in names if n.endswith('.c')]}
        place = os.path.abspath(config.bundled)
    else:
        if not os.path.isfile(options.again):
            raise Failure(f'{options.again}: no such file')
        if options.again.endswith('.cu'):
            raise Failure(f'{options.again} is a kernel file; build a library of it first: cfcc --shared -o own.so '
                          f'{shlex.quote(options.again)}')
        records = read_records(config, runner, folder, options.again)
        if len(records) != 1:
            raise Failure(f'{options.again} cannot be built again: ' + (
                'it holds several libraries' if records else
                'it does not tell how it was built; an older cfcc made it, or it was stripped'))
        record, place = records[0], os.path.dirname(os.path.abspath(options.again))
    where = os.path.normpath(os.path.join(place, record['folder']))
    if os.path.isdir(where):  # what flags of the compiler name may be relative to it
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
    options.cxx, options.cxx_flags = record['cxx'], record['cxx_flags']


def runtime_of(options):
    """AddressSanitizer's runtime, which has to be loaded before everything else."""
    machine = os.uname().machine
    for name in (f'libclang_rt.asan-{machine}.so', 'libclang_rt.asan.so', 'libasan.so'):
        try:
            found = subprocess.run([*shlex.split(options.cxx), f'-print-file-name={name}'], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode().strip()
        except (OSError, subprocess.CalledProcessError):
            continue
        if os.path.isabs(found) and os.path.exists(found):
            return os.path.realpath(found)
    raise Failure(f'{options.cxx} has no shared runtime of AddressSanitizer; install it, as libasan or '
                  'libclang-rt, or build with another compiler')
