"""Collective ops of a simdgroup: each vector of threads reads the values of the other vectors."""

from __future__ import annotations

from eas.ir.nodes import Compute
from eas.ir.ops.simdgroup import MMA, SIMD
from eas.llvm.emit.casts import cast
from eas.llvm.emit.emit import V, const
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, first
from eas.llvm.lanes.reductions import combine, identity, reduce_lanes, without_accumulators
from eas.llvm.lanes.vector_body import Body


def simd(body: Body, op: Compute, coords: Coords) -> LaneValue:
    """The result of a simdgroup op in the threads at these coordinates."""
    if op.op.simd_reduction:
        return _reduce(body, op, coords)
    return _mma(body, op, coords) if op.op is MMA else _fetch(body, op, coords)


def _start(body: Body, thread: LaneValue) -> V:
    """The first thread of the simdgroup that a vector is in."""
    e = body.e
    lowest = (
        first(e, thread) if isinstance(thread, Strided) else e.extract(body.to_vector(thread), 0)
    )
    return e.and_(lowest, const("i32", -SIMD))


def _fetch(body: Body, op: Compute, coords: Coords) -> LaneValue:
    """The values of other lanes. For a lane that does not exist, a thread gets its own value."""
    e, own = body.e, body.to_vector(coords[0])
    lane = body.vector_at(op.operands[1], coords)
    if op.op.name == "simd_shuffle_xor":
        lane = e.xor(e.and_(own, const(own.ty, SIMD - 1)), lane)
    thread = e.add(e.and_(own, const(own.ty, -SIMD)), lane)
    exists = e.icmp("ult", lane, const(own.ty, SIMD))
    threads = op.operands[0].shape[0]
    exists = e.and_(exists, e.icmp("ult", thread, const(own.ty, threads)))
    # a lane of the vector beyond the last thread has no own value either
    own = e.intrinsic("umin", own, const(own.ty, threads - 1))
    return body.at(op.operands[0], (Vector(e.select(exists, thread, own)),))


def _reduce(body: Body, op: Compute, coords: Coords) -> LaneValue:
    """Reduces the values of the threads of a simdgroup that exist."""
    e, operand = body.e, op.operands[0]
    r = without_accumulators(op, op.op.simd_reduction, op.result.ty.dtype)
    start, threads = _start(body, coords[0]), operand.shape[0]
    total: V | None = None
    for offset in range(0, SIMD, body.width):
        thread = Strided(e.add(start, const("i32", offset)), 1)
        v = cast(e, body.vector_at(operand, (thread,)), operand.ty.dtype, r.dtype)
        if threads % SIMD:
            at = body.to_vector(thread)
            v = e.select(e.icmp("ult", at, const(at.ty, threads)), v, identity(r, v.ty))
        if r.dtype.is_float and r.kind != "sum":  # a NaN loses against any number
            v = combine(e, r, identity(r, v.ty), v)
        total = v if total is None else combine(e, r, total, v)
    assert total is not None
    return Uniform(reduce_lanes(e, r, total))


def _mma(body: Body, op: Compute, coords: Coords) -> LaneValue:
    """One of a lane's two elements of a @ b + c.

    Lane `l` of an 8x8 matrix holds two neighbouring elements of a row, those of
    `place_in_fragment` in `eas.ir.ops.simdgroup`. Apple does not document this layout; MLX
    (mlx/backend/metal/kernels/steel/gemm/mma.h, `get_coord`) and tinygrad (its Metal tensor cores)
    rely on the same one."""
    e, word = body.e, op.attr("word")
    assert isinstance(word, int)
    a, b, c = op.operands[:2], op.operands[2:4], op.operands[4:]
    own = body.to_vector(coords[0])
    start = e.and_(own, const(own.ty, -SIMD))
    row = _bits(body, own, [(16, 4), (4, 2), (2, 1)])
    column = _bits(body, own, [(8, 4), (1, 2)])
    total = body.vector_at(c[word], coords)
    for k in range(8):
        left = e.add(start, _lane(body, row, const(own.ty, k & ~1)))
        right = e.add(start, _lane(body, const(own.ty, k), column))
        x = body.vector_at(a[k & 1], (Vector(left),))
        y = body.vector_at(b[word], (Vector(right),))
        total = e.fma(x, y, total)
    return Vector(total)


def _lane(body: Body, row: V, column: V) -> V:
    """The lane that holds the elements at a row and an even column, see `_mma`."""
    e = body.e
    parts = [_bits(body, row, [(4, 16), (2, 4), (1, 2)]), _bits(body, column, [(4, 8), (2, 1)])]
    return e.or_(*parts)


def _bits(body: Body, v: V, moves: list[tuple[int, int]]) -> V:
    """Moves single bits of a number: pairs of the old and the new value of a bit."""
    e, total = body.e, const(v.ty, 0)
    for old, new in moves:
        bit = e.and_(v, const(v.ty, old))
        shift = const(v.ty, abs(old.bit_length() - new.bit_length()))
        moved = e.binary("shl" if new > old else "lshr", bit, shift)
        total = moved if total.known == 0 else e.or_(total, moved)
    return total
