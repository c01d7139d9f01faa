"""Tensors and kernels go to other processes, and are copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.processes import in_a_fork


@eas.kernel
def double(a, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(a, i, mk.load(a, i, i < N) * 2, i < N)


def launched(task: tuple[eas.Kernel, eas.Tensor]) -> eas.Tensor:
    kernel, tensor = task
    kernel(tensor, tensor.size, BLOCK=16, _grid=1, _backend="cpu")
    return tensor


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_a_tensor_is_pickled_with_its_elements(dtype: DType, protocol: int) -> None:
    t = eas.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)[::-1, ::2]
    back = pickle.loads(pickle.dumps(t, protocol))
    facts = (back.dtype, back.shape, back.device, back.tolist())
    assert facts == (t.dtype, t.shape, t.device, t.tolist())
    assert back.numpy().flags.c_contiguous
    assert not np.shares_memory(back.numpy(), t.numpy())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_tensors_of_all_shapes_are_pickled(shape: tuple[int, ...]) -> None:
    assert pickle.loads(pickle.dumps(eas.zeros(shape))).shape == shape


def test_large_tensors_are_pickled_without_a_copy() -> None:
    t = eas.arange(1000)
    buffers: list[Any] = []
    text = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(text) < 300
    assert np.shares_memory(np.frombuffer(buffers[0], np.uint8), t.numpy())
    assert pickle.loads(text, buffers=buffers).tolist() == t.tolist()


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy])
def test_a_copy_has_memory_of_its_own(clone: Callable[[Any], Any]) -> None:
    t = eas.arange(6).reshape(2, 3)
    made = clone(t.T)
    made.fill_(0)
    assert (made.shape, t.tolist()) == ((3, 2), [[0, 1, 2], [3, 4, 5]])
    nested = copy.deepcopy({"weights": [t]})
    assert nested["weights"][0].tolist() == t.tolist()


def test_a_read_only_tensor_is_copied_into_one_that_is_not() -> None:
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    for made in (copy.copy(eas.tensor(array)), pickle.loads(pickle.dumps(eas.tensor(array)))):
        assert made.fill_(1).tolist() == [1, 1, 1]


def test_other_processes_launch_kernels_on_tensors() -> None:
    tasks = [(double, eas.full(4, n)) for n in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.map(launched, tasks)
    assert [each.tolist() for each in results] == [[0] * 4, [2] * 4, [4] * 4]


def test_a_forked_process_has_its_own_tensors() -> None:
    t = eas.full(4, 3)
    launched((double, t))
    assert in_a_fork(lambda: str(launched((double, t)).tolist())) == "[12.0, 12.0, 12.0, 12.0]"
    assert t.tolist() == [6] * 4


SCRIPT = """
import sys
import cloudpickle
import eas
from eas import mk

SCALE = 3

def scaled(x):
    return x * SCALE

@eas.kernel(fast_math=True)
def scale(a, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(a, i, scaled(mk.load(a, i, i < N)), i < N)

def make(shift):
    @eas.kernel
    def shifted(a, N, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        mk.store(a, i, mk.load(a, i, i < N) + shift, i < N)
    return shifted

with open(sys.argv[1], "wb") as file:
    cloudpickle.dump((scale, make(5), eas.arange(4, dtype="f32")), file)
"""
READER = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    scale, shifted, t = pickle.load(file)
for _ in range(2):
    scale(t, 4, BLOCK=4, _grid=1)
shifted(t, 4, BLOCK=4, _grid=1)
print(t.tolist(), scale, scale.fast_math)
"""


def test_cloudpickle_takes_kernels_with_their_text(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    script, pickled = tmp_path / "script.py", tmp_path / "kernels.pickle"
    script.write_text(SCRIPT, "utf-8")
    subprocess.run([sys.executable, script, pickled], check=True)
    script.unlink()  # another machine does not have it
    ran = subprocess.run(
        [sys.executable, "-c", READER, pickled], capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout == "[5.0, 14.0, 23.0, 32.0] <kernel scale> True\n"


def test_cloudpickle_takes_kernels_of_modules_by_name() -> None:
    cloudpickle: Any = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    assert pickle.loads(cloudpickle.dumps(double)) is double
