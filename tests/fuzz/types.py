"""The types of generated code, and what is known of an expression's value beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"


@dataclass(frozen=True)
class TupleOf:
    """A tuple of numbers; `make` is the name of its class if it is a named tuple or a list."""

    kinds: tuple[Kind, ...]
    make: str = ""

    @property
    def has_fields(self) -> bool:
        return self.make not in ("", "list")


@dataclass(frozen=True)
class FunctionOf:
    """A function of numbers. `named` are parameters with a default that calls give by keyword.

    `context` is what is passed before everything else, `has_rest` says that it takes `*rest`.
    `cost` is how many statements a call of it is worth.
    """

    parameters: tuple[tuple[str, Kind], ...]
    result: Kind
    context: str = ""
    named: tuple[tuple[str, Kind], ...] = ()
    has_rest: bool = False
    cost: int = 1


Type = Kind | TupleOf | FunctionOf
PAIR = TupleOf((Kind.INT, Kind.FLOAT), "Pair")

# The arrays that a program writes to, and how long their rows are.
WRITTEN: dict[Kind, tuple[str, int]] = {
    Kind.INT: ("ints", 6),
    Kind.FLOAT: ("floats", 4),
    Kind.BOOL: ("flags", 3),
}
READ: dict[Kind, tuple[str, int]] = {Kind.INT: ("xs", 3), Kind.FLOAT: ("fs", 3)}
TABLE_LENGTH = 5

# What every variable keeps to, whatever its program's number formats are.
INT_LIMIT = 99
FLOAT_LIMIT = 32
FLOAT_GRAIN = 3


@dataclass(frozen=True)
class Expression:
    """Text, the greatest magnitude that its value can have, and for floats its fraction's digits.

    A float of grain `g` is a multiple of `2 ** -g`, so it is exact in f32 if it is not too large.
    """

    text: str
    bound: int = 1
    grain: int = 0


@dataclass(frozen=True)
class Numbers:
    """The formats of a program's ints and floats, by the names of dtypes."""

    ints: str = "i32"
    floats: str = "f32"

    @property
    def has_plain_ints(self) -> bool:
        """Whether ints made of bools and floats have the same format as all others."""
        return self.ints == "i32"

    @property
    def has_plain_floats(self) -> bool:
        """Whether floats made of ints and literals have the same format as all others.

        If not, they are f64, and so all arithmetic rounds as CPython's does.
        """
        return self.floats == "f32"

    def holds_int(self, value: Expression) -> bool:
        return value.bound < 1 << (int(self.ints[1:]) - 1)

    def holds_float(self, value: Expression) -> bool:
        """Whether the value is the same in this format as in CPython's."""
        digits = value.bound.bit_length() + value.grain
        return digits <= 24 if self.has_plain_floats else value.bound < 1 << 40
