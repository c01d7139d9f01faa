"""Stages: what a function may consist of, from one pass of a pipeline to the next.

The front end makes a function of the stage `SOURCE`. A pass that removes a form for good, or adds
the ops of a target, begins another stage. `eas.ir.verify` refuses whatever is not legal at the
stage that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from eas.ir.nodes import Assert, Leave, Op, Scope
from eas.ir.ops import OPS
from eas.ir.ops.record import OpDef
from eas.support.records import frozen, replace

AssertKind = Literal["checked", "assumed", "guard"]
ASSERTS: dict[AssertKind, str] = {
    "checked": "an assert",
    "assumed": "an assumption",
    "guard": "a check of an access to memory",
}


@frozen
class Stage:
    """The forms that are legal: kinds of nodes, kinds of asserts, records of pure ops by name.

    Ops of a stage that `has_rules` have type rules, so that a function can be verified.
    """

    name: str
    nodes: frozenset[type[Op]]
    asserts: frozenset[AssertKind]
    ops: Mapping[str, OpDef]
    has_rules: bool = True


def kind_of(op: Assert) -> AssertKind:
    return "assumed" if op.is_assumed else "checked" if op.fault is None else "guard"


SOURCE = Stage("source", frozenset(get_args(Op)), frozenset({"checked", "assumed"}), OPS)
CORE = replace(SOURCE, name="core", nodes=SOURCE.nodes - {Scope, Leave})
RELAXED = replace(CORE, name="relaxed", asserts=frozenset({"checked"}))
GUARDED = replace(CORE, name="guarded", asserts=CORE.asserts | {"guard"})
GUARDED_RELAXED = replace(RELAXED, name="guarded and relaxed", asserts=RELAXED.asserts | {"guard"})


def with_ops(stage: Stage, name: str, *ops: OpDef) -> Stage:
    """A stage in which the ops of a target are legal too."""
    return replace(stage, name=name, ops={**stage.ops, **{op.name: op for op in ops}})
