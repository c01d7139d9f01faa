"""Tensors of torch on the CPU as arguments: their memory is used, and autograd is not misled."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.fast_path import FastPath
from eas.kernel import Kernel
from eas.runtime.refusals import LaunchError
from tests.processes import wait_until
from tests.streams.gates import Gate
from tests.torch.with_torch import torch

Launch = Callable[[], object]
REPOSITORY = Path(__file__).parent.parent.parent


@eas.kernel
def double(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, mask=i < N) * 2, mask=i < N)


@eas.kernel
def double_indexed(x, y):
    r, c = mk.program_id(0), mk.program_id(1)
    y[r, c] = x[r, c] * 2


@eas.kernel
def add_at(x, y, at):
    mk.store(y, at, mk.load(x, at) + 1)


@pytest.fixture(autouse=True, params=["cpu", "interpret"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EAS_BACKEND", request.param)
    for kernel in (double, double_indexed, add_at):
        monkeypatch.setattr(kernel, "_fast_path", FastPath(kernel.parameters))
    return request.param


@pytest.fixture
def fast(backend: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Launch], None]:
    """Launches that must take the fast path, where there is one."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the slow path")

    def check(launch: Launch) -> None:
        with monkeypatch.context() as patch:
            if backend == "cpu":
                patch.setattr(Kernel, "_specialize", refuse)
            launch()

    return check


DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)


@eas.kernel
def copy(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, mask=i < N), mask=i < N)


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_of_every_dtype_are_read_and_written_in_place(
    name: str, fast: Callable[[Launch], None]
) -> None:
    dtype = getattr(torch, name)
    for n, run in enumerate((lambda f: f(), fast)):
        x = (torch.arange(100) % 2 + n).to(dtype)
        y = torch.zeros(100, dtype=dtype)
        run(lambda x=x, y=y: copy(x, y, 100, BLOCK=64))
        assert torch.equal(x, y)


def test_a_launch_with_tensors_takes_the_fast_path(fast: Callable[[Launch], None]) -> None:
    x, y = torch.rand(100), torch.zeros(100)
    double(x, y, 100, BLOCK=64)
    other, again = torch.rand(77), torch.zeros(77)
    fast(lambda: double(other, again, 77, BLOCK=64))
    fast(lambda: double[2](torch.nn.Parameter(other), again, 77, BLOCK=64))
    assert torch.equal(again, other * 2)


def test_arrays_and_tensors_can_be_mixed(fast: Callable[[Launch], None]) -> None:
    x, y = np.arange(10, dtype=np.float32), torch.zeros(10)
    double(x, y, 10, BLOCK=16)
    fast(lambda: double(x + 1, y, 10, BLOCK=16))
    np.testing.assert_array_equal(y.numpy(), 2 * (x + 1))
    z = np.zeros(10, np.float32)
    double(y, z, 10, BLOCK=16)
    np.testing.assert_array_equal(z, 4 * (x + 1))


VIEWS: list[Callable[[Any], Any]] = [
    lambda t: t,
    lambda t: t.T,
    lambda t: t[1:, 2:],
    lambda t: t[::2, ::3],
    lambda t: t[:1].expand(3, -1),
    lambda t: t[:0],
]


@pytest.mark.parametrize("view", VIEWS)
def test_strides_of_tensors_are_taken(
    view: Callable[[Any], Any], fast: Callable[[Launch], None]
) -> None:
    for run in (lambda f: f(), fast):
        x = view(torch.rand(6, 8))
        y = torch.zeros(x.shape[::-1]).T
        run(lambda x=x, y=y: double_indexed[tuple(x.shape)](x, y))
        assert torch.equal(y, x * 2)


def test_flat_offsets_need_a_contiguous_tensor() -> None:
    x = torch.rand(6, 8)
    double(x, torch.zeros(6, 8), 48, BLOCK=64)
    with pytest.raises(LaunchError, match="argument `x`: the kernel counts offsets in a contig"):
        double(x.T, torch.zeros(6, 8), 48, BLOCK=64)


def test_a_negated_view_is_read_with_its_sign(fast: Callable[[Launch], None]) -> None:
    x, out = torch.ones(1, 2), torch.zeros(1, 2)
    double_indexed[1, 2](x, out)
    fast(lambda: double_indexed[1, 2](x, out))
    negated = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert negated.is_neg()
    double_indexed[1, 2](negated[None], out)
    assert out.tolist() == [[-4.0, 8.0]]
    double(torch.tensor([-1.0, 5.0])._neg_view(), out, 2, BLOCK=2)
    assert out.tolist() == [[2.0, -10.0]]


