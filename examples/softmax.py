"""Softmax over the rows of a matrix, one program per row: `uv run python -m examples.softmax`."""

import math

import numpy as np

import eas
from eas import mk


@eas.kernel
def softmax(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    col = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + col, mask=col < N, other=-math.inf)
    v = mk.exp(v - mk.max(v))
    mk.store(y, row * N + col, v / mk.sum(v), mask=col < N)


def main() -> None:
    rows, columns = 64, 1000
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    y = np.empty_like(x)
    softmax[rows](x, y, columns, BLOCK=1024)

    expected = np.exp(x - x.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    print("largest difference to NumPy:", np.abs(y - expected).max())


if __name__ == "__main__":
    main()
