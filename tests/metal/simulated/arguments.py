"""Arguments on their way from Python to Objective-C, as pyobjc-core passes them on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_type_hints


class MTLSize(NamedTuple):
    """A struct of three unsigned numbers."""

    width: int
    height: int
    depth: int


@cache
def kinds_of(function: Callable[..., Any]) -> tuple[tuple[Any, bool], ...]:
    """The type of each parameter, and whether it may be `None`."""
    hints = get_type_hints(function)
    hints.pop("return")
    unions = [get_args(hint) if isinstance(hint, UnionType) else (hint,) for hint in hints.values()]
    return tuple((kinds[0], NoneType in kinds) for kinds in unions)


def to_unsigned(value: Any) -> int:
    """What is no number is refused, a fraction is cut off, what is negative becomes huge."""
    if isinstance(value, bytes | bytearray | str):
        kind = type(value).__name__
        raise ValueError(f"depythonifying 'unsigned long long', got '{kind}'")
    return int(value) % (1 << 64)


def make_size(width: Any, height: Any, depth: Any) -> MTLSize:
    """`MTLSizeMake`."""
    return MTLSize(to_unsigned(width), to_unsigned(height), to_unsigned(depth))


def _to_size(value: Any) -> MTLSize:
    if not isinstance(value, Sequence) or len(value) != 3:
        raise ValueError("depythonifying struct of 3 members")
    return make_size(*value)


def _to_bytes(value: Any) -> memoryview:
    if isinstance(value, str):
        raise TypeError("Expecting byte-buffer, got str")
    return memoryview(value).cast("B")


def _to_string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"NSInvalidArgumentException: {type(value).__name__} is no NSString")
    return value


# By the type that a method of the simulation says that it takes.
CONVERSIONS: dict[Any, Callable[[Any], Any]] = {
    int: to_unsigned,
    bool: bool,
    str: _to_string,
    memoryview: _to_bytes,
    MTLSize: _to_size,
}
