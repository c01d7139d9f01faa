"""Draws docs/septran_picture.png: the page of `septran picture` for flash attention, in Chromium.

python -m scripts.draw_picture

The file keeps a digest of what is drawn in it, so that a test sees when it is out of date.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eas.septran.operators import load
from eas.septran.picture import make_page
from scripts.count_lines import OPERATORS, REPOSITORY

PICTURE = REPOSITORY / "docs" / "septran_picture.png"
MACHINES = ("h100", "awesomedsa", "apple_gpu")
SIZES: dict[str, Any] = {"H": 8, "M": 1024, "N": 1024, "D": 64}
WINDOW = (1600, 1300)
# It runs as root in CI, has no screen, and must not look for updates.
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# The row of K has the focus, so that K is lit on all machines.
_FOCUS = """<script>
[...document.querySelectorAll("tbody tr")].find((row) => row.cells[0].textContent == "K").focus();
</script>
"""
_SIGNATURE, _KEYWORD = b"\x89PNG\r\n\x1a\n", b"page\0"


def page_text() -> str:
    """The page that is drawn."""
    folder = OPERATORS / "flash_attention"
    logic = folder / "flash_attention_logic.py"
    operators = [load(logic, folder / f"{machine}.map.yaml") for machine in MACHINES]
    return make_page([operator.picture(**SIZES) for operator in operators])


def digest_of(page: str) -> str:
    """A digest of what is seen at the top of the page: the table, the tasks and the memories."""
    seen = re.sub(r'<div class="beside">.*?</article>|<script>.*?</script>', "", page, flags=re.S)
    seen = re.sub(r' data-(?:key|lights)="[^"]*"', "", seen)
    return hashlib.sha256(seen.encode()).hexdigest()


def drawn_digest(picture: bytes) -> str:
    """The digest that a picture keeps; empty if it keeps none."""
    found = re.search(_KEYWORD + rb"([0-9a-f]{64})", picture)
    return found[1].decode() if found else ""


def with_digest(picture: bytes, digest: str) -> bytes:
    """A PNG with a chunk of text after its header."""
    content = b"tEXt" + _KEYWORD + digest.encode()
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    header = len(_SIGNATURE) + 4 + 4 + 13 + 4
    return picture[:header] + chunk + picture[header:]


def draw(page: str) -> bytes:
    """A picture of a page as Chromium shows it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium: `apt-get install chromium`")
    with TemporaryDirectory() as folder:
        file, picture = Path(folder) / "page.html", Path(folder) / "page.png"
        file.write_text(page.replace("</body>", f"{_FOCUS}</body>"), "utf-8")
        size = "--window-size={},{}".format(*WINDOW)
        given = (f"--user-data-dir={folder}/profile", size, f"--screenshot={picture}")
        command = [chromium, *_FLAGS, *given, file.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return picture.read_bytes()


if __name__ == "__main__":
    text = page_text()
    PICTURE.write_bytes(with_digest(draw(text), digest_of(text)))
    print(f"wrote {PICTURE.relative_to(REPOSITORY)}")
