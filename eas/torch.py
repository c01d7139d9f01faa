"""Kernels inside of torch: `eas.torch.custom_op` makes an op of a function that launches them.

torch is imported when one of these functions needs it, not before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from eas.runtime.torch_arguments import inside_op, is_tensor
from eas.support.records import frozen
from eas.torch_stream import use_stream

__all__ = ["custom_op", "from_torch", "is_available", "to_torch", "use_stream"]

# A tensor, a module or an op of torch: its types are not known here.
Foreign = Any
Body = Callable[..., Any]


def is_available() -> bool:
    """Whether torch is installed.

    >>> eas.torch.is_available() in (True, False)
    True
    """
    return find_spec("torch") is not None


def custom_op(name: str, *, mutates_args: Iterable[str] = ()) -> Callable[[Body], Foreign]:
    """Makes an op of torch of a function that allocates tensors and launches kernels.

    `name` is `"library::op"`. The function has annotations, as `torch.library.custom_op` asks for,
    and returns new tensors; `mutates_args` are the names of the arguments that it writes to. The
    op is a `CustomOpDef` of torch: `torch.compile(fullgraph=True)`, `torch.export`, `torch.vmap`
    and autocast know it. torch learns the shapes of the results from the same function: on fake
    tensors a launch inside of it checks its arguments and runs nothing.

    ```python
    @eas.torch.custom_op("mylib::square")
    def square(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        square_kernel(x, y, x.numel(), BLOCK=256)
        return y

    @square.backward
    def square_backward(ctx, grad):
        (x,) = ctx.inputs
        return 2 * x * grad
    ```

    `op.backward` registers the gradient, an op of its own, here `mylib::square_backward`. Its
    function gets a context and the gradient of each output; it returns the gradient of each input,
    or of each input that is a tensor. `None` stands for zeros. The context has `inputs`, `outputs`
    and `needs_input_grad`.
    """

    def decorate(body: Body) -> Foreign:
        torch = import_module("torch")
        mutated = tuple(mutates_args)
        schema = torch.library.infer_schema(body, mutates_args=mutated)
        return _make_op(name, body, schema, mutated)

    return decorate


@frozen
class SavedForBackward:
    """What `op.backward` knows of the op's call; `needs_input_grad` has a bool for each input."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    needs_input_grad: tuple[bool, ...]


def _make_op(name: str, body: Body, schema: str, mutated: tuple[str, ...] = ()) -> Foreign:
    torch = import_module("torch")

    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        with inside_op():
            return body(*args, **kwargs)

    op = torch.library.custom_op(name, run, mutates_args=mutated, schema=schema)
    op.register_fake(run)
    if not mutated:
        op.register_vmap(functools.partial(_run_batch, op))
    op.backward = functools.partial(_register_backward, op, name)
    # by name, like a function: modules that hold an op can be copied and pickled
    op.__module__, op.__reduce_ex__ = body.__module__, functools.partial(_name_of, body)
    return op


def _name_of(body: Body, protocol: int) -> str:
    return body.__qualname__


def _run_batch(op: Foreign, info: Any, in_dims: Sequence[int | None], *args: Any) -> Any:
    """Runs an op for each element of a batch. An empty batch takes its shapes from a run on zeros.

    `in_dims` are the axes along which the arguments are batched, None for those that are not.
    """
    torch = import_module("torch")
    is_empty = info.batch_size == 0

    def pick(argument: Any, axis: int | None, n: int) -> Any:
        if axis is None:
            return argument
        if is_empty:
            extents = list(argument.shape)
            del extents[axis]
            return argument.new_zeros(extents)
        return argument.select(axis, n)

    def run(n: int) -> Any:
        return op(*(pick(a, axis, n) for a, axis in zip(args, in_dims, strict=True)))

    def stack(tensors: Sequence[Any]) -> Any:
        stacked = torch.stack(tuple(tensors))
        return stacked[:0] if is_empty else stacked

    found: list[Any] = [run(n) for n in range(max(info.batch_size, 1))]
    if isinstance(found[0], torch.Tensor):
        return stack(found), 0
    columns = [stack(column) for column in zip(*found, strict=True)]
    axes = [0] * len(columns)
    return (tuple(columns), tuple(axes)) if isinstance(found[0], tuple) else (columns, axes)


