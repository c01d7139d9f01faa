"""From kernels to the files of an export."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eas.compiler import CompiledKernel
from eas.export.cpp_sample import write_cpp
from eas.export.files import ExportError, WrittenFile, digest, write_files
from eas.export.manifest import SCHEMA, manifest_of, schema, to_text
from eas.export.python_sample import write_python
from eas.export.swift_sample import write_swift
from eas.support.records import frozen

SAMPLES = {"py": write_python, "swift": write_swift, "cpp": write_cpp}


@frozen(eq=False)
class Exported:
    """A kernel for certain types, and what its compiled form does not say of them."""

    compiled: CompiledKernel
    parameters: Sequence[str]
    constants: Mapping[str, Any]
    ranks: Mapping[str, int | None]


def export_compiled(
    folder: str | os.PathLike[str], kernels: Sequence[Exported], *, force: bool = False
) -> list[WrittenFile]:
    """Writes the text, the manifest and the samples of each kernel into a folder."""
    texts: dict[str, str] = {}
    manifests: list[str] = []
    stems = _stems(kernels)
    for stem, kernel in zip(stems, kernels, strict=True):
        _check_arguments(kernel)
        texts |= _texts_of(stem, kernel)
        manifests.append(f"{stem}.json")
    texts[SCHEMA] = schema()
    return write_files(Path(folder), texts, manifests, force=force)


def _stems(kernels: Sequence[Exported]) -> list[str]:
    """The names of the files: those of the kernels, with a number if there are several of one."""
    if not kernels:
        raise ExportError("there is no kernel to export")
    names = [_stem(each.compiled) for each in kernels]
    owners: dict[str, Any] = {}
    for name, each in zip(names, kernels, strict=True):
        if owners.setdefault(name, each.compiled.kernel) is not each.compiled.kernel:
            raise ExportError(f"two kernels are called `{name}`: export them to different folders")
    counts = {name: names.count(name) for name in names}
    seen: dict[str, int] = {}
    stems: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        stems.append(f"{name}_{seen[name]}" if counts[name] > 1 else name)
    if len(set(stems)) < len(stems):
        raise ExportError(f"several kernels would have the same files: {', '.join(stems)}")
    return stems


def _stem(compiled: CompiledKernel) -> str:
    """The kernel's name in Python, or that in the Metal text, which is ASCII."""
    return compiled.name if compiled.name.isascii() else compiled.metal.name


def _check_arguments(kernel: Exported) -> None:
    """An array that is passed for two parameters is one parameter of the text."""
    params = {p.name for p in kernel.compiled.function.params}
    lost = [n for n in kernel.parameters if n not in params and n not in kernel.constants]
    if lost:
        raise ExportError(
            f"kernel `{kernel.compiled.name}`: `{lost[0]}` is the same array as another argument; "
            'export it with types: "*f32"'
        )


def _texts_of(stem: str, kernel: Exported) -> dict[str, str]:
    text = f"{stem}.metal"
    manifest = manifest_of(kernel.compiled, kernel.constants, kernel.ranks, text)
    texts = {text: kernel.compiled.msl}
    for suffix, write in SAMPLES.items():
        texts[f"{stem}_host.{suffix}"] = write(stem, manifest)
    manifest["files"] = {name: digest(each) for name, each in (texts | {SCHEMA: schema()}).items()}
    return {text: texts.pop(text), f"{stem}.json": to_text(manifest), **texts}
