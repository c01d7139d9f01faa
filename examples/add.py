"""Adds two vectors and prints the Metal of the kernel: `uv run python -m examples.add`."""

import numpy as np

import eas
from eas import mk


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


def main() -> None:
    n = 1024 + 7
    random = np.random.default_rng(0)
    a = random.standard_normal(n, dtype=np.float32)
    b = random.standard_normal(n, dtype=np.float32)
    c = np.zeros_like(a)

    add(a, b, c, n, BLOCK=256)
    np.testing.assert_array_equal(c, a + b)

    print(add.to_msl(a, b, c, n, BLOCK=256))
    print(f"added {n} numbers, as NumPy does")


if __name__ == "__main__":
    main()
