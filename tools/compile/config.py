"""config.py - the results of configure, and the locations of Cuferry's parts."""

import os
import shlex
import sys


class Config:
    """The values in cfcc.json, and the paths that follow from its folder, a build folder or one in an installed
    tree."""

    def __init__(self, program, folder, values):
        self.program, self.folder, self.values = program, folder, values
        if 'srcdir' in values:
            source = os.path.normpath(os.path.join(folder, values['srcdir']))
            self.include, self.generator = os.path.join(source, 'include'), os.path.join(source, 'gen', 'cfgen')
            self.library = os.path.join(folder, 'libcuferry.a')
            self.manifest = os.path.join(folder, 'gen', 'cuferry.json')
            self.bundled = source   # the folder that contains kernels/
        else:
            prefix = os.path.dirname(os.path.dirname(folder))
            self.include, self.generator = os.path.join(prefix, 'include'), os.path.join(folder, 'gen', 'cfgen')
            self.library = os.path.join(prefix, 'lib', 'libcuferry.a')
            self.manifest = os.path.join(prefix, 'share', 'cuferry', 'cuferry.json')
            self.bundled = os.path.join(prefix, 'share', 'cuferry')
        # The generator uses the same folder of compiled Python modules as cfcc.
        compiled = ['-X', f'pycache_prefix={sys.pycache_prefix}'] if sys.pycache_prefix else []
        self.start_of_generator = [sys.executable, *['-B'] * sys.dont_write_bytecode, *compiled, self.generator]

    def __getitem__(self, name):
        return self.values[name]

    def words(self, name):
        return shlex.split(self.values[name])

    def own_files(self):
        """Returns all files of Cuferry that affect the output of cfcc."""
        tops = [os.path.dirname(path) for path in (self.generator, os.path.realpath(__file__))]
        tops.append(os.path.join(self.include, 'cuferry'))
        parts = [os.path.join(folder, name) for top in tops for folder, _, names in os.walk(top)
                 for name in names if name.endswith(('.py', '.json', '.h', '.cuh')) or folder.startswith(tops[-1])]
        return [self.program, self.library, self.manifest, self.generator, os.path.join(self.folder, 'cfcc.json'),
                os.path.join(self.include, 'cuferry.h'), *sorted(parts)]
