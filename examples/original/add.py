"""Adds two vectors; the grid follows from `N`.

uv run python -m examples.original.add
"""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.runtime import get_runtime


@eas.kernel
def add_kernel(a, b, c, N, BLOCK: eas.constexpr):
    pid = mk.program_id(0)
    offs = pid * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


def run(n: int = 1031, block: int = 256) -> float:
    """The largest difference to NumPy's sum."""
    a, b = np.random.default_rng(0).standard_normal((2, n), np.float32)
    c = np.zeros_like(a)
    add_kernel(a, b, c, n, BLOCK=block)
    return float(np.abs(c - (a + b)).max(initial=0))


def main() -> None:
    runtime = get_runtime()
    print(f"on {runtime.backend}: the largest difference to NumPy is {run():.3g}")
    arrays = {name: np.ones(1 << 16, np.float32) for name in "abc"}
    compiled = add_kernel.compile(*arrays.values(), 1 << 16, BLOCK=256)
    print(f"{compiled.launch_mode} with blocks of {compiled.block_size}")
    given = {**arrays, "N": 1 << 16}
    seconds = runtime.benchmark(compiled, given, {"BLOCK": 256}, repeat=10, warmup=2)
    print("a launch took some time" if seconds > 0 else "a launch took none")


if __name__ == "__main__":
    main()
