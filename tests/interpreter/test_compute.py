"""Pure ops: the interpreter gives what their records say, for values of all sizes and dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest

from eas.ir.builder import Builder
from eas.ir.nodes import Function, Param, Region, Store, Value, Yield
from eas.ir.ops import OPS, OpDef, RuleError
from eas.ir.ops.record import Array, Attrs
from eas.ir.types import (
    BOOL,
    DTYPES,
    F32,
    F64,
    I32,
    U32,
    Block,
    DType,
    Pointer,
    Scalar,
    Type,
    count,
    shape_of,
)
from eas.support.location import NOWHERE, SourceName
from tests.interpreter.running import arrays_after, outcome

SHAPE = (2, 3)
GRID = 4

# Operand types and attributes of the ops that do not take like blocks of f32, i32 or bool.
SPECIAL: dict[str, tuple[list[Type], Attrs]] = {
    "select": ([Block(BOOL, SHAPE), Block(F32, SHAPE), Block(F32, SHAPE)], {}),
    "splat": ([Scalar(F32)], {"shape": SHAPE}),
    "cast": ([Block(F32, SHAPE)], {"dtype": I32}),
    "bitcast": ([Block(F32, SHAPE)], {"dtype": I32}),
    "broadcast": ([Block(F32, (2, 1))], {"shape": SHAPE}),
    "expand_dims": ([Block(F32, SHAPE)], {"axis": 1}),
    "reshape": ([Block(F32, SHAPE)], {"shape": (3, 2)}),
    "permute": ([Block(F32, SHAPE)], {"axes": (1, 0)}),
    "slice": ([Block(F32, SHAPE)], {"starts": (1, 2), "sizes": (1, 2), "steps": (1, -2)}),
    "cycle": ([Block(F32, SHAPE)], {"axis": 1, "start": 2, "size": 4}),
    "philox": ([Block(U32, SHAPE)] * 6, {"word": 2}),
    **{f"simd_{kind}": ([Block(F32, (40,))], {}) for kind in ("sum", "max", "min")},
    **{f"simd_{kind}": ([Block(BOOL, (40,))], {}) for kind in ("any", "all")},
    "simd_shuffle": ([Block(F32, (40,)), Block(I32, (40,))], {}),
    "simd_shuffle_xor": ([Block(F32, (40,)), Block(I32, (40,))], {}),
    "simd_broadcast": ([Block(F32, (40,)), Block(I32, (40,))], {}),
    "dot": ([Block(F32, (2, 5)), Block(F32, (5, 3)), Block(F32, (2, 3))], {}),
    "mma_word": ([Block(F32, (64,))] * 6, {"word": 1}),
    "index": ([Block(I32, SHAPE), Block(I32, SHAPE)], {"array": "x", "axis": 0}),
}
WITH_OPERANDS = [op for op in OPS.values() if op.operands]


def operand_types(op: OpDef) -> tuple[list[Type], Attrs]:
    """Types that the op takes, of the shape `SHAPE` where it takes blocks."""
    if op.name in SPECIAL:
        return SPECIAL[op.name]
    attrs: Attrs = {"axis": 1} if op.attrs == ("axis",) else {}
    for dtype in (F32, I32, U32, BOOL):
        types: list[Type] = [Block(dtype, SHAPE) for _ in op.operands]
        with suppress(RuleError):
            op.typing(types, attrs)
            return types, attrs
    raise AssertionError(f"no operands for {op.name}")


def samples(dtype: DType, size: int, seed: int) -> Array:
    """Small numbers, greater ones for greater seeds."""
    numbers = np.random.default_rng(seed).integers(1, 5, size) + 4 * seed
    return (numbers % 2 == 0) if dtype == BOOL else numbers.astype(dtype.numpy)


def applied(op: OpDef, types: Sequence[Type], attrs: Attrs, is_uniform: bool) -> Function:
    """Loads operands, all from the first program's place if uniform, and stores the result."""
    b = Builder()
    params = [b.value(Pointer(ty.dtype), f"x{i}") for i, ty in enumerate(types)]
    loaded = [load_all(b, p, ty, is_uniform) for p, ty in zip(params, types, strict=True)]
    result = b.compute(op.name, *loaded, **attrs)
    out = b.value(Pointer(result.ty.dtype), "out")
    b.store(out, offsets(b, shape_of(result.ty), False), result)
    body = Region((), (*b.ops, Yield((), NOWHERE)))
    return Function("op", tuple(Param(p) for p in (*params, out)), body, SourceName("op.py"))


def load_all(b: Builder, pointer: Value, ty: Type, is_uniform: bool) -> Value:
    return b.load(pointer, offsets(b, shape_of(ty), is_uniform))


def offsets(b: Builder, shape: tuple[int, ...], is_uniform: bool) -> Value:
    """The elements of a program, one program after the other."""
    size = b.constant(0 if is_uniform else count(shape), I32)
    start = b.compute("mul", b.compute("program_id", axis=0), size)
    if not shape:
        return start
    line = b.compute("arange", start=0, size=count(shape))
    return b.compute(
        "add", b.compute("splat", start, shape=shape), b.compute("reshape", line, shape=shape)
    )


