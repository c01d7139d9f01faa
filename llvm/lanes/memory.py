"""Loads and stores of the lanes of a vector."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Load, Store
from eas.ir.types import DType
from eas.llvm.emit.dtypes import register, size_of, stored, to_register, to_stored
from eas.llvm.emit.emit import V, bits_of, const, is_float, mangled, vector
from eas.llvm.lanes.addresses import offsets
from eas.llvm.lanes.bounds_checks import guard
from eas.llvm.lanes.coordinates import Coords
from eas.llvm.lanes.lane_values import Lanes, Steps, Uniform, Vector, number
from eas.llvm.lanes.masks import condition, narrow, shared, when, written
from eas.llvm.lanes.vector_body import Body, Mask

_PART = 16  # bytes that NumPy aligns arrays to, so that they are stored at once past the caches


def load(body: Body, op: Load, coords: Coords, mask: Mask) -> Lanes:
    """What the lanes at these coordinates read.

    LLVM 22 moves a masked load to a select by the same mask, even beyond a store between them: what
    is read of an array that changes is frozen, which it does not look through.
    """
    found = _loaded(body, op, coords, mask)
    is_masked = mask is not None or op.mask is not None
    if not is_masked or not isinstance(found, Vector) or op.pointer.id not in body.facts.written:
        return found
    return Vector(body.e.value(found.v.ty, f"freeze {found.v}"))


def _loaded(body: Body, op: Load, coords: Coords, mask: Mask) -> Lanes:
    """Elements, and in the lanes that a mask leaves out what the load gives instead."""
    own = None if op.mask is None else body.at(op.mask, coords)
    if own is not None:
        mask = narrow(body, mask, own)
    offset = offsets(body, op.offset, coords)
    guard(body, op, coords, offset, mask)
    found = read(body, body.program.pointer(op.pointer), op.result.ty.dtype, offset, mask)
    if op.other is None or mask is None:
        return found
    other = body.at(op.other, coords)
    # One element for all lanes is also read if only some of them want it.
    is_zero_elsewhere = isinstance(own, Uniform) or not isinstance(found, Uniform)
    if is_zero_elsewhere and isinstance(other, Uniform) and _is_zero(other.v):
        return found
    if all(isinstance(each, Uniform) for each in (mask, found, other)):
        return Uniform(body.e.select(number(mask), number(found), number(other)))
    condition = mask.v if isinstance(mask, Uniform) else written(body, mask)
    return Vector(body.e.select(condition, body.to_vector(found), body.to_vector(other)))


def _is_zero(v: V) -> bool:
    return v.known == 0 and not str(v.known).startswith("-")


def read(body: Body, pointer: V, dtype: DType, offset: Lanes, mask: Mask) -> Lanes:
    """Elements of an array; masked-off lanes touch nothing and get zero."""
    if isinstance(offset, Uniform):
        return Uniform(_read_single(body, pointer, dtype, offset.v, mask))
    if isinstance(offset, Steps) and abs(offset.step) == 1:
        found = _read_row(body, pointer, dtype, offset, mask)
    else:
        found = _gather(body, pointer, dtype, offset, mask)
    return Vector(to_register(body.e, found, dtype))


def _read_single(body: Body, pointer: V, dtype: DType, offset: V, mask: Mask) -> V:
    e = body.e

    def fetch() -> V:
        place = e.gep(stored(dtype), pointer, offset)
        return to_register(e, e.load(stored(dtype), place, size_of(dtype)), dtype)

    holds = condition(body, mask)
    if holds is None:
        return fetch()
    result = e.variable(register(dtype))
    e.set(result, const(register(dtype), 0))
    e.when(holds, lambda: e.set(result, fetch()))
    return e.get(result)


def _read_row(body: Body, pointer: V, dtype: DType, offset: Steps, mask: Mask) -> V:
    """Neighbouring elements: one load, turned round if they go down."""
    e = body.e
    ty = vector(stored(dtype), body.width)
    place, is_turned = _row(body, pointer, dtype, offset)
    if isinstance(mask, Uniform):
        place, mask = e.select(mask.v, place, body.program.zero()), None
    if mask is None:
        found = e.load(ty, place, size_of(dtype))
    else:
        bits = _turn(body, written(body, mask)) if is_turned else written(body, mask)
        aligned = V("ptr", f"align {size_of(dtype)} {place.text}")
        none = V(ty, "zeroinitializer")
        found = e.call(f"llvm.masked.load.{mangled(ty)}.p0", ty, aligned, bits, none)
    return _turn(body, found) if is_turned else found


def _row(body: Body, pointer: V, dtype: DType, offset: Steps) -> tuple[V, bool]:
    """Where a row of neighbours begins, and whether it is read backwards."""
    e, is_turned = body.e, offset.step < 0
    start = offset.start - (body.width - 1 if is_turned else 0)
    place = e.gep(stored(dtype), pointer, offset.base)
    return e.gep(stored(dtype), place, const("i64", start)), is_turned


def _turn(body: Body, v: V) -> V:
    return body.e.shuffle(v, V(v.ty, "poison"), range(body.width - 1, -1, -1))


def _gather(body: Body, pointer: V, dtype: DType, offset: Lanes, mask: Mask) -> V:
    """One load per lane. Lanes that are masked off read a zero of ours instead of branching."""
    e = body.e
    places = e.gep(stored(dtype), pointer, body.to_vector(offset))
    if mask is not None:
        zeros = e.splat(body.program.zero(), body.width)
        places = e.select(written(body, mask), places, zeros)
    found = V(vector(stored(dtype), body.width), "poison")
    for lane in range(body.width):
        element = e.load(stored(dtype), e.extract(places, lane), size_of(dtype))
        found = e.insert(found, element, lane)
    return found


def store(body: Body, op: Store, masks: Sequence[Mask]) -> None:
    """The stores of all points; past the caches, if they are whole rows of a large launch."""
    rows: list[tuple[V, V]] = []
    past_cache = body.program.past_cache(op) if len(body.scopes) == 1 else None
    for coords, points in body.places(op.offset.shape):
        mask = shared(body, masks, points, coords)
        if op.mask is not None:
            mask = narrow(body, mask, body.at(op.mask, coords))
        pointer, dtype = body.program.pointer(op.pointer), op.value.ty.dtype
        value, offset = body.at(op.value, coords), offsets(body, op.offset, coords)
        guard(body, op, coords, offset, mask)
        is_whole = past_cache is not None and mask is None
        if is_whole and isinstance(offset, Steps) and offset.step == 1:
            v = to_stored(body.e, body.to_vector(value), dtype)
            rows.append((v, _row(body, pointer, dtype, offset)[0]))
        else:
            write(body, pointer, dtype, offset, value, mask)
    if rows and past_cache is not None:
        _write_rows(body, rows, size_of(op.value.ty.dtype), past_cache)


def _write_rows(body: Body, rows: Sequence[tuple[V, V]], size: int, is_large: V) -> None:
    """Stores that do not read the lines first, if there are many and all places are aligned."""
    e = body.e
    aligned, past, usual, after = (e.label(hint) for hint in ("aligned", "past", "usual", "after"))
    e.branch(is_large, aligned, usual)
    e.begin(aligned)
    low = const("i64", 0)
    for _, place in rows:
        low = e.either(low, e.value("i64", f"ptrtoint {place} to i64"))
    low = e.both(low, const("i64", _PART - 1))
    e.branch(e.icmp("eq", low, const("i64", 0)), past, usual)
    e.begin(past)
    for v, place in rows:
        _write_past_cache(body, v, place, size)
    e.jump(after)
    e.begin(usual)
    for v, place in rows:
        e.store(v, place, size)
    e.begin(after)


def _write_past_cache(body: Body, v: V, place: V, size: int) -> None:
    e, lanes = body.e, max(_PART // size, 1)
    for start in range(0, body.width, lanes):
        part = e.shuffle(v, V(v.ty, "poison"), range(start, min(start + lanes, body.width)))
        target = e.gep(v.element, place, const("i64", start))
        e.store(part, target, min(_PART, size * part.lanes), ", !nontemporal !0")


def write(body: Body, pointer: V, dtype: DType, offset: Lanes, value: Lanes, mask: Mask) -> None:
    """Elements of an array; where several lanes write to one place, the last one stays."""
    e = body.e
    if isinstance(offset, Uniform) and isinstance(value, Uniform):
        place = e.gep(stored(dtype), pointer, offset.v)
        number = to_stored(e, value.v, dtype)
        when(body, condition(body, mask), lambda: e.store(number, place, size_of(dtype)))
        return
    v = to_stored(e, body.to_vector(value), dtype)
    if isinstance(offset, Steps) and abs(offset.step) == 1:
        _write_row(body, pointer, dtype, offset, v, mask)
        return
    places = e.gep(stored(dtype), pointer, body.to_vector(offset))
    aligned = V(places.ty, f"align {size_of(dtype)} {places.text}")
    name = f"llvm.masked.scatter.{mangled(v.ty)}.{mangled(places.ty)}"
    e.do(name, v, aligned, written(body, mask))


def _write_row(body: Body, pointer: V, dtype: DType, offset: Steps, v: V, mask: Mask) -> None:
    e = body.e
    place, is_turned = _row(body, pointer, dtype, offset)
    v = _turn(body, v) if is_turned else v
    if mask is None or isinstance(mask, Uniform):
        holds = None if mask is None else mask.v
        when(body, holds, lambda: e.store(v, place, size_of(dtype)))
        return
    bits = _turn(body, body.to_vector(mask)) if is_turned else body.to_vector(mask)
    if _may_be_known(body, v):
        bits = e.hidden(bits)
    aligned = V("ptr", f"align {size_of(dtype)} {place.text}")
    e.do(f"llvm.masked.store.{mangled(v.ty)}.p0", v, aligned, bits)


def _may_be_known(body: Body, v: V) -> bool:
    """Whether LLVM could find that a mask of integers leaves but one lane.

    If they were cut from wider ones, LLVM 22 would store the whole wide number then, over the
    elements behind it. A mask is known where vectors stand at places that are known.
    """
    if is_float(v.ty) or bits_of(v.ty) == 64:
        return False
    extent = next((extent for extent in reversed(body.shape) if extent > 1), 1)
    is_unrolled = any(isinstance(at, Steps) and at.base.known is not None for at in body.points[0])
    return is_unrolled or extent <= body.width or extent % body.width == 1
