"""Element-wise expressions as text: the walk over them, and what C and Python spell alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eas.ir.types import DType
from eas.septran.flat.affine import Affine, Atom
from eas.septran.flat.nodes import (
    Binary,
    BinaryKind,
    Buffer,
    Cast,
    Column,
    Const,
    Expr,
    Index,
    Iota,
    Operand,
    Select,
    Unary,
    View,
)
from eas.septran.flat.operand_types import dtype_of
from eas.septran.flat.spelling import INFIX

MARKS: dict[BinaryKind, str] = {
    kind: mark for kind, (mark, _, _) in INFIX.items() if kind not in ("and", "or")
}


def integer_types(form: str) -> dict[str, str]:
    """The names of the integer types; `form` has their number of bits in it: `int{}_t`."""
    signed = {f"i{bits}": form.format(bits) for bits in (8, 16, 32, 64)}
    return {**signed, **{f"u{name[1:]}": f"u{text}" for name, text in signed.items()}}


def sum_text(number: Affine, multiple: Callable[[Atom, int], str]) -> str:
    """An affine number, the terms that are subtracted last."""
    parts = [(factor, multiple(atom, factor)) for atom, factor in number.terms]
    if number.constant or not parts:
        parts.append((number.constant, str(number.constant)))
    parts.sort(key=lambda part: part[0] < 0)
    return " + ".join(text for _, text in parts).replace("+ -", "- ")


def rounded(value: float, dtype: DType) -> float:
    """A number as a dtype of floats has it."""
    with np.errstate(over="ignore"):
        return float(np.asarray(value, dtype.numpy))


class ElementText(ABC):
    """Prints expressions for one element; `along` are the positions in the destination."""

    def __init__(self, buffers: Mapping[str, Buffer], along: Sequence[str]) -> None:
        self.buffers = buffers
        self.along = along

    def expr(self, expr: Expr) -> str:
        match expr:
            case Operand(view):
                return self.operand(view, self.along)
            case Column(view):
                return self.operand(view, self.along[:-1])
            case Const(value, dtype):
                return self.constant(value, dtype)
            case Index(value):
                return self.index(value)
            case Iota(axis):
                return self.position(self.along[axis])
            case Unary():
                return self.unary(expr)
            case Binary():
                return self.binary(expr)
            case Select(condition, yes, no):
                return self.select(*map(self.expr, (condition, yes, no)))
            case Cast(dtype, operand):
                source = dtype_of(operand, self.buffers)
                return self.cast(self.expr(operand), source, dtype)

    @abstractmethod
    def operand(self, view: View, along: Sequence[str]) -> str: ...
    @abstractmethod
    def constant(self, value: float, dtype: DType) -> str: ...
    @abstractmethod
    def index(self, number: Affine) -> str: ...
    @abstractmethod
    def position(self, along: str) -> str: ...
    @abstractmethod
    def unary(self, expr: Unary) -> str: ...
    @abstractmethod
    def binary(self, expr: Binary) -> str: ...
    @abstractmethod
    def select(self, condition: str, yes: str, no: str) -> str: ...
    @abstractmethod
    def cast(self, text: str, source: DType, target: DType) -> str: ...
