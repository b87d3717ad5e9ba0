"""failure.py - what ends cfcc before it is done."""


class Failure(Exception):
    """What went wrong, as a line of cfcc's own."""


class Refused(Exception):
    """What a compiler said when it failed."""


class Interrupted(Exception):
    """A signal that ends cfcc."""
