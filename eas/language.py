"""Everything that a kernel can call: `from eas import mk` is this module.

The examples are lines of a kernel with two arguments: the array `x` holds the f32 numbers 0 to 7,
the array `out` eight f32 zeros. Below a line stands the value of its expression, lane by lane.

>>> i = mk.arange(0, 4)
>>> mk.load(x, i) + 1.0
[1.0, 2.0, 3.0, 4.0]

A scalar with a block is the same value in every lane. Blocks broadcast as NumPy's arrays do: the
last axes are aligned, and extents of 1 are repeated. What is annotated `int`, `Shape` or
`DTypeLike` must be known when the kernel is compiled.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from eas.intrinsic import host_intrinsic, intrinsic
from eas.ir import types as _types
from eas.value_types import (
    BlockPointer,
    Condition,
    DTypeClass,
    DTypeLike,
    Int,
    Mask,
    Number,
    Value,
)

Shape = int | Sequence[int]
Axes = int | Sequence[int]
Pair = tuple[Value, Value]
Triple = tuple[Value, Value, Value]
Several = tuple[Value, ...]
# Functions that make one element of two, or of two of each block.
Joining = Callable[[Value, Value], Number]
JoiningPairs = Callable[[Value, Value, Value, Value], tuple[Number, Number]]
JoiningTriples = Callable[[Value, Value, Value, Value, Value, Value], tuple[Number, Number, Number]]
JoiningSeveral = Callable[..., tuple[Number, ...]]
Padding = Literal["zero", "nan"]
Precision = Literal["ieee", "tf32", "tf32x3"]
Eviction = Literal["", "evict_first", "evict_last", "evict_normal"]
Caching = Literal["", ".ca", ".cg", ".cs", ".wb", ".wt"]

if TYPE_CHECKING:
    # `N: mk.i64` is an annotation, `x.to(mk.i64)` an argument: to an editor a dtype is a class.
    class bool(Value, metaclass=DTypeClass): ...

    class i8(Value, metaclass=DTypeClass): ...

    class i16(Value, metaclass=DTypeClass): ...

    class i32(Value, metaclass=DTypeClass): ...

    class i64(Value, metaclass=DTypeClass): ...

    class u8(Value, metaclass=DTypeClass): ...

    class u16(Value, metaclass=DTypeClass): ...

    class u32(Value, metaclass=DTypeClass): ...

    class u64(Value, metaclass=DTypeClass): ...

    class f16(Value, metaclass=DTypeClass): ...

    class bf16(Value, metaclass=DTypeClass): ...

    class f32(Value, metaclass=DTypeClass): ...

    class f64(Value, metaclass=DTypeClass): ...

else:
    bool = _types.BOOL
    i8 = _types.I8
    i16 = _types.I16
    i32 = _types.I32
    i64 = _types.I64
    u8 = _types.U8
    u16 = _types.U16
    u32 = _types.U32
    u64 = _types.U64
    f16 = _types.F16
    bf16 = _types.BF16
    f32 = _types.F32
    f64 = _types.F64

# The names that NumPy and torch have for them.
int8 = i8
int16 = i16
int32 = i32
int64 = i64
uint8 = u8
uint16 = u16
uint32 = u32
uint64 = u64
float16 = f16
bfloat16 = bf16
float32 = f32
float64 = f64


@intrinsic()
def program_id(axis: int = 0) -> Value:
    """The program's index along an axis of the grid, 0, 1 or 2.

    >>> mk.program_id(0)
    0
    """
    ...


@intrinsic()
def num_programs(axis: int = 0) -> Value:
    """How many programs the grid has along an axis.

    >>> mk.num_programs(0)
    1
    """
    ...


@intrinsic()
def arange(start: int, stop: int) -> Value:
    """The block `start, start + 1, ..., stop - 1` of i32: one number per lane.

    >>> mk.arange(2, 6)
    [2, 3, 4, 5]
    """
    ...


@intrinsic()
def tid(start: int, stop: int) -> Value:
    """The index of the hardware thread: `start` to `stop - 1`, all in one threadgroup.

    A kernel that uses it is written for one thread; it cannot use `arange` as well.

    >>> mk.tid(0, 4)
    [0, 1, 2, 3]
    """
    ...


@intrinsic()
def local_id(axis: int = 0) -> Value:
    """The index of the hardware thread in its threadgroup, as `tid` gives it.

    >>> t = mk.tid(0, 4)
    >>> mk.local_id()
    [0, 1, 2, 3]
    """
    ...


@intrinsic()
def lane_id() -> Value:
    """The index of the hardware thread in its simdgroup of 32.

    >>> t = mk.tid(0, 34)
    >>> mk.sum(mk.lane_id())
    497
    """
    ...


@intrinsic()
def sg_id() -> Value:
    """The index of the thread's simdgroup in its threadgroup.

    >>> t = mk.tid(0, 34)
    >>> mk.sum(mk.sg_id())
    2
    """
    ...


@intrinsic()
def zeros(shape: Shape, dtype: DTypeLike = f32) -> Value:
    """A block of zeros.

    >>> mk.zeros((2, 2), mk.i32)
    [[0, 0], [0, 0]]
    """
    ...


@intrinsic()
def full(shape: Shape, value: Number, dtype: DTypeLike = f32) -> Value:
    """A block with one value in every lane.

    >>> mk.full((2,), 1.5, mk.f32)
    [1.5, 1.5]
    """
    ...


@intrinsic()
def zeros_like(a: Value) -> Value:
    """Zeros of the shape and the dtype of another block.

    >>> mk.zeros_like(mk.arange(0, 2))
    [0, 0]
    """
    ...


@intrinsic()
def full_like(a: Value, value: Number) -> Value:
    """One value in the shape and the dtype of another block.

    >>> mk.full_like(mk.arange(0, 2), 7)
    [7, 7]
    """
    ...


@overload
def load(
    ptr: Value,
    offs: Int,
    mask: Mask = None,
    other: Number = 0,
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> Value: ...
@overload
def load(
    ptr: Value,
    mask: Mask = None,
    other: Number = 0,
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> Value: ...
@overload
def load(
    ptr: BlockPointer,
    *,
    boundary_check: Axes = (),
    padding: Padding = "zero",
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> Value: ...
@intrinsic()
def load(
    ptr: Any,
    offs: Any = None,
    mask: Any = None,
    other: Number = 0,
    boundary_check: Axes = (),
    padding: Padding = "zero",
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> Value:
    """The elements of an array at `offs`.

    Offsets count elements. Lanes where `mask` is false read nothing and give `other`.
    `load(a + offs, mask)` is another way to write `load(a, offs, mask)`. A pointer of
    `make_block_ptr` has its own offsets: of those, elements out of bounds along the axes in
    `boundary_check` are not read, but are zero, or NaN with `padding="nan"`. What is said of caches
    is a hint.

    >>> i = mk.arange(0, 4)
    >>> mk.load(x, i)
    [0.0, 1.0, 2.0, 3.0]
    >>> mk.load(x + i, i < 2, other=-1.0)
    [0.0, 1.0, -1.0, -1.0]
    """
    ...


@overload
def store(
    ptr: Value,
    offs: Int,
    value: Number,
    mask: Mask = None,
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> None: ...
@overload
def store(
    ptr: Value,
    value: Number,
    mask: Mask = None,
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> None: ...
@overload
def store(
    ptr: BlockPointer,
    value: Number,
    *,
    boundary_check: Axes = (),
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> None: ...
@intrinsic()
def store(
    ptr: Any,
    offs: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Axes = (),
    *,
    eviction_policy: Eviction = "",
    cache_modifier: Caching = "",
) -> None:
    """Writes `value` to the elements of an array at `offs`.

    Lanes where `mask` is false write nothing. `store(a + offs, value, mask)` is another way to
    write `store(a, offs, value, mask)`. Through a pointer of `make_block_ptr`, elements out of
    bounds along the axes in `boundary_check` are not written. What is said of caches is a hint.

    >>> i = mk.arange(0, 4)
    >>> mk.store(out, i, 2.0, mask=i > 1)
    >>> mk.store(out + 4, 5.0)
    >>> mk.load(out, mk.arange(0, 5))
    [0.0, 0.0, 2.0, 2.0, 5.0]
    """
    ...


@overload
def atomic_add(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_add(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_add(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Adds to the elements at `offs`, also where lanes have equal offsets; gives the old values.

    As for all atomics, lanes where `mask` is false do nothing, and give zero.

    >>> before = mk.atomic_add(out, mk.arange(0, 4) // 2, 1.0)
    >>> mk.load(out, mk.arange(0, 2))
    [2.0, 2.0]
    """
    ...


