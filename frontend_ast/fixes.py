"""Helps that are edits: what a `help:` says, as a change of the text that an editor can make."""

from __future__ import annotations

import ast

from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Operand
from eas.ir.types import DType
from eas.support.diagnostics import Edit, Fix
from eas.support.location import Loc
from eas.support.records import replace

# What a method can be called on without parentheses.
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List)


def start_of(loc: Loc) -> Loc:
    """The empty place where a place starts."""
    return replace(loc, end_line=loc.line, end_column=loc.column)


def end_of(loc: Loc) -> Loc:
    """The empty place where a place ends."""
    return replace(loc, line=loc.end_line, column=loc.end_column)


def rewrite(help: str, loc: Loc, text: str) -> Fix:
    """Replaces the text of a place. `mk` in it is the module, whatever its name is there."""
    return Fix(help, (Edit(loc, text),))


def converted(ctx: Context, help: str, loc: Loc, dtype: DType, function: str = "") -> Fix:
    """Converts the expression at a place: `x` becomes `x.to(mk.f32)`, or `mk.floor(x).to(...)`."""
    before, after = "", f".to(mk.{dtype})"
    if function:
        before, after = f"{function}(", f"){after}"
    elif not _is_atom(ctx.written_at(loc)):
        before, after = "(", f"){after}"
    edits = (Edit(start_of(loc), before),) if before else ()
    return Fix(help, (*edits, Edit(end_of(loc), after)))


def compared(ctx: Context, operand: Operand, comparison: str, remark: str = "") -> Fix | str:
    """Compares an operand: `x` becomes `x != 0`."""
    loc = ctx.place(operand)
    written = ctx.written_at(loc)
    if not written or not _is_atom(written):
        return f"compare it: `x {comparison}`{remark}"
    text = f"{written} {comparison}"
    return rewrite(f"compare it: `{text}`{remark}", loc, text)


def rewrite_parameter(ctx: Context, help: str, name: str, text: str) -> Fix | str:
    """Replaces a parameter of the kernel that has no annotation, in the kernel itself."""
    node = ctx.frame.source.node
    arguments = (
        [] if ctx.calls else [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    )
    found = [each for each in arguments if each.arg == name and each.annotation is None]
    is_possible = found and getattr(ctx.frame.globals.get("eas"), "__name__", "") == "eas"
    return rewrite(help, ctx.frame.loc(found[0]), text) if is_possible else help


def without_keyword(ctx: Context, help: str, call: ast.Call, name: str) -> Fix | str:
    """Removes an argument that is given by name, and the comma before it."""
    arguments = [ctx.frame.loc(each) for each in (*call.args, *call.keywords)]
    written = [each for each in call.keywords if each.arg == name]
    if not written:
        return help
    own = ctx.frame.loc(written[0])
    before = [loc for loc in arguments if _key(loc) < _key(own)]
    behind = [loc for loc in arguments if _key(loc) > _key(own)]
    if before:
        last = max(before, key=_key)
        own = replace(own, line=last.end_line, column=last.end_column)
    elif behind:
        first = min(behind, key=_key)
        own = replace(own, end_line=first.line, end_column=first.column)
    return rewrite(help, own, "")


def without_statement(ctx: Context, help: str, loc: Loc) -> Fix | str:
    """Removes a statement; `pass` keeps the block that it may have been alone in."""
    return rewrite(help, loc, "pass") if loc.line == loc.end_line else help


def without_word(help: str, loc: Loc, word: str) -> Fix | str:
    """Removes a word, and the space behind it, from the line where a place starts."""
    line = loc.source.line(loc.line)
    found = line.find(f"{word} ", loc.column)
    if found < 0:
        return help
    end = found + len(word) + 1
    return rewrite(help, replace(loc, column=found, end_line=loc.line, end_column=end), "")


def _is_atom(text: str) -> bool:
    try:
        return isinstance(ast.parse(text.strip(), mode="eval").body, _ATOMS)
    except (SyntaxError, ValueError):
        return False


def _key(loc: Loc) -> tuple[int, int]:
    return loc.line, loc.column
