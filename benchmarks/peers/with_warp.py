"""warp: one thread per element."""

from typing import Any

import warp

wp: Any = warp
wp.config.log_level = wp.LOG_ERROR
wp.init()
F32: Any = wp.array(dtype=wp.float32)
I32: Any = wp.array(dtype=wp.int32)
ROWS: Any = wp.array2d(dtype=wp.float32)


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


@wp.kernel
def _softmax(x: ROWS, y: ROWS):
    r = wp.tid()
    most = x[r, 0]
    for c in range(x.shape[1]):
        most = wp.max(most, x[r, c])
    total = wp.float32(0.0)
    for c in range(x.shape[1]):
        power = wp.exp(x[r, c] - most)
        y[r, c] = power
        total += power
    for c in range(x.shape[1]):
        y[r, c] = y[r, c] / total


@wp.kernel
def _layernorm(x: ROWS, weight: F32, bias: F32, y: ROWS):
    r = wp.tid()
    columns = x.shape[1]
    total = wp.float32(0.0)
    for c in range(columns):
        total += x[r, c]
    mean = total / float(columns)
    squares = wp.float32(0.0)
    for c in range(columns):
        squares += (x[r, c] - mean) * (x[r, c] - mean)
    scale = 1.0 / wp.sqrt(squares / float(columns) + 1e-5)
    for c in range(columns):
        y[r, c] = (x[r, c] - mean) * scale * weight[c] + bias[c]


@wp.kernel
def _gelu(x: F32, y: F32):
    i = wp.tid()
    y[i] = 0.5 * x[i] * (1.0 + wp.erf(x[i] * 0.7071067811865476))


@wp.kernel
def _matmul(a: ROWS, b: ROWS, c: ROWS):
    i, j = wp.tid()
    total = wp.float32(0.0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@wp.kernel
def _nbody(px: F32, py: F32, pz: F32, ax: F32, ay: F32, az: F32):
    i = wp.tid()
    here = wp.vec3(px[i], py[i], pz[i])
    force = wp.vec3()
    for j in range(px.shape[0]):
        d = wp.vec3(px[j], py[j], pz[j]) - here
        inverse = 1.0 / wp.sqrt(wp.dot(d, d) + 1e-3)
        force += d * inverse * inverse * inverse
    ax[i] = force[0]
    ay[i] = force[1]
    az[i] = force[2]


@wp.kernel
def _box_blur(x: ROWS, y: ROWS):
    r, c = wp.tid()
    total = wp.float32(0.0)
    for dr in range(-2, 3):
        for dc in range(-2, 3):
            if r + dr >= 0 and r + dr < x.shape[0] and c + dc >= 0 and c + dc < x.shape[1]:
                total += x[r + dr, c + dc]
    y[r, c] = total / 25.0


@wp.kernel
def _histogram(data: I32, counts: I32):
    i = wp.tid()
    wp.atomic_add(counts, data[i], 1)


def shared(array: Any) -> Any:
    """A NumPy array as one of warp's, over the same memory."""
    dtype = wp.int32 if array.dtype.kind == "i" else wp.float32
    return wp.array(array, dtype=dtype, device="cpu", copy=False)


def _launch(kernel: Any, dim: Any, *inputs: Any) -> None:
    wp.launch(kernel, dim=dim, inputs=list(inputs), device="cpu")


def add(a: Any, b: Any, c: Any) -> None:
    _launch(_add, len(a), a, b, c)


def saxpy(x: Any, y: Any) -> None:
    _launch(_saxpy, len(x), x, y)


def softmax(x: Any, y: Any) -> None:
    _launch(_softmax, x.shape[0], x, y)


def layernorm(x: Any, weight: Any, bias: Any, y: Any) -> None:
    _launch(_layernorm, x.shape[0], x, weight, bias, y)


def gelu(x: Any, y: Any) -> None:
    _launch(_gelu, len(x), x, y)


def mandelbrot(out: Any, width: int, height: int, limit: int) -> None:
    _launch(_mandelbrot, width * height, out, width, height, limit)


def matmul(a: Any, b: Any, c: Any) -> None:
    _launch(_matmul, c.shape, a, b, c)


def nbody(*arrays: Any) -> None:
    _launch(_nbody, len(arrays[0]), *arrays)


def box_blur(x: Any, y: Any) -> None:
    _launch(_box_blur, x.shape, x, y)


def histogram(data: Any, counts: Any) -> None:
    _launch(_histogram, len(data), data, counts)


def prefix_sum(x: Any, y: Any) -> None:
    wp.utils.array_scan(x, y, inclusive=True)
