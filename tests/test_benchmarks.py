"""The benchmarks run as they are, without the peers, and their tables say what was missed."""

from __future__ import annotations

import subprocess
import sys
import time
from types import ModuleType

import pytest

from benchmarks import checks, launch_cost, septran
from benchmarks.aims import AtLeast, Under, duration
from benchmarks.measuring import prepare, rest, runs_of
from benchmarks.peers import with_numpy
from benchmarks.tables import markdown_of, missed
from benchmarks.works import WORKS
from tests.processes import PATIENCE
from tests.thorough import sampled, thorough

SCALE = 0.01


@sampled(3)
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


def test_a_sample_waits_for_threads_that_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"now": 0.0, "used": 0.0, "spinning": 0.1}

    def sleep(seconds: float) -> None:
        spun = min(seconds, clock["spinning"])
        clock["now"] += seconds
        clock["used"] += spun
        clock["spinning"] -= spun

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: clock["now"])
    monkeypatch.setattr(time, "process_time", lambda: clock["used"])
    rest()
    assert clock["spinning"] == 0
    clock["spinning"] = float("inf")
    rest()
    assert clock["now"] < 2


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


def test_operators_of_septran_are_compared_with_our_kernels() -> None:
    contests = [
        septran.prepare_contest(make(SCALE), {"numpy": with_numpy})
        for make in (septran.gemm, septran.attention)
    ]
    for contest in contests:
        contest.run_round()
    assert [list(contest.medians) for contest in contests] == [
        ["eas", "kernel", "numpy"],
        ["eas", "kernel"],
    ]
    assert all(ratio > 0 for contest in contests for _, ratio, _ in contest.ratios())


def test_the_ratios_of_septran_are_those_of_medians() -> None:
    line = septran.Line(WORKS["matmul"](SCALE), lambda: None, {"kernel": 0.97, "numpy": 0.9})
    seconds = {"eas": [2.0, 1.0, 9.0], "kernel": [1.0, 1.9, 2.0], "torch": [4.0]}
    contest = septran.Contest(line, {}, {}, seconds)
    assert list(contest.ratios()) == [("kernel", 0.95, 0.97), ("torch", 2.0, None)]
    assert septran.judged("our kernel", 0.95, 0.97) == (
        "[bold red]our kernel ≥ 0.97: 0.95 missed[/]"
    )


@thorough
def test_what_a_user_of_septran_waits_for_is_measured() -> None:
    waits = septran.measure_waits(1)
    assert [limit for _, _, limit in waits] == [None, 0.05, 0.2, 0.8]
    assert all(0 < seconds < PATIENCE for _, seconds, _ in waits)


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


@thorough
def test_the_cost_of_launches_is_measured_with_every_kind_of_array() -> None:
    best, missing = launch_cost.measure(1, counts=(2, 32))
    ours = [line for line in best if line.startswith("eas, NumPy") or "Tensor" in line]
    assert ours == [
        f"eas, {kind}, {how}"
        for kind in ("NumPy", "eas.Tensor")
        for how in ("synchronous", "asynchronous", "replayed")
    ]
    assert all(0 < seconds < 1 for times in best.values() for seconds in times.values())
    assert all(name in best or name in missing for name in launch_cost.PEERS)
    assert len(launch_cost.table_of(best, (2, 32)).splitlines()) == len(best) + 2


def test_a_replayed_launch_that_costs_more_than_torch_is_named() -> None:
    best = {"eas, NumPy, replayed": {2: 2e-6, 8: 1e-7}, "torch": {2: 1e-6, 8: 1e-6}}
    message = "eas, NumPy, replayed, 2 arrays: 2.00 µs, torch 1.00 µs"
    assert launch_cost.missed_aims(best) == [message]
