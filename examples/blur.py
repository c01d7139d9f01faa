"""Blurs an image given as any view, strides and all: `uv run python -m examples.blur`."""

import numpy as np

import eas
from eas import mk


@eas.kernel
def blur(image, out, R: eas.constexpr, BLOCK: eas.constexpr):
    height, width = image.shape
    y = mk.program_id(1)
    x = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if x < width:
        total, count = 0.0, 0
        for j in range(max(y - R, 0), min(y + R + 1, height)):
            for i in range(-R, R + 1):
                if 0 <= x + i < width:
                    total += image[j, x + i]
                    count += 1
        out[y, x] = total / count


def main() -> None:
    image = np.zeros((6, 9), np.float32)
    image[2, 4] = 9.0
    out = np.zeros_like(image)
    block = 32
    blur[mk.cdiv(image.shape[1], block), image.shape[0]](image, out, R=1, BLOCK=block)
    print(out)

    turned = image.T[::-1]  # another view of the same memory: nothing is copied
    out = np.zeros(turned.shape, np.float32)
    blur[mk.cdiv(turned.shape[1], block), turned.shape[0]](turned, out, R=1, BLOCK=block)
    print(out)


if __name__ == "__main__":
    main()
