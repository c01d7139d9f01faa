"""Optuna as a search method."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eas.septran.cli import main, tuning_options
from eas.septran.tuner import optuna_proposer
from eas.septran.tuner.methods import METHODS, method_of
from eas.septran.tuner.prediction import Facts, Tried
from eas.septran.tuner.space import Point
from eas.septran.tuner.store import Stored
from eas.septran.tuner.sweeps import Sweep, best_so_far, replayed, sweep_of
from eas.support.command_line import UsageError
from eas.tuning.outcomes import Outcome
from tests.septran.tuner.problems import LOGIC, MAPPING


@pytest.fixture
def bowl() -> Sweep:
    """256 candidates in three keys, one of them without an order; the corner is missing."""

    def stored(x: int, y: int, kind: str) -> Stored:
        seconds = 1.0 + (x - 5) ** 2 + (y - 2) ** 2 + (kind != "b")
        values = {"x": x, "y": y, "kind": kind}
        return Stored(0, values, Outcome("ok", samples=(seconds,)), seconds, Facts(1.0, [0.0]))

    trials = [stored(x, y, k) for x in range(8) for y in range(8) for k in "abcd" if x + y > 2]
    return sweep_of(("x", "y", "kind"), trials)


def test_optuna_finds_a_minimum_among_legal_points(bowl: Sweep) -> None:
    history = replayed(bowl, METHODS["optuna"], 0, 60)
    points = [each.point for each in history]
    assert len(set(points)) == 60
    assert all(point in bowl.seconds for point in points)
    assert best_so_far(history)[-1] <= 3.0


def test_what_optuna_proposes_is_a_function_of_what_was_tried(bowl: Sweep) -> None:
    first, again = (replayed(bowl, METHODS["optuna"], 3, 20) for _ in range(2))
    assert first == again


def test_optuna_goes_on_when_everything_failed(bowl: Sweep) -> None:
    history = [Tried(point, float("inf")) for point in list(bowl.seconds)[:15]]
    proposed = METHODS["optuna"](bowl.space, history, bowl.model(), np.random.default_rng(0))
    assert proposed in bowl.seconds
    assert proposed not in {each.point for each in history}


def test_optuna_ends_when_nothing_is_left(bowl: Sweep) -> None:
    history = [Tried(point, seconds) for point, seconds in bowl.seconds.items()]
    left: list[Point] = [history.pop().point]
    model, random = bowl.model(), np.random.default_rng(0)
    assert METHODS["optuna"](bowl.space, history, model, random) == left[0]
    history.append(Tried(left[0], 1.0))
    assert METHODS["optuna"](bowl.space, history, model, random) is None


def test_the_command_line_lists_all_methods() -> None:
    assert tuple(METHODS) == tuning_options.METHODS


def test_optuna_is_not_imported_unless_it_is_chosen() -> None:
    script = "import sys, eas.septran.cli.tuning; print('optuna' in sys.modules)"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b"False\n"


def test_a_missing_optuna_is_named_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not installed
    optuna_proposer.load_optuna.cache_clear()
    (tmp_path / "gemm.map.yaml").write_text(MAPPING, "utf-8")
    monkeypatch.chdir(tmp_path)
    code = main(("tune", str(LOGIC), "gemm.map.yaml", "--method", "optuna"))
    assert code == 2
    assert "the method `optuna` needs Optuna: pip install optuna" in capsys.readouterr().err
    assert not (tmp_path / "tune.sqlite").exists()


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UsageError, match="there is no method `tpe`: evolution, annealing"):
        method_of("tpe")
