"""Builds the wheel of a generated module for `pip install` and `pip wheel`, by the hooks of PEP 517 that these call. It
lies beside the module. Name and version are those of pyproject.toml."""

import base64
import hashlib
import os
import re
import sysconfig
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
    if not os.path.exists(f'lib{MODULE}.so'):
        raise FileNotFoundError(f'there is no lib{MODULE}.so beside {MODULE}.py; make it by cfcc --shared')
    tag = 'py3-none-' + re.sub('[-.]', '_', sysconfig.get_platform())
    info = f'{name}-{version}.dist-info'
    texts = {f'{info}/METADATA': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n',
             f'{info}/WHEEL': f'Wheel-Version: 1.0\nGenerator: cfcc\nRoot-Is-Purelib: false\nTag: {tag}\n'}
    files = {path: _read(path) for path in (f'{MODULE}.py', f'lib{MODULE}.so')}
    files.update((path, text.encode()) for path, text in texts.items())
    record = ''.join(f'{path},sha256={_hash(data)},{len(data)}\n' for path, data in files.items())
    files[f'{info}/RECORD'] = f'{record}{info}/RECORD,,\n'.encode()
    wheel = f'{name}-{version}-{tag}.whl'
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def _read(path):
    with open(path, 'rb') as file:
        return file.read()


def _hash(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
