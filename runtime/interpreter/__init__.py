"""The checking interpreter: the IR over NumPy, all programs of a grid at once."""

from __future__ import annotations

from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter.budgets import Limits, limits_of
from eas.runtime.interpreter.run import run

__all__ = ["ArrayArgument", "Limits", "limits_of", "run"]
