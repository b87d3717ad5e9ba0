"""commands.py - runs compilers, several at once."""

import concurrent.futures
import os
import signal
import subprocess
import threading

from failure import Failure, Interrupted, NO_MEMORY, Refused, Short, shortage


class Runner:
    """Runs commands, several at once, and can end all of them."""

    def __init__(self, jobs, folder):
        self._pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self._lock = threading.Lock()
        self._running = set()
        self._is_stopped = False
        self._folder = folder

    def start(self, command, cwd=None):
        """A future of the command's output; it raises Refused with the output if the command fails."""
        try:
            return self._pool.submit(self._run, command, cwd)
        except RuntimeError as error:   # the system starts no thread
            raise Short(f'there is no memory for a thread: {error}', NO_MEMORY) from error

    def _run(self, command, cwd):
        with self._lock:
            if self._is_stopped:
                raise Interrupted
            try:
                # The workspace's removal also removes files that a killed compiler leaves. SIGXFSZ stays ignored:
                # compilers then say that a file is too large, in place of a crash.
                process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, start_new_session=True, restore_signals=False,
                                           env=dict(os.environ, TMPDIR=self._folder, LC_ALL='C'))
            except OSError as error:
                raise Failure(f'cannot run {command[0]}: {error.strerror}') from error
            self._running.add(process)
        text = process.communicate()[0].decode(errors='replace')
        with self._lock:
            self._running.discard(process)
        if process.returncode == 0:
            return text
        status = shortage(process.returncode, text)
        if status:
            by_signal = process.returncode < 0 and f'{command[0]} was ended by signal {-process.returncode}'
            raise Short(by_signal or text.strip('\n'), status)
        raise Refused(text or f'cfcc: {command[0]} ended with {process.returncode}\n')

    def stop(self):
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self._pool.shutdown(wait=True)
