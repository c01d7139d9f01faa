"""Fuses functions that run one after the other over one grid: one function, the bodies in sequence.

Between two launches all programs wait for each other; in a fused function they do not. That is the
same where every element of memory that one function writes and another one accesses belongs to one
lane of one program: all of them access it with the same offset, and that offset is different in
every lane of every program. Loads of what was stored before are replaced by the stored value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from eas.ir.nodes import Compute, Constant, Function, Load, Op, Param, Region, Store, Value, Yield
from eas.ir.passes.cse import merge_common
from eas.ir.passes.fold import fold
from eas.ir.rewrite import Renaming, builder_for, rewrite
from eas.support.records import frozen, replace

# Ops that are not elementwise, but give each lane a value of its own.
_POSITIONS = frozenset({"arange", "program_id", "num_programs", "splat"})


@frozen
class Part:
    """A function, and the names that its parameters have in the fused one.

    Parameters of several parts that get the same name are one.
    """

    function: Function
    names: Mapping[str, str]


def fuse(parts: Sequence[Part], name: str) -> Function | None:
    """The functions as one, over a grid of one axis; None if that could change what they do."""
    if not all(is_elementwise_function(part.function) for part in parts):
        return None
    if any(part.function.fast_math for part in parts):  # it could contract across launches
        return None
    merged, sizes = _concatenate(parts, name)
    # folding and merging leave all accesses in their order
    merged = merge_common(fold(merged))
    if not _is_private_to_lanes(merged, sizes):
        return None
    return _remove_overwritten(_forward_stores(merged))


def is_elementwise_function(function: Function) -> bool:
    """Whether a function only loads, computes lane by lane, and stores."""
    if function.threads is not None or function.checked:
        return False
    return all(map(_is_elementwise, function.body.ops[:-1]))


def _is_elementwise(op: Op) -> bool:
    match op:
        case Constant() | Load() | Store():
            return True
        case Compute():
            return op.op.elementwise or op.op.name in _POSITIONS
        case _:
            return False


def _concatenate(parts: Sequence[Part], name: str) -> tuple[Function, list[int]]:
    """The bodies in sequence, and how many accesses to memory each of them has."""
    numbers = count()
    params: dict[tuple[str, str, int], Param] = {}
    ops: list[Op] = []
    for part in parts:
        names = Renaming(lambda value: Value(next(numbers), value.ty, value.hint), is_copy=True)
        for param in part.function.params:
            wanted = _renamed(param, part.names)
            key = (wanted.role, wanted.array or wanted.name, wanted.axis)
            if key not in params:
                value = Value(next(numbers), wanted.value.ty, wanted.value.hint)
                params[key] = replace(wanted, value=value)
            names.names[param.value.id] = params[key].value
        ops += [names.op(op) for op in part.function.body.ops[:-1]]
    first = parts[0].function
    end = Yield((), first.body.terminator.loc)
    limits = [part.function.programs for part in parts if part.function.programs is not None]
    ordered = sorted(params.values(), key=lambda param: param.role != "argument")
    merged = Function(
        name, tuple(ordered), Region((), (*ops, end)), first.source,
        programs=min(limits, default=None),
    )  # fmt: skip
    return merged, [sum(map(_is_access, part.function.body.ops)) for part in parts]


def _renamed(param: Param, names: Mapping[str, str]) -> Param:
    if param.role == "argument":
        hint = names[param.name]
        return replace(param, value=Value(param.value.id, param.value.ty, hint))
    array = names[param.array]
    hint = param.value.hint.replace(param.array, array, 1)
    return replace(param, value=Value(param.value.id, param.value.ty, hint), array=array)


def _is_access(op: Op) -> bool:
    return isinstance(op, Load | Store)


def _is_private_to_lanes(function: Function, sizes: Sequence[int]) -> bool:
    """Whether what several parts access, and one of them writes, belongs to single lanes."""
    definitions = _definitions(function)
    accesses = [op for op in function.body.ops if isinstance(op, Load | Store)]
    if len(accesses) != sum(sizes):
        return False
    numbers = [part for part, size in enumerate(sizes) for _ in range(size)]
    for param in function.params:
        pairs = zip(accesses, numbers, strict=True)
        found = [(op, part) for op, part in pairs if op.pointer == param.value]
        is_shared = len({part for _, part in found}) > 1
        if not is_shared or not any(isinstance(op, Store) for op, _ in found):
            continue
        first = found[0][0].offset
        is_one = all(op.offset == first for op, _ in found)
        if not is_one or not _is_injective(first, definitions):
            return False
    return True


def _definitions(function: Function) -> dict[int, Op]:
    ops = function.body.ops
    return {op.result.id: op for op in ops if isinstance(op, Compute | Constant | Load)}


Linear = tuple[int, int, int]  # factors of the program's number and of the lane's, and a constant


def _is_injective(offset: Value, definitions: Mapping[int, Op]) -> bool:
    """Whether an offset differs in all lanes of all programs of a grid of one axis."""
    found = _linear(offset, definitions)
    if found is None:
        return False
    of_program, of_lane, _ = found
    lanes = offset.shape[0] if len(offset.shape) == 1 else 1
    is_distinct = of_lane != 0 or lanes == 1
    return is_distinct and len(offset.shape) <= 1 and abs(of_program) > abs(of_lane) * (lanes - 1)


def _linear(value: Value, definitions: Mapping[int, Op]) -> Linear | None:
    """A value as a sum of the program's number and the lane's, with constant factors."""
    match definitions.get(value.id):
        case Constant(value=int() as number):
            return (0, 0, number)
        case Compute() as op:
            return _linear_op(op, definitions)
        case _:
            return None


def _linear_op(op: Compute, definitions: Mapping[int, Op]) -> Linear | None:
    parts = [_linear(operand, definitions) for operand in op.operands]
    match op.op.name, parts:
        case "program_id", _:
            return (1, 0, 0) if op.attr("axis") == 0 else None
        case "arange", _:
            start = op.attr("start")
            return (0, 1, start) if isinstance(start, int) else None
        case "splat", [(_, 0, _) as part]:
            return part
        case "add", [tuple() as a, tuple() as b]:
            return (a[0] + b[0], a[1] + b[1], a[2] + b[2])
        case "mul", [tuple() as a, (0, 0, factor)] | [(0, 0, factor), tuple() as a]:
            return (a[0] * factor, a[1] * factor, a[2] * factor)
        case _:
            return None


def _forward_stores(function: Function) -> Function:
    """Loads of what a store with the same mask has written become the stored value."""
    stored: dict[int, Store] = {}
    env: dict[int, Value] = {}
    build = builder_for(function)
    is_selected = not _are_other_lanes_unused(function)

    def change(op: Op, before: Op) -> Sequence[Op] | None:
        del before
        if isinstance(op, Store):
            stored[op.pointer.id] = op
        if not isinstance(op, Load) or op.pointer.id not in stored:
            return None
        last = stored[op.pointer.id]
        if last.offset != op.offset or last.mask != op.mask:
            return None
        if op.mask is None or op.other is None or not is_selected:
            env[op.result.id] = last.value
            return []
        build.ops, build.loc = [], op.loc
        env[op.result.id] = build.compute("select", op.mask, last.value, op.other)
        return build.ops

    return replace(function, body=rewrite(function.body, change, env))


def _remove_overwritten(function: Function) -> Function:
    """Without stores that a later one replaces before anything loads what they wrote."""
    kept: list[Op] = []
    replaced: dict[int, Store] = {}
    for op in reversed(function.body.ops):
        if isinstance(op, Load):
            replaced.pop(op.pointer.id, None)
        elif isinstance(op, Store):
            later = replaced.get(op.pointer.id)
            if later is not None and (later.offset, later.mask) == (op.offset, op.mask):
                continue
            replaced[op.pointer.id] = op
        kept.append(op)
    return replace(function, body=Region((), tuple(reversed(kept))))


def _are_other_lanes_unused(function: Function) -> bool:
    """Whether lanes that a mask excludes have no effect, whatever values they compute with.

    All accesses have one mask, and no op can fault.
    """
    ops = function.body.ops
    masks = {None if op.mask is None else op.mask.id for op in ops if isinstance(op, Load | Store)}
    return len(masks) == 1 and not any(_can_fault(op) for op in ops if isinstance(op, Compute))


def _can_fault(op: Compute) -> bool:
    return op.op.can_fault([operand.ty for operand in op.operands], dict(op.attrs))
