"""What is tuned: a logic, a mapping with open values, sizes and a dtype."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.files import SeptranError, resolve, tunes
from eas.septran.lowering import Lowered
from eas.septran.operators import Operator, load
from eas.septran.tuner.space import Space, Values
from eas.support.cache import digest
from eas.support.records import frozen

Array = np.ndarray[Any, Any]


@frozen
class Problem:
    """Paths and numbers only: another process can be given it. `shapes` are those of the arrays."""

    logic: str
    mappings: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    machine: str | None = None
    primitives: tuple[str, ...] = ()
    tune: tuple[tuple[str, int | bool | str], ...] = ()  # values that are not searched for


class Candidates:
    """The operators of a problem: one for each choice of values."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.base = load(
            problem.logic,
            problem.mappings,
            machine=problem.machine,
            primitives=problem.primitives,
            tune=dict(problem.tune),
        )
        self.space = Space(tuple(tunes(self.base.mapping)))
        self._lowered: dict[str, Lowered | str] = {}

    def operator(self, values: Values) -> Operator:
        """The operator with values for all that is open; raises what is wrong with them."""
        mapping = resolve(self.base.mapping, values)
        return Operator(self.base.logic, mapping, self.base.primitives, self.base.target)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """Arrays with the shapes of the arguments, which take no memory."""
        empty = np.empty((), DTYPES[self.problem.dtype].numpy)
        return tuple(np.broadcast_to(empty, shape) for shape in self.problem.shapes)

    def lowered(self, values: Values) -> Lowered | str:
        """The flat module of a candidate, or the code and the message with which it is refused."""
        key = repr(sorted(values.items()))
        if key not in self._lowered:
            self._lowered[key] = self._checked(values)
        return self._lowered[key]

    def _checked(self, values: Values) -> Lowered | str:
        try:
            operator = self.operator(values)
            if operator.target == "apple_gpu":  # whose text adds memory of its own
                return operator.check(*self.arrays)
            return operator.build_flat(*self.arrays)
        except SeptranError as error:
            return refusal(error)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for problems with the same files, sizes and values; where the files lie is not."""
        problem = self.problem
        paths = [problem.logic, *problem.primitives, self.base.machine.path]
        parts = [_content(path) for path in paths if path]
        parts += [document.text.text for document in self.base.mapping.documents]
        return digest(*parts, repr((problem.shapes, problem.dtype, problem.tune)))

    @property
    def title(self) -> str:
        """What is tuned, in words."""
        shapes = " ".join("x".join(map(str, shape)) for shape in self.problem.shapes)
        name, machine = self.base.entry.function_name, self.base.machine.name
        return f"{name} on {machine}, {shapes}, {self.problem.dtype}"


def refusal(error: SeptranError) -> str:
    """The code and the message of the first mistake."""
    first = error.diagnostics[0]
    return f"{first.code}: {first.message}"


def _content(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def problem_of(
    logic: str | os.PathLike[str],
    mappings: tuple[str, ...],
    shapes: tuple[tuple[int, ...], ...],
    dtype: str,
    *,
    machine: str | None = None,
    primitives: tuple[str, ...] = (),
    tune: Mapping[str, int | bool | str] | None = None,
) -> Problem:
    """A problem whose paths hold wherever a process runs on this machine."""
    given = machine and (os.path.abspath(machine) if os.path.exists(machine) else machine)
    return Problem(
        os.path.abspath(logic),
        tuple(map(os.path.abspath, mappings)),
        shapes,
        dtype,
        given or None,
        tuple(map(os.path.abspath, primitives)),
        tuple((tune or {}).items()),
    )
