"""The gradients of a layer norm: of its input row by row, of its weights by atomics."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def layernorm_backward(x, w, dy, dx, dw, db, N, eps, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    mask = i < N
    v, g = mk.load(x, row * N + i, mask), mk.load(dy, row * N + i, mask)
    centered = mk.where(mask, v - mk.sum(v) / N, 0.0)
    rstd = mk.rsqrt(mk.sum(centered * centered) / N + eps)
    hat = centered * rstd
    wg = g * mk.load(w, i, mask)
    along, mean = mk.sum(wg * hat) / N, mk.sum(wg) / N
    mk.store(dx, row * N + i, (wg - hat * along - mean) * rstd, mask)
    mk.atomic_add(dw, i, g * hat, mask)
    mk.atomic_add(db, i, g, mask)


def arguments() -> Arguments:
    return {
        "x": floats(5, 77), "w": floats(77, seed=1), "dy": floats(5, 77, seed=2),
        "dx": np.zeros((5, 77), "f4"), "dw": np.zeros(77, "f4"), "db": np.zeros(77, "f4"),
        "N": 77, "eps": 1e-5, "BLOCK": 128,
    }  # fmt: skip


def reference(x: Array, w: Array, dy: Array, eps: float, **_: object) -> dict[str, Array]:
    x, w, dy = (a.astype("f8") for a in (x, w, dy))
    rstd = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    hat = (x - x.mean(1, keepdims=True)) * rstd
    wg = w * dy
    along, mean = (wg * hat).mean(1, keepdims=True), wg.mean(1, keepdims=True)
    return {"dx": (wg - hat * along - mean) * rstd, "dw": (dy * hat).sum(0), "db": dy.sum(0)}


CASE = Case(layernorm_backward, arguments, reference, grid=(5,), tolerance=1e-6)
