"""Numbers, addresses and element-wise expressions of the flat IR as C."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from eas.ir.types import DType
from eas.septran.flat.affine import Affine, Atom, Floor, Max, Min, Mod, affine
from eas.septran.flat.nodes import (
    Alloc,
    Binary,
    BinaryKind,
    Buffer,
    Unary,
    UnaryKind,
    View,
)
from eas.septran.flat.operand_types import dtype_of
from eas.septran.targets.element_text import MARKS, ElementText, integer_types, rounded, sum_text

_TYPES = {
    "bool": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double",
    **integer_types("int{}_t"),
}  # fmt: skip
_KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while",
    # of OpenCL C, with the functions that a text calls there
    "bool", "constant", "cos", "erf", "event_t", "exp", "exp2", "fabs", "floor", "global", "half",
    "kernel", "local", "log", "pow", "private", "sin", "sqrt", "tanh", "uchar", "uint", "ulong",
    "ushort",
))  # fmt: skip
_FUNCTIONS: dict[UnaryKind, str] = {
    "abs": "__builtin_fabs",
    "exp": "__builtin_exp",
    "exp2": "__builtin_exp2",
    "log": "__builtin_log",
    "sqrt": "__builtin_sqrt",
    "sin": "__builtin_sin",
    "cos": "__builtin_cos",
    "tanh": "__builtin_tanh",
    "erf": "__builtin_erf",
    "floor": "__builtin_floor",
}
_OWN_FUNCTIONS: frozenset[UnaryKind] = frozenset(("rsqrt", "gelu", "sigmoid"))
_MARKS: dict[BinaryKind, str] = {**MARKS, "and": "&&", "or": "||"}


def c_name(name: str) -> str:
    """A name that is no word of C."""
    return f"{name}_" if name in _KEYWORDS or name.startswith(("vendor_lib_", "septran_")) else name


def c_type(dtype: DType) -> str:
    """The type of an element in memory."""
    return _TYPES[dtype.name]


def c_number(number: Affine) -> str:
    """An affine number; a negative one or a sum is in parentheses where it is a factor."""
    return sum_text(number, _multiple)


def c_factor(number: Affine) -> str:
    """An affine number to be multiplied or compared."""
    text = c_number(number)
    is_atom = len(number.terms) == 1 and number.terms[0][1] == 1 and not number.constant
    return text if is_atom or text.isdigit() else f"({text})"


def strides_of(buffer: Buffer) -> list[list[Affine]]:
    """For each axis the factors of its stride in elements; the last one has none."""
    extents = [affine(extent) for extent in buffer.shape]
    if isinstance(buffer, Alloc) and extents:
        extents[-1] += buffer.pad
    return [extents[axis + 1 :] for axis in range(len(extents))]


def c_product(factors: Sequence[Affine]) -> str:
    """A product of affine numbers, the constants multiplied."""
    constant = math.prod(factor.value for factor in factors if factor.is_constant)
    symbolic = [c_factor(factor) for factor in factors if not factor.is_constant]
    if constant == 0:
        return "0"
    return " * ".join([*symbolic, *([str(constant)] if constant != 1 or not symbolic else [])])


def row_stride(view: View, buffer: Buffer) -> list[Affine]:
    """The factors of the stride from one row of a view to the next."""
    own = [axis for axis, extent in enumerate(view.extents) if extent is not None]
    return (
        strides_of(buffer)[own[-2]] if len(own) > 1 else strides_of(buffer)[own[-1]] if own else []
    )


def element_index(view: View, buffer: Buffer, along: Sequence[str]) -> str:
    """The index of an element in its buffer; `along` are the positions on the view's own axes."""
    parts: list[str] = []
    positions = iter(along)
    if isinstance(buffer, Alloc) and view.slot is not None and view.slot != Affine():
        row = (*buffer.shape[:-1], buffer.shape[-1] + buffer.pad) if buffer.shape else ()
        parts.append(f"{c_factor(view.slot)} * {math.prod(row)}")
    for offset, extent, stride in zip(view.offsets, view.extents, strides_of(buffer), strict=True):
        position = "" if extent is None else next(positions)
        shown = [position] if position and position != "0" else []
        if offset != Affine():
            shown.insert(0, c_number(offset))
        if not shown:
            continue
        text = " + ".join(shown)
        factor = c_product(stride)
        is_one = len(shown) == 1 and (text.isidentifier() or text.isdigit())
        parts.append(text if factor == "1" else f"{text if is_one else f'({text})'} * {factor}")
    return " + ".join(parts) or "0"


def c_constant(value: float | int | bool, dtype: DType) -> str:
    """A number of a dtype, as a value that is computed with."""
    if not dtype.is_float:
        return str(int(value)) if abs(int(value)) < 1 << 31 else f"{int(value)}LL"
    is_double = dtype.name == "f64"
    number = rounded(value, dtype)
    if math.isinf(number):
        name = "__builtin_inf()" if is_double else "__builtin_inff()"
        return f"(-{name})" if number < 0 else name
    text = repr(number) if is_double else str(np.float32(number))
    text = text if "." in text or "e" in text else f"{text}.0"
    text = text if is_double else f"{text}f"
    return f"({text})" if text.startswith("-") else text