def _register_backward(op: Foreign, name: str, formula: Body) -> Foreign:
    """Registers the gradient of an op as an op, and gives that.

    It is an op because torch traces a backward with fake tensors: a launch in it would vanish from
    the graph.
    """
    schema = op._opoverload._schema
    inputs = _parameters(str(schema))
    if "Tensor[]" in str(schema):
        raise TypeError(f"`{name}` can have no gradient: it takes or returns lists of tensors")
    outputs = [f"Tensor eas_output_{n}" for n in range(len(schema.returns))]
    grads = [f"Tensor? eas_grad_{n}" for n in range(len(schema.returns))]
    parameters = ", ".join([*inputs, *outputs, *grads, "bool[] eas_needs_input_grad"])
    is_tensor = [text.startswith("Tensor") for text in inputs]
    ends = len(inputs), len(inputs) + len(outputs), len(inputs) + 2 * len(outputs)

    @functools.wraps(formula)
    def run(*args: Any) -> list[Any]:
        given, made, wanted = (args[a:b] for a, b in pairwise((0, *ends)))
        needs: tuple[bool, ...] = tuple(args[-1])
        found = formula(SavedForBackward(given, made, needs), *wanted)
        every = _one_for_each_input(found, is_tensor, name)
        chosen = [(g, x) for g, x, need in zip(every, given, needs, strict=True) if need]
        return _without_aliases(chosen, args)

    backward = _make_op(f"{name}_backward", run, f"({parameters}) -> Tensor[]")
    op.register_autograd(
        functools.partial(_differentiate, backward, is_tensor), setup_context=_save
    )
    return backward


def _parameters(schema: str) -> list[str]:
    """The parameters of a schema, without defaults: `Tensor x`, `int[] axes`."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") -> ")]
    # a comma inside of brackets or quotes is part of a default
    parts = re.findall(r"""(?:\[[^]]*\]|"[^"]*"|[^,\["])+""", inside)
    return [part.split("=")[0].strip() for part in parts if part.strip() != "*"]


def _one_for_each_input(found: Any, is_tensor: Sequence[bool], name: str) -> list[Any]:
    """The gradients that a function has returned, with None for inputs that are no tensors."""
    grads: list[Any] = [*found] if isinstance(found, Sequence) else [found]
    if len(grads) == len(is_tensor):
        return grads
    if len(grads) == sum(is_tensor):
        left = iter(grads)
        return [next(left) if each else None for each in is_tensor]
    raise TypeError(
        f"the backward of `{name}` returns one gradient for each of its {len(is_tensor)} inputs, "
        f"not {len(grads)}"
    )


def _without_aliases(chosen: Sequence[tuple[Any, Any]], args: Sequence[Any]) -> list[Any]:
    """The gradients as tensors of their own, which the results of an op must be."""
    torch = import_module("torch")
    known = [each for each in args if isinstance(each, torch.Tensor)]
    results: list[Any] = []
    for grad, x in chosen:
        made = torch.zeros_like(x) if grad is None else grad
        if any(torch._C._is_alias_of(made, other) for other in known):
            made = made.clone()
        known.append(made)
        results.append(made)
    return results


def _save(
    ctx: Any,
    inputs: tuple[Any, ...],
    output: Any,
    keyword_only_inputs: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    torch = import_module("torch")
    given = (*inputs, *keyword_only_inputs.values())
    outputs = (output,) if isinstance(output, torch.Tensor) else output
    tensors = [each if isinstance(each, torch.Tensor) else None for each in given]
    ctx.save_for_backward(*tensors, *outputs)
    ctx.eas_others = [None if isinstance(each, torch.Tensor) else each for each in given]


def _differentiate(backward: Foreign, is_tensor: Sequence[bool], ctx: Any, *grads: Any) -> Any:
    """What autograd calls: the gradients of the inputs by the op `backward`."""
    count = len(ctx.eas_others)
    saved, outputs = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
    inputs = [s if other is None else other for s, other in zip(saved, ctx.eas_others, strict=True)]
    # torch leaves out arguments that are equal to their defaults, and those by keyword
    known = ctx.needs_input_grad
    asked = (*known, *[False] * (count - len(known)))
    needs = [need and each for need, each in zip(asked, is_tensor, strict=True)]
    found = iter(backward(*inputs, *outputs, *grads, needs))
    every = [next(found) if need else None for need in needs]
    return tuple(every[: len(known)])


def from_torch(tensor: Foreign) -> Any:
    """An `eas.Tensor` with the memory of a tensor of torch, as `eas.tensor(x, copy=False)`."""
    from eas.runtime.tensors.making import tensor as make

    if not is_tensor(tensor):
        kind = type(tensor).__name__
        raise TypeError(f"`from_torch` takes a tensor of torch, not a `{kind}`: see `eas.tensor`")
    return make(tensor, copy=False)


def to_torch(tensor: Any, device: str | None = None) -> Foreign:
    """A tensor of torch with the memory of an `eas.Tensor`, as `t.to_torch()`."""
    return tensor.to_torch(device)
