"""A session with another client: that of `pytest-lsp`, with the capabilities of VS Code."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import cast

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.editor.client import REPOSITORY
from tests.editor.test_lsp import TEXT, place


async def session(file: Path) -> None:
    """Opens a file, types a mistake, fixes it by the code action, hovers, shows Metal."""
    command = [sys.executable, "-m", "eas.cli", "lsp"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    config = ClientServerConfig(server_command=command, server_env=environment)
    client = cast(LanguageClient, await config.start())
    capabilities = client_capabilities("visual-studio-code")
    await client.initialize_session(
        types.InitializeParams(capabilities, root_uri=file.parent.as_uri())
    )
    uri = file.as_uri()
    document = types.TextDocumentItem(uri, "python", 1, TEXT)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert not client.diagnostics[uri]

    client.text_document_did_change(changed(uri, 2, TEXT.replace("mk.sum(v)", "mk.summ(v)")))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    [diagnostic] = client.diagnostics[uri]
    assert diagnostic.code == "E0205"
    assert (diagnostic.range.start.line, diagnostic.range.start.character) == place(TEXT, "sum(v)")

    wanted = types.CodeActionParams(
        types.TextDocumentIdentifier(uri), diagnostic.range, types.CodeActionContext([diagnostic])
    )
    [action] = await client.text_document_code_action_async(wanted) or []
    assert isinstance(action, types.CodeAction)
    assert action.edit is not None and action.edit.changes is not None
    [edit] = action.edit.changes[uri]
    assert (edit.range, edit.new_text) == (diagnostic.range, "sum")

    client.text_document_did_change(changed(uri, 3, TEXT))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert not client.diagnostics[uri]

    at = types.Position(*place(TEXT, "v = twice"))
    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), at)
    )
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.value == "```python\nv: f32[64]\n```"

    metal = await client.protocol.send_request_async("eas/metal", {"uri": uri, "line": at.line})
    assert metal.kernel == "scale"
    assert "kernel void scale(" in metal.text
    await client.shutdown_session()


def changed(uri: str, version: int, text: str) -> types.DidChangeTextDocumentParams:
    return types.DidChangeTextDocumentParams(
        types.VersionedTextDocumentIdentifier(version, uri),
        [types.TextDocumentContentChangeWholeDocument(text)],
    )


def test_a_session_with_the_capabilities_of_vs_code(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(TEXT, "utf-8")
    asyncio.run(session(file))
