"""Reductions: one accumulator per unrolled vector, combined after the loop."""

from __future__ import annotations

from typing import Any

from eas.ir.nodes import Compute
from eas.ir.ops.reduce import accumulator
from eas.ir.types import DType
from eas.llvm.emit.arithmetic import ARITHMETIC, with_ordered_zeros
from eas.llvm.emit.casts import cast
from eas.llvm.emit.dtypes import register, rounded
from eas.llvm.emit.emit import Emitter, V, Variable, const, vector
from eas.llvm.lanes.coordinates import Coords, ravel
from eas.llvm.lanes.masks import mask_vector
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.records import record

_COMBINE = {"sum": "add", "prod": "mul", "any": "or", "all": "and", "xor": "xor"}
_NO_INDEX = 2**31 - 1

Pair = tuple[V, V | None]  # a number, and its index for `argmax` and `argmin`


@record
class Reduction:
    """The accumulators of a reduction: per unrolled vector a variable, for `arg...` two."""

    op: Compute
    kind: str
    dtype: DType
    element: str
    variables: list[Variable]
    indices: list[Variable]

    @property
    def axis(self) -> int | None:
        axis: Any = self.op.attr("axis")
        return axis


def make_accumulators(e: Emitter, op: Compute, count: int, lanes: int) -> Reduction:
    """A reduction with so many accumulators of so many lanes."""
    kind = op.op.reduction
    dtype = op.operands[0].ty.dtype
    if kind in ("sum", "prod"):
        dtype = accumulator(dtype)
    ty = vector(register(dtype), lanes)
    variables = [e.variable(ty) for _ in range(count)]
    indices = [e.variable(vector("i32", lanes)) for _ in range(count) if kind[:3] == "arg"]
    return Reduction(op, kind, dtype, register(dtype), variables, indices)


def without_accumulators(op: Compute, kind: str, dtype: DType) -> Reduction:
    """A reduction without accumulators of its own."""
    return Reduction(op, kind, dtype, register(dtype), [], [])


def reduce_lanes(e: Emitter, r: Reduction, v: V) -> V:
    """Combines the lanes of a vector to one number."""
    pair: Pair = (v, None)
    while pair[0].lanes:
        pair = _halved(e, r, pair)
    return rounded(e, pair[0], r.dtype)


def reset(e: Emitter, r: Reduction) -> None:
    for variable in r.variables:
        e.set(variable, identity(r, variable.ty))
    for variable in r.indices:
        e.set(variable, const(variable.ty, _NO_INDEX))


def identity(r: Reduction, ty: str) -> V:
    """The identity element."""
    is_least = r.kind in ("max", "argmax")
    match r.kind:
        case "sum" | "any" | "xor":
            return const(ty, 0)
        case "prod" | "all":
            return const(ty, 1)
        case _ if r.dtype.is_float:
            return const(ty, float("-inf") if is_least else float("inf"))
        case _:
            return const(ty, r.dtype.min if is_least else r.dtype.max)


def accumulate(body: Body, r: Reduction, n: int, coords: Coords, mask: Mask) -> None:
    """Adds the lanes at these coordinates to the n-th accumulator."""
    e = body.e
    variable = r.variables[n]
    operand = r.op.operands[0]
    found = body.at(operand, coords)
    v = body.to_vector(found)
    v = cast(e, v, operand.ty.dtype, r.dtype)
    if r.kind[:3] == "arg" and r.dtype.is_float:
        v = e.select(e.fcmp("uno", v, v), identity(r, v.ty), v)
    if mask is not None:
        bits = mask_vector(body, mask)
        v = e.select(bits, v, identity(r, v.ty))
    if not r.indices:
        e.set(variable, combine(e, r, e.get(variable), v))
        return
    position = coords[r.axis] if r.axis is not None else ravel(e, coords, operand.shape)
    index = body.to_vector(position)
    if mask is not None:
        bits = mask_vector(body, mask)
        index = e.select(bits, index, const(index.ty, _NO_INDEX))
    best = _better(e, r, (e.get(variable), e.get(r.indices[n])), (v, index))
    e.set(variable, best[0])
    e.set(r.indices[n], best[1])


def combine(e: Emitter, r: Reduction, a: V, b: V) -> V:
    """Combines two partial results."""
    if r.kind in _COMBINE:
        return ARITHMETIC[_COMBINE[r.kind]](e, [a, b], r.dtype)
    if not r.dtype.is_float:
        return ARITHMETIC["maximum" if r.kind == "max" else "minimum"](e, [a, b], r.dtype)
    # a NaN in `b` compares as false, so `a` stays
    is_max = r.kind == "max"
    better = e.select(e.fcmp("ogt" if is_max else "olt", b, a), b, a)
    return with_ordered_zeros(e, better, a, b, is_max=is_max)


def _better(e: Emitter, r: Reduction, a: tuple[V, V], b: tuple[V, V]) -> tuple[V, V]:
    """The better of two candidates with their indices; of equal ones the first."""
    if r.dtype.is_float:
        how = "ogt" if r.kind == "argmax" else "olt"
        beats, ties = e.fcmp(how, b[0], a[0]), e.fcmp("oeq", b[0], a[0])
    else:
        how = ("s" if r.dtype.is_signed else "u") + ("gt" if r.kind == "argmax" else "lt")
        beats, ties = e.icmp(how, b[0], a[0]), e.icmp("eq", b[0], a[0])
    wins = e.or_(beats, e.and_(ties, e.icmp("slt", b[1], a[1])))
    return e.select(wins, b[0], a[0]), e.select(wins, b[1], a[1])


def finish_one(e: Emitter, r: Reduction, n: int) -> V:
    """The n-th accumulator, each lane of which is a result."""
    if r.indices:
        return e.get(r.indices[n])
    return rounded(e, e.get(r.variables[n]), r.op.result.ty.dtype)


def finish(e: Emitter, r: Reduction) -> V:
    """Combines all accumulators and their lanes to one number."""
    pairs = [
        (e.get(v), e.get(r.indices[n]) if r.indices else None) for n, v in enumerate(r.variables)
    ]
    while len(pairs) > 1:
        pairs = [_combined(e, r, pairs[n : n + 2]) for n in range(0, len(pairs), 2)]
    pair = pairs[0]
    while pair[0].lanes:
        pair = _halved(e, r, pair)
    value, index = pair
    if index is not None:
        return index
    return rounded(e, value, r.op.result.ty.dtype)


def _combined(e: Emitter, r: Reduction, pairs: list[Pair]) -> Pair:
    if len(pairs) == 1:
        return pairs[0]
    (a, i), (b, j) = pairs
    if i is None or j is None:
        return combine(e, r, a, b), None
    return _better(e, r, (a, i), (b, j))


def _halved(e: Emitter, r: Reduction, pair: Pair) -> Pair:
    value, index = pair
    if value.lanes == 1:
        return e.extract(value, 0), None if index is None else e.extract(index, 0)
    half = value.lanes // 2
    parts: list[Pair] = []
    for start in (0, half):
        half_lanes = range(start, start + half)
        value_part = e.shuffle(value, V(value.ty, "poison"), half_lanes)
        index_part = None if index is None else e.shuffle(index, V(index.ty, "poison"), half_lanes)
        parts.append((value_part, index_part))
    return _combined(e, r, parts)
