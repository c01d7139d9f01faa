"""A search on a Dask cluster. A worker is killed in the middle, and the search goes on.

The cluster is local here: two workers on this machine. With machines of your own, give `Client` the
address of their scheduler (docs/septran_ten_machines.md).

    pip install distributed
    python examples/septran/tune_with_dask.py
"""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

from eas.septran.tuner.cluster import cluster_of
from eas.septran.tuner.driver import Budget, Progress, Tuner, in_words
from eas.septran.tuner.problem import Problem, problem_of
from eas.septran.tuner.store import Store

LOGIC = Path(__file__).parent / "gemm/gemm_logic.py"

MAPPING = """\
machine: cpu
entrypoint: gemm_host
task_mappings:
  gemm_host:
    task_name: gemm_host_logic
    proc: HOST
    mems: {C: GLOBAL, A: GLOBAL, B: GLOBAL}
    tunables:
      block_m: !tune {type: pow2, low: 16, high: 128}
      block_n: !tune {type: pow2, low: 16, high: 256}
    calls: {gemm_block_logic: gemm_block}
  gemm_block:
    task_name: gemm_block_logic
    proc: BLOCK
    mems: {C: REGISTER, A: !tune {type: memory, values: [SHARED, NONE]}, B: SHARED}
    tunables: {block_k: !tune {type: pow2, low: 16, high: 128}}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gemm.map.yaml"
        path.write_text(MAPPING, "utf-8")
        problem = problem_of(LOGIC, (str(path),), ((128, 128),) * 3, "f32")
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as machines,
            Client(machines) as client,
        ):
            search(client, problem, Path(folder) / "tune.sqlite")


def search(client: Client, problem: Problem, database: Path) -> None:
    cluster = cluster_of(client, problem)
    store = Store(database)
    tuner = Tuner(problem, store, measuring=cluster.measuring)
    print(f"{cluster.workers} workers, {tuner.candidates.space.size} candidates")

    def watch(progress: Progress) -> None:
        if progress.done == 4 and not killed:
            killed.append(kill_a_worker(client))

    killed: list[int] = []
    best = tuner.run(Budget(12), cluster.executor, cluster.workers, watch, cluster.timing)
    store.close()
    right = sum(trial.outcome.is_right for trial in tuner.trials)
    print(f"{len(tuner.trials)} trials, {right} right, {len(killed)} worker killed")
    if best is not None:
        print(f"the best of them: {in_words(best.values)}")


def kill_a_worker(client: Client) -> int:
    """Kills the process of a worker, as a machine that fails would end it."""
    numbers: Any = client.run(os.getpid)
    number = next(iter(numbers.values()))
    os.kill(number, signal.SIGKILL)
    return number


if __name__ == "__main__":
    main()
