"""What is said to somebody who used the command wrongly."""


class UsageError(Exception):
    """The command was not given what it needs; the message says what."""
