"""Which function of a vendor's library computes a statement of a leaf."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from eas.septran.files.machine import load_machine
from eas.septran.operators import Operator, load
from tests.septran.small import HEAD, codes, refusal

LOGIC = """\
@task.define(leaf=True)
def leaf(Y, X, m):
    {statement}


@task.define
def block(Y, X):
    m = task.local("m", (X.shape[0],), dtype=X.dtype)
    task.launch(first, m)
    task.launch(leaf, Y, X, m)


@task.define(leaf=True)
def first(m):
    m[...] = 2.0


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(block, Y, X)
"""
MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, calls: {{block: block}}}}
  block: {{task_name: block, proc: CORE, mems: {{Y: {y}, X: SPM}}, locals: {{m: SPM}}}}
"""
CALLS = {
    "row_max": 'Y[...] = X\n    task.call_primitive("row_max", m, X)\n    Y[...] = Y - m[:, None]',
    "row_sum": 'Y[...] = X\n    task.call_primitive("row_sum", m, X)\n    Y[...] = Y - m[:, None]',
    "scale_rows": 'Y[...] = -X\n    task.call_primitive("scale_rows", Y, m)',
    "dma_copy": 'task.call_primitive("copy", Y, X)',
    "add": 'task.call_primitive("add", Y, X, X)',
    "mul": 'task.call_primitive("mul", Y, X, X)',
    "exp": 'task.call_primitive("exp", Y, X)',
    "gelu": 'task.call_primitive("gelu", Y, X)',
    "fill": 'task.call_primitive("fill", Y, 3.0)\n    Y[...] = Y + X * m[:, None]',
}


def make(folder: Path, statement: str, machine: str = "awesomedsa", y: str = "SPM") -> Operator:
    logic, mapping = folder / "small_logic.py", folder / "small.map.yaml"
    logic.write_text(HEAD + LOGIC.format(statement=statement), "utf-8")
    mapping.write_text(MAPPING.format(machine=machine, y=y), "utf-8")
    return load(logic, mapping)


def loops_of(text: str) -> str:
    """The comments of statements that are loops of C."""
    return "\n".join(re.findall(r"/\* (.*?) \*/\n *for ", text))


@pytest.mark.parametrize("name", CALLS)
def test_a_standard_primitive_is_a_call(name: str, tmp_path: Path) -> None:
    """Also those with one number for each row, which a leaf has as a tensor of one axis."""
    operator = make(tmp_path, CALLS[name])
    text = operator.emit("c", M=5, N=7)
    assert len(re.findall(rf"vendor_lib_{name}\(", text)) == {"dma_copy": 3, "fill": 2}.get(name, 1)
    assert f"task.call_primitive('{name}'" not in loops_of(text)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_its_result_is_that_of_the_tasks(name: str, tmp_path: Path) -> None:
    operator = make(tmp_path, CALLS[name])
    x = np.random.default_rng(0).standard_normal((5, 7)).astype("f4")
    y, expected = np.zeros_like(x), np.zeros_like(x)
    operator(y, x)
    operator.logic.tasks["main"](expected, x)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def own_machine(folder: Path, primitives: str, symbols: str) -> None:
    """AwesomeDSA with other primitives, beside the mapping."""
    source = Path(load_machine("awesomedsa").path)
    text = source.read_text("utf-8").replace("name: awesomedsa", "name: mine")
    text = re.sub(r"(?m)^  exp: .*\n", primitives, text)
    text = text.replace("symbols:\n", f"symbols:\n{symbols}")
    (folder / "mine.machine.yaml").write_text(text, "utf-8")
    shutil.copytree(source.parent / "native", folder / "native")


def test_the_first_function_that_takes_the_operands_is_called(tmp_path: Path) -> None:
    """By dtype, and by where each operand lies."""
    primitives = (
        "  exp:\n"
        "    - {name: half, symbol: mine.half, dtypes: [f16]}\n"
        "    - {name: there, symbol: mine.there, dtypes: [f32], mems: {D: [ACC], A: [SPM]}}\n"
        "    - {name: back, symbol: mine.back, dtypes: [f32], mems: {D: [SPM]}}\n"
    )
    symbols = "  mine.half: exp_half\n  mine.there: exp_there\n  mine.back: exp_back\n"
    own_machine(tmp_path, primitives, symbols)

    def called(y: str, dtype: str) -> list[str]:
        text = make(tmp_path, CALLS["exp"], "mine", y).emit("c", M=5, N=7, dtype=dtype)
        return re.findall(r"exp_\w+", text)

    assert called("SPM", "f16") == ["exp_half"]
    assert called("ACC", "f32") == ["exp_there"]
    assert called("SPM", "f32") == ["exp_back"]
    assert called("SPM", "f64") == []


def test_a_product_runs_on_the_levels_that_its_file_names(tmp_path: Path) -> None:
    own_machine(tmp_path, "", "")
    machine = tmp_path / "mine.machine.yaml"
    text = machine.read_text("utf-8")
    for name in ("gemm_leaf_mma", "gemm_leaf_systolic"):
        text = text.replace(f"name: {name}, ", f"name: {name}, procs: [HOST], ")
    machine.write_text(text, "utf-8")
    operator = make(tmp_path, "Y[...] = 0.0\n    Y[...] += X @ X", "mine")
    error = refusal(operator, N=8)
    assert codes(error) == ["S501"]
    assert "`gemm_leaf_mma` runs on HOST, and this product on CORE" in str(error)
