"""Tasks and primitives, as a file of logic declares them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, cast

from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.reading import FunctionSource, read_source
from eas.septran.logic.errors import LogicError
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import frozen, replace

Privilege = Literal["r", "w", "rw"]


def check_function(fn: object, decorator: str) -> None:
    """Raise a `TypeError` if what is decorated is no plain function."""
    is_plain = inspect.isfunction(fn) and not inspect.iscoroutinefunction(fn)
    if not is_plain:
        what = "a coroutine" if inspect.iscoroutinefunction(fn) else f"a {type(fn).__name__}"
        raise TypeError(f"`{decorator}` is for functions, not for {what}")


def _read(fn: Callable[..., Any]) -> FunctionSource:
    """The text of a function; that there is none is a mistake in the logic."""
    try:
        return read_source(fn)
    except Refusal as refusal:
        raise LogicError([replace(refusal.diagnostic, code="S803")]) from refusal


@frozen(eq=False, slots=False)
class Task:
    """A function that is read, not called: an inner task, or a leaf.

    `name` is what a launch may call it besides the function's own name: tasks of one name are
    variants, and a mapping chooses. `reads` and `writes` are the parameters that it declares to
    read and to write, which is checked; None declares nothing.
    `shapes` names the extents of its tensors: `"C[M,N] A[M,K] B[K,N]"`.

    Called with NumPy arrays, a task runs at once; see `eas.septran.logic.eager`.
    """

    fn: Callable[..., Any]
    is_leaf: bool = False
    name: str = ""
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    shapes: str = ""

    @property
    def function_name(self) -> str:
        return self.fn.__name__

    @property
    def names(self) -> tuple[str, ...]:
        """What a launch, or a mapping, may call it."""
        return tuple(dict.fromkeys((self.function_name, self.name or self.function_name)))

    @cached_property
    def source(self) -> FunctionSource:
        return _read(self.fn)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters: positional ones only, without defaults."""
        args = self.source.node.args
        for wrong in (args.vararg, args.kwarg, *args.kwonlyargs, *args.defaults):
            if wrong is not None:
                raise self.error("S803", "a task has plain parameters", self.source.loc(wrong))
        return tuple(each.arg for each in (*args.posonlyargs, *args.args))

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements, without a docstring."""
        node = self.source.node
        if isinstance(node, ast.Lambda):
            raise self.error("S803", "a task is a function with statements", self.loc)
        return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its statements."""
        return tuple(node for stmt in self.body for node in ast.walk(stmt))

    @cached_property
    def calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """The calls of functions of a module or an object in its text, with the functions' names.

        `task.launch(step, C)` is a call of `launch`.
        """
        nodes = (node for node in ast.walk(self.source.node) if isinstance(node, ast.Call))
        return tuple(
            (node.func.attr, node) for node in nodes if isinstance(node.func, ast.Attribute)
        )

    @cached_property
    def has_branches(self) -> bool:
        """Whether it depends on a condition, of sizes perhaps, what it launches."""
        launches = {call for name, call in self.calls if name == "launch"}
        branches = (each for each in ast.walk(self.source.node) if isinstance(each, ast.If))
        return any(inner in launches for each in branches for inner in ast.walk(each))

    @cached_property
    def outer_names(self) -> Mapping[str, object]:
        """What its names may mean besides its own variables."""
        return {**self.source.globals, **self.source.closure}

    @cached_property
    def outer_tasks(self) -> tuple[Task, ...]:
        """The tasks among what its names may mean."""
        return tuple(each for each in self.outer_names.values() if isinstance(each, Task))

    def variant(self, name: str) -> Task | None:
        """Some task that this one may launch by a name: all variants take the same arguments."""
        found = [each for each in self.outer_tasks if name in each.names and each is not self]
        return next((each for each in found if each.is_leaf), found[0] if found else None)

    @property
    def loc(self) -> Loc:
        return self.source.head(self.source.node)

    def place_of(self, parameter: str) -> Loc:
        """Where a parameter stands in the task's text."""
        args = self.source.node.args
        for each in (*args.posonlyargs, *args.args):
            if each.arg == parameter:
                return self.source.loc(each)
        return self.loc

    def error(self, code: str, message: str, loc: Loc, *help: str) -> LogicError:
        return LogicError([Diagnostic(code, message, loc, help=tuple(help))])

    def __call__(self, *arrays: Any, **tunables: int) -> None:
        """Runs the task on NumPy arrays at once; tunables that are not given are 16."""
        from eas.septran.logic import eager

        eager.call_task(cast(Any, self), arrays, tunables)

    def __repr__(self) -> str:
        return f"<{'leaf ' if self.is_leaf else ''}task {self.function_name}>"


@frozen(eq=False, slots=False)
class Primitive:
    """A primitive of a project's own: a function whose body names what a target calls.

        @task.leaf()
        def gemm_leaf_systolic(C, A, B):
            T.evaluate(T.call_extern("dsa.systolic_compute", C, A, B, dtype="void"))

    The body is read, never run: `T` need not exist. A mapping binds a leaf task to it.
    """

    fn: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.fn.__name__

    @cached_property
    def source(self) -> FunctionSource:
        return _read(self.fn)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.fn).parameters)

    @cached_property
    def symbol(self) -> str:
        """The name in its `call_extern`: `dsa.systolic_compute`."""
        for node in ast.walk(self.source.node):
            match node:
                case ast.Call(func=ast.Attribute(attr="call_extern"), args=arguments):
                    texts = [each.value for each in arguments if isinstance(each, ast.Constant)]
                    if texts and isinstance(texts[-1], str):
                        return self._checked(node, texts[-1])
                case _:
                    pass
        raise LogicError(
            [
                Diagnostic(
                    "S810",
                    f"the primitive `{self.name}` calls nothing",
                    self.source.head(self.source.node),
                    help=('its body is `T.evaluate(T.call_extern("symbol", C, A, B))`',),
                )
            ]
        )

    def _checked(self, call: ast.Call, symbol: str) -> str:
        passed = [arg.id for arg in call.args if isinstance(arg, ast.Name)]
        if tuple(passed) == self.parameters:
            return symbol
        raise LogicError(
            [
                Diagnostic(
                    "S810",
                    f"`{symbol}` is not called with the parameters of `{self.name}` in their order",
                    self.source.loc(call),
                    help=(f"pass {', '.join(self.parameters)}",),
                )
            ]
        )
