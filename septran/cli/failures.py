"""What can be wrong with a run that ends."""

from __future__ import annotations


class WrongResult(Exception):
    """The result is further away from NumPy's than rounding explains."""
