"""Affine forms of integers: sums of coefficients times symbols, plus a constant.

This is the one analysis for everything that asks how integers depend on lanes, programs or trips:
proofs about offsets (`disjointness`), in-bounds guards, the order of programs, induction variables
and uniform loops. They differ only in what an `AffineForms` is given: which definitions it looks
through, and which conversions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from eas.ir.aliasing.lane_indices import (
    Index,
    Indices,
    Part,
    add,
    fixed,
    make_index,
    make_part,
    make_symbol,
    operand_indices,
)
from eas.ir.nodes import Compute, Constant, Op, Value
from eas.ir.types import U8, U16, Shape
from eas.support.records import field, frozen

A = TypeVar("A", Value, Part, tuple[Value, Indices])
_WRAP_ON_PURPOSE = (U8, U16)


@frozen
class Form:
    """`sum(shared) + sum(lanes) + sum(unknown) + constant`, each term a factor and a symbol.

    `shared` are uniform values, `lanes` digits of the lane's coordinates, `unknown` values of the
    lane that are not understood. `strided` are indices along axes of an array, to be multiplied by
    its strides and added.
    """

    constant: int = 0
    shared: Mapping[Value, int] = field(default_factory=dict[Value, int])
    lanes: Mapping[Part, int] = field(default_factory=dict[Part, int])
    strided: Mapping[Value, Form] = field(default_factory=dict[Value, "Form"])
    unknown: Mapping[tuple[Value, Indices], int] = field(
        default_factory=dict[tuple[Value, Indices], int]
    )

    @property
    def span(self) -> tuple[int, int]:
        """The least and the greatest value of the sum over the lanes' coordinates."""
        low = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f < 0)
        high = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f > 0)
        return low, high

    @property
    def is_uniform(self) -> bool:
        """Whether all lanes have the same value."""
        has_lanes = self.lanes or self.unknown
        return not has_lanes and all(form.is_uniform for form in self.strided.values())


def is_int_conversion(op: Compute) -> bool:
    """Whether an op converts integers, to no narrower type: that would keep a part of the number.

    Other sums are assumed not to overflow, as in all addresses.
    """
    if op.op.name != "cast":
        return False
    old, new = op.operands[0].ty.dtype, op.result.ty.dtype
    return old.is_int and new.bits >= old.bits


def is_index_or_conversion(op: Compute) -> bool:
    """For the distances of offsets: an index is looked through as well, as if it were positive."""
    return op.op.name in ("cast", "index")


def is_never(op: Compute) -> bool:
    """For forms that are exact in wrapping arithmetic: no conversion is looked through."""
    del op
    return False


def own_indices(shape: Shape) -> Indices:
    """The coordinates of a lane of a block, one symbol for each axis."""
    parts = [make_part(make_symbol(f"axis {n}", size), 1, 0) for n, size in enumerate(shape)]
    return tuple(make_index(((1, part),), 0) for part in parts)


