"""Launches on torch's own stream, against the recorded interface of `torch.mps.compile_shader`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk, torch_stream
from eas.msl import host
from eas.runtime.refusals import LaunchError
from tests.run_blocks import simulated_mac
from tests.torch.test_exchange import Mps
from tests.torch.with_torch import torch

# What torch 2.13 has: `(*args, *, threads, group_size, arg_casts, error_buf_idx)` of a kernel.
SIGNATURE = "(source: str)"
KEYWORDS = {"threads", "group_size", "arg_casts", "error_buf_idx"}
CASTS: dict[str, Any] = {"int32": np.int32, "int16": np.int16, "int8": np.int8, "uint8": np.uint8}


@eas.kernel(fast_math=True)
def scale(x, y, FACTOR, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N) * FACTOR, i < N)


@eas.kernel
def exact(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i) * 2.0)


@eas.kernel
def asserting(x, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    assert mk.load(x, i) >= 0
    mk.store(x, i, i)


@eas.kernel
def indexed(x, y):
    r, c = mk.program_id(0), mk.program_id(1)
    y[r, c] = x[r, c] + 1


class ShaderLibrary:
    """What `compile_shader` gives: it runs the text on the CPU, in the memory of the tensors."""

    def __init__(self, text: str) -> None:
        self.shader = host.load(text)

    def __getattr__(self, name: str) -> Any:
        def run(*args: Any, **options: Any) -> None:
            assert options.keys() <= KEYWORDS
            threads, group = options["threads"], options["group_size"]
            casts = options["arg_casts"]
            given = [
                memory(each) if isinstance(each, torch.Tensor) else number(each, casts.get(n))
                for n, each in enumerate(args)
            ]
            groups = tuple(t // g for t, g in zip(threads, group, strict=True))
            getattr(self.shader, name)(*given, groups=groups, per_group=group[0])

        return run


def memory(tensor: Any) -> Any:
    """The storage from the first element of a tensor on, which is what torch binds."""
    plain = tensor.as_subclass(torch.Tensor).detach()
    rest = plain.untyped_storage().nbytes() // plain.itemsize - plain.storage_offset()
    return plain.as_strided((rest,), (1,)).numpy()


def number(value: Any, cast: str | None) -> Any:
    if isinstance(value, float):
        return np.float32(value)
    return CASTS[cast](value) if cast else np.int64(value)


@pytest.fixture(autouse=True)
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch.mps, "compile_shader", ShaderLibrary)
    monkeypatch.setattr(torch, "__version__", "2.13.0")
    monkeypatch.setattr(torch_stream, "_chosen", [])
    monkeypatch.setenv("EAS_TORCH_MPS", "stream")
    monkeypatch.setenv("EAS_BACKEND", "metal")
    torch_stream._library.cache_clear()
    with simulated_mac():
        yield
    torch_stream._library.cache_clear()


def on_mps(tensor: Any) -> Any:
    return tensor.as_subclass(Mps)


def test_the_interface_is_the_recorded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert str(inspect.signature(torch.mps.compile_shader)) == SIGNATURE


def test_a_kernel_runs_on_the_stream_of_torch() -> None:
    x, y = on_mps(torch.arange(100.0)), on_mps(torch.zeros(100))
    before = y._version
    scale(x, y, 0.5, 100, BLOCK=32)
    assert y.tolist() == (torch.arange(100.0) / 2).tolist()
    assert y._version > before


def test_integers_have_the_width_that_the_kernel_wants() -> None:
    x, y = on_mps(torch.arange(8)), on_mps(torch.zeros(8, dtype=torch.int64))
    scale(x, y, 1 << 40, 8, BLOCK=32)
    assert y.tolist() == [n << 40 for n in range(8)]


def test_strides_are_taken() -> None:
    x = torch.arange(12, dtype=torch.int32).reshape(3, 4)
    y = torch.zeros(4, 3, dtype=torch.int32)
    indexed[4, 3](on_mps(x.T), on_mps(y))
    assert y.tolist() == (x.T + 1).tolist()


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (lambda x: exact[1](x, x.clone(), BLOCK=4), "torch compiles kernels with fast math"),
        (lambda x: asserting[1](x, BLOCK=4), "asserts or prints"),
        (lambda x: scale(x[::2], x.clone(), 2.0, 2, BLOCK=4), r"argument `x`: .*contiguous\(\)"),
    ],
)
def test_what_the_stream_cannot_do_is_refused(launch: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        launch(on_mps(torch.arange(4.0)))


def test_other_versions_of_torch_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.9.1")
    with pytest.raises(RuntimeError, match=r"torch 2.13, this is 2.9.1"):
        eas.torch.use_stream(True)
    with pytest.raises(RuntimeError, match=r"torch 2.13, this is 2.9.1"):
        scale(on_mps(torch.zeros(4)), on_mps(torch.zeros(4)), 2.0, 4, BLOCK=4)


def test_a_wrong_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_TORCH_MPS", "fast")
    with pytest.raises(LaunchError, match="EAS_TORCH_MPS is `dlpack` or `stream`, not 'fast'"):
        scale(on_mps(torch.zeros(4)), on_mps(torch.zeros(4)), 2.0, 4, BLOCK=4)


def test_the_stream_can_be_switched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EAS_TORCH_MPS")
    eas.torch.use_stream(True)
    assert torch_stream.is_stream_used()
    eas.torch.use_stream(False)
    assert not torch_stream.is_stream_used()
