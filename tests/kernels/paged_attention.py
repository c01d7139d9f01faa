"""Attention of one query per sequence over keys in pages: a table says where each page is."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def paged_attention(
    q, keys, values, table, lengths, out, scale,
    PAGES: eas.constexpr, PAGE: eas.constexpr, D: eas.constexpr,
):  # fmt: skip
    sequence = mk.program_id(0)
    d, slot = mk.arange(0, D), mk.arange(0, PAGE)
    query = mk.load(q, sequence * D + d)
    length = mk.load(lengths, sequence)
    high, total, acc = -math.inf, 0.0, mk.zeros((D,))
    for page in range(mk.cdiv(length, PAGE)):
        place = mk.load(table, sequence * PAGES + page)
        at = (place * PAGE + slot)[:, None] * D + d[None, :]
        is_there = page * PAGE + slot < length
        k = mk.load(keys, at, is_there[:, None])
        scores = mk.where(is_there, mk.sum(k * query[None, :], axis=1) * scale, -math.inf)
        higher = mk.maximum(high, mk.max(scores))
        weights = mk.exp(scores - higher)
        factor = mk.exp(high - higher)
        v = mk.load(values, at, is_there[:, None])
        acc = acc * factor + mk.sum(weights[:, None] * v, axis=0)
        total = total * factor + mk.sum(weights)
        high = higher
    mk.store(out, sequence * D + d, acc / total)


def arguments() -> Arguments:
    table = np.random.default_rng(0).permutation(12).reshape(3, 4).astype("i4")
    return {
        "q": floats(3, 24), "keys": floats(12, 8, 24, seed=1), "values": floats(12, 8, 24, seed=2),
        "table": table, "lengths": np.array([29, 1, 16], "i4"), "out": np.zeros((3, 24), "f4"),
        "scale": 0.2, "PAGES": 4, "PAGE": 8, "D": 24,
    }  # fmt: skip


def reference(
    q: Array, keys: Array, values: Array, table: Array, lengths: Array, scale: float, **_: object
) -> dict[str, Array]:
    out = np.zeros((3, 24))
    for s, length in enumerate(lengths):
        k, v = (a[table[s]].reshape(-1, 24)[:length].astype("f8") for a in (keys, values))
        scores = k @ q[s] * scale
        weights = np.exp(scores - scores.max())
        out[s] = weights @ v / weights.sum()
    return {"out": out}


CASE = Case(paged_attention, arguments, reference, grid=(3,), tolerance=1e-6)
