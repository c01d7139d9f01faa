"""Trials on a local Dask cluster."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eas.septran.tuner import cluster as clusters
from eas.septran.tuner.cluster import Worker, cluster_of, dask_cluster, describe_worker
from eas.septran.tuner.driver import Budget, Tuner
from eas.septran.tuner.measure import computer
from eas.septran.tuner.problem import Candidates, Problem
from eas.septran.tuner.store import Store
from eas.support.command_line import UsageError
from eas.support.records import replace
from eas.tuning.isolation import Limits
from eas.tuning.judging import Plan
from tests.septran.tuner.problems import problem
from tests.thorough import thorough

__all__ = ["problem"]

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="one system is enough for a cluster"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@contextmanager
def local_cluster(*threads: int) -> Generator[Any]:
    """A scheduler with a process for each worker; EAS_NUM_THREADS makes their computers differ."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    options = {"nthreads": 1, "memory_limit": 0}
    workers = {
        n: {"cls": Nanny, "options": {**options, "env": {"EAS_NUM_THREADS": str(count)}}}
        for n, count in enumerate(threads)
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1"}}
    with (
        SpecCluster(workers=workers, scheduler=scheduler, silence_logs=True) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(len(threads), timeout=60)
        yield client


def kill_one(client: Any) -> None:
    """Kills a worker's process while it runs something."""
    for _ in range(600):
        busy = [address for address, tasks in client.processing().items() if tasks]
        if busy:
            number = client.run(os.getpid, workers=[busy[0]])[busy[0]]
            os.kill(number, signal.SIGKILL)
            return
        time.sleep(0.05)


@thorough
def test_a_search_goes_on_when_a_worker_is_killed(problem: Problem, tmp_path: Path) -> None:
    store = Store(tmp_path / "tune.sqlite")
    with local_cluster(1, 1) as client:
        cluster = cluster_of(client, problem)
        assert (cluster.workers, cluster.timing, cluster.notes) == (2, None, ())
        tuner = Tuner(
            problem,
            store,
            plan=Plan(warmup=0, rounds=2),
            limits=Limits(seconds=60.0),
            measuring=cluster.measuring,
        )
        killer = threading.Thread(target=kill_one, args=(client,))
        killer.start()
        best = tuner.run(Budget(8), cluster.executor, cluster.workers, timing=cluster.timing)
        killer.join()
    trials = store.trials(tuner.search)
    store.close()
    assert best is not None
    assert [trial.number for trial in trials] == list(range(8))
    assert len({str(trial.values) for trial in trials}) == 8
    assert [trial.outcome.status for trial in trials] == ["ok"] * 8
    assert all(trial.outcome.samples for trial in trials)


@thorough
def test_workers_on_another_computer_only_check(problem: Problem, tmp_path: Path) -> None:
    store = Store(tmp_path / "tune.sqlite")
    with local_cluster(1, 1, 2) as client:
        cluster = cluster_of(client, problem)
        assert cluster.workers == 3 and cluster.timing is not None
        (note,) = cluster.notes
        assert " only checks: its computer is " in note
        limits = Limits(seconds=60.0)
        plan = Plan(warmup=0, rounds=2)
        tuner = Tuner(problem, store, plan=plan, limits=limits, measuring=cluster.measuring)
        tuner.run(Budget(6), cluster.executor, 3, timing=cluster.timing)
    store.close()
    assert [bool(trial.outcome.samples) for trial in tuner.trials] == [True] * 6


@thorough
def test_the_command_line_takes_the_address_of_a_scheduler(
    problem: Problem, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from eas.septran.cli import main

    with local_cluster(1) as client:
        address = client.scheduler.address
        options = ("--shape", "M=32,N=32,K=32", "--trials", "2", "--dask", address)
        database = str(tmp_path / "tune.sqlite")
        code = main(("tune", problem.logic, problem.mappings[0], *options, "--db", database))
    assert (code, "2 trials, 0 without a time" in capsys.readouterr().out) == (0, True)


def test_a_worker_with_other_files_is_left_out(problem: Problem, tmp_path: Path) -> None:
    origin = Candidates(problem).origin
    assert describe_worker(problem, origin) == Worker(computer())
    assert describe_worker(problem, f"0.0.1 {origin.split()[1]}").trouble == (
        f"it has easy_as {origin.split()[0]}, not 0.0.1"
    )
    missing = replace(problem, logic=str(tmp_path / "missing.py"))
    assert describe_worker(missing, origin).trouble.startswith("its files cannot be used: S101")
    Path(problem.mappings[0]).write_text(
        Path(problem.mappings[0]).read_text("utf-8") + "# changed\n", "utf-8"
    )
    assert describe_worker(problem, origin).trouble == "its files differ from those here"


class Nobody:
    """A client whose workers are as they are given."""

    def __init__(self, workers: dict[str, Worker]) -> None:
        self.workers = workers
        self.options: list[dict[str, Any]] = []

    def run(self, *_: Any) -> dict[str, Worker]:
        return self.workers

    def get_executor(self, **options: Any) -> Any:
        self.options.append(options)

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 4)


def test_the_kind_of_computer_that_most_workers_are_measures(problem: Problem) -> None:
    client = Nobody({"a": Worker("x"), "b": Worker("y"), "c": Worker("y"), "d": Worker("z", "old")})
    cluster = cluster_of(client, problem)
    assert (cluster.measuring, cluster.workers) == ("y", 3)
    chosen = [options.get("workers") for options in client.options]
    assert chosen == [["a", "b", "c"], ["b", "c"]]
    assert cluster.notes == (
        "worker a only checks: its computer is x",
        "worker d is left out: old",
        "trials disturb each other on worker b: it has 4 threads",
        "trials disturb each other on worker c: it has 4 threads",
    )


def test_a_cluster_without_a_fit_worker_is_refused(problem: Problem) -> None:
    for workers, reason in (({}, "it has none"), ({"a": Worker("x", "it is old")}, "it is old")):
        with pytest.raises(UsageError, match=f"no worker of the cluster can be used: {reason}"):
            cluster_of(Nobody(workers), problem)


def test_a_missing_dask_is_named(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed
    with (
        pytest.raises(UsageError, match="tuning with Dask needs it: pip install distributed"),
        dask_cluster("tcp://127.0.0.1:1", problem),
    ):
        pass


@thorough
def test_an_address_without_a_scheduler_is_named(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "CONNECTING", 1.0)
    with (
        pytest.raises(UsageError, match=r"there is no Dask scheduler at tcp://127.0.0.1:1"),
        dask_cluster("tcp://127.0.0.1:1", problem),
    ):
        pass
