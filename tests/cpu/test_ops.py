"""Every element-wise op for every dtype it takes: the machine code against the op's own meaning."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from eas.ir.builder import Builder, region
from eas.ir.nodes import Function, Param, Value, Yield
from eas.ir.ops import OPS, OpDef, RuleError
from eas.ir.ops.record import Array
from eas.ir.types import DTYPES, I32, Block, DType, Pointer, Scalar
from eas.llvm.program_body import LEGAL
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.cpu import Executable
from eas.support.location import NOWHERE, SourceName
from tests.thorough import sampled

COUNT = 253  # vectors, and some lanes more
# There the oracle rounds the steps one by one, the machine code only the result.
ROUGH = {("fma", "f64"), ("sigmoid", "f16"), ("rsqrt", "f16")}
MOST_UNITS = {"sigmoid": 3}


def cases() -> Iterator[tuple[str, str, str]]:
    """The ops with each dtype that they take; casts with each pair."""
    for op in OPS.values():
        if not op.elementwise or op.positional or not op.operands or op.collective:
            continue
        if op.name in ("splat", "broadcast"):
            continue
        for dtype in DTYPES.values():
            for target in DTYPES.values() if "dtype" in op.attrs else [dtype]:
                is_known = (op.name, dtype.name) not in ROUGH
                if is_known and result_of(op, dtype, target) is not None:
                    yield op.name, dtype.name, target.name


def attrs_of(op: OpDef, target: DType) -> dict[str, Any]:
    known = {"dtype": target, "array": "a", "axis": 0, "word": 1}
    return {name: known[name] for name in op.attrs}


def operand_types(op: OpDef, dtype: DType) -> list[DType]:
    return [DTYPES["bool"] if name == "condition" else dtype for name in op.operands]


def result_of(op: OpDef, dtype: DType, target: DType) -> DType | None:
    types = [Block(each, (COUNT,)) for each in operand_types(op, dtype)]
    try:
        return op.typing(types, attrs_of(op, target)).dtype
    except RuleError:
        return None


def numbers(dtype: DType, seed: int) -> Array:
    """Random numbers of a dtype, its extremes among them."""
    random = np.random.default_rng(seed)
    if dtype.is_bool:
        return random.integers(0, 2, COUNT).astype(np.bool_)
    if dtype.is_float:
        some = random.normal(size=COUNT) * 10 ** random.uniform(-3, 3, COUNT)
        some[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.5]
        random.shuffle(some)
        return some.astype(dtype.numpy)
    wide = random.integers(dtype.min, dtype.max, COUNT, dtype=dtype.numpy, endpoint=True)
    small = random.integers(max(dtype.min, -9), 10, COUNT).astype(dtype.numpy)
    mixed = np.where(random.random(COUNT) < 0.5, wide, small)
    mixed[:3] = [dtype.min, dtype.max, 0]
    random.shuffle(mixed)
    return mixed.astype(dtype.numpy)


def operands_for(op: OpDef, dtype: DType) -> list[Array]:
    seed = zlib.crc32(op.name.encode())
    made = [numbers(each, seed + n) for n, each in enumerate(operand_types(op, dtype))]
    if op.name in ("shl", "shr"):
        made[1] = (made[1].astype(np.int64) % dtype.bits).astype(dtype.numpy)
    return made


def function_of(op: OpDef, dtype: DType, target: DType, *, in_lanes: bool) -> Function:
    """Computes the op in the lanes of a block, or once in each of many programs."""
    build = Builder()
    types = [*operand_types(op, dtype), result_of(op, dtype, target) or dtype]
    names = [*op.operands, "out"]
    params = [
        Param(build.value(Pointer(each), name)) for each, name in zip(types, names, strict=True)
    ]
    if in_lanes:
        place = build.compute("arange", start=0, size=COUNT)
    else:
        place = build.compute("program_id", axis=0)
    loaded: list[Value] = [build.load(param.value, place) for param in params[:-1]]
    result = build.compute(op.name, *loaded, **attrs_of(op, target))
    build.store(params[-1].value, place, result)
    assert isinstance(place.ty, Block | Scalar) and place.ty.dtype == I32
    build.emit(Yield((), NOWHERE))
    return Function(op.name, tuple(params), region(build.ops), SourceName("ops.py"))


@pytest.mark.parametrize("in_lanes", [True, False], ids=["lanes", "scalars"])
@pytest.mark.parametrize(("name", "dtype", "target"), sorted(cases()))
@sampled(17)
def test_an_op_computes_what_it_means(name: str, dtype: str, target: str, in_lanes: bool) -> None:
    op = OPS[name]
    function = function_of(op, DTYPES[dtype], DTYPES[target], in_lanes=in_lanes)
    operands = operands_for(op, DTYPES[dtype])
    attrs = attrs_of(op, DTYPES[target])
    with np.errstate(all="ignore"):
        expected: Array = op.meaning(*operands, **attrs)
        faults = op.fault.where(*operands, **attrs) if op.fault else None
    out = np.zeros(COUNT, expected.dtype)
    arguments = [ArrayArgument(array) for array in (*operands, out)]
    assert Executable(function).run(arguments, (1 if in_lanes else COUNT,)) == ()
    defined = np.full(COUNT, True) if faults is None else ~faults
    compare(name, out[defined], expected[defined])


def compare(name: str, found: Array, expected: Array) -> None:
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
        return
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(expected)).astype(np.float64)
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    if not OPS[name].ulps:
        np.testing.assert_array_equal(found, expected)
        signed = ~np.isnan(expected) & (name != "sign")  # the oracle's sign of -0.0 varies
        np.testing.assert_array_equal(np.signbit(found[signed]), np.signbit(expected[signed]))
        return
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(all="ignore"):
        distance = np.abs(found - expected) / unit
    # the oracle, NumPy in the same dtype, is off by up to one unit itself
    assert distance[~same].max(initial=0) <= MOST_UNITS.get(name, 2) + 1


def test_every_op_is_legal_or_known_to_be_missing() -> None:

    assert OPS.keys() - LEGAL == set()
