"""Variables of the environment that every launch looks up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

# The dict inside of `os.environ`. The public `os.environ.get` encodes the key and catches a
# `KeyError`: two of them would nearly double the time of a warm launch.
_variables: Mapping[Any, Any] = vars(os.environ)["_data"]


class Variable:
    """A variable that is mostly not set, and may change at any time.

    >>> Variable("EAS_NO_SUCH").text()
    ''
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._key: Any = os.environ.encodekey(name)

    def text(self) -> str:
        """What it is set to; empty if it is not."""
        value = _variables.get(self._key)
        return os.environ.decodevalue(value) if value else ""
