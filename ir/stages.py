"""Stages: what a function may consist of, from one pass of a pipeline to the next.

The front end makes a function of the stage `SOURCE`. A pass that removes a form for good, or adds
the ops of a target, begins another stage. `eas.ir.verify` refuses whatever is not legal at the
stage that it is given.
"""

from __future__ import annotations

from typing import Literal, get_args

from eas.ir.nodes import Assert, Leave, Op, Scope, TargetOp
from eas.ir.ops import OPS, OpDef, OpTable, TargetOpDef
from eas.support.records import frozen, replace

AssertKind = Literal["checked", "assumed", "guard"]
ASSERTS: dict[AssertKind, str] = {
    "checked": "an assert",
    "assumed": "an assumption",
    "guard": "a check of an access to memory",
}


@frozen
class Stage:
    """The forms that are legal: kinds of nodes, kinds of asserts, records of ops by name.

    Where it `has_faults`, a pure op may have one, such as a division by zero, and the interpreter
    reports it. Later passes may compute for lanes that are not active, and use the result nowhere.
    """

    name: str
    nodes: frozenset[type[Op]]
    asserts: frozenset[AssertKind]
    ops: OpTable
    has_faults: bool = True


def kind_of(op: Assert) -> AssertKind:
    return "assumed" if op.is_assumed else "checked" if op.fault is None else "guard"


_NODES: frozenset[type[Op]] = frozenset(get_args(Op)) - {TargetOp}

SOURCE = Stage("source", _NODES, frozenset({"checked", "assumed"}), OPS)
CORE = replace(SOURCE, name="core", nodes=SOURCE.nodes - {Scope, Leave})
RELAXED = replace(CORE, name="relaxed", asserts=frozenset({"checked"}), has_faults=False)
GUARDED = replace(CORE, name="guarded", asserts=CORE.asserts | {"guard"})
GUARDED_RELAXED = replace(RELAXED, name="guarded and relaxed", asserts=RELAXED.asserts | {"guard"})


def with_ops(stage: Stage, name: str, *ops: OpDef | TargetOpDef) -> Stage:
    """A stage in which the ops of a target are legal too."""
    own = {TargetOp} if any(isinstance(op, TargetOpDef) for op in ops) else set[type[Op]]()
    table = {**stage.ops, **{op.name: op for op in ops}}
    return replace(stage, name=name, nodes=stage.nodes | own, ops=table)
