"""The cross entropy of each row of logits with its label, and the gradient with it."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats, integers


@eas.kernel
def cross_entropy(logits, labels, loss, grad, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    v = mk.load(logits, row * N + i, i < N, other=-math.inf)
    label = mk.load(labels, row)
    high = mk.max(v)
    powers = mk.exp(v - high)
    total = mk.sum(powers)
    mk.store(loss, row, mk.log(total) + high - mk.load(logits, row * N + label))
    mk.store(grad, row * N + i, powers / total - mk.where(i == label, 1.0, 0.0), i < N)


def arguments() -> Arguments:
    return {
        "logits": 5 * floats(6, 333), "labels": integers(6, low=0, high=333),
        "loss": np.zeros(6, "f4"), "grad": np.zeros((6, 333), "f4"), "N": 333, "BLOCK": 512,
    }  # fmt: skip


def reference(logits: Array, labels: Array, **_: object) -> dict[str, Array]:
    wide = logits.astype("f8")
    total = np.logaddexp.reduce(wide, axis=1)
    grad = np.exp(wide - total[:, None])
    grad[np.arange(6), labels] -= 1
    return {"loss": total - wide[np.arange(6), labels], "grad": grad}


CASE = Case(cross_entropy, arguments, reference, grid=(6,), tolerance=1e-6)
