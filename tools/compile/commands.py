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
    """A compiler's run, which is waiting for its turn, running, or finished."""

    def __init__(self, runner, words, cwd):
        self._runner, self.words, self.cwd = runner, words, cwd
        self.process = self.code = self.failure = None
        self.output = []

    def result(self):
        """Waits for the command's end and returns its output; raises Refused with the output if the command fails."""
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
    """Runs commands, several at once, and can end all of them. It uses no threads, because Python waits forever for a
    thread that could not start for want of memory."""

    def __init__(self, jobs, folder):
        self._jobs, self._folder = jobs, folder
        self._waiting = collections.deque()
        self._running = selectors.DefaultSelector()

    def start(self, words, cwd=None):
        """Starts a command, or queues it if enough are running; it then starts during a later call that waits for
        results."""
        command = Command(self, words, cwd)
        self._waiting.append(command)
        self.advance(0)
        return command

    def advance(self, seconds):
        """Starts the commands whose turn it is, and reads the output of running ones. Waits for output for at most
        `seconds`; None: without a limit. Returns True if a command wrote or ended its output."""
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
        # Signals are held, because one between the start of a process and its registration would leave it running.
        with held_signals():
            try:
                # Files that a killed compiler leaves are removed with the workspace. SIGXFSZ stays ignored in
                # compilers, so that they report a file that is too large and do not crash.
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
        """Ends all commands with their children, and waits until their output is closed. A program that left the
        command's session may keep the output open; it is waited for only as long as it writes."""
        for command in self._waiting:
            command.failure = Interrupted()
        self._waiting.clear()
        for key in self._running.get_map().values():
            if key.data.process.returncode is None:     # a finished process's id may belong to a new process
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(key.data.process.pid, signal.SIGKILL)
        while self._running.get_map() and self.advance(1):
            pass
