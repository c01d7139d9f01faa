"""The memory of all devices: where new tensors get theirs, and what is asked and set about it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from eas.runtime.tensors.cpu_memory import CpuSource
from eas.runtime.tensors.devices import Device, to_device
from eas.runtime.tensors.pool import Pool, Stats
from eas.runtime.tensors.storage import Storage
from eas.runtime.this_process import in_forked_child

if TYPE_CHECKING:
    from eas.runtime.tensors.metal_memory import Mode

__all__ = ["Stats", "allocate", "empty_cache", "limit", "stats"]


def allocate(nbytes: int, device: Device, storage: Mode | None = None) -> Storage:
    """New memory; its content is undefined. `storage` is for Metal: `"shared"`, or `"private"`."""
    if device == "metal":
        from eas.runtime.tensors import metal_memory  # only its users pay for it

        return metal_memory.allocate(nbytes, storage or "shared")
    if storage not in (None, "shared"):
        raise ValueError(f"the memory of the CPU is shared; `storage={storage!r}` is for metal")
    lease = _cpu_pool().take(nbytes, "shared")
    return Storage(lease.address, nbytes, lease)


@cache
def _cpu_pool() -> Pool:
    pool = Pool("cpu", {"shared": CpuSource()})
    in_forked_child(pool.reset_lock)
    return pool


def _pool(device: str) -> Pool:
    if to_device(device) == "cpu":
        return _cpu_pool()
    from eas.runtime.tensors import metal_memory

    return metal_memory.pool()


def stats(device: str = "cpu") -> Stats:
    """What the tensors of a device use.

    >>> before = eas.memory.stats().in_use
    >>> t = eas.zeros(1000)
    >>> eas.memory.stats().in_use - before
    4096
    """
    return _pool(device).stats()


def empty_cache(device: str = "cpu") -> None:
    """Gives the memory that no tensor uses any more back to the system."""
    _pool(device).empty_cache()


def limit(nbytes: int | None, device: str = "cpu") -> None:
    """Sets how many bytes the tensors of a device may take; None is no limit.

    What does not fit raises `eas.OutOfMemoryError`, which is a `MemoryError`.
    """
    if nbytes is not None and (type(nbytes) is not int or nbytes < 0):
        raise ValueError(f"a limit is a number of bytes or None, not {nbytes!r}")
    _pool(device).limit = nbytes
