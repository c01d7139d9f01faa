"""Kernels as one writes them for Triton, with `mk` in place of `tl`.

Matrices come as pointers with their strides, blocks of pointers advance, masks follow by position,
hints for a compiler's schedule are given. Where Triton's programs would wait for each other at a
lock, these add by atomics.
"""

import eas
from eas import mk

LOG2_E = 1.4426950408889634


@eas.kernel
def add(x, y, out, n, BLOCK: eas.constexpr):
    at = mk.program_id(axis=0) * BLOCK + mk.arange(0, BLOCK)
    inside = at < n
    total = mk.load(x + at, inside) + mk.load(y + at, inside)
    mk.store(out + at, total, inside)


@eas.kernel
def softmax(
    out, x, out_step, x_step, rows, columns, BLOCK: eas.constexpr, num_stages: eas.constexpr
):
    """A few persistent programs share all rows."""
    mk.static_assert(num_stages > 0)
    lane = mk.arange(0, BLOCK)
    for row in range(mk.program_id(0), rows, mk.num_programs(0)):
        v = mk.load(x + row * x_step + lane, mask=lane < columns, other=-float("inf"))
        powers = mk.exp(v - mk.max(v, axis=0))
        mk.store(out + row * out_step + lane, powers / mk.sum(powers, axis=0), mask=lane < columns)


@eas.function
def leaky_relu(x):
    return mk.where(x >= 0, x, 0.01 * x)


@eas.function
def tile_of(number, M, N, BM: eas.constexpr, BN: eas.constexpr, GROUP: eas.constexpr):
    """Tiles go down a few rows before they go on to the right: so programs share what they read."""
    height = mk.cdiv(M, BM)
    in_group = GROUP * mk.cdiv(N, BN)
    top = number // in_group * GROUP
    tall = min(height - top, GROUP)
    return top + number % in_group % tall, number % in_group // tall


@eas.function
def product(a, b, m, n, M, N, K, steps, BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr):
    """The tile in row `m` and column `n`; what is behind the edges is read from the other side."""
    rows = (m * BM + mk.arange(0, BM)) % M
    columns = (n * BN + mk.arange(0, BN)) % N
    inner = mk.arange(0, BK)
    lefts = a + (rows[:, None] * steps[0] + inner[None, :] * steps[1])
    rights = b + (inner[:, None] * steps[2] + columns[None, :] * steps[3])
    total = mk.zeros((BM, BN), dtype=mk.f32)
    for done in range(0, K, BK):
        left = mk.load(lefts, mask=inner[None, :] < K - done, other=0.0)
        right = mk.load(rights, inner[:, None] < K - done, 0.0, eviction_policy="evict_last")
        total = mk.dot(left, right, total)
        lefts += BK * steps[1]
        rights += BK * steps[2]
    return total


@eas.function
def put(c, total, m, n, M, N, down, right, BM: eas.constexpr, BN: eas.constexpr):
    rows, columns = m * BM + mk.arange(0, BM), n * BN + mk.arange(0, BN)
    places = c + down * rows[:, None] + right * columns[None, :]
    mk.store(places, total.to(c.dtype), (rows[:, None] < M) & (columns[None, :] < N))


@eas.kernel
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    a_down,
    a_right,
    b_down,
    b_right,
    c_down,
    c_right,
    BM: eas.constexpr,
    BN: eas.constexpr,
    BK: eas.constexpr,
    GROUP: eas.constexpr,
    ACTIVATION: eas.constexpr,
):
    m, n = tile_of(mk.program_id(axis=0), M, N, BM, BN, GROUP)
    mk.assume(m >= 0)
    mk.assume(n >= 0)
    total = product(a, b, m, n, M, N, K, (a_down, a_right, b_down, b_right), BM, BN, BK)
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    put(c, total, m, n, M, N, c_down, c_right, BM, BN)


@eas.kernel
def persistent_matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    a_down,
    a_right,
    b_down,
    b_right,
    c_down,
    c_right,
    BM: eas.constexpr,
    BN: eas.constexpr,
    BK: eas.constexpr,
    GROUP: eas.constexpr,
    PROGRAMS: eas.constexpr,
):
    """Persistent programs, one for each core of a machine, share the tiles."""
    tiles = mk.cdiv(M, BM) * mk.cdiv(N, BN)
    for number in range(mk.program_id(axis=0), tiles, PROGRAMS):
        m, n = tile_of(number, M, N, BM, BN, GROUP)
        total = product(a, b, m, n, M, N, K, (a_down, a_right, b_down, b_right), BM, BN, BK)
        put(c, total, m, n, M, N, c_down, c_right, BM, BN)


