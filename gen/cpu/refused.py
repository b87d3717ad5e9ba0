"""The reason why the CPU does not run a kernel in a better form."""


class Refused(Exception):
    """The reason why a kernel has no better form. The message that `cf-run --describe` prints names `token`."""

    def __init__(self, token, reason):
        super().__init__(reason)
        self.token = token
