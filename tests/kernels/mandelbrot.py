"""How soon each point of the plane escapes: a `while` that each lane leaves on its own."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


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


def arguments() -> Arguments:
    w, h = 37, 23
    return {"out": np.zeros((h, w), "i4"), "W": w, "H": h, "LIMIT": 50, "BLOCK": 256}


def reference(out: Array, W: int, H: int, LIMIT: int, **_: object) -> dict[str, Array]:
    """Scalar Python, on NumPy's f32."""
    f = np.float32
    counts = np.zeros_like(out)
    for i in range(W * H):
        cx = f(-2.0) + f(2.5) * f(i % W) / f(W)
        cy = f(-1.25) + f(2.5) * f(i // W) / f(H)
        x, y, n = f(0.0), f(0.0), 0
        while x * x + y * y < 4.0 and n < LIMIT:
            x, y = x * x - y * y + cx, f(2.0) * x * y + cy
            n += 1
        counts.flat[i] = n
    return {"out": counts}


CASE = Case(mandelbrot, arguments, reference, grid=(4,))
