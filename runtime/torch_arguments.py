"""Tensors of torch as arguments of launches. torch is not imported here: its users have done so."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from eas.ir.types import BF16
from eas.runtime.refusals import BadArgument

Array = np.ndarray[Any, np.dtype[Any]]
Tensor = Any  # `torch.Tensor`

_is_in_op: ContextVar[bool] = ContextVar("eas_is_in_custom_op", default=False)
_NAMES = {"Int": "i32", "Float": "f32", "Bool": "bool"}


def loaded() -> Any | None:
    """The module `torch`, if somebody has imported it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None  # it may be in the middle of its import


def is_tensor(value: object) -> bool:
    torch = loaded()
    return torch is not None and isinstance(value, torch.Tensor)


def to_array(tensor: Tensor) -> Array:
    """The memory of a tensor on the CPU as a NumPy array.

    A negated view is not what its memory holds: it becomes a read-only copy, so that a kernel can
    read it but not write to it.
    """
    if is_fake(tensor):
        raise BadArgument(
            f"{_describe(tensor)} has no memory: launch kernels on such tensors inside of an op, "
            "see `eas.torch.custom_op`"
        )
    if is_wrapped(tensor):
        raise BadArgument(
            f"{_describe(tensor)} stands for others inside of `torch.vmap` or another transform: "
            "make the launch an op with `eas.torch.custom_op`"
        )
    if tensor.device.type != "cpu":
        raise BadArgument(
            f"{_describe(tensor)} is not in the memory of the CPU: copy it there, `x.cpu()`"
        )
    is_view_of_another = tensor.is_neg() or tensor.is_conj()
    array = _view(tensor.resolve_conj().resolve_neg() if is_view_of_another else tensor)
    if is_view_of_another:
        array.flags.writeable = False
    return array


def _view(tensor: Tensor) -> Array:
    torch: Any = loaded()
    plain = tensor.detach()
    try:
        if plain.dtype == torch.bfloat16:  # NumPy has no such dtype of its own
            return plain.view(torch.int16).numpy().view(BF16.numpy)
        return plain.numpy()
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadArgument(f"{_describe(tensor)} cannot be read: {reason}") from error


def to_export(tensor: Tensor, copy: bool | None) -> Tensor:
    """A tensor as DLPack can hand it over: detached, resolved, and with all writes done.

    Raises `BufferError` if that is impossible, or takes a copy that `copy=False` forbids.
    """
    if is_fake(tensor) or is_wrapped(tensor):
        raise BufferError(f"{_describe(tensor)} has no memory of its own")
    if tensor.is_neg() or tensor.is_conj():
        if copy is False:
            raise BufferError("it is a negated or conjugate view: reading it takes a copy")
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.device.type == "mps":
        synchronize_mps()
    return tensor.detach()


def synchronize_mps() -> None:
    """Waits for what torch has sent to the GPU: its queue and ours do not know of each other.

    `EAS_TORCH_MPS_SYNC=0` drops that, for those who have waited already.
    """
    torch: Any = loaded()
    if os.environ.get("EAS_TORCH_MPS_SYNC") != "0":
        torch.mps.synchronize()


def is_on_mps(value: Any) -> bool:
    """Whether it is a tensor in a Metal buffer."""
    return is_tensor(value) and value.device.type == "mps"


def check_written(tensor: Tensor) -> None:
    """Raises `BadArgument` if a kernel must not write to this tensor."""
    torch: Any = loaded()
    if tensor.is_neg() or tensor.is_conj():
        raise BadArgument(
            "the kernel writes to it, but it is a negated or conjugate view: its memory holds "
            "other numbers; write to a tensor of its own, `torch.empty_like(x)`"
        )
    if tensor.requires_grad and tensor.is_leaf and torch.is_grad_enabled():
        raise BadArgument(
            "the kernel writes to it, but it is a leaf that requires gradients, which autograd "
            "cannot follow: write to `x.detach()`, or launch inside of `torch.no_grad()`"
        )
    if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True)):
        raise BadArgument(
            "the kernel writes to it, but several of its elements share one location "
            f"(its strides are {tuple(tensor.stride())}): write to `x.contiguous()`"
        )


def mark_written(tensors: Iterable[Tensor]) -> None:
    """Says to autograd that tensors have changed: it refuses gradients that need the old values."""
    torch: Any = loaded()
    torch.autograd.graph.increment_version(tensors)


def is_fake(value: object) -> bool:
    """Whether a tensor has a shape but no elements: fake, functional or on the meta device."""
    torch = loaded()
    if torch is None or not isinstance(value, torch.Tensor):
        return False
    tensor: Tensor = value
    return type(tensor).__name__ in ("FakeTensor", "FunctionalTensor") or tensor.is_meta


def is_wrapped(tensor: Tensor) -> bool:
    """Whether a transform of `torch.func` is at work, and the tensor is not the one with memory."""
    torch: Any = loaded()
    is_in_transform = torch._C._functorch.is_functorch_wrapped_tensor
    return is_in_transform(tensor) or torch._is_functional_tensor(tensor)


def is_symbolic(value: object) -> bool:
    """Whether it is a number that torch does not know yet: a `SymInt`, for instance."""
    torch = loaded()
    return torch is not None and isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)


def is_fake_launch(arguments: Iterable[object]) -> bool:
    """Whether some argument is fake. Raises `BadArgument` if it is, and this is no op's body."""
    if loaded() is None:
        return False
    fake = next((each for each in arguments if is_fake(each)), None)
    if fake is None:
        return False
    if not _is_in_op.get():
        to_array(fake)
    return True


def type_text(value: Any) -> str:
    """The type of a fake tensor or a symbolic number, as `Kernel.compile` takes it."""
    if is_symbolic(value):
        return _NAMES[type(value).__name__.removeprefix("Sym")]
    axes = ", ".join(":" * value.dim())
    return f"*{_dtype_name(value)}[{axes}]"


@contextmanager
def inside_op() -> Generator[None]:
    """Launches on fake tensors check their arguments and run nothing."""
    token = _is_in_op.set(True)
    try:
        yield
    finally:
        _is_in_op.reset(token)


def _dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _describe(tensor: Tensor) -> str:
    return f"a `{type(tensor).__name__}` of {_dtype_name(tensor)} on `{tensor.device}`"
