"""The benchmarks run as they are, without the peers, and their tables say what was missed."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from benchmarks import checks
from benchmarks.aims import AtLeast, Under, duration
from benchmarks.measuring import prepare, runs_of
from benchmarks.peers import with_numpy
from benchmarks.tables import markdown_of, missed
from benchmarks.works import WORKS
from tests.processes import PATIENCE

SCALE = 0.01


@pytest.mark.parametrize("name", list(WORKS))
def test_a_work_computes_what_numpy_does(name: str) -> None:
    work = WORKS[name](SCALE)
    contest = prepare(work, runs_of(work, {"numpy": with_numpy}), rounds=1)
    contest.run_round()
    assert ("numpy" in contest.best) == hasattr(with_numpy, work.function)
    assert all(0 < seconds < float("inf") for seconds in contest.best.values())


def test_a_peer_that_computes_something_else_is_refused() -> None:
    wrong = ModuleType("wrong")
    vars(wrong)["softmax"] = lambda x, y: y.fill(0.5)  # pyright: ignore
    work = WORKS["softmax"](SCALE)
    with pytest.raises(SystemExit, match=r"wrong computes another softmax, 40x1024: off by"):
        prepare(work, runs_of(work, {"wrong": wrong}), rounds=1)


def test_an_aim_is_measured_by_the_fastest_of_its_peers() -> None:
    aim = AtLeast(2.0, ("numba", "warp", "taichi"))
    assert aim.judge({"eas": 1.0, "numba": 3.0, "warp": 2.5}) == ("warp ≥ 2: 2.50", True)
    assert aim.judge({"eas": 1.0, "numba": 1.5}) == ("numba ≥ 2: 1.50", False)
    assert aim.judge({"eas": 1.0, "torch": 1.5}) is None


def test_the_table_marks_what_was_missed() -> None:
    results = {"add": {"eas": 2e-3, "numpy": 1e-3}, "launch": {"eas": 3e-6}}
    aims = {"add": (AtLeast(1.0, ("numpy",)),), "launch": (Under(5e-6),)}
    assert missed(results, aims) == ["add: NumPy ≥ 1: 0.50"]
    assert markdown_of(results, aims).splitlines() == [
        "| work | eas | NumPy | best kernel language / eas | aims |",
        "|---|---|---|---|---|",
        "| add | 2 ms | 1 ms |  | **NumPy ≥ 1: 0.50, missed** |",
        "| launch | 3 µs |  |  | < 5 µs |",
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 µs")]
)
def test_a_duration_has_the_unit_that_suits_it(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_one_command_prints_a_table_and_names_the_peers_that_are_missing() -> None:
    command = [sys.executable, "-m", "benchmarks.run", "--only", "gelu", "--rounds", "1"]
    done = subprocess.run(
        [*command, "--scale", "0.01"], check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "gelu, 40x1024" in done.stdout
    assert "Triton's interpreter is missing: no --triton-python was given" in done.stdout


@pytest.mark.parametrize("name", ["gelu", "histogram", "prefix_sum"])
def test_checks_do_not_change_what_a_work_computes(name: str) -> None:
    pair = checks.prepare(WORKS[name](SCALE))
    pair.run_both(checked_first=True)
    assert pair.ratio > 0


def test_the_table_of_checks_marks_what_costs_too_much() -> None:
    best = {"add": (1.05e-3, 1e-3), "blur": (1.2e-3, 1e-3)}
    assert checks.markdown_of(best).splitlines() == [
        "| work | checked | unchecked | ratio |",
        "|---|---|---|---|",
        "| add | 1.05 ms | 1 ms | 1.050 |",
        "| blur | 1.2 ms | 1 ms | 1.200, missed |",
        "| geometric mean |  |  | 1.122, missed |",
        "| largest |  |  | 1.200, missed |",
    ]
