"""Brings `dot`s to the form that is fastest: with an accumulator, and operands read along rows."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.aliasing.affine_forms import AffineForms, is_index_or_conversion, step_along
from eas.ir.builder import Builder
from eas.ir.nodes import Compute, Function, Load, Op, Region, Value, operands_of, regions_of
from eas.ir.ops import OPS
from eas.ir.passes.dead import remove_dead
from eas.ir.passes.purity import Literal, note_literal
from eas.ir.rewrite import builder_for, renumber, rewrite
from eas.ir.types import make_type
from eas.support.records import field, frozen, record, replace


def shape_dot_operands(f: Function) -> Function:
    """The function with `s + dot(a, b)` as one `dot` that starts from `s`, and loads along rows."""
    known = _Known()
    known.note(f.body)
    if not known.products:
        return f
    f = replace(f, body=rewrite(f.body, _DotOperands(known, builder_for(f)).change))
    return renumber(remove_dead(f, keeps_faults=False))


@record
class _Known:
    """The definitions of values, which are literals, and which ops use each of them.

    `regions` has the number of the region in which a value is computed, `forms` are for distances.
    """

    makers: dict[int, Op] = field(default_factory=dict[int, Op])
    literals: dict[int, Literal] = field(default_factory=dict[int, Literal])
    users: dict[int, list[Op]] = field(default_factory=dict[int, list[Op]])
    products: dict[int, Compute] = field(default_factory=dict[int, Compute])
    regions: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        makers = self.makers
        self.forms = AffineForms(lambda value: makers.get(value.id), is_index_or_conversion)

    def note(self, region: Region) -> None:
        for op in region.ops:
            note_literal(op, self.literals)
            for operand in operands_of(op):
                self.users.setdefault(operand.id, []).append(op)
            if isinstance(op, Compute | Load):
                self.makers[op.result.id] = op
                self.regions[op.result.id] = region.number
            if isinstance(op, Compute) and op.op.name == "dot":
                self.products[op.result.id] = op
            for inner in regions_of(op):
                self.note(inner)

    def is_only_a_factor(self, value: Value) -> bool:
        return all(
            isinstance(op, Compute) and op.op.name == "dot" and op.operands[2] != value
            for op in self.users.get(value.id, ())
        )


@frozen
class _DotOperands:
    known: _Known
    build: Builder

    def change(self, op: Op, _: Op) -> Sequence[Op] | None:
        match op:
            case Compute():
                return self.accumulate(op)
            case Load():
                return self.transpose(op)
            case _:
                return None

    def accumulate(self, op: Compute) -> Sequence[Op] | None:
        """A sum fused into the `dot` that is one of its operands, if nothing else uses that."""
        if op.op.name != "add":
            return None
        for product, start in (op.operands, op.operands[::-1]):
            made = self.known.products.get(product.id)
            if made is None or not self.is_computed_beside(product, op.result):
                continue
            a, b, acc = made.operands
            if self.known.literals.get(acc.id) == 0 and len(self.known.users[product.id]) == 1:
                return [Compute(made.op, (a, b, start), made.attrs, op.result, op.loc)]
        return None

    def is_computed_beside(self, a: Value, b: Value) -> bool:
        return self.known.regions[a.id] == self.known.regions[b.id]

    def transpose(self, op: Load) -> Sequence[Op] | None:
        """A factor that is stored transposed, loaded along the rows of memory and permuted."""
        rank = len(op.result.shape)
        if rank < 2 or not self.known.is_only_a_factor(op.result):
            return None
        across, down = (step_along(op.offset, rank - n, self.known.forms) for n in (1, 2))
        if down != 1 or across in (0, 1):
            return None
        self.build.ops, self.build.loc = [], op.loc
        axes = (*range(rank - 2), rank - 1, rank - 2)
        offset, mask, other = (
            None if part is None else self.build.compute("permute", part, axes=axes)
            for part in (op.offset, op.mask, op.other)
        )
        assert offset is not None
        read = self.build.value(make_type(op.result.ty.dtype, offset.shape), op.result.hint)
        self.build.emit(Load(op.pointer, offset, mask, other, read, op.loc))
        attrs = (("axes", axes),)
        self.build.emit(Compute(OPS["permute"], (read,), attrs, op.result, op.loc))
        return self.build.ops
