"""Budgets of threadgroup memory: each is the first one that some kernel fits, and works there.

A kernel that does not fit is written again with the next budget, which takes less memory.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
import pytest

from eas.compiler import CompiledKernel
from eas.ir.nodes import Function
from eas.ir.pipeline import run
from eas.msl.host import Host
from eas.msl.kernel import BUDGETS, choose_budget
from eas.msl.pipeline import PREPARE, RELAX_METAL, MetalOptions
from eas.msl.schedule.memory_planning import MAX_BYTES
from tests.fuzz.running import load
from tests.host.alike import Arrays, Trial, check_trials, run_trials

ELEMENTS = 1 << 14
TRIPS = 3

HEAD = """\
import eas
from eas import mk


def block(x, start, rows: eas.constexpr, columns: eas.constexpr):
    return mk.load(x, start + mk.reshape(mk.arange(0, rows * columns), (rows, columns)))


def put(out, start, value, rows: eas.constexpr, columns: eas.constexpr):
    mk.store(out, start + mk.reshape(mk.arange(0, rows * columns), (rows, columns)), value)


@eas.kernel
def compute(x, out, n):
"""

LOOP = """\
    c = mk.zeros(({M}, {N}), mk.f32)
    for k in range(n):
        c = mk.dot(block(x, k, {M}, {K}), block(x, k + 1, {K}, {N}), c)
    put(out, 0, c, {M}, {N})
"""

# The first and the last product have a factor in common.
DISTANT = """\
    v = block(x, 0, {M}, {K})
    c = mk.dot(v, block(x, 1, {K}, {N}))
    put(out, 0, c, {M}, {N})
    e = mk.dot(block(x, 2, {M}, {K}), block(x, 3, {K}, {N}))
    put(out, {M} * {N}, e, {M}, {N})
    d = mk.dot(v, block(x, 4, {K}, {N}))
    put(out, 2 * {M} * {N}, d, {M}, {N})
"""

# As above, with a loop between them.
DISTANT_LOOP = """\
    v = block(x, 0, {M}, {K})
    c = mk.dot(v, block(x, 1, {K}, {N}))
    put(out, 0, c, {M}, {N})
    e = mk.zeros(({M}, {N}), mk.f32)
    for k in range(n):
        e = mk.dot(block(x, k, {M}, {K}), block(x, k + 3, {K}, {N}), e)
    put(out, {M} * {N}, e, {M}, {N})
    d = mk.dot(v, block(x, 4, {K}, {N}))
    put(out, 2 * {M} * {N}, d, {M}, {N})
"""

# Blocks that are read once, because their array is written: they are staged to be reduced.
SUMS = """\
    a = block(out, 0, {M}, {N})
    b = block(out, {M} * {N}, {M}, {N})
    c = block(out, 2 * {M} * {N}, {M}, {N})
    s = mk.sum(a, axis=0) + mk.sum(b, axis=0) + mk.sum(c, axis=0)
    put(out, 0, a + b + c + s[None, :], {M}, {N})
"""

# For each budget a kernel, its extents M, N and K, and the bytes of threadgroup memory that it has.
KERNELS = [
    (LOOP, (32, 32, 16), 13824),
    (DISTANT, (16, 32, 48), 26624),
    (DISTANT, (32, 64, 64), 26112),
    (LOOP, (64, 96, 16), 29184),
    (LOOP, (64, 64, 32), 25088),
    (DISTANT_LOOP, (32, 64, 64), 26112),
    (LOOP, (128, 64, 32), 27136),
    (SUMS, (48, 64, 0), 10752),
    (LOOP, (64, 64, 64), 32768),
]

NAMES = [
    "double buffers, memory of its own for each array",
    "arrays reuse memory",
    "no factor is kept for a later product",
    "an epilogue in strips",
    "single buffers",
    "single buffers, no factor is kept",
    "single buffers, no factor is kept, an epilogue in strips",
    "reductions stage little",
    "reductions stage nothing, rows without padding",
]


def compiled_of(text: str, extents: tuple[int, int, int]) -> CompiledKernel:
    body = text.format(**dict(zip("MNK", extents, strict=True)))
    return load(HEAD + body)["compute"].compile("*f32", "*f32", "i32")


def prepared(function: Function) -> Function:
    return run(PREPARE, run(RELAX_METAL, function, None), MetalOptions())


def bytes_in(text: str) -> dict[str, int]:
    """The bytes of the arrays in threadgroup memory that a text declares, by their names."""
    sizes = {"float": 4, "half": 2}
    found = re.findall(r"^ *threadgroup (float|half) (\w+)((?:\[\d+\])+);", text, re.M)
    return {
        name: sizes[kind] * prod(map(int, re.findall(r"\d+", extents)))
        for kind, name, extents in found
    }


def test_there_is_a_kernel_for_each_budget() -> None:
    assert len(KERNELS) == len(BUDGETS)


@pytest.mark.parametrize("number", range(len(KERNELS)), ids=NAMES)
def test_a_kernel_gets_the_first_budget_that_it_fits(number: int) -> None:
    text, extents, expected = KERNELS[number]
    compiled = compiled_of(text, extents)
    assert choose_budget(prepared(compiled.function)) == BUDGETS[number]
    arrays = compiled.metal.threadgroup_memory
    assert {each.name: each.bytes for each in arrays} == bytes_in(compiled.msl)
    assert sum(each.bytes for each in arrays) == expected <= MAX_BYTES


def test_a_kernel_says_what_its_threadgroup_memory_is_for() -> None:
    total = "    mk.store(out, 0, mk.sum(block(x, 0, 64, 8)))\n"
    given = [(LOOP, (32, 32, 16)), (LOOP, (64, 64, 64)), (total, (0, 0, 0))]
    described = [
        [(each.name, each.reasons, each.loc and each.loc.line) for each in metal.threadgroup_memory]
        for metal in (compiled_of(*each).metal for each in given)
    ]
    tile, block = "a matrix that simdgroups multiply", "the elements of a block"
    assert described == [
        [("x_tile", (tile,), 17), ("x_tile_1", (tile,), 17), ("c_shared", (block,), 17)],
        [("scratch", (tile, "some rows of a matrix product"), 17), ("x_tile", (tile,), 17)],
        [("total_partial", ("the partials of a reduction or a scan",), 15)],
    ]


def test_each_budget_gives_right_results_and_nothing_to_report(
    host: Host, checked_host: Host
) -> None:
    trials = [trial_of(*kernel[:2]) for kernel in KERNELS]
    run_trials(host, trials)
    check_trials(checked_host, trials)


def trial_of(text: str, extents: tuple[int, int, int]) -> Trial:
    compiled = compiled_of(text, extents)
    x = np.random.default_rng(0).integers(-2, 3, ELEMENTS).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": x[::-1].copy()}

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": np.int32(TRIPS)})

    return Trial(f"{text} {extents}", compiled.function, compiled.metal, arrays, bind, (1,))
