"""Changes of shape of blocks of every rank, each compared with what NumPy makes of the array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import BLOCKS, Shape, moves, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import values


@dataclass(frozen=True)
class Change:
    """A function of two blocks of one shape, for blocks of so many axes.

    Without `expected`, it says in NumPy what it says in a kernel.
    """

    name: str
    write: Callable[..., Any]
    expected: Callable[..., Any] | None = None
    ranks: tuple[int, ...] = (1, 2, 3, 4)

    def __hash__(self) -> int:
        return hash(self.name)


def turned(v):
    """The axes in the opposite order."""
    return mk.permute(v, tuple(range(len(v.shape)))[::-1])


def moved(v):
    """The first axis behind the others."""
    return mk.permute(v, (*range(1, len(v.shape)), 0))


def paired(v):
    """The elements by twos, if the last but one of four axes has two of them."""
    return (*v.shape[:2], v.shape[3], 2)


GROWS = (1, 2, 3)
CHANGES = (
    Change(
        "reshape", lambda v, w: mk.reshape(v, v.shape[::-1]), lambda v, w: v.reshape(v.shape[::-1])
    ),
    Change("reshape to a column", lambda v, w: mk.ravel(v)[:, None], lambda v, w: v.reshape(-1, 1)),
    Change("ravel", lambda v, w: mk.ravel(v), lambda v, w: v.ravel()),
    Change("ravel of turned", lambda v, w: mk.ravel(turned(v)), lambda v, w: v.T.ravel()),
    Change(
        "reshape of flipped",
        lambda v, w: mk.reshape(mk.flip(v, 0), v.shape[::-1]),
        lambda v, w: v[::-1].reshape(v.shape[::-1]),
    ),
    Change("trans", lambda v, w: mk.trans(v), lambda v, w: v.T, ranks=(2,)),
    Change("permute", lambda v, w: turned(v), lambda v, w: v.T),
    Change("permute one axis", lambda v, w: moved(v), lambda v, w: np.moveaxis(v, 0, -1)),
    Change("expand_dims", lambda v, w: mk.expand_dims(v, 0), lambda v, w: v[None], GROWS),
    Change(
        "expand_dims at the end",
        lambda v, w: mk.expand_dims(v, -1),
        lambda v, w: v[..., None],
        GROWS,
    ),
    Change("a new axis", lambda v, w: v[:, None], ranks=GROWS),
    Change("every other from the end", lambda v, w: v[::-2]),
    Change("the last axis turned", lambda v, w: v[..., ::-1]),
    Change("the last column", lambda v, w: v[..., -1:]),
    Change("the middle", lambda v, w: v[v.shape[0] // 3 :, ...]),
    Change(
        "broadcast_to",
        lambda v, w: mk.broadcast_to(v[:1], v.shape),
        lambda v, w: np.broadcast_to(v[:1], v.shape),
    ),
    Change(
        "broadcast_to a new axis",
        lambda v, w: mk.broadcast_to(v[..., None], (*v.shape, 3)),
        lambda v, w: np.broadcast_to(v[..., None], (*v.shape, 3)),
        GROWS,
    ),
    Change("flip", lambda v, w: mk.flip(v, 0), lambda v, w: v[::-1]),
    Change("flip the last axis", lambda v, w: mk.flip(v, axis=-1), lambda v, w: v[..., ::-1]),
    Change("cat", mk.cat, lambda v, w: np.concatenate([v, w])),
    Change(
        "cat along the last axis",
        lambda v, w: mk.cat(v[..., :1], w, axis=-1),
        lambda v, w: np.concatenate([v[..., :1], w], -1),
    ),
    Change("join", mk.join, lambda v, w: np.stack([v, w], -1), GROWS),
    Change("split", lambda v, w: mk.split(mk.join(v, w))[1], lambda v, w: w, GROWS),
    Change(
        "split of four axes",
        lambda v, w: mk.split(mk.reshape(v, paired(v)))[0],
        lambda v, w: v.reshape(paired(v))[..., 0],
        (4,),
    ),
)


@eas.kernel
def change_each(x, y, out, CHANGES: eas.constexpr, SHAPE: eas.constexpr, WIDTH: eas.constexpr):
    at = offsets(SHAPE)
    v, w = mk.load(x, at), mk.load(y, at)
    for k in mk.static_range(len(CHANGES)):
        changed = CHANGES[k](v, w)
        mk.store(out, k * WIDTH + offsets(changed.shape), changed)


def launch(dtype: DType, shape: Shape) -> Launch:
    changes = [change for change in CHANGES if len(shape) in change.ranks]
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    x, y = (values(random, dtype, size).reshape(shape) for _ in range(2))
    width = 3 * size
    out = np.zeros((len(changes), width), dtype.numpy)
    rights = [np.ravel((change.expected or change.write)(x, y)) for change in changes]
    checks = [
        Check(change.name, found[: right.size], right)
        for change, found, right in zip(changes, out, rights, strict=True)
    ]
    functions = tuple(change.write for change in changes)
    given = {"x": x, "y": y, "out": out, "CHANGES": functions, "SHAPE": shape, "WIDTH": width}
    return Launch(change_each, given, checks)


CHANGED = Family("shape", tuple(DTYPES.values()), (*BLOCKS, (37, 31)), launch, moves)
