"""Writes MSL for functions in the IR's text form: the ops before, the kernel's body after."""

from __future__ import annotations

from textwrap import dedent, indent

from eas.ir.nodes import Function
from eas.ir.stages import CORE
from eas.ir.text import parse_function
from eas.ir.verify import verify
from eas.msl.analysis.facts import gather
from eas.msl.kernel import MslKernel, write
from eas.msl.layout.layout import Layout
from eas.msl.layout.ownership import classify_control, complete_layout

PARAMETERS = "%a.0: *f32, %b.1: *f32, %i.2: *i32, %j.3: *i32, %n.4: i32, %x.5: f32, %p.6: bool"
HEAD = f'kernel f({PARAMETERS}) from "f.py" {{\n'


def function_of(ops: str, head: str = HEAD) -> Function:
    """A function `a, b, i, j, n, x, p` with these ops; ids from 7 on are free."""
    f = parse_function(head + indent(dedent(ops).strip("\n"), "  ") + "\n}\n")
    verify(f, CORE)
    return f


def kernel_of(ops: str, threads: int | None = None, head: str = HEAD) -> MslKernel:
    return write(function_of(ops, head), threads)


def body_of(ops: str, threads: int | None = None, head: str = HEAD) -> str:
    """The body of the kernel."""
    text = kernel_of(ops, threads, head).text
    return dedent(text.partition("kernel void ")[2].partition(") {\n")[2].removesuffix("}\n"))


def helpers_of(ops: str) -> str:
    """The helper functions above the kernel."""
    text = kernel_of(ops).text.partition("kernel void ")[0]
    return text.partition("using namespace metal;\n\n")[2]


def lines(body: str) -> str:
    """A body as it is printed."""
    return dedent(body).strip("\n") + "\n"


def layout_of(ops: str, threads: int | None = None) -> Layout:
    layout = classify_control(gather(function_of(ops)), threads)
    complete_layout(layout, threads)
    return layout
