"""What the front end takes for each parameter of a kernel, and what it gives back."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from eas.ir.nodes import Function
from eas.ir.types import DType
from eas.support.records import frozen


@frozen
class ArrayArg:
    """An array; `ndim` is None where only the element type is known.

    `same_as` names an earlier parameter that gets the very same array: the two are one in the IR.
    `is_wide` says that its offsets need 64 bits.
    """

    dtype: DType
    ndim: int | None = None
    same_as: str | None = None
    is_wide: bool = False


@frozen
class ScalarArg:
    """A number that is known at run time."""

    dtype: DType


@frozen
class ConstArg:
    """A value that is part of the compiled kernel."""

    value: object


@frozen
class UnknownArg:
    """An argument of which nothing is known: what depends on it is not checked."""


Argument = ArrayArg | ScalarArg | ConstArg | UnknownArg


class Unknown:
    """The class of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


# Stands for an unknown value from outside, where a text is compiled without being run. What depends
# on it is not checked.
UNKNOWN: Any = Unknown()


@frozen
class Capture:
    """A value from outside of the kernel that its code depends on."""

    name: str
    read: Callable[[], object]
    seen: object

    def is_current(self) -> bool:
        """Whether compiling again would find the same value."""
        try:
            now = self.read()
        except Exception:  # it may run code of the user's
            return False
        return now is self.seen or is_same(now, self.seen)


@frozen
class Lowered:
    """A kernel in the IR, and the outside values that it depends on."""

    function: Function
    captures: tuple[Capture, ...]
    messages: tuple[str, ...] = ()


def is_same(a: object, b: object) -> bool:
    """Equal as constants: `1`, `1.0` and `True` differ, and so do `0.0` and `-0.0`."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, tuple | list):
        return _is_same_sequence(a, b)
    if isinstance(a, dict):
        return _is_same_sequence(_items(a), _items(b))
    try:
        return bool(a == b)
    except Exception:  # of the user's `__eq__`, or of an array's many truths
        return False


def _is_same_sequence(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(map(is_same, a, b))


def _items(value: Any) -> list[tuple[object, object]]:
    """In their order, which a loop over the dict follows."""
    return list(value.items())


def snapshot(value: Any) -> Any:
    """A value as it is now: lists, dicts and sets are copied wherever they are in it."""
    kind = cast(type[Any], type(value))
    if kind is dict:
        return dict(zip(value, map(snapshot, value.values()), strict=True))
    if kind is set:
        return set(value)
    if kind not in (list, tuple):
        return value
    items: list[Any] = [snapshot(item) for item in value]
    is_fixed = kind is tuple and all(map(operator.is_, items, value))
    return value if is_fixed else tuple(items) if kind is tuple else items
