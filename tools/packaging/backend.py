"""backend.py - builds the wheel and the source archive, for pip and other front ends of PEP 517.

The wheel contains an installed tree in the folder cuferry/prefix. The front end may pass two settings: `configure`, a
text with options of configure, such as --cuda=no, and `builddir`, a finished build folder, which is then packed without
a new build. A build needs a C and a C++ compiler and Ninja.
"""

import base64
import gzip
import hashlib
import io
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = ('cf-bench', 'cf-info', 'cf-plot', 'cf-run', 'cf-tune', 'cfcc')
DATE = (1980, 1, 1, 0, 0, 0)    # a fixed date, so that equal trees make equal wheels


def read(*path):
    with open(os.path.join(TOP, *path), encoding='utf-8') as file:
        return file.read()


def version():
    header = read('include', 'cuferry.h')
    return '.'.join(re.search(rf'^#define CF_VERSION_{part} (\d+)$', header, re.MULTILINE)[1]
                    for part in ('MAJOR', 'MINOR', 'PATCH'))


def metadata():
    return (f'Metadata-Version: 2.1\nName: cuferry\nVersion: {version()}\n'
            'Summary: CUDA kernels as typed C functions, on a GPU or on the CPU\nLicense: MIT\n'
            'Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n' + read('README.md'))


def platform_tag(programs):
    """Returns the wheel's platform tag: manylinux with the oldest glibc that has all symbols of the programs, or linux
    if they use another C library."""
    machine = platform.machine()
    minors = [0]
    for path in programs:
        with open(path, 'rb') as file:
            data = file.read()
        if data[:4] == b'\x7fELF':
            minors += map(int, re.findall(rb'\x00GLIBC_2\.(\d+)(?=[.\x00])', data))
    # manylinux_2_17 is the oldest tag of this form.
    return f'manylinux_2_{max(minors + [17])}_{machine}' if max(minors) else f'linux_{machine}'


def build(settings, folder):
    """Installs the tree and returns its folder."""
    builddir, prefix = settings.get('builddir'), os.path.join(folder, 'prefix')
    if builddir and not os.path.exists(os.path.join(builddir, 'libcuferry.a')):
        raise SystemExit(f'builddir={builddir}: there is no libcuferry.a')
    if not builddir:
        ninja = shutil.which('ninja') or shutil.which('ninja-build')
        if not ninja:
            raise SystemExit('Ninja is needed to build Cuferry, and is not in PATH')
        builddir = os.path.join(folder, 'build')
        subprocess.run([os.path.join(TOP, 'configure'), f'--builddir={builddir}',
                        *shlex.split(settings.get('configure', ''))], check=True, stdout=sys.stderr)
        subprocess.run([ninja, '-C', builddir], check=True, stdout=sys.stderr)
    subprocess.run(['sh', os.path.join(TOP, 'tools', 'dev', 'install'), TOP, builddir, prefix], check=True,
                   stdout=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != 'DESTDIR'})
    return prefix


def add(wheel, record, name, data, mode=0o644):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    record.append(f'{name},sha256={digest},{len(data)}\n')


def files_below(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.join(path, name)


def info_files(tag):
    """Returns the wheel's metadata files: maps their names to their texts. The tag may be preliminary."""
    commands = ''.join(f'{program} = cuferry:run\n' for program in PROGRAMS)
    return {'METADATA': metadata(), 'licenses/LICENSE': read('LICENSE'),
            'entry_points.txt': f'[console_scripts]\ncuferry-config = cuferry:config\n{commands}',
            'WHEEL': f'Wheel-Version: 1.0\nGenerator: cuferry\nRoot-Is-Purelib: false\nTag: {tag}\n'}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata only; without this function, pip would build the wheel twice."""
    info = f'cuferry-{version()}.dist-info'
    for name, text in info_files(f'py3-none-linux_{platform.machine()}').items():
        path = os.path.join(metadata_directory, info, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        prefix = build(config_settings or {}, folder)
        tag = f'py3-none-{platform_tag([os.path.join(prefix, "bin", name) for name in PROGRAMS])}'
        info, record = f'cuferry-{version()}.dist-info', []
        name = f'cuferry-{version()}-{tag}.whl'
        with zipfile.ZipFile(os.path.join(wheel_directory, name), 'w') as wheel:
            add(wheel, record, 'cuferry/__init__.py', read('tools', 'packaging', 'wheel', '__init__.py').encode())
            for path in files_below(prefix):
                with open(path, 'rb') as file:
                    add(wheel, record, f'cuferry/prefix/{os.path.relpath(path, prefix)}', file.read(),
                        0o755 if os.access(path, os.X_OK) else 0o644)
            for part, text in info_files(tag).items():
                add(wheel, record, f'{info}/{part}', text.encode())
            record.append(f'{info}/RECORD,,\n')
            add(wheel, [], f'{info}/RECORD', ''.join(record).encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Returns the files that git tracks, or without git all files outside build folders."""
    try:
        listed = subprocess.run(['git', 'ls-files', '-z'], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                check=True).stdout.decode().split('\0')
        names = sorted(name for name in listed if name)
    except (OSError, subprocess.CalledProcessError):
        names = []
    if 'configure' not in names:    # no git repository, or one of another tree
        names = [os.path.relpath(path, TOP) for path in files_below(TOP)]
        names = [name for name in names if not re.match(r'build[^/]*/|.*__pycache__|\.', name)]
    base = f'cuferry-{version()}'
    with open(os.path.join(sdist_directory, f'{base}.tar.gz'), 'wb') as file, \
            gzip.GzipFile('', 'wb', 9, file, 0) as zipped, tarfile.open(None, 'w', zipped) as archive:
        for name in names:
            with open(os.path.join(TOP, name), 'rb') as source:
                add_to_tar(archive, f'{base}/{name}', source.read(), os.access(os.path.join(TOP, name), os.X_OK))
        add_to_tar(archive, f'{base}/PKG-INFO', metadata().encode(), False)
    return f'{base}.tar.gz'


def add_to_tar(archive, name, data, is_program):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o755 if is_program else 0o644
    archive.addfile(entry, io.BytesIO(data))
