"""Random kernels of reductions and scans: all dtypes, odd sizes, every axis, one after another."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

PROGRAMS = 2
TIMES = 3
# How our dtypes are held in arrays. Values are so small that bf16 has them exactly, as f32 does.
DTYPES = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
    "u32": "u4", "u64": "u8", "f16": "f2", "bf16": "f4", "f32": "f4",
}  # fmt: skip
_FLOATS = ("f16", "bf16", "f32")
# Sums of so many elements are exact.
_EXACT = {"f16": 2048, "bf16": 256}


@dataclass(frozen=True)
class Block:
    """What a name stands for."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        return self.dtype in _FLOATS

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


@dataclass
class Kernel:
    """A kernel's text; `given` and `results` are the blocks in its arrays, one for each program."""

    text: str = ""
    given: dict[str, Block] = field(default_factory=dict[str, Block])
    results: dict[str, Block] = field(default_factory=dict[str, Block])

    def arrays(self, seed: int) -> dict[str, Array]:
        random = np.random.default_rng(seed)
        found = {name: _values(random, block) for name, block in self.given.items()}
        zeros = {
            name: np.zeros(PROGRAMS * block.size, DTYPES[block.dtype])
            for name, block in self.results.items()
        }
        return found | zeros


def _values(random: np.random.Generator, block: Block) -> Array:
    low = 0 if block.dtype[0] in "ub" else -1
    high = 2 if block.is_float or block.dtype == "bool" else 8
    values = random.integers(low, high, PROGRAMS * block.size)
    return values.astype(DTYPES[block.dtype])


def write_kernel(random: Random) -> Kernel:
    writer = _Writer(random, Kernel())
    shape = _shape(random)
    for name in ("a", "b"):
        writer.give(name, Block(random.choice(list(DTYPES)), shape))
    if random.random() < 0.5:
        writer.give("c", Block(random.choice(list(DTYPES)), _shape(random)))
    writer.add(random.randrange(2, 6), 1)
    names = ", ".join([*(f"{name}_in" for name in writer.blocks), *writer.kernel.results])
    head = f"import eas\nfrom eas import mk\n\n\n@eas.kernel\ndef collect({names}, n):\n"
    writer.kernel.text = head + "\n".join(["    p = mk.program_id(0)", *writer.lines]) + "\n"
    return writer.kernel


