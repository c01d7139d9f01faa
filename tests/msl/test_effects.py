"""The effects on memory that steps declare: what they say, and that lowering keeps to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from eas.ir.aliasing.conflicts import Access
from eas.ir.nodes import Value
from eas.metal_text import write_msl
from eas.msl.analysis.facts import gather
from eas.msl.layout.layout import Layout
from eas.msl.layout.ownership import classify_control, complete_layout
from eas.msl.lower import body
from eas.msl.lower.lowering import Lowering
from eas.msl.schedule.double_buffering import double_buffer_partials
from eas.msl.schedule.effects import Effects
from eas.msl.schedule.planner import make_plan
from eas.msl.schedule.steps import ReduceChunks, Step, UniformControl
from eas.msl.schedule.threadgroup_arrays import Role, ThreadgroupArray
from eas.msl.schedule.value_sources import Finder
from eas.support.records import replace
from tests.msl.texts import function_of, kernel_of, layout_of
from tests.test_kernels import NAMES, case_of

SUM = """
    %10: i32[64] = arange start=0 size=64
    %11: f32[64] = load %a.0[%10]
    %12: f32 = reduce_sum %11 axis=none
    store %b.1[%n.4] = %12
"""
SUMS_IN_LOOP = """
    %8: i32 = 0
    %9: i32 = 1
    %10: i32[64] = arange start=0 size=64
    for %13: i32 = %8 .. %n.4 by %9 {
      %20: i32[64] = splat %13 shape=[64]
      %21: i32[64] = add %10, %20
      %22: f32[64] = load %a.0[%21]
      %23: f32 = reduce_sum %22 axis=none
      store %b.1[%13] = %23
      yield
    }
"""
CHUNKED = """
    %10: i32[8320] = arange start=0 size=8320
    %11: i32[128, 65] = reshape %10 shape=[128, 65]
    %12: f32[128, 65] = load %a.0[%11]
    store %a.0[%11] = %12
    %13: f32[128] = reduce_max %12 axis=1
    %14: i32[128] = arange start=0 size=128
    store %b.1[%14] = %13
"""
OLD_COUNT = """
    %10: i32[64] = arange start=0 size=64
    %11: i32 = 1
    %12: i32 = atomic add %i.2[%11], %n.4
    %13: i32[64] = splat %12 shape=[64]
    store %j.3[%10] = %13
"""

SCAN = """
    %10: i32[320] = arange start=0 size=320
    %11: i32[320] = load %i.2[%10]
    %12: i32[320] = scan %11 by (%13: i32, %14: i32) {
      %15: i32 = add %13, %14
      yield %15
    }
    store %j.3[%10] = %12
