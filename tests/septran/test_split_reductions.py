"""`reduce={"C": "add"}`: iterations add to partial sums of their own, and these are added up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import For, ParallelFor, walk
from eas.septran.flat.verify import find_violations
from eas.septran.logic.loading import load_logic
from tests.septran.small import GRID, HEAD, codes, make, on_every_machine, refusal
from tests.thorough import sampled, thorough

LEAVES = """
@task.define(leaf=True)
def zero(C):
    C[...] = 0.0


@task.define(leaf=True)
def product(C, A, B):
    task.call_primitive("gemm", C, A, B)


@task.define
def block(C, A, B):
    Ap = task.partition(A, by="blocks", tile=(A.shape[0], 8))
    Bp = task.partition(B, by="blocks", tile=(8, B.shape[1]))
    for p in task.sequential_range(Ap.shape[1]):
        task.launch(product, C, Ap[0, p], Bp[p, 0])

"""
ALL_TILES = """
@task.define
def main(C, A, B):
    parts = task.tunable("parts")
    Cp = task.partition(C, by="blocks", tile=(16, 16))
    Ap = task.partition(A, by="blocks", tile=(16, task.cdiv(A.shape[1], parts)))
    Bp = task.partition(B, by="blocks", tile=(task.cdiv(A.shape[1], parts), 16))
    for i, j in task.parallel_range(Cp.shape):
        task.launch(zero, Cp[i, j])
    for i, j in task.parallel_range(Cp.shape):
        for s in task.parallel_range(Ap.shape[1], reduce={"C": "add"}):
            task.launch(block, Cp[i, j], Ap[i, s], Bp[s, j])
"""
MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, tunables: {{parts: {parts}}}, calls: {{block: block}}}}
  block: {{task_name: block, proc: {proc}, mems: {mems}{rest}}}
"""
MEMS = {
    "cpu": "{C: REGISTER, A: SHARED, B: SHARED}",
    "apple_gpu": "{C: REGISTER, A: SHARED, B: SHARED}",
    "awesomedsa": "{C: ACC, A: SPM, B: SPM}",
}


def mapping(machine: str, parts: int, rest: str = "") -> str:
    return MAPPING.format(
        machine=machine, parts=parts, proc=GRID[machine], mems=MEMS[machine], rest=rest
    )


def case(dtype: str = "f4") -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    source = np.random.default_rng(0)
    a, b = source.standard_normal((37, 67)), source.standard_normal((67, 29))
    return [np.full((37, 29), np.nan, dtype), a.astype(dtype), b.astype(dtype)]


@sampled(5)
@on_every_machine
@pytest.mark.parametrize("parts", [5, pytest.param(1, marks=thorough), 2])
@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 2e-5), ("f2", 2e-2)])
def test_split_k_is_the_product(
    machine: str, parts: int, dtype: str, tolerance: float, tmp_path: Path
) -> None:
    c, a, b = case(dtype)
    operator = make(tmp_path, LEAVES + ALL_TILES, mapping(machine, parts))
    operator(c, a, b)
    expected = a.astype("f8") @ b.astype("f8")
    assert np.abs(c - expected).max() <= tolerance * (1 + np.abs(expected).max())


def test_the_parts_are_points_of_the_grid_and_their_sums_are_added_after(tmp_path: Path) -> None:
    module = make(tmp_path, LEAVES + ALL_TILES, mapping("cpu", 4)).flat(M=32, N=48, K=64)
    assert [temp.name for temp in module.temps] == ["C_partials"]
    assert [tuple(extent.value for extent in temp.shape) for temp in module.temps] == [(4, 32, 48)]
    grids = [[extent.value for _, extent in kernel.grid] for kernel in module.kernels]
    assert grids == [[2, 3], [4, 1, 1], [2, 3, 4], [1, 1]]


def test_the_flat_module_is_legal_and_means_the_same(tmp_path: Path) -> None:
    arrays = case()
    lowered = make(tmp_path, LEAVES + ALL_TILES, mapping("cpu", 4)).build_flat(*arrays)
    assert find_violations(lowered.module, lowered.machine) == []
    run_module(lowered.module, arrays, machine=lowered.machine)
    assert np.abs(arrays[0] - arrays[1] @ arrays[2]).max() < 1e-3


def test_every_statement_of_a_split_reduction_has_a_reason_and_both_places(tmp_path: Path) -> None:
    module = make(tmp_path, LEAVES + ALL_TILES, mapping("cpu", 4)).flat(M=32, N=48, K=64)
    for stmt in (stmt for kernel in module.kernels for stmt in walk(kernel.body)):
        assert stmt.origin.because and stmt.origin.yaml and stmt.origin.python


@on_every_machine
def test_the_bits_do_not_depend_on_the_order_of_the_iterations(
    machine: str, tmp_path: Path
) -> None:
    """Three machines add the same products to the same partial sums, in the same order."""
    c, a, b = case()
    a, b = np.round(a * 4), np.round(b * 4)  # sums of small integers are exact
    make(tmp_path, LEAVES + ALL_TILES, mapping(machine, 5))(c, a, b)
    assert np.array_equal(c, a @ b)


WHOLE = """
@task.define
def main(C, A, B):
    parts = task.tunable("parts")
    Ap = task.partition(A, by="split", axis=1, parts=parts)
    Bp = task.partition(B, by="split", axis=0, parts=parts)
    for s in task.parallel_range(Ap.shape[1], reduce={"C": "add"}):
        task.launch(block, C, Ap[0, s], Bp[s, 0])
"""


