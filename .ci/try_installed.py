"""Tries an installed easy_as: a kernel from a file, and that nothing but `eas` was installed."""

import importlib.util
import sys
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
stages = ("frontend_ast", "ir", "llvm", "msl", "runtime", "septran", "support")
for name in (*stages, "tests", "examples", "benchmarks", "docs"):
    assert importlib.util.find_spec(name) is None, f"`{name}` was installed"
assert "eas.septran" not in sys.modules
from eas.septran.files import load_machine, shipped_machines  # noqa: E402

for name in shipped_machines():
    machine = load_machine(name)
    for file in (*machine.library.headers, *machine.library.sources):
        assert (Path(machine.path).parent / file).is_file(), f"`{file}` was not installed"
import task_lang as task  # noqa: E402


@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


y = np.zeros((2, 3), np.float32)
double(y, np.ones_like(y))
assert y.tolist() == [[2.0] * 3] * 2
print("imports, compiles, runs")
