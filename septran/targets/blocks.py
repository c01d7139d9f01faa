"""Block programs of the typed IR from flat kernels: what `cpu` and `apple_gpu` run.

A program is a point of the grid. A buffer in scratch memory is threadgroup memory, with its slots
and padding; one in registers is a block value, which loops carry. A tile has its full extent in
every block, and what lies beyond its true extent is masked: on loads and stores, and with the
identity in reductions and products. Barriers are the back end's own, from the order of effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from eas.ir import nodes as ir
from eas.ir.ops.record import RuleError
from eas.ir.types import I32, I64, DType, Pointer, Scalar
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    Barrier,
    Call,
    Copy,
    Fill,
    For,
    If,
    Kernel,
    Map,
    Mma,
    Module,
    ParallelFor,
    Param,
    Reduce,
    Start,
    Stmt,
    Temp,
    Wait,
    accesses,
    walk,
)
from eas.septran.flat.padding import zero_padded
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.substitution import substitute_all
from eas.septran.targets.block_computations import (
    write_copy,
    write_fill,
    write_map,
    write_product,
    write_reduction,
)
from eas.septran.targets.block_tiles import BlockError, Tiles
from eas.septran.targets.register_tiles import register_shapes
from eas.support.location import NOWHERE, SourceName


def block_functions(module: Module, registers: Sequence[str]) -> list[tuple[Kernel, ir.Function]]:
    """A function for each kernel of a module; buffers in the memories `registers` are values."""
    expanded = expand_pipelines(module)
    return [
        (each, _write(each, module, frozenset(registers), zero_padded(before)))
        for before, each in zip(module.kernels, expanded.kernels, strict=True)
    ]


# Offsets up to this leave room in i32 for the rest of a ragged tile.
_LARGEST_OF_I32 = 2**30


def _index_dtype(buffers: Iterable[Param | Temp]) -> DType:
    """The dtype in which offsets into some arrays are computed."""
    counts = [math.prod(extent.value for extent in each.shape) for each in buffers]
    return I64 if max(counts, default=0) > _LARGEST_OF_I32 else I32


def _write(
    kernel: Kernel,
    module: Module,
    registers: frozenset[str],
    padded: Mapping[str, tuple[Affine, ...]],
) -> ir.Function:
    sizes = {each.name: each for each in (*module.params, *module.temps)}
    index = _index_dtype(sizes[each.name] for each in kernel.params)
    tiles = Tiles(registers, padded, index, register_shapes(kernel, registers))
    params: list[ir.Param] = []
    for param in kernel.params:
        value = tiles.build.value(Pointer(param.dtype, "device"), param.name)
        params.append(ir.Param(value))
        tiles.add_array(sizes[param.name], value)
    if len(kernel.grid) > 3:
        raise BlockError("a grid has at most three axes", kernel.body[0])
    for axis, (name, extent) in enumerate(reversed(kernel.grid)):
        tiles.ranges = tiles.ranges.inside(name, extent)
        number = tiles.cast(tiles.build.compute("program_id", axis=axis), tiles.index)
        tiles.variables[name] = tiles.named(number, name)
    _write_block(tiles, kernel.body)
    tiles.build.emit(ir.Yield((), NOWHERE))
    body = ir.Region((), tuple(tiles.build.ops))
    return ir.Function(kernel.name, tuple(params), body, SourceName(f"{kernel.name}.flat"))


_COMPARE = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


def _write_block(tiles: Tiles, body: Sequence[Stmt]) -> None:
    for stmt in body:
        origin = stmt.origin
        is_inserted = isinstance(stmt, Copy | Start | Alloc)
        places = (origin.yaml, origin.python) if is_inserted else (origin.python, origin.yaml)
        tiles.build.loc = next((each for each in places if each is not None), NOWHERE)
        try:
            _write_statement(tiles, stmt)
        except RuleError as error:
            raise BlockError(f"this is no block program: {error}", stmt) from error


def _write_statement(tiles: Tiles, stmt: Stmt) -> None:
    match stmt:
        case Wait() | Barrier():
            return
        case Call():
            raise BlockError(f"`{stmt.symbol}` is a call of a library's function", stmt)
        case _:
            _WRITERS[type(stmt)](tiles, stmt)


def _rotation(tiles: Tiles, loop: For | ParallelFor) -> dict[str, str]:
    """Which value the next trip finds in each slot of the buffers that a loop rotates."""
    rotation: dict[str, str] = {}
    for buffer in _rotated(tiles, loop):
        keys = tiles.keys(buffer)
        rotation.update(zip(keys, (*keys[1:], keys[0]), strict=True))
    return rotation


def _rotated(tiles: Tiles, loop: For | ParallelFor) -> set[str]:
    """The buffers in registers whose slots a loop's variable chooses."""
    return {
        view.buffer
        for stmt in walk(loop.body)
        for view, _ in accesses(stmt)
        if tiles.held.get(view.buffer, 1) > 1
        and view.slot is not None
        and loop.variable in view.slot.names
    }


