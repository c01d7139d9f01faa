"""The kernels of `benchmarks.run`, as a user would write them."""

import math

import eas
from eas import mk


@eas.kernel
def add(a, b, c, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(c, i, mk.load(a, i, i < N) + mk.load(b, i, i < N), i < N)


@eas.kernel
def saxpy(x, y, A, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, A * mk.load(x, i, i < N) + mk.load(y, i, i < N), i < N)


@eas.kernel
def softmax(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + i, i < N, other=-math.inf)
    powers = mk.exp(v - mk.max(v))
    mk.store(y, row * N + i, powers / mk.sum(powers), i < N)


@eas.kernel
def layernorm(x, weight, bias, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    i = mk.arange(0, BLOCK)
    v = mk.load(x, row * N + i, i < N)
    mean = mk.sum(v) / N
    centered = mk.where(i < N, v - mean, 0.0)
    scale = mk.rsqrt(mk.sum(centered * centered) / N + 1e-5)
    normal = centered * scale * mk.load(weight, i, i < N) + mk.load(bias, i, i < N)
    mk.store(y, row * N + i, normal, i < N)


@eas.kernel
def gelu(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    mk.store(y, i, 0.5 * v * (1.0 + mk.erf(v * 0.7071067811865476)), i < N)


@eas.kernel
def mandelbrot(out, W, H, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    cx = -2.0 + 2.5 * (i % W) / W
    cy = -1.25 + 2.5 * (i // W) / H
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y < 4.0 and n < LIMIT:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    mk.store(out, i, n, mask=i < W * H)


@eas.kernel
def matmul(a, b, c, M, N, K, ROWS: eas.constexpr, COLS: eas.constexpr):
    row = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    col = mk.program_id(1) * COLS + mk.arange(0, COLS)
    total = mk.zeros((ROWS, COLS), mk.f32)
    for k in range(K):
        x = mk.load(a, row * K + k, row < M)
        y = mk.load(b, k * N + col, col < N)
        total += x[:, None] * y[None, :]
    inside = (row < M)[:, None] & (col < N)[None, :]
    mk.store(c, row[:, None] * N + col[None, :], total, inside)


@eas.kernel
def matmul_tiles(a, b, c, M, N, K, BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr):
    row = (mk.program_id(0) * BM + mk.arange(0, BM))[:, None]
    col = (mk.program_id(1) * BN + mk.arange(0, BN))[None, :]
    total = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        down, along = start + mk.arange(0, BK)[:, None], start + mk.arange(0, BK)[None, :]
        x = mk.load(a, row * K + along, (row < M) & (along < K))
        y = mk.load(b, down * N + col, (down < K) & (col < N))
        total = mk.dot(x, y, total)
    mk.store(c, row * N + col, total, (row < M) & (col < N))


@eas.kernel
def attention(
    q, k, v, out, N, SCALE: eas.constexpr, BM: eas.constexpr, BN: eas.constexpr, D: eas.constexpr
):
    head = mk.program_id(1) * N
    m = (mk.program_id(0) * BM + mk.arange(0, BM))[:, None]
    d = mk.arange(0, D)
    rows = mk.load(q, (head + m) * D + d[None, :], m < N) * SCALE
    high, total = mk.full((BM,), -math.inf), mk.zeros((BM,))
    acc = mk.zeros((BM, D))
    for start in range(0, N, BN):
        n = start + mk.arange(0, BN)
        keys = mk.load(k, (head + n[:, None]) * D + d[None, :], n[:, None] < N)
        scores = mk.where(n[None, :] < N, mk.dot(rows, mk.trans(keys)), -math.inf)
        higher = mk.maximum(high, mk.max(scores, axis=1))
        weights = mk.exp(scores - higher[:, None])
        factor = mk.exp(high - higher)
        total = total * factor + mk.sum(weights, axis=1)
        values = mk.load(v, (head + n[:, None]) * D + d[None, :], n[:, None] < N)
        acc = mk.dot(weights, values, acc * factor[:, None])
        high = higher
    mk.store(out, (head + m) * D + d[None, :], acc / total[:, None], m < N)


@eas.kernel(fast_math=True)
def nbody(px, py, pz, ax, ay, az, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    x, y, z = mk.load(px, i, i < N), mk.load(py, i, i < N), mk.load(pz, i, i < N)
    fx, fy, fz = mk.zeros_like(x), mk.zeros_like(x), mk.zeros_like(x)
    for j in range(N):
        dx, dy, dz = mk.load(px, j) - x, mk.load(py, j) - y, mk.load(pz, j) - z
        inverse = mk.rsqrt(dx * dx + dy * dy + dz * dz + 1e-3)
        force = inverse * inverse * inverse
        fx, fy, fz = fx + dx * force, fy + dy * force, fz + dz * force
    mk.store(ax, i, fx, i < N)
    mk.store(ay, i, fy, i < N)
    mk.store(az, i, fz, i < N)


@eas.kernel
def box_blur(x, y, H, W, RADIUS: eas.constexpr, BLOCK: eas.constexpr):
    r = mk.program_id(0)
    c = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    total = mk.zeros((BLOCK,), mk.f32)
    for dr in mk.static_range(-RADIUS, RADIUS + 1):
        for dc in mk.static_range(-RADIUS, RADIUS + 1):
            rr, cc = r + dr, c + dc
            inside = (cc >= 0) & (cc < W) & (rr >= 0) & (rr < H)
            total += mk.load(x, rr * W + cc, inside)
    mk.store(y, r * W + c, total / ((2 * RADIUS + 1) * (2 * RADIUS + 1)), c < W)


@eas.kernel
def histogram(data, counts, N, BINS: eas.constexpr, PARTS: eas.constexpr, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    shared = mk.alloc_tg(BINS, mk.i32)
    for slot in range(t, BINS, THREADS):
        mk.store(shared, slot, 0)
    mk.barrier()
    start = mk.program_id(0) * PARTS
    for i in range(start + t, mk.minimum(start + PARTS, N), THREADS):
        mk.atomic_add(shared, mk.load(data, i), 1)
    mk.barrier()
    for slot in range(t, BINS, THREADS):
        mk.atomic_add(counts, slot, mk.load(shared, slot))


@eas.kernel
def block_sums(x, sums, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(sums, mk.program_id(0), mk.sum(mk.load(x, i, i < N)))


@eas.kernel
def running_sums(x, sums, y, N, BLOCK: eas.constexpr, BLOCKS: eas.constexpr):
    """The running sums of a block, on top of the total of the blocks before it."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    n = mk.arange(0, BLOCKS)
    before = mk.sum(mk.load(sums, n, n < mk.program_id(0)))
    mk.store(y, i, before + mk.cumsum(mk.load(x, i, i < N)), i < N)
