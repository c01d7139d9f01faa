"""A vendor's C library as a table: which function does what. No target knows another library.

Every function of a library has one of these signatures, where an array is an address and a stride
in elements, and a dtype is its position in `DTYPE_CODES`:

    copy      target, source, rows, columns, dtype, token        queued, if `wait` has a name
    wait      token, keep
    fill      target, rows, columns, dtype, value
    product   target, its dtype, left, right, their dtype, m, n, k, transposed (1: left, 2: right)
    unary     target, source, rows, columns, dtype
    binary    target, left, right, rows, columns, dtype
    reduction target, its dtype, source, rows, columns, dtype
    other     for each view an address and a stride, rows and columns; then numbers

A library with other signatures gets a header that translates, beside its machine file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from eas.ir.types import DTYPES
from eas.support.records import field, frozen

DTYPE_CODES: dict[str, int] = {name: code for code, name in enumerate(DTYPES)}
Scratch: TypeAlias = Literal["local", "parameter"]

NATIVE = Path(__file__).parent.parent / "machines" / "native"


class TargetError(Exception):
    """A flat module that a target has no text for."""


@frozen
class CopyFunctions:
    """The function that copies, or starts a copy, and the one that waits for it."""

    copy: str
    wait: str | None = None


@frozen
class Library:
    """What a library has: functions by symbol, by primitive, by operation and by copied memories.

    `operations` are those of `fill`, `exp`, `gelu`, `add`, `mul`, `scale_rows`, `row_max` and
    `row_sum` that it has. What it does not have is printed as loops. `shapes` are the extents, by
    primitive, of which a function takes multiples only: tiles are padded for it.
    """

    name: str
    symbols: Mapping[str, str] = field(default_factory=dict[str, str])
    primitives: Mapping[str, str] = field(default_factory=dict[str, str])
    operations: Mapping[str, str] = field(default_factory=dict[str, str])
    copies: Mapping[str, CopyFunctions] = field(default_factory=dict[str, CopyFunctions])
    shapes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    headers: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()
    scratch: Scratch = "local"

    def product(self, primitive: str) -> str | None:
        """The function of a primitive or of a dotted symbol; None if plain loops are to do."""
        if primitive in self.primitives:
            return self.primitives[primitive]
        if primitive in self.symbols:
            return self.symbols[primitive]
        if "." in primitive:
            raise TargetError(f"{self.name} has no symbol `{primitive}`")
        return None


PLAIN_C = Library("c")

# Arrays `..._names` and `..._counts`, in which a library may count the calls of its functions.
COUNTERS = "vendor_lib_call"
