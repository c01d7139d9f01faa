"""Softmax, layer norm and attention as ops of torch, with gradients: `docs/torch.md` explains them.

Each kernel loops over blocks of a fixed size, so that one compiled kernel serves all shapes. `ACC`
is the dtype that it computes in: f64 for f64, else f32.
"""

import math

import torch

import eas
from eas import mk

COLUMNS = 256  # elements of a row that a program holds at a time
QUERIES, KEYS = 16, 32


def accumulator(x: torch.Tensor) -> object:
    return mk.f64 if x.dtype == torch.float64 else mk.f32


def as_rows(x: torch.Tensor) -> torch.Tensor:
    """The tensor as a contiguous matrix of its last axis; a number is a row of one element."""
    return (x.reshape(1, 1) if x.dim() == 0 else x.reshape(-1, x.shape[-1])).contiguous()


@eas.kernel
def softmax_forward(x, y, N, ACC: eas.constexpr, BLOCK: eas.constexpr):
    start = mk.program_id(0) * N
    best = mk.full((BLOCK,), -math.inf, ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        best = mk.maximum(best, mk.load(x, start + i, i < N, -math.inf).to(ACC))
    top = mk.max(best)
    total = mk.zeros((BLOCK,), ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        total += mk.exp(mk.load(x, start + i, i < N, -math.inf).to(ACC) - top)
    scale = 1.0 / mk.sum(total)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        mk.store(y, start + i, mk.exp(mk.load(x, start + i, i < N).to(ACC) - top) * scale, i < N)


@eas.kernel
def softmax_backward(y, grad, out, N, ACC: eas.constexpr, BLOCK: eas.constexpr):
    start = mk.program_id(0) * N
    total = mk.zeros((BLOCK,), ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        total += mk.load(y, start + i, i < N).to(ACC) * mk.load(grad, start + i, i < N).to(ACC)
    mean = mk.sum(total)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        change = mk.load(grad, start + i, i < N).to(ACC) - mean
        mk.store(out, start + i, mk.load(y, start + i, i < N).to(ACC) * change, i < N)


@eas.torch.custom_op("eas_examples::softmax")
def softmax(x: torch.Tensor) -> torch.Tensor:
    """The softmax along the last axis."""
    rows = as_rows(x)
    y = torch.empty_like(rows)
    count, n = rows.shape
    softmax_forward[(count,)](rows, y, n, ACC=accumulator(x), BLOCK=COLUMNS)
    return y.reshape(x.shape)


@softmax.backward
def softmax_gradient(ctx, grad):
    (y,) = ctx.outputs
    y_rows, grad_rows = as_rows(y), as_rows(grad)
    out = torch.empty_like(y_rows)
    count, n = y_rows.shape
    softmax_backward[(count,)](y_rows, grad_rows, out, n, ACC=accumulator(y), BLOCK=COLUMNS)
    return out.reshape(y.shape)


@eas.function
def row_statistics(x, start, N, eps, ACC, BLOCK):
    """The mean of a row, and one over its standard deviation."""
    total = mk.zeros((BLOCK,), ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        total += mk.load(x, start + i, i < N).to(ACC)
    mean = mk.sum(total) / N
    squares = mk.zeros((BLOCK,), ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        v = mk.where(i < N, mk.load(x, start + i, i < N).to(ACC) - mean, 0.0)
        squares += v * v
    return mean, 1.0 / mk.sqrt(mk.sum(squares) / N + eps)


@eas.kernel
def layer_norm_forward(x, weight, bias, y, N, eps, ACC: eas.constexpr, BLOCK: eas.constexpr):
    start = mk.program_id(0) * N
    mean, rstd = row_statistics(x, start, N, eps, ACC, BLOCK)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        v = (mk.load(x, start + i, i < N).to(ACC) - mean) * rstd
        scaled = v * mk.load(weight, i, i < N).to(ACC) + mk.load(bias, i, i < N).to(ACC)
        mk.store(y, start + i, scaled, i < N)


@eas.kernel
def layer_norm_backward(
    x, weight, grad, out, mean_out, rstd_out, N, eps, ACC: eas.constexpr, BLOCK: eas.constexpr
):
    row = mk.program_id(0)
    start = row * N
    mean, rstd = row_statistics(x, start, N, eps, ACC, BLOCK)
    mk.store(mean_out, row, mean)
    mk.store(rstd_out, row, rstd)
    sums, products = mk.zeros((BLOCK,), ACC), mk.zeros((BLOCK,), ACC)
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        v = (mk.load(x, start + i, i < N).to(ACC) - mean) * rstd
        g = mk.load(grad, start + i, i < N).to(ACC) * mk.load(weight, i, i < N).to(ACC)
        sums += g
        products += g * v
    of_mean, of_rstd = mk.sum(sums) / N, mk.sum(products) / N
    for first in range(0, N, BLOCK):
        i = first + mk.arange(0, BLOCK)
        v = (mk.load(x, start + i, i < N).to(ACC) - mean) * rstd
        g = mk.load(grad, start + i, i < N).to(ACC) * mk.load(weight, i, i < N).to(ACC)
        mk.store(out, start + i, (g - of_mean - v * of_rstd) * rstd, i < N)


@eas.kernel
def layer_norm_weights(
    x, grad, mean, rstd, of_weight, of_bias, M, N, ACC: eas.constexpr, BLOCK: eas.constexpr
):
    """The gradients of weight and bias: sums over rows, one program per block of columns."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    weights, biases = mk.zeros((BLOCK,), ACC), mk.zeros((BLOCK,), ACC)
    for row in range(M):
        g = mk.load(grad, row * N + i, i < N).to(ACC)
        v = mk.load(x, row * N + i, i < N).to(ACC) - mk.load(mean, row)
        weights += g * v * mk.load(rstd, row)
        biases += g
    mk.store(of_weight, i, weights, i < N)
    mk.store(of_bias, i, biases, i < N)


@eas.torch.custom_op("eas_examples::layer_norm")
def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """Each row of the last axis with mean 0 and variance 1, then scaled and shifted."""
    rows = as_rows(x)
    y = torch.empty_like(rows)
    count, n = rows.shape
    given = (rows, weight.reshape(-1).contiguous(), bias.reshape(-1).contiguous())
    layer_norm_forward[(count,)](*given, y, n, eps, ACC=accumulator(x), BLOCK=COLUMNS)
    return y.reshape(x.shape)


@layer_norm.backward
def layer_norm_gradient(ctx, grad):
    x, weight, bias, eps = ctx.inputs
    rows, grads = as_rows(x), as_rows(grad)
    count, n = rows.shape
    out = torch.empty_like(rows)
    total = torch.float64 if x.dtype == torch.float64 else torch.float32
    mean, rstd = (torch.empty(count, dtype=total, device=x.device) for _ in range(2))
    kinds = {"ACC": accumulator(x), "BLOCK": COLUMNS}
    weights = weight.reshape(-1).contiguous()
    layer_norm_backward[(count,)](rows, weights, grads, out, mean, rstd, n, eps, **kinds)
    of_weight, of_bias = (torch.empty(n, dtype=w.dtype, device=x.device) for w in (weight, bias))
    blocks = (n + COLUMNS - 1) // COLUMNS
    layer_norm_weights[(blocks,)](rows, grads, mean, rstd, of_weight, of_bias, count, n, **kinds)
    return (
        out.reshape(x.shape),
        of_weight.reshape(weight.shape),
        of_bias.reshape(bias.shape),
    )


@eas.function
def load_rows(x, start, first, N, D, DTYPE, SIZE):
    """Some rows of a matrix of `D` columns; those behind the last of `N` are zeros."""
    r, c = first + mk.arange(0, SIZE)[:, None], mk.arange(0, D)[None, :]
    return mk.load(x, start + r * D + c, r < N).to(DTYPE)


@eas.kernel
def attention_forward(
    q, k, v, out, lse, M, N, D: eas.constexpr, ACC: eas.constexpr,
    QUERIES: eas.constexpr, KEYS: eas.constexpr,
):  # fmt: skip
    head, first = mk.program_id(1), mk.program_id(0) * QUERIES
    m = first + mk.arange(0, QUERIES)
    queries = load_rows(q, head * M * D, first, M, D, ACC, QUERIES) / math.sqrt(D)
    top, total = mk.full((QUERIES,), -math.inf, ACC), mk.zeros((QUERIES,), ACC)
    sums = mk.zeros((QUERIES, D), ACC)
    for start in range(0, N, KEYS):
        n = start + mk.arange(0, KEYS)
        keys = load_rows(k, head * N * D, start, N, D, ACC, KEYS)
        scores = mk.where((n < N)[None, :], mk.dot(queries, mk.trans(keys)), -math.inf)
        higher = mk.maximum(top, mk.max(scores, axis=1))
        weights = mk.exp(scores - higher[:, None])
        rescale = mk.exp(top - higher)
        total = total * rescale + mk.sum(weights, axis=1)
        values = load_rows(v, head * N * D, start, N, D, ACC, KEYS)
        sums = sums * rescale[:, None] + mk.dot(weights, values)
        top = higher
    c = mk.arange(0, D)[None, :]
    at = (head * M + m)[:, None] * D + c
    mk.store(out, at, sums / total[:, None], (m < M)[:, None])
    mk.store(lse, head * M + m, top + mk.log(total), m < M)


@eas.kernel
def attention_backward_queries(
    q, k, v, grad, lse, delta, out, M, N, D: eas.constexpr, ACC: eas.constexpr,
    QUERIES: eas.constexpr, KEYS: eas.constexpr,
):  # fmt: skip
    head, first = mk.program_id(1), mk.program_id(0) * QUERIES
    m = first + mk.arange(0, QUERIES)
    queries = load_rows(q, head * M * D, first, M, D, ACC, QUERIES) / math.sqrt(D)
    grads = load_rows(grad, head * M * D, first, M, D, ACC, QUERIES)
    top = mk.load(lse, head * M + m, m < M)
    change = mk.load(delta, head * M + m, m < M)
    sums = mk.zeros((QUERIES, D), ACC)
    for start in range(0, N, KEYS):
        n = start + mk.arange(0, KEYS)
        keys = load_rows(k, head * N * D, start, N, D, ACC, KEYS)
        values = load_rows(v, head * N * D, start, N, D, ACC, KEYS)
        weights = mk.exp(mk.dot(queries, mk.trans(keys)) - top[:, None])
        weights = mk.where((n < N)[None, :], weights, 0.0)
        scores = weights * (mk.dot(grads, mk.trans(values)) - change[:, None])
        sums += mk.dot(scores, keys)
    at = (head * M + m)[:, None] * D + mk.arange(0, D)[None, :]
    mk.store(out, at, sums / math.sqrt(D), (m < M)[:, None])


@eas.kernel
def attention_backward_keys(
    q, k, v, grad, lse, delta, of_keys, of_values, M, N, D: eas.constexpr,
    ACC: eas.constexpr, QUERIES: eas.constexpr, KEYS: eas.constexpr,
):  # fmt: skip
    head, first = mk.program_id(1), mk.program_id(0) * KEYS
    n = first + mk.arange(0, KEYS)
    keys = load_rows(k, head * N * D, first, N, D, ACC, KEYS)
    values = load_rows(v, head * N * D, first, N, D, ACC, KEYS)
    key_sums, value_sums = mk.zeros((KEYS, D), ACC), mk.zeros((KEYS, D), ACC)
    for start in range(0, M, QUERIES):
        m = start + mk.arange(0, QUERIES)
        queries = load_rows(q, head * M * D, start, M, D, ACC, QUERIES) / math.sqrt(D)
        grads = load_rows(grad, head * M * D, start, M, D, ACC, QUERIES)
        top = mk.load(lse, head * M + m, m < M)
        change = mk.load(delta, head * M + m, m < M)
        weights = mk.exp(mk.dot(queries, mk.trans(keys)) - top[:, None])
        weights = mk.where((m < M)[:, None], weights, 0.0)
        value_sums += mk.dot(mk.trans(weights), grads)
        scores = weights * (mk.dot(grads, mk.trans(values)) - change[:, None])
        key_sums += mk.dot(mk.trans(scores), queries)
    at = (head * N + n)[:, None] * D + mk.arange(0, D)[None, :]
    mk.store(of_keys, at, key_sums, (n < N)[:, None])
    mk.store(of_values, at, value_sums, (n < N)[:, None])


def as_heads(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-2], x.shape[-1]).contiguous()


@eas.torch.custom_op("eas_examples::attention_with_sums")
def attention_with_sums(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention, and the logarithms of the sums of the weights, which its gradient needs."""
    queries, keys, values = map(as_heads, (q, k, v))
    heads, m, d = queries.shape
    out = torch.empty_like(queries)
    total = torch.float64 if q.dtype == torch.float64 else torch.float32
    lse = torch.empty((heads, m), dtype=total, device=q.device)
    kinds = {"D": d, "ACC": accumulator(q), "QUERIES": QUERIES, "KEYS": KEYS}
    grid = ((m + QUERIES - 1) // QUERIES, heads)
    attention_forward[grid](queries, keys, values, out, lse, m, keys.shape[1], **kinds)
    return out.reshape(q.shape), lse.reshape(q.shape[:-1])


@attention_with_sums.backward
def attention_gradient(ctx, grad, grad_lse):
    q, k, v = ctx.inputs
    out, lse = ctx.outputs
    queries, keys, values, grads = map(as_heads, (q, k, v, grad))
    heads, m, d = queries.shape
    n = keys.shape[1]
    change = ((grad.to(lse.dtype) * out.to(lse.dtype)).sum(-1) - grad_lse).reshape(heads, m)
    of_queries, of_keys, of_values = map(torch.empty_like, (queries, keys, values))
    kinds = {"D": d, "ACC": accumulator(q), "QUERIES": QUERIES, "KEYS": KEYS}
    given = (queries, keys, values, grads, lse.reshape(heads, m).contiguous(), change.contiguous())
    grid = ((m + QUERIES - 1) // QUERIES, heads)
    attention_backward_queries[grid](*given, of_queries, m, n, **kinds)
    grid = ((n + KEYS - 1) // KEYS, heads)
    attention_backward_keys[grid](*given, of_keys, of_values, m, n, **kinds)
    return of_queries.reshape(q.shape), of_keys.reshape(k.shape), of_values.reshape(v.shape)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Softmax of `q @ k.T / sqrt(d)`, times `v`, for each head."""
    return attention_with_sums(q, k, v)[0]


def main() -> None:
    functional = torch.nn.functional
    x = torch.randn(64, 1000)
    weight, bias = torch.randn(1000), torch.randn(1000)
    q, k, v = (torch.randn(2, 4, 50, 32) for _ in range(3))
    compared = {
        "softmax": (softmax(x), torch.softmax(x, -1)),
        "layer_norm": (
            layer_norm(x, weight, bias),
            functional.layer_norm(x, (1000,), weight, bias),
        ),
        "attention": (attention(q, k, v), functional.scaled_dot_product_attention(q, k, v)),
    }
    for name, (ours, theirs) in compared.items():
        print(f"{name}: largest difference to torch's: {(ours - theirs).abs().max():.1e}")


if __name__ == "__main__":
    main()
