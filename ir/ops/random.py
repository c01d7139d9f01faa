"""Random numbers: Philox 4x32-10, a cipher of a counter under a key (Salmon et al., 2011)."""

from __future__ import annotations

import numpy as np

from eas.ir.ops.record import Array, OpDef
from eas.ir.ops.typing_rules import is_word, same_type

_ROUNDS = 10
_MULTIPLIERS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)


def _product(a: Array, factor: np.uint32) -> tuple[Array, Array]:
    """The upper and the lower half of a product."""
    wide = a.astype(np.uint64) * factor
    return (wide >> np.uint64(32)).astype(np.uint32), wide.astype(np.uint32)


def _philox(
    c0: Array, c1: Array, c2: Array, c3: Array, k0: Array, k1: Array, *, word: int
) -> Array:
    for _ in range(_ROUNDS):
        high0, low0 = _product(c0, _MULTIPLIERS[0])
        high1, low1 = _product(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return (c0, c1, c2, c3)[word]


RANDOM = (
    OpDef(
        "philox",
        ("c0", "c1", "c2", "c3", "k0", "k1"),
        same_type(is_word, "u32"),
        _philox,
        "a word of Philox 4x32-10 of the counter (c0, c1, c2, c3) under the key (k0, k1)",
        attrs=("word",),
    ),
)
