"""The interpreter beside NumPy and Triton's interpreter: `python -m benchmarks.interpreter`.

Triton may live in an environment of its own: `--triton-python path/to/its/python`. It runs each
kernel once, as it is slow; of the others the best of several runs counts. All results are checked.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import eas
from benchmarks.kernels import add
from benchmarks.triton import Triton
from eas import mk

RUNS = 7
BLOCK = 1024
Array = np.ndarray[Any, Any]


@eas.kernel
def softmax(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    offs = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + offs, offs < N, other=float("-inf"))
    powers = mk.exp(v - mk.max(v))
    mk.store(y, row * N + offs, powers / mk.sum(powers), offs < N)


@eas.kernel
def mandelbrot(out, W, H, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    cx = -2.0 + 2.5 * (i % W) / W
    cy = -1.25 + 2.5 * (i // W) / H
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y < 4.0 and n < LIMIT:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    mk.store(out, i, n, mask=i < W * H)


@dataclass(frozen=True)
class Job:
    """The same work for the interpreter and for NumPy; both give the result."""

    name: str
    size: str
    triton: str  # the argument of its script, "" where it has no such kernel
    ours: Callable[[], Array]
    numpys: Callable[[], Array]


def add_job(n: int) -> Job:
    a, b = np.random.default_rng(0).random((2, n), np.float32)
    c = np.zeros(n, np.float32)

    def ours() -> Array:
        add(a, b, c, n, BLOCK=BLOCK, _backend="interpret")
        return c

    return Job("add", f"{n:,} f32", str(n), ours, lambda: a + b)


def softmax_job(rows: int, columns: int) -> Job:
    x = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    y = np.zeros_like(x)

    def ours() -> Array:
        softmax[(rows,)](x, y, columns, BLOCK=1024, _backend="interpret")
        return y

    def numpys() -> Array:
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    return Job("softmax", f"{rows} x {columns} f32", f"{rows}x{columns}", ours, numpys)


def mandelbrot_job(width: int, limit: int) -> Job:
    out = np.zeros(width * width, np.int32)

    def ours() -> Array:
        grid = (mk.cdiv(out.size, BLOCK),)
        mandelbrot[grid](out, width, width, LIMIT=limit, BLOCK=BLOCK, _backend="interpret")
        return out

    return Job("mandelbrot", f"{width}², {limit} steps", "", ours, lambda: _escape(width, limit))


def _escape(width: int, limit: int) -> Array:
    """All points at once, those that have escaped too."""
    i = np.arange(width * width, dtype=np.int32)
    w, two = np.float32(width), np.float32(2)
    cx = np.float32(-2) + np.float32(2.5) * (i % width).astype(np.float32) / w
    cy = np.float32(-1.25) + np.float32(2.5) * (i // width).astype(np.float32) / w
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    n, inside = np.zeros_like(i), np.ones(i.shape, np.bool_)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            inside &= x * x + y * y < 4
            n += inside
            x, y = x * x - y * y + cx, two * x * y + cy
    return n


def best_of(runs: int, work: Callable[[], Array]) -> float:
    """Milliseconds of the fastest run, after one that does not count."""
    work()
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the interpreter and its peers.")
    parser.add_argument("--triton-python", default=sys.executable, help="a Python with Triton")
    triton = Triton(parser.parse_args().triton_python)
    table = Table("", "", "ours", "NumPy", "Triton", "Triton / ours", title="Interpreters, in ms")
    jobs = (add_job(1 << 24), softmax_job(4096, 1024), softmax_job(4096, 1000))
    for job in track((*jobs, mandelbrot_job(1024, 200)), "measuring"):
        np.testing.assert_allclose(job.ours(), job.numpys(), rtol=1e-5)
        ours, numpys = best_of(RUNS, job.ours), best_of(RUNS, job.numpys)
        seconds = triton.seconds(job.name, job.triton)
        shown = ("", "")
        if seconds is not None:
            shown = (f"{1000 * seconds:,.0f}", f"{1000 * seconds / ours:,.0f} x")
        table.add_row(job.name, job.size, f"{ours:.1f}", f"{numpys:.1f}", *shown)
    Console().print(table)
    if triton.missing:
        print(f"Triton is missing: {triton.missing}", file=sys.stderr)


if __name__ == "__main__":
    main()
