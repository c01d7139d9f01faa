"""Kernels for programs without Python: `eas export kernels.py::add --signature ... -o out`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from eas.cli.show import find_kernel, kernels_of, read_value
from eas.export import Exported, ExportError, export_compiled
from eas.kernel import Kernel
from eas.runtime.refusals import LaunchError
from eas.support.command_line import UsageError, print_text
from eas.support.records import frozen


@frozen(eq=False)
class Request:
    """What the command line says."""

    kernels: Sequence[str]
    signature: str | None
    constants: Sequence[str]
    folder: str
    threads: int | None = None
    checked: bool = False
    force: bool = False


def export(request: Request) -> int:
    """Writes the files of the kernels, and prints a line for each."""
    try:
        found = [each for kernel in _kernels(request) for each in _forms(kernel, request)]
        written = export_compiled(request.folder, found, force=request.force)
    except (ExportError, LaunchError) as error:
        raise UsageError(str(error)) from error
    lines = [f"{each.path}: {'written' if each.is_new else 'the same'}" for each in written]
    return print_text("\n".join(lines))


def _kernels(request: Request) -> list[Kernel]:
    """The kernels by their names, each once; a file is run once."""
    files: dict[str, dict[str, Kernel]] = {}
    found: list[Kernel] = []
    for name in request.kernels:
        path, _, kernel = name.partition("::")
        file = os.path.realpath(path)
        if file not in files:
            files[file] = kernels_of(path)
        if kernel or request.signature is not None or request.constants:
            found.append(find_kernel(path, kernel, files[file]))
        else:
            found += _with_examples(path, files[file])
    return list(dict.fromkeys(found))


def _with_examples(path: str, kernels: dict[str, Kernel]) -> list[Kernel]:
    chosen = [each for each in kernels.values() if each.examples]
    if not chosen:
        raise UsageError(
            f"{path} has no kernel with `examples`; name one and give its types: "
            f"eas export {path}::{next(iter(kernels))} --signature '*f32,i32'"
        )
    return chosen


def _forms(kernel: Kernel, request: Request) -> list[Exported]:
    if len(request.kernels) > 1 and (request.signature is not None or request.constants):
        raise UsageError("--signature and --constexpr are for one kernel, and several are given")
    types, named = _types(kernel, request.signature or "")
    for each in request.constants:
        name, sign, text = each.partition("=")
        if not sign:
            raise UsageError(f"--constexpr takes NAME=VALUE, not {each}")
        if name in named:
            raise UsageError(f"`{name}` is given twice")
        if not any(p.is_constexpr for p in kernel.parameters.all if p.name == name):
            raise UsageError(_no_constexpr(kernel, name))
        named[name] = read_value(kernel, name, text)
    if not types and request.signature is None and not kernel.examples and _needs_types(kernel):
        raise UsageError(
            f"kernel `{kernel.name}` has no `examples`: give its types with "
            f"--signature '{','.join(_guesses(kernel))}'"
        )
    options: dict[str, Any] = {"_tptg": request.threads, "_checked": request.checked}
    return kernel.exported(*types, **options, **named)


def _needs_types(kernel: Kernel) -> bool:
    return any(not p.is_constexpr for p in kernel.parameters.all)


def _guesses(kernel: Kernel) -> list[str]:
    """What a signature may look like: a type for each runtime parameter."""
    plain = [p for p in kernel.parameters.all if not p.is_constexpr]
    return [p.array or (p.dtype.name if p.dtype else "*f32") for p in plain]


def _no_constexpr(kernel: Kernel, name: str) -> str:
    known = [p.name for p in kernel.parameters.all if p.is_constexpr]
    if name in (p.name for p in kernel.parameters.all):
        return f"`{name}` of kernel `{kernel.name}` is no constexpr: its type is in --signature"
    has = f"it has {', '.join(known)}" if known else "it has none"
    return f"kernel `{kernel.name}` has no constexpr `{name}`; {has}"


def _types(kernel: Kernel, text: str) -> tuple[list[Any], dict[str, Any]]:
    """The types of a signature, by position and by name; a comma in brackets divides nothing."""
    types: list[Any] = []
    named: dict[str, Any] = {}
    for part in _parts(text):
        name, sign, value = part.partition("=")
        if sign:
            named[name.strip()] = read_value(kernel, name.strip(), value.strip())
        else:
            types.append(None if part == "None" else part)
    return types, named


def _parts(text: str) -> list[str]:
    """
    >>> _parts("*f32[:, :], i32,N=i64")
    ['*f32[:, :]', 'i32', 'N=i64']
    """
    parts, depth, start = list[str](), 0, 0
    for place, letter in enumerate(text):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    if parts == [""]:
        return []
    if "" in parts:
        raise UsageError(f"a type is missing in the signature '{text}'")
    return parts
