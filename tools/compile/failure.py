"""failure.py - the exceptions that end cfcc early."""


class Failure(Exception):
    """An error, reported as a line of cfcc's own."""


class Refused(Exception):
    """The messages of a failed compiler."""


class Interrupted(Exception):
    """A signal that ends cfcc."""
