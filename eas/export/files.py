"""The files of an export: what is not ours, or was changed, is not overwritten."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from eas.export.manifest import GENERATOR
from eas.support.records import frozen
from eas.support.whole_files import write_whole


class ExportError(Exception):
    """A kernel cannot be exported; the message says why, and nothing was written."""

    __module__ = "eas"  # where a user imports it from; tracebacks show it


@frozen
class WrittenFile:
    """A file of an export; `is_new` says that its content has changed."""

    path: Path
    is_new: bool


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_files(
    folder: Path, texts: Mapping[str, str], manifests: Sequence[str], *, force: bool
) -> list[WrittenFile]:
    """Writes files into a folder, all or none of them.

    Files that are there are replaced if a manifest of ours among them lists their content.
    """
    _require_folder(folder)
    before = {name: _read(folder / name) for name in texts}
    changed = [name for name, text in texts.items() if before[name] != text.encode()]
    if not force:
        known = _known_digests(before[name] for name in manifests)
        foreign = [name for name in changed if not _is_ours(name, before[name], known, manifests)]
        if foreign:
            raise ExportError(
                f"{folder} has files that were not exported, or were changed since: "
                f"{', '.join(foreign)}; nothing was written (`--force`, or `force=True`, "
                "overwrites them)"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in changed:
            write_whole(folder / name, texts[name].encode())
    except OSError as error:
        raise ExportError(f"{folder} cannot be written to: {error.strerror}") from error
    return [WrittenFile(folder / name, name in changed) for name in texts]


def _require_folder(folder: Path) -> None:
    around = folder
    while not around.exists() and around != around.parent:
        around = around.parent
    if not around.is_dir():
        raise ExportError(f"{around} is not a folder")
    if not os.access(around, os.W_OK):
        raise ExportError(f"{folder} cannot be written to: no permission for {around}")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ExportError(f"{path} is there and cannot be read: {error.strerror}") from error


def _known_digests(contents: Any) -> set[str]:
    """The digests that manifests of ours list."""
    found: set[str] = set()
    for content in contents:
        manifest = _parsed(content)
        if manifest is not None:
            found.update(map(str, manifest["files"].values()))
    return found


def _is_ours(name: str, content: bytes | None, known: set[str], manifests: Sequence[str]) -> bool:
    if content is None:
        return True
    if name in manifests:
        return _parsed(content) is not None
    return hashlib.sha256(content).hexdigest() in known


def _parsed(content: bytes | None) -> dict[str, Any] | None:
    """A manifest of ours."""
    try:
        manifest: Any = json.loads(content or b"")
    except ValueError:
        return None
    if not isinstance(manifest, dict):
        return None
    found = cast(dict[str, Any], manifest)
    is_ours = found.get("generator") == GENERATOR and isinstance(found.get("files"), dict)
    return found if is_ours else None
