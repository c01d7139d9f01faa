"""Expressions of inner tasks: integers, shapes, tunables, partitions and tiles, no elements."""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias, cast

from eas.septran.flat.affine import Affine, AffineError, affine, ceil_div, maximum, minimum
from eas.septran.flat.nodes import Comparison
from eas.septran.flat.ranges import Ranges, known
from eas.septran.logic import language as task_lang
from eas.septran.logic.arguments_by_name import arguments_of
from eas.septran.logic.errors import (
    UNKNOWN,
    LogicError,
    UnknownValue,
    no_member,
    not_defined,
    power,
    suggest,
    words,
)
from eas.septran.logic.partitions import lookup, partition
from eas.septran.logic.scope import Condition, Scope, Value, Values, kind_of
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Partition, Stream, Tensor
from eas.support.records import replace


def lower_expression(scope: Scope, node: ast.expr) -> Value:
    """The value of an expression."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise scope.error("S801", node, f"`{words(node)}` is no expression of an inner task")
    return handler(scope, node)


def _lower_constant(scope: Scope, node: ast.Constant) -> Value:
    if isinstance(node.value, bool | int | float | str) or node.value is None:
        return node.value
    raise scope.error("S801", node, f"`{words(node)}` is no value of a task")


def _lower_name(scope: Scope, node: ast.Name) -> Value:
    if scope.variables.get(node.id) is UNKNOWN:
        raise UnknownValue
    if node.id in scope.variables:
        return scope.variables[node.id]
    for names in (scope.task.outer_names, vars(builtins)):
        if node.id in names:
            return _captured(scope, node, names[node.id])
    known = {*scope.variables, *scope.task.outer_names}
    raise scope.error("S802", node, *not_defined(node.id, known))


_PLAIN: Values = (bool, int, float, str, tuple, Task, type(None))


def _captured(scope: Scope, node: ast.expr, value: Value) -> Value:
    if type(value) in _PLAIN or _is_module(value) or (callable(value) and value in _FUNCTIONS):
        return value
    if callable(value) or isinstance(value, type):
        raise scope.error("S801", node, f"`{words(node)}` cannot be called in an inner task")
    if isinstance(value, ModuleType):
        message = f"`{words(node)}` is a module, which no task can use"
        help = "import what is used by its name: `from ... import leaf`"
        raise scope.error("S801", node, message, help)
    raise scope.error("S801", node, f"`{words(node)}` is {kind_of(value)}, which no task can use")


def _lower_attribute(scope: Scope, node: ast.Attribute) -> Value:
    owner = scope.value(node.value)
    if isinstance(owner, Tensor | Partition):
        if node.attr == "shape":
            return tuple(_plain(extent) for extent in owner.shape)
        if node.attr == "ndim":
            return len(owner.shape)
        if node.attr == "dtype" and isinstance(owner, Tensor):
            return scope.dtypes[owner.root]
        what = "tensor" if isinstance(owner, Tensor) else "partition"
        message = f"a {what} has `shape` and `ndim`, not `{node.attr}`"
        raise scope.error("S804", node, message, *suggest(node.attr, ("shape", "ndim", "dtype")))
    if _is_module(owner):
        if not hasattr(owner, node.attr):
            raise scope.error("S802", node, *no_inner_function(owner, node))
        return _captured(scope, node, getattr(owner, node.attr))
    raise scope.error("S801", node, f"`{words(node)}` is no expression of an inner task")


def no_inner_function(owner: ModuleType, node: ast.Attribute) -> tuple[str, ...]:
    """What is said of a function that a module does not have, in an inner task."""
    return no_member(words(node.value), node.attr, getattr(owner, "__all__", dir(owner)))


def _plain(number: Affine) -> int | Affine:
    return number.value if number.is_constant else number


Arithmetic: TypeAlias = Callable[[Any, Any], Any]
_OPERATORS: dict[type[ast.operator], Arithmetic] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: power,
}


def _lower_binary(scope: Scope, node: ast.BinOp) -> Value:
    left, right = scope.value(node.left), scope.value(node.right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        raise _touched(scope, node)
    if type(node.op) not in _OPERATORS or not _are_numbers(left, right):
        message = (
            f"`{words(node)}` is no arithmetic of integers: {kind_of(left)} and {kind_of(right)}"
        )
        raise scope.error("S804", node, message)
    try:
        return _arithmetic(type(node.op), left, right)
    except (AffineError, ZeroDivisionError, OverflowError, TypeError) as error:
        raise scope.error("S805", node, f"`{words(node)}` cannot be computed: {error}") from error


def _arithmetic(op: type[ast.operator], left: Value, right: Value) -> Value:
    if isinstance(left, Affine) or isinstance(right, Affine):
        if isinstance(left, float) or isinstance(right, float) or op in (ast.Pow, ast.Div):
            numbers = [_known(each) for each in (left, right)]
            if None in numbers:
                raise AffineError("it depends on a loop variable or a ragged tile")
            return _OPERATORS[op](*numbers)
        if isinstance(right, Affine) and op in (ast.FloorDiv, ast.Mod):
            raise AffineError(f"the divisor `{right}` is not known")
        result = _OPERATORS[op](affine(left), right)
        return _plain(result) if isinstance(result, Affine) else result
    return _OPERATORS[op](left, right)


def _known(value: Value) -> Value:
    return known(value) if isinstance(value, Affine) else value


def _are_numbers(*values: Value) -> bool:
    return all(isinstance(value, int | float | Affine) for value in values)


def _touched(scope: Scope, node: ast.AST) -> LogicError:
    return scope.error(
        "S806",
        node,
        f"`{words(node)}` computes with elements, which an inner task never touches",
        "compute in a leaf task, `@task.define(leaf=True)`, and launch it",
    )


def _lower_unary(scope: Scope, node: ast.UnaryOp) -> Value:
    value = scope.value(node.operand)
    if isinstance(value, Tensor):
        raise _touched(scope, node)
    if isinstance(node.op, ast.Not) and not isinstance(value, Affine | Condition):
        return not value
    if isinstance(node.op, ast.USub) and _are_numbers(value):
        number: Any = value
        return -number
    raise scope.error("S804", node, f"`{words(node)}` of {kind_of(value)}")


_COMPARISONS: dict[type[ast.cmpop], tuple[Comparison, Callable[[Any, Any], bool]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


def _lower_compare(scope: Scope, node: ast.Compare) -> Value:
    values = [scope.value(each) for each in (node.left, *node.comparators)]
    if any(isinstance(value, Tensor) for value in values):
        raise _touched(scope, node)
    if len(node.ops) > 1 and any(isinstance(value, Affine) for value in values):
        raise scope.error("S805", node, "a chain of comparisons with loop variables; nest `if`s")
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        if type(op) not in _COMPARISONS:
            raise scope.error("S801", node, f"`{words(node)}` is no comparison of integers")
        name, compute = _COMPARISONS[type(op)]
        if isinstance(left, Affine) or isinstance(right, Affine):
            if not _are_numbers(left, right) or isinstance(left, float) or isinstance(right, float):
                raise scope.error("S804", node, f"`{words(node)}` compares no integers")
            return _decided(Condition(affine(left), name, affine(right)), scope.ranges)
        if not compute(left, right):
            return False
    return True


def _decided(condition: Condition, ranges: Ranges) -> Condition | bool:
    """A condition that the ranges of the variables decide is a constant."""
    low, high = ranges.bounds(condition.left - condition.right)
    table = {
        "<": (high < 0, low >= 0),
        "<=": (high <= 0, low > 0),
        ">": (low > 0, high <= 0),
        ">=": (low >= 0, high < 0),
        "==": (low == high == 0, low > 0 or high < 0),
        "!=": (low > 0 or high < 0, low == high == 0),
    }
    always, never = table[condition.comparison]
    return condition if not (always or never) else always


def _lower_bool(scope: Scope, node: ast.BoolOp) -> Value:
    result: Value = isinstance(node.op, ast.And)
    for each in node.values:
        result = scope.value(each)
        if isinstance(result, Condition | Affine | Tensor):
            message = f"`{words(each)}` is not known now; nest `if`s for loop variables"
            raise scope.error("S805", each, message)
        if bool(result) != isinstance(node.op, ast.And):
            return result
    return result


def _lower_choice(scope: Scope, node: ast.IfExp) -> Value:
    test = scope.value(node.test)
    if isinstance(test, Condition | Affine | Tensor):
        raise scope.error("S805", node.test, f"`{words(node.test)}` is not known now")
    return scope.value(node.body if test else node.orelse)


def _lower_tuple(scope: Scope, node: ast.Tuple | ast.List) -> Value:
    items: list[Value] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            items += scope.value(each.value)
        else:
            items.append(scope.value(each))
    return tuple(items)


def _lower_subscript(scope: Scope, node: ast.Subscript) -> Value:
    owner = scope.value(node.value)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    match owner:
        case Partition():
            return _pick(scope, node, owner, indices)
        case Tensor():
            return _slice(scope, node, owner, indices)
        case tuple():
            return _item(scope, node, cast(Values, owner))
        case _:
            raise scope.error("S804", node, f"`{words(node.value)}` is {kind_of(owner)}")


def _item(scope: Scope, node: ast.Subscript, owner: tuple[Value, ...]) -> Value:
    if isinstance(node.slice, ast.Slice):
        ends = [
            None if end is None else scope.constant(end)
            for end in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        return owner[slice(*ends)]
    index = scope.constant(node.slice)
    if not -len(owner) <= index < len(owner):
        message = f"`{words(node)}`: there are {len(owner)} of them"
        raise scope.error("S804", node, message)
    return owner[index]


def _pick(scope: Scope, node: ast.Subscript, owner: Partition, indices: list[ast.expr]) -> Value:
    if len(indices) != len(owner.shape):
        message = (
            f"a partition of {len(owner.shape)} axes has that many indices, not {len(indices)}"
        )
        raise scope.error("S804", node, message)
    found: list[Affine | None] = []
    for index, count in zip(indices, owner.shape, strict=True):
        if isinstance(index, ast.Slice):
            if index.lower or index.upper or index.step:
                raise scope.error("S801", index, "a stream is all tiles of an axis: `:`")
            found.append(None)
            continue
        number = scope.number(index)
        is_empty = known(count) == 0 and (number == affine(0) or scope.ranges.are_empty)
        is_outside = scope.ranges.bounds(count - number)[1] <= 0
        if not is_empty and (is_outside or scope.ranges.bounds(number)[1] < 0):
            message = f"tile {number}, where there are {count}"
            raise scope.error("S807", index, message)
        found.append(number)
    if None in found:
        return Stream(owner, tuple(found))
    return owner.pick(tuple(each for each in found if each is not None), scope.ranges)


def _slice(scope: Scope, node: ast.Subscript, owner: Tensor, indices: list[ast.expr]) -> Value:
    """`X[b]` and `X[b, :]`: the tensor at an index, with an axis less. `X[s : s + n]` is a part."""
    shape = owner.shape
    if len(indices) > len(shape):
        raise scope.error("S804", node, f"{len(indices)} indices of a tensor of {len(shape)} axes")
    offsets: list[Affine] = []
    extents: list[Affine | None] = []
    for index, extent in zip(indices, shape, strict=False):
        if isinstance(index, ast.Slice):
            start, size = _part(scope, index, extent)
            offsets.append(start)
            extents.append(size)
        else:
            offsets.append(scope.number(index))
            extents.append(None)
    rest = shape[len(indices) :]
    found = owner.cut((*offsets, *(affine(0) for _ in rest)), (*extents, *rest))
    is_window = any(map(_is_window, offsets, extents))
    return replace(found, is_window=True) if is_window else found


def _is_window(offset: Affine, extent: Affine | None) -> bool:
    """Whether rectangles at other values of loop variables overlap: `s : s + n`, and `y + r`."""
    names = [name for name in offset.names if not name.isdigit()]
    return len(names) > 1 or (extent is not None and bool(names))


def _part(scope: Scope, index: ast.Slice, extent: Affine) -> tuple[Affine, Affine]:
    """The offset and the extent of `a:b`, which is inside of the axis: nothing is clipped."""
    if index.step is not None:
        raise scope.error("S801", index, f"`{words(index)}` leaves elements out; a view has none")
    start = affine(0) if index.lower is None else scope.number(index.lower)
    end = extent if index.upper is None else scope.number(index.upper)
    is_inside = scope.ranges.is_least(affine(0), start) and scope.ranges.is_least(end, extent)
    if not is_inside or not scope.ranges.is_least(start, end):
        message = f"`{words(index)}` is not seen to be inside of an axis of {extent} elements"
        help = "use `task.partition` for tiles: their last one ends with the axis"
        raise scope.error("S807", index, message, help)
    return start, end - start


def _lower_call(scope: Scope, node: ast.Call) -> Value:
    function = scope.value(node.func)
    handler = _FUNCTIONS.get(function) if callable(function) else None
    if handler is None:
        raise scope.error("S801", node, f"`{words(node.func)}` cannot be called here")
    return handler(scope, node)


def _tunable(scope: Scope, node: ast.Call) -> Value:
    name = scope.text(arguments_of(scope, node, ("name",), 1)["name"])
    return lookup(scope, name, node)


def _extreme(compute: Callable[..., Affine]) -> Callable[[Scope, ast.Call], Value]:
    def lower(scope: Scope, node: ast.Call) -> Value:
        if not node.args or node.keywords:
            raise scope.error("S804", node, f"`{words(node)}` takes integers")
        return _plain(compute(*(scope.number(each) for each in node.args)))

    return lower


def _cdiv(scope: Scope, node: ast.Call) -> Value:
    given = arguments_of(scope, node, ("a", "b"), 2)
    divisor = scope.constant(given["b"])
    if divisor < 1:
        raise scope.error("S805", given["b"], f"division by {divisor}")
    return _plain(ceil_div(scope.number(given["a"]), divisor))


def _length(scope: Scope, node: ast.Call) -> Value:
    value = scope.value(arguments_of(scope, node, ("values",), 1)["values"])
    if isinstance(value, tuple):
        return len(cast(Values, value))
    raise scope.error("S804", node, f"the length of {kind_of(value)}")


def _of_floats(function: Callable[..., float]) -> Callable[[Scope, ast.Call], Value]:
    def lower(scope: Scope, node: ast.Call) -> Value:
        if node.keywords:
            message = f"`{words(node.func)}` has no parameter `{node.keywords[0].arg or '**'}`"
            raise scope.error("S804", node.keywords[0], message)
        values = [_known(scope.value(each)) for each in node.args]
        if not all(isinstance(value, int | float) for value in values):
            raise scope.error("S805", node, f"`{words(node)}` is not known now")
        try:
            return function(*values)
        except (ValueError, TypeError, OverflowError) as error:
            raise scope.error("S805", node, f"`{words(node)}`: {error}") from error

    return lower


def _out_of_place(scope: Scope, node: ast.Call) -> Value:
    raise scope.error("S801", node, f"`{words(node.func)}` is a statement of its own")


# Task Lang under its three names, and Python's functions of numbers.
_MODULES = ("eas.septran.task_lang", "eas.task_lang", "task_lang", task_lang.__name__, "math")


def _is_module(value: Value) -> bool:
    return isinstance(value, ModuleType) and value.__name__ in _MODULES


_FUNCTIONS: dict[Callable[..., Any], Callable[[Scope, ast.Call], Value]] = {
    task_lang.tunable: _tunable,
    task_lang.partition: partition,
    task_lang.cdiv: _cdiv,
    task_lang.launch: _out_of_place,
    task_lang.call_primitive: _out_of_place,
    task_lang.local: _out_of_place,
    task_lang.parallel_range: _out_of_place,
    task_lang.sequential_range: _out_of_place,
    min: _extreme(minimum),
    max: _extreme(maximum),
    len: _length,
    math.sqrt: _of_floats(math.sqrt),
    math.log2: _of_floats(math.log2),
    math.exp: _of_floats(math.exp),
    float: _of_floats(float),
    int: _of_floats(int),
}

_HANDLERS: dict[type[ast.expr], Callable[[Scope, Any], Value]] = {
    ast.Constant: _lower_constant,
    ast.Name: _lower_name,
    ast.Attribute: _lower_attribute,
    ast.BinOp: _lower_binary,
    ast.UnaryOp: _lower_unary,
    ast.Compare: _lower_compare,
    ast.BoolOp: _lower_bool,
    ast.IfExp: _lower_choice,
    ast.Tuple: _lower_tuple,
    ast.List: _lower_tuple,
    ast.Subscript: _lower_subscript,
    ast.Call: _lower_call,
}
