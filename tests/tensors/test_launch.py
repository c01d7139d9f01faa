"""Tensors are arguments of launches on every backend, as NumPy arrays are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.fast_path import FastPath
from eas.ir.types import DTYPES
from tests.backends import BACKENDS

on_every_backend = pytest.mark.parametrize("backend", BACKENDS)


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)


@eas.kernel
def copy_rows(a, b, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    for row in range(a.shape[0]):
        if i < a.shape[1]:
            b[row, i] = a[row, i]


@on_every_backend
def test_a_launch_reads_and_writes_tensors(backend: Backend) -> None:
    a, b = eas.arange(100, dtype="f32"), eas.full(100, 0.5)
    for _ in range(3):  # the slow path, then the fast path
        c = eas.zeros(100)
        add(a, b, c, 100, BLOCK=64, _backend=backend)
        assert c.tolist() == [n + 0.5 for n in range(100)]


@on_every_backend
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name not in ("bool", "f64")])
def test_a_launch_takes_every_dtype(dtype: str, backend: Backend) -> None:
    a, c = eas.arange(20, dtype=dtype), eas.empty(20, dtype=dtype)
    add(a, a, c, 20, BLOCK=32, _backend=backend)
    assert c.tolist() == [2 * n for n in range(20)]


@on_every_backend
def test_a_launch_takes_strided_views(backend: Backend) -> None:
    a = eas.arange(60, dtype="f32").reshape(6, 10)
    b = eas.zeros((6, 10))
    for view in (a[::-2, 1::3], a.T[::3], a[1:2]):
        target = b[: view.shape[0], : view.shape[1]].T.contiguous().T
        copy_rows(view, target, BLOCK=16, _grid=1, _backend=backend)
        assert target.tolist() == view.tolist()


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_an_access_outside_of_a_view_is_reported(backend: Backend) -> None:
    a, c = eas.arange(100, dtype="f32"), eas.zeros(100)
    for view in (a[:50], a[:50]):  # memory is there behind the view, but it is not the view's
        with pytest.raises(eas.KernelError) as caught:
            add(view, view, c, 100, BLOCK=64, _backend=backend)
        assert "`a` is read out of bounds, at offset 50" in str(caught.value)


@on_every_backend
def test_a_read_only_tensor_is_not_written(backend: Backend) -> None:
    array = np.zeros(100, np.float32)
    array.flags.writeable = False
    with pytest.raises(eas.LaunchError, match="argument `c`: the kernel writes to it"):
        add(eas.ones(100), eas.ones(100), eas.tensor(array), 100, BLOCK=64, _backend=backend)


@on_every_backend
def test_tensors_that_overlap_are_refused_if_one_is_written(backend: Backend) -> None:
    a = eas.zeros(150)
    with pytest.raises(eas.LaunchError, match="argument `c`: it shares memory with `a`"):
        add(a[:100], eas.ones(100), a[50:], 100, BLOCK=64, _backend=backend)
    add(a[:100], eas.ones(100), a[:100], 100, BLOCK=64, _backend=backend)
    assert a.tolist() == [1.0] * 100 + [0.0] * 50


@on_every_backend
def test_tensors_and_arrays_are_mixed(backend: Backend) -> None:
    a, c = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    for _ in range(2):
        add(a, eas.ones(10), c, 10, BLOCK=16, _backend=backend)
        assert c.tolist() == [n + 1.0 for n in range(10)]


def test_a_tensor_is_no_number() -> None:
    @eas.kernel
    def scale(a, k: mk.f32):
        mk.store(a, 0, k)

    with pytest.raises(eas.LaunchError, match="argument `k`: expected a float"):
        scale(eas.zeros(1), eas.zeros(1), _grid=1)


def test_a_kernel_compiles_for_a_tensor_as_for_an_array() -> None:
    def text(value: Any) -> str:
        return add.to_msl(value, value, value, 8, BLOCK=64)

    assert text(eas.zeros((4, 2))) == text(np.zeros((4, 2), np.float32))


@eas.kernel
def double(a, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) * 2, i < N)


def planned_calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Notes whether each launch from now on was run by a launch plan."""
    seen: list[bool] = []
    run = FastPath.run

    def noted(self: FastPath, *arguments: Any) -> bool:
        seen.append(run(self, *arguments))
        return seen[-1]

    monkeypatch.setattr(FastPath, "run", noted)
    return seen


def test_the_fast_path_takes_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    a, c = eas.arange(10, dtype="f32"), eas.zeros(10)
    double(a.numpy(), c.numpy(), 10, BLOCK=16, _backend="cpu")
    double(a, c, 10, BLOCK=16, _backend="cpu")
    seen = planned_calls(monkeypatch)
    for view in (a, a[1:], eas.arange(20, dtype="f32")[3:13]):
        double(view, c.fill_(0), 9, BLOCK=16, _backend="cpu")
        assert c.tolist() == [2 * n for n in view.tolist()[:9]] + [0]
    double(a, c.numpy(), 10, BLOCK=16, _backend="cpu")
    double(a, a, 10, BLOCK=16, _backend="cpu")  # another kernel: the same array twice
    double(a, a[:], 10, BLOCK=16, _backend="cpu")
    double(c, c, 10, BLOCK=16, _backend="cpu")
    assert seen == [True, True, True, True, False, True, True]
    assert a.tolist() == [4 * n for n in range(10)]


def test_the_fast_path_reports_an_access_outside_of_a_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, c = eas.arange(10, dtype="f32"), eas.zeros(20)
    double(a, c, 10, BLOCK=16, _backend="cpu")
    double(a, c, 10, BLOCK=16, _backend="cpu")
    seen = planned_calls(monkeypatch)
    with pytest.raises(eas.KernelError) as caught:
        double(a[2:], c, 10, BLOCK=16, _backend="cpu")
    assert "`a` is read out of bounds, at offset 8" in str(caught.value)
    assert "`a` has the shape (8,)" in str(caught.value)
    assert seen == []  # it has raised


def test_the_fast_path_leaves_what_does_not_fit_to_the_slow_path() -> None:
    a, c = eas.arange(10, dtype="f32"), eas.zeros(10)
    for _ in range(2):
        double(a, c, 10, BLOCK=16, _backend="cpu")
    frozen = np.zeros(10, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(eas.LaunchError, match="argument `c`: the kernel writes to it"):
        double(a, eas.tensor(frozen), 10, BLOCK=16, _backend="cpu")
    with pytest.raises(eas.LaunchError, match="argument `a`: the kernel counts offsets"):
        double(eas.zeros(20)[::2], c, 10, BLOCK=16, _backend="cpu")
    with pytest.raises(eas.LaunchError, match="argument `c`: it shares memory with `a`"):
        double(c[1:], c[:-1], 9, BLOCK=16, _backend="cpu")
    double(eas.arange(10, dtype="i32"), c, 10, BLOCK=16, _backend="cpu")
    assert c.tolist() == [2 * n for n in range(10)]


def test_a_class_derived_from_tensor_is_taken_too() -> None:
    class Named(eas.Tensor):
        pass

    a, c = eas.arange(10, dtype="f32"), eas.zeros(10)
    named = Named(a.numpy(), a._storage)  # pyright: ignore[reportPrivateUsage]
    for _ in range(3):
        double(named, c.fill_(0), 10, BLOCK=16, _backend="cpu")
        double(a, c, 10, BLOCK=16, _backend="cpu")
        assert c.tolist() == [2 * n for n in range(10)]
