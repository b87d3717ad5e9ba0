"""signals.py - handles the signals that end cfcc, and delays them in parts that must not be interrupted."""

import contextlib
import signal

from failure import Interrupted

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_state = {'is_held': False, 'pending': 0}


def catch_signals():
    """Lets the signals raise Interrupted, except those that cfcc's caller has set to be ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def hold_signals():
    """Delays signals until release_signals(). They are not blocked by a signal mask, because compilers would inherit
    it."""
    _state['is_held'] = True


def release_signals():
    """Ends the delay, and raises Interrupted if a signal has arrived."""
    _state['is_held'] = False
    number, _state['pending'] = _state['pending'], 0
    if number:
        _interrupt(number, None)


@contextlib.contextmanager
def held_signals():
    """Delays signals within a with statement, and restores the state before it."""
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
