"""taichi: the outermost loop runs on all cores."""

import os
from typing import Any

import taichi

ti: Any = taichi
THREADS = int(os.environ.get("TI_NUM_THREADS", os.cpu_count() or 1))
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
