"""What `@eas.autotune` chooses from, and what a choice depends on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from eas.call_arguments import identity
from eas.kernel import Kernel
from eas.runtime.argument_values import is_eas_tensor
from eas.runtime.refusals import BadArgument
from eas.runtime.torch_arguments import is_tensor, type_text
from eas.support.close_names import closest


class Config:
    """Arguments of a kernel that go together: `eas.Config(BLOCK=256)`.

    `_tptg` may be among them. `Config(meta={"BLOCK": 256})` is the same.
    """

    def __init__(self, meta: Any = None, /, **values: Any) -> None:
        if meta is None and isinstance(values.get("meta"), Mapping):
            meta = values.pop("meta")
        if meta is not None and not isinstance(meta, Mapping):
            raise TypeError(f"a config has named values, as `eas.Config(BLOCK=256)`, not {meta!r}")
        self.values: dict[str, Any] = {**cast(Mapping[str, Any], meta or {}), **values}
        if not self.values:
            raise TypeError("a config needs at least one value, as `eas.Config(BLOCK=256)`")

    def __repr__(self) -> str:
        return f"Config({self})"

    def __str__(self) -> str:
        return ", ".join(f"{name}={in_words(value)}" for name, value in self.values.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> frozenset[tuple[str, object]]:
        return frozenset((name, identity(value)) for name, value in self.values.items())


def check_configs(kernel: Kernel, configs: Any) -> tuple[Config, ...]:
    """The configs, each once; raises `TypeError` for those that the kernel cannot have."""
    if not isinstance(configs, Sequence) or not configs:
        raise TypeError("`configs` is a list of at least one `eas.Config`")
    listed = list(cast(Sequence[Any], configs))
    for config in listed:
        if not isinstance(config, Config):
            raise TypeError(f"`configs` is a list of `eas.Config`, not of {config!r}")
        _check_names(kernel, config)
        _check_values(config)
        if set(config.values) != set(listed[0].values):
            raise TypeError(f"all configs have the same names: {listed[0]!r} and {config!r} differ")
    return tuple(dict.fromkeys(listed))


def _check_names(kernel: Kernel, config: Config) -> None:
    names = [p.name for p in kernel.parameters.all]
    for name in config.values:
        if name not in names and name != "_tptg":
            hint = _hint(name, names)
            raise TypeError(f"kernel `{kernel.name}` has no parameter `{name}`; {hint}")


def _check_values(config: Config) -> None:
    try:
        hash(config)
    except BadArgument as error:
        raise TypeError(f"{config!r}: {error}") from None


def check_key(kernel: Kernel, key: Any, config: Config) -> tuple[str, ...]:
    """The names of a key; raises `TypeError` for one that is no argument of a launch."""
    names = [p.name for p in kernel.parameters.all if p.name not in config.values]
    listed = (key,) if isinstance(key, str) else key
    if not isinstance(listed, Iterable):
        raise TypeError(f'`key` is a list of names, as `["N"]`, not {key!r}')
    listed = tuple(cast(Iterable[Any], listed))
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f'`key` is a list of names, as `["N"]`, not of {name!r}')
    for name in listed:
        if name not in names:
            reason = f"which kernel `{kernel.name}` does not get; {_hint(name, names)}"
            raise TypeError(f"`key` has `{name}`, {reason}")
    return listed


def _hint(name: str, names: Sequence[str]) -> str:
    close = closest(name, names)
    return f"did you mean `{close[0]}`?" if close else f"there are {', '.join(names)}"


def type_key(value: Any) -> object:
    """Equal for arguments for which a kernel is compiled once."""
    if isinstance(value, np.ndarray):
        array = cast(np.ndarray[Any, Any], value)
        return array.dtype, array.ndim
    kind = cast(type[Any], type(value))
    if kind is int or kind is float or kind is bool:
        return kind
    if is_eas_tensor(value) or is_tensor(value):
        return value.dtype, value.ndim, str(value.device)
    return identity(value) if kind is str or value is None else kind


def type_in_words(value: Any) -> str:
    """The type of an argument, as it stands in a file."""
    if is_tensor(value):
        return type_text(value)
    if isinstance(value, np.ndarray) or is_eas_tensor(value):
        dtype = value.dtype  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return f"*{getattr(dtype, 'name', dtype)}[{value.ndim}]"  # pyright: ignore[reportUnknownArgumentType]
    return type(value).__name__


def in_words(value: object) -> str:
    """A constant, as it stands in a file; where it lies in memory does not."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def value_key(value: Any) -> object:
    """The value of an argument in a key; of an array that is its shape."""
    shape = getattr(value, "shape", None)
    if shape is not None and shape != ():
        return tuple(map(int, shape))
    return value.item() if hasattr(value, "item") else value
