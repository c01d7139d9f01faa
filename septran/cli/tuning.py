"""The commands `tune` and `replay`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from eas.septran.cli.arguments import make_arguments
from eas.septran.cli.entries import check_entry
from eas.septran.cli.failures import NothingFound
from eas.septran.cli.outputs import check_targets, inputs_of, write_file
from eas.septran.files import load_machine, parse_values, tunes
from eas.septran.files.machine import SUFFIX
from eas.septran.logic.loading import load_logic
from eas.septran.operators import load
from eas.septran.tuner.automatic import automatic_mapping
from eas.septran.tuner.cluster import Cluster, dask_cluster
from eas.septran.tuner.curves import draw_curves
from eas.septran.tuner.driver import Budget, Progress, Tuner, in_number, in_words
from eas.septran.tuner.export import exported
from eas.septran.tuner.measure import computer
from eas.septran.tuner.methods import method_of
from eas.septran.tuner.problem import Candidates, Problem, problem_of, require_open
from eas.septran.tuner.ranking import print_ranking, rank
from eas.septran.tuner.store import Store, Stored
from eas.support.command_line import UsageError, lay_out
from eas.support.interruptions import Interruptions
from eas.support.package_version import package_version
from eas.support.records import replace
from eas.tuning.isolation import Limits

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = 5
_REASONS = 8
_BAR, _LEAST_BAR = 30, 8  # columns


def tune(parsed: argparse.Namespace, interrupted: Interruptions) -> str:
    """Searches, writes what was asked for, and gives a table of the best candidates.

    A signal ends the search; what is done after it is not interrupted.
    """
    proposer = method_of(parsed.method)
    check_targets([parsed.export, parsed.plot], [*inputs_of(parsed), parsed.db])
    if parsed.resume and not Path(parsed.db).exists():
        raise UsageError(f"{parsed.db} has no search to go on with: there is no such file")
    with ExitStack() as stack:
        problem = problem_from(parsed, stack)
        if parsed.rank:
            return _rank(Candidates(problem), parsed)
        cluster = stack.enter_context(dask_cluster(parsed.dask, problem)) if parsed.dask else None
        store = Store(parsed.db)
        stack.callback(store.close)
        tuner = Tuner(
            problem,
            store,
            method=parsed.method,
            proposer=proposer,
            seed=parsed.seed,
            limits=Limits(parsed.timeout, parsed.memory << 20),
            measuring=cluster.measuring if cluster else None,
        )
        _say([*(cluster.notes if cluster else ()), *_refused(tuner, parsed)])
        is_interrupted = _search(tuner, parsed, stack, cluster, interrupted)
        lines = [tuner.candidates.title, *_place(tuner, parsed)]
        if is_interrupted:
            lines.append("interrupted; the same command goes on with the search")
        lines += [lay_out(_best_table(tuner)), *_refusals(tuner), *_kept(tuner, parsed)]
        if parsed.export and tuner.best is None:
            raise NothingFound("\n".join([*lines, "no trial has a time: nothing is exported"]))
        try:
            lines += _written(tuner, parsed)
        except UsageError as error:
            kept = f"{parsed.db} has the trials: the same command writes what is missing"
            raise UsageError("\n".join([*lines, str(error), kept])) from error
        return "\n".join(lines)


def _refused(tuner: Tuner, parsed: argparse.Namespace) -> list[str]:
    """What of the database is not used, and why. With --resume something must be."""
    lines = [] if tuner.resumed is not None else tuner.refused_results(is_all=parsed.resume)
    if parsed.resume and tuner.resumed is None:
        raise UsageError("\n".join([f"{parsed.db} has no search to go on with", *lines]))
    return lines


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"septran: {line}", file=sys.stderr, flush=True)


def _rank(candidates: Candidates, parsed: argparse.Namespace) -> str:
    """Estimates candidates, and writes the first one if that was asked for."""
    ranking = rank(candidates, parsed.rank, parsed.seed)
    lines = print_ranking(ranking)
    if not ranking.best:
        raise candidates.nothing_passes()
    if parsed.export:
        first = ranking.best[0]
        provenance = [
            f"Ranked first by `septran tune --rank` for {candidates.title}:",
            f"{first.estimate.seconds * 1e6:.1f} µs by estimate, and nothing was measured",
            f"({ranking.estimated} candidates, seed {parsed.seed}, easy_as {package_version()}).",
        ]
        lines.append(write_file(parsed.export, exported(candidates, first.values, provenance)))
    return "\n".join(lines)


def problem_from(parsed: argparse.Namespace, stack: ExitStack) -> Problem:
    """What a command line asks to tune; files that it needs live as long as the stack."""
    try:
        values = parse_values(parsed.tune)
    except ValueError as error:
        raise UsageError(str(error)) from error
    mappings: list[str] = parsed.mappings
    if parsed.auto == bool(mappings):
        raise UsageError("give a mapping with `!tune`, or --auto and --machine, and not both")
    machine = _machine(parsed)
    if parsed.auto:
        mappings = [_automatic(parsed, machine, stack)]
    primitives = tuple(parsed.primitives)
    operator = load(parsed.logic, mappings, machine=machine, primitives=primitives, tune=values)
    if not operator.machine.runs and not parsed.rank:
        name = operator.machine.name
        raise UsageError(f"`{name}` does not run here: `--rank 5` ranks candidates by estimate")
    if operator.mapping.entrypoint is None:
        raise UsageError("the mapping has no `entrypoint`: give the mapping that it changes first")
    if len(operator.mappings) > 1:
        raise UsageError("give one mapping: those for other sizes are tuned by themselves")
    require_open(operator.mapping)
    arguments = make_arguments(operator, parsed.shape, parsed.dtype)
    _say([arguments.note] if arguments.note else [])
    return problem_of(
        parsed.logic,
        tuple(mappings),
        tuple(array.shape for array in arguments.arrays),
        arguments.dtype.name,
        machine=machine,
        primitives=primitives,
        tune=values,
    )


def _machine(parsed: argparse.Namespace) -> str | None:
    """The machine that was named; with --auto its file may be beside the logic."""
    beside = Path(parsed.logic).parent / f"{parsed.machine}{SUFFIX}"
    return str(beside) if parsed.auto and beside.is_file() else parsed.machine


def _automatic(parsed: argparse.Namespace, found: str | None, stack: ExitStack) -> str:
    """A mapping in which everything is open, in a file that lives as long as the search."""
    if found is None:
        raise UsageError("--auto needs a machine: --machine cpu")
    tasks, machine = load_logic(parsed.logic).tasks, load_machine(found)
    check_entry(parsed.logic, tasks, parsed.entry)
    path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "automatic.map.yaml"

    def write(sizes: set[int]) -> None:
        try:
            text = automatic_mapping(tasks, machine, sizes, parsed.entry, parsed.dtype)
        except ValueError as error:
            raise UsageError(f"{parsed.logic} has no task to start with: {error}") from error
        path.write_text(text, "utf-8")

    write(set())
    operator = load(parsed.logic, [path], machine=found, primitives=parsed.primitives)
    if not tunes(operator.mapping):
        raise UsageError(f"{parsed.logic} has nothing that --auto could open for {machine.name}")
    arrays = make_arguments(operator, parsed.shape, parsed.dtype).arrays
    write({extent for array in arrays for extent in array.shape})
    return str(path)


def _search(
    tuner: Tuner,
    parsed: argparse.Namespace,
    stack: ExitStack,
    cluster: Cluster | None,
    interrupted: Interruptions,
) -> bool:
    """Runs the search; True if a signal ended it."""
    executor, workers, timing = None, parsed.workers, None
    if cluster is not None:
        executor, workers, timing = cluster.executor, cluster.workers, cluster.timing
    elif workers > 1:
        executor = stack.enter_context(ThreadPoolExecutor(workers))
    try:
        with ExitStack() as shown:
            watch = _watcher(shown)
            tuner.run(Budget(parsed.trials, parsed.time), executor, workers, watch, timing)
        interrupted.close()
    except KeyboardInterrupt:
        interrupted.close()
        return True
    return False


def _watcher(stack: ExitStack) -> Callable[[Progress], None]:
    """Shows progress: a few lines that change on a terminal, else a line for every tenth trial."""
    if sys.stderr.isatty():
        return _live_view(stack)

    def show(progress: Progress) -> None:
        if progress.done % 10 == 0 or progress.done == progress.budget.trials:
            print(f"septran: {', '.join(_progress(progress))}", file=sys.stderr, flush=True)

    return show


def _live_view(stack: ExitStack) -> Callable[[Progress], None]:
    """A bar, the best so far, and what was refused; the clock goes on while a trial runs."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    shown: list[tuple[Progress, float]] = []

    def draw() -> Group | Text:
        if not shown:
            return Text("")
        progress, since = shown[-1]
        now = replace(progress, elapsed=progress.elapsed + time.monotonic() - since)
        first, *others = (Text(each, overflow="ellipsis", no_wrap=True) for each in _progress(now))
        width = min(_BAR, console.width - len(first) - 1)  # a narrow terminal has the text alone
        if width < _LEAST_BAR:
            return Group(first, *others)
        head = Table.grid(padding=(0, 1))
        head.add_row(ProgressBar(now.budget.trials, now.done, width=width), first)
        return Group(head, *others)

    console = Console(stderr=True)
    live = Live(get_renderable=draw, console=console, transient=True, refresh_per_second=2)
    stack.enter_context(live)
    return lambda progress: shown.append((progress, time.monotonic()))


