"""Forgets the GPU that was found, before and after a simulated one."""

from __future__ import annotations

from eas.config import resolve_backend
from eas.device_streams import forget_default_streams
from eas.runtime.metal import device


def forget_device() -> None:
    """Has the next launch look for a GPU, and open it anew."""
    forget_default_streams()
    device.opened.cache_clear()
    resolve_backend.cache_clear()
