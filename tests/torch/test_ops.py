"""`eas.torch.custom_op`: softmax, layer norm and attention are ops that all of torch knows."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import eas
from eas import mk
from eas.runtime.refusals import LaunchError
from tests.torch.with_torch import torch

Op = Callable[..., Any]
examples: Any = importlib.import_module("examples.torch_ops")
training: Any = importlib.import_module("examples.torch_training")
functional: Any = torch.nn.functional


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAS_BACKEND", "cpu")
    torch.manual_seed(0)
    torch._dynamo.reset()


def softmax_of_torch(x: Any) -> Any:
    return torch.softmax(x, -1)


def layer_norm_of_torch(x: Any, weight: Any, bias: Any) -> Any:
    shape = weight.shape if x.dim() else (1,)
    return functional.layer_norm(x.reshape(x.shape or (1,)), shape, weight, bias).reshape(x.shape)


OPS: dict[str, tuple[Op, Op]] = {
    "softmax": (examples.softmax, softmax_of_torch),
    "layer_norm": (examples.layer_norm, layer_norm_of_torch),
    "attention": (examples.attention, functional.scaled_dot_product_attention),
}
CUSTOM_OPS: dict[str, Any] = {
    "softmax": examples.softmax,
    "layer_norm": examples.layer_norm,
    "attention": examples.attention_with_sums,
}


def make_inputs(name: str, kind: str, dtype: Any = None) -> list[Any]:
    """Arguments of an op that require gradients."""
    shapes: dict[str, list[tuple[int, ...]]] = {
        "softmax": [(3, 5)],
        "layer_norm": [(3, 5), (5,), (5,)],
        "attention": [(2, 2, 18, 8), (2, 2, 35, 8), (2, 2, 35, 8)],
    }
    chosen = shapes[name]
    if kind == "empty":
        chosen = [(0, *shape[1:]) if n == 0 else shape for n, shape in enumerate(chosen)]
        chosen = [(0, *shape[1:]) for shape in chosen] if name == "attention" else chosen
    if kind == "0-d":
        chosen = [(), *[(1,) for _ in chosen[1:]]]
    made = [torch.randn(shape, dtype=dtype) for shape in chosen]
    if kind == "strided":
        made = [torch.randn(*x.shape[:-1], 2 * x.shape[-1], dtype=dtype)[..., ::2] for x in made]
    return [x.requires_grad_() for x in made]


KINDS = ["contiguous", "strided", "empty", "0-d"]
CASES = [(name, kind) for name in OPS for kind in KINDS if (name, kind) != ("attention", "0-d")]
every_case = pytest.mark.parametrize(("name", "kind"), CASES)
every_op = pytest.mark.parametrize("name", OPS)


@every_case
def test_an_op_gives_what_torch_gives(name: str, kind: str) -> None:
    ours, theirs = OPS[name]
    inputs = make_inputs(name, kind, torch.float64)
    torch.testing.assert_close(ours(*inputs), theirs(*inputs), rtol=1e-9, atol=1e-9)


@every_case
def test_gradients_are_those_of_torch(name: str, kind: str) -> None:
    ours, theirs = OPS[name]
    inputs = make_inputs(name, kind, torch.float64)
    grad = torch.randn_like(theirs(*inputs))
    found = torch.autograd.grad(ours(*inputs), inputs, grad)
    wanted = torch.autograd.grad(theirs(*inputs), inputs, grad)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


@every_case
def test_the_checks_of_torch_pass(name: str, kind: str) -> None:
    """Schema, autograd registration, fake implementation, AOT tracing with dynamic shapes."""
    found = torch.library.opcheck(CUSTOM_OPS[name], tuple(make_inputs(name, kind)))
    assert set(found.values()) == {"SUCCESS"}


@every_op
def test_the_checks_of_torch_pass_for_gradients(name: str) -> None:
    inputs = make_inputs(name, "contiguous")
    outputs = CUSTOM_OPS[name](*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    made = [each.detach() for each in outputs]
    others = [1e-5] if name == "layer_norm" else []
    needs = [*[True] * len(inputs), *[False] * len(others)]
    backward = {
        "softmax": examples.softmax_gradient,
        "layer_norm": examples.layer_norm_gradient,
        "attention": examples.attention_gradient,
    }[name]
    given = [each.detach() for each in inputs]
    arguments = (*given, *others, *made, *map(torch.randn_like, made), needs)
    assert set(torch.library.opcheck(backward, arguments).values()) == {"SUCCESS"}


@every_op
def test_numerical_gradients_agree(name: str) -> None:
    inputs = make_inputs(name, "contiguous", torch.float64)
    if name == "attention":
        inputs = [torch.randn(1, 3, 4, dtype=torch.float64).requires_grad_() for _ in range(3)]
    assert torch.autograd.gradcheck(OPS[name][0], inputs)


@every_op
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_an_op_is_part_of_a_whole_graph(name: str, is_dynamic: bool) -> None:
    ours, theirs = OPS[name]
    compiled = torch.compile(
        lambda *given: (ours(*given) * 2).sum(),
        backend="aot_eager",
        fullgraph=True,
        dynamic=is_dynamic,
    )
    for _ in range(2):
        inputs = make_inputs(name, "contiguous")
        found, wanted = compiled(*inputs), (theirs(*inputs) * 2).sum()
        torch.testing.assert_close(found, wanted)
        torch.testing.assert_close(
            torch.autograd.grad(found, inputs), torch.autograd.grad(wanted, inputs),
            rtol=1e-4, atol=1e-5,
        )  # fmt: skip


def test_one_graph_serves_all_shapes() -> None:
    count = 0

    def backend(graph: Any, inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph

    compiled = torch.compile(examples.softmax, backend=backend, fullgraph=True, dynamic=True)
    for rows, columns in ((3, 5), (4, 300), (7, 9)):
        x = torch.randn(rows, columns)
        torch.testing.assert_close(compiled(x), torch.softmax(x, -1))
    assert count == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch itself
@pytest.mark.skipif("EAS_TORCH_INDUCTOR" not in os.environ, reason="needs EAS_TORCH_INDUCTOR=1")
@pytest.mark.parametrize("name", ["layer_norm", "attention"])
def test_inductor_compiles_around_ops(name: str) -> None:
    ours, theirs = OPS[name]

    def total(op: Op, soft: Op, *inputs: Any) -> Any:
        return (soft(op(*inputs)) * inputs[0]).sum()

    inputs = make_inputs(name, "contiguous")
    compiled = torch.compile(partial(total, ours, examples.softmax), fullgraph=True)
    found, wanted = compiled(*inputs), total(theirs, softmax_of_torch, *inputs)
    torch.testing.assert_close(found, wanted)
    grads = torch.autograd.grad(found, inputs), torch.autograd.grad(wanted, inputs)
    torch.testing.assert_close(*grads, rtol=1e-4, atol=1e-5)


class Model(torch.nn.Module):
    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op

    def forward(self, *inputs: Any) -> Any:
        return self.op(*inputs) + 1


@every_op
def test_an_op_can_be_exported(name: str) -> None:
    ours, theirs = OPS[name]
    inputs = tuple(x.detach() for x in make_inputs(name, "contiguous"))
    batch = torch.export.Dim("batch", min=1, max=64)
    shapes = [{0: batch} if name == "attention" or n == 0 else None for n in range(len(inputs))]
    program = torch.export.export(Model(ours), inputs, dynamic_shapes=(tuple(shapes),))
    assert "eas_examples" in str(program.graph)
    others = [torch.cat([x, x]) if shape else x for x, shape in zip(inputs, shapes, strict=True)]
    torch.testing.assert_close(program.module()(*others), theirs(*others) + 1)


@every_op
@pytest.mark.parametrize("axes", [(0, None, None), (1, 0, 0)])
@pytest.mark.parametrize("size", [4, 0])
def test_vmap_runs_an_op_for_each_element(
    name: str, axes: tuple[int | None, ...], size: int
) -> None:
    ours, theirs = OPS[name]
    inputs = [x.detach() for x in make_inputs(name, "contiguous")]
    in_dims = axes[: len(inputs)]
    pairs = list(zip(inputs, in_dims, strict=True))
    batch = [
        x if axis is None else torch.stack([x, x * 2, x * 3, x * 4], axis).narrow(axis, 0, size)
        for x, axis in pairs
    ]
    found = torch.vmap(ours, in_dims)(*batch)
    wanted = [
        theirs(*(x if axis is None else x * (n + 1) for x, axis in pairs)) for n in range(size)
    ]
    empty = theirs(*inputs).new_empty((0, *theirs(*inputs).shape))
    torch.testing.assert_close(found, torch.stack(wanted) if wanted else empty)


@every_op
def test_autocast_leaves_an_op_as_it_is(name: str) -> None:
    ours, theirs = OPS[name]
    inputs = [x.detach() for x in make_inputs(name, "contiguous")]
    with torch.autocast("cpu", torch.bfloat16):
        found = ours(*inputs)
        of_narrow = ours(*(x.to(torch.bfloat16) for x in inputs))
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, theirs(*inputs))
    assert of_narrow.dtype == torch.bfloat16
    torch.testing.assert_close(of_narrow.float(), found, rtol=0.05, atol=0.05)


def test_training_reaches_the_loss_of_torch() -> None:
    found, wanted = training.train(training.OURS, 25), training.train(training.TORCHS, 25)
    assert found == pytest.approx(wanted, rel=1e-3)
    assert found[-1] < 0.7 * found[0]


@eas.kernel
def square_kernel(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    mk.store(y, i, v * v, i < N)


@eas.kernel
def add_one_kernel(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i, i < N) + 1, i < N)


def test_an_op_can_write_to_its_arguments() -> None:
    @eas.torch.custom_op("eas_tests::add_one", mutates_args=["x"])
    def add_one(x: torch.Tensor) -> None:
        add_one_kernel(x, x.numel(), BLOCK=64)

    x = torch.zeros(5)
    assert set(torch.library.opcheck(add_one, (x,)).values()) == {"SUCCESS"}
    compiled = torch.compile(lambda t: add_one(t * 1) or t, backend="aot_eager", fullgraph=True)
    assert compiled(torch.ones(5)).tolist() == [1.0] * 5
    y = torch.zeros(5)
    add_one(y)
    assert y.tolist() == [1.0] * 5


def test_a_gradient_may_be_an_input_or_missing() -> None:
    @eas.torch.custom_op("eas_tests::add_twice")
    def add_twice(
        x: torch.Tensor, y: torch.Tensor, times: int = 2, *, sign: int = 1
    ) -> torch.Tensor:
        return x + times * sign * y

    seen: list[Any] = []

    @add_twice.backward
    def add_twice_backward(ctx: Any, grad: Any) -> Any:
        seen.append((ctx.needs_input_grad, ctx.inputs[2:]))
        return grad, None

    del add_twice_backward
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    grads = torch.autograd.grad(add_twice(x, y, 3, sign=-1).sum(), (x, y))
    assert [g.tolist() for g in grads] == [[1.0] * 3, [0.0] * 3]
    assert seen == [((True, True, False, False), (3, -1))]
    (only,) = torch.autograd.grad(add_twice(x.detach(), y).sum(), (y,))
    assert only.tolist() == [0.0] * 3
    assert seen[1] == ((False, True, False, False), (2, 1))


def test_a_wrong_number_of_gradients_is_refused() -> None:
    @eas.torch.custom_op("eas_tests::sum_of_two")
    def sum_of_two(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    sum_of_two.backward(lambda ctx, grad: grad)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="one gradient for each of its 2 inputs, not 1"):
        sum_of_two(x, x).sum().backward()


def test_lists_of_tensors_have_no_gradient() -> None:
    @eas.torch.custom_op("eas_tests::sum_of_list")
    def sum_of_list(xs: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(xs).sum(0)

    with pytest.raises(TypeError, match="lists of tensors"):
        sum_of_list.backward(lambda ctx, grad: grad)


def test_a_launch_on_fake_tensors_checks_its_arguments() -> None:
    @eas.torch.custom_op("eas_tests::wrong_square")
    def wrong_square(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        square_kernel(x, y, x.numel(), BLOCKS=64)
        return y

    with torch._subclasses.FakeTensorMode(), pytest.raises(LaunchError, match="did you mean"):
        wrong_square(torch.ones(3))


def test_a_launch_on_fake_tensors_compiles_the_kernel() -> None:
    @eas.torch.custom_op("eas_tests::inverse")
    def inverse(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        invert_kernel(x, y, x.numel(), BLOCK=64)
        return y

    refused = pytest.raises(eas.CompileError, match="takes integers, not f32")
    with torch._subclasses.FakeTensorMode(), refused:
        inverse(torch.ones(3))
    with torch._subclasses.FakeTensorMode():
        assert inverse(torch.ones(3, dtype=torch.int32)).shape == (3,)


@eas.kernel
def invert_kernel(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, ~mk.load(x, i, i < N), i < N)


def test_a_module_that_holds_an_op_is_copied_and_pickled() -> None:
    module = torch.nn.Module()
    module.act = CUSTOM_OPS["softmax"]
    assert copy.deepcopy(module).act is module.act
    assert pickle.loads(pickle.dumps(module)).act is module.act
