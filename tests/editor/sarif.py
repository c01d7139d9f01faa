"""Whether a log is SARIF 2.1.0, by the schema of the standard.

`sarif-2.1.0.json` is the schema of OASIS as SchemaStore distributes it (Apache License 2.0),
without a change: what `$schema` of our logs names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("sarif-2.1.0.json").read_text("utf-8"))
FORMATS = jsonschema.FormatChecker(["uri", "uri-reference"])


def validate(log: dict[str, Any]) -> None:
    """Raises an error if the log is none."""
    jsonschema.validate(log, SCHEMA, jsonschema.Draft7Validator, format_checker=FORMATS)
