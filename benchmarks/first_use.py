"""One thing that a user waits for, once: `python -m benchmarks.first_use first_msl` prints seconds.

Nothing but what the user would have is imported before the clock starts.
"""

from __future__ import annotations

import sys
import time

LAUNCHES = 20_000
SIZE = 1024


def importing_numpy() -> float:
    start = time.perf_counter()
    import numpy  # noqa: F401  # pyright: ignore[reportUnusedImport]

    return time.perf_counter() - start


def importing_eas() -> float:
    start = time.perf_counter()
    import eas  # noqa: F401  # pyright: ignore[reportUnusedImport]

    return time.perf_counter() - start


def first_msl() -> float:
    from benchmarks.kernels import add

    start = time.perf_counter()
    add.to_msl("*f32", "*f32", "*f32", "i32", BLOCK=256)
    return time.perf_counter() - start


def first_msl_of_a_hundred_lines() -> float:
    from benchmarks.kernels import lattice_boltzmann

    start = time.perf_counter()
    lattice_boltzmann.to_msl(
        "*f32", "*f32", "*bool", "*f32", "i32", "i32", OMEGA=1.7, FASTEST=0.2, BLOCK=256
    )
    return time.perf_counter() - start


def first_launch() -> float:
    import numpy as np

    from benchmarks.kernels import add

    a, b, c = np.ones(SIZE, "f4"), np.ones(SIZE, "f4"), np.zeros(SIZE, "f4")
    start = time.perf_counter()
    add(a, b, c, SIZE, BLOCK=256, _backend="cpu")
    took = time.perf_counter() - start
    assert (c == 2).all()
    return took


def first_launch_of_layernorm() -> float:
    import numpy as np

    from benchmarks.cpu_kernels import layernorm

    x, y = np.ones((4, SIZE), "f4"), np.zeros((4, SIZE), "f4")
    weight, bias = np.ones(SIZE, "f4"), np.ones(SIZE, "f4")
    start = time.perf_counter()
    layernorm[4](x, weight, bias, y, SIZE, BLOCK=SIZE, _backend="cpu")
    took = time.perf_counter() - start
    assert (y == 1).all()
    return took


def first_launch_of_attention() -> float:
    import numpy as np

    from benchmarks.cpu_kernels import attention

    q, k, v = (np.ones((64, 64), "f4") for _ in range(3))
    out = np.zeros_like(v)
    start = time.perf_counter()
    attention[1, 1](q, k, v, out, 64, SCALE=0.125, BM=64, BN=64, D=64, _backend="cpu")
    took = time.perf_counter() - start
    assert np.allclose(out, 1)
    return took


def later_launch() -> float:
    import numpy as np

    from benchmarks.kernels import add

    a, b, c = np.ones(SIZE, "f4"), np.ones(SIZE, "f4"), np.zeros(SIZE, "f4")
    add(a, b, c, SIZE, BLOCK=256)
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        add(a, b, c, SIZE, BLOCK=256)
    return (time.perf_counter() - start) / LAUNCHES


MEASURES = (
    importing_numpy,
    importing_eas,
    first_msl,
    first_msl_of_a_hundred_lines,
    first_launch,
    first_launch_of_layernorm,
    first_launch_of_attention,
    later_launch,
)

if __name__ == "__main__":
    print({measure.__name__: measure for measure in MEASURES}[sys.argv[1]]())
