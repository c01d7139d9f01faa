"""Compiled kernels on disk, by what they were made of.

A cache has a folder and file names of its own; nothing else is read, changed or removed. The name
of a file holds its key, a digest of all that went into it. At its end stands a seal, a digest of
the key and the content: a file that was cut off, changed or put under another key's name is not
used, and is rebuilt. Files appear under their name at once, complete.

A cache gives contents, never paths: a file may be replaced after its check, before its path is
opened again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from eas.support.folders import Folder, enter
from eas.support.records import field, frozen, record

# Bytes that the files of a cache may have together. A process measures them when it first stores a
# file, and after each sixteenth of the limit; a quarter of it is freed then.
LIMIT = 256 << 20

FOLDER = "easy_as_kernels"
_OUR_NAMES = re.compile(r"eas-[0-9a-f]{64}\.s?o(\.\d+\.\d+\.tmp)?")
_SEAL_SIZE = 32  # bytes


def default_folder() -> Path | None:
    """`EAS_CACHE_DIR`, else the user's folder for caches, if there is one."""
    chosen = os.environ.get("EAS_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()  # wherever the process goes from here
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # its specification has all others ignored
        return Path(base) / "easy_as"
    home = os.path.expanduser("~")
    is_there = os.path.isabs(home) and os.environ.get("HOME") != ""
    return Path(home) / ".cache" / "easy_as" if is_there else None


@record
class Cache:
    """Files in a folder that only its user can write to, or none: then each is made anew."""

    folder: Path | None
    suffix: str = ".so"
    _unmeasured: int = field(default=LIMIT, compare=False)

    def read(self, key: str) -> bytes | None:
        """The content of a key's file, if it is there and whole."""
        if self.folder is None:
            return None
        try:
            with enter(str(self.folder), FOLDER, is_made=False) as folder:
                sealed = folder.read(self.name(key), LIMIT)
        except OSError:
            return None
        content = sealed[:-_SEAL_SIZE]
        return content if sealed[-_SEAL_SIZE:] == _seal(key, content) else None

    def store(self, key: str, content: bytes) -> None:
        """Puts a file with this content into the cache, if that is possible."""
        if self.folder is None or len(content) > LIMIT // 4:
            return
        try:
            with enter(str(self.folder), FOLDER, is_made=True) as folder:
                folder.write(self.name(key), content + _seal(key, content))
                self._unmeasured += len(content)
                if self._unmeasured > LIMIT // 16:
                    self._unmeasured = 0
                    _make_room(folder)
        except OSError:
            return

    def name(self, key: str) -> str:
        """What the file of a key is called."""
        return f"eas-{key}{self.suffix}"


def open_cache(folder: Path | None = None, suffix: str = ".so") -> Cache:
    """The cache in a folder, or in the default one."""
    try:
        return Cache(folder or default_folder(), suffix)
    except OSError:  # the folder that paths are relative to was removed
        return Cache(None, suffix)


@frozen
class CacheState:
    """What is in a cache: by suffix, how many whole files there are and how many bytes they have.

    `damaged` files are there but not used. `problem` says why the folder is not used, if it is not.
    """

    folder: Path | None
    sizes: dict[str, tuple[int, int]]
    damaged: int = 0
    problem: str = ""


def examine(folder: Path | None = None) -> CacheState:
    """The state of the cache in a folder, or in the default one; every file is checked."""
    chosen = open_cache(folder).folder
    if chosen is None:
        return CacheState(None, {}, problem="there is no home folder: kernels are made anew")
    found: dict[str, tuple[int, int]] = {}
    damaged = 0
    try:
        with enter(str(chosen), FOLDER, is_made=False) as opened:
            for name, file in opened.files():
                if not _OUR_NAMES.fullmatch(name) or name.endswith(".tmp"):
                    continue
                if not _is_whole(opened, name):
                    damaged += 1
                    continue
                suffix = os.path.splitext(name)[1]
                count, size = found.get(suffix, (0, 0))
                found[suffix] = (count + 1, size + file.st_size)
    except FileNotFoundError:
        around = next(each for each in (chosen, *chosen.parents) if each.exists())
        is_writable = around.is_dir() and os.access(around, os.W_OK)
        problem = "" if is_writable else f"it cannot be made in {around}: kernels are made anew"
        return CacheState(chosen, {}, problem=problem)
    except OSError as error:
        return CacheState(chosen, {}, problem=f"{error.strerror or error}: it is not used")
    return CacheState(chosen, found, damaged)


def _is_whole(folder: Folder, name: str) -> bool:
    try:
        sealed = folder.read(name, LIMIT)
    except OSError:
        return False
    key = name.removeprefix("eas-").partition(".")[0]
    return sealed[-_SEAL_SIZE:] == _seal(key, sealed[:-_SEAL_SIZE])


def _make_room(folder: Folder) -> None:
    """Removes the files of ours that were made first, once all of them are too large."""
    files = [(name, found) for name, found in folder.files() if _OUR_NAMES.fullmatch(name)]
    excess = sum(found.st_size for _, found in files)
    if excess <= LIMIT:
        return
    excess -= LIMIT // 4 * 3
    for name, found in sorted(files, key=lambda pair: pair[1].st_mtime_ns):
        if excess <= 0:
            return
        folder.remove(name)
        excess -= found.st_size


def _seal(key: str, content: bytes) -> bytes:
    return bytes.fromhex(digest(key, content))


def digest(*parts: bytes | str) -> str:
    """One digest of several parts; where they are divided matters."""
    import hashlib  # it loads OpenSSL, which `import eas` does not need

    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()
