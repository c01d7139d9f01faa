"""Numbers and element-wise expressions of the flat IR in TVM's scripts, which are Python.

TVMScript and TileLang share all of it: both name the module of their functions `T`.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Mapping, Sequence

import numpy as np

from eas.ir.types import DType
from eas.septran.flat.affine import Affine, Atom, Floor, Max, Min, Mod
from eas.septran.flat.nodes import (
    Alloc,
    Binary,
    BinaryKind,
    Buffer,
    If,
    Unary,
    UnaryKind,
    View,
)
from eas.septran.flat.operand_types import dtype_of
from eas.septran.targets.element_text import MARKS, ElementText, integer_types, rounded, sum_text

_DTYPES = {
    "bool": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    **integer_types("int{}"),
}  # fmt: skip
_BINARY: dict[BinaryKind, str] = {
    "max": "T.max", "min": "T.min", "pow": "T.pow", "and": "T.And", "or": "T.Or",
}  # fmt: skip
_UNARY: dict[UnaryKind, str] = {
    "not": "T.Not", "abs": "T.abs", "exp": "T.exp", "exp2": "T.exp2", "log": "T.log",
    "sqrt": "T.sqrt", "rsqrt": "T.rsqrt", "sin": "T.sin", "cos": "T.cos", "tanh": "T.tanh",
    "erf": "T.erf", "sigmoid": "T.sigmoid", "floor": "T.floor",
}  # fmt: skip


def py_name(name: str) -> str:
    """A name that is no word of Python, nor that of the functions' module."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("T", "range", "min", "max") else name


def py_dtype(dtype: DType) -> str:
    """The name of a dtype."""
    return _DTYPES[dtype.name]


def py_number(number: Affine) -> str:
    """An affine number."""
    return sum_text(number, _multiple)


def py_condition(stmt: If) -> str:
    """What an `if` tests."""
    return f"{py_number(stmt.left)} {stmt.comparison} {py_number(stmt.right)}"


def py_sum(offset: Affine, position: str) -> str:
    """An offset and a position on an axis."""
    if position == "0":
        return py_number(offset)
    return position if offset == Affine() else f"{py_number(offset)} + {position}"


def py_constant(value: float | int | bool, dtype: DType) -> str:
    """A number of a dtype."""
    name = py_dtype(dtype)
    if dtype.is_bool:
        return f"T.bool({bool(value)})"
    if not dtype.is_float:
        return f"T.{name}({int(value)})"
    number = rounded(value, dtype)
    if math.isinf(number):
        # TVM prints an infinite constant as `inf`, which C does not have.
        infinity = 'T.call_extern("float64", "exp2", T.float64(1024.0))'
        wide = infinity if dtype.name == "f64" else f'T.Cast("{name}", {infinity})'
        return f"-{wide}" if number < 0 else wide
    text = str(np.float32(number)) if dtype.name == "f32" else repr(number)
    return f"T.{name}({text})"


def buffer_shape(buffer: Buffer) -> list[str]:
    """The extents of a buffer as it is declared: the slots first, where there are several."""
    if not isinstance(buffer, Alloc):
        return [py_number(extent) for extent in buffer.shape]
    *rows, row = buffer.shape or (1,)
    slots = [buffer.slots] if buffer.slots > 1 else []
    return [str(extent) for extent in (*slots, *rows, row + buffer.pad)]


def py_tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


class ScriptElements(ElementText):
    """Expressions in TVM's scripts. Buffers whose slots the target handles are in `slotless`."""

    def __init__(
        self,
        buffers: Mapping[str, Buffer],
        along: Sequence[str],
        slotless: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(buffers, along)
        self.slotless = slotless

    def operand(self, view: View, along: Sequence[str]) -> str:
        """An element of a view."""
        used = iter(along[len(along) - view.rank :])
        indices = slot_index(view, self.buffers[view.buffer], self.slotless)
        for offset, extent in zip(view.offsets, view.extents, strict=True):
            position = "0" if extent is None else next(used)
            indices.append(py_sum(offset, "0" if extent == Affine(1) else position))
        return f"{py_name(view.buffer)}[{', '.join(indices or ['0'])}]"

    def constant(self, value: float, dtype: DType) -> str:
        return py_constant(value, dtype)

    def index(self, number: Affine) -> str:
        return f"({py_number(number)})"

    def position(self, along: str) -> str:
        return along

    def unary(self, expr: Unary) -> str:
        text, dtype = self.expr(expr.operand), dtype_of(expr.operand, self.buffers)
        if expr.kind == "neg":
            return f"(-{text})"
        if expr.kind == "gelu":
            half, one, root = (py_constant(each, dtype) for each in (0.5, 1.0, 0.5**0.5))
            return f"({half} * {text} * ({one} + T.erf({text} * {root})))"
        return f"{_UNARY[expr.kind]}({text})"

    def binary(self, expr: Binary) -> str:
        left, right = self.expr(expr.left), self.expr(expr.right)
        if expr.kind in MARKS:
            return f"({left} {MARKS[expr.kind]} {right})"
        return f"{_BINARY[expr.kind]}({left}, {right})"

    def select(self, condition: str, yes: str, no: str) -> str:
        return f"T.if_then_else({condition}, {yes}, {no})"

    def cast(self, text: str, source: DType, target: DType) -> str:
        if source == target:
            return text
        if target.is_bool:
            return f"({text} != {py_constant(0, source)})"
        return f'T.Cast("{py_dtype(target)}", {text})'


def slot_index(view: View, buffer: Buffer, slotless: frozenset[str]) -> list[str]:
    """The index of a view's slot, where its buffer is declared with slots."""
    if not isinstance(buffer, Alloc) or buffer.slots == 1 or view.buffer in slotless:
        return []
    return [py_number(view.slot or Affine())]


def _multiple(atom: Atom, coefficient: int) -> str:
    text = _atom(atom)
    if coefficient == 1:
        return text
    inner = f"({text})" if isinstance(atom, Floor | Mod) else text
    return f"-{inner}" if coefficient == -1 else f"{coefficient} * {inner}"


def _atom(atom: Atom) -> str:
    match atom:
        case str():
            return py_name(atom)
        case Floor() | Mod():
            inner = py_number(atom.operand)
            inner = inner if inner.isidentifier() else f"({inner})"
            return f"{inner} {'//' if isinstance(atom, Floor) else '%'} {atom.divisor}"
        case Min() | Max():
            function = "T.min" if isinstance(atom, Min) else "T.max"
            first, *rest = map(py_number, atom.operands)
            for operand in rest:
                first = f"{function}({first}, {operand})"
            return first
