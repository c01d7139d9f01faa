"""What a machine needs to run: found, loaded, or named with how to get it."""

from __future__ import annotations

import ctypes
import os
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from eas.septran.targets.library import Library, LibraryError, Need, TargetError


class MissingError(TargetError):
    """Something that a machine needs is not installed: with how to install it."""

    key = "needs"


def missing(library: Library) -> list[Need]:
    """What a machine needs and this computer does not have."""
    return [need for need in library.needs if not _is_there(need)]


def require(library: Library) -> None:
    """Loads the shared libraries that a machine needs, or raises `MissingError`."""
    _require_files(library)
    lacking = missing(library)
    if lacking:
        named = " and ".join(f"the {need.kind} `{need.name}`" for need in lacking)
        ways = "; ".join(dict.fromkeys(f"`{need.install}`" for need in lacking))
        raise MissingError(f"`{library.name}` runs with {named}, not found here: {ways}")
    for need in library.needs:
        if need.loads:
            _load(need)


def _require_files(library: Library) -> None:
    """The files that the machine file names must be beside it."""
    for source in library.sources:
        if not source.is_file():
            raise LibraryError(f"there is no file `{source}`")
    for header in library.headers:
        paths = [folder / header for folder in library.folders]
        if not any(path.is_file() for path in paths):
            raise LibraryError(f"there is no file {' or '.join(f'`{path}`' for path in paths)}")


def _is_there(need: Need) -> bool:
    match need.kind:
        case "package":
            return folder_of(need.name) is not None
        case "command":
            return shutil.which(need.name) is not None
        case "file":
            return os.path.exists(need.name)


def folder_of(package: str) -> Path | None:
    """The folder of a package that is installed; it is not imported."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


@cache
def _load(need: Need) -> ctypes.CDLL:
    """Makes a library's functions visible to what is loaded later."""
    folder = folder_of(need.name)
    found = sorted(folder.glob(need.loads)) if folder is not None else []
    if not found:
        raise MissingError(f"the package `{need.name}` has no {need.loads}: `{need.install}`")
    return ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)
