"""Collectives need all lanes: they are refused in code that only some lanes reach."""

from __future__ import annotations

from eas.frontend_ast.context import Context
from eas.ir.types import count
from eas.support.diagnostics import Label


def require_all_lanes(ctx: Context, what: str) -> None:
    """Refuses a collective below a split, and shows the conditions that split the lanes."""
    splits = ctx.active_splits()
    if not splits:
        return
    shown = {split.loc: split for split in splits}
    lanes = "threads" if "tid" in ctx.positions else "lanes"
    raise ctx.refusal(
        "E0602",
        f"{what} needs all {lanes}, but only some of them get here",
        label=f"all {lanes} must get here",
        secondary=[
            Label(loc, f"the {lanes} diverge here: one answer for each of the {count(split.shape)}")
            for loc, split in shown.items()
        ],
        help=_suggestion(what),
    )


def _suggestion(what: str) -> str:
    if what == "`mk.sum`":
        return "move it before the condition, or mask its operand: `mk.sum(mk.where(c, x, 0))`"
    return "move it to where all of them are, before the condition"
