"""warp: one thread per element."""

from typing import Any

import warp

wp: Any = warp
wp.config.quiet = True
wp.init()
F32: Any = wp.array(dtype=wp.float32)
I32: Any = wp.array(dtype=wp.int32)


@wp.kernel
def _add(a: F32, b: F32, c: F32):
    i = wp.tid()
    c[i] = a[i] + b[i]


@wp.kernel
def _saxpy(x: F32, y: F32):
    i = wp.tid()
    y[i] = 2.0 * x[i] + y[i]


@wp.kernel
def _mandelbrot(out: I32, width: int, height: int, limit: int):
    i = wp.tid()
    cx = -2.0 + 2.5 * float(i % width) / float(width)
    cy = -1.25 + 2.5 * float(i / width) / float(height)
    x = wp.float32(0.0)
    y = wp.float32(0.0)
    n = wp.int32(0)
    while x * x + y * y < 4.0 and n < limit:
        xx = x * x
        yy = y * y
        y = 2.0 * x * y + cy
        x = xx - yy + cx
        n += 1
    out[i] = n


def shared(array: Any) -> Any:
    """A NumPy array as one of warp's, over the same memory."""
    dtype = wp.int32 if array.dtype.kind == "i" else wp.float32
    return wp.array(array, dtype=dtype, device="cpu", copy=False)


def add(a: Any, b: Any, c: Any) -> None:
    wp.launch(_add, dim=len(a), inputs=[a, b, c], device="cpu")


def saxpy(x: Any, y: Any) -> None:
    wp.launch(_saxpy, dim=len(x), inputs=[x, y], device="cpu")


def mandelbrot(out: Any, width: int, height: int, limit: int) -> None:
    wp.launch(_mandelbrot, dim=width * height, inputs=[out, width, height, limit], device="cpu")
