"""Runs passes on the text form: the ops of a function before, and the ops after."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

from eas.ir.nodes import Function
from eas.ir.rewrite import renumber
from eas.ir.stages import CORE
from eas.ir.text import parse_function, print_function
from eas.ir.verify import verify

HEAD = 'kernel f(%out.0: *i32, %n.1: i32, %x.2: f32, %a.3: bool, %b.4: bool) from "f.py" {\n'


def function_of(ops: str) -> Function:
    """A function `out, n, x, a, b` with these ops; ids from 5 on are free."""
    f = parse_function(HEAD + indent(dedent(ops).strip("\n"), "  ") + "\n}\n")
    verify(f)
    return f


def change(ops: str, change: Callable[[Function], Function]) -> str:
    """The ops of such a function after a pass, numbered anew, as `lines` would give them."""
    f = renumber(change(function_of(ops)))
    verify(f, CORE)
    text = print_function(f, locations=False).removeprefix(HEAD).removesuffix("}\n")
    return dedent(text)


def lines(ops: str) -> str:
    """Ops as they are printed."""
    return dedent(ops).strip("\n") + "\n"