@overload
def atomic_max(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_max(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_max(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Raises the elements at `offs` to `value`; gives what was there before.

    >>> before = mk.atomic_max(out, 0, 3.0)
    >>> mk.load(out, 0)
    3.0
    """
    ...


@overload
def atomic_min(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_min(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_min(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Lowers the elements at `offs` to `value`; gives what was there before.

    >>> before = mk.atomic_min(out, 0, -3.0)
    >>> mk.load(out, 0)
    -3.0
    """
    ...


@overload
def atomic_and(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_and(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_and(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Sets the integers at `offs` to their bitwise and with `value`; gives what was there before.

    >>> t = mk.tid(0, 4)
    >>> shared = mk.alloc_tg(1, mk.i32)
    >>> mk.store(shared, t, 6, mask=t == 0)
    >>> mk.barrier()
    >>> before = mk.atomic_and(shared, 0, 3)
    >>> mk.barrier()
    >>> mk.load(shared, 0)
    2
    """
    ...


@overload
def atomic_or(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_or(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_or(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Sets the integers at `offs` to their bitwise or with `value`; gives what was there before.

    >>> t = mk.tid(0, 4)
    >>> shared = mk.alloc_tg(1, mk.i32)
    >>> mk.store(shared, t, 6, mask=t == 0)
    >>> mk.barrier()
    >>> before = mk.atomic_or(shared, 0, 3)
    >>> mk.barrier()
    >>> mk.load(shared, 0)
    7
    """
    ...


@overload
def atomic_xor(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_xor(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_xor(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Sets the integers at `offs` to their bitwise xor with `value`; gives what was there before.

    >>> t = mk.tid(0, 4)
    >>> shared = mk.alloc_tg(1, mk.i32)
    >>> mk.store(shared, t, 6, mask=t == 0)
    >>> mk.barrier()
    >>> before = mk.atomic_xor(shared, 0, 1 << t)
    >>> mk.barrier()
    >>> mk.load(shared, 0)
    9
    """
    ...


@overload
def atomic_xchg(ptr: Value, offs: Int, value: Number, mask: Mask = None) -> Value: ...
@overload
def atomic_xchg(ptr: Value, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_xchg(ptr: Value, offs: Any, value: Any, mask: Any = None) -> Value:
    """Writes `value` and gives what was there before, as one step.

    >>> mk.atomic_xchg(x, 3, 9.0)
    3.0
    """
    ...


@overload
def atomic_cas(
    ptr: Value, offs: Int, expected: Number, value: Number, mask: Mask = None
) -> Value: ...
@overload
def atomic_cas(ptr: Value, expected: Number, value: Number, mask: Mask = None) -> Value: ...
@intrinsic()
def atomic_cas(ptr: Value, offs: Any, expected: Any, value: Any, mask: Any = None) -> Value:
    """Writes `value` where memory equals `expected`; gives what was there before.

    >>> mk.atomic_cas(out, 0, 0.0, 9.0)
    0.0
    """
    ...


@intrinsic()
def alloc_tg(shape: Shape, dtype: DTypeLike = f32) -> Value:
    """Memory that the threads of a threadgroup share; it holds nothing yet.

    >>> t = mk.tid(0, 4)
    >>> shared = mk.alloc_tg(4, mk.i32)
    >>> mk.store(shared, t, 10 * t)
    >>> mk.barrier()
    >>> mk.load(shared, 3 - t)
    [30, 20, 10, 0]
    """
    ...


@intrinsic()
def alloc_tg_f16(size: int) -> Value:
    """The same as `mk.alloc_tg(size, mk.f16)`.

    >>> t = mk.tid(0, 4)
    >>> shared = mk.alloc_tg_f16(4)
    >>> mk.store(shared, t, mk.to_f16(0.5 * t))
    >>> mk.barrier()
    >>> mk.load(shared, 3 - t)
    [1.5, 1.0, 0.5, 0.0]
    """
    ...


@intrinsic()
def local(size: int, dtype: DTypeLike = f32) -> Value:
    """A small array for each lane, zero at first: up to 64 elements, in registers.

    An index may be known at run time only, and differ from lane to lane.

    >>> i = mk.arange(0, 4)
    >>> best = mk.local(2, mk.i32)
    >>> best[i % 2] = 10 * i
    >>> best[1]
    [0, 10, 0, 30]
    """
    ...


@intrinsic()
def barrier() -> None:
    """The threads of a threadgroup wait for each other, and see what the others have written.

    >>> t = mk.tid(0, 2)
    >>> mk.store(out, t, 1.0)
    >>> mk.barrier()
    >>> mk.load(out, 1 - t)
    [1.0, 1.0]
    """
    ...


@intrinsic()
def make_block_ptr(
    base: Value,
    shape: Sequence[Int],
    strides: Sequence[Int],
    offsets: Sequence[Int],
    block_shape: Sequence[int],
    order: Sequence[int] | None = None,
) -> BlockPointer:
    """A pointer to a tile of an array that has this shape and these strides, in elements.

    `order` lists the axes, the densest in memory first; the strides say that too.

    >>> p = mk.make_block_ptr(x, (2, 3), (3, 1), (0, 1), (2, 2))
    >>> mk.load(p)
    [[1.0, 2.0], [4.0, 5.0]]
    >>> mk.load(mk.advance(p, (0, 1)), boundary_check=(1,))
    [[2.0, 0.0], [5.0, 0.0]]
    """
    ...


@intrinsic()
def advance(ptr: BlockPointer, offsets: Sequence[Int]) -> BlockPointer:
    """The block pointer, moved by so many elements along each axis.

    >>> p = mk.make_block_ptr(x, (8,), (1,), (0,), (2,))
    >>> mk.load(mk.advance(p, (4,)))
    [4.0, 5.0]
    """
    ...


@intrinsic()
def reshape(a: Value, shape: Shape) -> Value:
    """The same elements, in row-major order, in another shape.

    >>> mk.reshape(mk.arange(0, 4), (2, 2))
    [[0, 1], [2, 3]]
    """
    ...


@intrinsic()
def expand_dims(a: Value, axis: int) -> Value:
    """The block with one more axis, of extent 1: `x[:, None]` is `expand_dims(x, 1)`.

    >>> mk.expand_dims(mk.arange(0, 2), 1)
    [[0], [1]]
    """
    ...


@intrinsic()
def broadcast_to(a: Value, shape: Shape) -> Value:
    """The block with its extents of 1 repeated.

    >>> mk.broadcast_to(mk.arange(0, 2)[:, None], (2, 3))
    [[0, 0, 0], [1, 1, 1]]
    """
    ...


@intrinsic()
def trans(a: Value) -> Value:
    """The transpose of a block of two axes.

    >>> mk.trans(mk.reshape(mk.arange(0, 4), (2, 2)))
    [[0, 2], [1, 3]]
    """
    ...


@intrinsic()
def permute(a: Value, axes: Sequence[int]) -> Value:
    """The block with its axes in another order.

    >>> mk.permute(mk.reshape(mk.arange(0, 4), (2, 2)), (1, 0))
    [[0, 2], [1, 3]]
    """
    ...


@intrinsic()
def ravel(a: Value) -> Value:
    """The elements of a block, in row-major order, in one dimension.

    >>> mk.ravel(mk.reshape(mk.arange(0, 4), (2, 2)))
    [0, 1, 2, 3]
    """
    ...


@intrinsic()
def cat(a: Value, b: Value, axis: int = 0) -> Value:
    """Two blocks, one after the other along an axis.

    >>> mk.cat(mk.arange(0, 3), mk.arange(7, 9))
    [0, 1, 2, 7, 8]
    """
    ...


@intrinsic()
def join(a: Value, b: Value) -> Value:
    """Two blocks side by side: a new last axis of extent 2.

    >>> mk.join(mk.arange(0, 2), mk.arange(5, 7))
    [[0, 5], [1, 6]]
    """
    ...


@intrinsic()
def split(a: Value) -> tuple[Value, Value]:
    """The two halves of a block whose last axis has the extent 2: the opposite of `join`.

    >>> left, right = mk.split(mk.reshape(mk.arange(0, 4), (2, 2)))
    >>> right
    [1, 3]
    """
    ...


@intrinsic()
def flip(a: Value, axis: int | None = None) -> Value:
    """The block with its elements along an axis in the opposite order.

    Only of a block with several axes the axis must be given.

    >>> mk.flip(mk.arange(0, 3))
    [2, 1, 0]
    """
    ...


@intrinsic()
def abs(a: Number) -> Value:
    """The absolute value.

    >>> mk.abs(mk.arange(-1, 2))
    [1, 0, 1]
    """
    ...


@intrinsic()
def ceil(a: Number) -> Value:
    """The least integer that is not below `a`, as a float.

    >>> mk.ceil(mk.load(x, 1) / 2.0)
    1.0
    """
    ...


@intrinsic()
def floor(a: Number) -> Value:
    """The greatest integer that is not above `a`, as a float.

    >>> mk.floor(mk.load(x, 1) / 2.0)
    0.0
    """
    ...


@intrinsic()
def round(a: Number) -> Value:
    """The nearest integer, halves to even, as a float.

    >>> mk.round(mk.load(x, mk.arange(0, 4)) / 2.0)
    [0.0, 0.0, 1.0, 2.0]
    """
    ...


@intrinsic()
def trunc(a: Number) -> Value:
    """The number without its fraction, as a float.

    >>> mk.trunc(-mk.load(x, 3) / 2.0)
    -1.0
    """
    ...


@intrinsic()
def exp(a: Number) -> Value:
    """e to the power of `a`.

    >>> mk.exp(mk.load(x, mk.arange(0, 2)))
    [1.0, 2.718282]
    """
    ...


@intrinsic()
def exp2(a: Number) -> Value:
    """2 to the power of `a`.

    >>> mk.exp2(mk.load(x, mk.arange(0, 4)))
    [1.0, 2.0, 4.0, 8.0]
    """
    ...


@intrinsic()
def expm1(a: Number) -> Value:
    """e to the power of `a`, minus 1, exact for small `a`.

    >>> mk.expm1(mk.load(x, mk.arange(0, 2)))
    [0.0, 1.718282]
    """
    ...


@intrinsic()
def log(a: Number) -> Value:
    """The natural logarithm.

    >>> mk.log(mk.load(x, mk.arange(1, 3)))
    [0.0, 0.693147]
    """
    ...


@intrinsic()
def log2(a: Number) -> Value:
    """The logarithm to base 2.

    >>> mk.log2(mk.load(x, mk.arange(1, 3)))
    [0.0, 1.0]
    """
    ...


@intrinsic()
def log10(a: Number) -> Value:
    """The logarithm to base 10.

    >>> mk.log10(mk.load(x, mk.arange(1, 3)))
    [0.0, 0.30103]
    """
    ...


@intrinsic()
def log1p(a: Number) -> Value:
    """The natural logarithm of `1 + a`, exact for small `a`.

    >>> mk.log1p(mk.load(x, mk.arange(0, 2)))
    [0.0, 0.693147]
    """
    ...


@intrinsic()
def sqrt(a: Number) -> Value:
    """The square root.

    >>> mk.sqrt(mk.load(x, 4))
    2.0
    """
    ...


@intrinsic()
def rsqrt(a: Number) -> Value:
    """`1 / sqrt(a)`.

    >>> mk.rsqrt(mk.load(x, 4))
    0.5
    """
    ...


@intrinsic()
def sin(a: Number) -> Value:
    """The sine of an angle in radians.

    >>> mk.sin(mk.load(x, mk.arange(0, 2)))
    [0.0, 0.841471]
    """
    ...


@intrinsic()
def cos(a: Number) -> Value:
    """The cosine of an angle in radians.

    >>> mk.cos(mk.load(x, mk.arange(0, 2)))
    [1.0, 0.540302]
    """
    ...


@intrinsic()
def tan(a: Number) -> Value:
    """The tangent of an angle in radians.

    >>> mk.tan(mk.load(x, mk.arange(0, 2)))
    [0.0, 1.557408]
    """
    ...


@intrinsic()
def asin(a: Number) -> Value:
    """The angle whose sine is `a`.

    >>> mk.asin(mk.load(x, mk.arange(0, 2)))
    [0.0, 1.570796]
    """
    ...


@intrinsic()
def acos(a: Number) -> Value:
    """The angle whose cosine is `a`.

    >>> mk.acos(mk.load(x, mk.arange(0, 2)))
    [1.570796, 0.0]
    """
    ...


@intrinsic()
def atan(a: Number) -> Value:
    """The angle whose tangent is `a`.

    >>> mk.atan(mk.load(x, mk.arange(0, 2)))
    [0.0, 0.785398]
    """
    ...


@intrinsic()
def atan2(y: Number, x: Number) -> Value:
    """The angle of the point (x, y).

    >>> mk.atan2(mk.load(x, 1), -mk.load(x, 1))
    2.356194
    """
    ...


@intrinsic()
def sinh(a: Number) -> Value:
    """The hyperbolic sine.

    >>> mk.sinh(mk.load(x, mk.arange(0, 2)))
    [0.0, 1.175201]
    """
    ...


@intrinsic()
def cosh(a: Number) -> Value:
    """The hyperbolic cosine.

    >>> mk.cosh(mk.load(x, mk.arange(0, 2)))
    [1.0, 1.543081]
    """
    ...


@intrinsic()
def tanh(a: Number) -> Value:
    """The hyperbolic tangent.

    >>> mk.tanh(mk.load(x, mk.arange(0, 2)))
    [0.0, 0.761594]
    """
    ...


@intrinsic()
def erf(a: Number) -> Value:
    """The error function.

    >>> mk.erf(mk.load(x, mk.arange(0, 2)))
    [0.0, 0.842701]
    """
    ...


@intrinsic()
def sigmoid(a: Number) -> Value:
    """`1 / (1 + exp(-a))`.

    >>> mk.sigmoid(mk.load(x, mk.arange(0, 2)))
    [0.5, 0.731059]
    """
    ...


@intrinsic()
def pow(a: Number, b: Number) -> Value:
    """`a` to the power of `b`, of floats.

    >>> mk.pow(mk.load(x, 3), mk.load(x, 2))
    9.0
    """
    ...


@intrinsic()
def fma(a: Number, b: Number, c: Number) -> Value:
    """`a * b + c`, rounded once.

    >>> mk.fma(mk.load(x, 2), mk.load(x, 3), mk.load(x, 4))
    10.0
    """
    ...


@intrinsic()
def maximum(a: Number, b: Number) -> Value:
    """The greater of the two, lane by lane; of a NaN and a number the number.

    `0.0` is above `-0.0`.

    >>> mk.maximum(mk.arange(0, 4), 2)
    [2, 2, 2, 3]
    """
    ...


@intrinsic()
def minimum(a: Number, b: Number) -> Value:
    """The lesser of the two, lane by lane; of a NaN and a number the number.

    `-0.0` is below `0.0`.

    >>> mk.minimum(mk.arange(0, 4), 2)
    [0, 1, 2, 2]
    """
    ...


@intrinsic()
def clamp(a: Number, low: Number, high: Number) -> Value:
    """`a`, but not below `low` and not above `high`.

    >>> mk.clamp(mk.arange(0, 5), 1, 3)
    [1, 1, 2, 3, 3]
    """
    ...


@intrinsic("select")
def where(condition: Condition, a: Number, b: Number) -> Value:
    """`a` in the lanes where the condition is true, `b` in the others.

    >>> mk.where(mk.arange(0, 4) < 2, 1.0, -1.0)
    [1.0, 1.0, -1.0, -1.0]
    """
    ...


@intrinsic()
def and_(a: Condition, b: Condition) -> Value:
    """Whether both count as true, lane by lane; unlike those of `and`, both are computed.

    >>> i = mk.arange(0, 4)
    >>> mk.and_(0 < i, i < 3)
    [False, True, True, False]
    """
    ...


@intrinsic()
def or_(a: Condition, b: Condition) -> Value:
    """Whether one counts as true, lane by lane; unlike those of `or`, both are computed.

    >>> i = mk.arange(0, 4)
    >>> mk.or_(i < 1, i > 2)
    [True, False, False, True]
    """
    ...


@intrinsic()
def not_(a: Condition) -> Value:
    """Whether a value counts as false, lane by lane: `not a`.

    >>> mk.not_(mk.arange(0, 4) < 3)
    [False, False, False, True]
    """
    ...


@intrinsic()
def sign(a: Number) -> Value:
    """-1, 0 or 1, of the dtype of `a`.

    >>> mk.sign(mk.arange(-2, 2))
    [-1, -1, 0, 1]
    """
    ...


@intrinsic()
def copysign(a: Number, b: Number) -> Value:
    """The size of `a` with the sign of `b`.

    >>> mk.copysign(mk.load(x, 3), -mk.load(x, 1))
    -3.0
    """
    ...


@intrinsic()
def isnan(a: Number) -> Value:
    """Whether the float is not a number.

    >>> mk.isnan(mk.load(x, mk.arange(0, 2)) * math.inf)
    [True, False]
    """
    ...


@intrinsic()
def isinf(a: Number) -> Value:
    """Whether the float is an infinity.

    >>> mk.isinf(mk.load(x, mk.arange(0, 2)) * math.inf)
    [False, True]
    """
    ...


@intrinsic()
def isfinite(a: Number) -> Value:
    """Whether the float is neither infinite nor a NaN.

    >>> mk.isfinite(mk.load(x, mk.arange(0, 2)) * math.inf)
    [False, False]
    """
    ...


@intrinsic()
def popcount(a: Int) -> Value:
    """How many bits of an integer are set.

    >>> mk.popcount(mk.arange(0, 4))
    [0, 1, 1, 2]
    """
    ...


@intrinsic()
def clz(a: Int) -> Value:
    """How many zero bits an integer begins with.

    >>> mk.clz(mk.arange(0, 4))
    [32, 31, 30, 30]
    """
    ...


@intrinsic()
def umulhi(a: Int, b: Int) -> Value:
    """The upper half of the product of two unsigned integers.

    >>> mk.umulhi(mk.to_u32(mk.load(x, 3)), 1 << 31)
    1
    """
    ...


@overload
def cdiv(a: int, b: int) -> int: ...
@overload
def cdiv(a: Value, b: Int) -> Value: ...
@overload
def cdiv(a: int, b: Value) -> Value: ...
@host_intrinsic
def cdiv(a: Any, b: Any) -> Any:
    """`a / b` of integers, rounded up. It works on plain ints outside of kernels too.

    >>> mk.cdiv(mk.arange(0, 4), 2)
    [0, 1, 1, 2]
    """
    return -(-a // b)


@intrinsic("truncdiv")
def trunc_div(a: Int, b: Int) -> Value:
    """`a / b` of integers, rounded towards zero, as in C; `a // b` rounds down.

    >>> mk.trunc_div(mk.arange(-3, 1), 2)
    [-1, -1, 0, 0]
    """
    ...


@intrinsic("truncmod")
def fmod(a: Number, b: Number) -> Value:
    """The remainder with the sign of `a`, as in C; `a % b` has the sign of `b`.

    >>> mk.fmod(mk.arange(-3, 1), 2)
    [-1, 0, -1, 0]
    """
    ...


@intrinsic()
def cast(a: Number, dtype: DTypeLike) -> Value:
    """The value as another dtype; `a.to(dtype)` is the same.

    Ints wrap; a float loses its fraction.

    >>> mk.cast(mk.load(x, 3) / 2.0, mk.i32)
    1
    """
    ...


@intrinsic()
def bitcast(a: Value, dtype: DTypeLike) -> Value:
    """The same bits, read as another dtype of the same width.

    >>> mk.bitcast(mk.load(x, 1), mk.i32) == 0x3F800000
    True
    """
    ...


@intrinsic()
def to_bool(a: Number) -> Value:
    """The value as a bool: whether it is not zero.

    >>> mk.to_bool(mk.arange(0, 2))
    [False, True]
    """
    ...


@intrinsic()
def to_i8(a: Number) -> Value:
    """The value as a signed integer of 8 bits.

    >>> mk.to_i32(mk.to_i8(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_i16(a: Number) -> Value:
    """The value as a signed integer of 16 bits.

    >>> mk.to_i32(mk.to_i16(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_i32(a: Number) -> Value:
    """The value as a signed integer of 32 bits.

    >>> mk.to_i32(mk.load(x, 3))
    3
    """
    ...


@intrinsic()
def to_i64(a: Number) -> Value:
    """The value as a signed integer of 64 bits.

    >>> mk.to_i32(mk.to_i64(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_u8(a: Number) -> Value:
    """The value as an unsigned integer of 8 bits.

    >>> mk.to_i32(mk.to_u8(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_u16(a: Number) -> Value:
    """The value as an unsigned integer of 16 bits.

    >>> mk.to_i32(mk.to_u16(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_u32(a: Number) -> Value:
    """The value as an unsigned integer of 32 bits.

    >>> mk.to_i32(mk.to_u32(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_u64(a: Number) -> Value:
    """The value as an unsigned integer of 64 bits.

    >>> mk.to_i32(mk.to_u64(mk.load(x, 3)))
    3
    """
    ...


@intrinsic()
def to_f16(a: Number) -> Value:
    """The value as a float of 16 bits.

    >>> mk.to_f32(mk.to_f16(mk.load(x, 3)))
    3.0
    """
    ...


@intrinsic()
def to_bf16(a: Number) -> Value:
    """The value as a bfloat16: the upper half of an f32.

    >>> mk.to_f32(mk.to_bf16(mk.load(x, 3)))
    3.0
    """
    ...


@intrinsic()
def to_f32(a: Number) -> Value:
    """The value as a float of 32 bits.

    >>> mk.to_f32(mk.load(x, 3))
    3.0
    """
    ...


@intrinsic()
def to_f64(a: Number) -> Value:
    """The value as a float of 64 bits, which Metal does not have.

    >>> mk.to_f32(mk.to_f64(mk.load(x, 3)))
    3.0
    """
    ...


@intrinsic("reduce_sum")
def sum(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The sum of a block, or along one axis of it.

    Integers of less than 32 bits and bools are added up in 32 bits, narrow floats in f32.

    >>> mk.sum(mk.arange(0, 4))
    6
    >>> mk.sum(mk.reshape(mk.arange(0, 4), (2, 2)), axis=1, keep_dims=True)
    [[1], [5]]
    """
    ...


@intrinsic("reduce_prod")
def prod(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The product of a block, or along one axis of it.

    >>> mk.prod(mk.arange(1, 5))
    24
    """
    ...


@intrinsic("reduce_max")
def max(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The greatest element of a block, or along one axis of it; NaNs do not count.

    Of nothing but NaNs it is minus infinity.

    >>> mk.max(mk.arange(0, 4))
    3
    """
    ...


@intrinsic("reduce_min")
def min(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The least element of a block, or along one axis of it; NaNs do not count.

    >>> mk.min(mk.arange(0, 4))
    0
    """
    ...


@intrinsic("reduce_argmax")
def argmax(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The first index of the greatest element of a block, or along one axis of it.

    >>> mk.argmax(mk.arange(0, 4) % 3)
    2
    """
    ...


@intrinsic("reduce_argmin")
def argmin(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The first index of the least element of a block, or along one axis of it.

    >>> mk.argmin(mk.arange(1, 5) % 3)
    2
    """
    ...


@intrinsic("reduce_any")
def any(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """Whether any lane of a block of bools is true, or any along one axis.

    >>> mk.any(mk.arange(0, 4) > 2)
    True
    """
    ...


@intrinsic("reduce_all")
def all(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """Whether all lanes of a block of bools are true, or all along one axis.

    >>> mk.all(mk.arange(0, 4) > 2)
    False
    """
    ...


@intrinsic("reduce_xor")
def xor_sum(a: Value, axis: int | None = None, keep_dims: builtins.bool = False) -> Value:
    """The bitwise xor of all elements of a block, or along one axis of it.

    >>> mk.xor_sum(mk.arange(0, 4))
    0
    """
    ...


@overload
def reduce(a: Value, axis: int | None, fn: Joining, keep_dims: builtins.bool = False) -> Value: ...
@overload
def reduce(
    a: Pair, axis: int | None, fn: JoiningPairs, keep_dims: builtins.bool = False
) -> Pair: ...
@overload
def reduce(
    a: Triple, axis: int | None, fn: JoiningTriples, keep_dims: builtins.bool = False
) -> Triple: ...
@overload
def reduce(
    a: Several, axis: int | None, fn: JoiningSeveral, keep_dims: builtins.bool = False
) -> Several: ...
@intrinsic()
def reduce(a: Any, axis: int | None, fn: Any, keep_dims: builtins.bool = False) -> Any:
    """What a function makes of all elements of a block, or along one axis, two at a time.

    `fn(x, y)` is associative and commutative: any two elements may be combined, in any order. Of a
    tuple of blocks it takes an element of each, then another one of each, and gives a tuple.

    >>> mk.reduce(mk.arange(1, 5), 0, lambda x, y: x * y)
    24
    >>> i = mk.arange(0, 4)
    >>> def later(v, i, w, j):
    ...     is_better = w > v or (w == v and j > i)
    ...     return (w, j) if is_better else (v, i)
    >>> value, index = mk.reduce((mk.abs(2 * i - 3), i), 0, later)
    >>> index
    3
    """
    ...


@intrinsic()
def cumsum(a: Value, axis: int = 0, reverse: builtins.bool = False) -> Value:
    """The running sum along an axis; in reverse, from the end.

    Integers of less than 32 bits and bools are added up in 32 bits.

    >>> mk.cumsum(mk.arange(1, 5))
    [1, 3, 6, 10]
    >>> mk.cumsum(mk.arange(1, 5), reverse=True)
    [10, 9, 7, 4]
    """
    ...


@intrinsic()
def cumprod(a: Value, axis: int = 0, reverse: builtins.bool = False) -> Value:
    """The running product along an axis; in reverse, from the end.

    >>> mk.cumprod(mk.arange(1, 5))
    [1, 2, 6, 24]
    """
    ...


@overload
def associative_scan(a: Value, axis: int, fn: Joining, reverse: builtins.bool = False) -> Value: ...
@overload
def associative_scan(
    a: Pair, axis: int, fn: JoiningPairs, reverse: builtins.bool = False
) -> Pair: ...
@overload
def associative_scan(
    a: Triple, axis: int, fn: JoiningTriples, reverse: builtins.bool = False
) -> Triple: ...
@overload
def associative_scan(
    a: Several, axis: int, fn: JoiningSeveral, reverse: builtins.bool = False
) -> Several: ...
@intrinsic()
def associative_scan(a: Any, axis: int, fn: Any, reverse: builtins.bool = False) -> Any:
    """For each element along an axis what a function makes of those up to it, two at a time.

    `fn(x, y)` is associative; `x` comes of elements before those of `y`. Of a tuple of blocks it
    takes an element of each, then another one of each, and gives a tuple.

    >>> mk.associative_scan(mk.arange(0, 4) * 3 % 5, 0, mk.maximum)
    [0, 3, 3, 4]
    """
    ...


@overload
def dot(
    a: Value,
    b: Value,
    acc: Number | None = None,
    input_precision: Precision = "ieee",
) -> Value: ...
@overload
def dot(
    a: Value, a_base: Int, a_stride: Int, b: Value, b_base: Int, b_stride: Int, K: Int
) -> Value: ...
@intrinsic()
def dot(a: Any, b: Any, acc: Any = None, input_precision: Any = "ieee") -> Value:  # pyright: ignore[reportInconsistentOverload]
    """The product of two matrices, or of each two of a batch, plus `acc`.

    The factors are f16, bf16 or f32, and the sum is f32; or they are i8 or u8, and it is i32; or
    they are f64, which Metal does not have, and it is f64. In a loop, `acc = mk.dot(a, b, acc)`
    keeps a sum of f32 in the matrix registers of the GPU.
    `input_precision` allows f32 factors to be rounded; they never are.

    >>> a = mk.reshape(mk.load(x, mk.arange(0, 6)), (2, 3))
    >>> mk.dot(a, mk.trans(a))
    [[5.0, 14.0], [14.0, 50.0]]

    Of two arrays, offsets and strides, and a length `K`, it is a dot product for each lane or
    thread: the sum of `a[a_base + k * a_stride] * b[b_base + k * b_stride]`.

    >>> i = mk.arange(0, 2)
    >>> mk.dot(x, i, 1, x, 0, 1, 3)
    [5.0, 8.0]
    """
    ...


@intrinsic()
def mma_zero() -> Pair:
    """An 8x8 matrix of zeros, spread over the 32 threads of a simdgroup, in a thread program.

    Each thread has two of its elements: it is a tuple of two f32.

    >>> t = mk.tid(0, 32)
    >>> first, second = mk.mma_zero()
    >>> mk.sum(first)
    0.0
    """
    ...


@overload
def mma(
    acc: Pair,
    a: Value,
    a_offs: Int,
    b: Value,
    b_offs: Int,
    a_stride: Int = 8,
    b_stride: Int = 8,
) -> Pair: ...
@overload
def mma(
    a: Value, a_base: Int, a_stride: Int, b: Value, b_base: Int, b_stride: Int, acc: Pair
) -> Pair: ...
@intrinsic()
def mma(  # pyright: ignore[reportInconsistentOverload]
    acc: Any, a: Any, a_offs: Any, b: Any, b_offs: Any, a_stride: Any = 8, b_stride: Any = 8
) -> Pair:
    """`acc + a @ b` of 8x8 matrices: those of the arrays begin at the offsets given.

    A stride is how many elements lie between the rows of a matrix. All threads of a simdgroup give
    the same offsets. It also takes the order `mk.mma(a, a_base, a_stride, b, b_base, b_stride,
    acc)`: an array comes first then.

    >>> t = mk.tid(0, 32)
    >>> shared = mk.alloc_tg(64, mk.f32)
    >>> mk.store(shared, t, 1.0)
    >>> mk.store(shared, t + 32, 1.0)
    >>> mk.barrier()
    >>> first, second = mk.mma(mk.mma_zero(), shared, 0, shared, 0)
    >>> mk.sum(first + second)
    512.0
    """
    ...


@overload
def mma_store(acc: Pair, ptr: Value, offs: Int, stride: Int = 8) -> None: ...
@overload
def mma_store(buffer: Value, base: Int, stride: Int, fragment: Pair) -> None: ...
@intrinsic()
def mma_store(acc: Any, ptr: Any, offs: Any, stride: Any = 8) -> None:  # pyright: ignore[reportInconsistentOverload]
    """Writes an 8x8 matrix to an array, its first element at `offs`.

    It also takes the order `mk.mma_store(buffer, base, stride, fragment)`.

    >>> t = mk.tid(0, 32)
    >>> shared = mk.alloc_tg(64, mk.f32)
    >>> mk.mma_store(mk.mma_zero(), shared, 0)
    >>> mk.barrier()
    >>> mk.sum(mk.load(shared, t))
    0.0
    """
    ...


@intrinsic()
def simd_sum(a: Number) -> Value:
    """The sum over the 32 threads of a simdgroup; each thread gets it.

    As in `sum`, bools and integers of less than 32 bits are added up in 32 bits, narrow floats in
    f32.

    >>> t = mk.tid(0, 34)
    >>> mk.max(mk.simd_sum(t))
    496
    """
    ...


@intrinsic()
def simd_max(a: Number) -> Value:
    """The greatest value of a simdgroup; NaNs do not count.

    >>> t = mk.tid(0, 34)
    >>> mk.min(mk.simd_max(t))
    31
    """
    ...


@intrinsic()
def simd_min(a: Number) -> Value:
    """The least value of a simdgroup; NaNs do not count.

    >>> t = mk.tid(0, 34)
    >>> mk.max(mk.simd_min(t))
    32
    """
    ...


@intrinsic()
def simd_any(a: Number) -> Value:
    """Whether a condition holds for any thread of the simdgroup.

    >>> t = mk.tid(0, 34)
    >>> mk.sum(mk.simd_any(t == 33))
    2
    """
    ...


@intrinsic()
def simd_all(a: Number) -> Value:
    """Whether a condition holds for all threads of the simdgroup.

    >>> t = mk.tid(0, 34)
    >>> mk.sum(mk.simd_all(t < 32))
    32
    """
    ...


@intrinsic()
def simd_shuffle(a: Number, lane: Int) -> Value:
    """The value that another lane of the simdgroup has; of one that is missing, a thread's own.

    >>> t = mk.tid(0, 4)
    >>> mk.simd_shuffle(10 * t, 3 - t)
    [30, 20, 10, 0]
    """
    ...


@intrinsic()
def simd_shuffle_xor(a: Number, mask: Int) -> Value:
    """The value of the lane whose number differs from the thread's own in the bits of `mask`.

    >>> t = mk.tid(0, 4)
    >>> mk.simd_shuffle_xor(10 * t, 1)
    [10, 0, 30, 20]
    """
    ...


@intrinsic()
def simd_broadcast(a: Number, lane: Int) -> Value:
    """The value that one lane of the simdgroup has, the same for all threads.

    >>> t = mk.tid(0, 4)
    >>> mk.simd_broadcast(10 * t, 2)
    [20, 20, 20, 20]
    """
    ...


@intrinsic()
def randint4x(seed: Int, offset: Int) -> tuple[Value, Value, Value, Value]:
    """Four random u32 for each seed and offset: the words of Philox 4x32-10.

    The offset is the counter and the seed the key of the cipher, each of up to 64 bits. The same
    seed and offset give the same bits on every backend.

    >>> a, b, c, d = mk.randint4x(0, mk.arange(0, 1))
    >>> a == 0x6627E8D5
    [True]
    """
    ...


@intrinsic()
def randint(seed: Int, offset: Int) -> Value:
    """A random u32 for each seed and offset: the first word of `randint4x`.

    >>> mk.randint(0, 0) == 0x6627E8D5
    True
    """
    ...


@intrinsic()
def rand(seed: Int, offset: Int) -> Value:
    """A random f32 from 0 on, below 1, for each seed and offset: multiples of 2 ** -24.

    >>> mk.rand(0, mk.arange(0, 2))
    [0.399046, 0.972241]
    """
    ...


@intrinsic()
def randn(seed: Int, offset: Int) -> Value:
    """A normally distributed f32 for each seed and offset.

    >>> mk.abs(mk.randn(0, mk.arange(0, 4))) < 6.0
    [True, True, True, True]
    """
    ...


@intrinsic()
def assume(condition: Condition) -> None:
    """Promises that a condition holds. The interpreter checks it, other backends may count on it.

    >>> n = mk.load(x, 4).to(mk.i32)
    >>> mk.assume(n > 0)
    >>> n // 2
    2
    """
    ...


@intrinsic()
def multiple_of(a: Int, factor: int) -> Value:
    """The number, with the promise that it is a multiple of `factor`.

    >>> mk.multiple_of(mk.load(x, 6).to(mk.i32), 2)
    6
    """
    ...


@host_intrinsic
def static_range(*bounds: int) -> range:
    """`range`, for a loop that is unrolled at compile time.

    >>> total = 0
    >>> for k in mk.static_range(1, 4):
    ...     total += mk.load(x, k)
    >>> total
    6.0
    """
    return range(*bounds)


@host_intrinsic
def static_assert(condition: builtins.bool, message: str = "") -> None:
    """Stops the compiler with `message` if a condition on compile-time values is false.

    >>> mk.static_assert(mk.cdiv(8, 3) == 3, "BLOCK must divide N")
    """
    assert condition, message


@host_intrinsic
def static_print(*parts: object) -> None:
    """Prints compile-time values, and the types of others, while the kernel is compiled.

    >>> mk.static_print("the step is", 2 * 4)
    """
    print(*parts)
