"""Kernels of a file, compiled for given types: `eas msl add.py::add '*f32' i32 BLOCK=256`."""

from __future__ import annotations

import ast
import os
import sys
from contextlib import redirect_stdout
from typing import Any

from eas.analysis.loading import ImportFailure, import_file
from eas.analysis.settings import find_settings
from eas.frontend_ast.source.errors import CompileError
from eas.ir.types import DTYPES
from eas.kernel import Kernel
from eas.runtime.refusals import LaunchError
from eas.support.close_names import closest
from eas.support.command_line import UsageError
from eas.targets import UnknownPassError, check_pass, names_of


def show(form: str, kernel_name: str, arguments: list[str], **options: str) -> str:
    """The text of the kernel `FILE::KERNEL` in the given form, for types and `NAME=VALUE`."""
    kernel, types, values = _read(kernel_name, arguments)
    try:
        return getattr(kernel, f"to_{form}")(*types, **values, **options)
    except LaunchError as error:
        raise UsageError(str(error)) from error


def show_after(name: str | None, target: str, kernel_name: str, arguments: list[str]) -> str:
    """The typed IR of a kernel after a pass of a target, or after the last one."""
    name = names_of(target)[-1] if name is None else name
    try:
        check_pass(name, target)
        kernel, types, values = _read(kernel_name, arguments)
        return kernel.ir_after(name, target, *types, **values)
    except (LaunchError, UnknownPassError) as error:
        raise UsageError(str(error)) from error


def _read(kernel_name: str, arguments: list[str]) -> tuple[Kernel, list[str], dict[str, Any]]:
    """The kernel `FILE::KERNEL`, the types of its arguments, and those given by name."""
    path, _, name = kernel_name.partition("::")
    kernel = find_kernel(path, name)
    types = [argument for argument in arguments if "=" not in argument]
    named = [argument.partition("=") for argument in arguments if "=" in argument]
    return kernel, types, {name: read_value(kernel, name, text) for name, _, text in named}


def kernels_of(path: str) -> dict[str, Kernel]:
    """The kernels of a file, which is imported as a module; what it prints is no output of ours."""
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder, not a Python file")
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {path}")
    if not path.endswith(".py"):
        raise UsageError(f"{path} is not a Python file")
    try:
        with redirect_stdout(sys.stderr):
            names = import_file(os.path.abspath(path), find_settings(path).import_folders)
    except ImportFailure as failure:
        raise CompileError(failure.diagnostics) from failure
    kernels = {name: value for name, value in names.items() if isinstance(value, Kernel)}
    if not kernels:
        raise UsageError(f"{path} has no kernels")
    return kernels


def find_kernel(path: str, name: str, kernels: dict[str, Kernel] | None = None) -> Kernel:
    """The kernel of that name; without a name the only one. `kernels` are those of the file."""
    kernels = kernels_of(path) if kernels is None else kernels
    if name in kernels:
        return kernels[name]
    if not name and len(kernels) == 1:
        return next(iter(kernels.values()))
    if not name:
        raise UsageError(f"{path} has several kernels, say which: {', '.join(kernels)}")
    near = closest(name, kernels)
    hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(kernels)}"
    raise UsageError(f"{path} has no kernel `{name}`; {hint}")


def read_value(kernel: Kernel, name: str, text: str) -> object:
    """A type or `None` for a runtime parameter, a literal or a dtype for a constexpr one."""
    is_constexpr = any(p.is_constexpr for p in kernel.parameters.all if p.name == name)
    if not is_constexpr:
        return None if text == "None" else text
    if text in DTYPES:
        return DTYPES[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        message = f"the value of {name} is no Python literal: {text}; quote a string once more"
        raise UsageError(message) from None
