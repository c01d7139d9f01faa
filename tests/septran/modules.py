"""Flat modules written by hand, as text: gemm, softmax by rows, flash attention."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DTYPES
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module

Array: TypeAlias = np.ndarray[Any, Any]


def gemm(slots: int = 1, dtype: str = "f32", primitive: str = "dsa.mma") -> Module:
    """`C = A @ B`: two copies per step of K, C accumulated in ACC and copied once."""
    pipelined = f" pipelined {slots}" if slots > 1 else ""
    rows, columns, depth = "min(16, M - 16*i)", "min(24, N - 24*j)", "min(8, K - 8*k)"
    params = f"C: {dtype} [M, N] GLOBAL w, A: {dtype} [M, K] GLOBAL r, B: {dtype} [K, N] GLOBAL r"
    return parse_module(f"""
module gemm({params}) machine awesomedsa {{
  kernel gemm({params}) grid [i < (M + 15) // 16, j < (N + 23) // 24] threads 1 {{
    alloc As: {dtype} [16, 8] SPM slots {slots} pad 0  because "gemm_block.A is in SPM"
    alloc Bs: {dtype} [8, 24] SPM slots {slots} pad 4
    alloc Cs: f32 [16, 24] ACC slots 1 pad 0
    fill Cs.ACC[0:16, 0:24] 0.0
    for k < (K + 7) // 8{pipelined} {{
      copy As.SPM@(k % {slots})[0:16, 0:8] <- A.GLOBAL[16*i : {rows}, 8*k : {depth}] fill 0.0
      copy Bs.SPM@(k % {slots})[0:8, 0:24] <- B.GLOBAL[8*k : {depth}, 24*j : {columns}] fill 0.0
      mma Cs.ACC[0:16, 0:24] += As.SPM@(k % {slots})[0:16, 0:8] @ Bs.SPM@(k % {slots})[0:8, 0:24] by {primitive}
    }}
    copy C.GLOBAL[16*i : {rows}, 24*j : {columns}] <- Cs.ACC[0 : {rows}, 0 : {columns}]
  }}
}}
""")  # noqa: E501


def softmax(dtype: str = "f32") -> Module:
    """`Y = softmax(X)` along the rows, in one pass over whole rows of a block of rows."""
    rows = "min(8, M - 8*i)"
    params = f"Y: {dtype} [M, N] GLOBAL w, X: {dtype} [M, N] GLOBAL r"
    whole = f"[0 : {rows}, 0 : min(32, N - 32*j)]"
    tile = f"[8*i : {rows}, 32*j : min(32, N - 32*j)]"
    return parse_module(f"""
module softmax({params}) machine awesomedsa {{
  kernel softmax({params}) grid [i < (M + 7) // 8] threads 1 {{
    alloc x: {dtype} [8, 32] SPM slots 1 pad 0
    alloc e: f32 [8, 32] SPM slots 1 pad 0
    alloc top: f32 [8, 1] SPM slots 1 pad 0
    alloc total: f32 [8] SPM slots 1 pad 0
    fill top.SPM[0:8, 0:1] -inf
    fill total.SPM[0:8] 0.0
    for j < (N + 31) // 32 {{
      copy x.SPM{whole} <- X.GLOBAL{tile}
      map e.SPM{whole} = f32(x.SPM{whole})
      reduce top.SPM[0 : {rows}, 0 : 1] max= e.SPM{whole} axis 1
    }}
    for j < (N + 31) // 32 {{
      copy x.SPM{whole} <- X.GLOBAL{tile}
      map e.SPM{whole} = exp(f32(x.SPM{whole}) - top.SPM[0 : {rows}, 0 : 1])
      reduce total.SPM[0 : {rows}] add= e.SPM{whole} axis 1
    }}
    for j < (N + 31) // 32 {{
      copy x.SPM{whole} <- X.GLOBAL{tile}
      map e.SPM{whole} = exp(f32(x.SPM{whole}) - top.SPM[0 : {rows}, 0 : 1]) / column(total.SPM[0 : {rows}])
      map x.SPM{whole} = {dtype}(e.SPM{whole})
      copy Y.GLOBAL{tile} <- x.SPM{whole}
    }}
  }}
}}
""")  # noqa: E501


def flash_attention(dtype: str = "f32", is_causal: bool = False) -> Module:
    """`O = softmax(Q @ K.T / sqrt(d)) @ V` per head, K and V copied once per step, d = 16."""
    rows, columns = "min(16, L - 16*i)", "min(12, S - 12*j)"
    params = (
        f"O: {dtype} [H, L, 16] GLOBAL w, Q: {dtype} [H, L, 16] GLOBAL r, "
        f"K: {dtype} [H, S, 16] GLOBAL r, V: {dtype} [H, S, 16] GLOBAL r"
    )
    score = "s.ACC[0:16, 0:12] * 0.25:f32"
    is_seen = f"iota(1) < int({columns})"
    if is_causal:
        is_seen = f"({is_seen}) & (iota(1) + int(12*j) <= iota(0) + int(16*i))"
    return parse_module(f"""
