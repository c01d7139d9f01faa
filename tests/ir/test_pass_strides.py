"""The pass `strides`: arrays whose last stride is 1."""

from __future__ import annotations

import eas
from eas import mk
from eas.ir.passes.strides import last_strides, with_unit_strides


@eas.kernel
def move(x, y, z):
    i = mk.arange(0, 8)
    y[i, i] = x[i] + z.strides[0]


def test_only_the_stride_of_the_last_axis_is_known() -> None:
    function = move.compile("*f32", "*f32", "*f32[:, :]").function
    assert {p.name for p in last_strides(function)} == {"x_stride_0", "y_stride_1"}
    left = {p.name for p in with_unit_strides(function).params if p.role == "stride"}
    assert left == {"y_stride_0", "z_stride_0", "z_stride_1"}


@eas.kernel
def look(x, y, z):
    i = mk.arange(0, 8)
    y[i] = x[i] + x.strides[0]
    z[i] = i + z.strides[0]


def test_a_stride_that_the_kernel_looks_at_itself_is_left() -> None:
    function = look.compile("*i32[:]", "*i32[:]", "*i32[:]").function
    assert [p.name for p in last_strides(function)] == ["y_stride_0"]
