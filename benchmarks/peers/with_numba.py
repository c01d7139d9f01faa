"""numba: scalar loops, `prange` over all cores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import config, get_num_threads, njit, prange, set_num_threads

from benchmarks.peers import THREADS

Array = Any
set_num_threads(min(THREADS, config.NUMBA_NUM_THREADS))


@njit(parallel=True)
def add(a: Array, b: Array, c: Array) -> None:
    for i in prange(len(a)):
        c[i] = a[i] + b[i]


@njit(parallel=True)
def saxpy(x: Array, y: Array) -> None:
    for i in prange(len(x)):
        y[i] = np.float32(2.0) * x[i] + y[i]


@njit(parallel=True)
def softmax(x: Array, y: Array) -> None:
    rows, columns = x.shape
    for r in prange(rows):
        most = x[r, 0]
        for c in range(columns):
            most = max(most, x[r, c])
        total = np.float32(0.0)
        for c in range(columns):
            y[r, c] = math.exp(x[r, c] - most)
            total += y[r, c]
        for c in range(columns):
            y[r, c] /= total


@njit(parallel=True)
def layernorm(x: Array, weight: Array, bias: Array, y: Array) -> None:
    rows, columns = x.shape
    for r in prange(rows):
        total = np.float32(0.0)
        for c in range(columns):
            total += x[r, c]
        mean = total / np.float32(columns)
        squares = np.float32(0.0)
        for c in range(columns):
            squares += (x[r, c] - mean) * (x[r, c] - mean)
        scale = np.float32(1.0) / math.sqrt(squares / np.float32(columns) + np.float32(1e-5))
        for c in range(columns):
            y[r, c] = (x[r, c] - mean) * scale * weight[c] + bias[c]


@njit(parallel=True)
def gelu(x: Array, y: Array) -> None:
    for i in prange(len(x)):
        y[i] = np.float32(0.5) * x[i] * (1.0 + math.erf(x[i] * np.float32(0.7071067811865476)))


@njit(parallel=True)
def mandelbrot(out: Array, width: int, height: int, limit: int) -> None:
    for i in prange(width * height):
        cx = np.float32(-2.0) + np.float32(2.5) * np.float32(i % width) / np.float32(width)
        cy = np.float32(-1.25) + np.float32(2.5) * np.float32(i // width) / np.float32(height)
        x = np.float32(0.0)
        y = np.float32(0.0)
        n = 0
        while x * x + y * y < np.float32(4.0) and n < limit:
            x, y = x * x - y * y + cx, np.float32(2.0) * x * y + cy
            n += 1
        out[i] = n


@njit(parallel=True)
def matmul(a: Array, b: Array, c: Array) -> None:
    rows, depth = a.shape
    columns = b.shape[1]
    for i in prange(rows):
        for j in range(columns):
            total = np.float32(0.0)
            for k in range(depth):
                total += a[i, k] * b[k, j]
            c[i, j] = total


@njit(parallel=True)
def matmul_loops(a: Array, b: Array, c: Array) -> None:
    """With the loops exchanged, so that the innermost goes along rows."""
    rows, depth = a.shape
    columns = b.shape[1]
    for i in prange(rows):
        for j in range(columns):
            c[i, j] = np.float32(0.0)
        for k in range(depth):
            for j in range(columns):
                c[i, j] += a[i, k] * b[k, j]


@njit(parallel=True)
def nbody(px: Array, py: Array, pz: Array, ax: Array, ay: Array, az: Array) -> None:
    n = len(px)
    for i in prange(n):
        fx = np.float32(0.0)
        fy = np.float32(0.0)
        fz = np.float32(0.0)
        for j in range(n):
            dx, dy, dz = px[j] - px[i], py[j] - py[i], pz[j] - pz[i]
            inverse = np.float32(1.0) / math.sqrt(dx * dx + dy * dy + dz * dz + np.float32(1e-3))
            force = inverse * inverse * inverse
            fx += dx * force
            fy += dy * force
            fz += dz * force
        ax[i], ay[i], az[i] = fx, fy, fz


@njit(parallel=True)
def box_blur(x: Array, y: Array) -> None:
    height, width = x.shape
    for r in prange(height):
        for c in range(width):
            total = np.float32(0.0)
            for dr in range(-2, 3):
                for dc in range(-2, 3):
                    if 0 <= r + dr < height and 0 <= c + dc < width:
                        total += x[r + dr, c + dc]
            y[r, c] = total / np.float32(25.0)


@njit(parallel=True)
def histogram(data: Array, counts: Array) -> None:
    """Each part of the data has a histogram of its own; they are added by a parallel reduction."""
    parts = 64
    size = (len(data) + parts - 1) // parts
    total = np.zeros_like(counts)
    for part in prange(parts):
        own = np.zeros_like(counts)
        for value in data[part * size : (part + 1) * size]:
            own[value] += 1
        total += own
    counts += total


@njit(parallel=True)
def prefix_sum(x: Array, y: Array) -> None:
    """Each thread scans its part, then adds what the parts before it have come to."""
    threads = get_num_threads()
    size = (len(x) + threads - 1) // threads
    starts = np.zeros(threads + 1, np.float32)
    for t in prange(threads):
        total = np.float32(0.0)
        for i in range(t * size, min((t + 1) * size, len(x))):
            total += x[i]
            y[i] = total
        starts[t + 1] = total
    for t in range(threads):
        starts[t + 1] += starts[t]
    for t in prange(1, threads):
        y[t * size : (t + 1) * size] += starts[t]
