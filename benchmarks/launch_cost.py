"""What a launch costs, without the work in it: `python -m benchmarks.launch_cost`.

A kernel adds 1 to 1,024 numbers. It gets 2, 8 or 32 arrays and uses two of them. Times are of one
launch: synchronous; asynchronous, without the wait; and in a recorded graph of ten. torch runs
`torch.add(a, 1, out=b)`; it has no op with more arrays, so that 8 and 32 are its list form,
`torch._foreach_add_` of as many.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import eas
from eas import mk

COUNTS = (2, 8, 32)
SIZE = 1024
GRAPH = 10  # launches in a graph
IN_FLIGHT = 100  # asynchronous launches between two waits
REPEATS = 50  # of a measurement: few, so that other work on the machine misses some of them
AIM = "torch"  # a replayed launch costs less than its ops

Run = Callable[[], object]
Times = dict[str, dict[int, float]]


@eas.kernel
def add_2(a0, a1, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(a1, i, mk.load(a0, i, i < N) + 1.0, i < N)


# fmt: off
@eas.kernel
def add_8(a0, a1, a2, a3, a4, a5, a6, a7, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(a1, i, mk.load(a0, i, i < N) + 1.0, i < N)


@eas.kernel
def add_32(
    a0, a1, a2, a3, a4, a5, a6, a7,
    a8, a9, a10, a11, a12, a13, a14, a15,
    a16, a17, a18, a19, a20, a21, a22, a23,
    a24, a25, a26, a27, a28, a29, a30, a31,
    N, BLOCK: eas.constexpr,
):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(a1, i, mk.load(a0, i, i < N) + 1.0, i < N)
# fmt: on


KERNELS = {2: add_2, 8: add_8, 32: add_32}


def numpy_arrays(count: int) -> list[Any]:
    return [np.ones(SIZE, np.float32) for _ in range(count)]


def eas_tensors(count: int) -> list[Any]:
    return [eas.ones(SIZE) for _ in range(count)]


def torch_tensors(count: int) -> list[Any]:
    torch: Any = import_module("torch")
    return [torch.ones(SIZE) for _ in range(count)]


ARRAYS = {"NumPy": numpy_arrays, "eas.Tensor": eas_tensors, "torch": torch_tensors}


def measure_ours(kind: str, count: int) -> dict[str, float]:
    """Seconds of a launch by how it is launched, with arrays of one kind."""
    arrays, kernel = ARRAYS[kind](count), KERNELS[count]

    def launch() -> None:
        kernel(*arrays, SIZE, BLOCK=SIZE)

    def launch_asynchronously() -> None:
        kernel(*arrays, SIZE, BLOCK=SIZE, _sync=False)

    launch()
    with eas.graph() as g:
        for _ in range(GRAPH):
            launch()
    return {
        "synchronous": timed(launch, REPEATS),
        "asynchronous": timed(launch_asynchronously, IN_FLIGHT, after=eas.synchronize),
        "replayed": timed(g.replay, REPEATS) / GRAPH,
    }


def torch_op(count: int) -> Run:
    torch: Any = import_module("torch")
    arrays = [torch.ones(SIZE) for _ in range(count)]
    if count == 2:
        return lambda: torch.add(arrays[0], 1, out=arrays[1])
    return lambda: torch._foreach_add_(arrays, 1)


def numba_function(count: int) -> Run:
    numba: Any = import_module("numba")
    arrays = numpy_arrays(count)
    names = ", ".join(f"a{n}" for n in range(count))
    scope: dict[str, Any] = {}
    exec(f"def add({names}):\n for i in range(len(a0)): a1[i] = a0[i] + 1", scope)
    add = numba.njit(scope["add"])
    return lambda: add(*arrays)


def warp_launch(count: int) -> Run:
    peer: Any = import_module("benchmarks.peers.with_warp")
    if count != 2:
        raise ImportError("its kernel is written for two arrays")
    a, b = (peer.shared(array) for array in numpy_arrays(2))
    return lambda: peer.wp.launch(peer._saxpy, dim=SIZE, inputs=[a, b], device="cpu")


PEERS: dict[str, Callable[[int], Run]] = {
    "torch": torch_op,
    "numba": numba_function,
    "warp": warp_launch,
}


def timed(run: Run, repeats: int, after: Run | None = None) -> float:
    """Seconds of a call; `after` is not timed."""
    run()
    if after is not None:
        after()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    passed = time.perf_counter() - start
    if after is not None:
        after()
    return passed / repeats


def measure(rounds: int, counts: Sequence[int] = COUNTS) -> tuple[Times, dict[str, str]]:
    """The best seconds by line and number of arrays, and what was left out and why."""
    best: Times = {}
    missing: dict[str, str] = {}

    def keep(line: str, count: int, seconds: float) -> None:
        times = best.setdefault(line, {})
        times[count] = min(seconds, times.get(count, seconds))

    peers: dict[tuple[str, int], Run] = {}
    for name, make in PEERS.items():
        for count in counts:
            try:
                peers[name, count] = make(count)
            except ImportError as error:
                missing.setdefault(name, str(error))
    kinds = [kind for kind in ARRAYS if kind != "torch" or "torch" not in missing]
    for _ in range(rounds):
        for count in counts:
            for kind in kinds:
                for how, seconds in measure_ours(kind, count).items():
                    keep(f"eas, {kind}, {how}", count, seconds)
            for (name, wanted), run in peers.items():
                if wanted == count:
                    keep(name, count, timed(run, REPEATS))
    return best, missing


def table_of(best: Times, counts: Sequence[int] = COUNTS) -> str:
    """The times in microseconds, as a table of Markdown."""
    rows = ["| a launch with | " + " | ".join(f"{n} arrays" for n in counts) + " |"]
    rows.append("|---" * (len(counts) + 1) + "|")
    for line, times in best.items():
        cells = [f"{times[n] * 1e6:.2f} µs" if n in times else "" for n in counts]
        rows.append(f"| {line} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def missed_aims(best: Times) -> list[str]:
    """Replayed launches that cost more than an op of torch."""
    if AIM not in best:
        return []
    return [
        f"{line}, {count} arrays: {seconds * 1e6:.2f} µs, {AIM} {best[AIM][count] * 1e6:.2f} µs"
        for line, times in best.items()
        if line.endswith("replayed")
        for count, seconds in times.items()
        if seconds >= best[AIM][count]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    best, missing = measure(parser.parse_args().rounds)
    print(table_of(best))
    for name, why in missing.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    for line in missed_aims(best):
        print(f"missed: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
