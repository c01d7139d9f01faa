"""The table of handlers: one for each class of op."""

from __future__ import annotations

from eas.ir import nodes
from eas.ir.nodes import Op
from eas.runtime.interpreter import atomics, combine, compute, control, target_ops, transfer
from eas.runtime.interpreter.liveness import Handler

HANDLERS: dict[type[Op], Handler] = {
    nodes.Constant: compute.run_constant,
    nodes.Compute: compute.run_compute,
    nodes.Combine: combine.run_combine,
    nodes.Load: transfer.run_load,
    nodes.Store: transfer.run_store,
    nodes.Atomic: atomics.run_atomic,
    nodes.Alloc: transfer.run_alloc,
    nodes.Barrier: compute.run_barrier,
    nodes.TargetOp: target_ops.run_target_op,
    nodes.Assert: compute.run_assert,
    nodes.Print: compute.run_print,
    nodes.If: control.run_if,
    nodes.For: control.run_for,
    nodes.While: control.run_while,
    nodes.Scope: control.run_scope,
    nodes.Yield: control.run_terminator,
    nodes.Condition: control.run_terminator,
    nodes.Break: control.run_break,
    nodes.Continue: control.run_continue,
    nodes.Leave: control.run_leave,
}

WITHOUT_FAULTS: dict[type[Op], Handler] = {**HANDLERS, nodes.Compute: compute.run_without_faults}
"""The handlers for stages at which no pure op has faults."""