@eas.kernel
def matmul_by_block_pointers(
    a,
    b,
    c,
    M,
    N,
    K,
    a_down,
    a_right,
    b_down,
    b_right,
    c_down,
    c_right,
    BM: eas.constexpr,
    BN: eas.constexpr,
    BK: eas.constexpr,
):
    top, start = mk.program_id(0) * BM, mk.program_id(1) * BN
    left = mk.make_block_ptr(
        base=a,
        shape=(M, K),
        strides=(a_down, a_right),
        offsets=(top, 0),
        block_shape=(BM, BK),
        order=(1, 0),
    )
    right = mk.make_block_ptr(b, (K, N), (b_down, b_right), (0, start), (BK, BN), (1, 0))
    total = mk.zeros([BM, BN], dtype=mk.f32)
    for _ in range(0, K, BK):
        x = mk.load(left, boundary_check=(0, 1), padding="zero")
        y = mk.load(right, boundary_check=(0, 1), padding="zero")
        total += mk.dot(x, y)
        left = mk.advance(left, (0, BK))
        right = mk.advance(right, [BK, 0])
    out = mk.make_block_ptr(c, (M, N), (c_down, c_right), (top, start), (BM, BN), (1, 0))
    mk.store(out, total.to(mk.f16), boundary_check=(0, 1))


@eas.kernel
def masked_dropout(x, keep, out, n, p, BLOCK: eas.constexpr):
    at = mk.program_id(axis=0) * BLOCK + mk.arange(0, BLOCK)
    inside = at < n
    scaled = mk.load(x + at, mask=inside) / (1 - p)
    mk.store(out + at, mk.where(mk.load(keep + at, mask=inside), scaled, 0.0), mask=inside)


@eas.kernel
def seeded_dropout(x, out, n, p, seed, BLOCK: eas.constexpr):
    at = mk.program_id(axis=0) * BLOCK + mk.arange(0, BLOCK)
    inside = at < n
    scaled = mk.load(x + at, mask=inside) / (1 - p)
    mk.store(out + at, mk.where(mk.rand(seed, at) > p, scaled, 0.0), mask=inside)


@eas.kernel
def layer_norm(x, y, weight, bias, means, scales, step, N, eps, BLOCK: eas.constexpr):
    """Three passes over a row that may be longer than a block."""
    row = mk.program_id(0)
    x += row * step
    y += row * step
    lane = mk.arange(0, BLOCK)
    total = mk.zeros([BLOCK], dtype=mk.f32)
    for start in range(0, N, BLOCK):
        total += mk.load(x + start + lane, mask=start + lane < N, other=0.0).to(mk.f32)
    mean = mk.sum(total, axis=0) / N
    squares = mk.zeros([BLOCK], dtype=mk.f32)
    for start in range(0, N, BLOCK):
        at = start + lane
        off = mk.load(x + at, mask=at < N, other=0.0).to(mk.f32) - mean
        squares += mk.where(at < N, off * off, 0.0)
    scale = 1 / mk.sqrt(mk.sum(squares, axis=0) / N + eps)
    mk.store(means + row, mean)
    mk.store(scales + row, scale)
    for start in range(0, N, BLOCK):
        at = start + lane
        inside = at < N
        normed = (mk.load(x + at, inside, 0.0).to(mk.f32) - mean) * scale
        mk.store(y + at, normed * mk.load(weight + at, inside) + mk.load(bias + at, inside), inside)


@eas.kernel
def layer_norm_gradient(
    grad_x,
    grad,
    grad_weight,
    grad_bias,
    x,
    weight,
    means,
    scales,
    step,
    N,
    GROUPS: eas.constexpr,
    BLOCK: eas.constexpr,
):
    """The gradient of a row, and its share of the gradients of weight and bias in its group."""
    row, at = mk.program_id(0), mk.arange(0, BLOCK)
    inside = at < N
    place = row * step + at
    up = mk.load(grad + place, inside, other=0).to(mk.f32)
    mean, scale = mk.load(means + row), mk.load(scales + row)
    normed = mk.where(inside, (mk.load(x + place, inside, other=0) - mean) * scale, 0.0)
    weighted = mk.where(inside, mk.load(weight + at, inside) * up, 0.0)
    along = mk.sum(normed * weighted, axis=0) / N
    level = mk.sum(weighted, axis=0) / N
    mk.store(grad_x + place, (weighted - (normed * along + level)) * scale, inside)
    share = row % GROUPS * N + at
    mk.atomic_add(grad_weight + share, up * normed, inside)
    mk.atomic_add(grad_bias + share, up, mask=inside)