def test_a_negated_view_cannot_be_written() -> None:
    x, y = torch.ones(2), torch.ones(2)
    double(x, y, 2, BLOCK=2)
    with pytest.raises(LaunchError, match=r"argument `y`: .* negated or conjugate view"):
        double(x, y._neg_view(), 2, BLOCK=2)
    assert y.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_gradient_that_needs_overwritten_values_is_refused(is_warm: bool) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    if is_warm:
        double(torch.ones(3), torch.ones(3), 3, BLOCK=4)
    saved = x * 1
    loss = (saved * saved).sum()
    double(torch.ones(3), saved.detach(), 3, BLOCK=4)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_an_input_that_requires_gradients_is_read(fast: Callable[[Launch], None]) -> None:
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3)
    double(x, y, 3, BLOCK=4)
    fast(lambda: double(x * 2, y, 3, BLOCK=4))
    assert y.tolist() == [4.0] * 3
    assert x._version == 0


@pytest.mark.parametrize("make", [lambda: torch.ones(3), lambda: torch.nn.Parameter(torch.ones(3))])
def test_a_leaf_that_requires_gradients_is_not_written(make: Callable[[], Any]) -> None:
    double(torch.ones(3), torch.ones(3), 3, BLOCK=4)
    y = make().requires_grad_()
    with pytest.raises(LaunchError, match=r"argument `y`: .* a leaf that requires gradients"):
        double(torch.ones(3), y, 3, BLOCK=4)
    assert y.tolist() == [1.0] * 3
    with torch.no_grad():
        double(torch.ones(3), y, 3, BLOCK=4)
    assert y.tolist() == [2.0] * 3
    assert y._version == 1


def test_elements_that_share_a_location_are_not_written() -> None:
    x = torch.rand(3, 4)
    double_indexed[3, 4](x, torch.zeros(3, 4))
    with pytest.raises(LaunchError, match=r"argument `y`: .* share one location"):
        double_indexed[3, 4](x, torch.zeros(1, 4).expand(3, 4))


def test_one_tensor_can_be_input_and_output(fast: Callable[[Launch], None]) -> None:
    x = torch.ones(4)
    double(x, x, 4, BLOCK=4)
    before = x._version
    fast(lambda: double(x, x, 4, BLOCK=4))
    assert x.tolist() == [4.0] * 4
    assert x._version > before > 0


def test_a_fault_names_the_tensor(fast: Callable[[Launch], None]) -> None:
    x, y = torch.zeros(8), torch.zeros(8)
    add_at[1](x[:4], y[:4], 3)
    for at in (4, -1):
        with pytest.raises(eas.KernelError, match=r"`x`.*"):
            fast(lambda at=at: add_at[1](x[:4], y[:4], at))
    assert y.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: torch.ones(3, device="meta"), "a `Tensor` of float32 on `meta` has no memory"),
        (lambda: torch.ones(3).to_sparse(), "cannot be read"),
        (lambda: torch.ones(3, dtype=torch.complex64), "complex64 has no counterpart"),
        (lambda: torch.ones(3, dtype=torch.float8_e4m3fn), "cannot be read"),
    ],
)
def test_a_tensor_that_kernels_cannot_use_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        double(make(), torch.zeros(3), 3, BLOCK=4)


def test_a_fake_tensor_is_refused_outside_of_an_op() -> None:
    with torch._subclasses.FakeTensorMode():
        x = torch.ones(3)
    with pytest.raises(LaunchError, match=r"`FakeTensor` .* inside of an op, see `eas.torch.cust"):
        double(x, x, 3, BLOCK=4)


@pytest.mark.parametrize("transform", ["vmap", "functionalize"])
def test_a_tensor_inside_of_a_transform_is_refused(transform: str) -> None:
    x = torch.ones(3)
    double(x, torch.ones(3), 3, BLOCK=4)

    def launch(t: Any) -> Any:
        double(t, x, 3, BLOCK=4)
        return t

    with pytest.raises(LaunchError, match=r"argument `x`: .* inside of `torch.vmap` or another"):
        getattr(torch.func, transform)(launch)(torch.ones(2, 3))


def opaque(x: Any) -> Any:
    y = torch.empty_like(x)
    double(x + 1, y, 3, BLOCK=4)
    return y + 1


def opaque_with_grid(x: Any) -> Any:
    y = torch.empty_like(x)
    double[1](x + 1, y, 3, BLOCK=4)
    return y + 1


