"""Kernels for programs without Python: Metal text, a manifest, and samples of hosts."""

from eas.export.exporting import Exported, export_compiled
from eas.export.files import ExportError, WrittenFile
from eas.export.manifest import FORMAT, Manifest, schema

__all__ = [
    "FORMAT",
    "ExportError",
    "Exported",
    "Manifest",
    "WrittenFile",
    "export_compiled",
    "schema",
]
