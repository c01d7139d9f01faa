"""What is known of a value while a Metal text is counted: its type, perhaps its number."""

from __future__ import annotations

from typing import Any

import numpy as np

from eas.review.metal.arithmetic import Known
from eas.review.metal.syntax import Type
from eas.support.records import frozen

Mask = np.ndarray[Any, np.dtype[np.bool_]]

INT = Type("int")
BOOL = Type("bool")

_SIZES = {
    "bool": 1, "char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2, "int": 4,
    "uint": 4, "float": 4, "long": 8, "ulong": 8, "size_t": 8, "double": 8,
}  # fmt: skip
_FLOATS = {"half", "bfloat", "float", "double"}


@frozen(eq=False)
class Value:
    """`number` is one for each thread, or one for all, or None; `parts` those of a vector.

    An unknown condition may be true for the threads in `possible`, if that is known.
    """

    type: Type
    number: Known | None = None
    parts: tuple[Known, ...] = ()
    possible: Mask | None = None


def is_float(ty: Type) -> bool:
    return ty.name.rstrip("234") in _FLOATS and not ty.is_pointer


def lanes_of(ty: Type) -> int:
    """2 for `float2`."""
    return int(ty.name[-1]) if ty.name[-1] in "234" and ty.name[:-1] in _SIZES else 1


def without_space(ty: Type) -> Type:
    """The type of a value that was read."""
    return Type(ty.name, ty.space if ty.is_pointer or ty.dims else "", ty.is_pointer, ty.dims)


def size_of(name: str) -> int:
    """The bytes of a type; an atomic one is as large as what it holds."""
    plain = name.removeprefix("atomic_").removeprefix("packed_")
    if plain in _SIZES:
        return _SIZES[plain]
    if plain[-1:] in "234" and plain[:-1] in _SIZES:
        return _SIZES[plain[:-1]] * (4 if plain[-1] == "3" else int(plain[-1]))
    return 4
