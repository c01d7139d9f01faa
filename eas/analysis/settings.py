"""The table `[tool.eas.check]` of a `pyproject.toml`.

```toml
[tool.eas.check]
paths = ["kernels"]          # what `eas check` without files checks
exclude = ["kernels/old/*"]  # patterns of files, below the folder of this file
pythonpath = ["src"]         # folders that the files import from
optional = ["torch"]         # modules that may be missing: their files are checked in part
target = "metal"             # or "cpu": for what the kernels are compiled
timeout = 60                 # seconds for the import of a file, and for its kernels

[tool.eas.check.examples]    # as in `@eas.kernel(examples=...)`; a table has arguments by name
"kernels/add.py::add" = [["*f32", "*f32", "*f32", "i32", { BLOCK = 256 }]]
```
"""

from __future__ import annotations

import fnmatch
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, cast

from eas.support.command_line import UsageError
from eas.support.records import field, frozen

FILE = "pyproject.toml"
CHECK_TARGETS = ("metal", "cpu")
TIMEOUT = 60.0


@frozen(eq=False)
class Settings:
    """What a project says about its checks. `root` is the folder of its file, or empty."""

    root: str = ""
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    target: str = "metal"
    timeout: float = TIMEOUT
    examples: Mapping[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])

    @property
    def import_folders(self) -> list[str]:
        """The folders that the project's files import from, besides their own."""
        return [os.path.join(self.root, each) for each in self.pythonpath]

    def is_excluded(self, path: str) -> bool:
        """Whether a file, or a folder above it, matches a pattern of the project."""
        parts = self._below(path).split("/")
        heads = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return any(fnmatch.fnmatch(head, each) for head in heads for each in self.exclude)

    def examples_of(self, path: str, kernel: str) -> list[Any]:
        """The examples that the project has for a kernel of a file."""
        return self.examples.get(f"{self._below(path)}::{kernel}", [])

    def _below(self, path: str) -> str:
        return os.path.relpath(path, self.root or None).replace(os.sep, "/")


def find_settings(path: str) -> Settings:
    """The settings of the project that a file or folder is in."""
    folder = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
    while True:
        file = os.path.join(folder, FILE)
        if os.path.isfile(file):
            return read_settings(file)
        above = os.path.dirname(folder)
        if above == folder:
            return Settings()
        folder = above


def read_settings(file: str) -> Settings:
    """The settings in a file; a `UsageError` says what is wrong with them."""
    try:
        with open(file, "rb") as stream:
            project = tomllib.load(stream)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {error}") from error
    table: Any = project
    for name in ("tool", "eas", "check"):
        table = cast(dict[str, Any], table).get(name, {})
        if not isinstance(table, dict):
            raise UsageError(f"{file}: `{name}` of [tool.eas.check] is a table")
    return _settings(
        os.path.dirname(file), cast(dict[str, Any], table), f"{file}: [tool.eas.check]"
    )


_LISTS = ("paths", "exclude", "pythonpath", "optional")
_KEYS = (*_LISTS, "target", "timeout", "examples")


def _settings(root: str, table: dict[str, Any], where: str) -> Settings:
    for key in table:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(_KEYS)}"
            raise UsageError(f"{where} has no `{key}`; {hint}")
    target = table.get("target", CHECK_TARGETS[0])
    if target not in CHECK_TARGETS:
        raise UsageError(f"{where}: `target` is {' or '.join(CHECK_TARGETS)}, not {target!r}")
    timeout = table.get("timeout", TIMEOUT)
    if type(timeout) not in (int, float) or timeout <= 0:
        raise UsageError(f"{where}: `timeout` is a number of seconds, not {timeout!r}")
    lists = {key: _strings(table.get(key, []), f"{where}: `{key}`") for key in _LISTS}
    examples = _examples(table.get("examples", {}), f"{where}: `examples`")
    return Settings(root, **lists, target=target, timeout=float(timeout), examples=examples)


def _strings(value: Any, what: str) -> tuple[str, ...]:
    items: list[Any] = cast(list[Any], value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) for each in items):
        raise UsageError(f"{what} is a list of strings")
    return tuple(items)


def _examples(table: Any, what: str) -> dict[str, list[Any]]:
    if not isinstance(table, dict):
        raise UsageError(f"{what} is a table of lists, by `FILE::KERNEL`")
    found: dict[str, list[Any]] = {}
    for name, given in cast(dict[str, Any], table).items():
        if "::" not in name:
            raise UsageError(f"{what}: `{name}` names no kernel; write `FILE::KERNEL`")
        items: list[Any] = cast(list[Any], given) if isinstance(given, list) else [None]
        if not all(isinstance(each, list) for each in items):
            raise UsageError(f'{what}: `{name}` is a list of lists: [["*f32", {{ BLOCK = 256 }}]]')
        found[name] = [_constants(each) for each in items]
    return found


def _constants(example: list[Any]) -> list[Any]:
    """TOML has no tuples: a list that is given by name is one."""
    return [
        {name: _constant(value) for name, value in cast(dict[str, Any], each).items()}
        if isinstance(each, dict)
        else each
        for each in example
    ]


def _constant(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_constant, cast(list[Any], value)))
    return value
