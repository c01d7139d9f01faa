"""Source to ast to typed IR: Python's meaning is kept, or the code is refused with its place."""

from eas.frontend_ast.source.errors import CompileError
from eas.frontend_ast.source.parameters import (
    Argument,
    ArrayArg,
    Capture,
    ConstArg,
    Lowered,
    ScalarArg,
)

__all__ = [
    "Argument",
    "ArrayArg",
    "Capture",
    "CompileError",
    "ConstArg",
    "Lowered",
    "ScalarArg",
]
