"""Which config was chosen for what: in a file that can be committed and shipped.

An entry is used if it was measured on this kind of device, by this version, for this text of the
kernel, of its helpers and of its configs. Another one is measured anew and replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eas.config import Backend
from eas.support.cache import default_folder, digest
from eas.support.package_version import package_version
from eas.support.records import frozen
from eas.tuning.merged_json import Entries, add_entries, read_entries

Row = tuple[str, str, float]


@frozen
class Slot:
    """A place for a choice: what is launched, the device, and a digest of the kernel's text."""

    title: str
    device: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.title} on {digest(self.device)[:12]}"


@frozen
class Choice:
    """The number of a config, how it reads, its seconds, and what was measured."""

    number: int
    config: str
    seconds: float
    trials: Sequence[Row] = ()


class Choices:
    """The choices of a file. It is read again when it has changed."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._stamp: tuple[int, int] | None = None
        self._entries: Entries = {}

    def find(self, slot: Slot, configs: Sequence[str], ir_of: Callable[[int], str]) -> int | None:
        """The number of the config in a slot, if the kernel that was measured is still the same.

        `configs` is how each of them reads.
        """
        path = tuning_file()
        if path is None:
            return None
        entry = self._read(path).get(slot.name)
        if entry is None:
            return None
        number = entry.get("number")
        is_current = (entry.get("text"), entry.get("version")) == (slot.text, package_version())
        if not is_current or type(number) is not int or not 0 <= number < len(configs):
            return None
        is_same = entry.get("config") == configs[number] and entry.get("ir") == digest(
            ir_of(number)
        )
        return number if is_same else None

    def store(self, slot: Slot, choice: Choice, ir: str) -> None:
        path = tuning_file()
        if path is None:
            return
        entry: dict[str, Any] = {
            "number": choice.number,
            "config": choice.config,
            "seconds": _short(choice.seconds),
            "device": slot.device,
            "version": package_version(),
            "text": slot.text,
            "ir": digest(ir),
            "trials": [[config, status, _short(s)] for config, status, s in choice.trials],
        }
        add_entries(path, {slot.name: entry})

    def _read(self, path: Path) -> Entries:
        try:
            found = os.stat(path)
            stamp = (found.st_mtime_ns, found.st_ino)
        except OSError:
            stamp = None
        if path != self._path or stamp != self._stamp or stamp is None:
            self._path, self._stamp, self._entries = path, stamp, read_entries(path)
        return self._entries


def tuning_file() -> Path | None:
    """`EAS_TUNING_FILE`, else `tuning.json` in the cache folder, if there is one."""
    chosen = os.environ.get("EAS_TUNING_FILE")
    if chosen:
        return Path(chosen).absolute()
    folder = default_folder()
    return folder / "tuning.json" if folder else None


def text_digest(source: str, configs: Sequence[str], fast_math: bool) -> str:
    """A digest of a kernel's text and of what there was to choose from."""
    return digest(source, "\n".join(configs), str(fast_math))


def device_name(backend: Backend) -> str:
    """What times depend on besides the kernel: the processor and its cores, or the GPU."""
    if backend == "metal":
        from eas.runtime.metal.device import default_device

        return f"metal {default_device().name}"
    if backend != "cpu":
        return backend
    from eas.runtime.cpu.machine import machine_name
    from eas.runtime.cpu.support import thread_count

    return f"cpu {machine_name()} threads {thread_count()}"


def _short(seconds: float) -> float | None:
    return float(f"{seconds:.4g}") if seconds < float("inf") else None
