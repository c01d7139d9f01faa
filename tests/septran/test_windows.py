"""Windows of tensors that overlap: `X[s : s + n]`, halos of tiles, and sizes that are sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.flat.nodes import Copy, For, Stmt, body_of
from eas.septran.logic.loading import load_logic
from eas.septran.operators import load
from tests.septran.operators import EXAMPLES, FOLDER, skip_unless_it_runs
from tests.septran.small import codes, refusal
from tests.thorough import sampled

BLUR = """
from eas import task_lang as task


@task.define(leaf=True)
def clear(Y):
    Y[...] = 0.0


@task.define(leaf=True)
def add(Y, X, w):
    Y[...] = Y + X * w


@task.define
def blur_block(Y, X, w):
    task.launch(clear, Y)
    for s in task.sequential_range(w.shape[0]):
        task.launch(add, Y, X[:, s : s + Y.shape[1]], w[s])


@task.define(shapes="Y[M,N] X[M,N+S-1] w[S=3]")
def blur(Y, X, w):
    m, n = task.tunable("m"), task.tunable("n")
    Yp = task.partition(Y, by="blocks", tile=(m, n))
    Xp = task.partition(X, by="halo", tile=(m, n), overlap=(0, w.shape[0] - 1))
    for i, j in task.parallel_range(Yp.shape):
        task.launch(blur_block, Yp[i, j], Xp[i, j], w)
"""
MAPPING = """
machine: {machine}
entrypoint: host
task_mappings:
  host:
    task_name: blur
    proc: HOST
    tunables: {{m: 4, n: {n}}}
    calls: {{blur_block: block}}
  block: {{task_name: blur_block, proc: {proc}, mems: {mems}}}
"""
PLACES = (
    ("cpu", "BLOCK", "{Y: REGISTER, X: SHARED}"),
    ("cpu", "BLOCK", "{Y: SHARED}"),
    ("apple_gpu", "BLOCK", "{Y: REGISTER, X: SHARED}"),
    ("awesomedsa", "CORE", "{Y: ACC, X: SPM}"),
)


def blur(folder: Path, machine: str, proc: str, mems: str, n: int = 8):
    logic, mapping = folder / "blur_logic.py", folder / "blur.map.yaml"
    logic.write_text(BLUR, "utf-8")
    mapping.write_text(MAPPING.format(machine=machine, proc=proc, mems=mems, n=n), "utf-8")
    return load(logic, mapping)


def blurred(rows: int, columns: int, taps: int):
    source = np.random.default_rng(taps)
    x = source.standard_normal((rows, columns + taps - 1)).astype("f4")
    w = source.standard_normal(taps).astype("f4")
    expected = sum(x[:, s : s + columns] * w[s] for s in range(taps))
    return [np.full((rows, columns), np.nan, "f4"), x, w], expected


@sampled(3)
@pytest.mark.parametrize(("machine", "proc", "mems"), PLACES)
@pytest.mark.parametrize("sizes", [(9, 37, 3), (4, 8, 1), (1, 1, 5), (5, 17, 9)])
def test_a_halo_is_right_in_the_last_tile(
    machine: str, proc: str, mems: str, sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    arrays, expected = blurred(*sizes)
    blur(tmp_path, machine, proc, mems)(*arrays)
    assert np.allclose(arrays[0], expected, atol=1e-5)


def test_a_task_with_windows_runs_at_once(tmp_path: Path) -> None:
    operator = blur(tmp_path, *PLACES[0])
    arrays, expected = blurred(5, 19, 4)
    operator.entry(*arrays, m=4, n=8)
    assert np.allclose(arrays[0], expected, atol=1e-5)


def test_what_windows_are_cut_from_is_copied_once(tmp_path: Path) -> None:
    [kernel] = blur(tmp_path, *PLACES[0]).flat(M=8, N=64, S=5).kernels
    copies = [stmt for stmt in kernel.body if isinstance(stmt, Copy)]
    assert [copy.source.buffer for copy in copies if copy.target.buffer != "Y"] == ["X"]
    assert not any(isinstance(stmt, Copy) for stmt in inside_loops(kernel.body))


def test_conv2d_copies_a_tile_with_its_halo_once_for_all_of_its_rows() -> None:
    mapping = FOLDER / "conv2d" / "conv2d.apple_gpu.map.yaml"
    operator = load(FOLDER / "conv2d" / "conv2d_logic.py", mapping)
    [kernel] = operator.flat(N=1, P=9, Q=37, O=80, R=3, S=3, C=5).kernels
    [tiles] = [stmt for stmt in kernel.body if isinstance(stmt, For)]  # of the output channels
    outside = [stmt for stmt in tiles.body if isinstance(stmt, Copy)]
    assert [copy.source.buffer for copy in outside] == ["X"]
    assert [str(extent) for extent in outside[0].source.shape] == [
        "min(4, -4*i + 9) + 2", "min(16, -16*j + 37) + 2", "5",
    ]  # fmt: skip


def inside_loops(body: tuple[Stmt, ...]) -> list[Stmt]:
    return [each for stmt in body if isinstance(stmt, For) for each in stmt.body] + [
        each for stmt in body for each in inside_loops(body_of(stmt))
    ]


def test_a_size_that_is_a_sum_is_checked(tmp_path: Path) -> None:
    arrays = [np.zeros((4, 8), "f4"), np.zeros((4, 9), "f4"), np.zeros(3, "f4")]
    error = refusal(blur(tmp_path, *PLACES[0]), *arrays)
    assert codes(error) == ["S902"]
    assert "`N+S-1` is 9 by `X`, and 10 by the others: N=8, S=3" in str(error)


@pytest.mark.parametrize("size", ["N+Z-1", "N*2", "N+", "1+2", "N S", "N=x"])
def test_a_size_is_a_name_or_a_sum_of_names(size: str, tmp_path: Path) -> None:
    logic = tmp_path / "blur_logic.py"
    logic.write_text(BLUR.replace("N+S-1", size), "utf-8")
    mapping = tmp_path / "blur.map.yaml"
    mapping.write_text(MAPPING.format(machine="cpu", proc="BLOCK", mems="{}", n=8), "utf-8")
    arrays, _ = blurred(4, 8, 3)
    assert codes(refusal(load(logic, mapping), *arrays)) == ["S803"]


FOUR_AXES = """
from eas import task_lang as task


