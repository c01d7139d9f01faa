"""Dtypes and the types of values: scalars, blocks, pointers."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from eas.support.records import frozen


class Kind(Enum):
    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@frozen
class DType:
    """A number format: `mk.f32`, `mk.i64`, ..."""

    name: str
    kind: Kind
    bits: int

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"mk.{self.name}"

    def __hash__(self) -> int:  # `Kind` members hash by identity: not the same in every process
        return hash(self.name)

    @property
    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_int(self) -> bool:
        """An integer format; `bool` is not one."""
        return self.kind is Kind.SIGNED or self.kind is Kind.UNSIGNED

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.SIGNED

    @property
    def is_unsigned(self) -> bool:
        return self.kind is Kind.UNSIGNED

    @property
    def numpy(self) -> np.dtype[Any]:
        return _numpy_dtype(self.name)

    @property
    def min(self) -> int:
        """The least value of an integer format (0 for `bool`)."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def max(self) -> int:
        """The greatest value of an integer format (1 for `bool`)."""
        return (1 << (self.bits - 1)) - 1 if self.is_signed else (1 << self.bits) - 1


BOOL = DType("bool", Kind.BOOL, 1)
I8 = DType("i8", Kind.SIGNED, 8)
I16 = DType("i16", Kind.SIGNED, 16)
I32 = DType("i32", Kind.SIGNED, 32)
I64 = DType("i64", Kind.SIGNED, 64)
U8 = DType("u8", Kind.UNSIGNED, 8)
U16 = DType("u16", Kind.UNSIGNED, 16)
U32 = DType("u32", Kind.UNSIGNED, 32)
U64 = DType("u64", Kind.UNSIGNED, 64)
F16 = DType("f16", Kind.FLOAT, 16)
BF16 = DType("bf16", Kind.FLOAT, 16)
F32 = DType("f32", Kind.FLOAT, 32)
F64 = DType("f64", Kind.FLOAT, 64)

DTYPES: dict[str, DType] = {
    d.name: d for d in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
}


# NumPy's and torch's names of them.
LONG_NAMES: dict[str, DType] = {
    **{f"int{bits}": DTYPES[f"i{bits}"] for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": DTYPES[f"u{bits}"] for bits in (8, 16, 32, 64)},
    **{f"float{bits}": DTYPES[f"f{bits}"] for bits in (16, 32, 64)},
    "bfloat16": BF16,
}


def dtype_named(name: str) -> DType | None:
    """The dtype of a name, `f32` or `float32`."""
    return DTYPES.get(name) or LONG_NAMES.get(name)


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    spelled = {"bool": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64}
    if name == "bf16":
        import ml_dtypes  # which NumPy lacks; only kernels with bf16 load it

        return np.dtype(ml_dtypes.bfloat16)
    if name in spelled:
        return np.dtype(spelled[name])
    return np.dtype(("int" if name[0] == "i" else "uint") + name[1:])


@cache
def from_numpy(dtype: np.dtype[Any]) -> DType | None:
    """The dtype of ours that stores the same bits, if there is one (byte order included)."""
    for ours in sorted(DTYPES.values(), key=lambda each: each is BF16):  # the others load nothing
        if ours.numpy == dtype:
            return ours
    return None


Shape = tuple[int, ...]
Space = Literal["device", "threadgroup", "tile", "register"]
OPAQUE: tuple[Space, ...] = ("tile", "register")
"""The spaces in which a target decides where elements lie: no offset leads to one."""


@frozen
class Scalar:
    """One value per program."""

    dtype: DType
    shape: ClassVar[Shape] = ()

    def __str__(self) -> str:
        return self.dtype.name


@frozen
class Block:
    """One value per lane."""

    dtype: DType
    shape: Shape

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@frozen
class Pointer:
    """An array of elements in a space of memory.

    `tile` is threadgroup memory that a target lays out, `register` is memory in the registers of a
    program's threads.
    """

    dtype: DType
    space: Space = "device"
    shape: ClassVar[Shape] = ()

    def __str__(self) -> str:
        return f"*{self.dtype}" if self.space == "device" else f"*{self.dtype}@{self.space}"


Type = Scalar | Block | Pointer
ValueType = Scalar | Block


def is_opaque(ty: Type) -> bool:
    """Whether a pointer is into memory that a target lays out, which only its own ops touch."""
    return isinstance(ty, Pointer) and ty.space in OPAQUE


def shape_of(ty: Type) -> Shape:
    """The shape of a block, `()` for anything else."""
    return ty.shape


def make_type(dtype: DType, shape: Shape) -> ValueType:
    """A block of that shape, or a scalar if the shape is empty."""
    return Block(dtype, shape) if shape else Scalar(dtype)


def broadcast_shapes(a: Shape, b: Shape) -> Shape | None:
    """The shape both fit into: equal ranks (or a scalar), each dimension equal or 1; else None."""
    if a == b:
        return a
    if not a or not b:
        return a or b
    if len(a) != len(b):
        return None
    if any(x != y and x != 1 and y != 1 for x, y in zip(a, b, strict=True)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def count(shape: Shape) -> int:
    """How many elements a shape has."""
    n = 1
    for extent in shape:
        n *= extent
    return n
