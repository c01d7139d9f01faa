"""`eas.testing`: stored Metal texts, the pytest plugin, comparisons with a reference."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.cli import main
from eas.testing import compare, stored_text
from tests.thorough import thorough

REPOSITORY = Path(__file__).parent.parent

KERNELS = """\
import eas
from eas import mk


def clamp(v):
    return mk.maximum(v, 0.0)


@eas.kernel(examples=[("*f32", "*f32", "i32", dict(BLOCK=256))])
def relu(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    w = clamp(v)
    mk.store(y, i, w, i < N)
"""

TEST = """\
from kernels import relu


def test_relu(metal_snapshot):
    metal_snapshot(relu, "*f32", "*f32", "i32", BLOCK=256)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNELS, "utf-8")
    (tmp_path / "test_kernels.py").write_text(TEST, "utf-8")
    return tmp_path


def run_pytest(project: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    loaded = [] if _is_entry_point() else ["-p", "eas.testing.plugin"]
    done = subprocess.run(
        [*command, *loaded, *options, str(project)],
        cwd=project,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "", "HOME": str(project), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def _is_entry_point() -> bool:
    from importlib.metadata import entry_points

    return any(each.value == "eas.testing.plugin" for each in entry_points(group="pytest11"))


@thorough
def test_a_text_that_is_not_stored_fails_and_names_the_option(project: Path) -> None:
    code, output = run_pytest(project)
    assert code == 1
    assert "test_relu - __metal__/relu.metal does not exist; `pytest --update-metal`" in output


@thorough
def test_two_texts_of_one_name_are_refused_also_when_they_are_written(project: Path) -> None:
    second = TEST.replace("def test_relu", "def test_small").replace("BLOCK=256", "BLOCK=64")
    (project / "test_small.py").write_text(second, "utf-8")
    code, output = run_pytest(project, "--update-metal")
    assert code == 1
    assert "relu.metal is the text of another kernel, or of other types, in this run" in output
    (project / "test_small.py").write_text(second.replace("=64", '=64, _name="small"'), "utf-8")
    assert run_pytest(project, "--update-metal")[0] == 0
    assert run_pytest(project)[0] == 0


@thorough
def test_a_stored_text_passes_also_after_lines_were_added_above_the_kernel(project: Path) -> None:
    assert run_pytest(project, "--update-metal")[0] == 0
    kernels = project / "kernels.py"
    kernels.write_text(f"# a comment\n\n{kernels.read_text('utf-8')}", "utf-8")
    assert run_pytest(project)[0] == 0


@thorough
def test_a_text_that_differs_fails_and_shows_the_lines(project: Path) -> None:
    run_pytest(project, "--update-metal")
    kernels = project / "kernels.py"
    kernels.write_text(kernels.read_text("utf-8").replace("0.0)", "0.5)"), "utf-8")
    code, output = run_pytest(project)
    assert code == 1
    removed, added = (f"{sign}    if (i < N) {{ y[i] = fmax(x[i]" for sign in "-+")
    assert removed in output
    assert added in output


def test_the_summary_of_pytest_shows_the_message_of_an_error_in_a_kernel(project: Path) -> None:
    kernels = project / "kernels.py"
    kernels.write_text(kernels.read_text("utf-8").replace("clamp(v)\n", "clmp(v)\n"), "utf-8")
    _, output = run_pytest(project)
    assert "test_relu - E0201: the name `clmp` is not defined" in output


def test_lines_are_counted_from_the_function_that_they_are_in(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text(KERNELS.replace("w = clamp(v)", "w = clamp(v) / v"))
    names: dict[str, Any] = {"__name__": "counted"}
    source = (tmp_path / "counted.py").read_text("utf-8")
    exec(compile(source, str(tmp_path / "counted.py"), "exec"), names)
    text = stored_text(names["relu"].compile("*f32", "*f32", "i32", BLOCK=256))
    comments = [line.rpartition("// ")[2] for line in text.splitlines() if " // " in line]
    assert comments
    assert {comment.partition("+")[0] for comment in comments} <= {"", "clamp"}
    assert "+1" in comments
    assert ".py:" not in text


def test_the_command_stores_texts_and_compares_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(project / "kernels.py")
    assert main(["snapshot", file]) == 1
    assert main(["snapshot", file, "--update"]) == 0
    assert main(["snapshot", file, "--check"]) == 0
    assert capsys.readouterr().out.endswith("relu.metal: the same\n")


def test_the_command_and_the_fixture_store_the_same_text(project: Path) -> None:
    main(["snapshot", str(project / "kernels.py"), "--update"])
    assert run_pytest(project)[0] == 0


@eas.kernel
def double(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N) * 2.0, i < N)


@eas.kernel
def count_badly(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, 0, mk.load(x, i, i < N) * 0.0)


def arguments(n: int) -> dict[str, Any]:
    x = np.arange(n, dtype=np.float32)
    return {"x": x, "y": np.zeros(n, np.float32), "N": n, "BLOCK": 64}


def test_a_kernel_that_is_right_everywhere_passes() -> None:
    compare(double, lambda x, **_: {"y": 2 * x}, arguments, sizes=(1, 65))


def test_a_wrong_result_is_named_with_backend_size_and_place() -> None:
    with pytest.raises(AssertionError, match="double, size 5, interpret: `y` is wrong at 3 of 5"):
        compare(double, lambda x, **_: {"y": np.minimum(2 * x, 2)}, arguments, sizes=(5,))


def test_an_array_that_the_reference_does_not_change_must_stay() -> None:
    with pytest.raises(AssertionError, match="`y` is wrong"):
        compare(double, lambda **_: {}, arguments, sizes=(5,), backends=("cpu",))


def test_not_a_number_is_equal_to_itself_and_to_nothing_else() -> None:
    def with_nan(n: int) -> dict[str, Any]:
        given = arguments(n)
        given["x"][0] = np.nan
        return given

    compare(double, lambda x, **_: {"y": 2 * x}, with_nan, sizes=(3,), backends=("cpu",))
    with pytest.raises(AssertionError, match="`y` is wrong at 1 of 3"):
        compare(
            double,
            lambda x, **_: {"y": np.nan_to_num(2 * x)},
            with_nan,
            sizes=(3,),
            backends=("cpu",),
        )


def test_a_race_is_found_although_the_result_is_right() -> None:
    with pytest.raises(eas.KernelError):
        compare(
            count_badly,
            lambda **_: {},
            arguments,
            sizes=(64,),
            backends=("cpu", "msl-host"),
        )
