"""Atomics in MSL: Metal's own functions where it has them, or a compare-and-swap loop.

Metal has atomic functions for i32 and u32, and for add and exchange of f32 in device memory. All
others of up to 32 bits are done on the 32-bit word that contains the element: the loop computes the
new word and retries until no other thread has changed the old one. Elements of 64 bits have no
atomics here. See the section "Atomic Functions" of the Metal Shading Language Specification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.ir.nodes import Atomic, Function, Load, Store, Value, walk
from eas.ir.types import F32, I32, U32, Pointer
from eas.msl.cxx.helpers import Helpers
from eas.msl.ops.dtypes import type_name
from eas.msl.ops.errors import UnsupportedError
from eas.msl.ops.text import Text, call, subscript

Texts = Sequence[Text]

_FUNCTIONS = {
    "add": "atomic_fetch_add_explicit",
    "max": "atomic_fetch_max_explicit",
    "min": "atomic_fetch_min_explicit",
    "and": "atomic_fetch_and_explicit",
    "or": "atomic_fetch_or_explicit",
    "xor": "atomic_fetch_xor_explicit",
    "xchg": "atomic_exchange_explicit",
}


def check_atomic(op: Atomic) -> None:
    """Refuses dtypes without atomics."""
    dtype = op.result.ty.dtype
    if dtype.bits == 64 or dtype.is_bool:
        message = f"Metal has no atomics on {dtype}, only on numbers of up to 32 bits"
        raise UnsupportedError(message, op.loc)


def needed_version(op: Atomic) -> tuple[int, int]:
    return (3, 0) if op.result.ty.dtype == F32 and is_direct(op) else (2, 3)


def is_direct(op: Atomic) -> bool:
    """Whether Metal has an atomic function for it."""
    dtype = op.result.ty.dtype
    if dtype in (I32, U32):
        return True
    return dtype == F32 and op.kind in ("add", "xchg") and not is_threadgroup(op.pointer)


def is_threadgroup(pointer: Value) -> bool:
    return isinstance(pointer.ty, Pointer) and pointer.ty.space == "threadgroup"


def only_atomic(function: Function) -> set[Value]:
    """The arrays that only Metal's own atomics access: they are declared as arrays of atomics."""
    ops = [op for op in walk(function.body) if isinstance(op, Load | Store | Atomic)]
    plain = {op.pointer for op in ops if not isinstance(op, Atomic) or not is_direct(op)}
    return {op.pointer for op in ops} - plain


def spell_atomic(
    op: Atomic, array: Callable[[], str], is_declared: bool, helpers: Helpers
) -> Callable[[Texts], Text]:
    """The call; `array` gives the name of the array; if it `is_declared`, that has atomics."""
    space = "threadgroup" if is_threadgroup(op.pointer) else "device"
    dtype = op.result.ty.dtype
    if is_direct(op) and op.kind == "cas":
        helpers.need("atomic_cas" if space == "device" else "atomic_cas_threadgroup", dtype)
    elif not is_direct(op):
        helpers.need(f"exchange_{op.kind}_{space}", dtype)

    def spell(texts: Texts) -> Text:
        address = f"&{subscript(array(), texts[0]).text}"
        if not is_direct(op):
            words = f"({space} atomic_uint*){address if dtype.bits == 32 else array()}"
            index = () if dtype.bits == 32 else (texts[0],)
            return call(f"atomic_{op.kind}_{type_name(dtype)}", words, *index, *texts[1:])
        if not is_declared:
            address = f"({space} atomic_{type_name(dtype)}*){address}"
        if op.kind == "cas":
            return call("atomic_cas", address, texts[1], texts[2])
        return call(_FUNCTIONS[op.kind], address, texts[1], "memory_order_relaxed")

    return spell
