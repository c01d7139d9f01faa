"""The ops of a function that report to the host: what `eas.support.report_buffer` calls sites."""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Compute,
    Fault,
    Function,
    Load,
    Op,
    Print,
    Store,
    walk,
)
from eas.ir.types import is_opaque
from eas.support.faults import AccessKind, Extent
from eas.support.report_buffer import Site

ACCESS_KINDS: dict[type[Op], AccessKind] = {Load: "read", Store: "written", Atomic: "updated"}


def site_of(op: Op) -> Site | None:
    """Where an op reports from, if it can."""
    match op:
        case Assert(fault=Fault() as fault):
            shape, is_masked = op.condition.shape, fault.is_masked
            return Site(fault.kind, (fault.array,), op.loc, shape, fault.axis, is_masked)
        case Assert():
            return Site("assert", (op.message,), op.loc)
        case Print():
            parts = tuple(part if isinstance(part, str) else part.ty.dtype for part in op.parts)
            return Site("print", parts, op.loc)
        case Load() | Store() | Atomic():
            is_masked, name = op.mask is not None, array_name(op.pointer.hint)
            kind = ACCESS_KINDS[type(op)]
            return Site(kind, (name,), op.loc, op.offset.shape, is_masked=is_masked)
        case Compute() if op.op.name == "index":
            array, axis = op.attr("array"), op.attr("axis")
            assert isinstance(array, str)
            assert isinstance(axis, int)
            return Site("index", (array,), op.loc, op.result.shape, axis)
        case _:
            return None


def array_name(hint: str) -> str:
    """What messages call an array; threadgroup memory may have no name."""
    return hint or "threadgroup memory"


def sites_of(function: Function) -> tuple[Site, ...]:
    """The sites of a function, each once, in the order of the text."""
    return tuple(dict.fromkeys(_sites(function)))


def site_numbers(function: Function) -> list[int]:
    """The number of the site of each op that reports, in the order of the text."""
    numbers = {site: number for number, site in enumerate(sites_of(function))}
    return [numbers[site] for site in _sites(function)]


def _sites(function: Function) -> Iterator[Site]:
    for op in walk(function.body):
        site = site_of(op)
        if site is not None and (function.checked or isinstance(op, Assert | Print)):
            yield site


def local_extents(function: Function) -> dict[str, Extent]:
    """The extents of a function's threadgroup memory."""
    found: dict[str, Extent] = {}
    for op in walk(function.body):
        if isinstance(op, Alloc) and not is_opaque(op.result.ty):
            name = array_name(op.result.hint)
            found[name] = Extent(name, None, 0, op.size)
    return found