module flash_attention({params}) machine awesomedsa {{
  kernel attend({params}) grid [h < H, i < (L + 15) // 16] threads 1 {{
    alloc q: {dtype} [16, 16] SPM slots 1 pad 0
    alloc k: {dtype} [12, 16] SPM slots 1 pad 0
    alloc v: {dtype} [12, 16] SPM slots 1 pad 0
    alloc s: f32 [16, 12] ACC slots 1 pad 0
    alloc p: {dtype} [16, 12] SPM slots 1 pad 0
    alloc o: f32 [16, 16] ACC slots 1 pad 0
    alloc m: f32 [16, 1] ACC slots 1 pad 0
    alloc n: f32 [16, 1] ACC slots 1 pad 0
    alloc r: f32 [16, 1] ACC slots 1 pad 0
    alloc l: f32 [16, 1] ACC slots 1 pad 0
    copy q.SPM[0:16, 0:16] <- Q.GLOBAL[h, 16*i : {rows}, 0:16] fill 0.0
    fill o.ACC[0:16, 0:16] 0.0
    fill m.ACC[0:16, 0:1] -1e30
    fill l.ACC[0:16, 0:1] 0.0
    for j < (S + 11) // 12 {{
      copy k.SPM[0:12, 0:16] <- K.GLOBAL[h, 12*j : {columns}, 0:16] fill 0.0
      copy v.SPM[0:12, 0:16] <- V.GLOBAL[h, 12*j : {columns}, 0:16] fill 0.0
      fill s.ACC[0:16, 0:12] 0.0
      mma s.ACC[0:16, 0:12] += q.SPM[0:16, 0:16] @ k.SPM[0:12, 0:16] trans b by dsa.mma
      map s.ACC[0:16, 0:12] = select({is_seen}, {score}, -1e30:f32)
      map n.ACC[0:16, 0:1] = m.ACC[0:16, 0:1]
      reduce n.ACC[0:16, 0:1] max= s.ACC[0:16, 0:12] axis 1
      map r.ACC[0:16, 0:1] = exp(m.ACC[0:16, 0:1] - n.ACC[0:16, 0:1])
      map m.ACC[0:16, 0:1] = n.ACC[0:16, 0:1]
      map s.ACC[0:16, 0:12] = exp(s.ACC[0:16, 0:12] - n.ACC[0:16, 0:1])
      map l.ACC[0:16, 0:1] = l.ACC[0:16, 0:1] * r.ACC[0:16, 0:1]
      reduce l.ACC[0:16, 0:1] add= s.ACC[0:16, 0:12] axis 1
      map o.ACC[0:16, 0:16] = o.ACC[0:16, 0:16] * r.ACC[0:16, 0:1]
      map p.SPM[0:16, 0:12] = {dtype}(s.ACC[0:16, 0:12])
      mma o.ACC[0:16, 0:16] += p.SPM[0:16, 0:12] @ v.SPM[0:12, 0:16] by dsa.mma
    }}
    map o.ACC[0:16, 0:16] = o.ACC[0:16, 0:16] / l.ACC[0:16, 0:1]
    copy O.GLOBAL[h, 16*i : {rows}, 0:16] <- o.ACC[0 : {rows}, 0:16]
  }}
}}
""")


def random(dtype: str, *shape: int, seed: int = 0) -> Array:
    """Numbers of a normal distribution."""
    numbers = np.random.default_rng(seed + sum(shape)).standard_normal(shape)
    return numbers.astype(DTYPES[dtype].numpy)


def nothing(dtype: str, *shape: int) -> Array:
    """An array for results."""
    return np.zeros(shape, DTYPES[dtype].numpy)


def softmax_of(x: Array) -> Array:
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def attention_of(q: Array, k: Array, v: Array, is_causal: bool = False) -> Array:
    scores = np.einsum("hld,hsd->hls", q, k) * 0.25
    if is_causal:
        scores = np.where(np.tri(*scores.shape[1:], dtype=bool), scores, -np.inf)
    return np.einsum("hls,hsd->hld", softmax_of(scores), v)


def assert_close(found: Array, expected: Array) -> None:
    """Within the tolerance of the dtype, relative to 1 + the largest."""
    bound = {4: 2e-5, 2: 2e-2, 8: 1e-12}[found.dtype.itemsize]
    wide = found.astype(np.float64)
    assert np.isfinite(wide).all()
    assert np.abs(wide - expected).max() <= bound * (1 + np.abs(expected).max())