@on_every_machine
def test_a_reduction_adds_to_what_was_there(machine: str, tmp_path: Path) -> None:
    c, a, b = case()
    c[...] = 3
    make(tmp_path, LEAVES + WHOLE, mapping(machine, 3))(c, a, b)
    assert np.abs(c - 3 - a @ b).max() < 1e-3


def test_a_task_on_arrays_reduces_in_order(tmp_path: Path) -> None:
    file = tmp_path / "eager_logic.py"
    file.write_text(HEAD + LEAVES + WHOLE)
    c, a, b = case()
    c[...] = 3
    load_logic(file).tasks["main"](c, a, b, parts=3)
    assert np.abs(c - 3 - a @ b).max() < 1e-3


IN_A_BLOCK = (
    WHOLE.replace("def main(C, A, B)", "def split(C, A, B)")
    + """

@task.define
def main(C, A, B):
    task.launch(zero, C)
    for once in task.sequential_range(1):
        task.launch(split, C, A, B)
"""
)


@on_every_machine
def test_a_reduction_inside_of_a_sequential_loop_runs_in_order(
    machine: str, tmp_path: Path
) -> None:
    text = mapping(machine, 3).replace("{block: block}", "{split: split}")
    text += f"  split: {{task_name: split, proc: {GRID[machine]}, calls: {{block: block}}}}\n"
    c, a, b = case()
    operator = make(tmp_path, LEAVES + IN_A_BLOCK, text)
    operator(c, a, b)
    assert np.abs(c - a @ b).max() < 1e-3
    kernels = operator.flat(*case()).kernels
    assert not any(isinstance(s, ParallelFor) for kernel in kernels for s in walk(kernel.body))


def test_a_reducing_loop_with_a_pipeline_runs_in_order(tmp_path: Path) -> None:
    logic = LEAVES + WHOLE.replace("launch(block", "launch(product")
    text = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, tunables: {parts: 4}, pipeline: 2, calls: {product: leaf}}
  leaf: {task_name: product, proc: BLOCK, mems: {A: SHARED, B: SHARED}}
"""
    c, a, b = case()
    c[...] = 0
    operator = make(tmp_path, logic, text)
    operator(c, a, b)
    assert np.abs(c - a @ b).max() < 1e-3
    [kernel] = operator.flat(*case()).kernels
    assert [s.pipelined for s in walk(kernel.body) if isinstance(s, For)] == [2]


@pytest.mark.parametrize(
    "body",
    [
        "task.launch(zero, C)\n        task.launch(product, C, Ap[0, s], Bp[s, 0])",
        "task.launch(zero, C)",
    ],
)
def test_iterations_that_do_not_only_add_are_refused(body: str, tmp_path: Path) -> None:
    logic = LEAVES + WHOLE.replace("task.launch(block, C, Ap[0, s], Bp[s, 0])", body)
    text = mapping("cpu", 3).replace(", calls: {block: block}", "")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("  block:"))
    error = refusal(make(tmp_path, logic, text), *case())
    assert codes(error) == ["S302"]
    assert "`C` is reduced, and this does not only add to it" in str(error)


BATCHED = """
@task.define(leaf=True)
def add(C, A):
    C[...] += A


@task.define(shapes="C[H,M,N] A[K,H,M,N]")
def main(C, A):
    for h in task.parallel_range(C.shape[0]):
        Cp = task.partition(C[h], by="blocks", tile=(8, 8))
        for i, j in task.parallel_range(Cp.shape):
            for s in task.parallel_range(A.shape[0], reduce={"C": "add"}):
                Ap = task.partition(A[s, h], by="blocks", tile=(8, 8))
                task.launch(add, Cp[i, j], Ap[i, j])
"""


@on_every_machine
def test_a_grid_of_four_axes_can_be_reduced(machine: str, tmp_path: Path) -> None:
    source = np.random.default_rng(0)
    c, a = source.integers(0, 9, (2, 13, 11)), source.integers(0, 9, (5, 2, 13, 11))
    found = c.astype("i4")
    make(
        tmp_path,
        BATCHED,
        f"""\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST}}
""",
    )(found, a.astype("i4"))
    assert np.array_equal(found, c + a.sum(0))


THREADS = """
@task.define(leaf=True)
def add(Y, X):
    Y[...] = Y + X


@task.define
def block(Y, X):
    task.launch(add, Y, X)


@task.define(shapes="Y[M,N] X[K,M,N]")
def main(Y, X):
    for s in task.parallel_range(X.shape[0], reduce={"Y": "add"}):
        task.launch(block, Y, X[s])
"""


def test_partial_sums_are_added_to_by_the_threads_that_the_mapping_asks_for(tmp_path: Path) -> None:
    mapping = (
        "machine: apple_gpu\nentrypoint: host\ntask_mappings:\n"
        "  host: {task_name: main, proc: HOST, calls: {block: block}}\n"
        "  block: {task_name: block, proc: BLOCK, threads: 64}\n"
    )
    kernels = make(tmp_path, THREADS, mapping).flat(M=4, N=5, K=3).kernels
    assert [kernel.threads for kernel in kernels] == [128, 64, 128]