@eas.kernel
def sums_of_columns(
    first, second, first_out, second_out, M, N, BM: eas.constexpr, BN: eas.constexpr
):
    columns = mk.program_id(0) * BN + mk.arange(0, BN)
    one = mk.zeros((BM, BN), dtype=mk.f32)
    other = mk.zeros((BM, BN), dtype=mk.f32)
    for start in range(0, M, BM):
        rows = start + mk.arange(0, BM)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        at = rows[:, None] * N + columns[None, :]
        one += mk.load(first + at, mask=inside, other=0.0)
        other += mk.load(second + at, mask=inside, other=0.0)
    mk.store(first_out + columns, mk.sum(one, axis=0), columns < N)
    mk.store(second_out + columns, mk.sum(other, axis=0), columns < N)


@eas.function
def attend(state, q, keys, values, scale, rows, first, last, BN: eas.constexpr, is_edge):
    """Takes the keys from `first` to `last`; at the edge those behind a row are left out."""
    total, weight, high = state
    keys, values = mk.advance(keys, (0, first)), mk.advance(values, (first, 0))
    for start in range(first, last, BN):
        start = mk.multiple_of(start, BN)  # noqa: PLW2901
        scores = mk.dot(q, mk.load(keys)) * scale
        if is_edge:
            columns = start + mk.arange(0, BN)
            scores = mk.where(rows[:, None] >= columns[None, :], scores, -1.0e6)
        higher = mk.maximum(high, mk.max(scores, 1))
        powers = mk.exp2(scores - higher[:, None])
        fade = mk.exp2(high - higher)
        weight = weight * fade + mk.sum(powers, 1)
        total = mk.dot(powers.to(mk.f16), mk.load(values), total * fade[:, None])
        high = higher
        keys, values = mk.advance(keys, (0, BN)), mk.advance(values, (BN, 0))
    return total, weight, high


@eas.kernel
def attention(
    q,
    k,
    v,
    scale,
    log_sums,
    out,
    head_step,
    row_step,
    step,
    N,
    WIDTH: eas.constexpr,
    BM: eas.constexpr,
    BN: eas.constexpr,
    IS_CAUSAL: eas.constexpr,
):
    """The blocks before the diagonal first, without a mask, then those on it."""
    top, head = mk.program_id(0) * BM, mk.program_id(1)
    base, steps, tile = head * head_step, (row_step, step), (BM, WIDTH)
    queries = mk.make_block_ptr(q + base, (N, WIDTH), steps, (top, 0), tile, order=(1, 0))
    keys = mk.make_block_ptr(
        base=k + base,
        shape=(WIDTH, N),
        strides=(step, row_step),
        offsets=(0, 0),
        block_shape=(WIDTH, BN),
        order=(0, 1),
    )
    values = mk.make_block_ptr(v + base, (N, WIDTH), steps, (0, 0), (BN, WIDTH), order=(1, 0))
    rows = top + mk.arange(0, BM)
    state = (
        mk.zeros([BM, WIDTH], dtype=mk.f32),
        mk.zeros([BM], dtype=mk.f32),
        mk.zeros([BM], dtype=mk.f32) - float("inf"),
    )
    x = mk.load(queries)
    end = top if IS_CAUSAL else N
    state = attend(state, x, keys, values, scale * LOG2_E, rows, 0, end, BN, False)
    if IS_CAUSAL:
        state = attend(state, x, keys, values, scale * LOG2_E, rows, top, top + BM, BN, True)
    total, weight, high = state
    mk.store(log_sums + head * N + rows, high + mk.log2(weight))
    result = mk.make_block_ptr(out + base, (N, WIDTH), steps, (top, 0), tile, order=(1, 0))
    mk.store(result, (total / weight[:, None]).to(out.dtype))
