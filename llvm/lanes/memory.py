"""Loads and stores of the lanes of a vector."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Load, Store
from eas.ir.types import DType
from eas.llvm.emit.dtypes import register, size_of, stored, to_register, to_stored
from eas.llvm.emit.emit import V, bits_of, const, is_float, mangled, vector
from eas.llvm.lanes.addresses import offsets
from eas.llvm.lanes.bounds_checks import check_access
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector, number
from eas.llvm.lanes.masks import condition, joint_mask, mask_vector, narrow, when
from eas.llvm.lanes.vector_body import Body, Mask

_ALIGNED_BYTES = 16  # NumPy aligns arrays to this, so one nontemporal store writes as much


def load(body: Body, op: Load, coords: Coords, mask: Mask) -> LaneValue:
    """What the lanes at these coordinates load.

    LLVM 22 folds a masked load into a select by the same mask, even across a store between them.
    It does not look through `freeze`, so loads from arrays that the kernel writes are frozen.
    """
    found = _loaded(body, op, coords, mask)
    is_masked = mask is not None or op.mask is not None
    if not is_masked or not isinstance(found, Vector) or op.pointer.id not in body.facts.written:
        return found
    return Vector(body.e.value(found.v.ty, f"freeze {found.v}"))


def _loaded(body: Body, op: Load, coords: Coords, mask: Mask) -> LaneValue:
    """The loaded elements, and the load's `other` in the lanes that are masked off."""
    own = None if op.mask is None else body.at(op.mask, coords)
    if own is not None:
        mask = narrow(body, mask, own)
    offset = offsets(body, op.offset, coords)
    check_access(body, op, coords, offset, mask)
    found = read(body, body.program.pointer(op.pointer), op.result.ty.dtype, offset, mask)
    if op.other is None or mask is None:
        return found
    other = body.at(op.other, coords)
    # A uniform element is loaded if any lane is active, so it need not be zero in the others.
    is_zero_elsewhere = isinstance(own, Uniform) or not isinstance(found, Uniform)
    if is_zero_elsewhere and isinstance(other, Uniform) and _is_zero(other.v):
        return found
    if all(isinstance(each, Uniform) for each in (mask, found, other)):
        return Uniform(body.e.select(number(mask), number(found), number(other)))
    condition = mask.v if isinstance(mask, Uniform) else mask_vector(body, mask)
    return Vector(body.e.select(condition, body.to_vector(found), body.to_vector(other)))


def _is_zero(v: V) -> bool:
    return v.known == 0 and not str(v.known).startswith("-")


def read(body: Body, pointer: V, dtype: DType, offset: LaneValue, mask: Mask) -> LaneValue:
    """Loads elements of an array. Lanes that are masked off access nothing and get zero."""
    if isinstance(offset, Uniform):
        return Uniform(_read_single(body, pointer, dtype, offset.v, mask))
    if isinstance(offset, Strided) and abs(offset.step) == 1:
        found = _read_row(body, pointer, dtype, offset, mask)
    else:
        found = _gather(body, pointer, dtype, offset, mask)
    return Vector(to_register(body.e, found, dtype))


def _read_single(body: Body, pointer: V, dtype: DType, offset: V, mask: Mask) -> V:
    e = body.e

    def fetch() -> V:
        element = e.gep(stored(dtype), pointer, offset)
        return to_register(e, e.load(stored(dtype), element, size_of(dtype)), dtype)

    holds = condition(body, mask)
    if holds is None:
        return fetch()
    result = e.variable(register(dtype))
    e.set(result, const(register(dtype), 0))
    e.when(holds, lambda: e.set(result, fetch()))
    return e.get(result)


def _read_row(body: Body, pointer: V, dtype: DType, offset: Strided, mask: Mask) -> V:
    """Loads neighbouring elements with one instruction, reversed if the offsets decrease."""
    e = body.e
    ty = vector(stored(dtype), body.width)
    pointer, is_reversed = _row(body, pointer, dtype, offset)
    if isinstance(mask, Uniform):
        pointer, mask = e.select(mask.v, pointer, body.program.zero()), None
    if mask is None:
        found = e.load(ty, pointer, size_of(dtype))
    else:
        bits = _reverse(body, mask_vector(body, mask)) if is_reversed else mask_vector(body, mask)
        aligned = V("ptr", f"align {size_of(dtype)} {pointer.text}")
        none = V(ty, "zeroinitializer")
        found = e.call(f"llvm.masked.load.{mangled(ty)}.p0", ty, aligned, bits, none)
    return _reverse(body, found) if is_reversed else found


def _row(body: Body, pointer: V, dtype: DType, offset: Strided) -> tuple[V, bool]:
    """The lowest address of neighbouring elements, and whether their order is reversed."""
    e, is_reversed = body.e, offset.step < 0
    start = offset.start - (body.width - 1 if is_reversed else 0)
    pointer = e.gep(stored(dtype), pointer, offset.base)
    return e.gep(stored(dtype), pointer, const("i64", start)), is_reversed


def _reverse(body: Body, v: V) -> V:
    return body.e.shuffle(v, V(v.ty, "poison"), range(body.width - 1, -1, -1))


