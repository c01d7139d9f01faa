"""What can be wrong with a run that ends."""

from __future__ import annotations


class NothingFound(Exception):
    """A search in which no trial has a time, where its best candidate is asked for."""


class WrongResult(Exception):
    """The result is further away from NumPy's than rounding explains."""