def _shape(random: Random) -> tuple[int, ...]:
    match random.randrange(6):
        case 0 | 1:
            sizes = [random.randrange(1, 71), random.randrange(1, 71), 300, 1100, 2050]
            return (random.choice(sizes),)
        case 2 | 3 | 4:
            first = random.randrange(1, 71)
            second = random.choice([random.randrange(1, 500 // first + 1), 16, 32])
            shape = (first, second)
            return shape if random.random() < 0.5 else shape[::-1]
        case _:
            return (random.randrange(1, 9), random.randrange(1, 9), random.randrange(1, 9))


class _Writer:
    def __init__(self, random: Random, kernel: Kernel) -> None:
        self.random, self.kernel = random, kernel
        self.blocks: dict[str, Block] = {}
        self.lines: list[str] = []
        self.count = 0

    def give(self, name: str, block: Block) -> None:
        if block.size > _EXACT.get(block.dtype, block.size):
            block = Block("f32", block.shape)
        self.kernel.given[f"{name}_in"] = self.blocks[name] = block
        loaded = f"mk.load({name}_in, {_places(block)})"
        if block.dtype == "bf16":
            loaded = f"mk.cast({loaded}, mk.bf16)"
        self.lines.append(f"    {name} = {loaded}")

    def add(self, count: int, depth: int) -> None:
        for _ in range(count):
            if depth < 3 and self.random.random() < 0.25:
                heads = ["if n > 2:", "if n % 2 == 0:", "for k in range(n):", "if p == 1:"]
                self.lines.append("    " * depth + self.random.choice(heads))
                self.add(self.random.randrange(1, 3), depth + 1)
            else:
                number = self.count
                lines = [re.sub(r"\b(r|at)\b", rf"\g<1>{number}", x) for x in self.collective()]
                self.lines += ["    " * depth + line for line in lines]

    def collective(self) -> list[str]:
        """A collective of a block, what comes of it stored, and maybe taken into the block."""
        name = self.random.choice(list(self.blocks))
        block = self.blocks[name]
        axis = self.random.choice([None, *range(len(block.shape))])
        if self.random.random() < 0.4:
            return self.scan(name, block, axis or 0)
        if self.random.random() < 0.3:
            return self.joined(name, block, axis)
        found, dtype = self.random.choice(_REDUCTIONS[_kind(block)])
        result = Block(dtype or _accumulated(block.dtype), _reduced(block.shape, axis))
        return [
            f"r = mk.{found}({name}, axis={axis})",
            *self.store("r", result if dtype != "same" else Block(block.dtype, result.shape)),
            *self.taken(name, block, "r" if axis is None else f"mk.expand_dims(r, {axis})"),
        ]

    def joined(self, name: str, block: Block, axis: int | None) -> list[str]:
        """A reduction by a function, of one block or of two."""
        result = Block(block.dtype, _reduced(block.shape, axis))
        spread = "r" if axis is None else f"mk.expand_dims(r, {axis})"
        if block.dtype == "bool":
            return [f"r = mk.reduce({name}, {axis}, lambda u, v: u != v)", *self.store("r", result)]
        if self.random.random() < 0.5:
            index = f"mk.reshape(mk.arange(0, {block.size}), {block.shape})"
            function = "lambda u, i, v, j: (v, j) if v > u or (v == u and j < i) else (u, i)"
            lines = [f"r, at = mk.reduce(({name}, {index}), {axis}, {function})"]
            lines += self.store("at", Block("i32", result.shape))
        else:
            lines = [f"r = mk.reduce({name}, {axis}, {self.function(block)})"]
        return [*lines, *self.store("r", result), *self.taken(name, block, spread)]

    def scan(self, name: str, block: Block, axis: int) -> list[str]:
        reverse = self.random.choice(["", ", reverse=True"])
        if block.dtype == "bool" or self.random.random() < 0.5:
            function = self.random.choice(["cumsum", "cumsum", "cumprod"])
            lines = [f"r = mk.{function}({name}, axis={axis}{reverse})"]
            return [*lines, *self.store("r", Block(_accumulated(block.dtype), block.shape))]
        if self.random.random() < 0.3:
            first = f"mk.reshape(mk.arange(0, {block.size}), {block.shape}) % 5 == 0"
            function = f"lambda f, u, g, v: (f or g, v if g else {self.function(block)[13:]})"
            lines = [f"_, r = mk.associative_scan(({first}, {name}), {axis}, {function}{reverse})"]
        else:
            lines = [f"r = mk.associative_scan({name}, {axis}, {self.function(block)}{reverse})"]
        return [*lines, *self.store("r", block), *self.taken(name, block, "(r)")]

    def function(self, block: Block) -> str:
        joined = ["mk.maximum(u, v)", "mk.minimum(u, v)"] + ["u + v"] * (not block.is_float)
        return f"lambda u, v: {self.random.choice(joined)}"

    def store(self, name: str, block: Block) -> list[str]:
        array = f"o{self.count}"
        self.count += 1
        self.kernel.results[array] = block
        return [f"mk.store({array}, {_places(block)}, {name})"]

    def taken(self, name: str, block: Block, other: str) -> list[str]:
        """The block, or any if it is one number, changed by what came of it; floats stay small."""
        if other == "r":
            alike = [n for n, each in self.blocks.items() if _kind(each) == _kind(block)]
            name = self.random.choice(alike)
            block = self.blocks[name]
        if block.dtype == "bool" or self.random.random() < 0.4:
            return []
        other = f"mk.cast({other}, mk.{block.dtype})"
        if block.is_float:
            return [f"{name} = mk.where({other} > {name}, {name}, -{name})"]
        return [f"{name} = {name} + {other}"]


def _places(block: Block) -> str:
    if not block.shape:
        return "p"
    return f"p * {block.size} + mk.reshape(mk.arange(0, {block.size}), {block.shape})"


def _kind(block: Block) -> str:
    return "float" if block.is_float else "bool" if block.dtype == "bool" else "int"


# Each with its dtype: nothing if that is what sums have.
_EXTREMES = [("max", "same"), ("min", "same"), ("argmax", "i32"), ("argmin", "i32")]
_SUMS = [("sum", ""), ("sum", ""), ("prod", "")]
_REDUCTIONS: dict[str, list[tuple[str, str]]] = {
    "float": [*_SUMS, *_EXTREMES],
    "int": [*_SUMS, *_EXTREMES, ("xor_sum", "same")],
    "bool": [*_SUMS, ("any", "bool"), ("all", "bool"), ("xor_sum", "bool")],
}


def _accumulated(dtype: str) -> str:
    if dtype in ("bool", "i8", "i16"):
        return "i32"
    return "u32" if dtype in ("u8", "u16") else dtype


def _reduced(shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
    return () if axis is None else shape[:axis] + shape[axis + 1 :]


def run_in_numpy(kernel: Kernel, arrays: dict[str, Array]) -> None:
    """Each line of the kernel over whole blocks, program after program."""
    body = kernel.text[kernel.text.index("def ") :]
    for program in range(PROGRAMS):
        scope: dict[str, Any] = {"mk": _functions(program)}
        exec(body, scope)
        with np.errstate(all="ignore"):
            scope["collect"](**arrays, n=TIMES)


def _functions(program: int) -> SimpleNamespace:
    def load(array: Array, places: Array) -> Array:
        return array[places]

    def store(array: Array, places: Array, value: Array) -> None:
        array[places] = value

    dtypes = {name: np.dtype(held).type for name, held in DTYPES.items() if name != "bool"}
    return SimpleNamespace(
        program_id=lambda axis: np.int32(program),
        arange=lambda start, stop: np.arange(start, stop, dtype=np.int32),
        reshape=np.reshape,
        expand_dims=np.expand_dims,
        cast=lambda a, dtype: np.asarray(a).astype(dtype),
        where=np.where,
        maximum=np.maximum,
        minimum=np.minimum,
        load=load,
        store=store,
        sum=_accumulate(np.sum),
        prod=_accumulate(np.prod),
        max=np.max,
        min=np.min,
        argmax=np.argmax,
        argmin=np.argmin,
        any=np.any,
        all=np.all,
        xor_sum=np.bitwise_xor.reduce,
        cumsum=_running(np.cumsum),
        cumprod=_running(np.cumprod),
        reduce=_reduce,
        associative_scan=_scan,
        **dtypes,
    )


def _accumulate(function: Any) -> Callable[[Array, int | None], Array]:
    def reduce(a: Array, axis: int | None) -> Array:
        return function(a, axis=axis, dtype=_wide(a)).astype(_wide(a, "f2"))

    return reduce


def _running(function: Any) -> Callable[..., Array]:
    def scan(a: Array, axis: int, reverse: bool = False) -> Array:
        a = np.flip(a, axis) if reverse else a
        found = function(a, axis=axis, dtype=_wide(a, "f2"))
        return np.flip(found, axis) if reverse else found

    return scan


def _wide(a: Array, half: str = "f4") -> Any:
    narrow = {"?": "i4", "b": "i4", "h": "i4", "B": "u4", "H": "u4", "e": half}
    return np.dtype(narrow.get(a.dtype.char, a.dtype))


def _reduce(a: Any, axis: int | None, function: Any) -> Any:
    parts = a if isinstance(a, tuple) else (a,)
    parts = [part.ravel() if axis is None else np.moveaxis(part, axis, 0) for part in parts]
    found = _last_of(parts, function)
    return found if isinstance(a, tuple) else found[0]


def _last_of(parts: Any, function: Any) -> tuple[Array, ...]:
    return tuple(steps[-1] for steps in _steps(parts, function))


def _steps(parts: Any, function: Any) -> list[Array]:
    """What a function makes of the first elements along the first axis, for each number of them."""
    rows = [tuple(part[0] for part in parts)]
    for k in range(1, len(parts[0])):
        taken = [np.ravel(part) for part in (*rows[-1], *(part[k] for part in parts))]
        made = [_as_tuple(function(*numbers)) for numbers in zip(*taken, strict=True)]
        columns = zip(*made, strict=True)
        rows.append(
            tuple(
                np.array(list(column), part.dtype).reshape(part.shape[1:])
                for column, part in zip(columns, parts, strict=True)
            )
        )
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _as_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _scan(a: Any, axis: int, function: Any, reverse: bool = False) -> Any:
    parts = [np.moveaxis(part, axis, 0) for part in (a if isinstance(a, tuple) else (a,))]
    parts = [np.flip(part, 0) for part in parts] if reverse else parts
    steps = [np.flip(part, 0) if reverse else part for part in _steps(parts, function)]
    found = tuple(np.moveaxis(part, 0, axis) for part in steps)
    return found if isinstance(a, tuple) else found[0]
