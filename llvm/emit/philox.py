"""Philox 4x32-10, as `eas.ir.ops.random` describes it."""

from __future__ import annotations

from eas.llvm.emit.emit import Emitter, V, const

_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85


def philox(e: Emitter, operands: list[V], word: int) -> V:
    """A word of the cipher of a counter (c0, c1, c2, c3) under a key (k0, k1)."""
    c0, c1, c2, c3, k0, k1 = operands
    for _ in range(_ROUNDS):
        high0, low0 = _product(e, c0, _MULTIPLIERS[0])
        high1, low1 = _product(e, c2, _MULTIPLIERS[1])
        c0, c2 = e.xor(e.xor(high1, c1), k0), e.xor(e.xor(high0, c3), k1)
        c1, c3 = low1, low0
        k0, k1 = e.add(k0, const(k0.ty, _WEYL[0])), e.add(k1, const(k1.ty, _WEYL[1]))
    return (c0, c1, c2, c3)[word]


def _product(e: Emitter, a: V, factor: int) -> tuple[V, V]:
    """The upper and the lower half of a product."""
    wide = e.cast("zext", a, "i64")
    product = e.binary("mul", wide, const(wide.ty, factor))
    high = e.binary("lshr", product, const(wide.ty, 32))
    return e.cast("trunc", high, "i32"), e.cast("trunc", product, "i32")
