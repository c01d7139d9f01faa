"""`@eas.kernel(examples=...)`: types to compile a kernel for, checked when it is defined."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.examples import ExampleError


def copy(a, b, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(b, i, mk.load(a, i, mask=i < N), mask=i < N)


def test_an_example_compiles_the_kernel() -> None:
    kernel = eas.kernel(examples=[("*f32", "*f32", "i32", {"BLOCK": 256})])(copy)
    [example] = kernel.examples
    compiled = kernel.compile(*example.args, **example.kwargs)
    assert compiled.signature == "copy(a: *f32, b: *f32, N: i32) with BLOCK=256"


def test_a_kernel_has_several_examples_or_none() -> None:
    given = [("*f32", "*f32", "i32", {"BLOCK": 8}), ["*f16", "*f16", "i64", {"BLOCK": 16}]]
    assert len(eas.kernel(examples=given)(copy).examples) == 2
    assert eas.kernel(copy).examples == ()


def test_an_example_is_printed_as_a_call_is_written() -> None:
    kernel = eas.kernel(examples=[("*f32", {"b": "*f32", "N": "i32", "BLOCK": mk.f16})])(copy)
    assert str(kernel.examples[0]) == "'*f32', b='*f32', N='i32', BLOCK=f16"


FORM = 'write `examples=[("*f32", "i32", dict(BLOCK=256))]`'


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("*f32", f"`examples` is a list of tuples, not '*f32'; {FORM}"),
        (3, f"`examples` is a list of tuples, not 3; {FORM}"),
        (
            ("*f32", "*f32", "i32", {"BLOCK": 8}),
            "`examples` is a list of tuples, and this is a single example; put it into a list",
        ),
    ],
)
def test_examples_that_are_no_list_of_tuples_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ExampleError) as caught:
        eas.kernel(examples=given)(copy)
    assert str(caught.value) == f"kernel `copy`: {message}"


RIGHT = ("*f32", "*f32", "i32", {"BLOCK": 8})


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (3, " is a tuple of types, not 3"),
        (("*f32",), ": lacks arguments `b`, `N`, `BLOCK`"),
        (("*f32", "*f32", "i32", {"BLOK": 8}), ": has no parameter `BLOK`; did you mean `BLOCK`?"),
        (
            ("*f3", "*f32", "i32", {"BLOCK": 8}),
            ": argument `a`: `*f3` names no dtype; did you mean `f32`?",
        ),
        (
            ("*f32", "*f32", "i32", {"BLOCK": []}),
            ": argument `BLOCK`: a constexpr is part of the compiled kernel and must be hashable, "
            "which a `list` is not; use a tuple",
        ),
        (
            ({"BLOCK": 8}, "*f32", "*f32", "i32"),
            ": the dict of arguments by name comes last, and there is one",
        ),
        (("*f32", {1: 2}), ": a name of an argument is a string, not 1"),
    ],
)
def test_an_example_that_does_not_fit_is_refused(example: Any, message: str) -> None:
    with pytest.raises(ExampleError) as caught:
        eas.kernel(examples=[RIGHT, example])(copy)
    assert str(caught.value) == f"kernel `copy`, example 2{message}"


def test_a_parameter_can_be_annotated_with_the_type_of_an_array() -> None:
    @eas.kernel
    def annotated(
        a: "*f32",  # noqa: F722  # pyright: ignore
        b: Annotated[mk.Value, "*f32[:, :]"],
        N: mk.i64,
    ): ...

    types = [(p.array, str(p.dtype) if p.dtype else None) for p in annotated.parameters.all]
    assert types == [("*f32", None), ("*f32[:, :]", None), (None, "i64")]


@eas.kernel
def first(a: Annotated[mk.Value, "*f32[:]"], out: Annotated[mk.Value, "*f32"]):
    mk.store(out, 0, mk.load(a, 0))


def test_an_annotated_array_takes_no_other_array() -> None:
    out = np.zeros(1, "f4")
    first(np.ones(1, "f4"), out, _grid=1)
    assert out[0] == 1
    with pytest.raises(eas.LaunchError) as caught:
        first(np.ones(1, "f2"), out, _grid=1)
    assert str(caught.value) == (
        'kernel `first`, argument `a`: the parameter is annotated "*f32[:]", which `*f16[:]` is not'
    )
    with pytest.raises(eas.LaunchError):
        first(np.ones((1, 1), "f4"), out, _grid=1)


@pytest.mark.parametrize("text", ["f32", "*f16", "*f32[:, :]"])
def test_an_annotated_array_takes_no_other_type(text: str) -> None:
    with pytest.raises(eas.LaunchError, match=r"the parameter is annotated"):
        first.compile(text, "*f32")
    first.compile("*f32", "*f32[:, :]")
