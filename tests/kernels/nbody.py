"""The pull of all bodies on each body: a loop over the others, which are scalars."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def nbody(px, py, mass, ax, ay, N, SOFTENING: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    x, y = mk.load(px, i, i < N), mk.load(py, i, i < N)
    pull_x = pull_y = mk.zeros((BLOCK,), mk.f32)
    for other in range(N):
        dx, dy = mk.load(px, other) - x, mk.load(py, other) - y
        inverse = mk.rsqrt(dx * dx + dy * dy + SOFTENING)
        strength = mk.load(mass, other) * inverse * inverse * inverse
        pull_x += strength * dx
        pull_y += strength * dy
    mk.store(ax, i, pull_x, i < N)
    mk.store(ay, i, pull_y, i < N)


def arguments() -> Arguments:
    n = 67
    return {
        "px": floats(n),
        "py": floats(n, seed=1),
        "mass": np.abs(floats(n, seed=2)),
        "ax": np.zeros(n, "f4"),
        "ay": np.zeros(n, "f4"),
        "N": n,
        "SOFTENING": 0.01,
        "BLOCK": 32,
    }


def reference(px: Array, py: Array, mass: Array, **_: object) -> dict[str, Array]:
    x, y = px.astype(np.float64), py.astype(np.float64)
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    strength = mass * (dx * dx + dy * dy + 0.01) ** -1.5
    return {"ax": (strength * dx).sum(axis=1), "ay": (strength * dy).sum(axis=1)}


CASE = Case(nbody, arguments, reference, tolerance=1e-5)
