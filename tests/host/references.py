"""What NumPy says about the kernels in `handwritten/`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
F32, I32, U32 = np.float32, np.int32, np.uint32
VERTEX = np.dtype([("position", F32, 3), ("weight", F32), ("uv", np.float16, 2)])


def floats(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(F32)


def integers(shape: Any, low: int, high: int, dtype: Any) -> Array:
    return np.random.default_rng(low + high).integers(low, high, shape).astype(dtype)


def bfloat(x: Any) -> Array:
    return np.asarray(x).astype(ml_dtypes.bfloat16)


def softmax(x: Array, *_: Any) -> dict[int, Array]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return {1: powers / powers.sum(axis=1, keepdims=True)}


def half_matmul(a: Array, b: Array, *_: Any) -> dict[int, Array]:
    identity = np.tile(np.eye(8, dtype=F32), (4, 6))
    return {2: 2 * (a.astype(F32) @ b.astype(F32).T + identity)}


def layer_norm(x: Array, weight: Array, *_: Any) -> dict[int, Array]:
    centered = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)
    return {2: centered / deviation * weight}


def atomics(x: Array, n: Array, *_: Any) -> dict[int, Array]:
    i = np.arange(256, dtype=U32)
    bits = [0xFFFFFFFF, np.bitwise_xor.reduce(i), 0xFFFFFF80, 256]
    return {
        2: np.array([n.max(), n.min(), (n % 2 != 0).sum()], I32),
        3: x.sum(keepdims=True),
        4: x.max(keepdims=True).view(U32),
        5: np.array(bits, U32),
        6: np.ones(256, U32),
    }


def half_and_bfloat(h: Array, b: Array, *_: Any) -> dict[int, Array]:
    wide = h.astype(F32) * b.astype(F32)
    return {2: (h * h + h), 3: bfloat(wide)}


def bfloats(a: Array, b: Array, *_: Any) -> dict[int, Array]:
    total = (a + b) * bfloat(2)
    total = np.where(a < b, -total, total)
    power = bfloat(np.exp(a.astype(F32) * F32(0.125)))
    return {2: total / bfloat(3) - power, 3: np.stack([a, b], 1) * total[:, None]}


def compared() -> tuple[Array, Array]:
    x, y = floats(64, 4), floats(4, 64).T.copy()
    x[5], x[7, 2], x[9] = y[5], np.nan, y[9] - 1
    return x, y


def comparisons(a: Array, b: Array, *_: Any) -> dict[int, Array]:
    less, equal = a < b, a == b
    n = 1 * less.any(1) + 2 * (a <= b).all(1) + 4 * (~less | ~equal).all(1)
    n = n + 8 * less[:, 0] + 16 * less[:, 1] + 100 * less.sum(1) + 1000 * (less & (b > 0)).sum(1)
    n = (n + 10000 * np.isnan(a).any(1)).astype(I32)
    chosen = np.where(less, b, a) + (a > 0) + np.where(n[:, None] % 2 != 0, a, b)
    chosen[:, 3] = np.where(less[:, 3], 1, -1)
    return {2: n, 3: chosen.astype(F32)}


def vertices() -> Array:
    made = np.zeros(60, VERTEX)
    made["position"], made["weight"] = floats(60, 3), floats(60)
    made["uv"] = floats(60, 2)
    return made


def packed_vertices(v: Array, *_: Any) -> dict[int, Array]:
    corners = v["position"].reshape(20, 3, 3)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    normal = normal / np.linalg.norm(normal, axis=1, keepdims=True) * v["weight"][::3, None]
    boxes = np.zeros((20, 2, 4), F32)
    boxes[:, 0, :3], boxes[:, 1, :3] = corners.min(1), corners.max(1)
    copies = v[2::3].copy()
    copies["position"] = a * 2 + b
    copies["position"][:, 0] = -1
    copies["uv"][:, 0] += np.float16(0.5)
    return {1: normal, 2: boxes, 3: copies}


def lanes(x: Array, *_: Any) -> dict[int, Array]:
    rows = np.zeros((64, 16), I32)
    lane = np.arange(32)
    for start in (0, 32):
        v = x[start : start + 32]
        row = rows[start : start + 32]
        row[:, 0] = v[(lane + 5) % 32]
        row[:, 1] = v[lane ^ 3]
        row[:31, 2], row[31, 2] = v[1:], -1
        row[:2, 3], row[2:, 3] = v[:2], v[:-2]
        row[:, 4], row[:, 5] = v.cumsum(), v.cumsum() - v
        row[:, 6] = v[7] + v[0]
        row[:, 7] = np.array(sum(1 << int(n) for n in lane[v > 0]), np.int64).astype(I32)
        row[:, 8] = 2
        row[:, 9] = v.reshape(8, 4).sum(1).repeat(4)
        row[:, 10] = v[(lane & ~3) + 2] + v[lane ^ 1]
        either, both, odd = np.bitwise_or, np.bitwise_and, np.bitwise_xor
        row[:, 11] = both.reduce(v) ^ either.reduce(v) ^ odd.reduce(v)
        row[:, 12] = v.min() * 1000 + v.max()
        row[:, 13] = v[(lane + 4) % 32] + (lane == 0)
        fill = 99 + lane % 4
        row[:, 14] = np.where(lane >= 3, v[(lane - 3) % 32], fill[(lane - 3) % 32])
        row[:, 15] = v.sum() + 32
    return {1: rows}


def _wrapped(number: int, bits: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _leading(number: int, bits: int) -> int:
    return bits - number.bit_length()


def bits(x: Array, y: Array, *_: Any) -> dict[int, Array]:
    rows, signed, wide = np.zeros((50, 8), U32), np.zeros((50, 6), I32), np.zeros(50, np.uint64)
    for i, (u, s) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        trailing = (u & -u).bit_length() - 1 if u else 32
        turned = int(f"{u:032b}"[::-1], 2)
        rotated = (u << 7 | u >> 25) & 0xFFFFFFFF
        inserted = u & ~0xFF00 | 0x5A00
        rows[i] = [
            u.bit_count(), _leading(u, 32) * 100 + trailing, turned, rotated,
            u * 0x9E3779B9 >> 32, u >> 4 & 511, inserted, u & 0x3FFFFFFF,
        ]  # fmt: skip
        most, least = (1 << 31) - 1, -(1 << 31)
        more, less = min(s + 2000000000, most), max(s - 2000000000, least)
        median = sorted([s, 0, 100])[1]
        signed[i] = [
            s * 123456789 >> 32,
            _wrapped(s >> 3 & 63, 6),
            int(more / 2) + int(less / 2),
            max(s, 5, -7) ^ min(s, 3, 9) ^ median,
            abs(s) ^ abs(s - 17) & 255,
            (u & 65535).bit_count() + _leading(u & 255, 8) + (s + 7 >> 1) + min(max(s, -9), 9),
        ]
        product = (u << 31 | 12345) * 0xDEADBEEFCAFEF00D >> 64
        wide[i] = (product + u.bit_count()) % (1 << 64)
    return {2: rows, 3: signed, 4: wide}


def transforms() -> Array:
    made = np.zeros(1, [("projection", F32, (4, 4)), ("rotation", F32, (3, 4))])
    made["projection"], made["rotation"] = floats(4, 4), floats(3, 4)
    return made


def matrices(t: Array, points: Array, *_: Any) -> dict[int, Array]:
    m = t["projection"][0].T.copy()
    m[:, 3] += np.array([1, 2, 3, 4], F32)
    m[1, 0] = 5
    rotation = t["rotation"][0, :, :3].T
    q = points @ m.T
    q[:, :3] = q[:, :3] @ rotation.T
    q += points @ m.T - 2 * (points @ m.T)
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    corner = 2 * y + x * z
    fixed = np.linalg.det(rotation) + np.linalg.det(m)
    return {2: q, 3: (x - 6) + corner + fixed + x.astype(np.float16).astype(F32)}


def leaky(x: Array, slope: float) -> Array:
    return np.where(x < 0, x * F32(slope), x * 3)


def literals(v: Array, *_: Any) -> dict[int, Array]:
    total = v * F32(0.1) + F32(1) / F32(3)
    total = total - F32(0.3) * F32(2)
    y = np.maximum(total, 0) + v * v * F32(1e-2) + np.fmod(v, F32(1))
    y = y + np.where(v > F32(0.7), F32(0.7), F32(1.3))
    h = v.astype(np.float16) * np.float16(0.1) + np.float16(1e-3)
    return {1: y, 2: h, 3: bfloat(v) + bfloat(1.5)}


def second_results(x: Array, *_: Any) -> dict[int, Array]:
    mantissa, exponent = np.frexp(x)
    rest, whole = np.modf(x)
    mixed = np.sin(-x) + np.cos(x), np.sin(2 * x) + np.cos(2 * x)
    rows = [np.sin(x), np.cos(x), whole, rest, mantissa, x, *mixed]
    return {1: np.stack(rows, 1), 2: 2 * exponent - 1}


def sizes(c: Array, u: Array, s: Array, k: Array, *_: Any) -> dict[int, Array]:
    turned = np.stack([s[:, 1], s[:, 0]], 1)
    quotient = np.trunc(k / 3).astype(np.int64)
    f = c.astype(F32) / F32(127) + u[:, ::-1].astype(F32) * F32(1 / 255)
    swapped = f.copy()
    swapped[:, 0], swapped[:, 2] = -f[:, 2], -f[:, 0]
    return {
        4: c + u.view(np.int8) * np.int8(3),
        5: (u << np.uint8(1) | u >> np.uint8(7)) ^ np.uint8(15),
        6: turned * s + np.array([7, 9], np.uint16),
        7: quotient - np.fmod(k, 5) + s.astype(np.int64),
        8: swapped,
    }


def _steps(n: int) -> int:
    count = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        count += 1
    return count


def control(x: Array, *_: Any) -> dict[int, Array]:
    table = [3, 1, 4, 1, 5]
    results: list[int] = []
    for i, v in enumerate(x.tolist()):
        match i % 4:
            case 0:
                result = v + table[i % 5]
            case 1:
                result = v * table[i % 5] + _steps(abs(v) + 1)
            case 2:
                result = _steps(abs(v) + 1)
            case _:
                result = sum(range(0, int(np.fmod(v, 10)) + 1, 2))
        results.append(result * result)
    return {1: np.array(results, I32)}


def packing(c: Array, *_: Any) -> dict[int, Array]:
    unsigned = np.rint(np.clip(c, 0, 1) * 255).astype(np.uint8)
    signed = np.rint(c[:, [2, 1, 0, 3]] * 127).astype(np.int8)
    shorts = np.rint(np.clip(c[:, :2], 0, 1) * 65535).astype(np.uint16)
    halves = c[:, 2:].astype(np.float16)
    words = [each.copy().view(U32) for each in (unsigned, signed, shorts, halves)]
    second = np.maximum(signed.copy().view(np.int16) / F32(32767), -1)
    unpacked = np.concatenate([unsigned / F32(255), second, halves.astype(F32)], 1)
    return {1: np.concatenate(words, 1), 2: unpacked.reshape(40, 2, 4)}


def blur(image: Array, *_: Any) -> dict[int, Array]:
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)), "edge")
    weights = [0.25, 0.5, 0.25]
    total = sum(
        weights[dx] * weights[dy] * padded[dy : dy + 13, dx : dx + 21]
        for dx in range(3)
        for dy in range(3)
    )
    total = np.asarray(total, F32)
    luma = (total[..., :3] * [0.299, 0.587, 0.114]).sum(-1, keepdims=True)
    t = np.clip((luma - 0.2) / 0.6, 0, 1)
    part = t * t * (3 - 2 * t)
    total[..., :3] = total[..., :3] * (1 - part) + luma * part
    widths = np.where(np.arange(21) < 16, 8, 5) * 100 + np.where(np.arange(13) < 8, 8, 5)[:, None]
    return {1: np.clip(total, 0, 1), 2: widths.astype(U32)}


def namespaced(circles: Array, points: Array, *_: Any) -> dict[int, Array]:
    away = np.linalg.norm(points[:, None] - circles[None, :, :2], axis=2) - circles[:, 2]
    nearest = away.min(axis=1)
    return {2: np.sqrt(np.abs(nearest)) * np.sign(nearest)}


def blocks(count: int) -> Array:
    made = np.zeros(count, [("d", np.float16), ("qs", np.uint8, 16)])
    made["d"], made["qs"] = floats(count), integers((count, 16), 0, 256, np.uint8)
    return made


def quantized(w: Array, x: Array, *_: Any) -> dict[int, Array]:
    low, high = w["qs"] & 15, w["qs"] >> 4
    values = (np.concatenate([low, high], 1).astype(F32) - 8) * w["d"].astype(F32)[:, None]
    return {2: values.reshape(3, -1) @ x}


def bodies(p: Array, *_: Any) -> dict[int, Array]:
    away = (p[None, :, :3] - p[:, None, :3]).astype(np.float64)
    inverse = 1 / np.sqrt((away**2).sum(-1) + 0.01)
    forces = np.zeros((192, 4), F32)
    forces[:, :3] = (away * (p[None, :, 3] * inverse**3)[..., None]).sum(1)
    return {1: forces}


def complex_numbers(x: Array, coefficients: Array, *_: Any) -> dict[int, Array]:
    z, c = (each[:, 0] + 1j * each[:, 1] for each in (x, coefficients))
    y = np.polynomial.polynomial.polyval(z, c)
    return {2: np.stack([y.real, y.imag], 1)}
