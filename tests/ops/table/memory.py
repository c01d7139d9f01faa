"""Blocks that come from memory and go there: with masks, by index, through block pointers."""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import BLOCKS, SHAPES, THREADS, Shape, moves, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values

ALL = tuple(DTYPES.values())


def drawn(dtype: DType, shape: Shape, count: int) -> list[Array]:
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    return [values(random, dtype, size).reshape(shape or (1,)) for _ in range(count)]


@eas.kernel
def transfer(x, masks, others, wide, out, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    at = offsets(SHAPE)
    mask = mk.load(masks, at)
    mk.store(out, at, mk.load(x, at))
    mk.store(out, SIZE + at, mk.load(x, at, mask))
    mk.store(out, 2 * SIZE + at, mk.load(x, at, mask, mk.load(others, at)))
    mk.store(out + 3 * SIZE + at, mk.load(x + at, mask=mask, other=1))
    mk.store(out, 4 * SIZE + at, mk.load(x, at), mask)
    mk.store(out + 5 * SIZE + at, mk.load(x + at), mask=mask)
    mk.store(out + 6 * SIZE + at, mk.load(x, 0), mask=mask)
    mk.store(out, 7 * SIZE + at, True)
    mk.store(out, 8 * SIZE + at, mk.load(wide, at).to(x.dtype), at == SIZE // 2)


def launch_transfers(dtype: DType, shape: Shape) -> Launch:
    x, others, there = drawn(dtype, shape, 3)
    masks = np.random.default_rng(1).random(x.shape) < 0.6
    one = dtype.numpy.type(1)
    rights = {
        "load": x,
        "load under a mask": np.where(masks, x, dtype.numpy.type(0)),
        "load with other values": np.where(masks, x, others),
        "load of a pointer with another value": np.where(masks, x, one),
        "store under a mask": np.where(masks, x, there),
        "store to a pointer under a mask": np.where(masks, x, there),
        "store of a scalar": np.where(masks, x.flat[0], there),
        "store of a constant": np.full(x.shape, one),
        "store of one lane": there.copy(),
    }
    wide = np.arange(x.size, dtype=np.int64) % 100
    rights["store of one lane"].flat[x.size // 2] = wide[x.size // 2]
    out = np.stack([there] * len(rights))
    checks = checks_of(rights, out)
    given = {"x": x, "masks": masks, "others": others, "wide": wide, "out": out}
    return Launch(transfer, {**given, "SHAPE": shape, "SIZE": x.size}, checks)


def checks_of(rights: dict[str, Array], out: Array) -> list[Check]:
    return [
        Check(name, found, right.astype(found.dtype))
        for (name, right), found in zip(rights.items(), out, strict=True)
    ]


def along(extent, axis, rank):
    """The indices of an axis, as a block that broadcasts against those of the others."""
    block = mk.arange(0, extent)
    for _ in mk.static_range(axis):
        block = mk.expand_dims(block, 0)
    for _ in mk.static_range(rank - axis - 1):
        block = mk.expand_dims(block, -1)
    return block


@eas.kernel
def index(x, y, out, back, SHAPE: eas.constexpr):
    """Copies `x` by indices, and into `back` by those that count from the end."""
    places = tuple(along(SHAPE[axis], axis, len(SHAPE)) for axis in mk.static_range(len(SHAPE)))
    ends = tuple(places[axis] - SHAPE[axis] for axis in mk.static_range(len(SHAPE)))
    if len(SHAPE) == 0:
        out[0] = x[-1]
        back[-1] = y[0]
    elif len(SHAPE) == 1:
        out[places[0]] = x[ends[0]]
        back[ends[0]] = y[places[0]]
    elif len(SHAPE) == 2:
        out[places[0], places[1]] = x[ends[0], ends[1]]
        back[ends[0], ends[1]] = y[places[0], places[1]]
    elif len(SHAPE) == 3:
        out[places[0], places[1], places[2]] = x[ends[0], ends[1], ends[2]]
        back[ends[0], ends[1], ends[2]] = y[places[0], places[1], places[2]]
    else:
        out[places[0], places[1], places[2], places[3]] = x[ends[0], ends[1], ends[2], ends[3]]
        back[ends[0], ends[1], ends[2], ends[3]] = y[places[0], places[1], places[2], places[3]]


def launch_indices(dtype: DType, shape: Shape) -> Launch:
    """One array lies in memory by columns: its strides count."""
    x, y = drawn(dtype, shape, 2)
    out, back = np.zeros_like(x), np.zeros_like(x)
    checks = [Check("an array by index", out, x), Check("an array by index from the end", back, y)]
    given = {"x": np.asfortranarray(x), "y": y, "out": out, "back": back, "SHAPE": shape}
    return Launch(index, given, checks)


@eas.kernel
def move_tiles(x, out, SHAPE: eas.constexpr, STEPS: eas.constexpr, PADDING: eas.constexpr):
    """A tile as large as the array, one element too far along each axis, then one too near."""
    ones = tuple(1 for _ in SHAPE)
    every = tuple(range(len(SHAPE)))
    size = 1
    for extent in SHAPE:
        size *= extent
    at = offsets(SHAPE)
    whole = mk.make_block_ptr(x, SHAPE, STEPS, tuple(0 for _ in SHAPE), SHAPE)
    far = mk.advance(whole, ones)
    near = mk.advance(far, tuple(-2 for _ in SHAPE))
    mk.store(out, at, mk.load(whole))
    mk.store(out, size + at, mk.load(far, boundary_check=every))
    mk.store(out, 2 * size + at, mk.load(near, boundary_check=every, padding=PADDING))
    to = mk.make_block_ptr(out + 3 * size, SHAPE, STEPS, ones, SHAPE)
    mk.store(to, mk.load(whole), boundary_check=every)


def launch_tiles(dtype: DType, shape: Shape) -> Launch:
    x, there = drawn(dtype, shape, 2)
    padding = "nan" if dtype.is_float else "zero"
    later, earlier = (slice(1, None),) * len(shape), (slice(None, -1),) * len(shape)
    far = np.zeros_like(x)
    near = np.full_like(x, np.nan if dtype.is_float else 0)
    stored = there.copy()
    far[earlier], near[later], stored[later] = x[later], x[earlier], x[earlier]
    rights = {
        "a block pointer": x,
        "a block pointer that has advanced": far,
        f"a block pointer with padding {padding}": near,
        "a store through a block pointer": stored,
    }
    out = np.stack([there] * len(rights))
    steps = tuple(stride // x.itemsize for stride in x.strides)
    given = {"x": x, "out": out, "SHAPE": shape, "STEPS": steps, "PADDING": padding}
    return Launch(move_tiles, given, checks_of(rights, out))


@eas.kernel
def make(x, out, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    at = offsets(SHAPE)
    v = mk.load(x, at)
    mk.store(out, at, mk.zeros(SHAPE, x.dtype))
    mk.store(out, SIZE + at, mk.full(SHAPE, 1, x.dtype))
    mk.store(out, 2 * SIZE + at, mk.full(SHAPE, mk.load(x, 0), x.dtype))
    mk.store(out, 3 * SIZE + at, mk.zeros_like(v))
    mk.store(out, 4 * SIZE + at, mk.full_like(v, 1))


def launch_makers(dtype: DType, shape: Shape) -> Launch:
    [x] = drawn(dtype, shape, 1)
    rights = {
        "zeros": np.zeros_like(x),
        "full": np.ones_like(x),
        "full of a number": np.full_like(x, x.flat[0]),
        "zeros_like": np.zeros_like(x),
        "full_like": np.ones_like(x),
    }
    out = np.stack([x] * len(rights))
    given = {"x": x, "out": out, "SHAPE": shape, "SIZE": x.size}
    return Launch(make, given, checks_of(rights, out))


@eas.kernel
def exchange(x, out, SIZE: eas.constexpr):
    """Each thread reads what another one has written, by offset and by index."""
    t = mk.tid(0, SIZE)
    is_half = x.dtype == mk.f16
    plain = mk.alloc_tg_f16(SIZE) if is_half else mk.alloc_tg(SIZE, x.dtype)
    rows = mk.alloc_tg((2, SIZE), x.dtype)
    v = mk.load(x, t)
    mk.store(plain, t, v)
    rows[0, t] = v
    rows[1, SIZE - 1 - t] = v
    mk.barrier()
    mk.store(out, t, mk.load(plain, SIZE - 1 - t))
    mk.store(out, SIZE + t, rows[1, t])
    mk.store(out, 2 * SIZE + t, rows[0, -1 - t], t % 3 != 0)


def launch_exchanges(dtype: DType, shape: Shape) -> Launch:
    x, there = drawn(dtype, shape, 2)
    turned = x[::-1]
    rights = {
        "alloc_tg": turned,
        "alloc_tg of two axes": turned,
        "alloc_tg by index from the end": np.where(np.arange(x.size) % 3 != 0, turned, there),
    }
    out = np.stack([there] * len(rights))
    given = {"x": x, "out": out, "SIZE": x.size}
    return Launch(exchange, given, checks_of(rights, out))


MOVED = (
    Family("load and store", ALL, SHAPES, launch_transfers),
    Family("index", ALL, ((), *BLOCKS), launch_indices, moves),
    Family("block pointer", ALL, BLOCKS, launch_tiles, moves),
    Family("make", ALL, BLOCKS, launch_makers, moves),
    Family("threadgroup memory", ALL, THREADS, launch_exchanges),
)