def _gather(body: Body, pointer: V, dtype: DType, offset: LaneValue, mask: Mask) -> V:
    """One load per lane. Lanes that are masked off load from `Program.zero`, without a branch."""
    e = body.e
    pointers = e.gep(stored(dtype), pointer, body.to_vector(offset))
    if mask is not None:
        zeros = e.splat(body.program.zero(), body.width)
        pointers = e.select(mask_vector(body, mask), pointers, zeros)
    found = V(vector(stored(dtype), body.width), "poison")
    for lane in range(body.width):
        element = e.load(stored(dtype), e.extract(pointers, lane), size_of(dtype))
        found = e.insert(found, element, lane)
    return found


def store(body: Body, op: Store, masks: Sequence[Mask]) -> None:
    """The stores of all points; nontemporal ones for full vectors of a large launch."""
    rows: list[tuple[V, V]] = []
    nontemporal = body.program.nontemporal(op) if len(body.scopes) == 1 else None
    for coords, points in body.distinct_coords(op.offset.shape):
        mask = joint_mask(body, masks, points, coords)
        if op.mask is not None:
            mask = narrow(body, mask, body.at(op.mask, coords))
        pointer, dtype = body.program.pointer(op.pointer), op.value.ty.dtype
        value, offset = body.at(op.value, coords), offsets(body, op.offset, coords)
        check_access(body, op, coords, offset, mask)
        is_whole = nontemporal is not None and mask is None
        if is_whole and isinstance(offset, Strided) and offset.step == 1:
            v = to_stored(body.e, body.to_vector(value), dtype)
            rows.append((v, _row(body, pointer, dtype, offset)[0]))
        else:
            write(body, pointer, dtype, offset, value, mask)
    if rows and nontemporal is not None:
        _write_rows(body, rows, size_of(op.value.ty.dtype), nontemporal)


def _write_rows(body: Body, rows: Sequence[tuple[V, V]], size: int, is_large: V) -> None:
    """Nontemporal stores if the launch is large and all addresses are aligned, else usual ones."""
    e = body.e
    aligned, nontemporal_block, usual, after = (
        e.label(hint) for hint in ("aligned", "nontemporal", "usual", "after")
    )
    e.branch(is_large, aligned, usual)
    e.begin(aligned)
    low = const("i64", 0)
    for _, pointer in rows:
        low = e.or_(low, e.value("i64", f"ptrtoint {pointer} to i64"))
    low = e.and_(low, const("i64", _ALIGNED_BYTES - 1))
    e.branch(e.icmp("eq", low, const("i64", 0)), nontemporal_block, usual)
    e.begin(nontemporal_block)
    for v, pointer in rows:
        _write_nontemporal(body, v, pointer, size)
    e.jump(after)
    e.begin(usual)
    for v, pointer in rows:
        e.store(v, pointer, size)
    e.begin(after)


def _write_nontemporal(body: Body, v: V, pointer: V, size: int) -> None:
    e, lanes = body.e, max(_ALIGNED_BYTES // size, 1)
    for start in range(0, body.width, lanes):
        part = e.shuffle(v, V(v.ty, "poison"), range(start, min(start + lanes, body.width)))
        target = e.gep(v.element, pointer, const("i64", start))
        e.store(part, target, min(_ALIGNED_BYTES, size * part.lanes), ", !nontemporal !0")


def write(
    body: Body, pointer: V, dtype: DType, offset: LaneValue, value: LaneValue, mask: Mask
) -> None:
    """Stores elements of an array. If several lanes write to one element, the last one wins."""
    e = body.e
    if isinstance(offset, Uniform) and isinstance(value, Uniform):
        pointer = e.gep(stored(dtype), pointer, offset.v)
        number = to_stored(e, value.v, dtype)
        when(body, condition(body, mask), lambda: e.store(number, pointer, size_of(dtype)))
        return
    v = to_stored(e, body.to_vector(value), dtype)
    if isinstance(offset, Strided) and abs(offset.step) == 1:
        _write_row(body, pointer, dtype, offset, v, mask)
        return
    pointers = e.gep(stored(dtype), pointer, body.to_vector(offset))
    aligned = V(pointers.ty, f"align {size_of(dtype)} {pointers.text}")
    name = f"llvm.masked.scatter.{mangled(v.ty)}.{mangled(pointers.ty)}"
    e.call_void(name, v, aligned, mask_vector(body, mask))


def _write_row(body: Body, pointer: V, dtype: DType, offset: Strided, v: V, mask: Mask) -> None:
    e = body.e
    pointer, is_reversed = _row(body, pointer, dtype, offset)
    v = _reverse(body, v) if is_reversed else v
    if mask is None or isinstance(mask, Uniform):
        holds = None if mask is None else mask.v
        when(body, holds, lambda: e.store(v, pointer, size_of(dtype)))
        return
    bits = _reverse(body, body.to_vector(mask)) if is_reversed else body.to_vector(mask)
    if _may_be_known(body, v):
        bits = e.opaque(bits)
    aligned = V("ptr", f"align {size_of(dtype)} {pointer.text}")
    e.call_void(f"llvm.masked.store.{mangled(v.ty)}.p0", v, aligned, bits)


def _may_be_known(body: Body, v: V) -> bool:
    """Whether LLVM could find out that a mask of an integer store has a single lane.

    If the integers were truncated, LLVM 22 then stores the wide number, over the elements behind.
    A mask may be constant where the coordinates of the vectors are constant.
    """
    if is_float(v.ty) or bits_of(v.ty) == 64:
        return False
    extent = next((extent for extent in reversed(body.shape) if extent > 1), 1)
    is_unrolled = any(
        isinstance(at, Strided) and at.base.known is not None for at in body.points[0]
    )
    return is_unrolled or extent <= body.width or extent % body.width == 1
