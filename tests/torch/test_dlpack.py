"""torch and JAX take our tensors and give theirs, without a copy."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.torch.with_torch import torch

EXCHANGES = 10_000
SHARED = [dtype for dtype in DTYPES.values() if hasattr(torch, dtype.numpy.name)]


def torch_dtype(dtype: DType) -> Any:
    return getattr(torch, dtype.numpy.name)


@pytest.mark.parametrize("dtype", SHARED, ids=str)
def test_memory_is_shared_both_ways(dtype: DType) -> None:
    ours = eas.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)[:, 1:]
    theirs = torch.from_dlpack(ours)
    assert (theirs.dtype, theirs.data_ptr()) == (torch_dtype(dtype), ours.numpy().ctypes.data)
    assert (tuple(theirs.shape), theirs.stride()) == (ours.shape, ours.strides)
    assert theirs.tolist() == ours.tolist()
    back = eas.from_dlpack(theirs)
    assert (back.dtype, back.numpy().ctypes.data) == (dtype, theirs.data_ptr())
    assert back.strides == ours.strides
    back.fill_(1)
    assert ours.tolist() == theirs.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("dtype", SHARED, ids=str)
def test_a_dtype_of_torch_names_ours(dtype: DType) -> None:
    assert eas.zeros(3, dtype=torch_dtype(dtype)).dtype is dtype
    assert eas.zeros(3).to(torch_dtype(dtype)).dtype is dtype


def test_old_capsules_are_taken() -> None:
    ours = eas.arange(6, dtype="f32").reshape(2, 3)
    theirs = torch.utils.dlpack.from_dlpack(eas.to_dlpack(ours.T))
    assert theirs.tolist() == ours.T.tolist()
    assert eas.from_dlpack(torch.utils.dlpack.to_dlpack(theirs)).tolist() == theirs.tolist()


def test_a_negative_stride_does_not_end_the_process() -> None:
    """`torch.from_dlpack` of one aborts."""
    assert torch.from_dlpack(eas.arange(4)[::-1]).tolist() == [3, 2, 1, 0]


def test_a_read_only_tensor_is_copied_on_its_way_to_torch() -> None:
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    made = eas.tensor(array).to_torch()
    made[0] = 5
    assert array.tolist() == [0.0, 0.0, 0.0]


def test_a_tensor_that_requires_gradients_is_detached() -> None:
    theirs = torch.zeros(3, requires_grad=True)
    ours = eas.from_dlpack(theirs)
    assert ours.numpy().ctypes.data == theirs.data_ptr()


def test_a_negated_view_has_its_sign() -> None:
    theirs = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert eas.from_dlpack(theirs).tolist() == [-2, -4]
    with pytest.raises(BufferError):
        eas.from_dlpack(theirs, copy=False)


def test_empty_and_single_elements_are_exchanged() -> None:
    for shape in ((), (0,), (3, 0, 2), (1,)):
        ours = eas.zeros(shape)
        theirs = torch.from_dlpack(ours)
        assert tuple(theirs.shape) == shape
        assert eas.from_dlpack(theirs).shape == shape


@pytest.mark.parametrize("is_consumer_first", [True, False])
def test_many_exchanges_do_not_grow(is_consumer_first: bool) -> None:
    def exchange(number: int) -> None:
        ours: Any = eas.full(1000, number % 7)
        theirs: Any = torch.from_dlpack(ours)
        back: Any = eas.from_dlpack(torch.ones(1000))
        unused: Any = torch.ones(1000).__dlpack__()
        assert theirs[-1] == number % 7
        assert back[-1].item() == 1
        if is_consumer_first:
            del theirs, back, ours, unused
        else:
            del unused, ours, back, theirs

    for number in range(500):
        exchange(number)
    gc.collect()
    in_use = eas.memory.stats().in_use
    before = resident_bytes()
    for number in range(EXCHANGES):
        exchange(number)
    gc.collect()
    assert eas.memory.stats().in_use == in_use
    assert resident_bytes() - before < 2_000_000


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


AT_EXIT = """
import builtins, sys, torch, eas
builtins.kept = [torch.from_dlpack(eas.ones(10)), eas.from_dlpack(torch.ones(10))]
builtins.more = [eas.ones(10).__dlpack__(), torch.ones(3).__dlpack__()]
sys.modules["keeper"] = torch.from_dlpack(eas.ones(4)).requires_grad_() * 2
print("end")
"""


def test_nothing_that_is_exchanged_ends_the_process_at_exit() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "end\n"), ran.stderr


def test_arrays_of_jax_are_read_and_not_written() -> None:
    jax: Any = pytest.importorskip("jax", reason="JAX is not installed")

    @eas.kernel
    def double(a, b, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        mk.store(b, i, mk.load(a, i) * 2)

    for dtype in ("float32", "bfloat16"):
        theirs = jax.numpy.arange(4, dtype=dtype)
        ours = eas.from_dlpack(theirs)
        assert ours.tolist() == [0, 1, 2, 3]
        result = eas.zeros(4, dtype=dtype)
        double(theirs, result, BLOCK=4, _grid=1)
        assert result.tolist() == [0, 2, 4, 6]
        with pytest.raises(eas.LaunchError, match="the kernel writes to it"):
            double(result, theirs, BLOCK=4, _grid=1)
        with pytest.raises(eas.LaunchError, match="the kernel writes to it"):
            double(result, ours, BLOCK=4, _grid=1)
        back = jax.dlpack.from_dlpack(result)
        assert np.asarray(back.astype("float32")).tolist() == [0, 2, 4, 6]
