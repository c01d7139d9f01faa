"""Makes IR: lists of ops with fresh values, each op typed by its record as it is made."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import (
    Alloc,
    Atomic,
    AtomicKind,
    Combine,
    CombineKind,
    Compute,
    Constant,
    Load,
    Op,
    Region,
    Store,
    Value,
)
from eas.ir.ops import OPS
from eas.ir.ops.record import Attr
from eas.ir.types import DType, Pointer, Scalar, Type, make_type
from eas.support.location import NOWHERE, Loc
from eas.support.records import field, record


@record
class Builder:
    """Appends ops to `ops`, the current list, at the location `loc`."""

    ops: list[Op] = field(default_factory=list[Op])
    loc: Loc = NOWHERE
    next_id: int = 0

    def value(self, ty: Type, hint: str = "") -> Value:
        """A fresh value that something is about to define."""
        self.next_id += 1
        return Value(self.next_id - 1, ty, hint)

    def emit(self, op: Op) -> None:
        self.ops.append(op)

    def constant(self, value: bool | int | float, dtype: DType) -> Value:
        """A literal; the caller sees to it that the dtype can hold it."""
        if dtype.is_float:
            value = float(value)
        result = self.value(Scalar(dtype))
        self.emit(Constant(value, result, self.loc))
        return result

    def compute(self, name: str, *operands: Value, **attrs: Attr) -> Value:
        """A pure op; raises `RuleError` if its rule does not hold."""
        op = OPS[name]
        ty = op.typing([v.ty for v in operands], attrs)
        result = self.value(ty)
        pairs = tuple([(key, attrs[key]) for key in op.attrs]) if op.attrs else ()
        self.ops.append(Compute(op, operands, pairs, result, self.loc))
        return result

    def combine(self, kind: CombineKind, operands: Sequence[Value], body: Region) -> list[Value]:
        """A reduction or a scan along the last axis, by the function `body`."""
        shape = operands[0].shape if kind == "scan" else operands[0].shape[:-1]
        results = [self.value(make_type(v.ty.dtype, shape)) for v in operands]
        self.emit(Combine(kind, tuple(operands), body, tuple(results), self.loc))
        return results

    def load(
        self, pointer: Value, offset: Value, mask: Value | None = None, other: Value | None = None
    ) -> Value:
        result = self.value(make_type(pointer.ty.dtype, offset.shape))
        self.emit(Load(pointer, offset, mask, other, result, self.loc))
        return result

    def store(self, pointer: Value, offset: Value, value: Value, mask: Value | None = None) -> None:
        self.emit(Store(pointer, offset, value, mask, self.loc))

    def atomic(
        self,
        kind: AtomicKind,
        pointer: Value,
        offset: Value,
        value: Value,
        mask: Value | None = None,
        expected: Value | None = None,
    ) -> Value:
        result = self.value(make_type(pointer.ty.dtype, offset.shape))
        self.emit(Atomic(kind, pointer, offset, expected, value, mask, result, self.loc))
        return result

    def alloc(self, size: int, dtype: DType) -> Value:
        result = self.value(Pointer(dtype, "threadgroup"))
        self.emit(Alloc(size, result, self.loc))
        return result


def region(ops: Sequence[Op], args: Sequence[Value] = ()) -> Region:
    return Region(tuple(args), tuple(ops))
