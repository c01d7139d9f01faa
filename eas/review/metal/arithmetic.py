"""Metal's integers: of one thread, or of all threads at once."""

from __future__ import annotations

from typing import Any

import numpy as np

Known = int | np.ndarray[Any, np.dtype[np.int64]]

_BITS = {
    "bool": 1, "char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64,
}  # fmt: skip
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def is_comparison(operator: str) -> bool:
    return operator in _COMPARISONS


def convert(number: Known, name: str) -> Known | None:
    """The number in another type; None for a type that has no integers, or too large ones."""
    bits = _BITS.get(name)
    if bits is None:
        return None
    if bits == 64:
        return number
    if bits == 1:
        return _plain(np.asarray(number) != 0)
    wide = np.asarray(number, np.int64) & ((1 << bits) - 1)
    if not name.startswith("u"):
        wide = np.where(wide >> (bits - 1), wide - (1 << bits), wide)
    return _plain(wide)


def unary(operator: str, number: Known, name: str) -> Known | None:
    match operator:
        case "-":
            return convert(-number, name)
        case "~":
            return convert(~number, name)
        case "!":
            return _plain(np.asarray(number) == 0)
        case _:
            return number


def binary(operator: str, left: Known | None, right: Known | None, name: str) -> Known | None:
    """The result of an operator in a type, if both numbers are known."""
    if left is None or right is None:
        return None
    a, b = np.asarray(left, np.int64), np.asarray(right, np.int64)
    with np.errstate(all="ignore"):
        result = _compute(operator, a, b)
    if result is None:
        return None
    return _plain(result) if is_comparison(operator) else convert(_plain(result), name)


def _compute(operator: str, a: Any, b: Any) -> Any:
    if operator in ("/", "%"):
        return None if (b == 0).any() else _divide(operator, a, b)
    if operator in ("<<", ">>"):
        if ((b < 0) | (b > 31)).any():
            return None
        return a << b if operator == "<<" else a >> b
    table = {
        "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and,
        "|": np.bitwise_or, "^": np.bitwise_xor, "<": np.less, "<=": np.less_equal,
        ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    }  # fmt: skip
    return table[operator](a, b) if operator in table else None


def _divide(operator: str, a: Any, b: Any) -> Any:
    """Towards zero; the remainder has the sign of the left one."""
    quotient = np.abs(a) // np.abs(b) * np.where((a < 0) != (b < 0), -1, 1)
    return quotient if operator == "/" else a - quotient * b


def trips(operator: str, start: Known, stop: Known, step: int) -> Known | None:
    """How often `for (i = start; i < stop; i += step)` runs, or None if that is not clear."""
    extent: Any
    if operator in ("<", "<=") and step > 0:
        extent = np.asarray(stop) - np.asarray(start) + (operator == "<=")
    elif operator in (">", ">=") and step < 0:
        extent = np.asarray(start) - np.asarray(stop) + (operator == ">=")
    else:
        return None
    return _plain(np.maximum(-(-extent // abs(step)), 0))


def _plain(number: Any) -> Known:
    array = np.asarray(number)
    return int(array) if array.ndim == 0 else array.astype(np.int64)
