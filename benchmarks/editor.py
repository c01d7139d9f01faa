"""How long an editor waits for the language server: `python -m benchmarks.editor`.

A file of 300 lines with ten kernels is typed in: one of its kernels gets a mistake, which is
removed again. The times are those of a client over pipes, from the change to the diagnostics of
that version, and from a question to its answer.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.editor.client import Client

LIMIT = 100.0  # milliseconds
KERNELS = 10
_HEAD = "import eas\nfrom eas import mk\n\nBLOCK = 256\n\n\ndef half(x):\n    return x * 0.5\n"
_KERNEL = '''

@eas.kernel(examples=[("*f32", "*f32", "*f32", "i32", "i32", dict(BLOCK=BLOCK))])
def kernel_{n}(x, w, y, rows, columns, BLOCK: eas.constexpr):
    """A row of a layer: it is normalized, scaled, and clipped in three ways."""
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    mask = i < columns
    v = mk.load(x, row * columns + i, mask=mask)
    mean = mk.sum(v) / columns
    centered = mk.where(mask, v - mean, 0.0)
    variance = mk.sum(centered * centered) / columns
    scale = mk.rsqrt(variance + 1e-5)
    weight = mk.load(w, i, mask=mask)
    result = centered * scale * weight
    largest = mk.max(mk.where(mask, result, -1e30))
    if largest > 10.0:
        result = result * (10.0 / largest)
    total = 0.0
    for k in range(4):
        total += largest * k
        if total > 100.0:
            break
    if result > total:
        result = half(result)
    elif result < -total:
        result = -half(result)
    else:
        result = result + {n}
    mk.store(y, row * columns + i, result, mask=mask)
'''
TEXT = _HEAD + "".join(_KERNEL.format(n=n) for n in range(KERNELS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds: int = parser.parse_args().rounds
    title = f"{len(TEXT.splitlines())} lines, {KERNELS} kernels, {rounds} rounds"
    table = Table("what", "median", "slowest", "limit", title=title)
    with tempfile.TemporaryDirectory() as folder, Client() as client:
        file = Path(folder) / "kernels.py"
        file.write_text(TEXT, "utf-8")
        uri = client.open(file)
        assert client.diagnostics(uri) == []
        for what, measure in _measures(client, uri).items():
            times = [1e3 * measure(number) for number in range(rounds)]
            median = statistics.median(times)
            limit = f"{LIMIT:g} ms" + ("" if median < LIMIT else " (missed)")
            table.add_row(what, f"{median:.1f} ms", f"{max(times):.1f} ms", limit)
    Console().print(table)


def _measures(client: Client, uri: str) -> dict[str, Callable[[int], float]]:
    line = TEXT.splitlines().index("    result = centered * scale * weight")

    def diagnostics(number: int, old: str, new: str) -> float:
        """From a change of one kernel to its diagnostics."""
        start = f"def kernel_{number % KERNELS}("
        before, _, behind = TEXT.partition(start)
        client.type(uri, before + start + behind.replace(old, new, 1))
        return timed(lambda: client.diagnostics(uri))

    def request(method: str) -> Callable[[int], float]:
        return lambda _: timed(lambda: client.at(method, uri, line, 6))

    metal = {"uri": uri, "line": line}
    return {
        "a mistake is typed": lambda n: diagnostics(n, "scale * weight", "scale * wieght"),
        "a number is typed": lambda n: diagnostics(n, "1e-5", f"{n + 2}e-5"),
        "a line is added at the top": lambda n: timed(
            lambda: (client.type(uri, "\n" * (n + 1) + TEXT), client.diagnostics(uri))
        ),
        "a helper changes, and so all kernels": lambda n: timed(
            lambda: (client.type(uri, TEXT.replace("* 0.5", f"* {n}.5")), client.diagnostics(uri))
        ),
        "hover": request("textDocument/hover"),
        "completion": request("textDocument/completion"),
        "definition": request("textDocument/definition"),
        "Metal": lambda _: timed(lambda: client.request("eas/metal", metal)),
    }


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
