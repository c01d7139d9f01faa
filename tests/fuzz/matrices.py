"""Random kernels over matrices: products whose operands are shared, views, blocks that swap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from eas.ir.types import BF16

Array = np.ndarray[Any, np.dtype[Any]]

PROGRAMS = 2
TRIPS = 3
EXTENTS = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64)
# The matrices of a kernel: two extents, by their letters.
MATRICES = {"p": "MM", "q": "MM", "u": "MN", "v": "MN", "w": "MN", "t": "NM", "g": "NN"}
_EXACT = 1 << 23  # sums of whole numbers up to here are exact in f32, in any order

_KERNEL = """\
import eas
from eas import mk


def smaller(a, b):
    return mk.minimum(a, b)


def wrapped(a, by):
    return a % by - 1.0


@eas.kernel
def compute(x, out, n):
    s = n
{body}
"""


class InexactError(Exception):
    """A number is too large for f32: the order of a sum would matter."""


def write_kernel(random: Random, among: Sequence[int] = EXTENTS) -> tuple[str, int]:
    """The text of a kernel, and how many elements of `x` and `out` each of its programs has."""
    extents = {letter: random.choice(among) for letter in "MN"}
    batch = random.choice((0, 0, 0, 2, 3)) if max(extents.values()) < 20 else 0
    lines = _Lines(random, extents, batch)
    size = lines.load_all()
    lines.add(random.randrange(3, 12), "    ", ())
    lines.store_all()
    return _KERNEL.format(body="\n".join(lines.found)), size


class _Lines:
    """Statements; those that change a matrix name it first."""

    def __init__(self, random: Random, extents: dict[str, int], batch: int) -> None:
        self.random, self.extents, self.batch = random, extents, batch
        self.found: list[str] = []
        self.count = 0

    def load_all(self) -> int:
        place = 0
        sizes = {name: prod(self.shape(name)) for name in MATRICES}
        total = sum(sizes.values())
        for name, size in sizes.items():
            offsets = f"mk.reshape(mk.arange(0, {size}), {self.shape(name)})"
            self.found.append(f"    at_{name} = mk.program_id(0) * {total} + {place} + {offsets}")
            self.found.append(f"    {name} = mk.load(x, at_{name})")
            place += size
        return total

    def store_all(self) -> None:
        self.found += [f"    mk.store(out, at_{name}, {name})" for name in MATRICES]

    def shape(self, name: str) -> tuple[int, ...]:
        batch = (self.batch,) if self.batch else ()
        return (*batch, *(self.extents[letter] for letter in MATRICES[name]))

    def add(self, count: int, indent: str, loops: tuple[str, ...]) -> None:
        for _ in range(count):
            if len(indent) < 12 and self.random.random() < 0.3:
                self.add_nested(indent, loops)
            else:
                kind = self.random.choices(list(_STATEMENTS), list(_STATEMENTS.values()))[0]
                self.found += [indent + line for line in kind(self).split("; ")]

    def add_nested(self, indent: str, loops: tuple[str, ...]) -> None:
        inner, count = indent + "    ", self.random.randrange(1, 4)
        kind = self.random.choice(("for", "for", "while", "if", "else"))
        if kind == "while":
            self.count += 1
            counter = f"k{self.count}"
            self.found += [f"{indent}{counter} = 0", f"{indent}while {counter} < n:"]
            self.found.append(f"{inner}{counter} += 1")
        else:
            head = "for _ in range(n):" if kind == "for" else "if s % 2 == 0:"
            self.found.append(indent + head)
        is_loop = kind in ("for", "while")
        if is_loop and self.random.random() < 0.2:
            way = self.random.choice(("break", "continue"))
            self.found += [f"{inner}s += 1", f"{inner}if s % 5 == 3:", f"{inner}    {way}"]
        self.add(count, inner, (*loops, kind) if is_loop else loops)
        if kind == "else":
            self.found.append(f"{indent}else:")
            self.add(count, inner, loops)

    def name(self, shape: str | None = None) -> str:
        return self.random.choice([n for n, s in MATRICES.items() if shape in (None, s)])

    def value(self, shape: str) -> str:
        """A matrix of a shape: mostly one that has a name, which other operands share."""
        name = self.name(shape)
        if self.random.random() < 0.6:
            return name
        axis = self.random.randrange(2) - 2
        return self.random.choice((
            self.turned(self.name(shape[::-1])),
            self.turned(self.name(shape[::-1])),
            f"mk.flip({name}, {axis + 2 + bool(self.batch)})",
            f"({name} + 1.0)",
            f"mk.reshape(mk.ravel({name}), {self.shape(name)})",
            f"mk.where({name} > 0.0, {name}, {self.name(shape)})",
        ))  # fmt: skip

    def turned(self, name: str) -> str:
        return f"mk.permute({name}, (0, 2, 1))" if self.batch else f"mk.trans({name})"

    def dot(self, shape: str, acc: str = "") -> str:
        inner = self.random.choice("MN")
        factors = [self.value(shape[0] + inner), self.value(inner + shape[1])]
        kind = self.random.choice(("f32", "f32", "f32", "f16", "bf16", "i8"))
        if kind != "f32":
            factors = [f"mk.to_{kind}({factor})" for factor in factors]
        if kind == "i8":
            product = f"mk.to_f32(mk.dot({', '.join(factors)}))"
            return f"{acc} + {product}" if acc else product
        if acc and self.random.random() < 0.4:
            product = f"mk.dot({', '.join(factors)})"
            return self.random.choice((f"{acc} + {product}", f"{product} + {acc}"))
        return f"mk.dot({', '.join((*factors, acc) if acc else factors)})"

    def product(self) -> str:
        name = self.name()
        shape = MATRICES[name]
        acc = self.random.choice((name, name, self.value(shape), ""))
        return f"{name} = {self.dot(shape, acc)}"

    def scaled_product(self) -> str:
        """A product that is added to a matrix times a number, or one for each row."""
        name = self.name()
        *batch, rows, _ = self.shape(name)
        signs = f"mk.where(mk.arange(0, {prod((*batch, rows))}) % 2 == 0, 1.0, -1.0)"
        by_rows = f"mk.reshape({signs}, {(*batch, rows, 1)})"
        row = f"mk.reshape({signs}, {(*batch, rows)})[{':, ' * (1 + len(batch))}None]"
        factor = self.random.choice(("-1.0", "mk.to_f32(s % 3 - 1)", row, by_rows))
        return f"{name} = {self.dot(MATRICES[name], f'{name} * {factor}')}"

    def keep_small(self) -> str:
        name = self.name()
        return f"{name} = wrapped({name}, {self.random.choice(('2.0', '3.0'))})"

    def swap(self) -> str:
        return self.random.choice((
            "p, q = q, p",
            "u, v = v, u",
            "u, v, w = v, w, u",
            f"p, q = q, {self.dot('MM')}",
            f"u, v = v, {self.dot('MN', 'u')}",
            f"u, w = {self.dot('MN', 'w')}, u",
            f"u, t = {self.turned('t')}, {self.turned('u')}",
            f"p, q = {self.turned('q')}, {self.turned('p')}",
            f"u, p = mk.flip(u, {int(bool(self.batch))}), {self.turned('p')}",
        ))  # fmt: skip

    def change(self) -> str:
        name = self.name()
        a, b = self.value(MATRICES[name]), self.value(MATRICES[name])
        return f"{name} = " + self.random.choice((
            f"{a} - {b}",
            f"mk.maximum({a}, {b})",
            f"mk.where({a} < {b}, {b}, {name})",
            a,
        ))  # fmt: skip

    def reduce(self) -> str:
        name = self.name()
        shape = MATRICES[name]
        axis = self.random.randrange(2) + bool(self.batch)
        source = self.value(shape)
        largest = f"mk.max({source}, axis={axis}, keep_dims=True)"
        return self.random.choice((
            f"{name} = {name} - mk.sum({source}, axis={axis}, keep_dims=True)",
            f"{name} = mk.where({name} < {largest}, {name}, 1.0)",
            f"{name} = {name} + mk.reduce({source}, {axis}, smaller, keep_dims=True)",
            f"s = s + mk.to_i32(mk.max({source})) % 3",
        ))  # fmt: skip

    def scan(self) -> str:
        name = self.name()
        source, axis = self.value(MATRICES[name]), self.random.randrange(2) + bool(self.batch)
        return f"{name} = " + self.random.choice((
            f"mk.cumsum({source}, {axis})",
            f"mk.cumsum({source}, {axis}, reverse=True)",
            f"mk.associative_scan({source}, {axis}, smaller)",
        ))  # fmt: skip

    def halves(self) -> str:
        """Slices of one or two matrices, one behind the other."""
        name = self.name()
        other, extent = self.name(MATRICES[name]), self.shape(name)[-1]
        if extent < 2:
            return self.change()
        at = self.random.randrange(1, extent)
        all_rows = ":, :" if self.batch else ":"
        axis = len(self.shape(name)) - 1
        parts = f"{name}[{all_rows}, {at}:], {other}[{all_rows}, :{at}]"
        return f"{name} = mk.cat({parts}, axis={axis})"

    def memory(self) -> str:
        """Through the place of a matrix in `x`, which lanes of other shapes never touch."""
        name = self.name()
        other = self.value(MATRICES[name])
        return self.random.choice((
            f"mk.store(x, at_{name}, {other})",
            f"{name} = mk.load(x, at_{name})",
            f"mk.store(x, at_{name}, mk.load(x, at_{name}) + {other})",
            f"c_{name} = mk.load(x, at_{name}); mk.store(x, at_{name}, {other}); {name} = c_{name}",
        ))  # fmt: skip


_STATEMENTS: dict[Callable[[_Lines], str], int] = {
    _Lines.product: 8,
    _Lines.scaled_product: 2,
    _Lines.keep_small: 3,
    _Lines.swap: 4,
    _Lines.change: 2,
    _Lines.reduce: 2,
    _Lines.scan: 1,
    _Lines.halves: 1,
    _Lines.memory: 2,
}


def run_in_numpy(text: str, x: Array, out: Array) -> None:
    """Each line of the kernel over whole blocks, program after program."""
    body = text[text.index("def compute") :]
    for program in range(PROGRAMS):
        scope: dict[str, Any] = {"mk": _functions(program), "smaller": None, "wrapped": _wrapped}
        exec(body, scope)
        scope["compute"](x, out, TRIPS)


def _functions(program: int) -> SimpleNamespace:
    def store(array: Array, offsets: Array, value: Array) -> None:
        array[offsets] = value

    return SimpleNamespace(
        arange=lambda start, stop: np.arange(start, stop, dtype=np.int32),
        program_id=lambda axis: np.int32(program),
        load=lambda array, offsets: array[offsets],
        store=store,
        reshape=np.reshape,
        ravel=np.ravel,
        permute=np.transpose,
        trans=np.transpose,
        flip=np.flip,
        cat=lambda a, b, axis: np.concatenate((a, b), axis),
        where=lambda condition, a, b: np.where(condition, a, b).astype(np.float32),
        maximum=np.maximum,
        dot=_dot,
        sum=_sum,
        max=lambda a, axis=None, keep_dims=False: np.max(a, axis=axis, keepdims=keep_dims),
        reduce=lambda a, axis, _, keep_dims: np.min(a, axis=axis, keepdims=keep_dims),
        cumsum=_cumsum,
        associative_scan=lambda a, axis, _: np.minimum.accumulate(a, axis),
        to_f32=np.float32,
        to_f16=lambda a: _cast(a, np.dtype(np.float16)),
        to_bf16=lambda a: _cast(a, BF16.numpy),
        to_i8=lambda a: _cast(a, np.dtype(np.int8)),
        to_i32=lambda a: _cast(a, np.dtype(np.int32)),
    )


def _exact(a: Array) -> Array:
    if not np.all(np.abs(a) < _EXACT):
        raise InexactError
    return a


def _dot(a: Array, b: Array, acc: Array | float = 0.0) -> Array:
    a, b = a.astype(np.float64), b.astype(np.float64)
    _exact(np.abs(a) @ np.abs(b) + np.abs(acc))
    return (a @ b + acc).astype(np.float32)


def _sum(a: Array, axis: int, keep_dims: bool) -> Array:
    _exact(np.asarray(np.sum(np.abs(a), axis=axis, dtype=np.float64)))
    return np.sum(a, axis=axis, keepdims=keep_dims)


def _cumsum(a: Array, axis: int, reverse: bool = False) -> Array:
    _exact(np.asarray(np.sum(np.abs(a), axis=axis, dtype=np.float64)))
    return np.flip(np.cumsum(np.flip(a, axis), axis), axis) if reverse else np.cumsum(a, axis)


def _wrapped(a: Array, by: float) -> Array:
    return _exact(a) % np.float32(by) - np.float32(1)


def _cast(a: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers in another dtype, which has to hold them as they are."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = a.astype(dtype)
    if not np.array_equal(found.astype(np.float64), a.astype(np.float64)):
        raise InexactError
    return found
