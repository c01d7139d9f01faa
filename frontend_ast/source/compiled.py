"""Whether a function was compiled from a text: the text is compiled again, and the codes compared.

The code of a function depends on more than its own text: on the variables of the functions around
it, on the class that its private names belong to, on features of `__future__`, and on the names
that its module imports (a call `np.sqrt(x)` loads a function if `np` is imported, else a method).
Most of it is known from the code itself, so that the function's own text is enough. Where that
gives another code, the whole file is compiled, as it was when it was loaded.
"""

from __future__ import annotations
import __future__

import ast
import keyword
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any

FUTURE = sum(
    getattr(__future__, name).compiler_flag & 0xFFF0000 for name in __future__.all_feature_names
)
_NESTED = 0x10
_FLAGS = 0x3FF & ~_NESTED  # those that say something about the function itself

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_compiled_from(node: FunctionNode, code: CodeType, imports: Iterable[str]) -> bool:
    """Whether a function alone compiles to this code, in a module that imports these names."""
    module = _quietly(lambda: _compile(_alone(node, code, imports), code))
    return module is not None and any(_like(module, code))


def codes_like(function: FunctionType, text: str) -> Iterator[CodeType]:
    """The codes in a whole file that are a function's but for their lines.

    The file is compiled as Python does it, as the module's loader does, and as pytest does, which
    rewrites asserts.
    """
    for compile_as in (_compile, _compile_by_loader, _compile_by_pytest):
        module = _quietly(
            lambda compile_as=compile_as: compile_as(text, function.__code__, function.__globals__)
        )
        if module is not None:
            yield from _like(module, function.__code__)


def owner_of(code: CodeType) -> str | None:
    """The class that private names in a function belong to: the innermost one around it."""
    parts = code.co_qualname.split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    return parts[-1] if parts and parts[-1].isidentifier() else None


_IMPORT = re.compile(r"^(?:from\s.*?)?import\b([^\n#]*)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def imported_names(text: str) -> tuple[str, ...]:
    """The names that a file imports, as far as that can be seen line by line."""
    words = {word for names in _IMPORT.findall(text) for word in _WORD.findall(names)}
    return tuple(sorted(word for word in words if _is_name(word)))


def _is_name(word: str) -> bool:
    return word.isidentifier() and not keyword.iskeyword(word)


def _quietly(make: Callable[[], CodeType | None]) -> CodeType | None:
    """Without the warnings that were shown when the file was loaded; None if it does not compile.

    Code of others, of loaders and of pytest, may raise anything.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except RecursionError:
            raise
        except Exception:
            return None


def _compile(what: str | ast.Module, code: CodeType, _: object = None) -> CodeType:
    flags = code.co_flags & FUTURE
    return compile(what, code.co_filename, "exec", flags, dont_inherit=True)


def _compile_by_loader(text: str, code: CodeType, names: dict[str, Any]) -> CodeType | None:
    """For loaders of others that change what they load, such as those that check types."""
    loader = names.get("__loader__")
    compile_text: Any = getattr(loader, "source_to_code", None)
    if compile_text is None or type(loader) is SourceFileLoader:
        return None
    return compile_text(text, code.co_filename)


def _compile_by_pytest(text: str, code: CodeType, names: dict[str, Any]) -> CodeType | None:
    pytest: Any = sys.modules.get("_pytest.assertion.rewrite")
    if pytest is None or "@pytest_ar" not in names:
        return None
    tree = ast.parse(text)
    config = getattr(names.get("__loader__"), "config", None)
    pytest.rewrite_asserts(tree, text.encode(), code.co_filename, config)
    return _compile(tree, code)


def _alone(node: FunctionNode, code: CodeType, imports: Iterable[str]) -> ast.Module:
    """A module with one function, in a class and a function as it was.

    The function around it has the variables that it closes over. The class is global, so that its
    name is no such variable.
    """
    owner = owner_of(code)
    lines = [f"import {', '.join(imports)}" if imports else "pass"]
    lines += [f"def _({', '.join(code.co_freevars)}):"]
    if owner is not None:
        lines += ["  pass" if owner in code.co_freevars else f"  global {owner}"]
        lines += [f"  class {owner}:"]
    tree = ast.parse("\n".join([*lines, "    pass"]))
    inner: Any = tree.body[-1]
    if owner is not None:
        inner = inner.body[-1]
    is_lambda = isinstance(node, ast.Lambda)
    inner.body = [ast.copy_location(ast.Expr(node), node) if is_lambda else node]
    return tree


def _like(module: CodeType, code: CodeType) -> Iterator[CodeType]:
    """The codes in a module that are equal to this one but for their lines."""
    size = len(code.co_code)
    wanted: CodeType | None = None
    for each in inner_codes(module):
        if each.co_name == code.co_name and len(each.co_code) == size:
            wanted = wanted or _without_places(code)
            if _without_places(each) == wanted:
                yield each


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Every code in a code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from inner_codes(constant)


def _without_places(code: CodeType) -> CodeType:
    """A code without its lines and columns: an edit above it moves it, and changes nothing else."""
    constants = tuple(
        _without_places(constant) if isinstance(constant, CodeType) else constant
        for constant in code.co_consts
    )
    flags = code.co_flags & _FLAGS
    return code.replace(co_consts=constants, co_flags=flags, co_firstlineno=1, co_linetable=b"")
