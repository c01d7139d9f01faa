"""Metal texts of one's own: how they are called, and what is said if that is wrong."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from eas.msl.host import Host, HostError, KernelFault, MslError, Shader, load

TEXT = """#include <metal_stdlib>
using namespace metal;

constant bool doubled [[function_constant(0)]];

[[kernel, max_total_threads_per_threadgroup(256)]]
void saxpy(device const float* x [[buffer(0)]],
           device float* y [[buffer(1)]],
           constant float& a [[buffer(2)]],
           uint i [[thread_position_in_grid]]) {
    y[i] += a * x[i] * (doubled ? 2.0 : 1.0);
}

kernel void turned(device half* h [[buffer(3)]],
                   threadgroup half* shared [[threadgroup(1)]],
                   uint t [[thread_position_in_threadgroup]],
                   uint size [[threads_per_threadgroup]]) {
    shared[t] = h[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    h[t] = shared[size - 1 - t];
}
"""
F32 = np.float32


@pytest.fixture
def shader(host: Host) -> Shader:
    return load(TEXT, constants={"doubled": True}, host=host)


def test_a_grid_need_not_be_a_multiple_of_a_group(shader: Shader) -> None:
    x, y = np.arange(1000, dtype=F32), np.ones(1000, F32)
    shader.saxpy(x, y, 0.5, threads=1000, per_group=256)
    np.testing.assert_array_equal(y, x + 1)


def test_buffers_can_be_named(shader: Shader) -> None:
    x, y = np.arange(8, dtype=F32), np.ones(8, F32)
    shader["saxpy"](a=0.5, y=y, x=x, threads=8)
    np.testing.assert_array_equal(y, x + 1)


def test_no_threads_change_nothing(shader: Shader) -> None:
    x, y = np.arange(8, dtype=F32), np.ones(8, F32)
    shader.saxpy(x, y, 0.5, threads=0)
    np.testing.assert_array_equal(y, 1)


def test_arrays_of_any_shape_are_written_in_place(shader: Shader) -> None:
    h = np.arange(8).astype(np.float16).reshape(2, 4)
    shader.turned(h, groups=1, per_group=8, shared={1: 16})
    np.testing.assert_array_equal(h, [[7, 6, 5, 4], [3, 2, 1, 0]])


def test_a_check_leaves_arrays_with_a_bug_as_they_were(shader: Shader) -> None:
    x, y = np.arange(8, dtype=F32), np.ones(8, F32)
    with pytest.raises(KernelFault) as caught:
        shader.saxpy(x, y, 0.5, threads=9, check=True)
    assert str(caught.value) == (
        "kernel `saxpy`: line 11 of the Metal text: a read outside of buffer 0 "
        "(thread 0 of threadgroup (8, 0, 0), byte 32)"
    )
    np.testing.assert_array_equal(y, 1)


X = np.ones(8, F32)
READ_ONLY = np.ones(8, F32)
READ_ONLY.flags.writeable = False
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "its buffers are x, y, a": ((X, X), {"threads": 8}),
    "its argument `x` is a buffer of float32, not of float64": (
        (np.ones(8), X, 1.0), {"threads": 8}),
    "its argument `y` must be contiguous": ((X, np.ones(16, F32)[::2], 1.0), {"threads": 8}),
    "its argument `y` is written to, but read-only": ((X, READ_ONLY, 1.0), {"threads": 8}),
    "its argument `a` is no `constant float &`: could not convert string to float: 'one'": (
        (X, X, "one"), {"threads": 8}),
    "it needs either `threads` or `groups`": ((X, X, 1.0), {}),
    "a threadgroup has 1 to 256 threads, not (16, 17, 1)": (
        (X, X, 1.0), {"groups": 1, "per_group": (16, 17)}),
    "`threads` is one to three numbers from 0 to 2**32 - 1, not -8": ((X, X, 1.0), {"threads": -8}),
    "`groups` is one to three numbers from 0 to 2**32 - 1, not (1, 2, 3, 4)": (
        (X, X, 1.0), {"groups": (1, 2, 3, 4)}),
    "`shared` must give the bytes of the threadgroup buffers []": (
        (X, X, 1.0), {"threads": 8, "shared": {0: 16}}),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_call_is_reported(message: str, shader: Shader) -> None:
    buffers, options = WRONG[message]
    with pytest.raises(HostError) as caught:
        shader.saxpy(*buffers, **options)
    assert str(caught.value) == f"kernel `saxpy`: {message}"


def test_a_kernel_that_there_is_not_is_reported(shader: Shader) -> None:
    with pytest.raises(AttributeError) as caught:
        shader.saxpi  # noqa: B018
    assert str(caught.value) == "the text has no kernel `saxpi`; it has `saxpy`, `turned`"


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({}, "the function constant `doubled` has no value"),
        ({"doubled": 1, "halved": 2}, "the text has no function constant `halved`"),
    ],
)
def test_function_constants_are_given_exactly(
    constants: dict[str, int], message: str, host: Host
) -> None:
    with pytest.raises(MslError) as caught:
        load(TEXT, constants=constants, host=host)
    assert str(caught.value) == message


POINTERS = """#include <metal_stdlib>
using namespace metal;

struct constants_t {
    float value;
};
constant float factor [[function_constant(0)]];

kernel void fill(device float* const out [[buffer(0)]],
                 device constants_t* kept [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    out[i] = 7.0f;
    kept[i].value = factor;
}
"""


@pytest.mark.parametrize("factor", [F32(0.5), np.inf, -np.inf, 3])
def test_what_a_constant_pointer_leads_to_is_written(host: Host, factor: float) -> None:
    out, kept = np.zeros(4, F32), np.zeros(4, [("value", F32)])
    load(POINTERS, constants={"factor": factor}, host=host).fill(out, kept, threads=4)
    np.testing.assert_array_equal(out, 7)
    np.testing.assert_array_equal(kept["value"], F32(factor))


def test_a_shader_can_be_copied(shader: Shader) -> None:
    assert copy.copy(shader).kernels.keys() == {"saxpy", "turned"}
