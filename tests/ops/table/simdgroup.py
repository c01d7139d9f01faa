"""What the threads of a simdgroup do together, with a last one that is full or not."""

from __future__ import annotations

from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.ops import OPS
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import THREADS, Shape
from tests.ops.table.comparing import without_signs_of_zeros
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array
from tests.ops.table.reductions import (
    KINDS,
    REDUCTIONS,
    SOURCES,
    Reduction,
    drawn,
    expected,
    is_taken,
)


def over_simdgroup(reduction: Reduction) -> str:
    return reduction.name.replace("reduce_", "simd_")


# Of the reductions of blocks, those that simdgroups have too.
MET = tuple(reduction for reduction in REDUCTIONS if over_simdgroup(reduction) in OPS)


@eas.kernel
def meet(blocks, totals, own, places, truths, CASES: eas.constexpr, SIZE: eas.constexpr):
    """Each case is a row of an array, a function, and the number of a block."""
    t = mk.tid(0, SIZE)
    outs = (totals, own, places, truths)
    for which, row, function, source in CASES:
        mk.store(outs[which], row * SIZE + t, function(mk.load(blocks, source * SIZE + t)))


def launch_meetings(dtype: DType, shape: Shape) -> Launch:
    [size] = shape
    blocks = drawn(np.random.default_rng(size), dtype, shape)
    taken = [reduction for reduction in MET if is_taken(reduction, dtype)]
    kinds = [reduction.result for reduction in taken]
    outs = [np.zeros((max(kinds.count(k), 1), size), k(dtype).numpy) for k in KINDS]
    cases: list[Any] = []
    checks: list[Check] = []
    for number, reduction in enumerate(taken):
        which, row = KINDS.index(kinds[number]), kinds[:number].count(kinds[number])
        name, right = over_simdgroup(reduction), in_groups(reduction, blocks, dtype)
        checks.append(Check(name, outs[which][row], right, arrange=without_signs_of_zeros))
        cases.append((which, row, getattr(mk, name), SOURCES.index(reduction.source)))
    arrays = dict(zip(("totals", "own", "places", "truths"), outs, strict=True))
    given = {"blocks": np.stack([*blocks.values()]), "CASES": tuple(cases), "SIZE": size}
    return Launch(meet, {**arrays, **given}, checks)


def in_groups(reduction: Reduction, blocks: Any, dtype: DType) -> Array:
    """What a reduction gives for each simdgroup, in each of its threads."""
    block = blocks[reduction.source]
    groups = [block[start : start + SIMD] for start in range(0, block.size, SIMD)]
    return np.concatenate([np.repeat(expected(reduction, g, None, dtype), g.size) for g in groups])


@eas.kernel
def exchange(x, lanes, out, MASK: eas.constexpr, SIZE: eas.constexpr):
    t = mk.tid(0, SIZE)
    v = mk.load(x, t)
    mk.store(out, t, mk.simd_shuffle(v, mk.load(lanes, t)))
    mk.store(out, SIZE + t, mk.simd_shuffle_xor(v, MASK))
    mk.store(out, 2 * SIZE + t, mk.simd_broadcast(v, 0))


def launch_exchanges(dtype: DType, shape: Shape) -> Launch:
    """Lanes are asked for what others have, among them those that are not there."""
    [size] = shape
    random = np.random.default_rng(size)
    x, mask = drawn(random, dtype, shape)["numbers"], 5
    threads = np.arange(size)
    lane, group = threads % SIMD, threads // SIMD * SIMD
    lanes = random.integers(0, np.minimum(SIMD, size - group)).astype(np.int32)
    other = np.where(group + (lane ^ mask) < size, group + (lane ^ mask), threads)
    out = np.zeros((3, size), dtype.numpy)
    rights = {
        "simd_shuffle": x[group + lanes],
        "simd_shuffle_xor": x[other],
        "simd_broadcast": x[group],
    }
    checks = [Check(n, found, right) for (n, right), found in zip(rights.items(), out, strict=True)]
    return Launch(
        exchange, {"x": x, "lanes": lanes, "out": out, "MASK": mask, "SIZE": size}, checks
    )


ALL = tuple(DTYPES.values())
IN_SIMDGROUPS = (
    Family("simdgroup", ALL, THREADS, launch_meetings),
    Family("simdgroup exchange", ALL, THREADS, launch_exchanges),
)
