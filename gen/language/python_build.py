"""Builds the wheel and the source archive of a generated module by the hooks of PEP 517, which `pip install` and others
call. The file lies beside the module. Name and version come from pyproject.toml."""

import base64
import hashlib
import io
import os
import re
import sysconfig
import tarfile
import time
import zipfile

MODULE = 'module'


def _read_project():
    with open('pyproject.toml', encoding='utf-8') as file:
        text = file.read()
    found = [re.search(rf'^{key} *= *"([^"]+)"', text, re.MULTILINE) for key in ('name', 'version')]
    if None in found:
        raise ValueError('pyproject.toml has no name or no version')
    return re.sub(r'[-_.]+', '_', found[0][1]), found[1][1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version = _read_project()
    tag = 'py3-none-' + re.sub('[-.]', '_', sysconfig.get_platform())
    info = f'{name}-{version}.dist-info'
    wheel_text = f'Wheel-Version: 1.0\nGenerator: cfcc\nRoot-Is-Purelib: false\nTag: {tag}\n'
    files = {**_read_module(), f'{info}/METADATA': _spell_metadata(name, version), f'{info}/WHEEL': wheel_text.encode()}
    record = ''.join(f'{path},sha256={_hash(data)},{len(data)}\n' for path, data in files.items())
    files[f'{info}/RECORD'] = f'{record}{info}/RECORD,,\n'.encode()
    wheel = f'{name}-{version}-{tag}.whl'
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """The source archive contains the module itself, since pip cannot compile the kernels from which it is made."""
    name, version = _read_project()
    files = {**_read_module(), **{path: _read(path) for path in ('pyproject.toml', f'{MODULE}_build.py')},
             'PKG-INFO': _spell_metadata(name, version)}
    path = os.path.join(sdist_directory, f'{name}-{version}.tar.gz')
    with tarfile.open(path, 'w:gz', format=tarfile.PAX_FORMAT) as archive:
        for file, data in files.items():
            info = tarfile.TarInfo(f'{name}-{version}/{file}')
            info.size, info.mtime = len(data), int(time.time())
            archive.addfile(info, io.BytesIO(data))
    return os.path.basename(path)


def _read_module():
    if not os.path.exists(f'lib{MODULE}.so'):
        raise FileNotFoundError(f'there is no lib{MODULE}.so beside {MODULE}.py; make it by cfcc --shared')
    return {path: _read(path) for path in (f'{MODULE}.py', f'lib{MODULE}.so')}


def _spell_metadata(name, version):
    return f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'.encode()


def _read(path):
    with open(path, 'rb') as file:
        return file.read()


def _hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
