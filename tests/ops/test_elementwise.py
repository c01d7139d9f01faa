"""Every element-wise op, on every dtype that it takes, on each backend, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops import OPS
from eas.ir.types import DTYPES, F64, DType
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.ops.comparing import assert_close
from tests.ops.elementwise import ELEMENTWISE, Array, Op
from tests.ops.shapes import SHAPES, Shape, offsets

# Metal's functions are less exact than those of a CPU.
METAL_ULPS = 2


@eas.kernel
def each_op(operands, out, OPS_: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    """Row `k` of `out` is what the op number `k` gives for its operands, the rows `3 k` and on."""
    at = offsets(SHAPE)
    for k in mk.static_range(len(OPS_)):
        write, count = OPS_[k]
        given = tuple(mk.load(operands, (3 * k + n) * SIZE + at) for n in mk.static_range(count))
        mk.store(out, k * SIZE + at, write(*given))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f32", "i32"])
def test_ops_agree_with_numpy_in_every_shape(dtype: str, shape: Shape, backend: str) -> None:
    check(DTYPES[dtype], shape, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("f32", "i32")])
def test_ops_agree_with_numpy_on_every_dtype(dtype: str, backend: str) -> None:
    if dtype == "f64" and backend in TEXT_BACKENDS:
        with pytest.raises(eas.CompileError, match="Metal has no f64"):
            check(F64, (33,), backend)
        return
    for shape in ((), (33,), (37, 31)):
        check(DTYPES[dtype], shape, backend)


def check(dtype: DType, shape: Shape, backend: str) -> None:
    ops = [op for op in ELEMENTWISE if op.accepts(dtype)]
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    operands = np.zeros((len(ops), 3, size), dtype.numpy)
    expected: list[Array] = []
    with np.errstate(all="ignore"):
        for row, op in zip(operands, ops, strict=True):
            drawn = op.draw(random, dtype, size)
            row[: len(drawn)] = drawn
            expected.append(right_result(op, drawn, dtype))
    out = np.zeros((len(ops), size), dtype.numpy)
    written = tuple((op.write, count_of(op)) for op in ops)
    each_op[(1,)](operands, out, OPS_=written, SHAPE=shape, SIZE=size, _backend=backend)
    for op, result, right in zip(ops, out, expected, strict=True):
        ulps = op.ulps + METAL_ULPS if op.ulps and backend in TEXT_BACKENDS else op.ulps
        assert_close(result, right, ulps, f"{op.name} of {dtype}")


def count_of(op: Op) -> int:
    return len(OPS[op.name].operands)


def right_result(op: Op, drawn: list[Any], dtype: DType) -> Array:
    """What NumPy gives in f64 for floats, rounded once."""
    wide = [a.astype(np.float64) if dtype.is_float else a for a in drawn]
    return np.asarray(op.expected(*wide)).astype(dtype.numpy)


# --- casts ------------------------------------------------------------------------------------


@eas.kernel
def cast_all(
    x, whole, to_bool, to_i8, to_i16, to_i32, to_i64, to_u8, to_u16, to_u32, to_u64, to_f16,
    to_bf16, to_f32, to_f64, TARGETS: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """Stores `x` as floats and bools, `whole` as integers."""
    i = mk.arange(0, SIZE)
    ints = (to_i8, to_i16, to_i32, to_i64, to_u8, to_u16, to_u32, to_u64)
    others = (to_bool, to_f16, to_bf16, to_f32, to_f64)
    for out, target in zip(ints, TARGETS[:8], strict=True):
        mk.store(out, i, mk.load(whole, i).to(target))
    for out, target in zip(others, TARGETS[8:], strict=True):
        if target is not None:
            mk.store(out, i, mk.load(x, i).to(target))


INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
OTHERS = ("bool", "f16", "bf16", "f32", "f64")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("source", DTYPES)
def test_casts_agree_with_numpy(source: str, backend: str) -> None:
    if source == "f64" and backend in TEXT_BACKENDS:
        return
    has_f64 = backend not in TEXT_BACKENDS
    names = [name for name in INTS + OTHERS if name != "f64" or has_f64]
    x, whole = castable(DTYPES[source])
    outs = {name: np.zeros(x.size, DTYPES[name].numpy) for name in names}
    given = {f"to_{name}": outs.get(name, x) for name in INTS + OTHERS}
    targets = tuple(DTYPES[name] if name in outs else None for name in INTS + OTHERS)
    cast_all[(1,)](x, whole, **given, TARGETS=targets, SIZE=x.size, _backend=backend)
    for name, out in outs.items():
        with np.errstate(over="ignore"):
            expected = (whole if name in INTS else x).astype(out.dtype)
        assert_close(out, expected, 0, f"{source} to {name}")


def castable(source: DType) -> tuple[Array, Array]:
    """Values to convert, and such as every integer format can hold, fractions aside."""
    if source.is_bool:
        x = np.array([False, True])
    elif source.is_int:
        x = np.array([source.min, source.max, 0, 1, 77, 127, source.max // 3], source.numpy)
    else:
        x = np.array([0, -0.0, 1.5, -2.75, np.inf, -np.inf, np.nan, 1e-7, 6e4], source.numpy)
        return x, np.array([0, 0.99, 1.5, 2, 2.5, 77.9, 99.99, 126, 127], source.numpy)
    return x, x


@eas.kernel
def bitcast_all(x, out, TARGET: eas.constexpr, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.store(out, i, mk.bitcast(mk.load(x, i), TARGET))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (a.name, b.name)
        for a in DTYPES.values()
        for b in DTYPES.values()
        if a.bits == b.bits and a != b
    ],
)
def test_bitcasts_agree_with_numpy(source: str, target: str, backend: str) -> None:
    if backend in TEXT_BACKENDS and "f64" in (source, target):
        return
    bits = np.arange(64, dtype=f"u{DTYPES[target].bits // 8}") << (DTYPES[target].bits - 7)
    x, out = bits.view(DTYPES[source].numpy), np.zeros(bits.size, DTYPES[target].numpy)
    bitcast_all[(1,)](x, out, TARGET=DTYPES[target], SIZE=x.size, _backend=backend)
    np.testing.assert_array_equal(out.view(bits.dtype), bits)
