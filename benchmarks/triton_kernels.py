"""The work of `benchmarks.interpreter` in Triton's interpreter; prints milliseconds as JSON.

A script for a Python that has Triton, torch and NumPy; `TRITON_INTERPRET=1` must be set.
"""

# Triton is not in the project's environment.
# pyright: basic, reportMissingImports=false, reportIndexIssue=false

import json
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
def softmax(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + offs, offs < N, other=float("-inf"))
    powers = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * N + offs, powers / tl.sum(powers, 0), offs < N)


def time_add(n):
    a, b = torch.rand(n), torch.rand(n)
    c = torch.zeros(n)
    add[(1,)](a, b, c, BLOCK, BLOCK=BLOCK)
    start = time.perf_counter()
    add[(n // BLOCK,)](a, b, c, n, BLOCK=BLOCK)
    passed = time.perf_counter() - start
    torch.testing.assert_close(c, a + b)
    return 1000 * passed


def time_softmax(rows, columns):
    x = torch.randn(rows, columns)
    y = torch.zeros_like(x)
    softmax[(1,)](x, y, columns, BLOCK=BLOCK)
    start = time.perf_counter()
    softmax[(rows,)](x, y, columns, BLOCK=BLOCK)
    passed = time.perf_counter() - start
    torch.testing.assert_close(y, torch.softmax(x, 1))
    return 1000 * passed


if __name__ == "__main__":
    times = {
        f"add {1 << 24:,} f32": time_add(1 << 24),
        "softmax 4096 x 1024 f32": time_softmax(4096, 1024),
    }
    print(json.dumps(times))
