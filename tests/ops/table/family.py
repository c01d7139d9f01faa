"""What the table of ops is made of: families of ops that are run together, in one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eas.config import Backend
from eas.ir.types import DType
from tests.backends import TEXT_BACKENDS
from tests.ops.shapes import Shape
from tests.ops.table.comparing import difference

Array = np.ndarray[Any, np.dtype[Any]]

# Metal's functions are less exact than those of a CPU.
METAL_ULPS = 2


@dataclass(frozen=True)
class Check:
    """What an op has written to `found`, part of an argument, and what is right.

    Either may be a function that gives it after the launch. `arrange` takes away what is not
    specified: an order, the sign of zero.
    """

    op: str
    found: Array | Callable[[], Array]
    right: Array | Callable[[], Array]
    ulps: int = 0
    arrange: Callable[[Array], Array] = np.asarray

    def fault(self, backend: Backend) -> str | None:
        ulps = self.ulps + METAL_ULPS if self.ulps and backend in TEXT_BACKENDS else self.ulps
        found, right = (a() if callable(a) else a for a in (self.found, self.right))
        return difference(self.arrange(found), self.arrange(right), ulps)


@dataclass(frozen=True)
class Launch:
    """A kernel that runs the ops of a family, its arguments, and what these must become."""

    kernel: Any
    arguments: dict[str, Any]
    checks: list[Check]
    grid: tuple[int, ...] = (1,)
    threads: int | None = None
    # What it prints; where Metal has no such thing, the words that say so; where it stops, those.
    text: str = ""
    refusal: str | None = None
    failure: str | None = None

    def run(self, backend: Backend) -> None:
        self.kernel[self.grid](**self.arguments, _tptg=self.threads, _backend=backend)

    def faults(self, backend: Backend) -> Iterator[str]:
        for check in self.checks:
            words = check.fault(backend)
            if words is not None:
                yield f"{check.op}: {words}"


@dataclass(frozen=True)
class Family:
    """Ops of one kind: `launch` runs all of them that take a dtype, in blocks of a shape."""

    name: str
    dtypes: tuple[DType, ...]
    shapes: tuple[Shape, ...]
    launch: Callable[[DType, Shape], Launch]
    only: Callable[[DType, Shape], bool] = field(default=lambda dtype, shape: True)

    def cases(self) -> list[tuple[Family, DType, Shape]]:
        return [(self, d, s) for d in self.dtypes for s in self.shapes if self.only(d, s)]

    def sample(self) -> list[tuple[Family, DType, Shape]]:
        """A sixth of the cases: every dtype in at least one shape, and every shape."""
        found: list[tuple[Family, DType, Shape]] = []
        for number, dtype in enumerate(self.dtypes):
            own = [case for case in self.cases() if case[1] == dtype]
            found += own[number % min(len(own), 6) :: 6]
        seen = {shape for _, _, shape in found}
        of_shape = {case[2]: case for case in self.cases()}
        return found + [case for shape, case in of_shape.items() if shape not in seen]
