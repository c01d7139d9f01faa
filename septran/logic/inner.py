"""Statements of inner tasks: what they do for tensors of given shapes, as steps."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast

from eas.ir.types import DTYPES
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import Comparison
from eas.septran.flat.ranges import Ranges, known
from eas.septran.logic import language as task_lang
from eas.septran.logic.arguments_by_name import arguments_of
from eas.septran.logic.errors import (
    UNKNOWN,
    LogicError,
    UnknownValue,
    names_assigned,
    suggest,
    words,
)
from eas.septran.logic.expressions import lower_expression
from eas.septran.logic.scope import Condition, Scope, Tunables, Value, Values
from eas.septran.logic.task_body import Argument, Branch, Launch, Local, Loop, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Partition, Stream, Tensor, whole
from eas.support.diagnostics import Diagnostic
from eas.support.records import field, record, replace

Names = Callable[[str], str]
BlockSizes = Callable[[Tensor], tuple[str, ...]]

_NEGATED: dict[Comparison, Comparison] = {
    "<": ">=",
    "<=": ">",
    "==": "!=",
    "!=": "==",
    ">": "<=",
    ">=": "<",
}


def read_inner(
    task: Task,
    arguments: Mapping[str, Argument],
    tunables: Tunables,
    ranges: Ranges,
    fresh: Names,
    block_sizes: BlockSizes,
    dtypes: Mapping[str, str],
) -> tuple[Step, ...]:
    """The steps of an inner task for its arguments.

    A tensor argument is `whole(name, ...)`: steps speak of the task's own parameters, which have
    the `dtypes`. `fresh` makes names of loop variables and local tensors unique. All mistakes are
    raised at once.
    """
    given = dict(arguments)
    scope = Scope(task, given, tunables, ranges, block_sizes, dict(dtypes), lower_expression)
    reader = _Reader(scope, fresh)
    steps = reader.statements(task.body)
    if reader.found:
        raise LogicError(reader.found)
    return tuple(steps)


@record
class _Reader:
    scope: Scope
    fresh: Names
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def statements(self, body: Iterable[ast.stmt]) -> list[Step]:
        steps: list[Step] = []
        for node in body:
            try:
                steps += self.statement(node)
            except LogicError as error:
                self.found += error.diagnostics
                self.scope.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
            except UnknownValue:
                self.scope.variables.update(dict.fromkeys(names_assigned(node), UNKNOWN))
        return steps

    def statement(self, node: ast.stmt) -> list[Step]:
        match node:
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self.assign(target, value)
            case ast.AugAssign():
                return self.augment(node)
            case ast.For(orelse=[]):
                return self.loop(node)
            case ast.If():
                return self.branch(node)
            case ast.Expr(value=ast.Call() as call):
                return self.call(call)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case _:
                first = words(node).split(":")[0]
                raise self.scope.error("S801", node, f"`{first}` is no statement of an inner task")

    def assign(self, target: ast.expr, value: ast.expr) -> list[Step]:
        if isinstance(value, ast.Call) and self.function(value) is task_lang.local:
            return self.local(target, value)
        self.bind(target, self.scope.value(value))
        return []

    def bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.scope.variables[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = cast(Values, value) if isinstance(value, tuple) else ()
                if len(parts) != len(targets):
                    message = f"`{words(target)}` takes {len(targets)} values"
                    raise self.scope.error("S804", target, message)
                for each, part in zip(targets, parts, strict=True):
                    self.bind(each, part)
            case ast.Subscript():
                raise self.scope.error(
                    "S806",
                    target,
                    f"`{words(target)}` writes elements, which an inner task never touches",
                    "write them in a leaf task, `@task.define(leaf=True)`, and launch it",
                )
            case _:
                raise self.scope.error("S801", target, f"`{words(target)}` cannot be assigned")

    def augment(self, node: ast.AugAssign) -> list[Step]:
        if not isinstance(node.target, ast.Name):
            self.bind(node.target, None)
            return []
        held = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(held, node.op, node.value), node)
        self.bind(node.target, self.scope.value(value))
        return []

    def local(self, target: ast.expr, call: ast.Call) -> list[Step]:
        if not isinstance(target, ast.Name):
            raise self.scope.error("S804", target, "a local tensor has one name")
        given = arguments_of(self.scope, call, ("name", "shape", "dtype"), 2)
        name = self.scope.text(given["name"])
        shape = self.scope.value(given["shape"])
        sizes = cast(Values, shape) if isinstance(shape, tuple) else (shape,)
        if not sizes or not all(isinstance(size, int | Affine) for size in sizes):
            raise self.scope.error("S804", given["shape"], "a shape has an integer for each axis")
        for size in sizes:
            number = known(affine(size))
            if number is not None and not 0 <= number < 2**31:
                message = f"an axis of {number} elements"
                raise self.scope.error("S804", given["shape"], message)
        dtype = self.scope.text(given["dtype"]) if "dtype" in given else "f32"
        if dtype not in DTYPES:
            message = f"there is no dtype `{dtype}`"
            raise self.scope.error("S804", given["dtype"], message, *suggest(dtype, DTYPES))
        extents = tuple(affine(size) for size in sizes)
        unique = self.fresh(name)
        self.scope.dtypes[unique] = dtype
        self.scope.variables[target.id] = whole(unique, extents)
        return [Local(unique, name, extents, dtype, self.scope.task.source.loc(call))]

    def loop(self, node: ast.For) -> list[Step]:
        kind, extents, reduced = self.range(node.iter)
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        if len(names) != len(targets) or len(names) != len(extents):
            message = f"`{words(node.target)}` takes {len(extents)} indices"
            raise self.scope.error("S804", node.target, message)
        variables = [self.fresh(each) for each in names]
        inner = replace(self.scope, variables=dict(self.scope.variables))
        for each, variable, extent in zip(names, variables, extents, strict=True):
            inner.variables[each] = affine(variable)
            inner = replace(inner, ranges=inner.ranges.inside(variable, extent))
        outer, self.scope = self.scope, inner
        try:
            body = self.statements(node.body)
        finally:
            self.scope = outer
        self.check_carried(node, inner)
        loc = self.scope.task.source.head(node)
        return [Loop(kind, tuple(variables), tuple(extents), tuple(body), loc, reduced)]

    def check_carried(self, node: ast.For, inner: Scope) -> None:
        """A loop is read once, so a variable from outside must be the same in every iteration."""
        for name, value in self.scope.variables.items():
            if inner.variables[name] is not value and inner.variables[name] != value:
                message = f"`{name}` changes from one iteration to the next"
                raise self.scope.error(
                    "S805", node, message, "compute it from the loop's index in each iteration"
                )

    def range(
        self, node: ast.expr
    ) -> tuple[Literal["parallel", "sequential"], list[Affine], tuple[str, ...]]:
        function = self.function(node) if isinstance(node, ast.Call) else None
        if function is None and isinstance(node, ast.Call):
            self.check_name(node.func)
        if function not in (task_lang.parallel_range, task_lang.sequential_range):
            raise self.scope.error(
                "S801",
                node,
                f"a loop over `{words(node)}`",
                "use `task.sequential_range(n)`, or `task.parallel_range(n)` if iterations do not"
                " depend on each other",
            )
        assert isinstance(node, ast.Call)
        extents = self.extents(node)
        is_parallel = function is task_lang.parallel_range
        return "parallel" if is_parallel else "sequential", extents, self.reduced(node, is_parallel)

    def extents(self, node: ast.Call) -> list[Affine]:
        values: list[Value] = []
        for each in node.args:
            value = self.scope.value(each.value if isinstance(each, ast.Starred) else each)
            if isinstance(value, Partition | Tensor):
                message = f"`{words(each)}` is no range; use its `shape`"
                raise self.scope.error("S804", each, message)
            values += value if isinstance(value, tuple) else [value]
        if not values or not all(isinstance(value, int | Affine) for value in values):
            raise self.scope.error("S804", node, f"`{words(node)}` takes integers")
        return [affine(value) for value in values]

    def reduced(self, node: ast.Call, is_parallel: bool) -> tuple[str, ...]:
        names: list[str] = []
        for keyword in node.keywords:
            if (
                keyword.arg != "reduce"
                or not is_parallel
                or not isinstance(keyword.value, ast.Dict)
            ):
                message = f"`{words(node.func)}` has no parameter `{keyword.arg}`"
                help = 'parallel ranges take `reduce={"C": "add"}`'
                raise self.scope.error("S804", keyword, message, help)
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if key is None or self.scope.text(value) != "add":
                    raise self.scope.error("S804", value, 'iterations can only "add" to a tensor')
                names.append(self.reduced_tensor(key))
        return tuple(names)

    def reduced_tensor(self, key: ast.expr) -> str:
        name = self.scope.text(key)
        value = self.scope.variables.get(name)
        if not isinstance(value, Tensor):
            known = [each for each, v in self.scope.variables.items() if isinstance(v, Tensor)]
            message = f"there is no tensor `{name}`"
            raise self.scope.error("S802", key, message, *suggest(name, known))
        return value.root

    def branch(self, node: ast.If) -> list[Step]:
        test = self.scope.value(node.test)
        if isinstance(test, Tensor | Affine | Stream | Partition):
            message = f"`{words(node.test)}` is no condition of an inner task"
            raise self.scope.error("S805", node.test, message)
        if not isinstance(test, Condition):
            return self.statements(node.body if test else node.orelse)
        loc = self.scope.task.source.head(node)
        before = dict(self.scope.variables)
        steps: list[Step] = []
        negated = _NEGATED[test.comparison]
        branches: list[tuple[Comparison, list[ast.stmt]]]
        branches = [(test.comparison, node.body), (negated, node.orelse)]
        for comparison, body in branches:
            if inner := self.statements(body):
                steps.append(Branch(test.left, comparison, test.right, tuple(inner), loc))
            for name, value in before.items():
                if self.scope.variables[name] != value:
                    message = f"`{name}` depends on `{words(node.test)}`, which is not known now"
                    raise self.scope.error("S805", node, message)
            self.scope.variables.clear()
            self.scope.variables.update(before)
        return steps

    def function(self, call: ast.Call) -> object:
        try:
            return self.scope.value(call.func)
        except LogicError:
            return None

    def check_name(self, node: ast.expr) -> None:
        """Raise the error of a name that is not defined: it is likelier than a wrong loop."""
        try:
            self.scope.value(node)
        except LogicError as error:
            if error.diagnostics[0].code == "S802":
                raise

    def call(self, node: ast.Call) -> list[Step]:
        function = self.scope.value(node.func)
        if function is task_lang.call_primitive:
            message = "an inner task calls no primitive"
            raise self.scope.error("S806", node, message, "call it in a leaf task, and launch that")
        if isinstance(function, Task):
            message = f"`{words(node)}` calls a task, which an inner task launches"
            arguments = ", ".join(words(each) for each in (node.func, *node.args))
            raise self.scope.error("S801", node, message, f"write `task.launch({arguments})`")
        if function is not task_lang.launch:
            raise self.scope.error("S801", node, f"`{words(node)}` has no effect in a task")
        if not node.args or node.keywords:
            message = "`task.launch` takes a task and its arguments, by position"
            raise self.scope.error("S804", node, message)
        callee, task = self.callee(node.args[0])
        arguments = [self.argument(each) for each in node.args[1:]]
        if task is not None and len(task.parameters) != len(arguments):
            message = f"`{callee}` takes {len(task.parameters)} arguments, not {len(arguments)}"
            raise self.scope.error("S804", node, message)
        return [self.launch(node, callee, task, arguments)]

    def callee(self, node: ast.expr) -> tuple[str, Task | None]:
        value = self.scope.value(node)
        if isinstance(value, Task):
            return value.function_name, value
        known = {
            name: task
            for task in self.scope.task.outer_names.values()
            if isinstance(task, Task)
            for name in task.names
        }
        if isinstance(value, str) and value in known:
            return value, known[value] if known[value].function_name == value else None
        what = f"`{value}`" if isinstance(value, str) else f"`{words(node)}`"
        message = f"{what} is no task"
        raise self.scope.error("S802", node, message, *suggest(str(value), known))

    def argument(self, node: ast.expr) -> Tensor | Affine | float | Stream:
        value = self.scope.value(node)
        match value:
            case Tensor() | Stream() | Affine() | float():
                return value
            case bool():
                pass
            case int():
                return affine(value)
            case _:
                pass
        message = f"`{words(node)}` cannot be passed to a task"
        raise self.scope.error("S804", node, message, "pass tensors, tiles, streams and numbers")

    def launch(
        self,
        node: ast.Call,
        callee: str,
        task: Task | None,
        arguments: list[Any],
    ) -> Step:
        """A launch; that of a leaf on streams of tiles is in a loop over the tiles.

        An inner task is given all tiles of a stream together: it cuts them as it likes.
        """
        loc = self.scope.task.source.loc(node)
        run = task or self.scope.task.variant(callee)
        if run is not None and not run.is_leaf:
            arguments = [
                each.whole(self.scope.ranges) if isinstance(each, Stream) else each
                for each in arguments
            ]
        counts = {each.counts for each in arguments if isinstance(each, Stream)}
        if not counts:
            return Launch(callee, task, tuple(arguments), loc)
        if len(counts) > 1:
            texts = sorted(" x ".join(map(str, each)) for each in counts)
            message = f"streams of different lengths: {' and '.join(texts)} tiles"
            raise self.scope.error("S807", node, message)
        [extents] = counts
        variables = tuple(self.fresh("step") for _ in extents)
        ranges = self.scope.ranges
        for variable, extent in zip(variables, extents, strict=True):
            ranges = ranges.inside(variable, extent)
        steps = tuple(affine(variable) for variable in variables)
        tiles = [each.at(steps, ranges) if isinstance(each, Stream) else each for each in arguments]
        launch = Launch(callee, task, tuple(tiles), loc)
        return Loop("sequential", variables, extents, (launch,), loc, is_implicit=True)
