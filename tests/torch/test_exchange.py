"""Tensors that go from torch to `eas.Tensor` and back, with the same memory where that can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime.refusals import LaunchError
from tests.run_blocks import simulated_mac
from tests.torch.with_torch import torch


def test_memory_is_shared_both_ways() -> None:
    assert eas.torch.is_available()
    x = torch.arange(4.0)
    shared = eas.from_torch(x)
    shared[1:2].fill_(7.0)
    assert x.tolist() == [0.0, 7.0, 2.0, 3.0]
    back = eas.torch.to_torch(shared)
    assert back.data_ptr() == x.data_ptr()
    assert shared.to_torch("cpu").data_ptr() == x.data_ptr()


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "int64", "bool"])
def test_dtypes_and_strides_survive(name: str) -> None:
    x = (torch.arange(24) % 2).to(getattr(torch, name)).reshape(4, 6)[::2, 1:].T
    there = eas.torch.from_torch(x)
    assert there.shape == tuple(x.shape)
    assert there.strides == tuple(x.stride())
    assert torch.equal(eas.torch.to_torch(there), x)


def test_a_tensor_that_runs_backwards_is_copied_on_its_way_to_torch() -> None:
    backwards = eas.tensor(np.arange(4, dtype=np.float32))[::-1]
    assert backwards.to_torch().tolist() == [3.0, 2.0, 1.0, 0.0]


def test_a_negated_view_keeps_its_sign() -> None:
    negated = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert eas.tensor(negated).tolist() == [-2.0, 4.0]
    with pytest.raises(BufferError, match="negated or conjugate view: reading it takes a copy"):
        eas.torch.from_torch(negated)


def test_a_tensor_that_requires_gradients_is_detached() -> None:
    x = torch.ones(3, requires_grad=True)
    assert eas.from_torch(x).tolist() == [1.0] * 3


def test_a_fake_tensor_has_no_memory() -> None:
    with pytest.raises(BufferError, match="has no memory"):
        eas.from_torch(torch.ones(3, device="meta"))


@eas.kernel
def double(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N) * 2, i < N)


class Mps(torch.Tensor):
    """A tensor on `mps`: it says so, and hands over a Metal buffer."""

    there: eas.Tensor

    @property
    def device(self) -> Any:
        return torch.device("mps")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(found, Mps) and hasattr(args[0], "there"):
            found.there = args[0].there
        return found

    def __dlpack__(self, **options: Any) -> Any:
        return self.there.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.there.__dlpack_device__()


def on_mps(values: list[float], view: Any = None) -> Any:
    made = torch.tensor(values).as_subclass(Mps)
    there = eas.tensor(values, dtype="f32", device="mps")
    made.there = there if view is None else there[view]
    return made


@pytest.mark.parametrize(("setting", "waits"), [("1", True), ("0", False), (None, True)])
def test_kernels_run_on_buffers_of_torch(
    setting: str | None, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's queue and ours do not know of each other: its work is done before ours begins."""
    waited: list[str] = []
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("torch"))
    if setting is not None:
        monkeypatch.setenv("EAS_TORCH_MPS_SYNC", setting)
    with simulated_mac() as machine:
        x, y = on_mps([1.0, 2.0, 3.0]), on_mps([0.0, 0.0, 0.0])
        double(x, y, 3, BLOCK=4, _backend="mps")
        assert y.there.tolist() == [2.0, 4.0, 6.0]
        assert bool(waited) is waits
        every_second = on_mps([1.0, 2.0, 3.0, 4.0], slice(None, None, 2))
        with pytest.raises(LaunchError, match=r"argument `x`: .* `x.contiguous\(\)`"):
            double(every_second, y, 2, BLOCK=4, _backend="mps")
        assert machine.troubles == []
