"""Habits from Triton. Below each mistake stand its place and its code."""

import eas
import eas.language as tl
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def to_method(x, y, n, BLOCK: eas.constexpr):
    offs = mk.arange(0, BLOCK)
    v = mk.load(x + offs, mask=offs < n).to(tl.float16)
    mk.store(y + offs, v.to(mk.float31), mask=offs < n)
#                              ^^^^^^^ E0205


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def tl_multiple(x, y, n, BLOCK: eas.constexpr):
    offs = mk.multiple_of(mk.arange(0, BLOCK), 16)
    v = mk.load(x + offs, mask=offs < n, other=0, eviction_policy="evict_frist")
#                                                                 ^^^^^^^^^^^^^ E0705
    mk.store(y + offs, v)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def broadcast_mask(x, y, n, BLOCK: eas.constexpr):
    r = mk.arange(0, BLOCK)
    c = mk.arange(0, 32)
    v = mk.load(x + r[:, None] * n + c[None, :], mask=r < n)
#                                                     ^^^^^ E0304
    mk.store(y + r[:, None] * n + c[None, :], v)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def pointer_arith(x, y, n, BLOCK: eas.constexpr):
    p = x * 2
#       ^^^^^ E0309
    mk.store(y + mk.arange(0, BLOCK), mk.load(p))


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def not_power(x, y, n, BLOCK: eas.constexpr):
    offs = mk.arange(0, n)
#                       ^ E0705
    mk.store(y + offs, 0.0)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def reassigned_constexpr(x, y, n, BLOCK: eas.constexpr):
    BLOCK = BLOCK + n
    offs = mk.arange(0, BLOCK)
#                       ^^^^^ E0705
    mk.store(y + offs, 0.0)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def mask_int(x, y, n, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y + i, mk.load(x + i, mask=i), mask=n)
#                                       ^ E0301


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def static_range(x, y, n, BLOCK: eas.constexpr):
    for k in mk.static_range(n):
#                            ^ E0705
        mk.store(y + k, 0.0)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def atomic(x, y, n, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.atomic_add(y + i, mk.load(x + i), sem="relaxd")
#                                        ^^^ E0428


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def max_two(x, y, n, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x + i)
    mk.store(y + i, mk.max(v, 0.0))
#                             ^^^ E0705


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=64))])
def store_no_value(x, y, n, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y + i, mask=i < n)
#   ^^^^^^^^ E0413
