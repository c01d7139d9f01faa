"""Statements without control flow: NumPy does with them what the interpreter does."""

from __future__ import annotations

import numpy as np
import pytest

from eas.ir.types import DTYPES
from eas.septran.flat.interpret import run_module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.run_errors import FlatRunError
from eas.septran.flat.straight import compile_straight
from tests.septran.modules import random

MODULE = """\
module all(Y: f32 [6, 5] GLOBAL rw, X: f32 [6, 4] GLOBAL r, W: f32 [5, 4] GLOBAL r, s: f32 [6] GLOBAL rw) machine cpu {
  kernel all(Y: f32 [6, 5] GLOBAL rw, X: f32 [6, 4] GLOBAL r, W: f32 [5, 4] GLOBAL r, s: f32 [6] GLOBAL rw) grid [] threads 1 {
    alloc t: f32 [8, 4] GLOBAL slots 1 pad 0
    alloc u: f32 [6, 5] GLOBAL slots 1 pad 0
    fill s.GLOBAL[0 : 6] -inf
    copy t.GLOBAL[0 : 8, 0 : 4] <- X.GLOBAL[0 : 6, 0 : 4] fill 0.5
    mma Y.GLOBAL[0 : 6, 0 : 5] += t.GLOBAL[0 : 6, 0 : 4] @ W.GLOBAL[0 : 5, 0 : 4] trans b by gemm
    reduce s.GLOBAL[0 : 6] max= Y.GLOBAL[0 : 6, 0 : 5] axis 1
    map u.GLOBAL[0 : 6, 0 : 5] = exp(Y.GLOBAL[0 : 6, 0 : 5] - column(s.GLOBAL[0 : 6]))
    map Y.GLOBAL[0 : 6, 0 : 5] = u.GLOBAL[0 : 6, 0 : 5] * 0.25:f32
    fill s.GLOBAL[4 : 2] 7.0
  }
}
"""  # noqa: E501


@pytest.mark.parametrize("dtype", ["f32", "f16", "f64"])
def test_every_statement_does_what_the_interpreter_does(dtype: str) -> None:
    module = parse_module(MODULE.replace("f32", dtype))
    shapes = {"Y": (6, 5), "X": (6, 4), "W": (5, 4), "s": (6,)}
    expected = {name: random(dtype, *shape) for name, shape in shapes.items()}
    found = {name: array.copy() for name, array in expected.items()}
    run_module(module, list(expected.values()))
    dtypes = dict.fromkeys(shapes, DTYPES[dtype])
    compile_straight(module.kernels[0].body, dtypes)(found)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_shapes_that_do_not_fit_are_named() -> None:
    module = parse_module(MODULE.replace("W.GLOBAL[0 : 5, 0 : 4]", "W.GLOBAL[0 : 5, 0 : 3]"))
    run = compile_straight(module.kernels[0].body, dict.fromkeys("YXWs", DTYPES["f32"]))
    arrays = {"Y": random("f32", 6, 5), "X": random("f32", 6, 4), "W": random("f32", 5, 4)}
    with pytest.raises(FlatRunError, match=r"adds a product of \(6, 4\) @ \(3, 5\)"):
        run({**arrays, "s": random("f32", 6)})
