"""What the server can do: each request of the protocol, with the function that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lsprotocol import types

from eas.lsp import answers
from eas.lsp.server import Server

METAL = "eas/metal"
METAL_COMMAND = "eas.metal"


def make_server(*, has_imports: bool = True) -> Server:
    """A server with all that it can do; it is started with `start_io`."""
    server = Server(has_imports=has_imports)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        options: Any = params.initialization_options
        if _option(options, "import") is False:
            server.has_imports = False

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.change(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.save(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.end()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await answers.find_hover(server, params)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        return await answers.find_inlay_hints(server, params)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return await answers.find_definition(server, params)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await answers.find_code_actions(server, params)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["."])
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList:
        return answers.find_completions(server, params)

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    async def signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return answers.find_signature_help(server, params)

    @server.feature(METAL)
    async def metal(params: Any) -> dict[str, Any]:
        return await answers.find_metal(server, params.uri, int(params.line))

    @server.command(METAL_COMMAND)
    async def metal_command(uri: str, line: int) -> dict[str, Any]:
        return await answers.find_metal(server, uri, line)

    return server


def _option(options: Any, name: str) -> object:
    """An option of the client's, which sends an object, or nothing."""
    if isinstance(options, Mapping):
        return cast(Mapping[str, object], options).get(name)
    return getattr(options, name, None)
