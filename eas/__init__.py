"""easy_as: GPU kernels for Apple silicon in plain Python."""

from eas import language as mk
from eas.compiler import CompiledKernel, compile_function
from eas.config import BackendError, checked, use_backend
from eas.frontend_ast.source.errors import CompileError
from eas.functions import launch_function
from eas.intrinsic import OutsideKernelError
from eas.kernel import Kernel, function, kernel
from eas.runtime.errors import KernelError
from eas.runtime.refusals import LaunchError
from eas.signature import constexpr

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "CompileError",
    "CompiledKernel",
    "Kernel",
    "KernelError",
    "LaunchError",
    "OutsideKernelError",
    "__version__",
    "checked",
    "compile_function",
    "constexpr",
    "function",
    "kernel",
    "launch_function",
    "mk",
    "use_backend",
]