class AffineForms:
    """The forms of a function's values, which it remembers.

    `definition` gives the op that defines a value; a value without one is a symbol. `is_same` says
    which ops give the number of their first operand. `resolve` gives the value that another one is
    an alias of. `strides` are the parameters that are strides of arrays.
    """

    def __init__(
        self,
        definition: Callable[[Value], Op | None],
        is_same: Callable[[Compute], bool] = is_int_conversion,
        resolve: Callable[[Value], Value] = lambda value: value,
        strides: frozenset[Value] = frozenset(),
    ) -> None:
        self.definition, self._is_same = definition, is_same
        self._resolve, self._strides = resolve, strides
        self._found: dict[tuple[Value, Indices], Form] = {}

    def of(self, value: Value, indices: Indices) -> Form:
        """The form of a value in the lane that has these coordinates."""
        value = self._resolve(value)
        key = (value, indices)
        if key not in self._found:
            self._found[key] = self._find(value, indices)
        return self._found[key]

    def scalar(self, value: Value) -> Value | None:
        """The scalar that is in all lanes of a value; None if there is none."""
        form = self.of(value, own_indices(value.shape))
        (found,) = form.shared if len(form.shared) == 1 else (None,)
        return found if found and not found.shape and form == Form(shared={found: 1}) else None

    def _find(self, value: Value, indices: Indices) -> Form:
        op = self.definition(value)
        if isinstance(op, Constant) and not value.ty.dtype.is_float:
            return Form(constant=int(op.value))
        form = self._of_compute(op, indices) if isinstance(op, Compute) else None
        if form is not None:
            return form
        is_uniform = not value.shape or (isinstance(op, Compute) and self._is_uniform(op, indices))
        return Form(shared={value: 1}) if is_uniform else Form(unknown={(value, indices): 1})

    def _of_compute(self, op: Compute, indices: Indices) -> Form | None:
        def operand(place: int) -> Form:
            return self.of(op.operands[place], operand_indices(op, indices))

        match op.op.name:
            case "add" | "sub" | "mul" if op.result.ty.dtype in _WRAP_ON_PURPOSE:
                return None
            case "arange":
                start = op.attr("start")
                assert isinstance(start, int)
                return _of_index(add(indices[0], fixed(start)))
            case "thread_index":
                return _of_index(indices[0])
            case "add":
                return plus(operand(0), operand(1), 1)
            case "sub":
                return plus(operand(0), operand(1), -1)
            case "mul":
                return self._product(operand(0), operand(1))
            case _:
                return operand(0) if op.op.view or self._is_same(op) else None

    def _is_uniform(self, op: Compute, indices: Indices) -> bool:
        """Whether an op of integers computes the same number in all lanes."""
        if op.op.position or not op.op.elementwise or op.op.collective:
            return False
        if any(operand.ty.dtype.is_float for operand in op.operands):
            return False  # which are not worth the search
        return all(self.of(operand, indices).is_uniform for operand in op.operands)

    def _product(self, a: Form, b: Form) -> Form | None:
        for factor, form in ((a, b), (b, a)):
            if factor.is_uniform and not factor.shared and not factor.strided:
                return plus(Form(), form, factor.constant)
            stride = self._stride(factor)
            if stride is not None and not form.strided and not form.unknown:
                return Form(strided={stride: form})
        return None

    def _stride(self, form: Form) -> Value | None:
        """The stride of an array, if that is all of a form."""
        if len(form.shared) != 1 or form.strided or not form.is_uniform or form.constant:
            return None
        ((value, factor),) = form.shared.items()
        return value if factor == 1 and value in self._strides else None


def step_along(value: Value, axis: int, forms: AffineForms) -> int | None:
    """The difference of integers from one lane to the next along an axis, where that is known."""
    if not value.shape or value.shape[axis] == 1:
        return 0
    indices = own_indices(value.shape)
    return _Steps(forms, indices[axis].terms[0][1]).of(value, indices)


class _Steps:
    """How integers change with a coordinate, which is `part` of the lane's coordinates."""

    def __init__(self, forms: AffineForms, part: Part) -> None:
        self.forms, self.part = forms, part
        self.found: dict[tuple[Value, Indices], int | None] = {}

    def of(self, value: Value, indices: Indices) -> int | None:
        key = (value, indices)
        if key not in self.found:
            form = self.forms.of(value, indices)
            is_known = not any(part != self.part and self._has(part) for part in form.lanes)
            is_known = is_known and all(self._is_constant(*symbol) for symbol in form.unknown)
            self.found[key] = form.lanes.get(self.part, 0) if is_known else None
        return self.found[key]

    def _is_constant(self, symbol: Value, indices: Indices) -> bool:
        """Whether a symbol does not change with the coordinate."""
        if not any(self._has(part) for index in indices for _, part in index.terms):
            return True
        op = self.forms.definition(symbol)
        if not isinstance(op, Compute) or op.op.position or not op.op.elementwise:
            return False
        return all(self.of(operand, indices) == 0 for operand in op.operands)

    def _has(self, part: Part) -> bool:
        """Whether a digit depends on the coordinate."""
        if isinstance(part.base, Index):
            return any(self._has(inner) for _, inner in part.base.terms)
        return part.base == self.part.base


def _of_index(index: Index) -> Form:
    return Form(constant=index.offset, lanes={part: factor for factor, part in index.terms})


def plus(a: Form, b: Form, factor: int) -> Form:
    """`a + factor * b`."""
    strided = dict(a.strided)
    for stride, index in b.strided.items():
        strided[stride] = plus(strided.get(stride, Form()), index, factor)
    return Form(
        a.constant + factor * b.constant,
        _merged(a.shared, b.shared, factor),
        _merged(a.lanes, b.lanes, factor),
        strided,
        _merged(a.unknown, b.unknown, factor),
    )


def _merged(a: Mapping[A, int], b: Mapping[A, int], factor: int) -> dict[A, int]:
    merged = dict(a)
    for symbol, times in b.items():
        merged[symbol] = merged.get(symbol, 0) + factor * times
    return {symbol: times for symbol, times in merged.items() if times}
