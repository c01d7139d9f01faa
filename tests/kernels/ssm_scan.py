"""A state-space model: a linear recurrence along time, as a scan of functions that are composed."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


def compose(a1, b1, a2, b2):
    """`a2 * (a1 * h + b1) + b2`, as one linear function of `h`."""
    return a1 * a2, b1 * a2 + b2


@eas.kernel
def ssm_scan(decay, gain, readout, y, T: eas.constexpr, D: eas.constexpr):
    at = mk.arange(0, T)[:, None] * D + mk.arange(0, D)[None, :]
    _, state = mk.associative_scan((mk.load(decay, at), mk.load(gain, at)), 0, compose)
    mk.store(y, mk.arange(0, T), mk.sum(state * mk.load(readout, at), 1))


def arguments() -> Arguments:
    t, d = 37, 6
    return {
        "decay": np.abs(floats(t, d)) / 4, "gain": floats(t, d, seed=1),
        "readout": floats(t, d, seed=2), "y": np.zeros(t, "f4"), "T": t, "D": d,
    }  # fmt: skip


def reference(decay: Array, gain: Array, readout: Array, **_: object) -> dict[str, Array]:
    state = np.zeros(decay.shape[1])
    y: list[float] = []
    for a, b, c in zip(decay, gain, readout, strict=True):
        state = a * state + b
        y.append(float(state @ c))
    return {"y": np.array(y)}


CASE = Case(ssm_scan, arguments, reference, grid=(1,), tolerance=1e-6)
