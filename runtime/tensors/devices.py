"""The devices that tensors live on, and their names."""

from __future__ import annotations

from typing import Literal

Device = Literal["cpu", "metal"]

DEVICES: dict[str, Device] = {"cpu": "cpu", "metal": "metal", "mps": "metal"}


def is_device(name: object) -> bool:
    """Whether a word names a device; `"f32"` names a dtype."""
    return isinstance(name, str) and name in DEVICES


def to_device(name: object) -> Device:
    """The device of a name; `"mps"` is another name for `"metal"`.

    >>> to_device("mps")
    'metal'
    """
    if not isinstance(name, str):
        raise TypeError(f"a device is a name, {_known()}, not a `{type(name).__name__}`")
    if name not in DEVICES:
        raise ValueError(f"there is no device {name!r}; there are {_known()}")
    return DEVICES[name]


def _known() -> str:
    return ", ".join(f'"{name}"' for name in DEVICES)
