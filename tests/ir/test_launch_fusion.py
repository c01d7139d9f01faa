"""Functions that are fused: the text of the result."""

from __future__ import annotations

import re

import eas
from eas.ir.launch_fusion import Part, fuse
from eas.ir.nodes import Function
from eas.ir.text import print_function
from tests.streams.elementwise import add, divide, half, relu, shift
from tests.streams.gates import scale


def function_of(kernel: eas.Kernel, *types: str) -> Function:
    return kernel.compile(*types, BLOCK=32).function


ADD = function_of(add, "*f32", "*f32", "*f32", "i32")
SCALE = function_of(scale, "*f32", "f32", "i32")
RELU = function_of(relu, "*f32", "*f32", "i32")


def names(*pairs: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in pairs)


def accesses_of(*parts: Part) -> list[str]:
    """The loads, the stores and the selections of the fused function, in their order."""
    fused = fuse(parts, "fused")
    assert fused is not None
    text = print_function(eas.compile_function(fused).function, locations=False)
    found = re.findall(r"(load|store) %(\w+)\.\d+|(select)", text)
    return [" ".join(filter(None, each)) for each in found]


def test_a_stored_value_is_not_loaded_again() -> None:
    first = Part(ADD, names("x=a", "y=b", "out=t", "N=N"))
    second = Part(RELU, names("x=t", "out=c", "N=N"))
    assert accesses_of(first, second) == ["load a", "load b", "store t", "store c"]


def test_a_store_that_the_next_part_replaces_is_gone() -> None:
    parts = [Part(SCALE, names("x=a", "factor=factor", "N=N")) for _ in range(3)]
    assert accesses_of(*parts) == ["load a", "store a"]


def test_another_mask_loads_what_was_stored() -> None:
    first = Part(SCALE, names("x=a", "factor=factor", "N=N"))
    second = Part(function_of(half, "*f32", "*f32", "i32"), names("x=a", "out=b", "N=N"))
    assert accesses_of(first, second) == ["load a", "store a", "load a", "store b"]


def test_lanes_outside_of_the_mask_keep_their_value_where_that_could_fault() -> None:
    first = Part(function_of(scale, "*i32", "i32", "i32"), names("x=a", "factor=k", "N=N"))
    second = Part(function_of(divide, "*i32", "*i32", "i32"), names("x=a", "out=b", "N=N"))
    assert accesses_of(first, second) == ["load a", "store a", "select", "store b"]


def test_another_offset_is_refused() -> None:
    first = Part(SCALE, names("x=a", "factor=factor", "N=N"))
    second = Part(function_of(shift, "*f32", "*f32", "i32"), names("x=a", "out=b", "N=N"))
    assert fuse([first, second], "fused") is None


def test_fast_math_is_refused() -> None:
    @eas.kernel(fast_math=True)
    def fast(x, N, BLOCK: eas.constexpr):
        i = eas.mk.program_id(0) * BLOCK + eas.mk.arange(0, BLOCK)
        eas.mk.store(x, i, eas.mk.load(x, i, i < N) * 2.0, i < N)

    part = Part(function_of(fast, "*f32", "i32"), names("x=a", "N=N"))
    assert fuse([part, part], "fused") is None
