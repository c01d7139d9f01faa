"""The Mac that is simulated: its system, its GPU, its faults, and a record of what happened."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eas.msl.host import Host

# What `MTLGPUFamilyApple7`, `...Mac2` and `...Metal3` are; a test compares them with pyobjc.
M1_FAMILIES = frozenset({1007, 2002, 5001})


@dataclass
class Faults:
    """What goes wrong, and stays so until it is reset."""

    has_no_device: bool = False
    has_no_default_device: bool = False
    has_no_queue: bool = False
    takes_no_commands: bool = False
    has_no_encoder: bool = False
    is_out_of_memory: bool = False
    hangs: bool = False
    loses_function: bool = False
    library_error: str = ""
    pipeline_error: str = ""
    command_error: tuple[str, int, str] | None = None
    says_no_error: bool = False


class Pools(threading.local):
    """How many autorelease pools this thread is in."""

    depth: int = 0


@dataclass
class Machine:
    """A Mac. `host` runs its kernels; pyobjc `knows_ownership` from version 13 on.

    Metal itself holds `own_references` to each object that it makes. What hangs, hangs until `end`.
    One that is not `is_strict` takes any text that clang compiles for Metal. Its GPU runs commands
    in the order of their commits, unless `choose` says which of so many that are ready runs next:
    it is asked wherever Metal promises no order. `troubles` are what cannot be raised where it
    happens: leaks, and what would end the process from afar.
    """

    host: Host
    system: tuple[int, int, int] = (15, 1, 0)
    families: frozenset[int] = M1_FAMILIES
    most_threads: int = 1024
    simdgroup_threads: int = 32
    most_buffer_bytes: int = 1 << 33
    knows_ownership: bool = False
    own_references: int = 0
    is_strict: bool = True
    choose: Callable[[int], int] | None = None
    faults: Faults = field(default_factory=Faults)

    end: threading.Event = field(default_factory=threading.Event)
    pools: Pools = field(default_factory=Pools)
    troubles: list[str] = field(default_factory=list[str])
    alive: Counter[str] = field(default_factory=Counter[str])
    libraries: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    labels: list[str] = field(default_factory=list[str])
    pointers: weakref.WeakValueDictionary[int, Any] = field(
        default_factory=weakref.WeakValueDictionary[int, Any]
    )
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def note_birth(self, kind: str) -> None:
        """An object was made, by any thread."""
        with self._lock:
            self.alive[kind] += 1

    def note_autorelease(self, kind: str) -> None:
        """An object is left to the innermost pool of this thread; without one, to nobody."""
        if self.pools.depth == 0:
            self.troubles.append(f"{kind} outside of a pool")

    def note_death(self, kind: str, references: list[int]) -> None:
        """Python has let go of an object: if that was not the last reference, it is leaked."""
        with self._lock:
            self.alive[kind] -= 1
        if references[0] > 1 + self.own_references:
            self.troubles.append(f"{kind} is leaked")
