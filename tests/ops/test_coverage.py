"""No op and no name of `mk` is left out: each has every backend, and the table runs it on each."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.frontend_ast import calls
from eas.frontend_ast.operands import Array, ArrayPointer, Const, Num, Tuple
from eas.intrinsic import MARK
from eas.ir.nodes import Alloc, Atomic, AtomicKind, Combine, Compute, Load, Op, Print, Store, walk
from eas.ir.ops import OPS
from eas.ir.types import DTYPES, OPAQUE, DType, Pointer, Space
from eas.llvm.program_body import LEGAL
from eas.msl.cxx.spelling import SPELLED
from eas.runtime.interpreter.handlers import HANDLERS
from tests.ops.table import FAMILIES
from tests.ops.table.records import accepted, accepts
from tests.thorough import thorough

Run = tuple[str, DType]


def test_every_op_is_spelled_in_metal() -> None:
    assert OPS.keys() - SPELLED == set()


def test_every_op_is_spelled_for_the_cpu() -> None:
    assert OPS.keys() - LEGAL == set()


def test_every_op_has_a_meaning_for_the_interpreter() -> None:
    assert [name for name, op in OPS.items() if not callable(op.meaning)] == []
    assert set(Op.__args__) - HANDLERS.keys() == set()


def test_the_meanings_keep_their_dtype() -> None:
    """An op of two f16 gives f16: NumPy must not have widened it on the way."""
    for name in ("add", "maximum", "exp", "sigmoid", "erf", "fma", "clamp", "copysign"):
        op = OPS[name]
        arrays = [np.ones(1, np.float16) for _ in op.operands]
        assert op.meaning(*arrays).dtype == np.float16, name


class Seen:
    """The ops of the IR and the names of `mk` in the table's kernels, with the dtypes they got."""

    def __init__(self) -> None:
        self.ops: set[Run] = set()
        self.names: set[Run] = set()
        self.mentioned: set[str] = set()

    def add_name(self, name: str, arguments: Any) -> None:
        self.mentioned.add(name)
        for argument in arguments:
            match argument:
                case Num() | Array():
                    self.names.add((name, argument.dtype))
                case ArrayPointer():
                    self.names.add((name, argument.array.dtype))
                case Const(value=DType() as dtype):
                    self.names.add((name, dtype))
                case Tuple():
                    self.add_name(name, argument.items)
                case _:
                    pass

    def add_op(self, op: Op) -> None:
        match op:
            case Compute():
                self._add_computed(op)
            case Combine():
                self.ops |= {(op.kind, value.ty.dtype) for value in op.operands}
            case Atomic():
                self.ops.add((f"{op.kind} in {_space(op)} memory", op.value.ty.dtype))
            case Load() | Store():
                masked = " under a mask" if op.mask is not None else ""
                self.ops.add((f"{type(op).__name__}{masked}", _dtype(op)))
            case Alloc():
                self.ops.add(("Alloc", op.result.ty.dtype))
            case Print():
                self.ops |= {("Print", p.ty.dtype) for p in op.parts if not isinstance(p, str)}
            case _:
                pass

    def _add_computed(self, op: Compute) -> None:
        to = f" to {op.attr('dtype')}" if op.op.name in ("cast", "bitcast") else ""
        values = op.operands or (op.result,)
        self.ops |= {(op.op.name + to, value.ty.dtype) for value in values}


def _space(op: Atomic) -> str:
    assert isinstance(op.pointer.ty, Pointer)
    return op.pointer.ty.space


def _dtype(op: Load | Store) -> DType:
    return op.pointer.ty.dtype


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    """Compiles a kernel of each family for each dtype: one of two axes, and one of the most."""
    found = Seen()
    lower = calls.lower_intrinsic

    def lower_and_note(ctx: Any, name: str, bound: Any, call: Any) -> Any:
        found.add_name(name, bound.arguments.values())
        return lower(ctx, name, bound, call)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "lower_intrinsic", lower_and_note)
        for family in FAMILIES:
            shapes = {(5, 7) if (5, 7) in family.shapes else family.shapes[0], family.shapes[-1]}
            for dtype in family.dtypes:
                for shape in shapes:
                    launch = family.launch(dtype, shape)
                    anew = eas.kernel(fast_math=launch.kernel.fast_math)(launch.kernel.fn)
                    compiled = anew.compile(**launch.arguments)
                    for op in walk(compiled.function.body):
                        found.add_op(op)
    yield found


