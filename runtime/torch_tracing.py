"""Keeps `torch.compile` from tracing launches, without importing torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, cast

_TRACER = "torch._dynamo"
_REASON = "a launch is opaque to torch.compile: make it an op with eas.torch.custom_op"


def make_opaque(function: Callable[..., object]) -> None:
    """Makes a function opaque to `torch.compile`: it is called, and neither it nor what it calls
    is traced.

    That is what `torch.compiler.disable` does, without importing torch and without a wrapper that
    each call goes through. `torch.compile` imports its tracer when it is used first.
    """
    found = cast(FunctionType, function)
    vars(found).update(_torchdynamo_disable=True, _torchdynamo_disable_msg=_REASON)
    if _TRACER in sys.modules:
        _disable(found)
    else:
        sys.meta_path.insert(0, _BeforeTracer(found))


class _BeforeTracer:
    """Finds no module. When the tracer is about to be imported, it is kept out of a function.

    It has no base class: importing `importlib.abc` for one took longer than all of `eas.runtime`.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname == _TRACER:
            sys.meta_path.remove(self)
            _disable(self._function)


def _disable(function: FunctionType) -> None:
    torch: Any = sys.modules["torch"]
    eval_frame = torch._C._dynamo.eval_frame
    skip = eval_frame._FrameAction.SKIP
    eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
