"""Kernels as people write them by hand for Metal, each with NumPy's word for what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.host import references as ref
from tests.host.references import Array, bfloat, floats, integers

FOLDER = Path(__file__).parent / "handwritten"
F32, I32, U32 = np.float32, np.int32, np.uint32


@dataclass(frozen=True)
class Example:
    """A text in `handwritten/`, its buffers, and what each written buffer holds in the end."""

    buffers: Callable[[], list[Any]]
    expected: Callable[..., dict[int, Array]]
    groups: tuple[int, ...] = (1,)
    per_group: tuple[int, ...] = (1,)
    tolerance: float = 0.0
    shared: dict[int, int] = field(default_factory=dict[int, int])
    constants: dict[str, Any] = field(default_factory=dict[str, Any])
    threads: tuple[int, ...] | None = None


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.metal").read_text("utf-8")


EXAMPLES: dict[str, Example] = {
    "tree_reduction": Example(
        lambda: [floats(1000), np.zeros(4, F32), U32(1000)],
        lambda x, *_: {1: np.array([x[n : n + 256].sum() for n in range(0, 1000, 256)])},
        (4,), (256,), 1e-6,
    ),
    "shared_argument": Example(
        lambda: [floats(5, 300), np.zeros(5, F32), np.array([(5, 300, 0.5)], "u4, u4, f4")],
        lambda x, *_: {1: x.sum(axis=1) / 2},
        (1, 5), (64,), 1e-6, {0: 256},
    ),
    "tiled_matmul": Example(
        lambda: [floats(32, 24), floats(24, 16), np.zeros((32, 16), F32), U32(24)],
        lambda a, b, *_: {2: a @ b},
        (2, 4), (32,), 1e-5,
    ),
    "half_matmul": Example(
        lambda: [floats(32, 48).astype(np.float16), floats(48, 48).astype(np.float16),
                 np.zeros((32, 48), F32), 48, 48],
        ref.half_matmul, (3, 2), (128,), 1e-4,
    ),
    "softmax": Example(
        lambda: [floats(5, 300), np.zeros((5, 300), F32), U32(300)],
        ref.softmax, (5,), (128,), 1e-6, {0: 128},
    ),
    "online_softmax": Example(
        lambda: [floats(3, 777), np.zeros((3, 777), F32), 777], ref.softmax, (3,), (128,), 1e-6,
    ),
    "layer_norm": Example(
        lambda: [floats(4, 512), floats(512), np.zeros((4, 512), np.float16), 1e-5],
        ref.layer_norm, (4,), (32,), 1e-3,
    ),
    "bitonic_sort": Example(lambda: [floats(256)], lambda x: {0: np.sort(x)}, (1,), (256,)),
    "histogram": Example(
        lambda: [integers(500, 0, 16, np.uint8), np.zeros(16, U32), U32(500)],
        lambda data, *_: {1: np.bincount(data, minlength=16).astype(U32)},
        (8,), (64,),
    ),
    "atomics": Example(
        lambda: [np.abs(floats(256)), integers(256, -999, 999, I32),
                 np.array([-5000, 5000, 0], I32), np.zeros(1, F32), np.zeros(1, U32),
                 np.array([0, 0, 0xFFFFFFFF, 0], U32), np.zeros(256, U32)],
        ref.atomics, (4,), (64,), 1e-6,
    ),
    "half_and_bfloat": Example(
        lambda: [floats(64).astype(np.float16), bfloat(floats(64)), np.zeros(64, np.float16),
                 bfloat(np.zeros(64))],
        ref.half_and_bfloat, (2,), (32,),
    ),
    "bfloats": Example(
        lambda: [bfloat(floats(64)), bfloat(floats(64)[::-1].copy()), bfloat(np.zeros(64)),
                 bfloat(np.zeros((64, 2)))],
        ref.bfloats, (2,), (32,),
    ),
    "struct_in_constant": Example(
        lambda: [floats(50), np.zeros(50, F32),
                 np.array([(3, 2.5, (1, 2, 3, 4))], "i4, f4, (4,)i4")],
        lambda x, *_: {1: F32(2.5) * x + F32(3) + np.arange(50) % 4 + F32(1)},
        (1,), (50,), 1e-6,
    ),
    "vectors": Example(
        lambda: [floats(16, 4), np.zeros(16, F32)],
        lambda x, *_: {1: (x * [4, 3, 2, 1]).sum(axis=1) + x.max(1)},
        (1,), (16,), 1e-6,
    ),
    "comparisons": Example(
        lambda: [*ref.compared(), np.zeros(64, I32), np.zeros((64, 4), F32)],
        ref.comparisons, (2,), (32,),
    ),
    "packed_vertices": Example(
        lambda: [ref.vertices(), np.zeros((20, 3), F32), np.zeros((20, 2, 4), F32),
                 np.zeros(20, ref.VERTEX)],
        ref.packed_vertices, (1,), (20,), 1e-5,
    ),
    "lanes": Example(
        lambda: [integers(64, -50, 50, I32), np.zeros((64, 16), I32)], ref.lanes, (2,), (32,),
    ),
    "bits": Example(
        lambda: [integers(50, 0, 1 << 32, U32), integers(50, -(1 << 31), 1 << 31, I32),
                 np.zeros((50, 8), U32), np.zeros((50, 6), I32), np.zeros(50, np.uint64)],
        ref.bits, (1,), (50,),
    ),
    "matrices": Example(
        lambda: [ref.transforms(), floats(30, 4), np.zeros((30, 4), F32), np.zeros(30, F32)],
        ref.matrices, (1,), (30,), 1e-3,
    ),
    "function_constants": Example(
        lambda: [floats(32), floats(4), np.zeros(32, F32)],
        lambda x, bias, _: {2: ref.leaky(x.reshape(8, 4) + bias, 0.25).reshape(-1)},
        (1,), (8,), 1e-6, constants={"has_bias": True, "unrolled": 4},
    ),
    "literals": Example(
        lambda: [floats(64), np.zeros(64, F32), np.zeros(64, np.float16), bfloat(np.zeros(64))],
        ref.literals, (2,), (32,), 3e-7,
    ),
    "second_results": Example(
        lambda: [floats(40) * 10, np.zeros((40, 8), F32), np.zeros(40, I32)],
        ref.second_results, (1,), (40,), 1e-6,
    ),
    "sizes": Example(
        lambda: [integers((30, 4), -128, 128, np.int8), integers((30, 4), 0, 256, np.uint8),
                 integers((30, 2), 0, 65536, np.uint16), integers((30, 2), -9999, 9999, np.int64),
                 np.zeros((30, 4), np.int8), np.zeros((30, 4), np.uint8),
                 np.zeros((30, 2), np.uint16), np.zeros((30, 2), np.int64), np.zeros((30, 4), F32)],
        ref.sizes, (1,), (30,), 1e-6,
    ),
    "control": Example(
        lambda: [integers(100, -40, 40, I32), np.zeros(100, I32), 5], ref.control, (2,), (50,),
    ),
    "macros": Example(
        lambda: [floats(8, 8), np.zeros((8, 8), F32)],
        lambda x, _: {1: x.T * x.T + 1}, (1,), (8, 8), 1e-6,
    ),
    "packing": Example(
        lambda: [np.clip(floats(40, 4), -1, 1), np.zeros((40, 4), U32), np.zeros((40, 2, 4), F32)],
        ref.packing, (1,), (40,), 1e-6,
    ),
    "blur": Example(
        lambda: [np.abs(floats(13, 21, 4)), np.zeros((13, 21, 4), F32), np.zeros((13, 21), U32)],
        ref.blur, (1,), (8, 8), 1e-5, threads=(21, 13),
    ),
    "namespaced": Example(
        lambda: [np.concatenate([floats(7, 3), np.zeros((7, 1), F32)], 1), floats(50, 2),
                 np.zeros(50, F32), np.array([7, 0], U32)],
        ref.namespaced, (1,), (50,), 1e-5,
    ),
    "quantized": Example(
        lambda: [ref.blocks(3 * 40), floats(40 * 32), np.zeros(3, F32), 40 * 32],
        ref.quantized, (3,), (32,), 1e-5,
    ),
    "bodies": Example(
        lambda: [floats(192, 4), np.zeros((192, 4), F32), 192], ref.bodies, (3,), (64,), 1e-4,
    ),
    "complex_numbers": Example(
        lambda: [floats(30, 2), floats(5, 2), np.zeros((30, 2), F32), 4],
        ref.complex_numbers, (1,), (30,), 1e-5,
    ),
}  # fmt: skip
