"""The commands `sweep` and `replay`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from eas.septran.cli.outputs import check_targets, inputs_of, write_file
from eas.septran.cli.tuning import problem_from
from eas.septran.tuner.curves import draw_curves
from eas.septran.tuner.methods import method_of
from eas.septran.tuner.store import Search, Store, Stored
from eas.septran.tuner.sweep_files import Recorded, is_sweep, read_sweep
from eas.septran.tuner.sweep_recording import Progress, Recorder
from eas.septran.tuner.sweeps import (
    Sweep,
    fit_sweeps,
    median_regrets,
    recorded_sweep,
    sweep_of,
)
from eas.support.command_line import UsageError, lay_out
from eas.support.records import frozen
from eas.tuning.isolation import Limits

if TYPE_CHECKING:
    from rich.table import Table

_SHOWS = 5.0  # seconds between two lines of progress


def sweep(parsed: argparse.Namespace) -> str:
    """Records a sweep, and says what is in it."""
    check_targets([parsed.output], inputs_of(parsed))
    with ExitStack() as stack:
        problem = problem_from(parsed, stack)
        limits = Limits(parsed.timeout, parsed.memory << 20)
        path = Path(parsed.output)
        recorder = Recorder(problem, path, points=parsed.points, seed=parsed.seed, limits=limits)
        lines: list[str] = []
        try:
            recorder.run(parsed.rounds, parsed.time, parsed.workers, _watcher())
        except KeyboardInterrupt:
            lines.append("interrupted")
        lines = [recorder.sweep.title, *lines, *_contents(recorder.sweep, parsed.rounds)]
        return "\n".join([*lines, f"wrote {path}"])


def _watcher() -> Callable[[Progress], None]:
    """Shows progress now and then."""
    shown = float("-inf")

    def show(progress: Progress) -> None:
        nonlocal shown
        if time.monotonic() - shown < _SHOWS:
            return
        shown = time.monotonic()
        text = f"{progress.elapsed:.0f} s, {progress.checked}/{progress.candidates} checked"
        if progress.rounds:
            text += f", {progress.timed}/{progress.candidates * progress.rounds} timings"
        print(f"septran: {text}", file=sys.stderr, flush=True)

    return show


def _contents(recorded: Recorded, rounds: int) -> list[str]:
    outcomes = [row.outcome for row in recorded.rows]
    statuses = Counter("not checked" if each is None else each.status for each in outcomes)
    lines = [", ".join(f"{count} {status}" for status, count in statuses.most_common())]
    right = [each for each in outcomes if each is not None and each.is_right]
    taken = [len(each.samples) for each in right]
    if taken and min(taken):
        best = min(each.seconds for each in right)
        lines.append(f"{min(taken)} timings or more of each, the best {best * 1e6:.1f} µs")
    if statuses["not checked"] or min(taken, default=0) < rounds:
        lines.append("not all is measured; the same command goes on")
    return lines


@frozen
class _Origin:
    """A sweep, and lines that say where it comes from."""

    title: str
    lines: tuple[str, ...]
    sweep: Sweep


def replay(parsed: argparse.Namespace) -> str:
    """Compares methods on a stored sweep or search."""
    check_targets([parsed.plot], [parsed.db, *parsed.fit])
    origin = _loaded(parsed.db, parsed.search)
    known = fit_sweeps([_loaded(each, None).sweep for each in parsed.fit]) if parsed.fit else None
    methods = {name: method_of(name) for name in map(str.strip, parsed.methods.split(","))}
    seeds, found = range(parsed.seeds), origin.sweep
    curves = {
        name: median_regrets(found, proposer, seeds, parsed.trials, known)
        for name, proposer in methods.items()
    }
    correlation = f"estimates and seconds: a rank correlation of {found.correlation():.2f}"
    if known is not None:
        correlation += f", {found.correlation(known):.2f} with the correction of the others"
    lines = [*origin.lines, correlation, lay_out(_regret_table(curves))]
    if parsed.plot:
        percent = {name: [100 * each for each in curve] for name, curve in curves.items()}
        lines.append(write_file(parsed.plot, draw_curves(origin.title, "% slower", percent)))
    return "\n".join(lines)


def _loaded(path: str, wanted: int | None) -> _Origin:
    if Path(path).is_file() and is_sweep(Path(path)):
        recorded = read_sweep(Path(path))
        name, search, found = "sweep", recorded, recorded_sweep(recorded)
    else:
        number, search, trials = _stored(path, wanted)
        name, found = f"search {number}", sweep_of(search.keys, trials)
    if not found.seconds:
        raise UsageError(f"{name} of {path} has no candidate with a time")
    lines = (
        f"{name}: {search.title}",
        f"measured on computer {search.computer} with easy_as {search.version}: "
        f"{len(found.seconds)} candidates, the best {found.best * 1e6:.1f} µs",
    )
    return _Origin(search.title, lines, found)


def _stored(path: str, wanted: int | None) -> tuple[int, Search, list[Stored]]:
    store = Store(path, is_read=True)
    try:
        return _chosen(store, wanted)
    finally:
        store.close()


def _chosen(store: Store, wanted: int | None) -> tuple[int, Search, list[Stored]]:
    found = store.searches()
    if not found:
        raise UsageError(f"{store.path} has no search")
    if wanted is None:
        number, search = max(found, key=lambda pair: len(store.trials(pair[0])))
    elif wanted in dict(found):
        number, search = wanted, dict(found)[wanted]
    else:
        listed = ", ".join(str(each) for each, _ in found)
        raise UsageError(f"{store.path} has no search {wanted}: {listed}")
    return number, search, store.trials(number)


def _regret_table(curves: dict[str, list[float]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    length = min(map(len, curves.values()))
    marks = sorted({n for n in (1, 2, 4, 8, 16, 24, 32, 64, 128) if n < length} | {length})
    for mark in marks:
        table.add_column(f"after {mark}", justify="right")
    for name, curve in curves.items():
        table.add_row(name, *(f"{100 * curve[mark - 1]:.1f} %" for mark in marks))
    return table
