"""JSON Schemas of the files, for editors: made from the same models that check them.

`python -m eas.septran.files.schema` writes them to `septran/files/schema/`; a test says if they are
out of date. An editor finds a schema by the first line of a file, or by its settings; see
`docs/septran_files.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from eas.septran.files.machine import Machine
from eas.septran.files.mapping import MappingFile
from eas.septran.files.model import Strict

FOLDER = Path(__file__).parent / "schema"
MODELS: dict[str, type[Strict]] = {"machine": Machine, "mapping": MappingFile}


def schema_of(kind: str) -> dict[str, Any]:
    """The schema of `machine` or `mapping` files."""
    made = _tightened(MODELS[kind].model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _tightened(value: Any) -> Any:
    """A schema as strict as we are: no null, no keys that are no names; and without noise."""
    if isinstance(value, list):
        return [_tightened(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, Any]", value)
    options = [each for each in given.get("anyOf", []) if each != {"type": "null"}]
    if len(options) == 1:
        rest = {key: each for key, each in given.items() if key != "anyOf"}
        return _tightened({**options[0], **rest})
    closed = {"additionalProperties": False} if "patternProperties" in given else {}
    return {
        key: _tightened(each) for key, each in given.items() if not _is_noise(key, each)
    } | closed


def _is_noise(key: str, value: Any) -> bool:
    """Titles that repeat the key, what is for OpenAPI, and null as the value of a missing key."""
    if key == "title":
        return isinstance(value, str)
    return (key == "discriminator" and "mapping" in value) or (key == "default" and value is None)


def schema_text(kind: str) -> str:
    """The schema as it is published."""
    return json.dumps(schema_of(kind), indent=2) + "\n"


def write_schemas() -> None:
    """Publish all schemas."""
    for kind in MODELS:
        (FOLDER / f"{kind}.json").write_text(schema_text(kind), "utf-8")


if __name__ == "__main__":
    write_schemas()