@pytest.mark.parametrize("is_uniform", [False, True])
@pytest.mark.parametrize("op", WITH_OPERANDS, ids=lambda op: op.name)
def test_an_op_gives_what_its_record_says(op: OpDef, is_uniform: bool) -> None:
    types, attrs = operand_types(op)
    function = applied(op, types, attrs, is_uniform)
    inputs = [samples(ty.dtype, GRID * count(shape_of(ty)), i) for i, ty in enumerate(types)]
    store = function.body.ops[-2]
    assert isinstance(store, Store)
    result = store.value
    out = np.zeros(GRID * count(result.shape), result.ty.dtype.numpy)
    (*_, got), _ = outcome(function, [*inputs, out], (GRID,))
    blocks = [a.reshape(GRID, *shape_of(ty)) for a, ty in zip(inputs, types, strict=True)]
    if is_uniform:
        blocks = [np.repeat(a[:1], GRID, axis=0) for a in blocks]
    with np.errstate(all="ignore"):
        wanted = np.broadcast_to(op.meaning(*blocks, **attrs), (GRID, *result.shape))
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted.reshape(-1))


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_dtype_is_loaded_added_to_itself_and_stored(dtype: DType) -> None:
    op = OPS["or" if dtype == BOOL else "add"]
    block = Block(dtype, SHAPE)
    x, y = (samples(dtype, GRID * 6, seed) for seed in (1, 2))
    out = np.zeros_like(x)
    (*_, got), _ = outcome(applied(op, [block, block], {}, False), [x, y, out], (GRID,))
    np.testing.assert_array_equal(got, x | y if dtype == BOOL else x + y)


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_ints_wrap_at_their_width(name: str) -> None:
    dtype = DTYPES[name]
    text = f"""kernel wrap(%x.0: *{name}, %y.1: *{name}) from "k.py" {{
      %2: i32 = 0
      %3: {name} = load %x.0[%2]
      %4: {name} = 1
      %5: {name} = add %3, %4
      store %y.1[%2] = %5
    }}"""
    x, y = np.array([dtype.max], dtype.numpy), np.zeros(1, dtype.numpy)
    assert arrays_after(text, x, y)[1].tolist() == [dtype.min]


def test_the_least_int_divided_by_minus_one_wraps() -> None:
    text = """kernel k(%x.0: *i32, %m.1: i32) from "k.py" {
      %2: i32 = 0
      %3: i32 = load %x.0[%2]
      %4: i32 = floordiv %3, %m.1
      %5: i32 = mod %3, %m.1
      %6: i32 = truncdiv %3, %m.1
      %7: i32 = truncmod %3, %m.1
      %8: i32 = 1
      %9: i32 = 2
      %10: i32 = 3
      store %x.0[%2] = %4
      store %x.0[%8] = %5
      store %x.0[%9] = %6
      store %x.0[%10] = %7
    }"""
    least = np.iinfo(np.int32).min
    x = np.array([least, 9, 9, 9], np.int32)
    assert arrays_after(text, x, -1)[0].tolist() == [least, 0, least, 0]


def test_positions_count_the_first_axis_of_the_grid_fastest() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = program_id axis=1
      %3: i32 = program_id axis=2
      %4: i32 = num_programs axis=0
      %5: i32 = num_programs axis=1
      %6: i32 = mul %3, %5
      %7: i32 = add %6, %2
      %8: i32 = mul %7, %4
      %9: i32 = add %8, %1
      %10: i32 = 100
      %11: i32 = mul %1, %10
      %12: i32 = add %11, %2
      %13: i32 = mul %12, %10
      %14: i32 = add %13, %3
      store %x.0[%9] = %14
    }"""
    (got,) = arrays_after(text, np.zeros(24, np.int32), grid=(4, 3, 2))
    wanted = [x * 10000 + y * 100 + z for z in range(2) for y in range(3) for x in range(4)]
    assert got.tolist() == wanted


def test_an_axis_the_grid_does_not_have_has_one_program() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=2
      %2: i32 = num_programs axis=2
      store %x.0[%1] = %2
    }"""
    assert arrays_after(text, np.zeros(1, np.int32), grid=(3,))[0].tolist() == [1]


def test_threads_know_their_simdgroup() -> None:
    text = """kernel k(%x.0: *i32, %y.1: *i32) from "k.py" threads 70 {
      %2: i32[70] = thread_index size=70
      %3: i32[70] = lane_index size=70
      %4: i32[70] = simdgroup_index size=70
      barrier
      store %x.0[%2] = %3
      store %y.1[%2] = %4
    }"""
    x, y = arrays_after(text, np.zeros(70, np.int32), np.zeros(70, np.int32))
    assert x.tolist() == [i % 32 for i in range(70)]
    assert y.tolist() == [i // 32 for i in range(70)]


def test_f64_keeps_its_precision() -> None:
    text = """kernel k(%x.0: *f64) from "k.py" {
      %1: i32 = 0
      %2: f64 = load %x.0[%1]
      %3: f64 = 1e-15
      %4: f64 = add %2, %3
      store %x.0[%1] = %4
    }"""
    assert arrays_after(text, np.ones(1, F64.numpy))[0].tolist() == [1.0 + 1e-15]
