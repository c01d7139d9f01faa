"""A dispatch that did not come from a launch: what would end the process is refused."""

from __future__ import annotations

import numpy as np
import pytest

from eas.msl.arrays import Bound, divide
from eas.runtime import metal
from tests.metal.simulated import Machine

TEXT = """\
#include <metal_stdlib>
using namespace metal;

kernel void fill(device int* x [[buffer(0)]], constant int& value [[buffer(1)]],
                 uint i [[thread_position_in_threadgroup]]) {
    x[i] = value;
}
"""


def dispatch(constant: Bound, array: Bound) -> None:
    device = metal.default_device()
    pipeline = device.pipeline(metal.Program(TEXT, "fill", (2, 3)))
    regions = divide([array.flat])
    run = metal.Dispatch(device, pipeline, [constant], [array], regions, 4, (1, 1, 1), 60.0)
    run.run()
    run.write_back(array.index)


@pytest.mark.usefixtures("any_gpu")
def test_any_text_runs() -> None:
    x = np.zeros(8, np.int32)
    dispatch(Bound(1, np.array([7], np.int32)), Bound(0, x, origin=2))
    assert x.tolist() == [0, 0, 7, 7, 7, 7, 0, 0]


@pytest.mark.usefixtures("machine")
def test_an_index_that_metal_does_not_have_is_refused() -> None:
    with pytest.raises(metal.MetalError) as caught:
        dispatch(Bound(1, np.array([7], np.int32)), Bound(31, np.zeros(4, np.int32), name="x"))
    assert str(caught.value) == "kernel `fill`: `x` has the index 31; Metal has 0 to 30"


def test_more_scalars_than_a_command_carries_are_refused(machine: Machine) -> None:
    with pytest.raises(metal.MetalError) as caught:
        dispatch(Bound(1, np.zeros(1025, np.int32)), Bound(0, np.zeros(4, np.int32)))
    assert str(caught.value) == "kernel `fill`: its scalars take 4100 bytes; Metal takes 4096"
    assert machine.labels == []
