"""The checking interpreter: the IR over NumPy, all programs of a grid at once."""

from __future__ import annotations

from eas.runtime.interpreter.limits import Limits
from eas.runtime.interpreter.memory import ArrayArgument
from eas.runtime.interpreter.run import run

__all__ = ["ArrayArgument", "Limits", "run"]
