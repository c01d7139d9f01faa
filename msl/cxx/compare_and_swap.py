"""Atomics that Metal lacks, as MSL text: compare-and-swap loops on words of 32 bits.

See the section "Atomic Compare and Exchange Functions" of the Metal Shading Language Specification:
the only one is weak, so that it may fail spuriously and stands in a loop.
"""

from __future__ import annotations

from collections.abc import Callable

from eas.ir.types import BF16, DType
from eas.msl.ops.dtypes import type_name, unsigned

KINDS = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
SPACES = ("device", "threadgroup")


def _update(kind: str, dtype: DType) -> str:
    """The new value, from the `old` one and `x`."""
    name = type_name(dtype)
    old, x = ("float(old)", "float(x)") if dtype == BF16 else ("old", "x")
    extreme = f"f{kind}" if dtype.is_float else kind
    expressions = {
        "add": f"{old} + {x}",
        "max": f"{extreme}({old}, {x})",
        "min": f"{extreme}({old}, {x})",
        "and": "old & x",
        "or": "old | x",
        "xor": "old ^ x",
        "xchg": "x",
        "cas": "old == expected ? x : old",
    }
    if dtype.bits == 32 or kind in ("xchg", "cas"):
        return expressions[kind]
    return f"{name}({expressions[kind]})"


def define_loop(kind: str, space: str) -> Callable[[DType], str]:
    """A helper function that updates an element of an array of words."""

    def define(dtype: DType) -> str:
        t, bits = type_name(dtype), unsigned(dtype)
        expected = f"{t} expected, " if kind == "cas" else ""
        update = _update(kind, dtype)
        head = f"inline {t} atomic_{kind}_{t}({space} atomic_uint*"
        if dtype.bits == 32:
            return f"""
// A compare-and-swap loop: Metal has no atomic `{kind}` of `{t}` here.
{head} address, {expected}{t} x) {{
    uint found = atomic_load_explicit(address, memory_order_relaxed);
    while (true) {{
        const {t} old = as_type<{t}>(found);
        if (atomic_compare_exchange_weak_explicit(address, &found, as_type<uint>({update}),
                                                  memory_order_relaxed, memory_order_relaxed)) {{
            return old;
        }}
    }}
}}
"""
        per_word, mask = 32 // dtype.bits, hex((1 << dtype.bits) - 1)
        return f"""
// A compare-and-swap loop: Metal updates words of 32 bits only, of which this is a part.
{head} words, int index, {expected}{t} x) {{
    {space} atomic_uint* word = &words[index / {per_word}];
    const uint shift = uint(index % {per_word}) * {dtype.bits}u;
    uint found = atomic_load_explicit(word, memory_order_relaxed);
    while (true) {{
        const {t} old = as_type<{t}>({bits}(found >> shift));
        const uint part = uint(as_type<{bits}>({_typed(update, t)})) << shift;
        const uint rest = found & ~({mask}u << shift);
        if (atomic_compare_exchange_weak_explicit(word, &found, rest | part,
                                                  memory_order_relaxed, memory_order_relaxed)) {{
            return old;
        }}
    }}
}}
"""

    return define


def _typed(update: str, name: str) -> str:
    return update if update.startswith(f"{name}(") or update == "x" else f"{name}({update})"
