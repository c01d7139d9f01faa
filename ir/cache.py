"""Compiled kernels on disk, by what they were made of.

A file's name holds two digests: of all that went into it (its key), and of the key and its content.
One that was cut off, changed or put under another key's name is thrown away and made again. Files
appear under their name at once, complete.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from eas.ir.records import frozen

MAX_FILES = 2000
KEPT_FILES = 1500

# Makes a file at a path.
Make = Callable[[Path], None]


def default_folder() -> Path:
    """`EAS_CACHE_DIR`, else the user's folder for caches."""
    chosen = os.environ.get("EAS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "easy_as"


@frozen
class Cache:
    """A folder that only its user can write to, or none: then every file is made anew."""

    folder: Path | None
    suffix: str = ".so"

    def find(self, key: str) -> Path | None:
        """The file of a key, if it is there and whole."""
        found = self._find(key)
        return None if found is None else found[0]

    def read(self, key: str) -> bytes | None:
        """The content of a key's file, if it is there and whole."""
        found = self._find(key)
        return None if found is None else found[1]

    def _find(self, key: str) -> tuple[Path, bytes] | None:
        if self.folder is None:
            return None
        try:
            for name in os.listdir(self.folder):
                if name.startswith(f"{key}-") and name.endswith(self.suffix):
                    path = self.folder / name
                    content = path.read_bytes()
                    if name == self._name(key, content):
                        return path, content
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
        import tempfile  # which takes longer to import than a kept file to read

        if self.folder is None:
            return None
        temporary = ""
        try:
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            target = self.folder / self._name(key, content)
            os.replace(temporary, target)
        except OSError:
            _remove(temporary)
            return None
        self._make_room()
        return target

    def _name(self, key: str, content: bytes) -> str:
        return f"{key}-{digest(key, content)[:32]}{self.suffix}"

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
