"""workspace.py - the temporary folder of one run, and the messages of its compilers."""

import os
import re
import shlex

from failure import Refused


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


class Workspace:
    """A temporary folder of cfcc. Compilers run in the user's folder, to which relative paths refer."""

    def __init__(self, options, config, toolkit, folder, runner):
        self.options, self.config, self.toolkit = options, config, toolkit
        self.folder, self.runner = folder, runner
        self.stems = [stem(path) for path in options.sources]
        # Maps a source's path in generated files to the path that the user gave.
        self.shown = {os.path.relpath(path): path for path in options.sources}
        self.messages = []

    def path(self, name):
        return os.path.join(self.folder, name)

    @property
    def has_images(self):
        """True if some kernels have their GPU code in images that other compilers made."""
        return any(os.path.exists(self.path(f'{name}.adopted.d')) for name in self.stems)

    def write(self, name, text):
        path = self.path(name)
        with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write(text)
        return path

    def start(self, compiler, *flags, cwd=None):
        """Starts a compiler, which may be a command of several words. The result of the run is its messages."""
        return self.runner.start([*shlex.split(compiler), *(word for group in flags for word in group)], cwd)

    def wait(self, commands):
        """Waits for all commands and prints their messages. Only the first failure is reported, because others repeat
        it."""
        refused = None
        for command in commands:
            try:
                self.messages.append(self._users_paths(command.result()))
            except Refused as error:
                refused = refused or error
        if refused:
            raise Refused(self._users_paths(str(refused)))

    def _users_paths(self, text):
        """Returns a compiler's message without the workspace's path, and with the sources' paths as the user gave
        them."""
        ours = re.escape(self.folder)
        text = re.sub(rf'^In file included from {ours}/[^\n]*?:\d+(?::\d+)?:\n', '', text, flags=re.MULTILINE)
        for name, source in zip(self.stems, self.options.sources):
            text = re.sub(rf'{ours}/{re.escape(name)}\.(?:ii|dev\.cu|host\.c(?:pp|u))', lambda _, s=source: s, text)
        text = text.replace(self.folder + '/', '')
        for shown, given in self.shown.items():
            text = re.sub(rf'(?<![\w/.-])(?:\./)?{re.escape(shown)}(?![\w/-])', lambda _, g=given: g, text)
        return text
