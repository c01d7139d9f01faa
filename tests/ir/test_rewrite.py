"""`rewrite`: ops replaced by ops, inner ones first, with values renamed on the way."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Compute, For, Function, If, Op, Value
from eas.ir.ops import OPS
from eas.ir.rewrite import Change, rewrite
from eas.ir.text import parse_function, print_function
from eas.support.records import replace

TEXT = """\
kernel f(%a.0: *f32, %n.1: i32, %c.2: bool) from "f.py" {
  %3: i32 = add %n.1, %n.1
  if %c.2 {
    %4: i32 = mul %3, %n.1
    %5: f32 = load %a.0[%4]
    store %a.0[%3] = %5
  }
}
"""


def function() -> Function:
    return parse_function(TEXT)


def is_named(op: Op, name: str) -> bool:
    return isinstance(op, Compute) and op.op.name == name


def rewritten(change: Change, env: dict[int, Value] | None = None) -> str:
    f = function()
    return print_function(replace(f, body=rewrite(f.body, change, env)))


def test_ops_that_stay_are_the_same_objects() -> None:
    f = function()
    body = rewrite(f.body, lambda op, old: None)
    assert body == f.body
    assert body.ops[0] is f.body.ops[0]


def test_an_op_in_a_region_is_replaced_by_several() -> None:
    def change(op: Op, old: Op) -> Sequence[Op] | None:
        del old
        if not isinstance(op, Compute) or op.op.name != "mul":
            return None
        twice = Value(9, op.result.ty)
        doubled = Compute(OPS["add"], op.operands, (), twice, op.loc)
        return [doubled, replace(op, operands=(twice, twice))]

    assert rewritten(change) == TEXT.replace(
        "    %4: i32 = mul %3, %n.1\n",
        "    %9: i32 = add %3, %n.1\n    %4: i32 = mul %9, %9\n",
    )


def test_a_value_that_is_dropped_is_renamed_in_later_ops_and_their_regions() -> None:
    env: dict[int, Value] = {}

    def change(op: Op, old: Op) -> Sequence[Op] | None:
        del old
        if not isinstance(op, Compute) or op.op.name != "add":
            return None
        env[op.result.id] = op.operands[0]
        return []

    assert rewritten(change, env) == TEXT.replace("  %3: i32 = add %n.1, %n.1\n", "").replace(
        "%3", "%n.1"
    )


def test_inner_ops_come_first_and_the_old_op_is_known() -> None:
    f = function()
    seen: list[str] = []

    def change(op: Op, old: Op) -> Sequence[Op] | None:
        seen.append(type(op).__name__)
        if is_named(op, "mul"):
            return [replace(op, op=OPS["add"])] if isinstance(op, Compute) else None
        if isinstance(op, If) and isinstance(old, If):
            assert old is f.body.ops[1]
            assert is_named(op.then.ops[0], "add")
            assert is_named(old.then.ops[0], "mul")
        return None

    rewrite(f.body, change)
    assert seen == ["Compute", "Compute", "Load", "Store", "Yield", "Yield", "If", "Yield"]


def test_carried_values_are_renamed_in_the_head_of_a_loop() -> None:
    text = """\
kernel f(%a.0: *f32, %n.1: i32) from "f.py" {
  %2: i32 = add %n.1, %n.1
  %3: i32 = for %i.4: i32 = %n.1 .. %2 by %n.1 carrying (%5: i32 = %2) {
    yield %5
  } else (%6: i32)
  store %a.0[%3] = %n.1
}
"""
    f = parse_function(text)
    body = rewrite(f.body, lambda op, old: None, {2: f.params[1].value})
    loop = body.ops[1]
    assert isinstance(loop, For)
    assert (loop.stop, loop.inits) == (f.params[1].value, (f.params[1].value,))
