"""A table of handlers that also notes what every name is: for editors, not for compiles."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from eas.frontend_ast.context import Context, Table
from eas.frontend_ast.operands import (
    Array,
    ArrayPointer,
    Closure,
    Const,
    Generated,
    Num,
    Operand,
    Poison,
    Range,
    Text,
    Tuple,
)
from eas.frontend_ast.scopes import Bound, Frame
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.parameters import UNKNOWN
from eas.frontend_ast.source.reading import read_source
from eas.frontend_ast.source.wrappers import look_through
from eas.frontend_ast.table import TABLE
from eas.ir.types import DType
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

_MOST_CHARACTERS = 60


@frozen
class Seen:
    """What a name is at one place, and where it is defined. `is_assigned` if it is a target."""

    text: str
    is_assigned: bool
    definition: Loc | None


@record(eq=False)
class Observed:
    """What names are, by their places; a helper that is called twice has a type for each call."""

    names: dict[Loc, dict[Loc | None, Seen]] = field(
        default_factory=dict[Loc, "dict[Loc | None, Seen]"]
    )

    def note(
        self, loc: Loc, operand: Operand, *, is_assigned: bool, definition: Loc | None
    ) -> None:
        """Keeps what a name is; where a loop is lowered several times, the last one counts."""
        if isinstance(operand, Poison) or (isinstance(operand, Const) and operand.value is UNKNOWN):
            return
        seen = Seen(spell(operand), is_assigned, definition and replace(definition, caller=None))
        self.names.setdefault(replace(loc, caller=None), {})[loc.caller] = seen


def observing(observed: Observed) -> Table:
    """The table of all handlers, those for names with a note of what they find."""
    statements = {
        kind: _noting_targets(handler, observed) if kind in _ASSIGNING else handler
        for kind, handler in TABLE.statements.items()
    }
    expressions = {
        kind: _noting(handler, observed) if kind in (ast.Name, ast.Attribute) else handler
        for kind, handler in TABLE.expressions.items()
    }
    return replace(TABLE, statements=statements, expressions=expressions)


_ASSIGNING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)


def _noting(handler: Callable[[Context, Any], Operand], observed: Observed) -> Any:
    def lower(ctx: Context, node: ast.Name | ast.Attribute) -> Operand:
        operand = handler(ctx, node)
        loc = ctx.frame.loc(node)
        if isinstance(node, ast.Attribute):
            loc = replace(loc, line=loc.end_line, column=loc.end_column - len(node.attr))
        definition = _definition(ctx, node, operand)
        observed.note(loc, operand, is_assigned=False, definition=definition)
        return operand

    return lower


def _noting_targets(handler: Callable[[Context, Any], None], observed: Observed) -> Any:
    def lower(ctx: Context, node: Any) -> None:
        handler(ctx, node)
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    _note_target(ctx, name, observed)

    return lower


def _note_target(ctx: Context, name: ast.Name, observed: Observed) -> None:
    bound = ctx.frame.env.get(name.id)
    if isinstance(bound, Bound):
        loc = ctx.frame.loc(name)
        observed.note(loc, bound.value, is_assigned=True, definition=loc)


def _definition(ctx: Context, node: ast.expr, operand: Operand) -> Loc | None:
    """Where a name is defined: a function at its `def`, a variable at its last assignment."""
    match operand:
        case Closure():
            return operand.frame.source.head(operand.node)
        case Const(value=FunctionType() as function):
            return None if hasattr(function, "__eas_intrinsic__") else _place_of(function)
        case _:
            pass
    frame: Frame | None = ctx.frame
    while isinstance(node, ast.Name) and frame is not None:
        bound = frame.env.get(node.id)
        if node.id in frame.names:
            return bound.loc if isinstance(bound, Bound) else None
        frame = frame.parent
    return None


def _place_of(function: FunctionType) -> Loc | None:
    try:
        source = read_source(look_through(function))
    except (Refusal, RecursionError):
        return None
    return source.head(source.node)


def spell(operand: Operand) -> str:
    """What an operand is, as short as a type: `f32[256]`, `*f32`, `constexpr 256`."""
    match operand:
        case Num():
            return str(operand.value.ty)
        case Array():
            return _spell_array(operand)
        case ArrayPointer(array=array, offset=offset):
            return f"{_spell_array(array)} + {spell(offset)}"
        case Tuple(items=items, make=make):
            inner = ", ".join(map(spell, items))
            if make is tuple:
                return f"({inner}{',' * (len(items) == 1)})"
            return f"[{inner}]" if make is list else f"{make.__name__}({inner})"
        case Generated(items=items):
            return f"generator of {len(items)}"
        case Range():
            return "range"
        case Closure():
            return "lambda" if isinstance(operand.node, ast.Lambda) else f"function {operand.name}"
        case Text():
            return "str"
        case Const(value=value):
            return spell_constant(value)
        case Poison():
            return "unknown"
        case _:
            return f"method {operand.name}"


def _spell_array(array: Array) -> str:
    if array.is_threadgroup:
        return f"threadgroup {array.dtype}{list(array.extents or ())}"
    return f"*{array.dtype}" + (f"[{', '.join(':' * array.ndim)}]" if array.ndim else "")


def spell_constant(value: Any) -> str:
    """A constexpr with its value, if that is short; a function, a module or a class by its name."""
    match value:
        case DType():
            return f"dtype {value}"
        case ModuleType():
            return f"module {value.__name__}"
        case type():
            return f"class {value.__name__}"
        case FunctionType():
            return f"function {value.__name__}"
        case None | bool() | int() | float() | str() | tuple() | list() | dict():
            text = repr(value)  # pyright: ignore[reportUnknownArgumentType]
            return f"constexpr {text if len(text) <= _MOST_CHARACTERS else type(value).__name__}"  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return f"constexpr {getattr(value, '__name__', type(value).__name__)}"
