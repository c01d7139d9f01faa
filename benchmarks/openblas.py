"""SepTran's gemm on the machine `openblas` beside one call of `cblas_sgemm`, on one thread each.

`python -m benchmarks.openblas` runs both interleaved on the same arrays, 1024 cubed, and prints the
medians and their ratio. It needs the extra `openblas`.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.aims import duration
from benchmarks.run import machine
from benchmarks.works import load_operator
from eas.septran.targets.needs import folder_of

LEAST = 0.85
_ROW_MAJOR, _AS_IT_IS = 101, 111

Array = np.ndarray[Any, Any]


def one_call(c: Array, a: Array, b: Array) -> Callable[[], object]:
    """`c = a @ b` by one call of the library that the machine uses."""
    folder = folder_of("scipy_openblas32")
    if folder is None:
        raise SystemExit("there is no OpenBLAS: `pip install 'easy_as[openblas]'`")
    library = ctypes.CDLL(str(next(folder.glob("lib/libscipy_openblas*"))))
    library.scipy_openblas_set_num_threads(1)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    (m, k), n = a.shape, b.shape[1]
    left, right, target = (ctypes.c_void_p(each.ctypes.data) for each in (a, b, c))
    given = (_ROW_MAJOR, _AS_IT_IS, _AS_IT_IS, m, n, k, one, left, k, right, n, zero, target, n)
    return lambda: library.scipy_cblas_sgemm(*given)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.openblas", description=__doc__)
    parser.add_argument("--rounds", type=int, default=31, help="runs of each (31)")
    parser.add_argument("--size", type=int, default=1024, help="rows and columns (1024)")
    options = parser.parse_args()
    size: int = options.size
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((size, size), np.float32) for _ in range(2))
    ours, theirs = np.empty_like(a), np.empty_like(a)
    operator = load_operator("gemm", "gemm.openblas")
    runs = {"SepTran": lambda: operator(ours, a, b), "one cblas_sgemm": one_call(theirs, a, b)}
    for run in runs.values():
        run()
    if not np.allclose(ours, theirs, rtol=1e-4, atol=1e-3):
        raise SystemExit("the results differ")
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    report(size, {name: statistics.median(each) for name, each in times.items()})


def report(size: int, medians: dict[str, float]) -> None:
    table = Table("", "median", "GFLOP/s", title=f"gemm {size} on one thread, f32")
    for name, median in medians.items():
        table.add_row(name, duration(median), f"{2 * size**3 / median / 1e9:.1f}")
    ratio = medians["one cblas_sgemm"] / medians["SepTran"]
    console = Console(width=None if sys.stdout.isatty() else 100)
    console.print(table)
    color = "green" if ratio >= LEAST else "bold red"
    console.print(f"one call's time by SepTran's: [{color}]{ratio:.2f}[/], the aim is {LEAST}")
    console.print(machine(), highlight=False)


if __name__ == "__main__":
    main()
