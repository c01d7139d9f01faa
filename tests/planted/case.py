"""What a kernel with a planted bug brings along: how it is launched, and what must be reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = Mapping[str, Any]

# A kernel takes `WRONG: eas.constexpr`, which is 1 for the bug and 0 for the twin: it is folded, so
# that either is compiled as if it had been written out.
BUG: Arguments = {"WRONG": 1}
TWIN: Arguments = {"WRONG": 0}


@dataclass(frozen=True)
class Planted:
    """A kernel with one memory bug, on the line that ends with `# BUG`, and its correct twin.

    A launch with `arguments` and `bug` is reported with `code`, for the array of that name. With
    `twin` instead it reports nothing, and each array holds what `expected` gives for it, or what
    it held before.
    `on_interpret` is the code of the interpreter, if that is another one: it sees an offset wrap.
    """

    kernel: Any
    code: str
    array: str
    expected: Callable[..., Mapping[str, Array]]
    arguments: Arguments
    bug: Arguments
    twin: Arguments
    grid: tuple[int, ...]
    on_interpret: str

    def code_on(self, backend: str) -> str:
        """The code that a backend reports."""
        return self.on_interpret if backend == "interpret" else self.code

    def launch(self, difference: Arguments, backend: str) -> dict[str, Guarded]:
        """Launches the kernel on copies of its arrays, and gives these; faults are raised."""
        values = dict(self.arguments) | dict(difference)
        arrays = {n: guard(value) for n, value in values.items() if isinstance(value, np.ndarray)}
        values |= {name: guarded.array for name, guarded in arrays.items()}
        try:
            self.kernel[self.grid](**values, _backend=backend)
        finally:
            for name, guarded in arrays.items():
                assert guarded.is_intact(), f"something was written around `{name}`"
        return arrays

    def results(self) -> dict[str, Array]:
        """What the arrays hold after a launch of the twin."""
        values = dict(self.arguments) | dict(self.twin)
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return arrays | dict(self.expected(**values))


def planted(
    code: str,
    array: str,
    expected: Callable[..., Mapping[str, Array]],
    *,
    bug: Arguments = BUG,
    twin: Arguments = TWIN,
    grid: tuple[int, ...] = (1,),
    on_interpret: str = "",
    **arguments: Any,
) -> Callable[[Any], Planted]:
    """Makes a case of the kernel below."""

    def make(kernel: Any) -> Planted:
        seen = on_interpret or code
        return Planted(kernel, code, array, expected, arguments, bug, twin, grid, seen)

    return make


GUARD = 1 << 14  # bytes on either side: more than any of the bugs with a small offset reaches
_PATTERN = 0xA5


@dataclass(frozen=True)
class Guarded:
    """An array in the middle of a larger buffer, so that a stray access hits nothing else."""

    array: Array
    buffer: Array = field(repr=False)
    is_around: Array = field(repr=False)

    def is_intact(self) -> bool:
        """Whether all bytes that belong to no element are as they were."""
        return bool((self.buffer[self.is_around] == _PATTERN).all())


def guard(array: Array) -> Guarded:
    """A copy of an array with its strides; also what lies between its elements is guarded."""
    low, high = np.lib.array_utils.byte_bounds(array)
    offset = GUARD + array.ctypes.data - low
    total = high - low + 2 * GUARD
    buffer = np.full(total, _PATTERN, np.uint8)
    around = np.full(total, _PATTERN, np.uint8)
    copy, inside = (
        np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
        for memory in (buffer, around)
    )
    copy[...] = array
    inside[...] = np.zeros((), array.dtype)
    return Guarded(copy, buffer, around != 0)


def numbers(*shape: int, dtype: str = "f4") -> Array:
    """1, 2, 3, ... in an array: no two elements are equal, and none is zero."""
    return (np.arange(np.prod(shape, dtype=int)) + 1).astype(dtype).reshape(shape)


def zeros(*shape: int, dtype: str = "f4") -> Array:
    return np.zeros(shape, dtype)
