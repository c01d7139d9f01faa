"""The launch fast path: launches like an earlier one have the same meaning as on the slow path."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.fast_path import FastPath
from eas.kernel import Kernel
from eas.runtime.cpu import launch_plan
from eas.runtime.refusals import LaunchError

Array = np.ndarray[Any, np.dtype[Any]]
Launch = Callable[[], object]

N = 100


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)


@eas.kernel
def scale(x, y, FACTOR, N, BLOCK: eas.constexpr, SHIFT=1.0, SIGN: eas.constexpr = 1.0):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, (mk.load(x, i, i < N) * FACTOR + SHIFT) * SIGN, i < N)


@eas.kernel
def copy(x, y):
    r, c = mk.program_id(0), mk.program_id(1)
    y[r, c] = x[r, c]


@eas.kernel
def typed(y, A: mk.i8, B: mk.u16, C: mk.i64, D: mk.f64, E: mk.u64):
    for n, value in enumerate((A, B, C, D, E)):
        mk.store(y, n, value.to(mk.f64))


class Tensor:
    """An array that only DLPack can read."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> Callable[[Launch], None]:
    """Launches that must take the fast path."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the slow path")

    def check(launch: Launch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Kernel, "_specialize", refuse)
            launch()

    return check


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    for kernel in (add, scale, copy, typed):
        monkeypatch.setattr(kernel, "_compiled", {})
        monkeypatch.setattr(kernel, "_fast_path", FastPath(kernel.parameters))


def floats(*shape: int) -> Array:
    return np.random.default_rng(0).random(shape).astype("f4")


def test_the_fast_path_exists_here() -> None:
    assert launch_plan.is_possible()


FACTORS = (2, 3), (2.0, 0.5), (np.float32(2), np.float32(0.5)), (np.int16(-2), np.int16(-3))


@pytest.mark.parametrize("factors", [*FACTORS, (np.float64(2), np.float64(0.1)), (True, False)])
def test_scalars_arrive(fast: Callable[[Launch], None], factors: tuple[Any, Any]) -> None:
    x, y, z = floats(N), floats(N), floats(N)
    scale(x, y, factors[0], N, BLOCK=32)
    fast(lambda: scale(x, y, factors[1], N, BLOCK=32))
    scale(x, z, factors[1], N, BLOCK=32, _backend="interpret")
    np.testing.assert_array_equal(y, z)


@pytest.mark.parametrize("size", [np.int32, np.int64, np.int16, np.uint8])
def test_a_grid_follows_from_a_numpy_scalar(
    fast: Callable[[Launch], None], size: type[np.integer[Any]]
) -> None:
    a, b, c = floats(N), floats(N), floats(N)
    add(a, b, c, size(3), BLOCK=4)
    fast(lambda: add(a, b, c, size(N), BLOCK=4))
    np.testing.assert_array_equal(c, a + b)


def test_a_numpy_scalar_below_zero_gives_no_grid() -> None:
    a, b, c = floats(N), floats(N), floats(N)
    add(a, b, c, np.int32(3), BLOCK=4)
    with pytest.raises(LaunchError, match="N is -5"):
        add(a, b, c, np.int32(-5), BLOCK=4)


def test_declared_scalars_arrive_and_are_checked(fast: Callable[[Launch], None]) -> None:
    y = np.zeros(5)
    typed[1](y, 1, 2, 3, 4.0, 5)
    fast(lambda: typed[1](y, -128, 65535, -(1 << 40), 0.1, 1 << 40))
    assert y.tolist() == [-128, 65535, -(1 << 40), 0.1, 1 << 40]
    for name, wrong in (("A", 128), ("B", -1), ("E", -1)):
        row = {"A": 1, "B": 2, "C": 3, "D": 4.0, "E": 5} | {name: wrong}
        with pytest.raises(LaunchError, match=f"{wrong} does not fit"):
            typed[1](y, *row.values())


def test_a_number_that_fits_into_32_bits_is_one_of_32_bits_after_larger_ones() -> None:
    @eas.kernel
    def double(y, n):
        mk.store(y, 0, n + n)

    y = np.zeros(1, "i8")
    expected = np.zeros(1, "i8")
    for n in (1 << 40, 1 << 30, -(1 << 40), -(1 << 31), 1 << 30, 5):
        double[1](y, n)
        double[1](expected, n, _backend="interpret")
        assert y == expected, n


def test_one_array_for_several_parameters(fast: Callable[[Launch], None]) -> None:
    a, b, c = floats(N), floats(N), floats(N)
    expected = a + a
    add(a, b, c, N, BLOCK=32)
    add(a, a, c, N, BLOCK=32)
    fast(lambda: add(b, b, c, N, BLOCK=32))
    np.testing.assert_array_equal(c, b + b)
    add(a, a, a, N, BLOCK=32)
    np.testing.assert_array_equal(a, expected)
    expected = c + c
    fast(lambda: add(c, c, c, N, BLOCK=32))
    np.testing.assert_array_equal(c, expected)
    fast(lambda: add(a, b, c, N, BLOCK=32))
    np.testing.assert_array_equal(c, a + b)


def test_views_of_the_same_elements_are_one_array(fast: Callable[[Launch], None]) -> None:
    a, c = floats(N), floats(N)
    add(a[:50], a[:50], c, 50, BLOCK=32)
    fast(lambda: add(a[50:], a[50:], c, 50, BLOCK=32))
    np.testing.assert_array_equal(c[:50], a[50:] + a[50:])
    add(a[50:], a[40:90], c, 50, BLOCK=32)
    np.testing.assert_array_equal(c[:50], a[50:] + a[40:90])


WHOLE = floats(12, 14)
VIEWS = (
    WHOLE[:6, :7], WHOLE[::2, ::2], WHOLE[5::-1, :7], WHOLE[:6, 6::-1], WHOLE.T[:6, :7],
    WHOLE[:1, :1], WHOLE[:0, :7], np.broadcast_to(WHOLE[0, 0], (6, 7)),
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_read_through_their_strides(fast: Callable[[Launch], None], view: Array) -> None:
    x, y = floats(3, 4), np.zeros((3, 4), "f4")
    copy[3, 2](x[:, ::2], y[:, :2])
    copy[3, 4](x, y)
    target = np.zeros(view.shape, "f4")
    fast(lambda: copy[view.shape](view, target))
    np.testing.assert_array_equal(target, view)


def test_a_view_is_written_through_its_strides(fast: Callable[[Launch], None]) -> None:
    x = floats(6, 7)
    copy[6, 3](x[:, ::2], np.zeros((6, 7), "f4"))
    whole = np.zeros((12, 14), "f4")
    fast(lambda: copy[6, 7](x, whole[::-2, 1::2]))
    np.testing.assert_array_equal(whole[::-2, 1::2], x)
    assert np.count_nonzero(whole) == np.count_nonzero(x)


def test_a_view_with_gaps_is_refused_where_offsets_are_counted() -> None:
    a, c = floats(N), floats(N)
    add(a, a.copy(), c, N, BLOCK=32)
    with pytest.raises(LaunchError, match="counts offsets in a contiguous array"):
        add(floats(2 * N)[::2], a, c, N, BLOCK=32)


def test_views_that_share_memory_are_refused() -> None:
    whole = floats(8, 8)
    copy[4, 4](whole[:4, :4], whole[4:, 4:])
    with pytest.raises(LaunchError, match="shares memory"):
        copy[4, 4](whole[:4, :4], whole[3::-1, :4][::-1, 1:][:, :3])


def test_views_that_only_lie_among_each_other_are_taken() -> None:
    whole = floats(8, 8)
    for _ in range(12):
        copy[4, 8](whole[::2], whole[1::2])
    np.testing.assert_array_equal(whole[::2], whole[1::2])


def test_an_array_without_elements_is_taken(fast: Callable[[Launch], None]) -> None:
    a, b, c = floats(N), floats(N), floats(N)
    add(a, b, c, 0, BLOCK=32)
    fast(lambda: add(a[:0], b[:0], c[:0], 0, BLOCK=32))


CALLS = (
    lambda a, b, c, n: add(a, b, c, n, 32),
    lambda a, b, c, n: add(a, b, c, N=n, BLOCK=32),
    lambda a, b, c, n: add(BLOCK=32, N=n, c=c, b=b, a=a),
    lambda a, b, c, n: add[-(-n // 32)](a, b, c, n, BLOCK=32),
    lambda a, b, c, n: add[(-(-n // 32), 1)](a, b, c, n, BLOCK=32),
    lambda a, b, c, n: add[[-(-n // 32)]](a, b, c, n, BLOCK=32),
    lambda a, b, c, n: add[np.int64(-(-n // 32))](a, b, c, n, BLOCK=32),
    lambda a, b, c, n: add[lambda known: -(-known["N"] // known["BLOCK"])](a, b, c, n, 32),
    lambda a, b, c, n: add[lambda known: (-(-known["N"] // 32), 1, 1)](a, b, c, N=n, BLOCK=32),
    lambda a, b, c, n: add(a, b, c, n, BLOCK=np.int64(32)),
    lambda a, b, c, n: add(Tensor(a), Tensor(b), Tensor(c), n, BLOCK=32),
    lambda a, b, c, n: add(a.view(type("Mine", (np.ndarray,), {})), b, c, n, BLOCK=32),
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_arguments_and_grids_may_be_given_in_all_ways(
    fast: Callable[[Launch], None], call: Callable[[Array, Array, Array, int], None]
) -> None:
    call(floats(N), floats(N), floats(N), N // 2)
    a, b, c = floats(2 * N), floats(2 * N), floats(2 * N)
    fast(lambda: call(a, b, c, 2 * N))
    np.testing.assert_array_equal(c, a + b)


def test_arrays_of_earlier_launches_are_freed() -> None:
    arrays = [floats(N) for _ in range(3)]
    watched = [weakref.ref(array) for array in arrays]
    add(*arrays, N, BLOCK=32)
    add(*arrays, N, BLOCK=32)
    del arrays
    assert [reference() for reference in watched] == [None] * 3


def test_a_tensor_that_is_passed_twice_is_one_array(fast: Callable[[Launch], None]) -> None:
    a, c = floats(N), floats(N)
    both = Tensor(a)
    add(both, both, c, N, BLOCK=32)
    fast(lambda: add(both, both, c, N, BLOCK=32))
    np.testing.assert_array_equal(c, a + a)


def test_defaults_are_used(fast: Callable[[Launch], None]) -> None:
    x, y = floats(N), floats(N)
    scale(x, y, 2.0, N, BLOCK=32)
    fast(lambda: scale(x, y, 3.0, N, BLOCK=32))
    np.testing.assert_array_equal(y, x * np.float32(3) + np.float32(1))
    scale(x, y, 3.0, N, BLOCK=32, SHIFT=5.0)
    fast(lambda: scale(x, y, 3.0, N, BLOCK=32, SHIFT=6.0))
    np.testing.assert_array_equal(y, x * np.float32(3) + np.float32(6))


def test_constants_that_are_equal_but_not_the_same_make_different_kernels() -> None:
    x, y = np.zeros(N, "f4"), floats(N)
    for sign in (1.0, -1.0, 0.0, -0.0, 1, True, np.float32(-0.0)):
        for _ in range(2):
            scale(x, y, 2.0, N, BLOCK=32, SIGN=sign)
            assert (np.signbit(y) == np.signbit(np.float32(sign))).all(), repr(sign)


def test_constants_by_position_are_checked(fast: Callable[[Launch], None]) -> None:
    x, y = floats(N), floats(N)
    for block, sign in ((32, 1), (4, 1), (4, -1), (4, True), (64, 1), (4, 1.0), (4, None)):
        if sign is None:
            with pytest.raises(eas.CompileError):
                scale[1](x, y, 2.0, N, block, 1.0, sign)
            continue
        y[:] = 0
        scale[1](x, y, 2.0, N, block, 1.0, sign)
        y[:] = 0
        fast(lambda b=block, s=sign: scale[1](x, y, 2.0, N, b, 1.0, s))
        expected = np.where(np.arange(N) < block, (2 * x + 1) * sign, 0)
        np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize("grid", [-1, (-1,), (1, -1), (), (1, 1, 1, 1), True, 1.0, 2**31, None])
def test_a_wrong_grid_is_refused_after_a_right_one(grid: Any) -> None:
    x, y = floats(3, 4), floats(3, 4)
    copy[3, 4](x, y)
    with pytest.raises(LaunchError, match="grid"):
        copy[grid](x, y)


def test_a_launch_of_more_programs_than_can_be_counted_is_refused() -> None:
    x, y = floats(3, 4), floats(3, 4)
    for _ in range(2):
        copy[0](x, y)
        with pytest.raises(LaunchError, match="a launch has at most"):
            copy[2**31 - 1, 2**31 - 1, 4](x, y)


def test_the_function_that_gives_the_grid_gets_rounded_floats() -> None:
    x, y = floats(N), floats(N)
    seen: list[object] = []

    def grid(known: dict[str, Any]) -> int:
        seen.append(known)
        return 1

    for _ in range(2):
        scale[grid](x, y, 0.1, N, BLOCK=32)
    assert seen[0] == seen[1]


def test_a_captured_value_that_changes_is_seen_each_time(
    fast: Callable[[Launch], None],
) -> None:
    factor = 1

    @eas.kernel
    def times(y):
        mk.store(y, 0, mk.load(y, 0) * factor)

    y = np.ones(1)
    for factor in range(1, 30):
        y[0] = 1
        times[1](y)
        fast(lambda: times[1](y))
        assert y[0] == factor * factor


def test_more_arguments_are_not_taken_for_a_grid(fast: Callable[[Launch], None]) -> None:
    @eas.kernel
    def digits(y, N, A=1, B=2, C=3, BLOCK: eas.constexpr = 4):
        i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
        mk.store(y, i, A * 100 + B * 10 + C, i < N)

    y = np.zeros(8, "i4")
    for _ in range(2):
        y[:] = 0
        digits[1](y, 8)
        assert y.tolist() == [123] * 4 + [0] * 4
        digits(y, 8, 2, 1, 1)
        assert y.tolist() == [211] * 8
    fast(lambda: digits[2](y, 8))
    assert y.tolist() == [123] * 8
