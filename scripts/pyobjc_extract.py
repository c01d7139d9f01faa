"""Writes `tests/metal/pyobjc.json`: what pyobjc says about the part of Metal that we use.

pyobjc's wheels are for macOS only, but their tables are Python and can be read anywhere:

    pip download pyobjc-framework-Metal --no-deps --only-binary=:all: --python-version 3.12 \
        --platform macosx_11_0_universal2 --platform macosx_10_13_universal2 --dest wheels
    python -m scripts.pyobjc_extract wheels/pyobjc_framework_metal-*.whl
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

REPOSITORY = Path(__file__).parent.parent
EXTRACT = REPOSITORY / "tests" / "metal" / "pyobjc.json"
USERS = ("runtime/metal", "tests/metal/simulated")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    wheel = Path(arguments[0])
    extract = make_extract(wheel.name.split("-")[1], read_tables(wheel))
    text = json.dumps(extract, indent=1, sort_keys=True, default=bytes.decode)
    EXTRACT.write_text(f"{text}\n", "utf-8")
    counts = {kind: len(table) for kind, table in extract.items() if kind != "version"}
    print(f"{EXTRACT.relative_to(REPOSITORY)}: {counts}")
    return 0


class Tables(ModuleType):
    """Stands in for `objc` while `Metal/_metadata.py` runs, and records what that registers."""

    arch = "arm64"
    NULL = None

    def __init__(self) -> None:
        super().__init__("objc")
        self.selectors: dict[str, dict[str, Any]] = {}
        self.structs: dict[str, list[str]] = {}
        self.names: dict[str, Any] = {}

    def registerMetaDataForSelector(self, owner: bytes, selector: bytes, data: Any) -> None:
        self.selectors.setdefault(selector.decode(), {})[owner.decode()] = data

    def createStructType(self, name: str, _encoding: bytes, fields: list[str], *_: Any) -> None:
        self.structs[name.rpartition(".")[2]] = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _ignore


def _ignore(*_arguments: Any, **_options: Any) -> None:
    """What the table registers besides."""


def read_tables(wheel: Path) -> Tables:
    """Runs the table of a wheel of `pyobjc-framework-Metal`."""
    with zipfile.ZipFile(wheel) as archive:
        code = archive.read("Metal/_metadata.py").decode()
    tables = Tables()
    before = sys.modules.get("objc")
    sys.modules["objc"] = tables
    try:
        exec(compile(code, "Metal/_metadata.py", "exec"), tables.names)
    finally:
        del sys.modules["objc"]
        if before is not None:
            sys.modules["objc"] = before
    return tables


def make_extract(version: str, tables: Tables) -> dict[str, Any]:
    methods, names = set(used_methods()), set(used_names())
    constants = dict(re.findall(r"\$(\w+)@(-?\d+)(?=\$)", tables.names["enums"]))
    functions: dict[str, Any] = tables.names["functions"]
    return {
        "version": version,
        "selectors": {
            selector: data
            for selector, data in tables.selectors.items()
            if selector.replace(":", "_") in methods
        },
        "constants": {name: int(value) for name, value in constants.items() if name in names},
        "functions": {name: data for name, data in functions.items() if name in names},
        "structs": {
            name: fields for name, fields in tables.structs.items() if f"{name}Make" in names
        },
    }


def used_methods() -> Iterator[str]:
    """Every method of a class in the files that use pyobjc."""
    for node in _nodes():
        if isinstance(node, ast.ClassDef):
            yield from (each.name for each in node.body if isinstance(each, ast.FunctionDef))


def used_names() -> Iterator[str]:
    """Every name of Metal in these files, as a name or in a text."""
    for node in _nodes():
        match node:
            case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.Name(id=name):
                yield name
            case ast.Constant(value=str() as text):
                yield from re.findall(r"\bMTL\w+", text)
            case _:
                continue


def _nodes() -> Iterator[ast.AST]:
    for folder in USERS:
        for file in sorted((REPOSITORY / folder).rglob("*.py")):
            yield from ast.walk(ast.parse(file.read_text("utf-8")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
