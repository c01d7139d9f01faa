"""The workers of a Dask cluster as a place for trials; Dask is imported when it is asked for.

Every worker must have the files of the problem at the same paths, and the same version of easy_as.
Those that have not are left out. Times of two computers are not compared: the kind of computer that
most workers are measures, the others only compile candidates and check their results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from eas.septran.files import SeptranError
from eas.septran.logic.errors import LogicError
from eas.septran.tuner.measure import computer
from eas.septran.tuner.problem import Candidates, Problem, refusal
from eas.support.command_line import UsageError
from eas.support.records import frozen

CONNECTING = 15.0  # seconds


@frozen
class Worker:
    """What a worker is: its computer's fingerprint, and why it cannot be used, if so."""

    computer: str
    trouble: str = ""


@frozen
class Cluster:
    """Where trials go. `timing` are the workers that measure, if some only check."""

    executor: Executor
    timing: Executor | None
    workers: int
    measuring: str
    notes: tuple[str, ...]


@contextmanager
def dask_cluster(address: str, problem: Problem) -> Generator[Cluster]:
    """The cluster whose scheduler has an address, such as `tcp://10.0.0.1:8786`."""
    client: Any = _connected(address)
    try:
        yield cluster_of(client, problem)
    finally:
        client.close()


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("tuning with Dask needs it: pip install distributed") from error
    try:
        return Client(address, timeout=CONNECTING)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(f"there is no Dask scheduler at {address}: {error}") from error


def cluster_of(client: Any, problem: Problem) -> Cluster:
    """The workers that a `distributed.Client` sees, as they are now.

    >>> cluster = cluster_of(client, problem)
    >>> tuner = Tuner(problem, store, measuring=cluster.measuring)
    >>> tuner.run(Budget(200), cluster.executor, cluster.workers, timing=cluster.timing)
    """
    found: dict[str, Worker] = client.run(describe_worker, problem, Candidates(problem).origin)
    fit = {address: each for address, each in found.items() if not each.trouble}
    if not fit:
        reasons = sorted({each.trouble for each in found.values()}) or ["it has none"]
        raise UsageError(f"no worker of the cluster can be used: {'; '.join(reasons)}")
    measuring = _most_common(fit)
    timers = [address for address, each in fit.items() if each.computer == measuring]
    return Cluster(
        _executor(client, fit, found),
        None if len(timers) == len(fit) else _executor(client, timers, found),
        len(fit),
        measuring,
        tuple(_notes(client, found, timers)),
    )


def describe_worker(problem: Problem, origin: str) -> Worker:
    """What the worker that calls this is; Dask runs it on each."""
    try:
        found = Candidates(problem).origin
    except (SeptranError, LogicError) as error:
        return Worker(computer(), f"its files cannot be used: {refusal(error)}")
    except Exception as error:  # of the logic, which is Python
        return Worker(computer(), f"its files cannot be used: {type(error).__name__}: {error}")
    if found.split()[0] != origin.split()[0]:
        return Worker(computer(), f"it has easy_as {found.split()[0]}, not {origin.split()[0]}")
    return Worker(computer(), "" if found == origin else "its files differ from those here")


def _most_common(workers: dict[str, Worker]) -> str:
    """The kind of computer that most workers are; of two, the one that this one is."""
    counts = Counter(each.computer for each in workers.values())
    return max(counts, key=lambda each: (counts[each], each == computer(), each))


def _executor(client: Any, chosen: Any, found: dict[str, Worker]) -> Executor:
    """Workers that join later are used, too, unless some are left out."""
    options = {} if len(chosen) == len(found) else {"workers": list(chosen)}
    return client.get_executor(pure=False, **options)


def _notes(client: Any, found: dict[str, Worker], timers: list[str]) -> Generator[str]:
    for address, each in found.items():
        if each.trouble:
            yield f"worker {address} is left out: {each.trouble}"
        elif address not in timers:
            yield f"worker {address} only checks: its computer is {each.computer}"
    threads: dict[str, int] = client.nthreads()
    for address in timers:
        if (count := threads.get(address, 1)) > 1:
            yield f"trials disturb each other on worker {address}: it has {count} threads"
