"""The work of `benchmarks.run` in its alternatives, each written as in its own docs.

A module has a function per work, of the arrays that our kernel gets; `shared`, where it has one,
makes an array of the peer's own over the same memory.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from eas.runtime.cpu.support import thread_count

THREADS = thread_count()  # of ours: each peer gets as many, where that can be set
PEERS = ("numpy", "torch", "numba", "numba_fast", "taichi", "warp", "by_hand")
TRITON = "triton"  # runs in a process of its own
LANGUAGES = ("numba", "numba_fast", "taichi", "warp")  # those in which one writes kernels
SHOWN = {
    "eas": "eas",
    "numpy": "NumPy",
    "torch": "torch",
    "numba": "numba",
    "numba_fast": "numba, fastmath",
    "taichi": "taichi",
    "warp": "warp",
    "by_hand": "by hand",
    TRITON: "Triton's interpreter",
}


def load_peers() -> tuple[dict[str, ModuleType], dict[str, str]]:
    """The peers that are here, and why others are not."""
    found: dict[str, ModuleType] = {}
    missing: dict[str, str] = {}
    for name in PEERS:
        try:
            found[name] = import_module(f"benchmarks.peers.with_{name}")
        except (ImportError, OSError) as error:
            missing[name] = str(error)
    return found, missing
