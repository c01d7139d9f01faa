"""The outline of a text: its statements, its functions, its kernels. Nothing of it is run."""

from __future__ import annotations

import ast
import enum
import io
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import CodeType, ModuleType
from typing import Any, cast

from eas.frontend_ast.scopes import assigned_names
from eas.frontend_ast.source.compiled import inner_codes
from eas.frontend_ast.source.parameters import UNKNOWN
from eas.support.records import frozen


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends: as Python counts them, not as `str.splitlines` does."""
    return io.StringIO(text, newline=None).readlines()


def normalized(text: str) -> str:
    """A text as Python reads it from a file: each line ends in `\\n`, and no mark stands first."""
    return io.StringIO(text.removeprefix("\ufeff"), newline=None).read()


Definition = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, int]


@frozen(eq=False)
class Written:
    """A function as it is written. `outer` are the names of the functions and classes around it.

    `statement` is the number of the statement of the module that it is in.
    """

    node: Definition
    outer: tuple[str, ...]
    statement: int

    @property
    def qualname(self) -> str:
        return ".".join((*self.outer, self.node.name))

    @property
    def key(self) -> Key:
        """The name and the first line: what its code has, too."""
        lines = [self.node.lineno, *(each.lineno for each in self.node.decorator_list)]
        return self.node.name, min(lines)


class Outline:
    """A text that is parsed and compiled, but not run. A `SyntaxError` says why it cannot be."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.lines = lines_of(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(text, path)
            code = compile(self.tree, path, "exec", dont_inherit=True)
        self._codes = _by_key(code)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first and the last line of each statement of the module."""
        return [(_first_line(node), node.end_lineno or node.lineno) for node in self.tree.body]

    @cached_property
    def texts(self) -> list[str]:
        """The text of each statement of the module."""
        return ["".join(self.lines[start - 1 : end]) for start, end in self.spans]

    @cached_property
    def functions(self) -> list[Written]:
        """Every `def`, in the order of the text, those inside of others included."""
        return [
            each
            for number, node in enumerate(self.tree.body)
            for each in _functions(node, (), number)
        ]

    def code_of(self, written: Written) -> CodeType | None:
        """The code of a function. Python leaves out what no path leads to, as behind a `raise`."""
        if written.key not in self._codes:
            alone = ast.Module([self.tree.body[written.statement]], [])
            self._codes |= _by_key(compile(alone, self.path, "exec", dont_inherit=True))
        return self._codes.get(written.key)

    def needed_by(self, written: Written) -> list[int]:
        """The numbers of the statements that bind what a function uses, and what these use.

        A kernel's own statement is not among them, unless others stand in it, as in a class.
        """
        found: set[int] = set()
        left = [written.statement]
        while left:
            for name in self._used_names[left.pop()]:
                more = self._binding.get(name, set[int]()) - found
                found |= more
                left += more
        found |= self._star_imports
        return sorted(found - {written.statement})

    @cached_property
    def _binding(self) -> dict[str, set[int]]:
        """Which statements bind a name."""
        found: dict[str, set[int]] = {}
        for number in range(len(self.tree.body)):
            for name in self.bound_names(number):
                found.setdefault(name, set()).add(number)
        return found

    @cached_property
    def _used_names(self) -> list[set[str]]:
        """The names that occur in each statement; a text that may be evaluated counts as well."""
        return [
            names | _words(node) for names, node in zip(self.names_in, self.tree.body, strict=True)
        ]

    @cached_property
    def names_in(self) -> list[set[str]]:
        """The names that occur in each statement of the module."""
        return [
            {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            for node in self.tree.body
        ]

    @cached_property
    def _star_imports(self) -> set[int]:
        return {
            number
            for number, node in enumerate(self.tree.body)
            if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
        }

    def bound_names(self, number: int) -> tuple[str, ...]:
        """The names that a statement of the module binds."""
        return self._bound_names[number]

    @cached_property
    def _bound_names(self) -> list[tuple[str, ...]]:
        return [assigned_names([node]) for node in self.tree.body]


_WORD = re.compile(r"[^\W\d]\w*")


def _words(node: ast.AST) -> set[str]:
    """The words in annotations that are texts."""
    texts = [
        each.annotation.value
        for each in ast.walk(node)
        if isinstance(each, ast.arg) and isinstance(each.annotation, ast.Constant)
    ]
    return {word for text in texts if isinstance(text, str) for word in _WORD.findall(text)}


def _by_key(code: CodeType) -> dict[Key, CodeType]:
    return {(each.co_name, each.co_firstlineno): each for each in inner_codes(code)}


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((node.lineno, *(each.lineno for each in decorators)))


def _functions(node: ast.AST, outer: tuple[str, ...], number: int) -> Iterator[Written]:
    if isinstance(node, Definition):
        yield Written(node, outer, number)
        outer = (*outer, node.name, "<locals>")
    elif isinstance(node, ast.ClassDef):
        outer = (*outer, node.name)
    for child in ast.iter_child_nodes(node):
        yield from _functions(child, outer, number)


# Plain numbers may be computed: `TILE = 2 * BLOCK`. None of these makes a large one of small ones.
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b,
}


def static_value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression, if it can be known without running anything; else `UNKNOWN`.

    >>> static_value(ast.parse("(2 * B, dict(a='x'))", mode="eval").body, {"B": 8})
    (16, {'a': 'x'})
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names.get(node.id, UNKNOWN)
        case ast.Attribute():
            return static_attribute(static_value(node.value, names), node.attr)
        case ast.Tuple() | ast.List():
            items = [static_value(each, names) for each in node.elts]
            is_tuple = isinstance(node, ast.Tuple)
            return UNKNOWN if _any_unknown(items) else tuple(items) if is_tuple else items
        case ast.Dict():
            return _static_dict(node, names)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            found = {str(each.arg): static_value(each.value, names) for each in keywords}
            has_star = any(each.arg is None for each in keywords) or "dict" in names
            return UNKNOWN if has_star or _any_unknown(found.values()) else found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = static_value(operand, names)
            return -value if type(value) in (int, float) else UNKNOWN
        case ast.BinOp():
            return _static_operation(node, names)
        case _:
            return UNKNOWN


def static_attribute(holder: Any, name: str) -> Any:
    """The attribute of a module, or a member of an enum; nothing else is looked into."""
    if isinstance(holder, ModuleType):
        return vars(holder).get(name, UNKNOWN)
    if isinstance(holder, enum.EnumMeta):
        return cast(Any, holder).__members__.get(name, UNKNOWN)
    return UNKNOWN


def _static_dict(node: ast.Dict, names: Mapping[str, Any]) -> Any:
    keys = [UNKNOWN if each is None else static_value(each, names) for each in node.keys]
    values = [static_value(each, names) for each in node.values]
    is_known = all(isinstance(key, str | int) for key in keys) and not _any_unknown(values)
    return dict(zip(keys, values, strict=True)) if is_known else UNKNOWN


def _static_operation(node: ast.BinOp, names: Mapping[str, Any]) -> Any:
    compute = _OPERATORS.get(type(node.op))
    sides = [static_value(each, names) for each in (node.left, node.right)]
    if compute is None or any(type(each) not in (int, float) for each in sides):
        return UNKNOWN
    try:
        return compute(*sides)
    except ArithmeticError:
        return UNKNOWN


def _any_unknown(items: Any) -> bool:
    return any(each is UNKNOWN for each in items)
