"""The published table of ast nodes, made from the handlers: what each means, or its error code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eas.frontend_ast.arithmetic import (
    BITWISE,
    COMPARISONS,
    NUMERIC,
    REFUSED_OPERATORS,
    SHIFTS,
    SYMBOLS,
    UNARY,
    divide,
    power,
)
from eas.frontend_ast.branches import lower_bool_operation
from eas.frontend_ast.comparison import identity, membership
from eas.frontend_ast.matching import REFUSED_PATTERNS, SUPPORTED_PATTERNS
from eas.frontend_ast.refused import REFUSED_EXPRESSIONS, REFUSED_STATEMENTS, Refused
from eas.frontend_ast.table import SUPPORTED_EXPRESSIONS, SUPPORTED_STATEMENTS
from eas.ir.ops import OPS

# The node, whether it is supported or its error code, and its meaning.
Row = tuple[str, str, str]

SUPPORTED = "yes"
NEWER_THAN_3_11 = "E0120"

_HEAD = """\
# Python, node by node

Every class of node that `ast` has in Python 3.11, and what it means in a kernel. What is not
supported is refused with an error; `eas explain E0101` describes each code.

This page is made from the compiler's own tables, and the tests compile a kernel for each line.
"""

_PARTS: dict[str, tuple[type[ast.AST], str]] = {
    "FormattedValue": (ast.JoinedStr, "`{x}` in an f-string"),
    "arg": (ast.FunctionDef, "a parameter"),
    "arguments": (ast.FunctionDef, "the parameters of a function, except `**options` (E0412)"),
    "comprehension": (ast.ListComp, "`for x in items if condition` in a comprehension"),
    "keyword": (ast.Call, "`name=value` in a call, except `**options` (E0412)"),
    "match_case": (ast.Match, "`case pattern if guard:`"),
    "ExceptHandler": (ast.Try, "`except` of a `try`"),
    "alias": (ast.Import, "`math as m` of an `import`"),
    "withitem": (ast.With, "`lock as held` of a `with`"),
}

_CONTEXTS: dict[str, tuple[str, str]] = {
    "Load": (SUPPORTED, "a name, element or attribute is read"),
    "Store": (SUPPORTED, "a name or element is assigned to; an attribute is not (E0409)"),
    "Del": (REFUSED_STATEMENTS[ast.Delete].code, "a name, element or attribute is deleted"),
}

_OUTSIDE = {
    "Module": "the file that the kernel is in",
    "Interactive": "what was typed at a prompt",
    "Expression": "the argument of `eval`",
    "FunctionType": "a type comment of a function",
    "TypeIgnore": "a comment for type checkers",
}

_OLD_NAMES = {
    **dict.fromkeys(("Bytes", "Ellipsis", "NameConstant", "Num", "Str"), "`Constant`"),
    **dict.fromkeys(("ExtSlice", "Index", "slice"), "the index itself, a `Tuple` or `Slice`"),
    **dict.fromkeys(("AugLoad", "AugStore", "Param"), "`Load` and `Store`"),
    "Suite": "a list of statements",
}


def nodes_table() -> str:
    """The page `docs/nodes.md`."""
    sections = (
        ("Statements", _handlers(SUPPORTED_STATEMENTS, REFUSED_STATEMENTS)),
        ("Expressions", _expressions()),
        ("Operators", _operators()),
        ("Patterns of `match`", _handlers(SUPPORTED_PATTERNS, REFUSED_PATTERNS)),
        ("Parts of other nodes", _parts()),
        ("Contexts", [(name, *row) for name, row in _CONTEXTS.items()]),
        ("Around a kernel", [(name, "not seen", words) for name, words in _OUTSIDE.items()]),
        ("Old names", [(name, "alias", f"now {now}") for name, now in _OLD_NAMES.items()]),
    )
    return "\n".join([_HEAD, *(_section(title, rows) for title, rows in sections)])


def _section(title: str, rows: Iterable[Row]) -> str:
    ordered = sorted(rows, key=lambda row: row[0].lower())
    lines = [f"| `{node}` | {status} | {_cell(words)} |" for node, status, words in ordered]
    return "\n".join(
        [f"## {title}\n", "| node | supported | meaning |", "|---|---|---|", *lines, ""]
    )


def _handlers(
    supported: Mapping[type[Any], Callable[..., object]], refused: Mapping[type[Any], Refused]
) -> list[Row]:
    rows = [(node.__name__, SUPPORTED, _meaning(handler)) for node, handler in supported.items()]
    return [
        *rows,
        *(
            (node.__name__, words.code, words.message)
            for node, words in refused.items()
            if words.code != NEWER_THAN_3_11
        ),
    ]


def _expressions() -> list[Row]:
    rows = _handlers(SUPPORTED_EXPRESSIONS, REFUSED_EXPRESSIONS)
    star = REFUSED_EXPRESSIONS[ast.Starred].code
    words = f"takes a tuple apart in a call, a tuple or an assignment; elsewhere {star}"
    return [row for row in rows if row[0] != "Starred"] + [("Starred", SUPPORTED, words)]


def _operators() -> list[Row]:
    rows = [
        (node.__name__, SUPPORTED, _operation(SYMBOLS[node], OPS[op].doc))
        for table in (NUMERIC, BITWISE, SHIFTS, COMPARISONS)
        for node, op in table.items()
    ]
    described: dict[type[ast.AST], Callable[..., object]] = {
        ast.Div: divide,
        ast.Pow: power,
        ast.Is: identity,
        ast.IsNot: identity,
        ast.In: membership,
        ast.NotIn: membership,
        ast.And: lower_bool_operation,
        ast.Or: lower_bool_operation,
        **UNARY,
    }
    return rows + _handlers(described, REFUSED_OPERATORS)


def _operation(symbol: str, doc: str) -> str:
    formula = f"a {symbol} b"
    return f"`{formula}`" if doc == formula else f"`{symbol}`: {doc}"


def _parts() -> list[Row]:
    refused: dict[type[Any], Refused] = {**REFUSED_STATEMENTS, **REFUSED_EXPRESSIONS}
    return [
        (name, refused[owner].code if owner in refused else SUPPORTED, words)
        for name, (owner, words) in _PARTS.items()
    ]


def _meaning(handler: Callable[..., object]) -> str:
    """The first line of a handler's docstring."""
    return (inspect.getdoc(handler) or "").partition("\n")[0].removesuffix(".")


def _cell(words: str) -> str:
    """Words for a cell of a table: they begin small, unless with a name."""
    is_name = words.startswith(("Python", "`"))
    return (words if is_name else words[:1].lower() + words[1:]).replace("|", "\\|")