@task.define(leaf=True)
def leaf(Y, X):
    Y[...] = X


@task.define
def block(Y, X):
    task.launch(leaf, Y, X)


@task.define(shapes="Y[A,B,C,D,E] X[A,B,C,D,E]")
def main(Y, X):
    for a, b, c, d in task.parallel_range(Y.shape[:4]):
        task.launch(block, Y[a, b, c, {index}], X[a, b, c, d])
"""


def four_axes(folder: Path, machine: str, index: str):
    logic, mapping = folder / "four_logic.py", folder / "four.map.yaml"
    logic.write_text(FOUR_AXES.format(index=index), "utf-8")
    proc, memory = ("CORE", "SPM") if machine == "awesomedsa" else ("BLOCK", "SHARED")
    mapping.write_text(
        f"machine: {machine}\nentrypoint: main\ntask_mappings:\n"
        "  main: {task_name: main, proc: HOST, calls: {block: block}}\n"
        f"  block: {{task_name: block, proc: {proc}, mems: {{X: {memory}}}}}\n",
        "utf-8",
    )
    return load(logic, mapping)


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa"])
def test_a_fourth_parallel_axis_has_the_buffers_of_its_program(
    machine: str, tmp_path: Path
) -> None:
    x = np.arange(2 * 3 * 2 * 5 * 7, dtype="f4").reshape(2, 3, 2, 5, 7)
    y = np.full_like(x, np.nan)
    four_axes(tmp_path, machine, "d")(y, x)
    assert np.array_equal(y, x)


def test_a_race_on_a_fourth_parallel_axis_is_refused(tmp_path: Path) -> None:
    arrays = [np.zeros((2, 3, 2, 5, 7), "f4") for _ in range(2)]
    error = refusal(four_axes(tmp_path, "cpu", "0"), *arrays)
    assert set(codes(error)) == {"S302"}


def test_the_logic_of_conv2d_is_the_convolution_that_numpy_makes() -> None:
    [conv2d] = [each for each in EXAMPLES if each.name == "conv2d"]
    arrays, expected = conv2d.make((2, 5, 9, 3, 2, 4, 3), "f4")
    load_logic(conv2d.logic_file).tasks["conv2d"](*arrays, rows=2, columns=4, outputs=2)
    assert np.allclose(arrays[0], expected, atol=1e-5)


ROWS_IN_REGISTERS = """\
machine: opencl
entrypoint: host
task_mappings:
  host:
    task_name: conv2d
    proc: HOST
    tunables: {rows: 96, columns: 3, outputs: 33, channels: 48}
    calls: {conv2d_block: block}
  block: {task_name: conv2d_block, proc: BLOCK, mems: {X: REGISTER}, calls: {conv2d_row: row}}
  row: {task_name: conv2d_row, proc: BLOCK, calls: {conv2d_taps: taps}}
  taps: {task_name: conv2d_taps, proc: BLOCK, mems: {X: SHARED, W: SHARED}}
"""


def test_opencl_finds_the_row_of_a_window_in_registers(tmp_path: Path) -> None:
    """The row is `y + r`, all of which is divided by the number of work-items."""
    mapping = tmp_path / "rows.map.yaml"
    mapping.write_text(ROWS_IN_REGISTERS, "utf-8")
    [conv2d] = [each for each in EXAMPLES if each.name == "conv2d"]
    arrays, expected = conv2d.make((1, 33, 5, 3, 2, 2, 4), "f4")
    operator = load(conv2d.logic_file, mapping)
    skip_unless_it_runs(operator)
    operator(*arrays)
    assert np.allclose(arrays[0], expected, atol=1e-4)
