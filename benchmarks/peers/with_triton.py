"""Triton's interpreter: `python with_triton.py softmax 4096x1024 ...` prints seconds as JSON.

A script for a Python that has Triton and torch; `TRITON_INTERPRET=1` must be set. Each runs once,
as it is slow, after a launch of one program that does not count.
"""

import json
import sys
import time

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def add(a, b, c, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < N
    tl.store(c + offs, tl.load(a + offs, mask) + tl.load(b + offs, mask), mask)


@triton.jit
def saxpy(x, y, A, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < N
    tl.store(y + offs, A * tl.load(x + offs, mask) + tl.load(y + offs, mask), mask)


@triton.jit
def softmax(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + offs, offs < N, other=float("-inf"))
    powers = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * N + offs, powers / tl.sum(powers, 0), offs < N)


@triton.jit
def layernorm(x, weight, bias, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < N
    v = tl.load(x + row * N + offs, mask, other=0.0)
    centered = tl.where(mask, v - tl.sum(v, 0) / N, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, 0) / N + 1e-5)
    normal = centered * scale * tl.load(weight + offs, mask) + tl.load(bias + offs, mask)
    tl.store(y + row * N + offs, normal, mask)


@triton.jit
def gelu(x, y, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, offs < N)
    tl.store(y + offs, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), offs < N)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    col = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + row * K + k[None, :], (row < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + col, (k[:, None] < K) & (col < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + row * N + col, total, (row < M) & (col < N))


@triton.jit
def attention(
    q, k, v, out, N, SCALE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    head = tl.program_id(1) * N
    m = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    d = tl.arange(0, D)
    rows = tl.load(q + (head + m) * D + d[None, :], m < N, other=0.0) * SCALE
    high = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        place = (head + n[:, None]) * D + d[None, :]
        keys = tl.load(k + place, n[:, None] < N, other=0.0)
        scores = tl.where(n[None, :] < N, tl.dot(rows, tl.trans(keys)), float("-inf"))
        higher = tl.maximum(high, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        factor = tl.exp(high - higher)
        total = total * factor + tl.sum(weights, 1)
        values = tl.load(v + place, n[:, None] < N, other=0.0)
        acc = tl.dot(weights, values, acc * factor[:, None])
        high = higher
    tl.store(out + (head + m) * D + d[None, :], acc / total[:, None], m < N)


def run_add(n):
    a, b = torch.rand(n), torch.rand(n)
    c = torch.zeros(n)
    return add, triton.cdiv(n, BLOCK), (a, b, c, n), {"BLOCK": BLOCK}, c, a + b


def run_saxpy(n):
    x, y = torch.rand(n), torch.rand(n)
    y[:BLOCK] -= 2.0 * x[:BLOCK]  # the launch of one program that does not count
    expected = torch.add(y, x, alpha=2.0)
    expected[:BLOCK] += 2.0 * x[:BLOCK]
    return saxpy, triton.cdiv(n, BLOCK), (x, y, 2.0, n), {"BLOCK": BLOCK}, y, expected


def run_softmax(rows, columns):
    x = torch.randn(rows, columns)
    y = torch.zeros_like(x)
    size = {"BLOCK": triton.next_power_of_2(columns)}
    return softmax, rows, (x, y, columns), size, y, torch.softmax(x, 1)


def run_layernorm(rows, columns):
    x, weight, bias = torch.randn(rows, columns), torch.randn(columns), torch.randn(columns)
    y = torch.zeros_like(x)
    expected = torch.nn.functional.layer_norm(x, (columns,), weight, bias)
    size = {"BLOCK": triton.next_power_of_2(columns)}
    return layernorm, rows, (x, weight, bias, y, columns), size, y, expected


def run_gelu(n):
    x, y = torch.randn(n), torch.zeros(n)
    expected = torch.nn.functional.gelu(x)
    return gelu, triton.cdiv(n, BLOCK), (x, y, n), {"BLOCK": BLOCK}, y, expected


def run_matmul(n):
    a, b, c = torch.randn(n, n), torch.randn(n, n), torch.zeros(n, n)
    grid = (triton.cdiv(n, 128), triton.cdiv(n, 128))
    return matmul, grid, (a, b, c, n, n, n), {"BM": 128, "BN": 128, "BK": 64}, c, a @ b


def run_attention(heads, n, depth):
    q, k, v = (torch.randn(heads, n, depth) for _ in range(3))
    out = torch.zeros_like(q)
    expected = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    sizes = {"SCALE": depth**-0.5, "BM": 64, "BN": 64, "D": depth}
    return attention, (triton.cdiv(n, 64), heads), (q, k, v, out, n), sizes, out, expected


def seconds_of(name, extents):
    kernel, grid, arguments, sizes, found, expected = globals()[f"run_{name}"](*extents)
    grid = grid if isinstance(grid, tuple) else (grid,)
    kernel[(1,) * len(grid)](*arguments, **sizes)
    start = time.perf_counter()
    kernel[grid](*arguments, **sizes)
    passed = time.perf_counter() - start
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
    return passed


if __name__ == "__main__":
    asked = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps({name: seconds_of(name, map(int, x.split("x"))) for name, x in asked}))
