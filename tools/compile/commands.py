"""commands.py - runs compilers, several at once."""

import collections
import contextlib
import os
import selectors
import signal
import subprocess

from failure import Failure, Interrupted, Refused, Short, shortage
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
        time at most, None without a limit. Returns True if there was output, or an end of output."""
        while self._waiting and len(self._running.get_map()) < self._jobs:
            self._begin(self._waiting.popleft())
        ready = self._running.get_map() and self._running.select(seconds)
        for key, _ in ready:
            part = os.read(key.fd, 1 << 16)
            key.data.output.append(part)
            if not part:
                self._end(key.data)
        return bool(ready)

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
        """Ends all commands with their children, and waits until their output is closed. Programs that left the
        command's session may keep it open: they are waited for as long as they write."""
        for command in self._waiting:
            command.failure = Interrupted()
        self._waiting.clear()
        for key in self._running.get_map().values():
            if key.data.process.returncode is None:     # the numbers of others may be those of new processes
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(key.data.process.pid, signal.SIGKILL)
        while self._running.get_map() and self.advance(1):
            pass