def describe(missing: set[Run]) -> list[str]:
    return sorted(f"{name} of {dtype}" for name, dtype in missing)


@thorough
def test_the_table_runs_every_op_on_every_dtype_that_it_takes(seen: Seen) -> None:
    casts = {"cast", "bitcast"}
    taken = {(name, dtype) for name in OPS.keys() - casts for dtype in taken_by(name)}
    taken |= {
        (f"{name} to {target}", source)
        for name in casts
        for source in DTYPES.values()
        for target in DTYPES.values()
        if source != target and not target.is_bool and accepts(name, source, target)
    }  # what becomes a bool is compared with zero
    assert describe(taken - seen.ops) == []


@thorough
def test_the_table_moves_and_combines_every_dtype(seen: Seen) -> None:
    whats = ("Load", "Load under a mask", "Store", "Store under a mask", "Alloc", "Print")
    everything = {(what, dtype) for what in (*whats, "reduce", "scan") for dtype in DTYPES.values()}
    assert describe(everything - seen.ops) == []


@thorough
def test_the_table_runs_every_atomic_in_every_memory(seen: Seen) -> None:
    kinds: tuple[str, ...] = typing.get_args(AtomicKind)
    spaces = [space for space in typing.get_args(Space) if space not in OPAQUE]
    everything = {
        (f"{kind} in {space} memory", dtype)
        for kind in kinds
        for space in spaces
        for dtype in updated_by(kind)
    }
    assert describe(everything - seen.ops) == []


def updated_by(kind: str) -> list[DType]:
    """Bits of floats are not combined, and bools are not updated."""
    is_bitwise = kind in ("and", "or", "xor")
    return [d for d in DTYPES.values() if d.is_int or (d.is_float and not is_bitwise)]


# These are done while a kernel is compiled.
# Of compile time, and `local`, which has tests of its own with every dtype.
_COMPILE_TIME = {"static_assert", "static_print", "local"}
# These take no number, or numbers that only say where something is.
_WITHOUT_DTYPE = {
    *("program_id", "num_programs", "arange", "tid", "local_id", "lane_id", "sg_id", "barrier"),
    *("static_range", "assume", "advance", "mma_zero", "mma", "mma_store", "alloc_tg_f16"),
}
_OF_INTS = {"cdiv", "multiple_of", "randint4x", "randint", "rand", "randn"}


@thorough
def test_the_table_calls_every_name_of_mk_with_every_dtype(seen: Seen) -> None:
    marks = {getattr(value, MARK) for value in vars(mk).values() if hasattr(value, MARK)}
    assert sorted(marks - seen.mentioned - _COMPILE_TIME) == []
    names = marks - _COMPILE_TIME - _WITHOUT_DTYPE
    wanted = {(name, dtype) for name in names for dtype in called_with(name)}
    assert describe(wanted - seen.names) == []


def called_with(name: str) -> list[DType]:
    if name in OPS and name not in ("cast", "bitcast"):
        return list(taken_by(name))
    if name.startswith("atomic_"):
        return updated_by(name.removeprefix("atomic_").rstrip("_"))
    can_be_bool = name != "bitcast"
    return [
        dtype
        for dtype in DTYPES.values()
        if dtype.is_int or (name not in _OF_INTS and (dtype.is_float or can_be_bool))
    ]


# The results of these are i32, or they take what the front end gives them: indices and words.
_OF_ONE_DTYPE = {
    **dict.fromkeys(("program_id", "num_programs", "arange"), ("i32",)),
    **dict.fromkeys(("thread_index", "lane_index", "simdgroup_index"), ("i32",)),
    "index": ("i32",),
    "philox": ("u32",),
}


def taken_by(name: str) -> tuple[DType, ...]:
    if name in _OF_ONE_DTYPE:
        return tuple(DTYPES[dtype] for dtype in _OF_ONE_DTYPE[name])
    found = accepted(name)
    assert found, f"{name}: no operands are known that its rule accepts"
    return found
