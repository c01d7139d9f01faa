"""What a user waits for: `python -m benchmarks.compile_time`.

Each time is that of a fresh process, from `import eas` to a launch of a kernel that was launched
before, and is taken around what the user writes: see `benchmarks.first_use`. The best of them is
what the machine can do, the median shows how busy it is.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import first_use

PROCESSES = 15
_UNITS = {"ms": 1e3, "µs": 1e6}


@dataclass(frozen=True)
class Row:
    """A measure in a unit, how long it may take, and whether code is cached between processes."""

    what: str
    measure: Callable[[], float]
    limit: float | None = None
    unit: str = "ms"
    is_cached: bool = True


ROWS = (
    Row("`import numpy`, which is a part of", first_use.importing_numpy),
    Row("`import eas`", first_use.importing_eas),
    Row("the first `to_msl` of a kernel of 5 lines", first_use.first_msl, 5),
    Row("the first `to_msl` of 100 lines", first_use.first_msl_of_a_hundred_lines, 50),
    Row("the first launch on the CPU: compiled", first_use.first_launch, 60, is_cached=False),
    Row("... of 9 lines with sums", first_use.first_launch_of_layernorm, is_cached=False),
    Row("... of 19 lines with products", first_use.first_launch_of_attention, is_cached=False),
    Row("the first launch on the CPU: cached on disk", first_use.first_launch, 5),
    Row("a later launch", first_use.later_launch, 5, "µs"),
)


def main() -> None:
    table = Table("what", "best", "median", "limit", title="What a user waits for")
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            times = measure(row, Path(folder))
            limit = "" if row.limit is None else f"{row.limit:g} {row.unit}"
            is_met = row.limit is None or min(times) < row.limit
            best = f"{min(times):.2f} {row.unit}"
            color = "green" if is_met else "red"
            median = f"{statistics.median(times):.2f} {row.unit}"
            table.add_row(row.what, f"[{color}]{best}[/{color}]", median, limit)
    Console().print(table)


def measure(row: Row, folder: Path) -> list[float]:
    """The times of several processes in the row's unit; one before them fills the caches."""
    once(row, folder / "cached")
    return [
        once(row, folder / ("cached" if row.is_cached else f"empty {number}"))
        for number in track(range(PROCESSES), row.what)
    ]


def once(row: Row, cache: Path) -> float:
    # Python keeps bytecode, as it does by default.
    variables = {"EAS_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "benchmarks.first_use", row.measure.__name__]
    shown = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | variables
    ).stdout
    return float(shown) * _UNITS[row.unit]


if __name__ == "__main__":
    main()
