"""config.py - the results of configure, and the locations of Cuferry's parts."""

import os
import shlex


class Config:
    """The folder of cfcc.json, in an installed tree or in a build folder, and its values."""

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

    def __getitem__(self, name):
        return self.values[name]

    def words(self, name):
        return shlex.split(self.values[name])

    def own_files(self):
        """All files of Cuferry that affect the output of cfcc, except headers, which depfiles name."""
        folders = [os.path.dirname(path) for path in (self.generator, os.path.realpath(__file__))]
        return [self.program, self.library, self.generator, *(
            os.path.join(folder, n) for folder in folders for n in sorted(os.listdir(folder)) if n.endswith('.py'))]
