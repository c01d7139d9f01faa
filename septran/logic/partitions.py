"""Partitions of tensors, and the tunables that give the sizes of their tiles."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.ranges import known
from eas.septran.logic.arguments_by_name import arguments_of
from eas.septran.logic.errors import LogicError, suggest
from eas.septran.logic.scope import Scope, Values
from eas.septran.logic.values import Partition, Tensor, partitioned
from eas.support.diagnostics import Diagnostic, Label

_PARTITION = ("tensor", "by", "tile", "shape_from", "axis", "parts", "overlap")


def partition(scope: Scope, node: ast.Call) -> Partition:
    """A tensor cut into tiles."""
    given = arguments_of(scope, node, _PARTITION, 1)
    tensor = scope.tensor(given["tensor"])
    by = scope.text(given["by"]) if "by" in given else "blocks"
    cut = _CUTS.get(by)
    if cut is None:
        message = f"a partition by `{by}`"
        raise scope.error("S809", given["by"], message, *suggest(by, _CUTS))
    tile, overlap = cut(scope, node, tensor, given)
    tile = tuple(map(_decided_size, tile, tensor.shape))
    for size, extent in zip(tile, tensor.shape, strict=True):
        if size != extent and not size.is_constant:
            message = f"a tile of `{size}` is neither a number nor a whole axis"
            raise scope.error("S809", node, message)
        if size.is_constant and size.value < 1 and size != extent:
            raise scope.error("S809", node, f"a tile of {size} elements")
    return partitioned(tensor, tile, overlap, scope.ranges)


def _decided_size(size: Affine, extent: Affine) -> Affine:
    """A tile's size as a number, where it is computed from sizes: `task.cdiv(K, 4)`."""
    number = None if size == extent or size.is_constant else known(size)
    return size if number is None else affine(number)


_Cut: TypeAlias = tuple[tuple[Affine, ...], tuple[int, ...]]


def _blocks(scope: Scope, node: ast.Call, tensor: Tensor, given: Mapping[str, ast.expr]) -> _Cut:
    zeros = (0,) * len(tensor.shape)
    if "tile" not in given:
        names = scope.block_sizes(tensor)
        return tuple(affine(_block_size(scope, name, node)) for name in names), zeros
    sizes = _as_tuple(scope.value(given["tile"]), 1)
    if len(sizes) != len(tensor.shape):
        message = f"a tile of {len(sizes)} axes for a tensor of {len(tensor.shape)}"
        raise scope.error("S809", given["tile"], message)
    if not all(isinstance(size, int | Affine) for size in sizes):
        raise scope.error("S809", given["tile"], "the extents of a tile are integers")
    return tuple(affine(size) for size in sizes), zeros


def _block_size(scope: Scope, name: str, node: ast.AST) -> int:
    """`block_size_M` for an axis of that name, or `block_size` for all axes."""
    for wanted in (f"block_size_{name}", "block_size"):
        if scope.tunables.tunable(wanted) is not None:
            return lookup(scope, wanted, node)
    message = f"a partition without a `tile` takes the tunable `block_size_{name}` or `block_size`"
    help = suggest("block_size", scope.tunables.names())
    raise _wrong_tunable(scope, "block_size", node, message, *help)


def _rows(scope: Scope, node: ast.Call, tensor: Tensor, given: Mapping[str, ast.expr]) -> _Cut:
    if "tile" not in given:
        raise scope.error("S809", node, "a partition by rows has a number of rows as its `tile`")
    rows = scope.number(given["tile"])
    return (rows, *tensor.shape[1:]), (0,) * len(tensor.shape)


def _split(scope: Scope, node: ast.Call, tensor: Tensor, given: Mapping[str, ast.expr]) -> _Cut:
    axis = scope.constant(given["axis"]) if "axis" in given else 0
    if "parts" not in given or not -len(tensor.shape) <= axis < len(tensor.shape):
        raise scope.error("S809", node, "a split has an `axis` and a number of `parts`")
    parts = scope.constant(given["parts"])
    extent = known(tensor.shape[axis])
    if extent is None or parts < 1:
        message = f"{parts} parts of `{tensor.shape[axis]}` elements"
        raise scope.error("S809", node, message)
    sizes = list(tensor.shape)
    sizes[axis] = affine(max(1, -(-extent // parts)))
    return tuple(sizes), (0,) * len(sizes)


def _halo(scope: Scope, node: ast.Call, tensor: Tensor, given: Mapping[str, ast.expr]) -> _Cut:
    if "overlap" not in given:
        raise scope.error("S809", node, "a partition by halo has an `overlap`")
    tile, zeros = _blocks(scope, node, tensor, given)
    sizes = [_known(each) for each in _as_tuple(scope.value(given["overlap"]), len(zeros))]
    overlap = tuple(each for each in sizes if isinstance(each, int) and each >= 0)
    if len(sizes) != len(zeros) or len(overlap) != len(zeros):
        message = "an overlap has a number for each axis, which is known now"
        raise scope.error("S809", given["overlap"], message)
    return tile, overlap


def _as_tuple(value: Any, count: int) -> Values:
    """A tuple, or one value for each of some axes."""
    return cast(Values, value) if isinstance(value, tuple) else (value,) * count


_CUTS = {"blocks": _blocks, "rows": _rows, "split": _split, "halo": _halo}


def lookup(scope: Scope, name: str, node: ast.AST) -> int:
    """A tunable, which must have a value."""
    value = scope.tunables.tunable(name)
    if value is None:
        message = f"the tunable `{name}` has no value"
        help = f"give it one, here or where it is called: `tunables: {{{name}: 16}}`"
        raise _wrong_tunable(scope, name, node, message, help)
    if value < 1:
        message = f"the tunable `{name}` is {value}, not a positive number"
        raise _wrong_tunable(scope, name, node, message)
    return value


def _wrong_tunable(scope: Scope, name: str, node: ast.AST, message: str, *help: str) -> LogicError:
    """Where a tunable has no value, or a wrong one, the mapping is to be changed."""
    asked = scope.task.source.loc(node)
    place = scope.tunables.place(name)
    labels = () if place is None else (Label(asked, "asked for here"),)
    return LogicError([Diagnostic("S808", message, place or asked, "", labels, (), help)])


def _known(value: Any) -> Any:
    return known(value) if isinstance(value, Affine) else value
