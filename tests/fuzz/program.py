"""Random programs: helper functions, the body of a kernel, and inputs for it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.fuzz.control import block, function_body
from tests.fuzz.maker import Maker, Names, Place
from tests.fuzz.types import WRITTEN, FunctionOf, Kind, Numbers

FORMATS = (
    Numbers(),
    Numbers(),
    Numbers(),
    Numbers("i32", "f64"),
    Numbers("i64", "f64"),
    Numbers("i64", "f32"),
)

# How the eight inputs are spread: programs, then lanes.
LAYOUTS = ((1, (8,)), (2, (4,)), (1, (4, 2)), (1, (4, 2)), (4, (1, 2)))

ARRAYS = "xs, fs, ints, floats, flags, table, log"
CONTEXT = f"i, {ARRAYS}"

# Functions that every program may call; `note` leaves a trace of the order of calls.
PRELUDE = f"""\
SCALES = (2, -1, 3)


class Pair(NamedTuple):
    x: int
    y: float

    def moved(self, k):
        return (self.x + k) % 40


def note({CONTEXT}, tag):
    log[i, 0] = (log[i, 0] * 3 + tag) % 1009
    return tag


def adder(k):
    return lambda x: (x + k) % 50


def scaler(k):
    def scale(x):
        return x * k % 70

    k = k % 9 - 4
    return scale


def last_adder(k):
    functions = [lambda x: (x - k * j) % 60 for j in (1, 2, 3)]
    return functions[0]


def ordered(a, b):
    if a > b:
        return b, a
    return a, b


def twice(f, x):
    return f(f(x) % 20)
"""


@dataclass(frozen=True)
class Program:
    """What is written into a file: `helpers` stand before the kernels, `body` in each of them."""

    numbers: Numbers
    helpers: tuple[str, ...]
    body: tuple[str, ...]
    seed: int
    constant: int
    layout: tuple[int, tuple[int, ...]]


def make_program(random: Random, size: int) -> Program:
    m = Maker(random, FORMATS[0], size, count=2)
    m.numbers = m.pick(FORMATS)
    layout = m.pick(LAYOUTS)
    constant = m.below(4)
    seed = m.below(1000)
    functions: Names = {}
    functions["note"] = FunctionOf((("tag", Kind.INT),), Kind.INT, context=CONTEXT)
    helpers = m.aside(lambda: _write_helpers(m, functions))
    m.budget = max(m.budget, 4)
    body = m.aside(lambda: _write_body(m, functions))
    return Program(m.numbers, tuple(helpers), tuple(body), seed, constant, layout)


def _write_helpers(m: Maker, functions: Names) -> None:
    for _ in range(m.below(3)):
        _write_helper(m, functions)


def _write_helper(m: Maker, functions: Names) -> None:
    name = m.fresh("helper")
    result = m.pick((Kind.INT, Kind.FLOAT, Kind.INT, Kind.BOOL))
    # without a float among its parameters a function could not make one of the right format
    kinds = [Kind.FLOAT] if result is Kind.FLOAT else [m.pick((Kind.INT, Kind.BOOL, Kind.FLOAT))]
    kinds += [m.pick((Kind.INT, Kind.BOOL)) for _ in range(m.below(2))]
    parameters = [m.fresh("p") for _ in kinds]
    context = CONTEXT if m.chance(2) else ""
    names: Names = dict(functions) | dict(zip(parameters, kinds, strict=True))
    named = ((m.fresh("k"), Kind.INT),) if m.chance(2) else ()
    names.update(dict(named))
    text = [context] if context else []
    text += parameters
    has_rest = m.chance(4)
    text += ["*rest"] if has_rest else []
    text += [f"{key}={m.below(5)}" for key, _ in named]
    place = Place(names, has_arrays=bool(context))
    before = m.budget
    with m.block(f"def {name}({', '.join(text)}):"):
        if has_rest:
            total = m.fresh("v")
            m.line(f"{total} = (sum(rest) + len(rest)) % 90")
            place.names[total] = Kind.INT
        function_body(m, place, result, 1)
    m.line("")
    m.line("")
    cost = 1 + before - m.budget
    m.budget = before - cost // 2
    own = tuple(zip(parameters, kinds, strict=True))
    functions[name] = FunctionOf(own, result, context, named, has_rest, cost)


def _write_body(m: Maker, functions: Names) -> None:
    names: Names = dict(functions)
    kept = {"u", "w", "t", "K"}
    names |= {"u": Kind.INT, "w": Kind.INT, "K": Kind.INT, "t": Kind.FLOAT}
    if m.numbers.has_plain_ints:
        kept |= {"i", "r", "c"}
        names |= {"i": Kind.INT, "r": Kind.INT, "c": Kind.INT}
    place = Place(names, frozenset(kept))
    for name, value, kind in _FIRST:
        m.line(f"{name} = {value}")
        place.names[name] = kind
    while m.budget > 0 and not place.ended:
        block(m, place, 0)
    if not place.ended:
        _write_results(m, place)


_FIRST = (
    ("v1", "xs[i, 0]", Kind.INT),
    ("v2", "rows[r, 1]", Kind.INT),
    ("f1", "fs[i, 0]", Kind.FLOAT),
    ("b1", "flags[i, 0]", Kind.BOOL),
)


def _write_results(m: Maker, place: Place) -> None:
    """The names that got their values last; each element that is written takes its time."""
    for kind, (array, width) in WRITTEN.items():
        names = place.assignable(kind)[-width // 2 :]
        for number, name in enumerate(names):
            m.line(f"{array}[i, {number}] = {name}")
