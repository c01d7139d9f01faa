"""The outer names of kernels in a text that is not run.

They come from the module as it was last saved and imported, where the text is still the same. Of
what is new, functions are compiled but not run, literals are taken as they are, modules are taken
if they are loaded already. All else is `UNKNOWN`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Annotated, Any

import eas
from eas.analysis.outline import Definition, Outline, Written, static_value
from eas.frontend_ast.source.parameters import UNKNOWN
from eas.frontend_ast.source.texts import Text, place_in
from eas.ir.types import DTYPES, DType
from eas.support.records import frozen

# They give back the function that they are given, or one that the compiler looks through.
_TRANSPARENT = (eas.kernel, eas.function, functools.cache, functools.lru_cache, staticmethod)


@frozen(eq=False)
class Saved:
    """The module of a file as it was saved and imported."""

    outline: Outline
    globals: dict[str, Any]


class Names(dict[str, Any]):
    """The outer names; if it `is_open`, every name that is not here is unknown."""

    is_open = False

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (self.is_open and not hasattr(builtins, str(name)))

    def __missing__(self, name: str) -> Any:
        if name in self:
            return UNKNOWN
        raise KeyError(name)


class Namespace:
    """The outer names of a text, and its functions."""

    def __init__(self, outline: Outline, saved: Saved | None) -> None:
        self.outline = outline
        self.names = Names(_module_names(outline.path, saved))
        self._saved = saved
        self._text = Text(outline.path, outline.lines)
        self._changed: set[str] = set()
        self._is_new = _is_new(outline, saved)
        for number, statement in enumerate(outline.tree.body):
            self._bind(number, statement)

    def function(self, written: Written) -> FunctionType | None:
        """A function of the text, made of its code: it is not run, and its variables from the
        functions around it are unknown."""
        return make_function(self.outline, self._text, written, self.names)

    def _bind(self, number: int, statement: ast.stmt) -> None:
        bound = self.outline.bound_names(number)
        loaded = self.outline.names_in[number]
        is_same = not self._is_new[number] and not (loaded - {*bound}) & self._changed
        if not is_same:
            self._changed.update(bound)
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.names[statement.name] = self._defined(number, statement, is_same)
            case ast.Import() | ast.ImportFrom() if not is_same:
                self._import(statement)
            case _:
                known = {} if is_same else self._assigned(statement)
                for name in bound:
                    self.names[name] = self._last(name, is_same, known.get(name, UNKNOWN))

    def _last(self, name: str, is_same: bool, otherwise: Any) -> Any:
        if is_same and self._saved is not None:
            return self._saved.globals.get(name, UNKNOWN)
        return otherwise

    def _defined(self, number: int, node: Definition, is_same: bool) -> Any:
        """The function itself; under a decorator that may change it, what it was before."""
        decorators = [static_value(_called(each), self.names) for each in node.decorator_list]
        if any(each is eas.kernel for each in decorators):
            saved = self._saved.globals.get(node.name) if self._saved else None
            return saved if isinstance(saved, eas.Kernel) else UNKNOWN
        if not all(any(each is known for known in _TRANSPARENT) for each in decorators):
            return self._last(node.name, is_same, UNKNOWN)
        return self.function(Written(node, (), number)) or UNKNOWN

    def _assigned(self, statement: ast.stmt) -> dict[str, Any]:
        match statement:
            case ast.Assign(targets=targets, value=ast.expr() as value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                return {}
        found = static_value(value, self.names)
        return {each.id: found for each in targets if isinstance(each, ast.Name)}

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        """Modules that are loaded are taken; none is loaded now."""
        for alias in statement.names:
            if alias.name == "*":
                self.names.is_open = True
            elif isinstance(statement, ast.ImportFrom):
                found = _from(statement, alias.name) if not statement.level else UNKNOWN
                self.names[alias.asname or alias.name] = found
            else:
                head = alias.name if alias.asname else alias.name.partition(".")[0]
                name = alias.asname or head
                is_loaded = alias.name in sys.modules
                self.names[name] = sys.modules.get(head, UNKNOWN) if is_loaded else UNKNOWN


def _from(statement: ast.ImportFrom, name: str) -> Any:
    module = sys.modules.get(statement.module or "")
    if module is None:
        return UNKNOWN
    inner = sys.modules.get(f"{module.__name__}.{name}", UNKNOWN)
    return vars(module).get(name, inner)


def _module_names(path: str, saved: Saved | None) -> dict[str, Any]:
    """The names that no statement binds: those of every module, and those made in other ways."""
    if saved is None:
        return {"__name__": "__eas_check__", "__file__": path}
    outline = saved.outline
    bound = {name for n in range(len(outline.tree.body)) for name in outline.bound_names(n)}
    return {name: value for name, value in saved.globals.items() if name not in bound}


def _is_new(outline: Outline, saved: Saved | None) -> list[bool]:
    """Which statements the saved text does not have."""
    left = Counter(saved.outline.texts if saved else ())
    found: list[bool] = []
    for text in outline.texts:
        found.append(left[text] == 0)
        left[text] -= not found[-1]
    return found


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def make_function(
    outline: Outline, text: Text, written: Written, names: dict[str, Any]
) -> FunctionType | None:
    """The function that a `def` would make, without what is unknown: it is not run here."""
    code = outline.code_of(written)
    if code is None:
        return None
    cells = tuple(CellType(UNKNOWN) for _ in code.co_freevars)
    function = FunctionType(code, names, written.node.name, None, cells)
    arguments = written.node.args
    function.__defaults__ = tuple(static_value(each, names) for each in arguments.defaults) or None
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    named = {a.arg: static_value(each, names) for a, each in pairs if each is not None}
    function.__kwdefaults__ = named or None
    function.__qualname__ = written.qualname
    function.__annotations__ = _annotations(arguments, names)
    place_in(function, text, written.node)
    return function


def _annotations(arguments: ast.arguments, names: Mapping[str, Any]) -> dict[str, Any]:
    """Those that a kernel's parameters understand; a text is never left to be evaluated."""
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    found = {a.arg: _annotation(a.annotation, names) for a in every if a.annotation}
    return {name: value for name, value in found.items() if value is not None}


