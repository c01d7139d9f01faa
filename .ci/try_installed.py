"""Tries an installed easy_as: a kernel from a file, and that nothing but `eas` was installed."""

import importlib.util
from pathlib import Path

import numpy as np

import eas
from eas import mk


@eas.kernel
def twice(x, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, offs, 2.0 * mk.load(x, offs, offs < N), offs < N)


for backend in ("interpret", "msl-host"):
    x = np.arange(10, dtype=np.float32)
    twice(x, 10, BLOCK=4, _backend=backend)
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18], backend
assert "kernel void twice(" in twice.to_msl("*f32", "i32", BLOCK=4)

assert "site-packages" in Path(eas.__file__).parts
for name in ("frontend_ast", "ir", "msl", "runtime", "tests", "examples", "benchmarks", "docs"):
    assert importlib.util.find_spec(name) is None, f"`{name}` was installed"
print("imports, compiles, runs")
