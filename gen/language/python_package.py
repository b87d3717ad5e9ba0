"""Emits the files by which pip installs the Python module: a project file, and the backend that builds the wheel."""

import os

from base.text import banner
from language.python import check_module

BUILD = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'python_build.py')


def emit_python_package(interface):
    check_module('python-package', interface.name)
    mark = banner(', '.join(interface.sources), ('#', ''))
    with open(BUILD, encoding='utf-8') as file:
        text = file.read().replace("MODULE = 'module'", f"MODULE = '{interface.name}'")
    project = (f'[project]\nname = "{interface.name}"\nversion = "0.1.0"\nrequires-python = ">=3.8"\n\n'
               f'[build-system]\nrequires = []\nbuild-backend = "{interface.name}_build"\nbackend-path = ["."]\n')
    return {'pyproject.toml': mark + project, f'{interface.name}_build.py': mark + text}