def _progress(progress: Progress) -> list[str]:
    """What there is to say: the count and the clock, the best so far, what was refused."""
    trials = in_number(progress.budget.trials, "trial")
    count = f"{progress.done}/{trials} in {_clock(progress.elapsed)}"
    if progress.resumed:
        count += f" ({progress.resumed} of them before)"
    if progress.left is not None:
        count += f", about {_clock(progress.left)} left"
    parts = [count]
    if progress.best is not None:
        best = progress.best
        parts.append(f"best {best.seconds * 1e6:.1f} µs ({in_words(best.values)})")
    if progress.refused:
        counts = " ".join(f"{code}: {n}" for code, n in progress.refused.most_common())
        parts.append(f"without a time: {counts}")
    return parts


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _best_table(tuner: Tuner) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("trial", "µs"):
        table.add_column(title, justify="right")
    table.add_column("relative", justify="right")
    table.add_column("values", overflow="fold")
    right = sorted((t for t in tuner.trials if t.seconds < float("inf")), key=lambda t: t.seconds)
    for trial in right[:_SHOWN]:
        times = f"{trial.seconds * 1e6:.1f}", f"{trial.seconds / right[0].seconds:.2f}"
        table.add_row(str(trial.number + 1), *times, in_words(trial.values))
    return table


