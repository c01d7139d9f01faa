"""Arrays in threadgroup memory: the compiler's own and the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eas.ir.aliasing.lane_indices import Indices, linear
from eas.ir.nodes import Alloc, Atomic, Compute, Load, Value
from eas.ir.types import DType, count
from eas.msl.analysis.facts import Facts, is_threadgroup
from eas.msl.cxx.tree import Node, Shared, Variable
from eas.msl.lower.elements import ElementBuilder
from eas.msl.ops.text import Text, subscript
from eas.msl.schedule.steps import Plan
from eas.msl.schedule.threadgroup_arrays import Role, Scratch, ThreadgroupArray, staged
from eas.support.location import Loc
from eas.support.records import field, record

MEMORY = "memory"
"""Represents all arrays in the `reads` of a node: a barrier may change any of them."""

REDUCTION_WORDS = {
    "sum": "total",
    "prod": "product",
    "max": "high",
    "min": "low",
    "argmax": "best_index",
    "argmin": "best_index",
    "any": "found",
    "all": "holds",
    "xor": "parity",
}


@record(kw_only=True)
class SharedArrayBuilder(ElementBuilder):
    """A tree with arrays in threadgroup memory.

    `arrays` has the names of the parameters and the arrays that the user allocates, `shared` the
    latter and the compiler's own. `backings` maps an array to the one in whose memory it lies,
    `backing_dtypes` has the dtypes of those. Only atomics access what is in `atomics`.
    """

    plan: Plan
    backings: Mapping[ThreadgroupArray, ThreadgroupArray]
    backing_dtypes: Mapping[ThreadgroupArray, DType]
    shared: dict[ThreadgroupArray | Scratch, Shared] = field(
        default_factory=dict["ThreadgroupArray | Scratch", Shared]
    )
    arrays: dict[Value, Shared | str] = field(default_factory=dict[Value, Shared | str])
    atomics: set[Value] = field(default_factory=set[Value])

    def array_name(self, pointer: Value) -> str:
        array = self.arrays[pointer]
        return array if isinstance(array, str) else array.name

    def read_staged(self, value: Value, indices: Indices) -> Node:
        """An element of a block in threadgroup memory."""
        index = self.index(linear(indices, value.shape))
        node = self.element(self.staged_array(value), index)
        node.fallback = value.hint
        return node

    def staged_array(self, value: Value) -> Shared:
        value = self.facts.resolve(value)
        hint = f"{value.hint or self.word_for(value)}_shared"
        maker = self.facts.definition(value)
        loc = None if maker is None else maker.loc
        return self.threadgroup_array(
            staged(value), hint, value.ty.dtype, count(value.shape), loc=loc
        )

    def word_for(self, value: Value) -> str:
        """A name for a block to which the user gave none."""
        op = self.facts.definition(value)
        if isinstance(op, Load):
            return f"{op.pointer.hint}_value"
        if isinstance(op, Compute) and op.op.reduction:
            return REDUCTION_WORDS[op.op.reduction]
        names = _names_above(value, self.facts)
        return f"{names.pop()}_part" if len(names) == 1 else "block"

    def threadgroup_array(
        self,
        array: ThreadgroupArray,
        hint: str,
        dtype: DType,
        size: int,
        *,
        buffers: int = 1,
        loc: Loc | None = None,
    ) -> Shared:
        """An array of the compiler's own in threadgroup memory, overlaid if the plan says so."""
        own = Shared(hint, dtype, size, buffers=buffers, loc=loc)
        backing = self.backings.get(array, array)
        if backing not in self.backings.values():
            own = self.shared.setdefault(array, own)
            own.size = max(own.size, size)
            return own
        scratch = self._scratch(backing)
        own = scratch.overlays.setdefault(array, own)
        scratch.size = max(scratch.size, -(-own.bytes * 8 // max(scratch.dtype.bits, 8)))
        if dtype == scratch.dtype and buffers == 1:
            return scratch
        own.backing = scratch
        return self.shared.setdefault(array, own)

    def _scratch(self, backing: ThreadgroupArray) -> Shared:
        """The memory of overlaid arrays."""
        scratch = Shared("scratch", self.backing_dtypes[backing], 0)
        return self.shared.setdefault(Scratch(backing), scratch)

    def element(self, shared: Shared, index: Node) -> Node:
        """The current value of an element of threadgroup memory."""
        return self.node(
            shared.dtype,
            lambda texts: subscript(shared.name, texts[0]),
            [index],
            scope=self.block,
            reads=frozenset({shared, MEMORY}),
        )

    def put(
        self,
        shared: Shared,
        index: Node,
        node: Node,
        loc: Loc | None = None,
        stage: Variable | None = None,
    ) -> None:
        """Writes an element of threadgroup memory; of a double buffer, in the current stage."""

        def line(texts: Sequence[Text]) -> Text:
            return Text(f"{buffer_text(shared, stage)}[{texts[0].text}] = {texts[1].text}")

        self.act(line, [index, node], frozenset({shared}), loc)

    def allocate(self, op: Alloc) -> None:
        """Threadgroup memory that the user allocates."""
        is_atomic = op.result in self.atomics
        shared = Shared(
            op.result.hint or "shared", op.result.ty.dtype, op.size, is_atomic, loc=op.loc
        )
        self.shared[ThreadgroupArray(Role.ALLOCATED, op.result)] = shared
        self.arrays[op.result] = shared

    def barrier(self, device: bool, threadgroup: bool, loc: Loc | None = None) -> None:
        """Emits a threadgroup barrier for some memory."""
        if loc is not None:
            device, threadgroup = self._user_barrier()
        kinds = [("mem_device", device), ("mem_threadgroup", threadgroup)]
        flags = " | ".join(f"mem_flags::{name}" for name, is_set in kinds if is_set)
        if self.threads > 1:
            self.act(f"threadgroup_barrier({flags})", changes=frozenset({MEMORY}), loc=loc)

    def _user_barrier(self) -> tuple[bool, bool]:
        """The memory that a barrier of the user's orders: what is both written and read."""
        ops = [op for op in self.facts.ops if isinstance(op, Load | Atomic)]
        read = {op.pointer for op in ops} & self.facts.written
        device = any(not is_threadgroup(pointer) for pointer in read)
        return device, bool(self.plan.allocations) or not device


def buffer_text(shared: Shared, stage: Variable | None) -> str:
    """The text of an array, or of the current buffer of a double buffer."""
    return shared.name if stage is None else f"{shared.name}[{stage.name} % 2]"


def _names_above(value: Value, facts: Facts) -> set[str]:
    """The user's names for values of the same dtype that are computed from a value."""
    names: set[str] = set()
    for op in (use.op for use in facts.uses_of(value)):
        if isinstance(op, Compute) and op.result.ty.dtype == value.ty.dtype:
            names |= {op.result.hint} if op.result.hint else _names_above(op.result, facts)
    return names
