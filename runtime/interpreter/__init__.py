"""The checking interpreter: the IR over NumPy, all programs of a grid at once."""

from __future__ import annotations

from eas.runtime.interpreter.limits import Limits, limits_of
from eas.runtime.interpreter.run import run
from eas.runtime.values import ArrayArgument

__all__ = ["ArrayArgument", "Limits", "limits_of", "run"]
