"""What is wrong with the arrays of a call has a code, and names the argument."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas.septran.files.complaints import SeptranError
from eas.septran.logic.arguments import ArgumentError
from eas.septran.operators import Operator, load
from tests.septran.operators import FOLDER
from tests.septran.small import codes, host, make, on_every_machine, refusal

ADD = """
@task.define(leaf=True)
def add(C, A, B):
    C[...] = A + B


@task.define(shapes="C[M,N] A[M,N] B[M,N]")
def main(C, A, B):
    task.launch(add, C, A, B)
"""
PRODUCT = """
@task.define(leaf=True)
def product(C, A, B):
    task.call_primitive("gemm", C, A, B)


@task.define
def main(C, A, B):
    task.launch(product, C, A, B)
"""


def zeros(*shape: int, dtype: str = "f4") -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


@pytest.fixture(params=["cpu", "apple_gpu", "awesomedsa"])
def add(request: pytest.FixtureRequest, tmp_path: Path) -> Operator:
    return make(tmp_path, ADD, host(request.param))


READ_ONLY = zeros(2, 3)
READ_ONLY.flags.writeable = False
WRONG: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "few": ("S901", "takes C, A, B: 1 argument is given", (zeros(2, 3),)),
    "many": ("S901", "takes C, A, B: 4 arguments are given", (zeros(2, 3),) * 4),
    "a list": ("S901", "not list: `A`", (zeros(2, 3), [[1.0]], zeros(2, 3))),
    "a number": ("S901", "not float: `B`", (zeros(2, 3), zeros(2, 3), 1.0)),
    "complex": ("S901", "`B` holds complex64", (zeros(2, 3), zeros(2, 3), zeros(2, 3, dtype="c8"))),
    "texts": ("S901", "`A` holds <U1", (zeros(2, 3), zeros(2, 3, dtype="U1"), zeros(2, 3))),
    "objects": ("S901", "`A` holds object", (zeros(2, 3), zeros(2, 3, dtype="O"), zeros(2, 3))),
    "other bytes": ("S901", "`A` holds >f4", (zeros(2, 3), zeros(2, 3, dtype=">f4"), zeros(2, 3))),
    "read-only": (
        "S901",
        "`C` is written, and the array is",
        (READ_ONLY, zeros(2, 3), zeros(2, 3)),
    ),
    "one axis": ("S902", "`A` has 1 axis, and `A[M, N]`", (zeros(2, 3), zeros(6), zeros(2, 3))),
    "no axis": ("S902", "`B` has 0 axes, and `B[M, N]`", (zeros(2, 3), zeros(2, 3), zeros())),
    "three axes": ("S902", "`C` has 3 axes, and", (zeros(1, 2, 3), zeros(2, 3), zeros(2, 3))),
    "columns": ("S902", "`N` is 3 by `C`, and 4 by `B`", (zeros(2, 3), zeros(2, 3), zeros(2, 4))),
    "rows": ("S902", "`M` is 2 by `C`, and 1 by `A`", (zeros(2, 3), zeros(1, 3), zeros(2, 3))),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_that_do_not_fit_are_refused_by_name(name: str, add: Operator) -> None:
    code, message, arrays = WRONG[name]
    error = refusal(add, *arrays)
    assert codes(error) == [code]
    assert message in error.diagnostics[0].message
    assert error.diagnostics[0].loc.source.line(error.diagnostics[0].loc.line).startswith("def ")


@pytest.mark.parametrize("name", WRONG)
def test_a_task_on_arrays_refuses_the_same_arguments(name: str, add: Operator) -> None:
    code, _, arrays = WRONG[name]
    if name in ("a number", "read-only"):
        pytest.skip("a task of the logic itself takes numbers, and NumPy refuses to write")
    with pytest.raises(ArgumentError) as caught:
        add.entry(*arrays)
    assert codes(caught.value) == [code]


def test_such_an_error_is_a_type_error_a_value_error_and_one_of_the_compiler(
    add: Operator,
) -> None:
    error = refusal(add, zeros(2, 3))
    assert isinstance(error, TypeError) and isinstance(error, ValueError)
    assert not isinstance(error, SeptranError)


@on_every_machine
def test_factors_of_two_dtypes_are_refused(machine: str, tmp_path: Path) -> None:
    operator = make(tmp_path, PRODUCT, host(machine))
    error = refusal(operator, zeros(4, 4), zeros(4, 4), zeros(4, 4, dtype="f2"))
    assert codes(error) == ["S804"]
    assert "the factors of a product hold f32 and f16" in str(error)


@pytest.mark.parametrize("other", ["A", "B"])
def test_an_output_that_overlaps_an_input_is_refused(other: str, add: Operator) -> None:
    memory, free = zeros(9), zeros(2, 3)
    c, shifted = memory[:6].reshape(2, 3), memory[3:].reshape(2, 3)
    error = refusal(add, c, *((shifted, free) if other == "A" else (free, shifted)))
    assert codes(error) == ["S903"]
    assert f"`C` is written, and shares memory with `{other}`" in str(error)


def test_an_output_that_is_its_own_input_is_refused(add: Operator) -> None:
    c = zeros(2, 3)
    assert codes(refusal(add, c, c, zeros(2, 3))) == ["S903"]


def test_inputs_may_share_memory(add: Operator) -> None:
    c, a = zeros(2, 3), np.ones((2, 3), "f4")
    add(c, a, a)
    assert (c == 2).all()


def test_an_output_between_the_elements_of_an_input_is_right(add: Operator) -> None:
    memory = np.arange(12, dtype="f4").reshape(2, 6)
    a = memory[:, 1::2].copy()
    add(memory[:, ::2], memory[:, 1::2], np.ones((2, 3), "f4"))
    assert (memory[:, ::2] == a + 1).all() and (memory[:, 1::2] == a).all()


def test_inputs_may_be_read_only_and_lie_anyhow(add: Operator) -> None:
    a, c = np.broadcast_to(np.float32(2), (2, 3)), np.zeros((3, 2), "f4").T
    b = np.ones((3, 2), "f4").T
    b.flags.writeable = False
    add(c, a, b)
    assert (c == 3).all()


@pytest.mark.parametrize("size", [-1, 1.5, "64", None, True])
def test_a_size_is_a_whole_number(size: Any) -> None:
    operator = load(FOLDER / "gemm" / "gemm_logic.py", FOLDER / "gemm" / "gemm.cpu.map.yaml")
    with pytest.raises(TypeError, match=f"whole number from 0 on, and K={re.escape(repr(size))}"):
        operator.flat(M=64, N=64, K=size)


@pytest.mark.parametrize("machine", ["openblas", "gemmini"])
def test_a_library_that_adds_to_f32_is_not_given_f16(machine: str) -> None:
    folder = FOLDER / "gemm"
    name = {"gemmini": "gemmini_matmul", "openblas": "openblas_sgemm"}[machine]
    operator = load(folder / "gemm_logic.py", folder / f"gemm.{machine}.map.yaml")
    a, c = np.ones((32, 32), "f4"), np.zeros((32, 32), "f2")
    with pytest.raises(eas.CompileError) as caught:
        operator.flat(c, a, a)
    said = [*(d.message for d in caught.value.diagnostics), *caught.value.diagnostics[0].notes]
    memory = {"gemmini": "ACC", "openblas": "GLOBAL"}[machine]
    assert f"`{name}` adds to f32, and this product to f16 in {memory}" in said


def test_sizes_in_a_message_have_their_names(tmp_path: Path) -> None:
    logic, mapping = tmp_path / "turned_logic.py", tmp_path / "turned.map.yaml"
    logic.write_text(
        "import task_lang as task\n\n\n"
        "@task.define(leaf=True)\ndef leaf(Y, X):\n    Y[...] = X\n\n\n"
        '@task.define(shapes="Y[M,N] X[M,N]")\ndef main(Y, X):\n'
        '    Yp = task.partition(Y, by="blocks", tile=(8, 8))\n'
        '    Xp = task.partition(X, by="blocks", tile=(8, 8))\n'
        "    for i, j in task.parallel_range(Yp.shape):\n"
        "        task.launch(leaf, Yp[i, j], Xp[j, i])\n",
        "utf-8",
    )
    mapping.write_text(
        "machine: cpu\nentrypoint: main\ntask_mappings: {main: {task_name: main, proc: BLOCK}}\n",
        "utf-8",
    )
    with pytest.raises(eas.CompileError) as caught:
        load(logic, mapping).flat(M=19, N=21)
    [diagnostic] = caught.value.diagnostics
    assert "min(8, 19 - 8*j)" in diagnostic.message
    assert diagnostic.notes[-1] == "here M=19, N=21"
