"""Draws the Mandelbrot set, with lanes that diverge: `uv run python -m examples.mandelbrot`."""

import numpy as np

import eas
from eas import mk

SHADES = " .:-=+*#%@"


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


def main() -> None:
    width, height, limit = 78, 32, 50
    counts = np.zeros((height, width), np.int32)
    mandelbrot[mk.cdiv(width * height, 256)](counts, width, height, LIMIT=limit, BLOCK=256)
    for row in counts:
        print("".join(SHADES[int(count) * (len(SHADES) - 1) // limit] for count in row))


if __name__ == "__main__":
    main()