def _annotation(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=str() as text):
            if text.lstrip().startswith("*"):
                return text.strip()
            inner = _parsed(text)
            return None if inner is None else _annotation(inner, names)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[_, *rest])):
            is_annotated = static_value(value, names) is Annotated
            texts = [each for each in rest if isinstance(each, ast.Constant)]
            return _annotation(texts[0], names) if is_annotated and texts else None
        case ast.Name() | ast.Attribute():
            return _named(static_value(node, names), ast.unparse(node).rpartition(".")[2])
        case _:
            return None


def _named(value: Any, word: str) -> Any:
    if value is eas.constexpr or isinstance(value, DType):
        return value
    if value is not UNKNOWN:
        return None
    return eas.constexpr if word == "constexpr" else DTYPES.get(word)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def kernel_decorator(written: Written, names: Mapping[str, Any]) -> ast.expr | None:
    """The decorator that makes a kernel of a function, if there is one."""
    for each in written.node.decorator_list:
        called = _called(each)
        value = static_value(called, names)
        if value is eas.kernel:
            return each
        if value is UNKNOWN and ast.unparse(called) in ("eas.kernel", "kernel"):
            return each
    return None


def live_kernels(names: Mapping[str, Any], path: str) -> dict[tuple[str, int], list[eas.Kernel]]:
    """The kernels that a module has made, by the name and the first line of their functions."""
    found: dict[tuple[str, int], list[eas.Kernel]] = {}
    for kernel in _kernels(names.values(), path):
        code = inspect.unwrap(kernel.fn).__code__
        same = found.setdefault((code.co_name, code.co_firstlineno), [])
        if code.co_filename == path and kernel not in same:
            same.append(kernel)
    return {key: kernels for key, kernels in found.items() if kernels}


def _kernels(values: Iterable[Any], path: str) -> Iterable[eas.Kernel]:
    for value in list(values):
        if isinstance(value, eas.Kernel):
            yield value
        elif isinstance(value, type) and _is_of(value, path):
            yield from _kernels(vars(value).values(), path)


def _is_of(cls: type[Any], path: str) -> bool:
    module: ModuleType | None = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) == path
