"""What is known at compile time: constexpr arguments, captured values, branches on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.frontend.running import codes_of

SCALE = 3
SETTINGS = {"offset": 10}
LIMITS = [1, 2, 3]


class Config:
    width = 4


@eas.kernel
def scaled(out):
    out[0] = SCALE * out.shape[0]


@eas.kernel
def configured(out):
    out[0] = Config.width + SETTINGS["offset"] + sum(LIMITS)


def run(kernel: Any, *arguments: Any, **constants: Any) -> int:
    out = np.zeros(2, "i4")
    kernel[1](out, *arguments, **constants)
    return int(out[0])


def test_a_global_is_a_constant() -> None:
    assert run(scaled) == 2 * SCALE


def test_a_kernel_is_compiled_anew_when_a_global_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(scaled)
    monkeypatch.setitem(globals(), "SCALE", 50)
    assert (before, run(scaled)) == (6, 100)


def test_a_kernel_is_compiled_anew_when_an_attribute_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = run(configured)
    monkeypatch.setattr(Config, "width", 100)
    assert (before, run(configured)) == (20, 116)


def test_a_kernel_is_compiled_anew_when_a_dictionary_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = run(configured)
    monkeypatch.setitem(SETTINGS, "offset", 0)
    assert (before, run(configured)) == (20, 10)


def test_a_kernel_is_compiled_anew_when_a_list_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(configured)
    monkeypatch.setattr("tests.frontend.test_constants.LIMITS", [*LIMITS, 4])
    assert (before, run(configured)) == (20, 24)


def test_a_kernel_is_compiled_anew_when_a_list_inside_of_a_value_changes() -> None:
    table = {"rows": [(1, [2])]}

    @eas.kernel
    def kernel(out):
        out[0] = table["rows"][0][1][0]

    before = run(kernel)
    table["rows"][0][1][0] = 9
    assert (before, run(kernel)) == (2, 9)


def test_a_kernel_is_compiled_anew_when_an_item_changes_only_in_type() -> None:
    table = {"half": 3}

    @eas.kernel
    def kernel(out):
        out[0] = int(table["half"] / 2 * 10) if isinstance(table["half"], float) else -1

    before = run(kernel)
    table["half"] = 3.0  # pyright: ignore[reportArgumentType]
    assert (before, run(kernel)) == (-1, 15)


@pytest.mark.parametrize("helper", [lambda n, k=[2]: n * k[0], lambda n, *, k=[2]: n * k[0]])
def test_a_kernel_is_compiled_anew_when_a_default_changes(helper: Any) -> None:
    @eas.kernel
    def kernel(out):
        out[0] = helper(10)

    before = run(kernel)
    [items] = helper.__defaults__ or helper.__kwdefaults__.values()
    items[0] = 7
    assert (before, run(kernel)) == (20, 70)


def test_a_kernel_is_compiled_anew_when_its_closure_changes() -> None:
    factor = 2

    @eas.kernel
    def kernel(out):
        out[0] = factor * 10

    before = run(kernel)
    factor = 7
    assert (before, run(kernel)) == (20, 70)


def test_a_kernel_is_compiled_anew_when_a_helper_is_replaced() -> None:
    helper: Callable[[int], int] = lambda x: x + 1

    @eas.kernel
    def kernel(out):
        out[0] = helper(5)

    before = run(kernel)
    helper = lambda x: x * 10
    assert (before, run(kernel)) == (6, 50)


def test_equal_constants_of_other_types_are_other_kernels() -> None:
    @eas.kernel
    def kernel(out, X: eas.constexpr):
        out[0] = 1 if X is True else 2

    assert [run(kernel, X=x) for x in (True, 1)] == [1, 2]


def test_functions_of_python_compute_constants() -> None:
    @eas.kernel
    def kernel(out):
        out[0] = int(math.sqrt(49)) + math.factorial(4) + len("abc") + "abc".index("c")

    assert run(kernel) == 7 + 24 + 3 + 2


def test_a_dictionary_and_a_list_from_outside_are_read() -> None:
    weights, order = {"a": 1, "b": 20}, [3, 1, 2]

    @eas.kernel
    def kernel(out):
        for place, (name, weight) in enumerate(weights.items()):
            out[0] += place * weight + len(name)
        out[0] += weights.get("c", 100) + sum(weights.values()) + sorted(order)[0] + order.index(2)

    assert run(kernel) == 20 + 2 + 100 + 21 + 1 + 2


def test_an_object_is_itself_only() -> None:
    first, second = [1], [1]

    @eas.kernel
    def kernel(out):
        out[0] = (first is first) + 10 * (first is second) + 100 * (first == second)

    assert run(kernel) == 101


@pytest.mark.parametrize("times", [10**10, "text"])
def test_a_text_is_not_repeated_for_ever(times: Any) -> None:
    def kernel(out, TIMES: eas.constexpr):
        out[0] = len("ab" * TIMES)

    assert codes_of(kernel, "*i32[:]", TIMES=times) == ["E0703" if times != "text" else "E0701"]


def test_only_the_branch_that_is_taken_is_compiled() -> None:
    @eas.kernel
    def kernel(out, MODE: eas.constexpr):
        if MODE == "first":
            out[0] = 1
        elif MODE == "second":
            v = 2
            out[0] = v
        else:
            out[0] = undefined + "text"  # pyright: ignore[reportUndefinedVariable]

    assert [run(kernel, MODE=m) for m in ("first", "second")] == [1, 2]


def test_only_the_side_that_is_taken_is_compiled() -> None:
    @eas.kernel
    def kernel(out, N: eas.constexpr):
        out[0] = 1 if N > 3 else undefined  # pyright: ignore[reportUndefinedVariable]
        out[0] += N > 3 or undefined  # pyright: ignore[reportUndefinedVariable]
        out[0] += N < 3 and undefined  # pyright: ignore[reportUndefinedVariable]

    assert run(kernel, N=5) == 2


def test_only_the_case_that_fits_is_compiled() -> None:
    @eas.kernel
    def kernel(out, MODE: eas.constexpr):
        match MODE:
            case "first" | "second" as name:
                out[0] = len(name)
            case None:
                out[0] = -1
            case _:
                out[0] = undefined  # pyright: ignore[reportUndefinedVariable]

    assert [run(kernel, MODE=m) for m in ("first", "second", None)] == [5, 6, -1]


def test_a_branch_decides_the_type_of_a_name() -> None:
    @eas.kernel
    def kernel(out, x, EXACT: eas.constexpr):
        if EXACT:
            v = 1
        else:
            v = 1.5
        out[0] = int(v * x)

    assert [run(kernel, 3, EXACT=e) for e in (True, False)] == [3, 4]


def test_a_function_is_a_constant() -> None:
    @eas.kernel
    def kernel(out, n, FUNCTION: eas.constexpr):
        out[0] = FUNCTION(n, 2)

    functions = (max, min, lambda a, b: a * b)
    assert [run(kernel, 7, FUNCTION=f) for f in functions] == [7, 2, 14]


def test_a_dtype_is_a_constant() -> None:
    @eas.kernel
    def kernel(out, n, DTYPE: eas.constexpr):
        out[0] = n.to(DTYPE).to(mk.i32)

    assert [run(kernel, 300, DTYPE=d) for d in (mk.i32, mk.u8)] == [300, 44]


def test_a_tuple_of_constants_is_unrolled() -> None:
    @eas.kernel
    def kernel(out, n, STEPS: eas.constexpr):
        for step in STEPS:
            n = n * 2 + step
        out[0] = n

    assert [run(kernel, 1, STEPS=s) for s in ((), (5,), (1, 2, 3))] == [1, 7, 19]


def test_a_captured_array_is_refused() -> None:
    data = np.zeros(3)

    def kernel(out):
        out[0] = data[0]

    assert codes_of(kernel, "*f32[:]") == ["E0204"]


def test_an_index_into_a_tuple_must_be_known() -> None:
    def kernel(out, n):
        out[0] = (1, 2, 3)[n]

    assert codes_of(kernel, "*i32[:]", "i32") == ["E0704"]