@pytest.mark.parametrize("function", [opaque, opaque_with_grid])
def test_a_launch_is_opaque_to_the_compiler_of_torch(function: Callable[[Any], Any]) -> None:
    torch._dynamo.reset()
    graphs: list[Any] = []

    def count(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(function, backend=count)
    assert compiled(torch.ones(3)).tolist() == [5.0] * 3
    assert compiled(torch.ones(3)).tolist() == [5.0] * 3
    assert len(graphs) == 2  # before and behind the launch
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"make it an op with eas.torch.custom"):
        torch.compile(opaque, backend="eager", fullgraph=True)(torch.ones(3))


IMPORTED_LAST = """
import eas
from eas import mk

@eas.kernel
def double(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i) * 2)

import torch

def launch(x):
    y = torch.empty_like(x)
    double[1](x + 1, y, BLOCK=4)
    return y + 1

print(torch.compile(launch, backend="eager")(torch.ones(4)).tolist())
"""


def test_launches_are_opaque_also_if_torch_is_imported_last(tmp_path: Path) -> None:
    (tmp_path / "launch.py").write_text(IMPORTED_LAST, "utf-8")
    made = subprocess.run(
        [sys.executable, tmp_path / "launch.py"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.stdout, made.returncode) == ("[5.0, 5.0, 5.0, 5.0]\n", 0), made.stderr


def test_asynchronous_launches_take_tensors(backend: str) -> None:
    x, y = torch.arange(100.0), torch.zeros(100)
    for _ in range(3):  # those after the first are like it
        double(x, y, 100, BLOCK=32, _sync=False)
        double(y, x, 100, BLOCK=32, _sync=False)
    eas.synchronize()
    assert torch.equal(x, torch.arange(100.0) * 64)


def test_a_fault_of_an_asynchronous_launch_names_the_call(backend: str) -> None:
    x, y = torch.zeros(4), torch.zeros(4)
    for _ in range(2):
        add_at(x, y, 7, _grid=1, _sync=False)
        with pytest.raises(
            eas.KernelError, match="`x` is read out of bounds, at offset 7"
        ) as error:
            eas.synchronize()
        assert "test_launch.py:" in error.value.diagnostics[0].notes[-1]


def test_autograd_knows_what_asynchronous_launches_write(backend: str) -> None:
    w = torch.ones(4, requires_grad=True)
    x, y = torch.ones(4), w * 1.0
    product = y * y
    for _ in range(2):
        double(x, y.detach(), 4, BLOCK=4, _sync=False)
    eas.synchronize()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_a_replay_lets_autograd_know_what_it_writes(backend: str) -> None:
    w, x = torch.ones(4, requires_grad=True), torch.ones(4)
    y = w * 1.0
    with eas.graph() as g:
        double(x, y.detach(), 4, BLOCK=4)
    product = (y * y).sum()
    g.replay()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_a_replay_does_not_write_a_leaf_that_requires_gradients(backend: str) -> None:
    x, y = torch.ones(4), torch.zeros(4)
    with eas.graph() as g:
        double(x, y, 4, BLOCK=4)
    y.requires_grad_(True)
    with pytest.raises(eas.GraphError, match="it is a leaf that requires gradients"):
        g.replay()
    with torch.no_grad():
        g.replay()
    assert y.tolist() == [2.0] * 4


def test_a_tensor_that_is_zero_by_definition_has_no_memory(backend: str) -> None:
    y = torch.ones(4)
    double(torch.ones(4), y, 4, BLOCK=4)
    with pytest.raises(LaunchError, match=r"argument `x`.*Cannot convert a ZeroTensor"):
        double(torch._efficientzerotensor(4), y, 4, BLOCK=4)
    assert y.tolist() == [2.0] * 4


def is_gone(reference: weakref.ref[Any]) -> bool:
    return reference() is None


def test_an_asynchronous_launch_keeps_the_memory_that_a_tensor_had(backend: str) -> None:
    x, gate = torch.ones(4), Gate()
    for _ in range(2):  # the second one is like the first
        memory = eas.zeros(4)
        y, storage = memory.to_torch(), weakref.ref(memory._storage)
        del memory
        with eas.stream(eas.Stream("cpu")) as s:
            s.submit(gate, "gate", (), ())
            double(x, y, 4, BLOCK=4, _sync=False)
        y.data = torch.zeros(4)
        gc.collect()
        is_kept = storage() is not None
        gate.open()
        s.synchronize()
        assert is_kept
        del s  # and its thread with it, which may be the last to know the launch
        wait_until(partial(is_gone, storage))
        assert y.tolist() == [0.0] * 4
        gate = Gate()
