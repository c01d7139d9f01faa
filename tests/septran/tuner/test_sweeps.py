"""Sweeps: how they are recorded, read and searched."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from eas.septran.tuner.measure import close_children
from eas.septran.tuner.methods import METHODS
from eas.septran.tuner.problem import Problem
from eas.septran.tuner.sweep_files import Recorded, read_sweep, write_sweep
from eas.septran.tuner.sweep_recording import Recorder
from eas.septran.tuner.sweeps import Sweep, fit_sweeps, median_regrets, recorded_sweep
from eas.support.command_line import UsageError
from eas.support.records import replace
from eas.tuning.isolation import Limits
from tests.septran.tuner.problems import problem
from tests.thorough import thorough

__all__ = ["problem"]

STORED = Path(__file__).parents[3] / "benchmarks/sweeps"
NAMES = ("gemm.cpu", "gemm.openblas", "gemm.awesomedsa")
LIMITS = Limits(seconds=120.0)


@pytest.fixture(autouse=True)
def children() -> Iterator[None]:
    yield
    close_children()


def recorded(problem: Problem, path: Path, rounds: int, seconds: float = 60.0) -> Recorded:
    recorder = Recorder(problem, path, points=3, limits=LIMITS)
    return recorder.run(rounds, seconds)


def test_candidates_are_checked_then_timed_and_what_was_done_is_kept(
    problem: Problem, tmp_path: Path
) -> None:
    path = tmp_path / "x.sweep.gz"
    assert all(row.outcome is None for row in recorded(problem, path, 2, seconds=-1.0).rows)
    checked = recorded(problem, path, 0)
    assert [row.outcome and row.outcome.samples for row in checked.rows] == [()] * 3
    recorded(problem, path, 2)
    timed = read_sweep(path)
    assert [row.values for row in timed.rows] == [row.values for row in checked.rows]
    assert all(row.outcome and len(row.outcome.samples) == 2 for row in timed.rows)
    sweep = recorded_sweep(timed)
    assert len(sweep.seconds) == 3
    assert median_regrets(sweep, METHODS["random"], [0], 3)[-1] == 0


def test_a_sweep_of_something_else_is_not_added_to(problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "x.sweep.gz"
    recorded(problem, path, 0, seconds=-1.0)
    other = replace(problem, shapes=((32, 32),) * 3)
    with pytest.raises(UsageError, match="is a sweep of something else"):
        recorded(other, path, 0)


@pytest.mark.parametrize(
    "content",
    [b"", b"text", gzip.compress(b"text"), gzip.compress(b'{"format": 1}\n')[:-3]],
    ids=["empty", "text", "compressed text", "cut off"],  # a compressed text has the time in it
)
def test_a_file_that_is_no_sweep_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.sweep.gz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.sweep\.gz is no sweep of the format"):
        read_sweep(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    empty = Recorded("", "", "", "", {}, ())
    with pytest.raises(UsageError, match="cannot be written"):
        write_sweep(tmp_path / "missing" / "x.sweep.gz", empty)


def stored(name: str) -> Recorded:
    return read_sweep(STORED / f"{name}.sweep.gz")


def test_the_stored_sweeps_have_five_timings_of_each_candidate() -> None:
    rows = {name: stored(name).rows for name in NAMES}
    assert max(map(len, rows.values())) >= 2000
    for row in (row for each in rows.values() for row in each):
        assert row.outcome is not None and len(row.outcome.samples) >= 5


def sweeps() -> dict[str, Sweep]:
    return {name: recorded_sweep(stored(name)) for name in NAMES}


@thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_search_after_two_sweeps_comes_close_to_the_best_of_the_third(name: str) -> None:
    found = sweeps()
    known = fit_sweeps([sweep for other, sweep in found.items() if other != name])
    regret = median_regrets(found[name], METHODS["evolution"], range(9), 24, known)[-1]
    by_chance = median_regrets(found[name], METHODS["random"], range(9), 24)[-1]
    assert regret <= 0.02
    assert regret <= by_chance / 2


def test_the_estimate_orders_candidates_as_their_times_do() -> None:
    for sweep in sweeps().values():
        assert sweep.correlation() > 0.5
