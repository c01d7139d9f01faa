"""A real browser for tests: Chromium, driven by ChromeDriver over its HTTP interface."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from tests.processes import wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")
IS_HERE = bool(CHROMIUM and DRIVER)

# It runs as root in CI, has no screen, and must not look for updates.
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
)  # fmt: skip
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_KEYS = {
    "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014",
    "Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004",
}  # fmt: skip


class Browser:
    """One window. `run` evaluates JavaScript: `run("return document.title")`."""

    def __init__(self, folder: Path) -> None:
        assert CHROMIUM and DRIVER
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._address = f"http://127.0.0.1:{_port(self._driver.stdout)}"
        arguments = [*_FLAGS, f"--user-data-dir={folder}"]
        options = {
            "binary": CHROMIUM,
            "args": arguments,
        }
        always = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": always}})
        self._session = f"/session/{made['sessionId']}"

    def close(self) -> None:
        try:
            self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait()
            if self._driver.stdout is not None:
                self._driver.stdout.close()

    def open(self, file: Path) -> None:
        self._do("POST", "/url", {"url": "about:blank"})
        self._do("POST", "/url", {"url": file.resolve().as_uri()})
        self.wait_for("document.documentElement.dataset.ready === 'true'")

    def run(self, script: str) -> Any:
        return self._do("POST", "/execute/sync", {"script": script, "args": []})

    def wait_for(self, condition: str) -> None:
        """Waits until an expression of JavaScript is true."""
        wait_until(lambda: self.run(f"return Boolean({condition})"))

    def press(self, *keys: str) -> None:
        for key in keys:
            value = _KEYS.get(key, key)
            events = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
            actions = [{"type": "key", "id": "keyboard", "actions": events}]
            self._do("POST", "/actions", {"actions": actions})

    def point_at(self, x: int, y: int) -> None:
        events = [{"type": "pointerMove", "x": x, "y": y, "duration": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": events}
        self._do("POST", "/actions", {"actions": [mouse]})

    def resize(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", metrics)

    def use_scheme(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.command("Emulation.setEmulatedMedia", {"features": [feature]})

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        """A command of Chromium's own protocol."""
        return self._do("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._do("GET", "/screenshot")))

    def log(self, kind: str = "browser") -> list[dict[str, Any]]:
        return self._do("POST", "/se/log", {"type": kind})

    def _do(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._ask(method, self._session + path, body)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, method=method)
        try:
            with _OPENER.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error


def _port(stream: IO[str] | None) -> int:
    assert stream is not None
    for line in stream:
        match = re.search(r"successfully on port (\d+)", line)
        if match:
            return int(match[1])
    raise RuntimeError("ChromeDriver did not start")
