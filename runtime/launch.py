"""Runs a compiled function over a grid."""

from __future__ import annotations

import os
from collections.abc import Mapping

from eas.runtime.binding import Binding
from eas.runtime.interpreter import run
from eas.runtime.interpreter.limits import limits_of
from eas.runtime.values import Bound


def launch(binding: Binding, values: Mapping[str, Bound], grid: tuple[int, ...]) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing."""
    arguments = binding.bind(values)
    if 0 not in grid:
        run(binding.function, arguments, grid, limits=limits_of(os.environ))
