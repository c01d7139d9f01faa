"""easy_as: GPU kernels for Apple silicon in plain Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eas import language as mk
from eas.compiler import CompiledKernel, compile_function
from eas.config import BackendError, checked, use_backend
from eas.frontend_ast.source.errors import CompileError
from eas.intrinsic import OutsideKernelError
from eas.ir_functions import FunctionLauncher, launch_function
from eas.kernel import Kernel, function, kernel
from eas.runtime.errors import KernelError
from eas.runtime.refusals import LaunchError
from eas.signature import constexpr

if TYPE_CHECKING:
    from eas import memory, torch
    from eas.asynchronous import Event, Stream, stream, synchronize
    from eas.autotuning import Autotuned, Config, autotune
    from eas.export import ExportError
    from eas.graphs import Graph, GraphError, graph
    from eas.runtime.tensors.errors import OutOfMemoryError
    from eas.runtime.tensors.making import (
        arange,
        empty,
        empty_like,
        from_dlpack,
        full,
        ones,
        tensor,
        to_dlpack,
        zeros,
        zeros_like,
    )
    from eas.runtime.tensors.tensor import Tensor
    from eas.torch import from_torch

__version__ = "0.1.0"

_MAKING = "eas.runtime.tensors.making"
_MAKERS = (
    *("arange", "empty", "empty_like", "from_dlpack", "full", "ones", "tensor", "to_dlpack"),
    *("zeros", "zeros_like"),
)

# The modules of names that are imported when they are used first: `import eas` stays short.
_LAZY = {
    **dict.fromkeys(_MAKERS, _MAKING),
    **dict.fromkeys(("Event", "Stream", "stream", "synchronize"), "eas.asynchronous"),
    **dict.fromkeys(("Autotuned", "Config", "autotune"), "eas.autotuning"),
    **dict.fromkeys(("Graph", "GraphError", "graph"), "eas.graphs"),
    "ExportError": "eas.export",
    "OutOfMemoryError": "eas.runtime.tensors.errors",
    "Tensor": "eas.runtime.tensors.tensor",
    "memory": "eas.memory",
    "from_torch": "eas.torch",
    "torch": "eas.torch",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'eas' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    found = globals()[name] = module if name in ("memory", "torch") else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Autotuned",
    "BackendError",
    "CompileError",
    "CompiledKernel",
    "Config",
    "Event",
    "ExportError",
    "FunctionLauncher",
    "Graph",
    "GraphError",
    "Kernel",
    "KernelError",
    "LaunchError",
    "OutOfMemoryError",
    "OutsideKernelError",
    "Stream",
    "Tensor",
    "__version__",
    "arange",
    "autotune",
    "checked",
    "compile_function",
    "constexpr",
    "empty",
    "empty_like",
    "from_dlpack",
    "from_torch",
    "full",
    "function",
    "graph",
    "kernel",
    "launch_function",
    "memory",
    "mk",
    "ones",
    "stream",
    "synchronize",
    "tensor",
    "to_dlpack",
    "torch",
    "use_backend",
    "zeros",
    "zeros_like",
]