def _refusals(tuner: Tuner) -> list[str]:
    """How many trials there were, and why some have no time: each reason once, the first line."""
    wrong = [each.outcome for each in tuner.trials if each.seconds == float("inf")]
    reasons = Counter(f"{each.status}: {each.reason.partition(chr(10))[0]}" for each in wrong)
    lines = [f"{in_number(len(tuner.trials), 'trial')}, {len(wrong)} without a time"]
    lines += [f"  {count} {reason}" for reason, count in reasons.most_common(_REASONS)]
    if len(reasons) > _REASONS:
        lines.append(f"  and {len(reasons) - _REASONS} other reasons")
    if tuner.is_exhausted:
        lines.append("no other candidate is left to try")
    return lines


def _kept(tuner: Tuner, parsed: argparse.Namespace) -> list[str]:
    """What to do if all trials are old, and limits that may have been small ended some of them."""
    if tuner.is_shared:
        return ["another process went on with this search: trials of two disturb each other"]
    ended = sum(each.outcome.status in ("timeout", "memory") for each in tuner.trials)
    if not ended or tuner.stored_before < len(tuner.trials):
        return []
    return [
        f"nothing was run: {parsed.db} has these trials already, and {ended} of them ended at "
        "their limits; give another --seed or --db to try them again, or more --trials"
    ]


def _written(tuner: Tuner, parsed: argparse.Namespace) -> list[str]:
    """Writes the mapping and the picture that were asked for; a file is replaced as a whole."""
    lines: list[str] = []
    best = tuner.best
    if parsed.export and best is not None:
        text = exported(tuner.candidates, best.values, _provenance(tuner, parsed, best))
        lines.append(write_file(parsed.export, text))
    if parsed.plot:
        each = [trial.seconds * 1e6 for trial in tuner.trials]
        best_so_far = [*accumulate(each, min)]
        curves = {"a trial": each, f"best by {parsed.method}": best_so_far}
        text = draw_curves(tuner.candidates.title, "µs", curves, dots="a trial")
        lines.append(write_file(parsed.plot, text))
    return lines


def _provenance(tuner: Tuner, parsed: argparse.Namespace, best: Stored) -> list[str]:
    return [
        f"Found by `septran tune` for {tuner.candidates.title}:",
        f"{best.seconds * 1e6:.1f} µs, the best of {in_number(len(tuner.trials), 'trial')}",
        f"(method {parsed.method}, seed {parsed.seed}, easy_as {package_version()}, "
        f"computer {computer()}).",
        *_place(tuner, parsed),
    ]


def _place(tuner: Tuner, parsed: argparse.Namespace) -> list[str]:
    """Where times of Metal are from, if that is no GPU."""
    if parsed.dask or not tuner.candidates.base.is_metal_on_cpu:
        return []
    return [
        "Times are of the Metal text on the CPU of this computer (msl-host), not of a GPU:",
        "`septran tune --rank 5` ranks candidates by estimates for the GPU.",
    ]
