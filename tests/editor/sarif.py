"""Whether a log is SARIF 2.1.0: its shape, and that every name is one of the standard's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import sarif_om  # pyright: ignore[reportMissingTypeStubs]

SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("sarif.schema.json").read_text())

# The objects of the standard, by the properties that hold them.
OBJECTS = {
    "runs": sarif_om.Run,
    "tool": sarif_om.Tool,
    "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor,
    "shortDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString,
    "artifacts": sarif_om.Artifact,
    "location": sarif_om.ArtifactLocation,
    "artifactLocation": sarif_om.ArtifactLocation,
    "results": sarif_om.Result,
    "message": sarif_om.Message,
    "description": sarif_om.Message,
    "locations": sarif_om.Location,
    "relatedLocations": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation,
    "region": sarif_om.Region,
    "deletedRegion": sarif_om.Region,
    "insertedContent": sarif_om.ArtifactContent,
    "fixes": sarif_om.Fix,
    "artifactChanges": sarif_om.ArtifactChange,
    "replacements": sarif_om.Replacement,
}
MAPS = {"originalUriBaseIds": sarif_om.ArtifactLocation}


def validate(log: dict[str, Any]) -> None:
    """Raises an error if the log is none."""
    jsonschema.validate(log, SCHEMA, format_checker=jsonschema.FormatChecker())
    _check_names(log, sarif_om.SarifLog)


def _check_names(value: dict[str, Any], kind: Any) -> None:
    fields = {each.metadata["schema_property_name"]: each for each in kind.__attrs_attrs__}
    fields.setdefault("$schema", None)
    unknown = value.keys() - fields.keys()
    assert not unknown, f"{kind.__name__} has no {unknown}"
    for name, inner in value.items():
        if name in MAPS:
            for each in inner.values():
                _check_names(each, MAPS[name])
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, dict) and name not in MAPS:
                _check_names(each, OBJECTS[name])
