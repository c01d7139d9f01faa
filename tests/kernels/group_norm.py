"""Normalizes groups of channels of an image, in two walks over each group."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def group_norm(x, weight, bias, y, C, HW, GROUPS: eas.constexpr, BLOCK: eas.constexpr):
    group = mk.program_id(1)
    size = C // GROUPS * HW
    base = (mk.program_id(0) * GROUPS + group) * size
    total, squares = 0.0, 0.0
    for start in range(0, size, BLOCK):
        i = start + mk.arange(0, BLOCK)
        v = mk.load(x, base + i, i < size)
        total += mk.sum(v)
        squares += mk.sum(v * v)
    mean = total / size
    scale = mk.rsqrt(squares / size - mean * mean + 1e-5)
    for start in range(0, size, BLOCK):
        i = start + mk.arange(0, BLOCK)
        inside = i < size
        channel = group * (C // GROUPS) + i // HW
        v = (mk.load(x, base + i, inside) - mean) * scale
        w, b = mk.load(weight, channel, inside), mk.load(bias, channel, inside)
        mk.store(y, base + i, v * w + b, inside)


def arguments() -> Arguments:
    return {
        "x": floats(2, 6, 35), "weight": floats(6, seed=1), "bias": floats(6, seed=2),
        "y": np.zeros((2, 6, 35), "f4"), "C": 6, "HW": 35, "GROUPS": 3, "BLOCK": 64,
    }  # fmt: skip


def reference(x: Array, weight: Array, bias: Array, **_: object) -> dict[str, Array]:
    groups = x.astype("f8").reshape(2, 3, -1)
    spread = np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    y = ((groups - groups.mean(-1, keepdims=True)) / spread).reshape(x.shape)
    return {"y": y * weight[:, None] + bias[:, None]}


CASE = Case(group_norm, arguments, reference, grid=(2, 3), tolerance=1e-5)
