"""signals.py - the signals that end cfcc, and the parts of it that they do not interrupt."""

import contextlib
import signal

from failure import Interrupted

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_state = {'is_held': False, 'pending': 0}


def catch_signals():
    """Lets the signals raise Interrupted, except those that cfcc's caller ignores."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def hold_signals():
    """Lets signals wait until the next release. A mask would do so in the compilers, too, which inherit it."""
    _state['is_held'] = True


def release_signals():
    """Raises Interrupted if a signal waits."""
    _state['is_held'] = False
    number, _state['pending'] = _state['pending'], 0
    if number:
        _interrupt(number, None)


@contextlib.contextmanager
def held_signals():
    """Lets signals wait in a with statement, after which they are as they were."""
    was_held = _state['is_held']
    hold_signals()
    try:
        yield
    finally:
        if not was_held:
            release_signals()


def _interrupt(number, _):
    if _state['is_held']:
        _state['pending'] = number
        return
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)
