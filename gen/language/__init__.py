"""Emits wrappers of a library in other languages. An emitter takes an Interface and returns {file name: text}. The
files belong beside the library's header, and begin with the banner of base/text.py."""

from base.diagnostics import GeneratorError
from language.cxx import emit_cxx
from language.cython import emit_cython
from language.fortran import emit_fortran
from language.interface import read_interface
from language.python import emit_python
from language.python_package import emit_python_package
from language.tvm_ffi import emit_tvm_ffi

EMITTERS = {'cxx': emit_cxx, 'fortran': emit_fortran, 'python': emit_python, 'python-package': emit_python_package,
            'cython': emit_cython, 'tvm-ffi': emit_tvm_ffi}


def emit_languages(languages, manifest):
    """Returns the files for a list of languages, as --emit takes it: {file name: text}."""
    names = languages.split(',')
    unknown = next((name for name in names if name not in EMITTERS), None)
    if unknown is not None:
        raise GeneratorError(f"--emit: '{unknown}' is no language; the languages are {', '.join(EMITTERS)}")
    interface = read_interface(manifest)
    files = {}
    for name in dict.fromkeys(names):
        files.update(EMITTERS[name](interface))
    return files
