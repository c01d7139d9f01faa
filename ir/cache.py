"""Compiled kernels on disk, by what they were made of.

A file's name is its key, a digest of all that went into it. At its end stands a seal, a digest of
the key and the content: what was cut off, changed or put under another key's name is thrown away
and made again. Files appear under their name at once, complete.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from eas.ir.records import frozen

MAX_FILES = 2000
KEPT_FILES = 1500
_SEAL_SIZE = 32  # bytes

# Makes a file at a path.
Make = Callable[[Path], None]


def default_folder() -> Path:
    """`EAS_CACHE_DIR`, else the user's folder for caches."""
    chosen = os.environ.get("EAS_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()  # wherever the process goes from here
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "easy_as"


@frozen
class Cache:
    """A folder that only its user can write to, or none: then every file is made anew."""

    folder: Path | None
    suffix: str = ".so"

    def find(self, key: str) -> Path | None:
        """The file of a key, if it is there and whole; a library can be loaded, seal and all."""
        return None if self.read(key) is None else self._path(key)

    def read(self, key: str) -> bytes | None:
        """The content of a key's file, if it is there and whole."""
        path = self._path(key)
        if path is None:
            return None
        try:
            sealed = path.read_bytes()
            content = sealed[:-_SEAL_SIZE]
            if sealed[-_SEAL_SIZE:] == _seal(key, content):
                return content
            path.unlink(missing_ok=True)
        except OSError:
            return None
        return None

    def keep(self, key: str, made: Path) -> Path | None:
        """Puts a file into the cache; gives its place there, or None if that is not possible."""
        try:
            return self.keep_bytes(key, made.read_bytes())
        except OSError:
            return None

    def keep_bytes(self, key: str, content: bytes) -> Path | None:
        """Puts a file with this content into the cache, as `keep` does."""
        target = self._path(key)
        if target is None:
            return None
        temporary = target.with_name(f"{key}.{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(content + _seal(key, content))
            os.replace(temporary, target)
        except OSError:
            _remove(temporary)
            return None
        self._make_room()
        return target

    def _path(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{key}{self.suffix}"

    def _make_room(self) -> None:
        """Removes what was not made for longest once there is too much."""
        assert self.folder is not None
        files = list(self.folder.iterdir())
        if len(files) <= MAX_FILES:
            return
        for path in sorted(files, key=_age)[: len(files) - KEPT_FILES]:
            _remove(path)


def open_cache(folder: Path | None = None, suffix: str = ".so") -> Cache:
    """The cache in a folder; without one, if the folder cannot be made or is not ours alone."""
    try:
        folder = folder or default_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):  # no home, or one that cannot be written
        return Cache(None, suffix)
    is_ours = found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return Cache(folder if is_ours else None, suffix)


def _seal(key: str, content: bytes) -> bytes:
    return bytes.fromhex(digest(key, content))


def digest(*parts: bytes | str) -> str:
    """One digest of several parts; where they are divided matters."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _remove(path: str | Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