"""


def steps_in(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        if isinstance(step, UniformControl):
            for inner in step.plans:
                yield from steps_in(inner)
        else:
            yield step


def effects_of(layout: Layout) -> list[tuple[str, Effects]]:
    """The steps of a function that have effects, with those."""
    finder = Finder(layout)
    plan = double_buffer_partials(make_plan(finder.layout, finder), finder)
    found = [(type(step).__name__, step.effects(finder)) for step in steps_in(plan.steps)]
    return [(name, effects) for name, effects in found if effects != Effects()]


def shown(access: Access) -> str:
    """An access in words, with a star if it is to the current one of two buffers."""
    array = access.array
    star = "" if access.parity is None else "*"
    if isinstance(array, ThreadgroupArray):
        return f"{access.kind} {array.role.name} {array.value.id}{star}"
    assert isinstance(array, Value)
    return f"{access.kind} {array.hint}"


def accesses_of(found: list[tuple[str, Effects]]) -> list[tuple[str, list[str]]]:
    return [(name, [shown(access) for access in effects.accesses]) for name, effects in found]


def test_partials_are_stored_then_reduced() -> None:
    assert accesses_of(effects_of(layout_of(SUM))) == [
        ("StorePartials", ["write PARTIALS 12"]),
        ("ReducePartials", ["read PARTIALS 12"]),
        ("SingleThread", ["write b"]),
    ]


def test_one_simdgroup_has_no_partials_in_memory() -> None:
    assert accesses_of(effects_of(layout_of(SUM, threads=32))) == [("SingleThread", ["write b"])]


def test_double_buffered_partials_are_swapped_after_they_are_read() -> None:
    found = effects_of(layout_of(SUMS_IN_LOOP))
    assert accesses_of(found) == [
        ("StorePartials", ["write PARTIALS 23*"]),
        ("ReducePartials", ["read PARTIALS 23*"]),
        ("SingleThread", ["write b"]),
    ]
    swaps = [sorted(array.value.id for array in effects.swaps) for _, effects in found]
    assert swaps == [[], [23], []]


def test_a_chunked_reduction_has_a_barrier_before_it_stages_its_results() -> None:
    found = dict(effects_of(layout_of(CHUNKED)))
    effects = found[ReduceChunks.__name__]
    assert [shown(access) for access in effects.accesses] == [
        "write CHUNK 13",
        "write PARTIALS 13",
        "write STAGED 13",
    ]
    assert effects.after_barrier is not None
    assert [shown(access) for access in effects.after_barrier] == [
        "read PARTIALS 13",
        "write STAGED 13",
    ]


def test_the_result_of_an_atomic_of_one_thread_is_written_then_read_by_all() -> None:
    assert accesses_of(effects_of(layout_of(OLD_COUNT))) == [
        ("SingleThread", ["atomic i", "write BROADCAST 12"]),
        ("BroadcastResult", ["read BROADCAST 12"]),
        ("Elements", ["write j"]),
    ]


def test_a_thread_program_declares_no_accesses_that_its_own_barriers_order() -> None:
    layout = classify_control(gather(replace(function_of(OLD_COUNT), threads=64)))
    complete_layout(layout)
    assert accesses_of(effects_of(layout)) == [
        ("SingleThread", ["write BROADCAST 12"]),
        ("BroadcastResult", ["read BROADCAST 12"]),
    ]


Arrays = set[ThreadgroupArray]


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Arrays, Arrays]]:
    """The steps that are lowered, with the arrays that this uses and those that are declared."""
    used: Arrays = set()
    steps: list[tuple[str, Arrays, Arrays]] = []
    make_array: Any = Lowering.threadgroup_array
    lower_step: Any = body._Body.step  # pyright: ignore[reportPrivateUsage]

    def record_array(low: Lowering, array: ThreadgroupArray, *rest: Any, **named: Any) -> Any:
        used.add(array)
        return make_array(low, array, *rest, **named)

    def record_step(lowering: Any, step: Step, targets: Any) -> None:
        used.clear()
        lower_step(lowering, step, targets)
        if not isinstance(step, UniformControl):
            accesses = step.effects(Finder(lowering.low.layout)).accesses
            declared = {a.array for a in accesses if isinstance(a.array, ThreadgroupArray)}
            steps.append((str(step), set(used), declared))

    monkeypatch.setattr(Lowering, "threadgroup_array", record_array)
    monkeypatch.setattr(body._Body, "step", record_step)  # pyright: ignore[reportPrivateUsage]
    return steps


@pytest.mark.parametrize("name", NAMES)
def test_lowering_a_step_uses_the_arrays_that_the_step_declares(
    name: str, lowered: list[tuple[str, Arrays, Arrays]]
) -> None:
    case = case_of(name)
    assert write_msl(case.kernel.compile(**case.arguments()).function, None).text
    assert lowered
    assert [step for step, used, declared in lowered if used != declared] == []


@pytest.mark.parametrize(
    ("ops", "threads", "role"),
    [
        (SUM, 40, Role.PARTIALS),
        (CHUNKED, None, Role.CHUNK),
        (OLD_COUNT, None, Role.BROADCAST),
        (SCAN, None, Role.PARTIALS),
        (SCAN, 40, Role.STAGED),
    ],
)
def test_lowering_uses_the_arrays_of_rare_steps_as_declared(
    ops: str, threads: int | None, role: Role, lowered: list[tuple[str, Arrays, Arrays]]
) -> None:
    assert kernel_of(ops, threads).text
    assert [step for step, used, declared in lowered if used != declared] == []
    assert role in {array.role for _, used, _ in lowered for array in used}
