"""Whether anything is in flight. Every launch asks this, so it is one look at a set."""

from __future__ import annotations

ACTIVE: set[object] = set()
"""Tasks in flight, failed ones whose error was not raised yet, and graphs being recorded."""
