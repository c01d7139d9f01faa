"""Simulates heat in a rod by a recorded graph: `uv run python -m examples.graph`.

A step has two launches, which are recorded once. Each replay runs both without binding their
arguments again, and may set their scalars. The second graph scales and shifts the temperatures in
launches that are fused into one.
"""

import numpy as np

import eas
from eas import mk


@eas.kernel
def spread(t, out, rate, N, BLOCK: eas.constexpr):
    """Each point moves towards the mean of its neighbors; the ends stay as they are."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    inside = (i > 0) & (i < N - 1)
    here = mk.load(t, i, i < N)
    mean = (mk.load(t, i - 1, inside) + mk.load(t, i + 1, inside)) / 2
    mk.store(out, i, here + rate * (mean - here) if inside else here, i < N)


@eas.kernel
def scale(t, out, factor, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(t, i, i < N) * factor, i < N)


@eas.kernel
def shift(t, out, offset, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(t, i, i < N) + offset, i < N)


def main() -> None:
    n, block = 64, 32
    a, b = eas.zeros(n), eas.zeros(n)
    a[:1].fill_(100.0)
    with eas.graph() as step:
        spread(a, b, 0.5, n, BLOCK=block)
        spread(b, a, 0.5, n, BLOCK=block)
    print(step)
    for _ in range(200):
        step.replay(_sync=False)
    for _ in range(200):
        step.replay(rate=1.0, _sync=False)
    celsius = a.numpy()  # waits for the last replay
    print("celsius   ", np.round(celsius[:32:4], 1))

    fahrenheit = eas.empty(n)
    with eas.graph(fuse=True) as convert:
        scale(a, fahrenheit, 1.8, n, BLOCK=block)
        shift(fahrenheit, fahrenheit, 32.0, n, BLOCK=block)
    convert.replay()
    print("fahrenheit", np.round(fahrenheit.numpy()[:32:4], 1))
    print(convert.to_msl())


if __name__ == "__main__":
    main()
