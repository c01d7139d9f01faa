"""The answers to requests, from the newest analysis of a document."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from eas.analysis.results import NameRecord, Place
from eas.lsp import vocabulary
from eas.lsp.analyzer import Analyzed
from eas.lsp.client_positions import Positions
from eas.lsp.server import Server


async def find_hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    found = await name_at(server, params)
    if found is None:
        return None
    positions, record, place = found
    word = positions.text_at(place)
    text = f"```python\n{word}: {record['text']}\n```"
    name = record["text"].removeprefix("function ")
    if record["text"].startswith("function ") and name in vocabulary.functions():
        label = "\n".join(vocabulary.labels_of(name))
        described = vocabulary.documentation(vocabulary.functions()[name]).value
        text = f"```python\n{label}\n```\n{described}"
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, positions.range_of(place))


async def name_at(
    server: Server, params: types.HoverParams | types.DefinitionParams
) -> tuple[Positions, NameRecord, Place] | None:
    """The name at a position: in the text as it is now, also if its analysis is older."""
    analyzed = await server.newest(params.text_document.uri)
    if analyzed is None:
        return None
    now = server.positions(server.workspace.get_text_document(params.text_document.uri).source)
    then = server.positions(analyzed.text)
    line, column = params.position.line + 1, now.column_of(params.position) + 1
    word = _word(now.line(line - 1), column - 1)
    if word is None:
        return None
    start, text = word
    same = [each for each in analyzed.record["names"] if then.text_at(each["place"]) == text]
    if not same:
        return None
    exact = [e for e in same if (e["place"]["line"], e["place"]["column"]) == (line, start + 1)]
    record = exact[-1] if exact else min(same, key=lambda e: abs(e["place"]["line"] - line))
    place: Place = {
        "path": record["place"]["path"],
        "line": line,
        "column": start + 1,
        "endLine": line,
        "endColumn": start + 1 + len(text),
    }
    return now, record, place


def _word(line: str, column: int) -> tuple[int, str] | None:
    """The identifier around a column, and where it starts."""
    start = end = min(column, len(line))
    while start > 0 and (line[start - 1].isalnum() or line[start - 1] == "_"):
        start -= 1
    while end < len(line) and (line[end].isalnum() or line[end] == "_"):
        end += 1
    return (start, line[start:end]) if start < end else None


async def find_inlay_hints(server: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The types of names where they are assigned, and of parameters."""
    uri = params.text_document.uri
    analyzed = await server.newest(uri)
    source = server.workspace.get_text_document(uri).source
    if analyzed is None or analyzed.text != source:
        return []
    positions = server.positions(source)
    hints: list[types.InlayHint] = []
    for each in analyzed.record["names"]:
        place = each["place"]
        is_shown = params.range.start.line < place["line"] <= params.range.end.line + 1
        if each["isAssigned"] and is_shown:
            end = positions.range_of(place).end
            hints.append(types.InlayHint(end, f": {each['text']}", kind=types.InlayHintKind.Type))
    return hints


async def find_definition(server: Server, params: types.DefinitionParams) -> types.Location | None:
    uri = params.text_document.uri
    found = await name_at(server, params)
    document = server.documents.get(uri)
    if found is None or document is None or found[1]["definition"] is None:
        return None
    return server.location(document, found[0], found[1]["definition"])


async def find_code_actions(
    server: Server, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """An action for each help that is an edit."""
    uri = params.text_document.uri
    await server.newest(uri)
    document = server.documents.get(uri)
    source = server.workspace.get_text_document(uri).source
    if document is None or document.newest is None or document.newest.text != source:
        return []
    positions = server.positions(source)
    actions: list[types.CodeAction] = []
    for record in document.newest.record["diagnostics"]:
        diagnostic = server.diagnostic(document, positions, record)
        if not _touch(diagnostic.range, params.range):
            continue
        for fix in record["fixes"]:
            if any(edit["place"]["path"] != document.path for edit in fix["edits"]):
                continue
            edits = [
                types.TextEdit(positions.range_of(edit["place"]), edit["text"])
                for edit in fix["edits"]
            ]
            actions.append(
                types.CodeAction(
                    fix["title"],
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    is_preferred=len(record["fixes"]) == 1,
                    edit=types.WorkspaceEdit(changes={uri: edits}),
                )
            )
    return actions


def _touch(a: types.Range, b: types.Range) -> bool:
    return (a.start.line, a.start.character) <= (b.end.line, b.end.character) and (
        b.start.line,
        b.start.character,
    ) <= (a.end.line, a.end.character)


def find_completions(server: Server, params: types.CompletionParams) -> types.CompletionList:
    """Behind `mk.` its functions and dtypes; elsewhere the names of the kernel around."""
    uri = params.text_document.uri
    source = server.workspace.get_text_document(uri).source
    positions = server.positions(source)
    line = positions.line(params.position.line)[: positions.column_of(params.position)]
    before = line.rstrip("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    mk = vocabulary.name_of_mk(source)
    if before.endswith(f"{mk}.") and not before[: -len(mk) - 1][-1:].isidentifier():
        return types.CompletionList(False, list(vocabulary.completions()))
    document = server.documents.get(uri)
    if before.endswith(".") or document is None or document.good is None:
        return types.CompletionList(False, [])
    return types.CompletionList(False, _names_around(document.good, params.position.line + 1, mk))


def _names_around(analyzed: Analyzed, line: int, mk: str) -> list[types.CompletionItem]:
    record = analyzed.record
    around = [each for each in record["kernels"] if each["line"] <= line <= each["endLine"]]
    if not around:
        return []
    first, last = around[-1]["line"], around[-1]["endLine"]
    lines = Positions(analyzed.text, types.PositionEncodingKind.Utf32)
    found = {
        lines.text_at(each["place"]): each["text"]
        for each in record["names"]
        if each["isAssigned"] and first <= each["place"]["line"] <= last
    }
    items = [
        types.CompletionItem(name, kind=types.CompletionItemKind.Variable, detail=text)
        for name, text in found.items()
    ]
    module = types.CompletionItem(mk, kind=types.CompletionItemKind.Module, detail="module")
    return [*items, module]


def find_signature_help(
    server: Server, params: types.SignatureHelpParams
) -> types.SignatureHelp | None:
    source = server.workspace.get_text_document(params.text_document.uri).source
    positions = server.positions(source)
    line = params.position.line
    above = "".join(positions.lines[max(line - 20, 0) : line])
    text = above + positions.line(line)[: positions.column_of(params.position)]
    return vocabulary.signature_help(text, vocabulary.name_of_mk(source))


async def find_metal(server: Server, uri: str, line: int) -> dict[str, Any]:
    """The Metal text of the kernel at a line, which counts from 0, and the lines behind it."""
    document = server.documents.get(uri)
    if document is None or document.analyzer is None:
        return {"error": "the document is not open"}
    source = server.workspace.get_text_document(uri).source
    answer = document.analyzer.metal(source, line + 1)
    found = await asyncio.wrap_future(answer)
    if "lines" in found:
        found["lines"] = [number - 1 for number in found["lines"]]
    return found
