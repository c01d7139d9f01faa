"""The functions of `mk` as the first easy_as had them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def compare(out, a, b, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x, y = mk.load(a, i), mk.load(b, i)
    mk.store(out, i, mk.and_(x > 0, y))
    mk.store(out, BLOCK + i, mk.or_(x, y > 1))
    mk.store(out, 2 * BLOCK + i, mk.not_(x))
    mk.store(out, 3 * BLOCK + i, mk.and_(True, mk.or_(BLOCK < 0, False)))


@eas.kernel
def multiply_rows(a, x, y, M, K, N, BLOCK: eas.constexpr):
    row = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    base = mk.where(row < M, row, 0) * K
    mk.store(y, row, mk.dot(a, base, 1, x, 0, 2, K), row < M)


@eas.kernel
def multiply_rows_by_threads(a, x, y, M, K: eas.constexpr, N, BLOCK: eas.constexpr):
    row = mk.program_id(0) * BLOCK + mk.tid(0, BLOCK)
    shared = mk.alloc_tg_f16(K)
    for k in range(0, K, BLOCK):
        at = k + mk.tid(0, BLOCK)
        mk.store(shared, at, mk.to_f16(mk.load(x, 2 * at, at < K)), at < K)
    mk.barrier()
    base = mk.where(row < M, row, 0) * K
    total = mk.dot(a=a, a_base=base, a_stride=1, b=shared, b_base=0, b_stride=1, K=K)
    mk.store(y, row, total, row < M)


@eas.kernel
def multiply_tiles(a, b, c, BY_NAME: eas.constexpr):
    t = mk.tid(0, 32)
    left, right, out = mk.alloc_tg_f16(64), mk.alloc_tg(80), mk.alloc_tg(72)
    for i in range(0, 64, 32):
        j = t + i
        mk.store(left, j, mk.to_f16(mk.load(a, j)))
        mk.store(right, j // 8 * 10 + j % 8, mk.load(b, j))
    mk.barrier()
    acc = mk.mma_zero()
    if BY_NAME:
        acc = mk.mma(acc=acc, a=left, a_base=0, a_stride=8, b=right, b_base=0, b_stride=10)
        mk.mma_store(fragment=acc, buffer=out, base=0, stride=9)
    else:
        acc = mk.mma(left, 0, 8, right, 0, 10, acc)
        mk.mma_store(out, 0, 9, acc)
    mk.barrier()
    for i in range(0, 64, 32):
        j = t + i
        mk.store(c, j, mk.load(out, j // 8 * 9 + j % 8, True))


@pytest.mark.usefixtures("everywhere")
def test_logic_is_computed_lane_by_lane() -> None:
    a, b = np.array([0, 1, -1, 2], np.int32), np.array([1, 0, 2, 3], np.int32)
    out = np.ones((4, 4), np.int32)
    compare[1](out.reshape(-1), a, b, BLOCK=4)
    right = [(a > 0) & (b != 0), (a != 0) | (b > 1), a == 0, np.zeros(4)]
    np.testing.assert_array_equal(out, right)


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("kernel", [multiply_rows, multiply_rows_by_threads])
@pytest.mark.parametrize("length", [0, 1, 37])
def test_a_dot_product_of_arrays_is_one_number_for_each_lane(kernel: Any, length: int) -> None:
    if kernel is multiply_rows_by_threads and length == 0:
        pytest.skip("threadgroup memory is not empty")
    a = np.random.default_rng(0).integers(-8, 8, (40, length)).astype(np.float32)
    x = np.random.default_rng(1).integers(-8, 8, 2 * length).astype(np.float32)
    y = np.zeros(40, np.float32)
    kernel(a.reshape(-1), x, y, 40, N=40, K=length, BLOCK=32)
    np.testing.assert_array_equal(y, a @ x[::2])


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize("by_name", [True, False])
def test_matrices_are_multiplied_in_the_old_order_of_arguments(by_name: bool) -> None:
    a, b = np.random.default_rng(0).integers(-8, 8, (2, 8, 8)).astype(np.float32)
    c = np.zeros((8, 8), np.float32)
    multiply_tiles[1](a.reshape(-1), b.reshape(-1), c.reshape(-1), BY_NAME=by_name)
    np.testing.assert_array_equal(c, a @ b)


def test_the_module_of_functions_can_be_imported_by_its_name() -> None:
    assert importlib.import_module("eas.mk") is mk


@eas.kernel
def raise_early(out, BLOCK: eas.constexpr, N):
    for size in (BLOCK, 2 * BLOCK):
        check(size)
    mk.store(out, mk.arange(0, BLOCK), 1.0)


def check(size: int) -> None:
    if size % 8:
        raise ValueError(f"{size} is no multiple of 8")


@eas.kernel
def raise_late(out, N):
    if N > 2:
        return
    raise RuntimeError("too late")


def test_an_error_that_constants_cause_keeps_its_text() -> None:
    with pytest.raises(eas.CompileError) as caught:
        raise_early.compile("*f32", BLOCK=12, N="i32")
    messages = [each.message for each in caught.value.diagnostics]
    assert messages == ["ValueError: 12 is no multiple of 8"]
    assert raise_early.compile("*f32", BLOCK=16, N="i32").writes == ("out",)


def test_an_error_that_depends_on_arguments_is_refused() -> None:
    with pytest.raises(eas.CompileError) as caught:
        raise_late.compile("*f32", "i32")
    assert [each.code for each in caught.value.diagnostics] == ["E0102"]
