"""The work of `benchmarks.run`: arrays, our launch, the name of the peers' functions, the aims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import cpu_kernels as ours
from benchmarks.aims import Aim, AtLeast, Under

if TYPE_CHECKING:
    from eas.septran import Operator

Array = np.ndarray[Any, np.dtype[Any]]
CPU: dict[str, Any] = {"_backend": "cpu"}


def _nothing() -> None:
    return


@dataclass(frozen=True)
class Work:
    """One line of the table: our launch, and each peer's `function` on the same arguments.

    `result` is the array that all of them write, or give anew; each must find what we do, within
    `tolerance` (None if they add to what is there). `triton` is the size that the script of Triton
    gets, where it has this work.
    """

    name: str
    function: str
    ours: Callable[[], None]
    arguments: tuple[Any, ...]
    result: Array
    aims: tuple[Aim, ...] = ()
    tolerance: float | None = 1e-4
    reset: Callable[[], None] = field(default=_nothing)
    triton: str = ""


def floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def side_of(scale: float) -> int:
    return max(int(1024 * scale**0.5) // 64 * 64, 64)


_STREAMS = (AtLeast(1.0, ("numpy", "numba", "taichi", "warp")),)
_ROWS = (AtLeast(1.0, ("torch",)), AtLeast(2.0, ("numba",)), AtLeast(1.0, ("numba_fast",)))
_AHEAD = (AtLeast(1.0, ("numba", "numba_fast")),)


def small_add(scale: float) -> Work:
    del scale
    a, b, c = (floats(1024, seed=seed) for seed in range(3))

    def run() -> None:
        ours.add(a, b, c, 1024, BLOCK=1024, **CPU)

    return Work("launch: add, 1,024", "add", run, (a, b, c), c, (Under(5e-6),), triton="1024")


def add(scale: float) -> Work:
    n = int((1 << 24) * scale)
    a, b, c = (floats(n, seed=seed) for seed in range(3))

    def run() -> None:
        ours.add(a, b, c, n, BLOCK=1024, **CPU)

    return Work(f"add, {n:,}", "add", run, (a, b, c), c, _STREAMS, triton=str(n))


def saxpy(scale: float) -> Work:
    n = int((1 << 24) * scale)
    x, y = floats(n), floats(n, seed=1)

    def run() -> None:
        ours.saxpy(x, y, 2.0, n, BLOCK=1024, **CPU)

    return Work(f"saxpy, {n:,}", "saxpy", run, (x, y), y, _STREAMS, None, triton=str(n))


def rows_of(scale: float) -> tuple[Array, Array]:
    rows = max(int(4096 * scale), 8)
    return floats(rows, 1024), np.zeros((rows, 1024), np.float32)


def softmax(scale: float) -> Work:
    x, y = rows_of(scale)

    def run() -> None:
        ours.softmax[len(x)](x, y, 1024, BLOCK=1024, **CPU)

    return Work(
        f"softmax, {len(x)}x1024", "softmax", run, (x, y), y, _ROWS, triton=f"{len(x)}x1024"
    )


def layernorm(scale: float) -> Work:
    x, y = rows_of(scale)
    weight, bias = floats(1024, seed=1), floats(1024, seed=2)

    def run() -> None:
        ours.layernorm[len(x)](x, weight, bias, y, 1024, BLOCK=1024, **CPU)

    return Work(
        f"layernorm, {len(x)}x1024",
        "layernorm",
        run,
        (x, weight, bias, y),
        y,
        _ROWS,
        triton=f"{len(x)}x1024",
    )


def gelu(scale: float) -> Work:
    x, y = (array.reshape(-1) for array in rows_of(scale))

    def run() -> None:
        ours.gelu(x, y, x.size, BLOCK=1024, **CPU)

    return Work(f"gelu, {x.size // 1024}x1024", "gelu", run, (x, y), y, _ROWS, triton=str(x.size))


def mandelbrot(scale: float) -> Work:
    side = side_of(scale)
    image = np.zeros(side * side, np.int32)

    def run() -> None:
        grid = -(-side * side // 1024)
        ours.mandelbrot[grid](image, side, side, LIMIT=200, BLOCK=1024, **CPU)

    name, aims = (
        f"Mandelbrot, {side}x{side}",
        (AtLeast(4.0, ("numba",)), AtLeast(0.8, ("by_hand",))),
    )
    return Work(name, "mandelbrot", run, (image, side, side, 200), image, aims, 0.1)


def matmul_loops(scale: float) -> Work:
    n = side_of(scale)
    a, b, c = floats(n, n), floats(n, n, seed=1), np.zeros((n, n), np.float32)

    def run() -> None:
        ours.matmul[n // 8, n // 16](a, b, c, n, n, n, ROWS=8, COLS=16, **CPU)

    return Work(f"matmul, {n}, in loops", "matmul_loops", run, (a, b, c), c, (), 1e-3)


def matmul(scale: float) -> Work:
    n = side_of(scale)
    a, b, c = floats(n, n), floats(n, n, seed=1), np.zeros((n, n), np.float32)

    def run() -> None:
        grid = (-(-n // 128), -(-n // 128))
        ours.matmul_tiles[grid](a, b, c, n, n, n, BM=128, BN=128, BK=128, **CPU)

    aims = (AtLeast(0.7, ("numpy",)), AtLeast(4.0, ("numba",)))
    return Work(f"matmul, {n}", "matmul", run, (a, b, c), c, aims, 1e-3, triton=str(n))


def attention(scale: float) -> Work:
    n, heads, depth = max(int(1024 * scale), 64), 8, 64
    q, k, v = (floats(heads, n, depth, seed=seed) for seed in range(3))
    out = np.zeros((heads, n, depth), np.float32)
    options = {"SCALE": depth**-0.5, "BM": 256, "BN": 128, "D": depth, **CPU}

    def run() -> None:
        ours.attention[-(-n // 256), heads](q, k, v, out, n, **options)

    name, aims = f"attention, 8 heads, {n}x64", (AtLeast(1.0, ("torch",)),)
    return Work(
        name, "attention", run, (q, k, v, out), out, aims, 1e-3, triton=f"{heads}x{n}x{depth}"
    )


def septran_gemm(scale: float) -> Work:
    """The product of `matmul`, as a logic and a mapping."""
    work, operator = matmul(scale), load_operator("gemm", "gemm.cpu")
    a, b, c = work.arguments
    aims = (AtLeast(0.9, ("numpy",)),)
    return replace(work, name=f"SepTran: {work.name}", ours=lambda: operator(c, a, b), aims=aims)


def septran_attention(scale: float) -> Work:
    """The attention of `attention`, as a logic and a mapping."""
    work, operator = attention(scale), load_operator("flash_attention", "cpu")
    q, k, v, out = work.arguments
    return replace(work, name=f"SepTran: {work.name}", ours=lambda: operator(out, q, k, v))


def load_operator(name: str, mapping: str) -> Operator:
    """An operator of the examples with one of its mappings."""
    from eas import septran

    folder = Path(__file__).parent.parent / "examples" / "septran" / name
    return septran.load(folder / f"{name}_logic.py", folder / f"{mapping}.map.yaml")


def nbody(scale: float) -> Work:
    n = max(int(4096 * scale**0.5), 64)
    arrays = tuple(floats(n, seed=seed) for seed in range(6))

    def run() -> None:
        ours.nbody(*arrays, n, BLOCK=64, **CPU)

    return Work(f"n-body, {n}", "nbody", run, arrays, arrays[3], _AHEAD, 1e-2)


def box_blur(scale: float) -> Work:
    side = side_of(scale)
    x, y = floats(side, side), np.zeros((side, side), np.float32)

    def run() -> None:
        grid = (side, -(-side // 256))
        ours.box_blur[grid](x, y, side, side, RADIUS=2, BLOCK=256, **CPU)

    return Work(f"box blur 5x5, {side}x{side}", "box_blur", run, (x, y), y, _AHEAD)


def histogram(scale: float) -> Work:
    n, parts = int((1 << 23) * scale), 1 << 16
    data = np.random.default_rng(0).integers(0, 256, n).astype(np.int32)
    counts = np.zeros(256, np.int32)
    options = {"BINS": 256, "PARTS": parts, "THREADS": 32, **CPU}

    def run() -> None:
        ours.histogram[-(-n // parts)](data, counts, n, **options)

    def clear() -> None:
        counts[:] = 0

    return Work(f"histogram, {n:,}", "histogram", run, (data, counts), counts, _AHEAD, 0.0, clear)


def prefix_sum(scale: float) -> Work:
    n, block = int((1 << 24) * scale), 8192
    blocks = -(-n // block)
    x, y, sums = floats(n), np.zeros(n, np.float32), np.zeros(blocks, np.float32)

    def run() -> None:
        ours.block_sums(x, sums, n, BLOCK=block, **CPU)
        ours.running_sums(x, sums, y, n, BLOCK=block, BLOCKS=blocks, **CPU)

    return Work(f"prefix sum, {n:,}", "prefix_sum", run, (x, y), y, _AHEAD, 1e-3)


_HAS_SEPTRAN = all(map(find_spec, ("pydantic", "ruamel")))  # which is an extra

WORKS: dict[str, Callable[[float], Work]] = {
    make.__name__: make
    for make in (
        small_add,
        add,
        saxpy,
        softmax,
        layernorm,
        gelu,
        mandelbrot,
        matmul_loops,
        matmul,
        attention,
        *((septran_gemm, septran_attention) if _HAS_SEPTRAN else ()),
        histogram,
        nbody,
        box_blur,
        prefix_sum,
    )
}
