"""Random kernels on arrays of more elements than i32 counts, and what NumPy makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log2, prod
from random import Random
from typing import Any

import numpy as np

from eas.runtime.argument_values import is_wide
from tests.huge import huge

Array = np.ndarray[Any, np.dtype[Any]]

FORMS = ("subscript", "offset", "place", "block")
ACTS = ("load", "store", "add", "atomic")
_STEPS = (1, 1, 1, -1, 2, -3)


@dataclass
class HugeKernel:
    """A kernel that reads or changes `view` at `places`, in the order of programs, trips, lanes.

    `active` says which of the lanes take part. With the arguments `outside` the first or the last
    of these is outside of the array, by one; some kernels have none.
    """

    text: str
    view: Array
    act: str
    places: tuple[Array, ...]
    active: Array
    arguments: dict[str, Any]
    outside: dict[str, Any]
    programs: int

    def elements(self) -> Array:
        return self.view[self.places]

    def fill(self, random: np.random.Generator) -> None:
        self.view[self.places] = random.integers(1, 60, self.active.shape)

    def expected(self, x: Array, y: Array) -> tuple[Array, Array]:
        """The elements at the places, and `y`, after a launch that finds these."""
        if self.act == "load":
            return x, np.where(self.active, x, 0 if "mask=" in self.text else y)
        new = y if self.act == "store" else x + y
        return np.where(self.active, new, x), y


@dataclass
class _Index:
    """An index along an axis: `base` and multiples of the distances of its elements."""

    extent: int
    base: int = 0
    times: dict[str, int] = field(default_factory=dict[str, int])
    is_negative: bool = False

    def reach(self, counts: dict[str, int]) -> int:
        return sum(times * (counts[name] - 1) for name, times in self.times.items())


def write_huge(random: Random) -> HugeKernel:
    view = _view(random)
    form = random.choice(FORMS)
    act = random.choice(ACTS if view.dtype.itemsize == 4 else ACTS[:3])
    is_tile = view.ndim > 1 and random.random() < 0.5
    counts = {"p": random.choice([1, 3]), "k": random.choice([1, 1, 4])}
    counts |= {"r": random.choice([2, 4]), "c": random.choice([8, 16])} if is_tile else {}
    counts |= {} if is_tile else {"i": random.choice([1, 8, 32, 64])}
    axes = [_Index(extent) for extent in view.shape]
    if not _spread(random, axes, counts, is_block=form == "block"):
        return write_huge(random)
    for axis in axes:
        room = axis.extent - 1 - axis.reach(counts)
        axis.base = random.choice([0, room, room, random.randint(0, room)])
        axis.is_negative = form == "subscript" and random.random() < 0.3
    return _write(random, view, form, act, axes, counts)


def _view(random: Random) -> Array:
    """An array of more than 2**31 elements, or some of it."""
    dtype = random.choice(["u1", "u1", "i1", "u2", "i4", "f4"])
    total, rank = random.randint(2**31 + 1, 2**32), random.randint(1, 3)
    shape: tuple[int, ...] = ()
    for _ in range(rank - 1):
        shape = (*shape, int(2 ** random.uniform(1, log2(total // prod(shape)) - 1)))
    whole = huge((*shape, -(-total // prod(shape))), dtype)
    view = whole[tuple(slice(None, None, _step(random, extent)) for extent in whole.shape)]
    view = view.transpose(random.sample(range(rank), rank)) if random.random() < 0.3 else view
    return view if is_wide(view) or random.random() < 0.1 else _view(random)


def _step(random: Random, extent: int) -> int:
    if extent > 8 and random.random() < 0.1:
        return extent // random.randint(2, 8)
    return random.choice(_STEPS) if random.random() < 0.4 else 1


def _spread(random: Random, axes: list[_Index], counts: dict[str, int], *, is_block: bool) -> bool:
    """Gives each number an axis along which it goes, so that no element is met twice."""
    lanes = [name for name in counts if name in "irc"]
    if is_block and len(lanes) != len(axes):
        return False
    free = list(range(len(axes)))
    random.shuffle(free)
    for name in [*lanes, "k", "p"]:
        place = lanes.index(name) if is_block and name in lanes else free.pop() if free else 0
        axis = axes[place]
        least = 1 + axis.reach(counts)
        most = (axis.extent - least) // max(counts[name] - 1, 1)
        wanted = least * random.choice([1, 1, 1, 3, 1000])
        axis.times[name] = least if (is_block and name in lanes) or wanted > most else wanted
    return all(axis.reach(counts) < axis.extent for axis in axes)


def _write(
    random: Random,
    view: Array,
    form: str,
    act: str,
    axes: list[_Index],
    counts: dict[str, int],
) -> HugeKernel:
    lanes = {name: count for name, count in counts.items() if name in "irc"}
    threads = counts["i"] if "i" in lanes and form != "block" and random.random() < 0.3 else None
    is_masked = form != "block" and random.random() < 0.5
    most = {name: random.randint(1, count) if is_masked else count for name, count in lanes.items()}
    indices = [_expression(axis, number) for number, axis in enumerate(axes)]
    inside = " & ".join(f"({name} < {count})" for name, count in most.items())
    lines = _access(form, act, indices, list(lanes.values()), inside if is_masked else "")
    text = "\n".join(
        [
            "@eas.kernel",
            f"def touch(x, y, {', '.join(f'B{number}' for number in range(len(axes)))}):",
            "    p = mk.program_id(0)",
            *_lanes(lanes, threads),
            f"    for k in range({counts['k']}):",
            f"        at = (p * {counts['k']} + k) * {np.prod([*lanes.values()])} + {_lane(lanes)}",
            *(f"        {line}" for line in lines),
        ]
    )
    numbers = np.indices((counts["p"], counts["k"], *lanes.values())).reshape(2 + len(lanes), -1)
    by_name = dict(zip(("p", "k", *lanes), numbers, strict=True))
    places = tuple(
        sum((by_name[n] * t for n, t in axis.times.items()), np.full(numbers.shape[1], axis.base))
        for axis in axes
    )
    active = np.logical_and.reduce([by_name[n] < count for n, count in most.items()])
    arguments = {f"B{n}": _number(axis, counts) for n, axis in enumerate(axes)}
    is_flat = form != "subscript" or act == "atomic"
    outside: dict[str, Any] = {}
    if form != "block" and (len(axes) == 1 or not is_flat):
        number = random.randrange(len(axes))
        moved = _outside(random, axes[number], counts | most, is_flat=form != "subscript")
        outside = {**arguments, f"B{number}": moved}
    return HugeKernel(text, view, act, places, active, arguments, outside, counts["p"])


def _outside(random: Random, axis: _Index, counts: dict[str, int], *, is_flat: bool) -> Any:
    """The base with which one index is just not inside."""
    below = -1 if is_flat else -axis.extent - 1
    base = random.choice([below, axis.extent - axis.reach(counts)])
    return base if abs(base) + axis.reach(counts) < 2**31 else np.int64(base)


def _lanes(lanes: dict[str, int], threads: int | None) -> list[str]:
    if "r" in lanes:
        shapes = {"r": "[:, None]", "c": "[None, :]"}
        return [f"    {n} = mk.arange(0, {lanes[n]}){shapes[n]}" for n in lanes]
    made = f"mk.tid(0, {threads})" if threads else f"mk.arange(0, {lanes['i']})"
    return [f"    i = {made}"]


def _lane(lanes: dict[str, int]) -> str:
    return f"r * {lanes['c']} + c" if "r" in lanes else "i"


def _expression(axis: _Index, number: int) -> str:
    return " + ".join([f"B{number}", *(f"{name} * {times}" for name, times in axis.times.items())])


def _number(axis: _Index, counts: dict[str, int]) -> Any:
    """The base, as wide as the whole index needs: that one is computed by the kernel."""
    base = axis.base - axis.extent if axis.is_negative else axis.base
    return base if axis.base + axis.reach(counts) < 2**31 and base >= -(2**31) else np.int64(base)


def _access(form: str, act: str, indices: list[str], shape: list[int], inside: str) -> list[str]:
    if form == "block":
        return _block_access(act, indices, shape)
    if form == "subscript":
        lines = {
            "load": ["mk.store(y, at, x[{}])"],
            "store": ["x[{}] = mk.load(y, at)"],
            "add": ["x[{}] += mk.load(y, at)"],
            "atomic": ["mk.atomic_add(x, {}, mk.load(y, at))"],
        }[act]
        where = ", ".join(indices) if act != "atomic" else _offset(indices)
        lines = [line.format(where) for line in lines]
        return [f"if {inside}:", *(f"    {line}" for line in lines)] if inside else lines
    steps = [f"({index}) * x.strides[{n}]" for n, index in enumerate(indices)]
    place = f"x, {' + '.join(steps)}" if form == "offset" else f"x + {' + '.join(steps)}"
    mask = f", mask={inside}" if inside else ""
    return {
        "load": [f"mk.store(y, at, mk.load({place}{mask}))"],
        "store": [f"mk.store({place}, mk.load(y, at){mask})"],
        "add": [f"mk.store({place}, mk.load({place}{mask}) + mk.load(y, at){mask})"],
        "atomic": [f"mk.atomic_add({place}, mk.load(y, at){mask})"],
    }[act]


def _offset(indices: list[str]) -> str:
    """The offset that the compiler would compute, where there is no `x[...]` for an atomic."""
    steps = [
        f"mk.where({i} < 0, ({i}) + x.shape[{n}], {i}) * x.strides[{n}]"
        for n, i in enumerate(indices)
    ]
    return " + ".join(steps)


def _block_access(act: str, indices: list[str], shape: list[int]) -> list[str]:
    rank = len(indices)
    lanes = zip(indices, "rc" if rank == 2 else "i", strict=True)
    starts = [index.replace(f" + {name} * 1", "") for index, name in lanes]
    extents = ", ".join(f"x.shape[{n}]" for n in range(rank))
    strides = ", ".join(f"x.strides[{n}]" for n in range(rank))
    block, order = ", ".join(map(str, shape)), ", ".join(map(str, reversed(range(rank))))
    tile = (
        f"tile = mk.make_block_ptr(x, ({extents},), ({strides},), ({', '.join(starts)},), "
        f"({block},), ({order},))"
    )
    checked = f"boundary_check=({', '.join(map(str, range(rank)))},)"
    load = f"mk.load(tile, {checked})"
    return {
        "load": [tile, f"mk.store(y, at, {load})"],
        "store": [tile, f"mk.store(tile, mk.load(y, at), {checked})"],
        "add": [tile, f"mk.store(tile, {load} + mk.load(y, at), {checked})"],
        "atomic": [tile, f"mk.store(tile, {load} + mk.load(y, at), {checked})"],
    }[act]
