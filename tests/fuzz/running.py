"""Writes a program as a file and runs it: as plain Python, as scalar programs, lane by lane."""

from __future__ import annotations

import linecache
import math
from typing import Any

from tests.fuzz.program import ARRAYS, PRELUDE, Program

_PARAMETERS = f"{ARRAYS}, rows, u, w, t"

_HEAD = """\
import sys
from typing import NamedTuple

import numpy as np

import eas
from eas import mk

"""

# `Grid` is an array for CPython: its elements are Python's own numbers.
_TAIL = """\


class Grid:
    def __init__(self, array):
        self.array, self.kind = array, {{"i": int, "f": float, "b": bool}}[array.dtype.kind]

    def __getitem__(self, index):
        return self.kind(self.array[index])

    def __setitem__(self, index, value):
        self.array[index] = value
        assert self.array[index] == value, "the array cannot hold this value"


def inputs():
    random = np.random.default_rng({seed})
    return {{
        "xs": random.integers(-20, 20, (8, 3)).astype("{ints}"),
        "fs": (random.integers(-64, 64, (8, 3)) / 8).astype("{floats}"),
        "ints": random.integers(-9, 9, (8, 6)).astype("{ints}"),
        "floats": (random.integers(-32, 32, (8, 4)) / 4).astype("{floats}"),
        "flags": random.integers(0, 2, (8, 3)).astype(bool),
        "table": random.integers(-9, 30, 5).astype("{ints}"),
        "log": np.zeros((8, 1), "{ints}"),
        "rows": random.integers(-5, 15, (4, 2)).astype("{ints}"),
        "u": np.dtype("{ints}").type(random.integers(-3, 6)),
        "w": np.dtype("{ints}").type(random.integers(0, 12)),
        "t": np.dtype("{floats}").type(random.integers(-8, 8) / 4),
        "K": {constant},
    }}


def run_in_cpython():
    values = inputs()
    wrapped = {{k: Grid(v) if isinstance(v, np.ndarray) else getattr(v, "item", lambda v=v: v)()
               for k, v in values.items()}}
    for i in range(8):
        in_cpython(i, i // 2, i % 2, **wrapped)
    return values


def run_with_scalars():
    values = inputs()
    with_scalars[8](**values)
    return values


def run_with_lanes():
    values = inputs()
    with_lanes[{programs}](**values)
    return values


def check():
    expected = run_in_cpython()
    for run in (run_with_scalars, run_with_lanes):
        result = run()
        for name in ("ints", "floats", "flags", "log"):
            a, b = expected[name], result[name]
            if a.tobytes() != b.tobytes():
                raise AssertionError(f"{{run.__name__}}: {{name}} is\\n{{b}}\\nand not\\n{{a}}")


if __name__ == "__main__":
    check()
"""


def write_file(program: Program) -> str:
    """The program as a file of its own, which checks itself when it is run."""
    head = _HEAD + "\n" + PRELUDE + "\n\n" + "\n".join(program.helpers)
    lanes, programs = _lane_indices(program)
    kernels = [
        _function("in_cpython", f"i, r, c, {_PARAMETERS}, K", [], program),
        "@eas.kernel\n" + _function("with_scalars", _KERNEL_PARAMETERS, _SCALAR_INDICES, program),
        "@eas.kernel\n" + _function("with_lanes", _KERNEL_PARAMETERS, lanes, program),
    ]
    numpy_names = {"i16": "int16", "i32": "int32", "i64": "int64", "f32": "float32"}
    tail = _TAIL.format(
        seed=program.seed,
        ints=numpy_names[program.numbers.ints],
        floats=numpy_names.get(program.numbers.floats, "float64"),
        constant=program.constant,
        programs=programs,
    )
    return head + "\n\n\n".join(kernels) + "\n" + tail


_KERNEL_PARAMETERS = f"{_PARAMETERS}, K: eas.constexpr"
_SCALAR_INDICES = ["i = mk.program_id(0)", "r, c = i // 2, i % 2"]


def _lane_indices(program: Program) -> tuple[list[str], int]:
    programs, shape = program.layout
    if len(shape) == 1:
        start = f"mk.program_id(0) * {shape[0]} + mk.arange(0, {shape[0]})"
        return [f"i = {start}", "r, c = i // 2, i % 2"], programs
    size, columns = math.prod(shape), shape[1]
    return [
        f"i = mk.program_id(0) * {size} + mk.reshape(mk.arange(0, {size}), {shape})",
        f"r, c = i // {columns}, i % {columns}",
    ], programs


def _function(name: str, parameters: str, start: list[str], program: Program) -> str:
    lines = [f"def {name}({parameters}):", *(f"    {line}" for line in (*start, *program.body))]
    return "\n".join(lines)


def load(text: str) -> dict[str, Any]:
    """Runs a file's text as a module, with its source where `inspect` looks for it."""
    linecache.cache[_PATH] = (len(text), None, text.splitlines(keepends=True), _PATH)
    module: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, _PATH, "exec"), module)
    return module


# One name for all programs: what is kept under it is replaced, and does not pile up.
_PATH = "<program>"
