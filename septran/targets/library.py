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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from eas.ir.types import DTYPES
from eas.support.location import Loc
from eas.support.records import field, frozen

DTYPE_CODES: dict[str, int] = {name: code for code, name in enumerate(DTYPES)}
RESULT = "D"  # the operand that an operation writes
Scratch: TypeAlias = Literal["local", "parameter"]

NATIVE = Path(__file__).parent.parent / "machines" / "native"


class TargetError(Exception):
    """A flat module that a target has no text for; `loc` is what asked for the statement."""

    code = "S701"
    key = "targets"  # of the machine file, where nothing else asked for it
    loc: Loc | None = None


class LibraryError(TargetError):
    """A library that is not there, or is not taken by the compiler, with what it says."""

    key = "library"


class PrimitiveError(TargetError):
    """A primitive that cannot compute what it is given where it is."""

    code = "S501"


@frozen
class CopyFunctions:
    """The function that copies, or starts a copy, and the one that waits for it."""

    copy: str
    wait: str | None = None
    dtypes: frozenset[str] = frozenset()  # if not all


@frozen
class Function:
    """A function for an operation: where its operands may lie, and what they may hold.

    `memories` are those of operands by their names; what is not listed is free.
    """

    name: str
    memories: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    dtypes: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()

    def takes(self, operand: str, memory: str, dtype: str) -> bool:
        """Whether an operand may be there, and hold this."""
        allowed = self.memories.get(operand)
        dtypes = (operand == RESULT and self.results) or self.dtypes
        return (not allowed or memory in allowed) and (not dtypes or dtype in dtypes)


@frozen
class Space:
    """Where the arrays of a memory begin, and the elements of its rows; see the machine's file."""

    base: int
    row: int | None = None
    capacity: int | None = None


@frozen
class Need:
    """What must be there to run: a `package`, a `command` or a `file`, and how to get it."""

    kind: Literal["package", "command", "file"]
    name: str
    install: str
    loads: str = ""


@frozen
class Emulator:
    """What programs for another processor are compiled for, and the command that runs them."""

    target: str
    flags: tuple[str, ...]
    command: tuple[str, ...]


@frozen
class Library:
    """What a library has: functions by symbol, by primitive, by operation and by copied memories.

    `operations` are those of `fill`, `exp`, `gelu`, `add`, `mul`, `scale_rows`, `row_max` and
    `row_sum` that it has, with the functions for each: the first that takes the operands is called.
    What it does not have is printed as loops. `shapes` are the extents, by primitive, of which a
    function takes multiples only: tiles are padded for it. `spaces` are those of memories that only
    its functions reach.
    """

    name: str
    symbols: Mapping[str, str] = field(default_factory=dict[str, str])
    primitives: Mapping[str, str] = field(default_factory=dict[str, str])
    operations: Mapping[str, Sequence[Function]] = field(
        default_factory=dict[str, Sequence[Function]]
    )
    copies: Mapping[str, CopyFunctions] = field(default_factory=dict[str, CopyFunctions])
    shapes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    headers: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()
    scratch: Scratch = "local"
    spaces: Mapping[str, Space] = field(default_factory=dict[str, Space])
    needs: tuple[Need, ...] = ()
    emulator: Emulator | None = None

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
