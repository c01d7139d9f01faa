"""The server: open documents, their analyses, and what is published of them."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
from collections.abc import Iterator

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from eas.analysis.loading import read_text
from eas.analysis.outline import normalized
from eas.analysis.results import DiagnosticRecord, Place, joined
from eas.lsp.analyzer import Analyzed, Analyzer, Spare
from eas.lsp.client_positions import Positions

# Seconds that an answer waits for the analysis of what was typed last.
_PATIENCE = 0.5


class Document:
    """An open document: its newest analysis, and the newest one of a text that Python parses."""

    def __init__(self, uri: str, path: str) -> None:
        self.uri = uri
        self.path = path
        self.newest: Analyzed | None = None
        self.good: Analyzed | None = None
        self.arrived = asyncio.Event()
        self.saved_text: str | None = None
        self.analyzer: Analyzer | None = None

    def take(self, analyzed: Analyzed) -> None:
        """Keeps an analysis; a broken text keeps the last good answer."""
        self.newest = analyzed
        if not any(each["code"] == "syntax" for each in analyzed.record["diagnostics"]):
            self.good = analyzed
        self.arrived.set()


class Server(LanguageServer):
    """The language server; `has_imports` says whether saved files may be imported."""

    def __init__(self, *, has_imports: bool = True) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "eas",
            importlib.metadata.version("easy_as"),
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
        )
        self.has_imports = has_imports
        self.documents: dict[str, Document] = {}
        self._spare = Spare()

    def open(self, uri: str) -> None:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        document = Document(uri, path or os.path.abspath("untitled.py"))
        before = self.documents.pop(uri, None)
        if before is not None and before.analyzer is not None:  # a client that did not close it
            before.analyzer.close()
        self.documents[uri] = document
        loop = asyncio.get_running_loop()

        def deliver(analyzed: Analyzed) -> None:
            loop.call_soon_threadsafe(self.take, document, analyzed)

        def log(text: str) -> None:
            loop.call_soon_threadsafe(self.log, text)

        has_imports = self.has_imports and path is not None
        document.saved_text = _read(document.path) if path else None
        document.analyzer = Analyzer(
            document.path, deliver, log, self._spare, has_imports=has_imports
        )
        self.change(uri)

    def change(self, uri: str) -> None:
        document = self.documents.get(uri)
        if document is not None and document.analyzer is not None:
            document.arrived.clear()
            source = self.workspace.get_text_document(uri)
            document.analyzer.submit(source.version or 0, source.source)

    def save(self, uri: str) -> None:
        document = self.documents.get(uri)
        if document is not None and document.analyzer is not None:
            source = self.workspace.get_text_document(uri)
            document.saved_text = normalized(source.source)
            document.arrived.clear()
            document.analyzer.saved(source.version or 0, source.source)

    def close(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is not None and document.analyzer is not None:
            document.analyzer.close()
            self.publish(uri, None, [])

    def end(self) -> None:
        """Ends all processes."""
        for uri in list(self.documents):
            self.close(uri)
        self._spare.close()

    def take(self, document: Document, analyzed: Analyzed) -> None:
        """An analysis has arrived: it is shown if its text is still the newest."""
        if self.documents.get(document.uri) is not document:
            return
        source = self.workspace.get_text_document(document.uri)
        if (source.version or 0) != analyzed.version or source.source != analyzed.text:
            return
        document.take(analyzed)
        self.publish(document.uri, analyzed.version, self.diagnostics(document, analyzed))
        capabilities = self.client_capabilities.workspace
        if capabilities and capabilities.inlay_hint and capabilities.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def log(self, text: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Log, text))

    def positions(self, text: str) -> Positions:
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return Positions(text, encoding)

    async def newest(self, uri: str) -> Analyzed | None:
        """The analysis of the newest text, waited for a short while; else the last good one."""
        document = self.documents.get(uri)
        if document is None:
            return None
        if not document.arrived.is_set():
            try:
                await asyncio.wait_for(document.arrived.wait(), _PATIENCE)
            except TimeoutError:
                return document.good
        return document.good

    def diagnostics(self, document: Document, analyzed: Analyzed) -> list[types.Diagnostic]:
        positions = self.positions(analyzed.text)
        records = analyzed.record["diagnostics"]
        if (
            normalized(analyzed.text) == document.saved_text
        ):  # their places are those of the saved text
            records = joined(analyzed.failures, records)
        return [self.diagnostic(document, positions, each) for each in records]

    def diagnostic(
        self, document: Document, positions: Positions, record: DiagnosticRecord
    ) -> types.Diagnostic:
        place = place_in(record, document.path)
        parts = [record["message"], record["label"]]
        parts += [f"note: {each}" for each in record["notes"]]
        parts += [f"help: {each}" for each in record["help"]]
        code = record["code"]
        return types.Diagnostic(
            positions.range_of(place),
            "\n".join(part for part in parts if part),
            severity=types.DiagnosticSeverity.Error,
            code=code,
            source="eas",
            related_information=list(self._related(document, positions, record, place)),
        )

    def _related(
        self, document: Document, positions: Positions, record: DiagnosticRecord, shown: Place
    ) -> Iterator[types.DiagnosticRelatedInformation]:
        remarks = [(each["place"], each["message"]) for each in record["related"]]
        if record["place"] is not shown:
            remarks.insert(0, (record["place"], "it is here"))
        remarks += [(each, "called from here") for each in record["calls"] if each is not shown]
        for place, text in remarks:
            location = self.location(document, positions, place)
            yield types.DiagnosticRelatedInformation(location, text)

    def location(self, document: Document, positions: Positions, place: Place) -> types.Location:
        if place["path"] == document.path:
            return types.Location(document.uri, positions.range_of(place))
        uri = from_fs_path(place["path"]) or document.uri
        other = self.positions(_read(place["path"]) or "")
        return types.Location(uri, other.range_of(place))


def place_in(record: DiagnosticRecord, path: str) -> Place:
    """Where a diagnostic is shown in a document: in a helper of another file, at the call."""
    for place in (record["place"], *record["calls"]):
        if place["path"] == path:
            return place
    return {"path": path, "line": 1, "column": 1, "endLine": 1, "endColumn": 1}


def _read(path: str) -> str | None:
    try:
        return read_text(path)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
