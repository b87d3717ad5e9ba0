"""commands.py - runs compilers, several at once."""

import collections
import os
import selectors
import signal
import subprocess

from failure import Failure, Refused, Short, shortage
from signals import held_signals


class Command:
    """A compiler's run, which waits for its turn, goes on or has ended."""

    def __init__(self, runner, words, cwd):
        self._runner, self.words, self.cwd = runner, words, cwd
        self.process = self.code = self.failure = None
        self.output = []

    def result(self):
        """The output of the command, once it has ended; raises Refused with the output if the command fails."""
        while self.code is None and not self.failure:
            self._runner.advance(None)
        if self.failure:
            raise self.failure
        text = b''.join(self.output).decode(errors='replace')
        if self.code == 0:
            return text
        status = shortage(self.code, text)
        if status:
            by_signal = self.code < 0 and f'{self.words[0]} was ended by signal {-self.code}'
            raise Short(by_signal or text.strip('\n'), status)
        raise Refused(text or f'cfcc: {self.words[0]} ended with {self.code}\n')


class Runner:
    """Runs commands, several at once, and can end all of them. It has no threads: where memory is very short, Python
    waits for ever for a thread that ended at its start."""

    def __init__(self, jobs, folder):
        self._jobs, self._folder = jobs, folder
        self._waiting = collections.deque()
        self._running = selectors.DefaultSelector()

    def start(self, words, cwd=None):
        """Starts a command, or lets it wait for its turn, which comes while the results of others are waited for."""
        command = Command(self, words, cwd)
        self._waiting.append(command)
        self.advance(0)
        return command

    def advance(self, seconds):
        """Starts the commands whose turn it is, and reads the output of running ones. It waits for output for this
        time at most, None without a limit."""
        while self._waiting and len(self._running.get_map()) < self._jobs:
            self._begin(self._waiting.popleft())
        if not self._running.get_map():
            return
        for key, _ in self._running.select(seconds):
            part = os.read(key.fd, 1 << 16)
            key.data.output.append(part)
            if not part:
                self._end(key.data)

    def _begin(self, command):
        # A signal between the start of a process and its registration would leave the process running.
        with held_signals():
            try:
                # The workspace's removal also removes files that a killed compiler leaves. SIGXFSZ stays ignored:
                # compilers then say that a file is too large, in place of a crash.
                command.process = subprocess.Popen(
                    command.words, cwd=command.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, start_new_session=True, restore_signals=False,
                    env=dict(os.environ, TMPDIR=self._folder, LC_ALL='C'))
            except OSError as error:
                command.failure = Failure(f'cannot run {command.words[0]}: {error.strerror}')
                command.failure.__cause__ = error
                return
            self._running.register(command.process.stdout, selectors.EVENT_READ, command)

    def _end(self, command):
        command.code = command.process.wait()
        self._running.unregister(command.process.stdout)
        command.process.stdout.close()

    def stop(self):
        """Ends all commands, and waits until those that have their output open are gone."""
        self._waiting.clear()
        commands = [key.data for key in self._running.get_map().values()]
        for command in commands:
            try:
                os.killpg(command.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for command in commands:
            command.process.stdout.read()
            self._end(command)
