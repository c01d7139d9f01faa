"""`eas.memory`: how much memory tensors use, and how much they may."""

from eas.runtime.tensors.memory import Stats, empty_cache, limit, stats

__all__ = ["Stats", "empty_cache", "limit", "stats"]
