"""Layouts and schedules as text: `eas schedule`."""

from __future__ import annotations

from tests.test_kernels import case_of, every_kernel


@every_kernel
def test_every_barrier_of_the_schedule_is_in_the_metal_text(name: str) -> None:
    case = case_of(name)
    schedule = case.kernel.to_schedule(**case.arguments())
    metal = case.kernel.to_msl(**case.arguments())
    assert schedule.count("barrier for") <= metal.count("threadgroup_barrier(")
    assert schedule.startswith(f"{case.kernel.compile(**case.arguments()).threads} thread")
