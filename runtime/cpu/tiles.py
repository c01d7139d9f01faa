"""Blocks in memory: dense, in row-major order, with room for one vector behind the last element."""

from __future__ import annotations

from eas.ir.nodes import Value
from eas.ir.records import frozen
from eas.ir.types import BOOL, F32, DType, Shape, count
from eas.runtime.cpu.body import Body, Coords, Mask, linear
from eas.runtime.cpu.dtypes import register
from eas.runtime.cpu.emit import Emitter, V, const
from eas.runtime.cpu.lanes import Lanes, Steps, Uniform, Vector
from eas.runtime.cpu.memory import read, widened, write


@frozen
class Tile:
    pointer: V
    shape: Shape
    dtype: DType


def _held(dtype: DType) -> DType:
    """The dtype whose numbers in memory are a dtype's in registers."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype


def make_tile(e: Emitter, value: Value, width: int) -> Tile:
    dtype = _held(value.ty.dtype)
    size = count(value.shape) + width
    element = "i8" if dtype == BOOL else register(dtype)
    return Tile(e.memory(element, size), value.shape, dtype)


def read_tile(body: Body, tile: Tile, coords: Coords) -> Lanes:
    place = _place(body, tile, coords)
    return read(body, tile.pointer, tile.dtype, place, _inside(body, tile, place))


def _inside(body: Body, tile: Tile, place: Lanes) -> Mask:
    """The lanes whose element is in the tile: those beyond the domain's end may be anywhere."""
    if all(mask is None for mask in body.start) or isinstance(place, Uniform):
        return None
    if isinstance(place, Steps) and place.step == 1:
        return None  # there is room behind the last element
    v = body.to_vector(place)
    return Vector(body.e.icmp("ult", v, const(v.ty, count(tile.shape))))


def write_tile(body: Body, tile: Tile, coords: Coords, value: Lanes, mask: Mask) -> None:
    write(body, tile.pointer, tile.dtype, _place(body, tile, coords), value, mask)


def _place(body: Body, tile: Tile, coords: Coords) -> Lanes:
    match linear(body.e, coords, tile.shape):
        case Uniform(v):
            return Uniform(widened(body, v))
        case Steps(base=base, step=step):
            return Steps(widened(body, base), step)
        case Vector(v):
            return Vector(widened(body, v))
