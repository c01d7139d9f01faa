"""The kind of processor, as Linux describes it."""

from __future__ import annotations

import sys

# The lines of /proc/cpuinfo that identify the kind of processor.
_IDENTIFYING = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip


def describe_processor() -> str:
    """The first processor of /proc/cpuinfo with its features; empty where there is no such file."""
    if sys.platform != "linux":
        return ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 14).partition("\n\n")[0]
    except OSError:
        return ""
    pairs = [line.partition(":") for line in first.splitlines()]
    lines = [
        f"{key.strip()}={value.strip()}" for key, _, value in pairs if key.strip() in _IDENTIFYING
    ]
    has_features = any(line.startswith(("flags=", "Features=")) for line in lines)
    return " ".join(lines) if has_features else ""
