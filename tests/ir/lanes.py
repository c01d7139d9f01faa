"""Runs a function for one lane, the way the lane model is worded: as scalar code.

It knows every op with regions, `Scope` and `Leave` included, and nothing of shapes or masks, so it
is the reference for passes that change control flow. Blocks have one dimension, and no op is
collective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eas.ir.nodes import (
    Assert,
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    Function,
    If,
    Leave,
    Load,
    Region,
    Scope,
    Store,
    Terminator,
    Value,
    While,
    Yield,
)
from eas.ir.types import Pointer

Array = np.ndarray[Any, Any]
Event = tuple[object, ...]
MAX_TRIPS = 100


class Fault(Exception):
    """The lane does something that the interpreter reports; nothing comes after it."""


@dataclass
class Lane:
    """One lane: its index, its values, and what it has done so far."""

    index: int
    memory: dict[int, Array]
    values: dict[int, Array] = field(default_factory=dict[int, Array])
    events: list[Event] = field(default_factory=list[Event])
    seen: list[tuple[Value, Array]] = field(default_factory=list[tuple[Value, Array]])

    def set(self, target: Value, value: Array) -> None:
        self.values[target.id] = value
        self.seen.append((target, value))

    def bind(self, targets: Sequence[Value], values: Sequence[Array]) -> None:
        for target, value in zip(targets, values, strict=True):
            self.set(target, value)

    def read(self, values: Sequence[Value]) -> list[Array]:
        return [self.values[value.id] for value in values]


def run_lane(f: Function, arguments: Mapping[str, Any], index: int) -> list[Event]:
    """What a lane does: its stores, failed assertions and faults, in order."""
    return _start(f, arguments, index).events


def watch_lane(f: Function, arguments: Mapping[str, Any], index: int) -> list[tuple[Value, Array]]:
    """Every value that a lane computes, as often as it does."""
    return _start(f, arguments, index).seen


def _start(f: Function, arguments: Mapping[str, Any], index: int) -> Lane:
    lane = Lane(index, {})
    for param in f.params:
        argument = arguments[param.name]
        if isinstance(param.value.ty, Pointer):
            lane.memory[param.value.id] = np.array(argument, param.value.ty.dtype.numpy)
        else:
            lane.set(param.value, np.array([argument], param.value.ty.dtype.numpy))
    try:
        _run(f.body, lane)
    except Fault as fault:
        lane.events.append(("fault", str(fault)))
    return lane


def _run(region: Region, lane: Lane) -> Terminator:
    """Runs a region; gives the terminator that ended it, which may be one of an inner region."""
    for op in region.ops:
        match op:
            case Constant():
                lane.set(op.result, np.array([op.value], op.result.ty.dtype.numpy))
            case Compute():
                lane.set(op.result, _compute(op, lane))
            case Load():
                lane.set(op.result, _load(op, lane))
            case Store():
                _store(op, lane)
            case Assert():
                if not lane.values[op.condition.id][0]:
                    raise Fault(op.message)
            case If():
                branch = op.then if lane.values[op.condition.id][0] else op.orelse
                end = _run(branch, lane)
                if not isinstance(end, Yield):
                    return end
                lane.bind(op.results, lane.read(end.values))
            case For() | While():
                ended = _run_for(op, lane) if isinstance(op, For) else _run_while(op, lane)
                if not isinstance(ended, list):
                    return ended
                lane.bind(op.results, ended)
            case Scope():
                end = _run(op.body, lane)
                is_own = isinstance(end, Leave) and end.label == op.label
                if not is_own and not isinstance(end, Yield):
                    return end
                lane.bind(op.results, lane.read(end.values))
            case Yield() | Condition() | Break() | Continue() | Leave():
                return op
            case _:
                raise TypeError(f"no meaning for {type(op).__name__}")
    raise TypeError("a region without a terminator")


def _run_for(op: For, lane: Lane) -> list[Array] | Terminator:
    """The loop's results, or the exit that leads further out."""
    start, stop, step = (int(lane.values[v.id][0]) for v in (op.start, op.stop, op.step))
    carried = lane.read(op.inits)
    for count in range(start, stop, step):
        counter = np.array([count], op.body.args[0].ty.dtype.numpy)
        lane.bind(op.body.args, [counter, *carried])
        end = _run(op.body, lane)
        if isinstance(end, Break):
            return lane.read(end.values)
        if not isinstance(end, Yield | Continue):
            return end
        carried = lane.read(end.values)
    return _run_orelse(op, carried, lane)


def _run_while(op: While, lane: Lane) -> list[Array] | Terminator:
    carried = lane.read(op.inits)
    for _ in range(MAX_TRIPS):
        lane.bind(op.test.args, carried)
        test = _run(op.test, lane)
        assert isinstance(test, Condition)
        carried = lane.read(test.values)
        if not lane.values[test.condition.id][0]:
            return _run_orelse(op, carried, lane)
        lane.bind(op.body.args, carried)
        end = _run(op.body, lane)
        if isinstance(end, Break):
            return lane.read(end.values)
        if not isinstance(end, Yield | Continue):
            return end
        carried = lane.read(end.values)
    raise Fault("a loop has not ended")


def _run_orelse(op: For | While, carried: Sequence[Array], lane: Lane) -> list[Array] | Terminator:
    """The `orelse` is outside of the loop: a `Break` there is one of a loop around."""
    lane.bind(op.orelse.args, carried)
    end = _run(op.orelse, lane)
    return lane.read(end.values) if isinstance(end, Yield) else end


def _compute(op: Compute, lane: Lane) -> Array:
    operands = lane.read(op.operands)
    attrs: dict[str, Any] = dict(op.attrs)
    match op.op.name:
        case "splat" | "broadcast" | "expand_dims":
            return operands[0]
        case "arange":
            return np.array([attrs["start"] + lane.index], np.int32)
        case "program_id":
            return np.array([3], np.int32)
        case _:
            pass
    with np.errstate(all="ignore"):
        where = op.op.fault.where(*operands, **attrs) if op.op.fault else None
        if where is not None and where.any():
            raise Fault(op.op.name)
        return op.op.meaning(*operands, **attrs)


def _load(op: Load, lane: Lane) -> Array:
    if op.mask is not None and not lane.values[op.mask.id][0]:
        assert op.other is not None
        return lane.values[op.other.id]
    memory, place = lane.memory[op.pointer.id], int(lane.values[op.offset.id][0])
    if not 0 <= place < len(memory):
        raise Fault("load out of bounds")
    return memory[place : place + 1].copy()


def _store(op: Store, lane: Lane) -> None:
    if op.mask is not None and not lane.values[op.mask.id][0]:
        return
    place, value = int(lane.values[op.offset.id][0]), lane.values[op.value.id]
    lane.events.append((op.pointer.hint, place, value.dtype.name, value.tobytes()))
    memory = lane.memory[op.pointer.id]
    if not 0 <= place < len(memory):
        raise Fault("store out of bounds")
    memory[place] = value[0]
