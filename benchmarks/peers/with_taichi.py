"""taichi: the outermost loop runs on all cores."""

import os
from typing import Any

os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
import taichi

from benchmarks.peers import THREADS

ti: Any = taichi
ti.init(arch=ti.cpu, log_level=ti.ERROR, cpu_max_num_threads=THREADS)
F32: Any = ti.types.ndarray(dtype=ti.f32, ndim=1)
I32: Any = ti.types.ndarray(dtype=ti.i32, ndim=1)
ROWS: Any = ti.types.ndarray(dtype=ti.f32, ndim=2)


@ti.kernel
def add(a: F32, b: F32, c: F32):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


@ti.kernel
def saxpy(x: F32, y: F32):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i] + y[i]


@ti.kernel
def softmax(x: ROWS, y: ROWS):
    for r in range(x.shape[0]):
        most = x[r, 0]
        for c in range(x.shape[1]):
            most = ti.max(most, x[r, c])
        total = 0.0
        for c in range(x.shape[1]):
            power = ti.exp(x[r, c] - most)
            y[r, c] = power
            total += power
        for c in range(x.shape[1]):
            y[r, c] /= total


@ti.kernel
def mandelbrot(out: I32, width: int, height: int, limit: int):
    for i in range(width * height):
        cx = -2.0 + 2.5 * ti.cast(i % width, ti.f32) / width
        cy = -1.25 + 2.5 * ti.cast(i // width, ti.f32) / height
        x = 0.0
        y = 0.0
        n = 0
        while x * x + y * y < 4.0 and n < limit:
            new = x * x - y * y + cx
            y = 2.0 * x * y + cy
            x = new
            n += 1
        out[i] = n


@ti.kernel
def layernorm(x: ROWS, weight: F32, bias: F32, y: ROWS):
    for r in range(x.shape[0]):
        total = 0.0
        for c in range(x.shape[1]):
            total += x[r, c]
        mean = total / x.shape[1]
        squares = 0.0
        for c in range(x.shape[1]):
            squares += (x[r, c] - mean) ** 2
        scale = ti.rsqrt(squares / x.shape[1] + 1e-5)
        for c in range(x.shape[1]):
            y[r, c] = (x[r, c] - mean) * scale * weight[c] + bias[c]


@ti.kernel
def matmul(a: ROWS, b: ROWS, c: ROWS):
    for i, j in ti.ndrange(a.shape[0], b.shape[1]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@ti.kernel
def nbody(px: F32, py: F32, pz: F32, ax: F32, ay: F32, az: F32):
    for i in range(px.shape[0]):
        here = ti.Vector([px[i], py[i], pz[i]])
        force = ti.Vector([0.0, 0.0, 0.0])
        for j in range(px.shape[0]):
            d = ti.Vector([px[j], py[j], pz[j]]) - here
            inverse = ti.rsqrt(d.dot(d) + 1e-3)
            force += d * inverse * inverse * inverse
        ax[i], ay[i], az[i] = force[0], force[1], force[2]


@ti.kernel
def box_blur(x: ROWS, y: ROWS):
    for r, c in ti.ndrange(x.shape[0], x.shape[1]):
        total = 0.0
        for dr, dc in ti.static(ti.ndrange((-2, 3), (-2, 3))):
            if 0 <= r + dr < x.shape[0] and 0 <= c + dc < x.shape[1]:
                total += x[r + dr, c + dc]
        y[r, c] = total / 25.0


@ti.kernel
def histogram(data: I32, counts: I32):
    for i in range(data.shape[0]):
        counts[data[i]] += 1  # which is atomic
