"""The flat IR as text, one statement per line: `parse_module(print_module(m)) == m`.

The grammar stands in `eas.septran.flat`. Places are printed with their file's base name, first and
last line and column, so the text is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from eas.ir.text.lexer import WORD, quote, quote_unless
from eas.septran.flat.affine import Affine
from eas.septran.flat.lines import Lines
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Binary,
    BinaryKind,
    Call,
    Cast,
    Column,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Index,
    Iota,
    Kernel,
    Map,
    Mma,
    Module,
    Operand,
    Origin,
    ParallelFor,
    Param,
    Passed,
    Reduce,
    Select,
    Start,
    Stmt,
    Temp,
    Unary,
    UnaryKind,
    View,
    Wait,
)
from eas.septran.flat.spelling import INFIX, NAME, PREFIX, UNARY_LEVEL
from eas.support.location import Loc

__all__ = [
    "print_expr",
    "print_module",
    "print_stmt",
    "print_view",
]

_ATOM_LEVEL = UNARY_LEVEL + 1


def print_module(module: Module) -> str:
    """The text of a module."""
    lines = Lines("  ")
    params = ", ".join(map(_param, module.params))
    head = f"module {_name(module.name)}({params}) machine {_dotted(module.machine)}"
    with lines.block(head + " {", "}"):
        for temp in module.temps:
            lines.add(f"temp {_buffer(temp)}")
        for kernel in module.kernels:
            _print_kernel(kernel, lines)
    return lines.text()


def print_stmt(stmt: Stmt) -> str:
    """The text of a statement, with all that is inside of it."""
    lines = Lines("  ")
    _print_stmt(stmt, lines)
    return lines.text()


def print_view(view: View) -> str:
    """The text of a view."""
    slot = "" if view.slot is None else f"@({view.slot})"
    axes = zip(view.offsets, view.extents, strict=True)
    inner = ", ".join(str(o) if extent is None else f"{o} : {extent}" for o, extent in axes)
    return f"{_name(view.buffer)}.{_name(view.memory)}{slot}[{inner}]"


def print_expr(expr: Expr) -> str:
    """The text of an element-wise expression."""
    return _expr(expr)[0]


def _print_kernel(kernel: Kernel, lines: Lines) -> None:
    params = ", ".join(map(_param, kernel.params))
    grid = ", ".join(f"{_name(name)} < {extent}" for name, extent in kernel.grid)
    head = f"kernel {_name(kernel.name)}({params}) grid [{grid}] threads {kernel.threads}"
    with lines.block(head + " {", "}"):
        for stmt in kernel.body:
            _print_stmt(stmt, lines)


def _print_stmt(stmt: Stmt, lines: Lines) -> None:
    origin = _origin(stmt.origin)
    if not isinstance(stmt, For | ParallelFor | If):
        lines.add(_simple(stmt) + origin)
        return
    with lines.block(f"{_head(stmt)} {{{origin}", "}"):
        for inner in stmt.body:
            _print_stmt(inner, lines)


def _head(stmt: For | ParallelFor | If) -> str:
    match stmt:
        case For():
            pipelined = f" pipelined {stmt.pipelined}" if stmt.pipelined != 1 else ""
            return f"for {_name(stmt.variable)} < {stmt.extent}{pipelined}"
        case ParallelFor():
            names = ", ".join(map(_name, stmt.reduced))
            reduced = f" reduce add {names}" if names else ""
            return f"pfor {_name(stmt.variable)} < {stmt.extent} at {_name(stmt.proc)}{reduced}"
        case If():
            return f"if {stmt.left} {stmt.comparison} {stmt.right}"


def _simple(
    stmt: Alloc | Copy | Start | Wait | Barrier | Fill | Map | Reduce | Mma | Call,
) -> str:
    match stmt:
        case Alloc():
            mixed = " mixed" if stmt.is_mixed else ""
            return f"alloc {_buffer(stmt)} slots {stmt.slots} pad {stmt.pad}{mixed}"
        case Copy():
            return f"copy {print_view(stmt.target)} <- {print_view(stmt.source)}{_fill(stmt.fill)}"
        case Start():
            moved = f"{print_view(stmt.target)} <- {print_view(stmt.source)}"
            return f"start {moved}{_fill(stmt.fill)} token {_name(stmt.token)}"
        case Wait():
            keep = "" if stmt.keep == Affine() else f" keep {stmt.keep}"
            return f"wait {_name(stmt.token)}{keep}"
        case Barrier():
            return f"barrier {_name(stmt.proc)} {_name(stmt.memory)}"
        case Fill():
            return f"fill {print_view(stmt.target)} {_number(stmt.value)}"
        case Map():
            return f"map {print_view(stmt.target)} = {print_expr(stmt.value)}"
        case Reduce():
            target, source = print_view(stmt.target), print_view(stmt.source)
            return f"reduce {target} {stmt.kind}= {source} axis {stmt.axis}"
        case Mma():
            product = f"{print_view(stmt.left)} @ {print_view(stmt.right)}"
            transposed = f" trans {stmt.transposed}" if stmt.transposed else ""
            by = f" by {_dotted(stmt.primitive)}"
            return f"mma {print_view(stmt.target)} += {product}{transposed}{by}"
        case Call():
            given = ", ".join(map(_argument, stmt.arguments))
            return f"call {_dotted(stmt.symbol)}({given})"


def _argument(argument: Passed | Affine | Const) -> str:
    match argument:
        case Passed():
            return f"{argument.privilege} {print_view(argument.view)}"
        case Const():
            return _constant(argument)[0]
        case Affine():
            return str(argument)


def _param(param: Param) -> str:
    return f"{_buffer(param)} {param.privilege}"


def _buffer(buffer: Param | Temp | Alloc) -> str:
    extents = ", ".join(map(str, buffer.shape))
    return f"{_name(buffer.name)}: {buffer.dtype} [{extents}] {_name(buffer.memory)}"


def _fill(value: float | int | None) -> str:
    return "" if value is None else f" fill {_number(value)}"


def _number(value: float | int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _expr(expr: Expr) -> tuple[str, int]:
    match expr:
        case Operand():
            return print_view(expr.view), _ATOM_LEVEL
        case Column():
            return f"column({print_view(expr.view)})", _ATOM_LEVEL
        case Const():
            return _constant(expr)
        case Index():
            return f"int({expr.value})", _ATOM_LEVEL
        case Iota():
            return f"iota({expr.axis})", _ATOM_LEVEL
        case Unary():
            return _unary(expr.kind, expr.operand)
        case Binary():
            return _binary(expr.kind, expr.left, expr.right)
        case Select():
            return _call("select", (expr.condition, expr.yes, expr.no)), _ATOM_LEVEL
        case Cast():
            return _call(expr.dtype.name, (expr.operand,)), _ATOM_LEVEL


def _constant(const: Const) -> tuple[str, int]:
    text = f"{_number(const.value)}:{const.dtype}"
    return text, UNARY_LEVEL if text.startswith("-") else _ATOM_LEVEL


def _unary(kind: UnaryKind, operand: Expr) -> tuple[str, int]:
    if kind not in PREFIX:
        return _call(kind, (operand,)), _ATOM_LEVEL
    # `-1.5:f32` is a constant, so the negation of one has parentheses.
    is_constant = isinstance(operand, Const)
    inner = f"({print_expr(operand)})" if is_constant else _at_least(operand, UNARY_LEVEL)
    return PREFIX[kind] + inner, UNARY_LEVEL


def _binary(kind: BinaryKind, left: Expr, right: Expr) -> tuple[str, int]:
    if kind not in INFIX:
        return _call(kind, (left, right)), _ATOM_LEVEL
    mark, level, is_chained = INFIX[kind]
    before = _at_least(left, level if is_chained else level + 1)
    return f"{before} {mark} {_at_least(right, level + 1)}", level


def _call(name: str, operands: Sequence[Expr]) -> str:
    return f"{name}({', '.join(map(print_expr, operands))})"


def _at_least(expr: Expr, level: int) -> str:
    text, own = _expr(expr)
    return text if own >= level else f"({text})"


def _origin(origin: Origin) -> str:
    text = f"  because {quote(origin.because)}" if origin.because else ""
    if origin.yaml is not None:
        text += f"  yaml {_place(origin.yaml)}"
    if origin.python is not None:
        text += f"  python {_place(origin.python)}"
    return text


def _place(loc: Loc) -> str:
    spots = (
        f"{quote(each.source.name)}:{each.line}:{each.column}-{each.end_line}:{each.end_column}"
        for each in loc.chain
    )
    return " from ".join(spots)


def _name(name: str) -> str:
    return quote_unless(WORD, name)


def _dotted(name: str) -> str:
    return quote_unless(NAME, name)


assert set(get_args(UnaryKind)) & set(get_args(BinaryKind)) == set()