def load(text: str, dtype: DType) -> str:
    """An element as a value: numbers of 16 bits are floats."""
    return f"septran_from_{dtype}({text})" if dtype.is_float and dtype.bits == 16 else text


def stored(text: str, dtype: DType) -> str:
    """A value as an element."""
    return f"septran_to_{dtype}({text})" if dtype.is_float and dtype.bits == 16 else text


class Elements(ElementText):
    """Expressions in C, which computes small numbers in larger ones."""

    def operand(self, view: View, along: Sequence[str]) -> str:
        buffer = self.buffers[view.buffer]
        used = along[len(along) - view.rank :]
        positions = [
            "0" if extent == Affine(1) else position
            for extent, position in zip(view.shape, used, strict=True)
        ]
        return self.element(view, buffer, positions)

    def element(self, view: View, buffer: Buffer, positions: Sequence[str]) -> str:
        """The value of an element of a view."""
        name = c_name(view.buffer)
        return load(f"{name}[{element_index(view, buffer, positions)}]", buffer.dtype)

    def constant(self, value: float, dtype: DType) -> str:
        return c_constant(value, dtype)

    def index(self, number: Affine) -> str:
        return f"(int32_t)({c_number(number)})"

    def position(self, along: str) -> str:
        return f"(int32_t){along}"

    def unary(self, expr: Unary) -> str:
        dtype = dtype_of(expr, self.buffers)
        return _rounded(_unary(expr.kind, self.expr(expr.operand), dtype), dtype)

    def binary(self, expr: Binary) -> str:
        dtype = dtype_of(expr.left, self.buffers)
        left, right = self.expr(expr.left), self.expr(expr.right)
        result = _binary(expr.kind, left, right, dtype)
        return result if dtype_of(expr, self.buffers).is_bool else _rounded(result, dtype)

    def select(self, condition: str, yes: str, no: str) -> str:
        return f"({condition} ? {yes} : {no})"

    def cast(self, text: str, source: DType, target: DType) -> str:
        return c_cast(text, source, target)


def c_cast(text: str, source: DType, target: DType) -> str:
    """A value of one dtype as one of another."""
    if source == target:
        return text
    if target.is_bool:
        return f"({text} != 0)"
    if target.is_float and target.bits == 16:
        narrow = f"septran_narrow({text})" if source.name == "f64" else f"(float)({text})"
        return f"septran_round_{target}({narrow})"
    return f"({_TYPES[target.name]})({text})"


def _rounded(text: str, dtype: DType) -> str:
    """The result of an operation in its dtype; C computes small numbers in larger ones."""
    if dtype.is_float:
        return f"septran_round_{dtype}({text})" if dtype.bits == 16 else text
    return text if dtype.is_bool else f"({_TYPES[dtype.name]})({text})"


def _unary(kind: UnaryKind, operand: str, dtype: DType) -> str:
    if kind == "neg":
        return f"(-{operand})"
    if kind == "not":
        return f"(!{operand})"
    if not dtype.is_float:
        return f"septran_abs_i64({operand})" if dtype.is_signed else operand
    is_double = dtype.name == "f64"
    if kind in _OWN_FUNCTIONS:
        return f"septran_{kind}_{'f64' if is_double else 'f32'}({operand})"
    return f"{_FUNCTIONS[kind]}{'' if is_double else 'f'}({operand})"


def _binary(kind: BinaryKind, left: str, right: str, dtype: DType) -> str:
    if kind in _MARKS:
        return f"({left} {_MARKS[kind]} {right})"
    if kind == "pow":
        return f"__builtin_pow{'' if dtype.name == 'f64' else 'f'}({left}, {right})"
    wide = "i64" if dtype.is_signed else "u64"
    if dtype.is_float:
        wide = "f64" if dtype.name == "f64" else "f32"
    return f"septran_{kind}_{wide}({left}, {right})"


def _multiple(atom: Atom, coefficient: int) -> str:
    text = _ATOMS[type(atom)](atom)
    if coefficient == 1:
        return text
    return f"-{text}" if coefficient == -1 else f"{coefficient} * {text}"


def _floor(atom: Floor) -> str:
    return f"septran_floor_div({c_number(atom.operand)}, {atom.divisor})"


def _mod(atom: Mod) -> str:
    return f"septran_mod({c_number(atom.operand)}, {atom.divisor})"


def _extreme(atom: Min | Max) -> str:
    function = "septran_min_i64" if isinstance(atom, Min) else "septran_max_i64"
    first, *rest = map(c_number, atom.operands)
    for operand in rest:
        first = f"{function}({first}, {operand})"
    return first


_ATOMS: dict[type[Atom], Callable[..., str]] = {
    str: c_name,
    Floor: _floor,
    Mod: _mod,
    Min: _extreme,
    Max: _extreme,
}
