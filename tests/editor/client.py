"""A small client of the language server: JSON-RPC over the pipes of a process, one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.processes import PATIENCE

Message = dict[str, Any]
REPOSITORY = Path(__file__).parents[2]


class Client:
    """Opens documents, sends what is typed, and waits for what the server says."""

    def __init__(self, *options: str, encoding: str = "utf-16") -> None:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "eas.cli", "lsp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.published: dict[str, Message] = {}
        self.logged: list[str] = []
        self._messages: Queue[Message | None] = Queue()
        self._number = 0
        self._versions: dict[str, int] = {}
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {"general": {"positionEncodings": [encoding]}}
        self.capabilities = self.request(
            "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}
        )["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        assert self.process.wait(PATIENCE) == 0
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def open(self, path: Path, text: str | None = None) -> str:
        """Opens a file, with its text as it is saved or with another one."""
        uri = path.as_uri()
        self._versions[uri] = 1
        content = path.read_text("utf-8") if text is None else text
        document = {"uri": uri, "languageId": "python", "version": 1, "text": content}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def type(self, uri: str, text: str) -> int:
        """Replaces the text of a document, without saving it."""
        version = self._versions[uri] = self._versions[uri] + 1
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"text": text}],
            },
        )
        return version

    def save(self, uri: str) -> None:
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        self._versions.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def close_all(self) -> None:
        for uri in list(self._versions):
            self.close(uri)

    def diagnostics(self, uri: str) -> list[Message]:
        """The diagnostics of the newest version, waited for."""
        while self.published.get(uri, {}).get("version") != self._versions[uri]:
            self._take()
        return self.published[uri]["diagnostics"]

    def codes(self, uri: str) -> list[str]:
        return [each["code"] for each in self.diagnostics(uri)]

    def forget(self, uri: str) -> None:
        """What is published from now on counts, as after a save."""
        self.published.pop(uri, None)

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """Asks something about a position, counted from 0."""
        position = {"line": line, "character": character}
        return self.request(method, {"textDocument": {"uri": uri}, "position": position, **more})

    def actions(self, uri: str, diagnostic: Message) -> list[Message]:
        context = {"diagnostics": [diagnostic]}
        params = {
            "textDocument": {"uri": uri},
            "range": diagnostic["range"],
            "context": context,
        }
        return self.request("textDocument/codeAction", params)

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        number = self._number
        self.send({"id": number, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message.get("result")

    def send_and_cancel(self, method: str, params: Any) -> None:
        """Gives up a request as soon as it is sent; its answer is not waited for."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        self.notify("$/cancelRequest", {"id": self._number})

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _take(self) -> Message:
        try:
            message = self._messages.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError("the server does not answer") from None
        assert message is not None, "the server has ended"
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        elif message.get("method") == "window/logMessage":
            self.logged.append(message["params"]["message"])
        return message

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)


def edited(text: str, edits: list[Message]) -> str:
    """A text after the edits of a code action; positions count UTF-16 units."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(position: Message) -> int:
        line = lines[position["line"]] if position["line"] < len(lines) else ""
        before = line.encode("utf-16-le")[: 2 * position["character"]].decode("utf-16-le")
        return starts[position["line"]] + len(before)

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