def _nested(tiles: Tiles, run: Callable[[], None]) -> list[ir.Op]:
    outer, tiles.build.ops = tiles.build.ops, []
    run()
    ops, tiles.build.ops = tiles.build.ops, outer
    return ops


def _write_prologue(tiles: Tiles, stmt: For | ParallelFor) -> None:
    """A loop that starts the copies of the first trips, without a loop: its slots are known."""
    for trip in range(tiles.ranges.upper(stmt.extent)):
        body = substitute_all(stmt.body, {stmt.variable: trip})
        is_sure = stmt.extent.is_constant
        _write_block(
            tiles, body if is_sure else [If(affine(trip), "<", stmt.extent, body, stmt.origin)]
        )


def _write_loop(tiles: Tiles, stmt: For | ParallelFor) -> None:
    build, loc = tiles.build, tiles.build.loc
    if stmt.body and all(isinstance(each, Start) for each in stmt.body):
        _write_prologue(tiles, stmt)
        return
    start, step = build.constant(0, tiles.index), build.constant(1, tiles.index)
    stop = tiles.scalar(stmt.extent)
    carried = tiles.changed(stmt.body)
    rotation = _rotation(tiles, stmt)
    inits = [tiles.values[name] for name in carried]
    hints = [name.partition("@")[0] for name in carried]
    counter = build.value(Scalar(tiles.index), stmt.variable)

    def fresh() -> list[ir.Value]:
        return [build.value(value.ty, name) for name, value in zip(hints, inits, strict=True)]

    args = fresh()
    outer_ranges, outer_values = tiles.ranges, dict(tiles.values)
    tiles.ranges = outer_ranges.inside(stmt.variable, stmt.extent)
    tiles.variables[stmt.variable] = counter
    tiles.values.update(zip(carried, args, strict=True))

    def body() -> None:
        _write_block(tiles, stmt.body)
        build.emit(ir.Yield(tuple(tiles.values[rotation.get(name, name)] for name in carried), loc))

    ops = _nested(tiles, body)
    tiles.ranges, tiles.values = outer_ranges, outer_values
    passed, results = fresh(), fresh()
    build.emit(
        ir.For(
            start,
            stop,
            step,
            tuple(inits),
            ir.Region((counter, *args), tuple(ops)),
            ir.Region(tuple(passed), (ir.Yield(tuple(passed), loc),)),
            tuple(results),
            loc,
        )
    )
    tiles.values.update(zip(carried, results, strict=True))


def _write_branch(tiles: Tiles, stmt: If) -> None:
    build, loc = tiles.build, tiles.build.loc
    condition = build.compute(
        _COMPARE[stmt.comparison], tiles.scalar(stmt.left), tiles.scalar(stmt.right)
    )
    carried = tiles.changed(stmt.body)
    before = dict(tiles.values)

    def body() -> None:
        _write_block(tiles, stmt.body)
        build.emit(ir.Yield(tuple(tiles.values[name] for name in carried), loc))

    ops = _nested(tiles, body)
    tiles.values = before
    others = ir.Region((), (ir.Yield(tuple(before[name] for name in carried), loc),))
    results = [build.value(before[name].ty, name.partition("@")[0]) for name in carried]
    build.emit(ir.If(condition, ir.Region((), tuple(ops)), others, tuple(results), loc))
    tiles.values.update(zip(carried, results, strict=True))


_WRITERS: dict[type[Stmt], Callable[..., None]] = {
    Alloc: Tiles.allocate,
    Copy: write_copy,
    Start: write_copy,
    Fill: write_fill,
    Map: write_map,
    Reduce: write_reduction,
    Mma: write_product,
    For: _write_loop,
    ParallelFor: _write_loop,
    If: _write_branch,
}
