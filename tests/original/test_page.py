"""Every line of the page for users of the first easy_as runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas

PAGE = Path(__file__).parent.parent.parent / "docs" / "original.md"
TEXT = PAGE.read_text("utf-8")
[CODE] = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| .* \| `(.+?)` \|$", re.MULTILINE)


def lines_of(*titles: str) -> list[str]:
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    chosen = [each for each in sections if each.splitlines()[0] in titles]
    assert len(chosen) == len(titles)
    return [line.replace("\\|", "|") for each in chosen for line in ROW.findall(each)]


ROWS = [
    line
    for line in TEXT.splitlines()
    if line.startswith("| ") and line != "| there | here | a line |"
]
AT_A_LAUNCH = lines_of("At a launch", "Compiled kernels and runtimes")
IN_A_KERNEL = lines_of("In a kernel")


def run(code: str, file: Path) -> dict[str, Any]:
    """Kernels are read from their files."""
    file.write_text(code, "utf-8")
    namespace: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, str(file), "exec"), namespace)
    return namespace


def test_no_row_is_left_out() -> None:
    assert len(ROWS) == len(AT_A_LAUNCH) + len(IN_A_KERNEL)
    assert len(ROWS) > 35


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("line", AT_A_LAUNCH)
def test_a_line_of_python_runs(line: str, tmp_path: Path) -> None:
    run(f"{CODE}\n{line}\n", tmp_path / "page.py")


@pytest.mark.parametrize("line", IN_A_KERNEL)
def test_a_line_of_a_kernel_runs_on_every_backend(line: str, tmp_path: Path) -> None:
    body = f"    t = mk.tid(0, 32)\n    shared = mk.alloc_tg(64)\n    {line}\n"
    code = f"import eas\nfrom eas import mk\n\n@eas.kernel\ndef k(x, out):\n{body}"
    kernel = run(code, tmp_path / "page.py")["k"]
    results: list[list[float]] = []
    for backend in ("interpret", "cpu", "msl-host"):
        x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        with eas.use_backend(backend):
            kernel[1](x, out)
        results.append(out.tolist())
    assert results[0] == results[1] == results[2]
