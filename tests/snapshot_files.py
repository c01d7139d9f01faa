"""Snapshots as plain files that a reviewer reads: `snapshots/kernels/add.metal`, ..."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SerializedData, SnapshotIndex


class TextFile(SingleFileSnapshotExtension):
    """One text per file, named by the test: `snapshots/<folder>/<name>.<file_extension>`.

    Syrupy derives from a file's path which test it belongs to. Ours are named after what they show,
    so a file counts as unused only when the whole suite has run: `pytest` without paths and `-k`.
    """

    _write_mode = WriteMode.TEXT
    folder = ""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(test_location.item.config.rootpath / "snapshots" / cls.folder)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        if not isinstance(index, str):
            raise ValueError("a snapshot in a file of its own needs a name")
        return index

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        found = SnapshotCollections()
        if test_location.item.config.option.keyword:
            return found
        for path in Path(self.dirname(test_location=test_location)).glob("*" + self._suffix()):
            found.add(self.read_snapshot_collection(snapshot_location=str(path)))
        return found

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=Path(snapshot_location).name.removesuffix(self._suffix())))
        return collection

    @classmethod
    def write_snapshot(
        cls,
        *,
        snapshot_location: str,
        snapshots: list[tuple[SerializedData, PyTestLocation, SnapshotIndex]],
        **options: Any,
    ) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "\nCan not relate snapshot")
            super().write_snapshot(
                snapshot_location=snapshot_location, snapshots=snapshots, **options
            )

    @classmethod
    def _suffix(cls) -> str:
        return f".{cls.file_extension}"


class MetalFile(TextFile):
    folder = "kernels"
    file_extension = "metal"


class IrFile(TextFile):
    folder = "kernels"
    file_extension = "ir"


class ErrorFile(TextFile):
    folder = "errors"
    file_extension = "txt"


class FlatFile(TextFile):
    folder = "septran"
    file_extension = "flat"


class SeptranErrorFile(TextFile):
    folder = "septran/errors"
    file_extension = "txt"


class CFile(TextFile):
    folder = "septran"
    file_extension = "c"


class PythonFile(TextFile):
    """TVMScript and TileLang; not named `.py`, or linters would read them."""

    folder = "septran"
    file_extension = "py.txt"


class ExplanationFile(TextFile):
    folder = "septran"
    file_extension = "explain.txt"


class ExampleFile(TextFile):
    folder = "examples"
    file_extension = "txt"
